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

// formats has a value for each gateway, by the sum of its name.
const formats store.Kind = "reads"

// Kinds are the kinds of values of this package that outlast a key of the store.
var Kinds = []store.Kind{formats}

// seenFormat is the value of a gateway.
type seenFormat struct {
	store.Formatted
	Gateway string `json:"gateway"`
	cluster.Seen
}

// Formats stores the formats that the gateways read. It is safe for concurrent use.
type Formats struct {
	store *store.Sealed

	mu   sync.Mutex
	last map[string]cluster.Seen // as last read
}

// NewFormats returns the formats in a store. The store is the copy of this gateway, because the
// leader stores what it sees and must not wait for another gateway.
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
		if store.Decode(f.store, e.Value, &s) == nil { // a newer one counts once this gateway is newer, too
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

// See implements [cluster.Formats]. It stores nothing, and does not fail, while the store does not
// accept changes yet: it is called again soon.
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
