package replicas

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/test/histories"
)

// check compares the answers that clients received with the stored values and the written lines. It must be
// called when the cluster has no faults and the clients have stopped.
func (w *world) check(a *asked, label string) {
	w.t.Helper()
	w.whole()
	w.await("changes do not end, stay open, or are not reported", func() bool {
		for _, g := range w.gateways {
			if s, ok := w.state(g); !ok || s.Running > 0 || s.Open > 0 || s.Reports > 0 {
				return false
			}
		}
		return true
	})
	w.whole()
	for _, g := range w.gateways {
		s, _ := w.state(g)
		w.t.Logf("%s: %s, at %d, log time %s after the wall clock", g.name, s.Status, s.Point.Sequence,
			time.Until(s.LogTime).Round(time.Millisecond))
		text, err := os.ReadFile(g.process.log.Name())
		require.NoError(w.t, err)
		a.count["files copied"] += bytes.Count(text, []byte(copied))
		assert.Less(w.t, time.Until(s.LogTime).Abs(), time.Minute, "%s: log time of %s", label, g.name)
	}
	for _, g := range w.gateways {
		g.stop()
	}
	a.history.Check(w.t, histories.LinearizableReads, label)
	for _, g := range w.gateways {
		w.checkFile(g, a, label)
	}
}

// checkFile compares the answers with the file of a gateway.
func (w *world) checkFile(g *member, a *asked, label string) {
	file, _, err := store.Open(store.Options{Path: g.file, Follows: true})
	require.NoError(w.t, err)
	defer func() { assert.NoError(w.t, file.Close()) }()
	db, err := store.Seal(file, storeKey())
	require.NoError(w.t, err)
	for _, key := range a.added {
		_, err := db.Get(w.t.Context(), values, key)
		assert.NoError(w.t, err, "%s: %s was acknowledged, and %s does not have it", label, key, g.name)
	}
	w.checkTokens(db, g, label)
	closed := map[string]int{}
	require.NoError(w.t, db.Log(w.t.Context(), closings, store.Position{}, func(e store.Appended) bool {
		closed[string(e.Value)]++
		return true
	}))
	records := map[string]record{}
	require.NoError(w.t, db.Range(w.t.Context(), changes, "", func(e store.Entry) bool {
		var one record
		err = json.Unmarshal(e.Value, &one)
		records[e.Key] = one
		return err == nil
	}))
	require.NoError(w.t, err)
	for id, one := range records {
		assert.NotEmpty(w.t, one.Outcome, "%s: %s is open", label, id)
		assert.Equal(w.t, 1, closed[id], "%s: how often %s was closed", label, id)
	}
	w.checkWrites(records, a, label)
}

// checkTokens checks that entries with an expiry have expired if and only if their time has passed.
func (w *world) checkTokens(db *store.Sealed, g *member, label string) {
	_, err := db.Get(w.t.Context(), tokens, "hour")
	assert.NoError(w.t, err, "%s: what lasts an hour has expired at %s", label, g.name)
	_, err = db.Get(w.t.Context(), tokens, "second")
	assert.ErrorIs(w.t, err, store.ErrAbsent, "%s: what lasts a second has not expired at %s", label, g.name)
}

// script is the written part of a script.
type script struct {
	id, start string
	span
}

// scripts returns everything that the scripts have written, and the writes that must not exist.
func (w *world) scripts() (all map[string]script, twice []string, err error) {
	lines, err := readWrites(w.writes)
	all = map[string]script{}
	for _, l := range lines {
		one, known := all[l.ID]
		switch {
		case !l.Ends && known:
			twice = append(twice, l.ID)
		case !l.Ends:
			all[l.ID] = script{l.ID, l.Start, span{from: l.At}}
		case !known || one.start != l.Start:
			err = errors.Join(err, errors.New(l.ID+" ends and did not begin"))
		default:
			one.to = l.At
			all[l.ID] = one
		}
	}
	for id, one := range all {
		if one.to.IsZero() { // its process was killed
			one.to = one.from
			all[id] = one
		}
	}
	return all, twice, err
}

// of returns the gateway whose process has the given start name.
func (w *world) of(start string) *member {
	for _, g := range w.gateways {
		if _, ok := g.lives[start]; ok {
			return g
		}
	}
	return nil
}

// checkWrites compares the answers and the stored records with the lines that the scripts have written.
func (w *world) checkWrites(records map[string]record, a *asked, label string) {
	scripts, twice, err := w.scripts()
	require.NoError(w.t, err)
	assert.Empty(w.t, twice, "%s: changes that were written twice", label)
	// A process that is frozen between the permission to write and the write writes too late. Nothing can
	// prevent that.
	late := func(s script) bool { return w.of(s.start).wasFrozen(s.from.Add(-scriptLimit-settleDelay), s.to) }
	for id, s := range scripts {
		one, ok := records[id]
		switch {
		case !ok:
			w.t.Errorf("%s: %s was written without having been stored", label, id)
		case one.Outcome == written:
		case !late(s):
			w.t.Errorf("%s: %s was closed as %q by %s and was written at %s by %s, which was not frozen",
				label, id, one.Outcome, one.By, s.from.Format(clockLayout), s.start)
		default:
			a.note("changes that raced, by file")
			// The gateway may have ended before another gateway received its report.
			if ended := w.of(s.start).lives[s.start].to; one.Raced != written && !ended.Before(a.stopped) {
				w.t.Errorf("%s: %s was written too late by %s, and its record says %q", label, id, s.start, one.Raced)
			}
		}
	}
	for id, one := range records {
		if _, ok := scripts[id]; one.Outcome == written && !ok {
			w.t.Errorf("%s: %s was closed as written by %s and was not", label, id, one.By)
		}
	}
	for id, outcome := range a.told {
		assert.Equal(w.t, records[id].Outcome, outcome, "%s: what was told of %s", label, id)
	}
	w.checkOverlaps(scripts, late, a, label)
}

const clockLayout = "15:04:05.000"

// checkOverlaps finds scripts that wrote to one object at the same time.
func (w *world) checkOverlaps(all map[string]script, late func(script) bool, a *asked, label string) {
	inOrder := slices.SortedFunc(maps.Values(all), func(x, y script) int {
		return cmp.Or(cmp.Compare(objectOf(x.id), objectOf(y.id)), x.from.Compare(y.from))
	})
	for i, next := range inOrder[min(1, len(inOrder)):] {
		before := inOrder[i]
		if objectOf(before.id) != objectOf(next.id) || !next.from.Before(before.to) {
			continue
		}
		if late(before) || late(next) {
			a.note("overlaps by a freeze, by file")
			continue
		}
		w.t.Errorf("%s: %s by %s and %s by %s wrote at the same time",
			label, before.id, before.start, next.id, next.start)
	}
}
