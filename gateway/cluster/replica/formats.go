package replica

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/store"
)

// formats has a value for each gateway, keyed by the sum of its name.
const formats store.Kind = "reads"

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{formats}

// seenFormat is the stored value of a gateway.
type seenFormat struct {
	store.Formatted
	Gateway string `json:"gateway"`
	cluster.Seen
}

// Formats stores the formats that each gateway reads. It is safe for concurrent use.
type Formats struct {
	store *store.Sealed

	mu   sync.Mutex
	last map[string]cluster.Seen // as last read
}

// NewFormats returns the formats in a store. The store must be this gateway's copy, because the
// leader stores its sightings and must not wait for another gateway.
func NewFormats(db *store.Sealed) *Formats {
	return &Formats{store: db, last: map[string]cluster.Seen{}}
}

var _ cluster.Formats = (*Formats)(nil)

// Seen implements [cluster.Formats]. While the store cannot be read, it returns the previous
// result.
func (f *Formats) Seen() map[string]cluster.Seen {
	found := map[string]cluster.Seen{}
	err := f.store.Range(context.Background(), formats, "", func(e store.Entry) bool {
		var s seenFormat
		// a value in a newer format counts once this gateway is upgraded, too
		if store.Decode(f.store, e.Value, &s) == nil {
			found[s.Gateway] = s.Seen
		}
		return true
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.last = found
	}
	return f.last
}

// See implements [cluster.Formats]. While the store does not accept changes yet, it stores nothing
// and returns nil, because it will be called again soon.
func (f *Formats) See(ctx context.Context, gateway string, s cluster.Seen) error {
	key := hex.EncodeToString(f.store.Sum([]byte("format of a gateway"), []byte(gateway)))
	err := f.store.Update(ctx, func(tx *store.Tx) error {
		return store.Save(tx, formats, key, seenFormat{Gateway: gateway, Seen: s}, time.Time{})
	})
	if errors.Is(err, store.ErrFollows) && errors.Is(err, store.ErrNotSent) {
		return nil
	}
	return err
}
