package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/scripts"
)

// TestListsReachTheScript: lists sent through the prelude reach the script unchanged.
func TestListsReachTheScript(t *testing.T) {
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{})
	require.NoError(t, err)
	s, err := session.Start(t.Context(), session.Config{
		Starter: world.Starter(), StartTimeout: time.Minute,
		Boot: session.Boot{Prelude: scripts.Prelude(ps.Directory), Module: scripts.Modules[ps.Directory],
			Scripts: []ps.Source{{
				Name: "Get-GatewayEcho", Text: "param([AllowEmptyCollection()] [AllowEmptyString()] [string[]] $List)\n[ordered]@{ list = $List; type = $List.GetType().FullName }",
			}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	var unpartable strings.Builder
	for r := rune(0x10); r <= 0xF8FF; r++ {
		if r <= 0x1F || r >= 0xE000 {
			unpartable.WriteRune(r)
		}
	}
	for name, list := range map[string][]string{
		"none": {}, "one": {"a"}, "an empty one": {""}, "empty ones": {"", "", ""}, "prefixes": {"=a", "!0", ",x,y", "="},
		"the separator": {"a\x1fb", "\x1f"}, "a date": {"2024-01-02T03:04:05Z", "x"}, "far text": {"日本 😀", "O’Brien", "\ue000"},
		"what nothing could part": {unpartable.String(), "!0"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []struct {
				List []string
				Type string
			}
			_, err := s.Run(t.Context(), ps.Request{
				Script: "Get-GatewayEcho", Args: ps.Args{"List": ps.List(list)}, Limit: time.Minute,
				Records: func(batch json.RawMessage) error { return json.Unmarshal(batch, &got) },
			})
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, list, got[0].List)
			assert.Equal(t, "System.String[]", got[0].Type)
		})
	}
}
