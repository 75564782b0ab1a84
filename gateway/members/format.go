package members

import (
	"context"
	"fmt"
	"time"

	"adgateway/gateway/keep"
)

// Gateways of several versions run side by side while they are updated one by one. Values
// are written in the newest format that all of them read, and those that were silent for
// less than a week: each gateway concludes it from the heartbeats, so that it rises by
// itself once the last one was updated.

// readable returns the newest format that a gateway and others read.
func readable(own int, others []Member) int {
	for i := range others {
		own = min(own, max(keep.Oldest, others[i].Format))
	}
	return own
}

// Agree lets a store that is no member's write what the members read that it remembers.
func Agree(ctx context.Context, store *keep.Sealed) error {
	all, _, err := Read(ctx, store)
	if err == nil {
		store.SetFormat(readable(store.Newest(), all))
	}
	return err
}

// agree lets the store write what all members read. s.mu is held.
func (s *Self) agree(others map[string]observation) {
	all := make([]Member, 0, len(others))
	for _, other := range others {
		all = append(all, other.Member)
	}
	before := s.store.Format()
	s.store.SetFormat(readable(s.store.Newest(), all))
	s.news = s.news || s.store.Format() != before // those that cannot read it do not join from now on
}

// Held returns [Holding] for the members that a store remembers, of which one may be newer
// than this program.
func Held(ctx context.Context, store *keep.Sealed) ([]string, error) {
	all, _, err := Read(ctx, store)
	newest := store.Newest()
	for i := range all {
		newest = max(newest, all[i].Format)
	}
	return Holding(all, newest), err
}

// Holding says which of several members keep values from being written in a newer format,
// one sentence each, and until when.
func Holding(all []Member, newest int) (reasons []string) {
	for i := range all {
		if m := &all[i]; m.Format < newest {
			reasons = append(reasons, fmt.Sprintf("'%s' (%s) reads formats up to %d, so that values are written in that one rather than %d: update it; if it is gone for good, run 'adgateway cluster leave --gateway %[1]s', or wait until %[5]s",
				m.Name, m.Version, m.Format, newest, m.Clock.Add(remembered).UTC().Format(time.DateOnly)))
		}
	}
	return reasons
}
