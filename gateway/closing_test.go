package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// TestACutOffChangeIsJudgedOnce: what a gateway finds when it is started again is what the key
// says from then on, whatever others write afterwards.
func TestACutOffChangeIsJudgedOnce(t *testing.T) {
	d := newScene(t, &toRomeOf)
	g := newOneGateway(t, d.run)
	const path = "/api/ADUser/jdoe"
	plan := planID(t, call(g.Server, http.MethodPut, path+"?City=Rome&DryRun=true", "").Body.Bytes())
	apply := func(key string) (int, reply, http.Header) {
		w := call(g.Server, http.MethodPut, path+"?City=Rome&PlanId="+plan, "", "Idempotency-Key: "+key)
		var got reply
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		return w.Code, got, w.Header()
	}
	g.life.begin(4) // after the batch that lets the change begin
	apply("the-first-key")
	died, during := g.life.dead()
	require.True(t, died)
	require.Zero(t, d.writes, during)
	g.start(d.run)
	left, err := g.SettleHistory(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
	running, err := g.History.Running(t.Context())
	require.NoError(t, err)
	require.Empty(t, running, "it was not made")

	status, got, second := apply("the-second-key")
	require.Equal(t, http.StatusOK, status, "%+v", got)
	status, got, first := apply("the-first-key")
	require.Equal(t, http.StatusConflict, status, "%+v", got)
	assert.Equal(t, schema.PlanUsed, got.Error.Code)
	assert.Contains(t, got.Error.Message, second.Get(changeHeader))
	assert.Empty(t, first.Get(changeHeader))
	assert.Equal(t, 1, d.writes)
}

// TestAVerdictIsReadLater: a change that was found to be made is a success for its key, also
// if somebody has changed the object back before the call is repeated.
func TestAVerdictIsReadLater(t *testing.T) {
	for _, unreadable := range []bool{false, true} {
		directory := &oneUser{city: "Oslo", at: func(string) {}}
		run := func(at func(string) bool) ps.Runner {
			directory.at = func(point string) { at(point) }
			return &fakeRunner{run: directory.run}
		}
		g := newOneGateway(t, run)
		g.life.begin(7) // when it is written
		toRome(g.Server)
		died, during := g.life.dead()
		require.True(t, died)
		require.Equal(t, "Rome", directory.city, during)
		g.start(run)
		left, err := g.SettleHistory(t.Context())
		require.NoError(t, err)
		require.Zero(t, left)
		directory.city, directory.unreadable = "Oslo", unreadable
		status, got, header := toRome(g.Server)
		require.Equal(t, http.StatusOK, status, "%+v", got)
		require.Len(t, got.Result, 1)
		assert.Equal(t, 1, directory.changes)
		require.Equal(t, unreadable, len(got.Warnings) > 0, "%+v", got.Warnings)
		if unreadable {
			assert.Equal(t, notReadBackCode, got.Warnings[0].Code)
		}
		id := header.Get(changeHeader)
		record, err := g.History.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, ps.OutcomeDone, record.Outcome)
		status, _, header = toRome(g.Server)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "true", header.Get(replayedHeader))
		assert.Equal(t, id, header.Get(changeHeader))
	}
}

// writtenThen returns a runner that makes a change, and then fails as if the server were cut
// off.
func writtenThen(d *oneUser, fails ps.Error) *fakeRunner {
	return &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if !req.Write {
			return d.run(ctx, req)
		}
		req.Records = func(json.RawMessage) error { return nil }
		if _, err := d.run(ctx, req); err != nil {
			return nil, err
		}
		copied := fails
		return nil, &copied
	}}
}

// TestAFailureAfterTheLastWriteIsASuccess: what fails then is the report only, so that a key
// never keeps an answer that asks to come again.
func TestAFailureAfterTheLastWriteIsASuccess(t *testing.T) {
	for name, fails := range map[string]ps.Error{
		"server away":   {Kind: ps.KindUnavailable, Outcome: ps.OutcomeDone, Server: "dc9"},
		"script failed": {Kind: ps.KindScript, Code: "8224", Outcome: ps.OutcomeDone, Server: "dc9"},
		"out of time":   {Kind: ps.KindTimeout, Outcome: ps.OutcomeDone, Server: "dc9"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &oneUser{city: "Oslo", at: func(string) {}}
			g := newOneGateway(t, func(func(string) bool) ps.Runner { return writtenThen(directory, fails) })
			id := ""
			for n := range 2 {
				status, got, header := toRome(g.Server)
				require.Equal(t, http.StatusOK, status, "%+v", got)
				require.Len(t, got.Warnings, 1)
				assert.Equal(t, notReadBackCode, got.Warnings[0].Code)
				require.Len(t, got.Result, 1)
				assert.Contains(t, string(got.Result[0]), `"distinguishedName":"CN=j"`)
				assert.Contains(t, string(got.Result[0]), `"city":"Rome"`)
				assert.Equal(t, n == 1, header.Get(replayedHeader) == "true")
				assert.Empty(t, header.Get("Retry-After"))
				if n == 0 {
					id = header.Get(changeHeader)
				}
				assert.NotEmpty(t, id)
				assert.Equal(t, id, header.Get(changeHeader))
			}
			record, err := g.History.Get(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, ps.OutcomeDone, record.Outcome)
			assert.Equal(t, 1, directory.changes)
		})
	}
}

// TestAnAnswerThatAsksToComeAgainIsNotReplayed: earlier versions kept such answers for their
// keys. What became of the change is what they say.
func TestAnAnswerThatAsksToComeAgainIsNotReplayed(t *testing.T) {
	for name, c := range map[string]struct {
		outcome ps.Outcome
		forgets bool // the history
		status  int
		code    schema.Code
	}{
		"done":                                  {ps.OutcomeDone, false, 200, ""},
		"done, and not in the history any more": {ps.OutcomeDone, true, 409, schema.OutcomeUnknown},
		"unknown":                               {ps.OutcomeUnknown, false, 409, schema.OutcomeUnknown},
		"partial":                               {ps.OutcomePartial, false, 207, schema.Partial},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &oneUser{city: "Oslo", at: func(string) {}}
			g := newOneGateway(t, func(func(string) bool) ps.Runner { return &fakeRunner{run: directory.run} })
			_, _, header := toRome(g.Server)
			id := header.Get(changeHeader)
			g.rewriteKey(func(call *keptCall) {
				call.Status = http.StatusServiceUnavailable
				call.Body = encode(map[string]any{"error": map[string]any{"code": "unavailable", "outcome": c.outcome, "details": []any{}}})
			})
			if c.forgets {
				record, err := g.History.Get(t.Context(), id)
				require.NoError(t, err)
				require.NoError(t, g.History.Remove(t.Context(), record))
			}
			for n := range 2 {
				status, got, header := toRome(g.Server)
				require.Equal(t, c.status, status, "%+v", got)
				if c.code != "" {
					assert.Equal(t, c.code, got.Error.Code)
					assert.Equal(t, string(c.outcome) == "partial", got.Error.Outcome == "partial")
				}
				assert.Equal(t, id, header.Get(changeHeader))
				assert.Equal(t, n == 1, header.Get(replayedHeader) == "true")
			}
			assert.Equal(t, 1, directory.changes)
		})
	}
}

// rewriteKey changes what is kept of the only call with a key.
func (g *oneGateway) rewriteKey(change func(*keptCall)) {
	g.t.Helper()
	var entries []keep.Entry
	require.NoError(g.t, g.Kept.Range(g.t.Context(), keyKind, "", func(e keep.Entry) bool { entries = append(entries, e); return true }))
	require.Len(g.t, entries, 1)
	var call keptCall
	require.NoError(g.t, keep.Decode(g.Kept, entries[0].Value, &call))
	change(&call)
	value, err := keep.Encode(g.Kept, call)
	require.NoError(g.t, err)
	_, err = g.Kept.Apply(g.t.Context(), keep.Change{Kind: keyKind, Key: entries[0].Key, Expect: entries[0].Revision, Value: value, Expires: entries[0].Expires})
	require.NoError(g.t, err)
}

// TestAnEndThatCannotBeStored: the caller gets what the script reported, and the store gets the
// same as soon as it can. Nobody looks at the directory, which others may have changed.
func TestAnEndThatCannotBeStored(t *testing.T) {
	for _, fails := range []bool{false, true} {
		directory := &oneUser{city: "Oslo"}
		var g *oneGateway
		directory.at = func(point string) { g.full.full.Store(point == "changed") }
		run := func(func(string) bool) ps.Runner {
			if fails {
				return writtenThen(directory, ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: "No.", Outcome: ps.OutcomeNone})
			}
			return &fakeRunner{run: directory.run}
		}
		g = newOneGateway(t, run)
		first, got, header := toRome(g.Server)
		id := header.Get(changeHeader)
		if fails {
			require.Equal(t, http.StatusConflict, first, "%+v", got)
		} else {
			require.Equal(t, http.StatusOK, first, "%+v", got)
			require.NotEmpty(t, id)
			require.Len(t, got.Warnings, 1)
			assert.Equal(t, historyUnavailableCode, got.Warnings[0].Code)
		}
		status, again, header := toRome(g.Server)
		require.Equal(t, http.StatusServiceUnavailable, status)
		assert.Equal(t, schema.InProgress, again.Error.Code)
		assert.Equal(t, "1", header.Get("Retry-After"))
		require.Error(t, g.storeEnds(t.Context()))
		running, err := g.History.Running(t.Context())
		require.NoError(t, err)
		require.Len(t, running, 1)

		directory.city = "Bonn" // by somebody else
		g.full.full.Store(false)
		require.NoError(t, g.storeEnds(t.Context()))
		running, err = g.History.Running(t.Context())
		require.NoError(t, err)
		require.Empty(t, running)
		if fails {
			directory.at = func(string) {}
			status, _, _ = toRome(g.Server)
			assert.Equal(t, http.StatusConflict, status, "it changed nothing, and runs again")
			continue
		}
		record, err := g.History.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, ps.OutcomeDone, record.Outcome)
		status, again, header = toRome(g.Server)
		require.Equal(t, http.StatusOK, status)
		assert.Equal(t, "true", header.Get(replayedHeader))
		assert.Equal(t, id, header.Get(changeHeader))
		assert.Equal(t, got.Result, again.Result)
		assert.Empty(t, again.Warnings)
		assert.Equal(t, 1, directory.changes)
	}
}

// TestAChangeInDoubt: it stays open while nobody can read its objects, and keeps them locked.
// Its key asks to come again until then. What stays unknown is said so once, and for good.
func TestAChangeInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		city   string // that the directory has when it can be read again
		status int
		code   schema.Code
		runs   int
	}{
		"made":                     {"Rome", 200, "", 1},
		"not made":                 {"Oslo", 200, "", 2},
		"changed by somebody else": {"Bonn", 409, schema.OutcomeUnknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &oneUser{city: "Oslo", at: func(string) {}, unreadable: true}
			cut := true
			g := newOneGateway(t, func(func(string) bool) ps.Runner {
				return &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
					result, err := directory.run(ctx, req)
					if req.Write && err == nil && cut {
						intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9", Objects: []ps.Intended{changed("g-1", "l", "Oslo", "Rome")}}
						return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &intent}
					}
					return result, err
				}}
			})
			status, got, header := toRome(g.Server)
			require.Equal(t, http.StatusGatewayTimeout, status, "%+v", got)
			id := header.Get(changeHeader)
			record, err := g.History.Get(t.Context(), id)
			require.NoError(t, err)
			require.True(t, record.Running)
			require.ErrorIs(t, g.claims("g-1"), errContended, "it keeps its object locked")
			status, got, header = toRome(g.Server)
			require.Equal(t, http.StatusServiceUnavailable, status)
			assert.Equal(t, schema.InProgress, got.Error.Code)
			assert.NotEmpty(t, header.Get("Retry-After"))

			directory.city, directory.unreadable, cut = c.city, false, false
			for n := range 2 {
				status, got, header = toRome(g.Server)
				require.Equal(t, c.status, status, "%+v", got)
				assert.Equal(t, n == 1, header.Get(replayedHeader) == "true")
				if c.code != "" {
					assert.Equal(t, c.code, got.Error.Code)
					assert.Equal(t, id, header.Get(changeHeader))
				}
			}
			assert.Equal(t, c.runs, directory.changes)
			require.NoError(t, g.claims("g-1"))
			running, err := g.History.Running(t.Context())
			require.NoError(t, err)
			assert.Empty(t, running)
		})
	}
}

// claims tries to lock an object.
func (g *oneGateway) claims(object string) error {
	h := g.locks.begin()
	defer h.end()
	return h.claim([]lock{{object: object}})
}

// TestTheNextChangeEndsADoubt: once the objects of a change in doubt are not locked any more,
// the next change of them closes it as unknown, so that it is not judged by what that writes.
func TestTheNextChangeEndsADoubt(t *testing.T) {
	directory := &oneUser{city: "Oslo", at: func(string) {}, unreadable: true}
	cut := true
	g := newOneGateway(t, func(func(string) bool) ps.Runner {
		return &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			if req.Write && cut {
				intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9", Objects: []ps.Intended{changed("g-1", "l", "Oslo", "Rome")}}
				return nil, cmp.Or(req.Announced(intent), error(&ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &intent}))
			}
			return directory.run(ctx, req)
		}}
	})
	_, _, header := toRome(g.Server)
	id := header.Get(changeHeader)
	g.doubts.unlock(id)
	cut = false
	w := call(g.Server, http.MethodPut, "/api/ADUser/jdoe?City=Rome", "")
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	record, err := g.History.Get(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeUnknown, record.Outcome)
	directory.unreadable = false
	status, got, _ := toRome(g.Server)
	require.Equal(t, http.StatusConflict, status)
	assert.Equal(t, schema.OutcomeUnknown, got.Error.Code)
	assert.Equal(t, 1, directory.changes)
}

// TestEveryChangeHasItsLine: a gateway dies at each step of a change. Once it has been started
// again, the audit has a line about the outcome of each intent and of each change in the
// history, once, which names the change.
func TestEveryChangeHasItsLine(t *testing.T) {
	for step := 1; ; step++ {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		open := func() *audit.Log {
			log, err := audit.Open(audit.Options{File: file})
			require.NoError(t, err)
			t.Cleanup(func() { _ = log.Close() }) // it may be closed before
			return log
		}
		d := newScene(t, &toRomeOf)
		log := open()
		g := newOneGateway(t, d.run, func(o *Options) { o.Audit = log })
		g.life.begin(step)
		toRome(g.Server) // with a key, so that nothing is changed that the history does not have
		require.Less(t, step, 30, "the call has no end")
		died, during := g.life.dead()
		require.NoError(t, log.Close())
		if died && step%2 == 0 { // as if it had died before it wrote the outcome
			cutOutcome(t, file)
		}
		log = open()
		g.start(d.run, func(o *Options) { o.Audit = log })
		for range 2 {
			left, err := g.SettleHistory(t.Context())
			require.NoError(t, err, during)
			require.Zero(t, left, during)
			require.NoError(t, g.removePaid(t.Context()), during)
		}
		require.NoError(t, g.Kept.Range(t.Context(), dueKind, "", func(e keep.Entry) bool {
			assert.Fail(t, "a line is still due", during)
			return true
		}))
		outcomes := map[string]string{}
		require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
			if r.Call().Change == "" {
				return nil // nothing was announced
			}
			require.NotNil(t, r.Outcome, during)
			require.NotNil(t, r.Intent, during)
			require.Equal(t, r.Intent.Seq, r.Outcome.Intent, during)
			require.NotContains(t, outcomes, r.Outcome.Change, during)
			outcomes[r.Outcome.Change] = r.Outcome.Outcome
			return nil
		}))
		require.NoError(t, g.History.Newest(t.Context(), time.Time{}, "", func(c *changes.Record) bool {
			assert.Equal(t, string(c.Outcome), outcomes[c.ID], during)
			return true
		}))
		if !died {
			return
		}
	}
}
