package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/config"
	"adgateway/gateway/every"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keep"
)

// kept is what the gateway keeps beyond one request.
type kept struct {
	store  *keep.Sealed
	past   *changes.History
	folder string // temporary, removed at the end; empty: there is none
	aside  string // new name of a damaged file; empty: there was none
}

// storeKey names the file of the store's key in messages.
const storeKey = "store.file (its key)"

// openKept opens the store of the settings, in a temporary folder if they name no file.
// It returns nil if it is switched off.
func openKept(ctx context.Context, o Options) (s *kept, err error) {
	path := o.Settings.Store.File
	if path == config.AuditOff {
		return nil, nil
	}
	s = &kept{}
	if path == "" {
		if s.folder, err = os.MkdirTemp("", "adgateway-state-"); err != nil {
			return nil, err
		}
		path = filepath.Join(s.folder, "state.db")
	}
	key, err := keep.ReadKey(config.Store{File: path}.KeyFile())
	if err != nil {
		return nil, errors.Join(filefault.Explain(storeKey, err), s.close())
	}
	file, aside, err := keep.Open(keep.Options{Path: path})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.aside = aside; aside != "" {
		o.Log.WithField("file", aside).Error("the store was damaged: it was renamed, and an empty one takes its place; calls from before with an Idempotency-Key and the history of changes are not known any more")
	}
	if s.store, err = keep.Seal(file, key); err == nil {
		s.past, err = changes.Open(ctx, s.store, o.Settings.Changes.Keep, int64(o.Settings.Changes.MaxSize)<<20)
	}
	return s, err
}

// RebuildHistory adds the changes of an audit log to the history of the settings, which no
// gateway may have open. Without files the log is that of the settings.
func RebuildHistory(ctx context.Context, o Options, files []string) (changes.Rebuilding, error) {
	s, err := openKept(ctx, o)
	if s == nil && err == nil {
		err = errors.New("the settings keep no history (store.file is off)")
	}
	if err != nil {
		return changes.Rebuilding{}, err
	}
	found, err := s.past.Rebuild(ctx, o.Settings.Audit.File, files, time.Now())
	return found, errors.Join(err, s.close())
}

// sweepEvery is how often expired values are removed.
const sweepEvery = 10 * time.Minute

// sweep removes expired values now and then, until ctx ends.
func (s *kept) sweep(ctx context.Context, log func(string, map[string]any)) {
	if s == nil {
		return
	}
	every.Do(ctx, sweepEvery, func() {
		if _, err := s.store.Sweep(ctx); err != nil && ctx.Err() == nil {
			log("expired values could not be removed from the store", map[string]any{"error": err.Error()})
		}
	})
}

// settleEvery is how often changes that were cut off are tried again.
const settleEvery = time.Minute

// settle finds out what became of the changes that the end of the gateway cut off, until
// all of them are settled or ctx ends.
func (s *Stack) settle(ctx context.Context, log func(string, map[string]any)) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		left, err := s.Gateway.SettleHistory(ctx)
		if err != nil && ctx.Err() == nil {
			log("changes from before the start could not be settled", map[string]any{"error": err.Error()})
		}
		if left == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// checks is the readiness check of the store.
func (s *kept) checks() []gateway.Check {
	if s == nil {
		return nil
	}
	check := gateway.Check{Name: "store", OK: true}
	switch failed := s.store.State().Failed; {
	case failed != nil:
		check.Degraded, check.Reason = true, "The store cannot be written, so that calls with an Idempotency-Key and plans are refused, and changes are not recorded in the history: "+failed.Error()
	case s.aside != "":
		check.Degraded, check.Reason = true, "The store was damaged when the gateway started, and was renamed to "+s.aside+". Calls from before with an Idempotency-Key and the history of changes are not known any more."
	}
	return []gateway.Check{check}
}

func (s *kept) sealed() *keep.Sealed {
	if s == nil {
		return nil
	}
	return s.store
}

func (s *kept) history() *changes.History {
	if s == nil {
		return nil
	}
	return s.past
}

// close closes the store and removes what is temporary.
func (s *kept) close() error {
	if s == nil {
		return nil
	}
	var err error
	if s.store != nil {
		err = s.store.Close()
	}
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}
