package relay

import (
	"context"
	"os"
	"testing"
	"time"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// withPair closes a pair together with its store.
type withPair struct {
	store.Store
	*pair
}

func (w withPair) Update(ctx context.Context, f func(*store.Tx) error) error {
	return storetest.Update(ctx, w.Store, f)
}

// Sweep runs at the leading gateway, and State includes the result, because the other gateways only follow.
func (w withPair) Sweep(ctx context.Context) (int, error) {
	if _, err := w.Store.Sweep(ctx); err != nil {
		return 0, err
	}
	removed, err := w.leading.Sweep(ctx)
	if err != nil {
		return 0, err
	}
	at, err := w.leading.Revision()
	if err == nil {
		err = w.following.Await(ctx, at)
	}
	return removed, err
}

func (w withPair) State() store.State {
	state, far := w.Store.State(), w.leading.State()
	state.Swept, state.Bytes = far.Swept, far.Bytes
	return state
}

// Appends runs at the leading gateway for a command, which would only look again after a while.
func (w withPair) Appends(log store.Log) <-chan struct{} {
	if _, ok := w.Store.(*Client); ok {
		return w.leading.Appends(log)
	}
	return w.Store.Appends(log)
}

func (w withPair) Close() error {
	err := w.Store.Close()
	w.end()
	return err
}

// TestAsADriver: a following gateway, and a command, can use the store like any other store.
func TestAsADriver(t *testing.T) {
	for name, of := range map[string]func(*pair) store.Store{
		"a gateway": func(p *pair) store.Store { return p.store },
		"a command": func(p *pair) store.Store { return p.client() },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, storetest.Driver{Open: func(folder string, now func() time.Time) (store.Store, error) {
				p := newPair(t, folder, now, nil)
				return withPair{of(p), p}, nil
			}})
		})
	}
}
