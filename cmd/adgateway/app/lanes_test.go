package app

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/scripts"
)

func TestPoolSettingsReachTheLanes(t *testing.T) {
	settings := config.Default()
	settings.Pool = config.Pool{
		DirectorySessions: 3, DNSSessions: 1, MaxWait: time.Second, MaxQueue: 7, MaxRequests: 11, MaxAge: time.Hour,
		MaxMemory: 100, StartTimeout: time.Minute, MaxList: 5,
	}
	got := (&Stack{}).poolConfig(Options{Settings: settings,
		Session: func(ps.Lane) session.Config { return session.Config{} }}, nil)
	for name, size := range map[ps.Lane]int{ps.Directory: 3, ps.DNS: 1} {
		lane := got.Lanes[name]
		assert.NotNil(t, lane.Start)
		lane.Start = nil
		assert.Equal(t, pool.Lane{Size: size, MaxRequests: 11, MaxAge: time.Hour, MaxMemory: 100 << 20}, lane, name)
	}
	assert.Equal(t, time.Second, got.MaxWait)
	assert.Equal(t, 7, got.Queue)
}

// The rehearsal of a session runs every projection on made-up objects, without a directory.
func TestTheRehearsalRunsEveryProjection(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	world, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	for lane, want := range map[ps.Lane][]string{
		ps.Directory: {"passwordLastSet", "2024-12-30", "username", "scope", "operatingSystem", "container"},
		ps.DNS:       {"nowhere.corp.example", "zoneName"},
	} {
		s, err := session.Start(ctx, session.Config{
			Starter: world.Starter(), Rehearsal: scripts.Rehearsal,
			Boot: session.Boot{Prelude: scripts.Prelude(lane), Scripts: scripts.Sources(lane),
				Module: scripts.Modules[lane]},
			Log: func(message string, fields map[string]any) { t.Error(message, fields) },
		})
		require.NoError(t, err)
		var records strings.Builder
		_, err = s.Run(ctx, ps.Request{Script: scripts.Rehearsal, Records: func(batch json.RawMessage) error {
			records.Write(batch)
			return nil
		}})
		require.NoError(t, err)
		for _, text := range want {
			assert.Contains(t, records.String(), text)
		}
		require.NoError(t, s.Close(ctx))
	}
}
