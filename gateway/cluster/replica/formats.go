package replica

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/keep"
)

// formats has a value for each gateway, by the sum of its name.
const formats keep.Kind = "reads"

// Kinds are the kinds of values of this package that outlast a key of the store.
var Kinds = []keep.Kind{formats}

// seenFormat is the value of a gateway.
type seenFormat struct {
	keep.Formatted
	Gateway string `json:"gateway"`
	cluster.Seen
}

// Formats keeps in a store which formats the gateways read. It is safe for concurrent use.
type Formats struct {
	store *keep.Sealed

	mu   sync.Mutex
	last map[string]cluster.Seen // as last read
}

// NewFormats returns what is kept in a store, which is the copy of this gateway: who leads keeps
// what it sees, and it must not wait for another gateway.
func NewFormats(store *keep.Sealed) *Formats {
	return &Formats{store: store, last: map[string]cluster.Seen{}}
}

var _ cluster.Formats = (*Formats)(nil)

// Seen implements [cluster.Formats]. While the store cannot be read, it is as it was before.
func (f *Formats) Seen() map[string]cluster.Seen {
	found := map[string]cluster.Seen{}
	err := f.store.Range(context.Background(), formats, "", func(e keep.Entry) bool {
		var s seenFormat
		if keep.Decode(f.store, e.Value, &s) == nil { // a newer one counts once this gateway is newer, too
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

// See implements [cluster.Formats]. It keeps nothing, and does not fail, while the store does not
// take changes yet: it is called again soon.
func (f *Formats) See(ctx context.Context, gateway string, s cluster.Seen) error {
	key := hex.EncodeToString(f.store.Sum([]byte("format of a gateway"), []byte(gateway)))
	err := f.store.Update(ctx, func(tx *keep.Tx) error {
		return keep.Save(tx, formats, key, seenFormat{Gateway: gateway, Seen: s}, time.Time{})
	})
	if errors.Is(err, keep.ErrFollows) && errors.Is(err, keep.ErrNotSent) {
		return nil
	}
	return err
}
