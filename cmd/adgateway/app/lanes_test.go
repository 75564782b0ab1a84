package app

import (
	"testing"
	"time"

	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/session"

	"github.com/stretchr/testify/assert"
)

func TestPoolSettingsReachTheLanes(t *testing.T) {
	settings := config.Default()
	settings.Pool = config.Pool{
		DirectorySessions: 3, DNSSessions: 1, MaxWait: time.Second, MaxQueue: 7, MaxRequests: 11, MaxAge: time.Hour,
		MaxMemory: 100, StartTimeout: time.Minute, MaxList: 5,
	}
	got := (&Stack{}).poolConfig(Options{Settings: settings, Session: func(ps.Lane) session.Config { return session.Config{} }}, nil)
	for name, size := range map[ps.Lane]int{ps.Directory: 3, ps.DNS: 1} {
		lane := got.Lanes[name]
		assert.NotNil(t, lane.Start)
		lane.Start = nil
		assert.Equal(t, pool.Lane{Size: size, MaxRequests: 11, MaxAge: time.Hour, MaxMemory: 100 << 20}, lane, name)
	}
	assert.Equal(t, time.Second, got.MaxWait)
	assert.Equal(t, 7, got.Queue)
}
