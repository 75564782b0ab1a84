package harness

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

// Runner calls Do and records the requests.
type Runner struct {
	Do func(ctx context.Context, req ps.Request) (*ps.Result, error)

	mu       sync.Mutex
	requests []ps.Request
}

// Run implements [ps.Runner].
func (f *Runner) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	f.mu.Lock()
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	return f.Do(ctx, req)
}

// Last returns the latest request. The test fails if there was none.
func (f *Runner) Last(t *testing.T) ps.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.requests, "the runner was not called")
	return f.requests[len(f.requests)-1]
}

// Count returns the number of scripts that were run.
func (f *Runner) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// Announce announces a change of one object in the same way as a script.
func Announce(req ps.Request) error {
	if req.Announced == nil {
		return nil
	}
	if err := req.Announced(ps.Intent{Objects: []ps.Intended{{GUID: "g",
		Changes: []ps.IntendedChange{{Name: "enabled", Before: "True", After: "False"}}}}}); err != nil {
		return &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	return nil
}

// Answering returns a runner that announces a change if result contains one, emits the
// batches and returns result.
func Answering(result ps.Result, batches ...string) *Runner {
	return &Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if result.Effect != ps.EffectNone {
			if err := Announce(req); err != nil {
				return nil, err
			}
		}
		for _, batch := range batches {
			if err := req.Records(json.RawMessage(batch)); err != nil {
				return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
			}
		}
		copied := result
		return &copied, nil
	}}
}

// Failing returns a runner that fails with e. It announces a change first if e has an
// outcome other than none.
func Failing(e ps.Error) *Runner {
	return &Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if e.Outcome != "" && e.Outcome != ps.OutcomeNone {
			if err := Announce(req); err != nil {
				return nil, err
			}
		}
		copied := e
		return nil, &copied
	}}
}
