package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// TestACutOffChangeIsJudgedOnce: the outcome that a gateway determines at its next start remains the answer
// to the key, even if others write to the object later.
func TestACutOffChangeIsJudgedOnce(t *testing.T) {
	d := harness.NewScene(t, &harness.RomeDeed)
	g := harness.NewGateway(t, d.Run)
	const path = "/api/ADUser/jdoe"
	plan := planID(t, harness.Call(g.Server, http.MethodPut, path+"?City=Rome&DryRun=true", "").Body.Bytes())
	apply := func(key string) (int, harness.Reply, http.Header) {
		w := harness.Call(g.Server, http.MethodPut, path+"?City=Rome&PlanId="+plan, "", "Idempotency-Key: "+key)
		var got harness.Reply
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		return w.Code, got, w.Header()
	}
	g.Life.Begin(2) // after the batch that begins the change
	apply("the-first-key")
	died, during := g.Life.Dead()
	require.True(t, died)
	require.Zero(t, d.Writes, during)
	g.Start(d.Run)
	left, err := g.Writer().SettleHistory(t.Context())
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
	assert.Contains(t, got.Error.Message, second.Get(harness.ChangeHeader))
	assert.Empty(t, first.Get(harness.ChangeHeader))
	assert.Equal(t, 1, d.Writes)
}

// TestAVerdictIsReadLater: a change that was found to be made is a success for its key, even if
// somebody reverts the object before the call is repeated.
func TestAVerdictIsReadLater(t *testing.T) {
	for _, unreadable := range []bool{false, true} {
		directory := &harness.OneUser{City: "Oslo"}
		g, run := directory.DiedWriting(t)
		require.Equal(t, "Rome", directory.City)
		g.Start(run)
		left, err := g.Writer().SettleHistory(t.Context())
		require.NoError(t, err)
		require.Zero(t, left)
		directory.City, directory.Unreadable = "Oslo", unreadable
		status, got, header := harness.ToRome(g.Server)
		require.Equal(t, http.StatusOK, status, "%+v", got)
		require.Len(t, got.Result, 1)
		assert.Equal(t, 1, directory.Changes)
		require.Equal(t, unreadable, len(got.Warnings) > 0, "%+v", got.Warnings)
		if unreadable {
			assert.Equal(t, "not_read_back", got.Warnings[0].Code)
		}
		id := header.Get(harness.ChangeHeader)
		record, err := g.History.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, ps.OutcomeDone, record.Outcome)
		status, _, header = harness.ToRome(g.Server)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "true", header.Get(harness.ReplayedHeader))
		assert.Equal(t, id, header.Get(harness.ChangeHeader))
	}
}

// TestAFailureAfterTheLastWriteIsASuccess: after the last write only the report can fail, so a key
// never keeps an answer that asks the client to retry.
func TestAFailureAfterTheLastWriteIsASuccess(t *testing.T) {
	for name, fails := range map[string]ps.Error{
		"server away":   {Kind: ps.KindUnavailable, Outcome: ps.OutcomeDone, Server: "dc9"},
		"script failed": {Kind: ps.KindScript, Code: "8224", Outcome: ps.OutcomeDone, Server: "dc9"},
		"out of time":   {Kind: ps.KindTimeout, Outcome: ps.OutcomeDone, Server: "dc9"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &harness.OneUser{City: "Oslo", At: func(string) {}}
			g := harness.NewGateway(t, func(
				func(string) bool) ps.Runner {
				return harness.WrittenThen(directory, fails)
			})
			id := ""
			for n := range 2 {
				status, got, header := harness.ToRome(g.Server)
				require.Equal(t, http.StatusOK, status, "%+v", got)
				require.Len(t, got.Warnings, 1)
				assert.Equal(t, "not_read_back", got.Warnings[0].Code)
				require.Len(t, got.Result, 1)
				assert.Contains(t, string(got.Result[0]), `"distinguishedName":"CN=j"`)
				assert.Contains(t, string(got.Result[0]), `"city":"Rome"`)
				assert.Equal(t, n == 1, header.Get(harness.ReplayedHeader) == "true")
				assert.Empty(t, header.Get("Retry-After"))
				if n == 0 {
					id = header.Get(harness.ChangeHeader)
				}
				assert.NotEmpty(t, id)
				assert.Equal(t, id, header.Get(harness.ChangeHeader))
			}
			record, err := g.History.Get(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, ps.OutcomeDone, record.Outcome)
			assert.Equal(t, 1, directory.Changes)
		})
	}
}

// TestAnAnswerThatAsksToComeAgainIsNotReplayed: earlier versions stored answers that ask the client to retry.
// A call with such a key is now answered with the outcome of the change.
func TestAnAnswerThatAsksToComeAgainIsNotReplayed(t *testing.T) {
	for name, c := range map[string]struct {
		outcome ps.Outcome
		forgets bool // the change is missing in the history
		status  int
		code    schema.Code
	}{
		"done":                                  {ps.OutcomeDone, false, 200, ""},
		"done, and not in the history any more": {ps.OutcomeDone, true, 409, schema.OutcomeUnknown},
		"unknown":                               {ps.OutcomeUnknown, false, 409, schema.OutcomeUnknown},
		"partial":                               {ps.OutcomePartial, false, 207, schema.Partial},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &harness.OneUser{City: "Oslo", At: func(string) {}}
			g := harness.NewGateway(t, func(func(string) bool) ps.Runner { return &harness.Runner{Do: directory.Run} })
			_, _, header := harness.ToRome(g.Server)
			id := header.Get(harness.ChangeHeader)
			rewriteKey(g, map[string]any{
				"status": http.StatusServiceUnavailable,
				"body":   map[string]any{"error": map[string]any{"code": "unavailable", "outcome": c.outcome, "details": []any{}}},
			})
			if c.forgets {
				record, err := g.History.Get(t.Context(), id)
				require.NoError(t, err)
				require.NoError(t, g.Kept.Update(t.Context(), func(tx *store.Tx) error {
					g.History.Drop(tx, record.ID)
					return nil
				}))
			}
			for n := range 2 {
				status, got, header := harness.ToRome(g.Server)
				require.Equal(t, c.status, status, "%+v", got)
				if c.code != "" {
					assert.Equal(t, c.code, got.Error.Code)
					assert.Equal(t, string(c.outcome) == "partial", got.Error.Outcome == "partial")
				}
				assert.Equal(t, id, header.Get(harness.ChangeHeader))
				assert.Equal(t, n == 1, header.Get(harness.ReplayedHeader) == "true")
			}
			assert.Equal(t, 1, directory.Changes)
		})
	}
}

// rewriteKey modifies the stored entry of the only call with a key.
func rewriteKey(g *harness.Gateway, members map[string]any) {
	g.T.Helper()
	var entries []store.Entry
	require.NoError(g.T, g.Kept.Range(g.T.Context(), harness.Keys, "", func(e store.Entry) bool {
		entries = append(entries, e)
		return true
	}))
	require.Len(g.T, entries, 1)
	var call map[string]any
	require.NoError(g.T, json.Unmarshal(entries[0].Value, &call))
	maps.Copy(call, members)
	_, err := g.Kept.Apply(g.T.Context(),
		store.Change{Kind: harness.Keys, Key: entries[0].Key, Expect: entries[0].Revision,
			Value: harness.JSON(call), Expires: entries[0].Expires})
	require.NoError(g.T, err)
}

// TestAnEndThatCannotBeStored: the caller gets the outcome that the script reported, and the store
// gets the same outcome as soon as it accepts it. The directory is not read again, because others
// may have changed it.
func TestAnEndThatCannotBeStored(t *testing.T) {
	for _, fails := range []bool{false, true} {
		directory := &harness.OneUser{City: "Oslo"}
		var g *harness.Gateway
		directory.At = func(point string) { g.Full.Fill(point == "changed") }
		run := func(func(string) bool) ps.Runner {
			if fails {
				return harness.WrittenThen(directory,
					ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: "No.", Outcome: ps.OutcomeNone})
			}
			return &harness.Runner{Do: directory.Run}
		}
		g = harness.NewGateway(t, run)
		first, got, header := harness.ToRome(g.Server)
		id := header.Get(harness.ChangeHeader)
		if fails {
			require.Equal(t, http.StatusConflict, first, "%+v", got)
		} else {
			require.Equal(t, http.StatusOK, first, "%+v", got)
			require.NotEmpty(t, id)
			require.Len(t, got.Warnings, 1)
			assert.Equal(t, "history_unavailable", got.Warnings[0].Code)
		}
		status, again, header := harness.ToRome(g.Server)
		require.Equal(t, http.StatusServiceUnavailable, status)
		assert.Equal(t, schema.InProgress, again.Error.Code)
		assert.Equal(t, "1", header.Get("Retry-After"))
		g.CloseOpen()
		running, err := g.History.Running(t.Context())
		require.NoError(t, err)
		require.Len(t, running, 1)

		directory.City = "Bonn" // another administrator writes to the object
		g.Full.Fill(false)
		g.CloseOpen()
		running, err = g.History.Running(t.Context())
		require.NoError(t, err)
		require.Empty(t, running)
		if fails {
			directory.At = func(string) {}
			status, _, _ = harness.ToRome(g.Server)
			assert.Equal(t, http.StatusConflict, status, "it changed nothing, and runs again")
			continue
		}
		record, err := g.History.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, ps.OutcomeDone, record.Outcome)
		status, again, header = harness.ToRome(g.Server)
		require.Equal(t, http.StatusOK, status)
		assert.Equal(t, "true", header.Get(harness.ReplayedHeader))
		assert.Equal(t, id, header.Get(harness.ChangeHeader))
		assert.Equal(t, got.Result, again.Result)
		assert.Empty(t, again.Warnings)
		assert.Equal(t, 1, directory.Changes)
	}
}

// TestAChangeInDoubt: a change in doubt stays open and keeps its objects locked while they cannot be read.
// Until they can, calls with its key are told to retry. If the outcome stays unknown, that is the final
// answer.
func TestAChangeInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		city   string // value in the directory when it can be read again
		status int
		code   schema.Code
		runs   int
	}{
		"made":                     {"Rome", 200, "", 1},
		"not made":                 {"Oslo", 200, "", 2},
		"changed by somebody else": {"Bonn", 409, schema.OutcomeUnknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &harness.OneUser{City: "Oslo", At: func(string) {}, Unreadable: true}
			cut := true
			g := harness.NewGateway(t, func(func(string) bool) ps.Runner {
				return &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
					result, err := directory.Run(ctx, req)
					if req.Write && err == nil && cut {
						intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9",
							Objects: []ps.Intended{harness.Changed("g-1", "l", "Oslo", "Rome")}}
						return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &intent}
					}
					return result, err
				}}
			})
			status, got, header := harness.ToRome(g.Server)
			require.Equal(t, http.StatusGatewayTimeout, status, "%+v", got)
			id := header.Get(harness.ChangeHeader)
			record, err := g.History.Get(t.Context(), id)
			require.NoError(t, err)
			require.True(t, record.Running)
			require.True(t, lockedUser(g.Server), "it keeps its object locked")
			status, got, header = harness.ToRome(g.Server)
			require.Equal(t, http.StatusServiceUnavailable, status)
			assert.Equal(t, schema.InProgress, got.Error.Code)
			assert.NotEmpty(t, header.Get("Retry-After"))

			directory.City, directory.Unreadable, cut = c.city, false, false
			for n := range 2 {
				status, got, header = harness.ToRome(g.Server)
				require.Equal(t, c.status, status, "%+v", got)
				assert.Equal(t, n == 1, header.Get(harness.ReplayedHeader) == "true")
				if c.code != "" {
					assert.Equal(t, c.code, got.Error.Code)
					assert.Equal(t, id, header.Get(harness.ChangeHeader))
				}
			}
			assert.Equal(t, c.runs, directory.Changes)
			require.False(t, lockedUser(g.Server))
			running, err := g.History.Running(t.Context())
			require.NoError(t, err)
			assert.Empty(t, running)
		})
	}
}

// lockedUser reports whether the user of a directory is locked. To find out, it makes a change whose client
// does not wait, which fails if the user is locked.
func lockedUser(s *gateway.Server) bool {
	left, leave := context.WithCancel(context.Background())
	leave()
	w := harness.CallWith(left, s, http.MethodPut, "/api/ADUser/jdoe?City=Bern")
	return w.Code == http.StatusGatewayTimeout && strings.Contains(w.Body.String(), `"outcome":"none"`)
}

// TestTheNextChangeEndsADoubt: once the objects of a change in doubt are unlocked, the next change of these
// objects closes it as unknown. So it is not judged by the values that the next change writes.
func TestTheNextChangeEndsADoubt(t *testing.T) { synctest.Test(t, nextChangeEndsADoubt) }

func nextChangeEndsADoubt(t *testing.T) {
	directory := &harness.OneUser{City: "Oslo", At: func(string) {}, Unreadable: true}
	cut := true
	g := harness.NewGateway(t, func(func(string) bool) ps.Runner {
		return &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			if req.Write && cut {
				intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9",
					Objects: []ps.Intended{harness.Changed("g-1", "l", "Oslo", "Rome")}}
				return nil, cmp.Or(req.Announced(intent),
					error(&ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &intent}))
			}
			return directory.Run(ctx, req)
		}}
	})
	_, _, header := harness.ToRome(g.Server)
	id := header.Get(harness.ChangeHeader)
	closing, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); g.Writer().RunClosing(closing) }()
	time.Sleep(2 * time.Minute)
	stop()
	<-ended
	cut = false
	w := harness.Call(g.Server, http.MethodPut, "/api/ADUser/jdoe?City=Rome", "")
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	record, err := g.History.Get(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeUnknown, record.Outcome)
	directory.Unreadable = false
	status, got, _ := harness.ToRome(g.Server)
	require.Equal(t, http.StatusConflict, status)
	assert.Equal(t, schema.OutcomeUnknown, got.Error.Code)
	assert.Equal(t, 1, directory.Changes)
}

// TestEveryChangeHasItsLine: a gateway dies at each step of a change. After a restart the audit has
// exactly one outcome line for each intent and for each change in the history, and the line names
// the change.
func TestEveryChangeHasItsLine(t *testing.T) {
	for step := 1; ; step++ {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		open := func() *audit.Log {
			log, err := audit.Open(audit.Options{File: file})
			require.NoError(t, err)
			t.Cleanup(func() { _ = log.Close() }) // the test may have closed it
			return log
		}
		d := harness.NewScene(t, &harness.RomeDeed)
		log := open()
		g := harness.NewGateway(t, d.Run, func(o *gateway.Options) { o.Audit = log })
		g.Life.Begin(step)
		g.Life.Audits(filepath.Dir(file))
		harness.ToRome(g.Server) // a change with a key is never missing in the history
		require.Less(t, step, 30, "the call has no end")
		died, during := g.Life.Dead()
		require.NoError(t, log.Close())
		g.Life.Bury(t)
		log = open()
		g.Start(d.Run, func(o *gateway.Options) { o.Audit = log })
		for range 2 {
			left, err := g.Writer().SettleHistory(t.Context())
			require.NoError(t, err, during)
			require.Zero(t, left, during)
			g.CloseOpen()
		}
		require.NoError(t, g.Kept.Range(t.Context(), harness.Due, "", func(e store.Entry) bool {
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
		require.NoError(t, g.History.Newest(t.Context(), time.Time{}, "", nil, func(c *changes.Record) bool {
			assert.Equal(t, string(c.Outcome), outcomes[c.ID], during)
			return true
		}))
		if !died {
			return
		}
	}
}

// unsureStore stores every update, but once reports that it does not know whether the update was stored.
type unsureStore struct {
	store.Store
	at atomic.Int64 // updates until it is unsure; negative for never
}

func (s *unsureStore) Update(ctx context.Context, f func(*store.Tx) error) error {
	err := storetest.Update(ctx, s.Store, f)
	if err == nil && s.at.Add(-1) == 0 {
		return store.ErrUnsure
	}
	return err
}

// TestAnUpdateInDoubtIsNeitherStoredNorMadeTwice: no matter which update of a change is in doubt, the gateway
// finds out what was stored. It neither stores nor makes the change a second time.
func TestAnUpdateInDoubtIsNeitherStoredNorMadeTwice(t *testing.T) {
	for name, update := range map[string]int64{"the beginning": 1, "the end": 2} {
		t.Run(name, func(t *testing.T) {
			db := &unsureStore{Store: store.NewMemory(nil)}
			kept := storetest.Seal(t, db)
			history := changes.New(kept, time.Hour, 1<<20)
			d := harness.NewScene(t, &harness.RomeDeed)
			s := harness.New(t, d.Run(func(string) bool { return false }),
				func(o *gateway.Options) { o.Kept, o.History = kept, history })
			plan := planID(t, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe?City=Rome&DryRun=true",
				"").Body.Bytes())
			apply := func() *http.Response {
				return harness.Call(s, http.MethodPut, "/api/ADUser/jdoe?City=Rome&PlanId="+plan, "",
					harness.KeyOfRome).Result()
			}
			db.at.Store(update)
			require.Equal(t, http.StatusOK, apply().StatusCode)
			harness.CloseOpen(s)
			last := apply()
			require.Equal(t, http.StatusOK, last.StatusCode)
			assert.Equal(t, 1, d.Writes)
			id := last.Header.Get(harness.ChangeHeader)
			record, err := history.Get(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, ps.OutcomeDone, record.Outcome)
			var ended []string
			require.NoError(t, kept.Log(t.Context(), changes.Log, store.Position{}, func(a store.Appended) bool {
				ended = append(ended, string(a.Value))
				return true
			}))
			assert.Equal(t, []string{id}, ended)
			w := harness.Call(s, http.MethodGet, "/api/Plans/"+plan, "")
			assert.Contains(t, w.Body.String(), `"change":"`+id+`"`)
		})
	}
}
