package changes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/store"
)

// When the history is full, the callers with the largest shares lose their oldest changes, until each share
// has a size that every caller may keep. So a caller that makes many changes cannot push out the changes of
// callers with few changes.

// sized is the part of a record that is needed for trimming.
type sized struct {
	key      string
	revision store.Revision
	bytes    int64
}

// RunTrimming measures the history, which may contain records that other processes wrote, and removes
// the oldest records whenever their total size exceeds the limit. Changes can continue meanwhile. It
// returns when ctx is done; until then it calls failed with each error.
func (h *History) RunTrimming(ctx context.Context, failed func(error)) {
	size, err := h.measure(ctx)
	h.mu.Lock()
	h.size = max(h.size, size)
	full := h.size > h.most
	h.mu.Unlock()
	for {
		if full && err == nil {
			err = h.trim(ctx)
		}
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-h.full:
			full, err = true, nil
		case <-ctx.Done():
			return
		}
	}
}

// measure returns the size of all records.
func (h *History) measure(ctx context.Context) (size int64, err error) {
	err = h.store.Store.Range(ctx, kind, "", func(e store.Entry) bool {
		size += int64(len(e.Value))
		return true
	})
	return size, err
}

// trim removes old records if their total size exceeds the limit. Records that were replaced or have expired
// are still counted by [History.Saved]; trim corrects the count. A record that is saved meanwhile is counted
// at most twice.
func (h *History) trim(ctx context.Context) error {
	h.mu.Lock()
	counted := h.size
	h.mu.Unlock()
	callers, size, err := h.byCaller(ctx)
	if err != nil {
		return err
	}
	if size > h.most {
		goal := h.most - h.most/20 // some room, so that trimming is rare
		if size, err = h.removeSurplus(ctx, callers, size, goal); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.size += size - counted
	return nil
}

// removeSurplus removes the oldest records of the callers with the most, down to a size, and the entries of
// [Log] that have no record. It returns the remaining size. If a record was replaced meanwhile, removeSurplus
// ends early without an error; the next saved record triggers another attempt.
func (h *History) removeSurplus(
	ctx context.Context, callers map[identity.ID][]sized, size, goal int64,
) (left int64, err error) {
	surplus := tooMuch(callers, size-goal)
	oldest := ""
	for _, records := range callers {
		if len(records) > 0 && (oldest == "" || records[0].key < oldest) {
			oldest = records[0].key
		}
	}
	for part := range slices.Chunk(surplus, removedAtOnce) {
		changes := make([]store.Change, len(part))
		removed := int64(0)
		for i, record := range part {
			changes[i] = store.Change{Kind: kind, Key: record.key, Expect: record.revision}
			removed += record.bytes
		}
		err := remove(ctx, h.store.Store, changes...)
		if errors.Is(err, store.ErrConflict) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
		size -= removed
	}
	return size, h.trimLog(ctx, oldest)
}

// removedAtOnce is the number of records, or of entries of [Log], that one batch removes. Changes wait
// while the batch is written.
const removedAtOnce = 100

// remove makes changes that remove records or entries. It then waits for as long as that took, so other
// calls get at least half of the store's time.
func remove(ctx context.Context, from store.Store, removals ...store.Change) error {
	began := time.Now()
	if _, err := from.Apply(ctx, removals...); err != nil {
		return err
	}
	select {
	case <-time.After(time.Since(began)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// byCaller returns the records of each caller, oldest first, and their total size.
func (h *History) byCaller(ctx context.Context) (callers map[identity.ID][]sized, size int64, err error) {
	callers = map[identity.ID][]sized{}
	err = h.store.Range(ctx, kind, "", func(e store.Entry) bool {
		record := sized{e.Key, e.Revision, int64(len(e.Value))}
		size += record.bytes
		caller := callerIn(e.Value)
		callers[caller] = append(callers[caller], record)
		return true
	})
	return callers, size, err
}

// callerIn returns the caller in the text of a record, without parsing the rest, or zero if there is none. A
// record of an earlier version contains only the caller's name.
func callerIn(text []byte) identity.ID {
	var of Author
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return identity.ID{}
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		switch {
		case name == "caller":
			_ = d.Decode(&of.Caller) // stays empty unless it is a string
			continue
		case name == "by":
			_ = d.Decode(&of.By)
		case of.Caller == "": // members before the author
			var skipped json.RawMessage
			if d.Decode(&skipped) == nil {
				continue
			}
		}
		return of.Who().Identity()
	}
	return of.Who().Identity()
}

// tooMuch removes the oldest records of the callers with the most, until they amount to at least the given
// number of bytes, and returns them.
func tooMuch(callers map[identity.ID][]sized, bytes int64) (surplus []sized) {
	has := map[identity.ID]int64{}
	for caller, records := range callers {
		for _, record := range records {
			has[caller] += record.bytes
		}
	}
	keeps := level(slices.Collect(maps.Values(has)), bytes)
	for caller, records := range callers {
		n := 0
		for ; n < len(records) && has[caller] > keeps; n++ {
			has[caller] -= records[n].bytes
		}
		surplus, callers[caller] = append(surplus, records[:n]...), records[n:]
	}
	slices.SortFunc(surplus, func(a, b sized) int { return cmp.Compare(a.key, b.key) })
	return surplus
}

// level returns the number of bytes that each caller may keep, chosen so that the callers above it together
// give up at least the given number of bytes.
func level(sizes []int64, bytes int64) int64 {
	slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	var sum int64
	for i, size := range sizes {
		sum += size
		next := int64(0)
		if i+1 < len(sizes) {
			next = sizes[i+1]
		}
		n := int64(i + 1)
		if sum-n*next >= bytes {
			return (sum - bytes) / n
		}
	}
	return 0
}

// entriesPerBytes limits the length of the log: one entry per this many bytes of the history.
const entriesPerBytes = 1024

// trimLog removes the entries of changes before the oldest stored one, and the oldest entries
// beyond the limit.
func (h *History) trimLog(ctx context.Context, oldest string) error {
	end, err := h.End(ctx)
	if err != nil {
		return err
	}
	least := uint64(max(h.most/entriesPerBytes, 1))
	through := uint64(0)
	if end.Sequence > least {
		through = end.Sequence - least
	}
	entry, found, err := h.next(ctx, store.Position{})
	if err != nil || !found {
		return err
	}
	first := entry.Position.Sequence
	err = h.store.Log(ctx, Log, store.Position{}, func(a store.Appended) bool {
		if oldest != "" && string(a.Value) >= oldest {
			return false
		}
		through = max(through, a.Position.Sequence)
		return true
	})
	for err == nil && first <= through {
		first += min(removedAtOnce, through-first+1)
		err = remove(ctx, h.store.Store, store.Change{Log: Log, Through: first - 1})
	}
	return err
}
