package sessiontest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const patience = 3 * time.Minute

// A pool runs processes that show every fault, with callers that cancel at random. Every request ends in time
// with its own answer or a typed error, correct requests in between are answered correctly, and no process or
// goroutine remains at the end.
func TestAPoolSurvivesEveryFaultAtRandom(t *testing.T) {
	defer goleak.VerifyNone(t)
	process := &sessiontest.Process{Scripts: sessiontest.Faults}
	p := open(t, process)
	faults := names()
	var answered, failed atomic.Int64
	var callers sync.WaitGroup
	for caller := range 12 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(caller), 7))
			for i := range 60 {
				if i%2 == 0 {
					if echo(t, p, fmt.Sprintf("%d-%d", caller, i)) {
						answered.Add(1)
					}
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(30))*time.Millisecond)
				_, err := p.Run(ctx, ps.Request{
					Script: faults[random.IntN(len(faults))], Lane: ps.Directory,
					Write: random.IntN(3) == 0, List: random.IntN(3) == 0, Limit: 20 * time.Millisecond,
				})
				cancel()
				if err != nil {
					failed.Add(1)
					assert.IsType(t, &ps.Error{}, err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { callers.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("requests hang")
	}
	assert.EqualValues(t, 12*30, answered.Load())
	assert.Positive(t, failed.Load())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, p.Close(ctx))
	stats := p.Stats()[ps.Directory]
	assert.Zero(t, stats.Idle+stats.Busy+stats.Starting+stats.Waiting)
	assert.Greater(t, stats.Started, int64(10), "sessions were replaced")
	ended := int64(0)
	for _, n := range stats.Ended {
		ended += n
	}
	assert.Equal(t, stats.Started, ended)
}

// echo sends a request that echoes its argument. It retries if the session died, because that is not a fault
// of the pool.
func echo(t *testing.T, p *pool.Pool, text string) bool {
	t.Helper()
	for {
		var got string
		_, err := p.Run(t.Context(), ps.Request{
			Script: "Get-GatewayEcho", Lane: ps.Directory, Limit: patience, Args: ps.Args{"Text": ps.Text(text)},
			Records: func(batch json.RawMessage) error { got += string(batch); return nil },
		})
		if err != nil && ps.AsError(err).Kind == ps.KindDied {
			continue
		}
		return assert.NoError(t, err) && assert.JSONEq(t, `[{"Text":"`+text+`"}]`, got)
	}
}

func open(t *testing.T, starter session.Starter) *pool.Pool {
	t.Helper()
	cfg := session.Config{
		Starter: starter, StartTimeout: patience, MaxOutput: 1 << 20,
		Boot: session.Boot{Prelude: ps.Source{Text: "x"}, Module: "ActiveDirectory"},
	}
	p, err := pool.New(pool.Config{
		Lanes: map[ps.Lane]pool.Lane{ps.Directory: {Size: 4, MaxRequests: 20,
			Start: func(ctx context.Context) (pool.Session, error) {
				s, err := session.Start(ctx, cfg)
				if err != nil {
					return nil, err
				}
				return s, nil
			}}},
		MaxWait: patience, Grace: 10 * time.Millisecond, Queue: 100,
	})
	require.NoError(t, err)
	return p
}

func names() []string {
	var names []string
	for name := range sessiontest.Faults {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
