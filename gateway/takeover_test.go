package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/members"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/histories"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnotherGatewaySettlesWhatADeadOneLeft: a call with a key whose gateway stops answers
// in_progress at others as long as it may still run, and is settled by one of them then. If
// the first one only slept, its change is refused, or what it did is not done again.
func TestAnotherGatewaySettlesWhatADeadOneLeft(t *testing.T) {
	for _, point := range []string{"read", "announced", "written"} {
		t.Run(point, func(t *testing.T) {
			d := newScene(t, &toRomeOf)
			reached, wake := make(chan struct{}), make(chan struct{})
			var once sync.Once
			asleep := d.run(func(at string) (dies bool) {
				if at == point {
					once.Do(func() { close(reached); <-wake; dies = true })
				}
				return dies
			})
			var c *sharers
			c = newCluster(t, keep.NewMemory(func() time.Time {
				if c == nil {
					return time.Now()
				}
				return c.now() // leases end by the clock of the store
			}), func(n int) ps.Runner {
				if n == 0 {
					return asleep
				}
				return d.run(lives)
			}, nil)
			var first int
			var group sync.WaitGroup
			group.Go(func() { first, _, _ = toRome(c.servers[0]) })
			<-reached
			status, got, _ := toRome(c.servers[1])
			require.Equal(t, http.StatusServiceUnavailable, status)
			assert.Equal(t, schema.InProgress, got.Error.Code)
			c.pass(20*time.Second, 1, 2) // it lapses
			status, _, _ = toRome(c.servers[1])
			require.Equal(t, http.StatusServiceUnavailable, status, "it may still run")
			c.pass(5*time.Minute, 1, 2)
			status, got, header := toRome(c.servers[1])
			require.Equal(t, http.StatusOK, status, "%+v", got)
			assert.Equal(t, 1, d.writes)
			left, err := c.servers[2].TakeOver(t.Context())
			require.NoError(t, err)
			assert.Zero(t, left)
			close(wake)
			group.Wait()
			assert.Equal(t, 1, d.writes, "the one that slept changes nothing more")
			if point == "read" {
				assert.NotEqual(t, http.StatusOK, first)
			}
			running, err := c.servers[1].History.Running(t.Context())
			require.NoError(t, err)
			assert.Empty(t, running)
			if id := header.Get(changeHeader); assert.NotEmpty(t, id) {
				record, err := c.servers[1].History.Get(t.Context(), id)
				require.NoError(t, err)
				assert.Equal(t, ps.OutcomeDone, record.Outcome)
			}
		})
	}
}

// TestWhatAGatewayCouldNotFindOutAnotherOneMay: a call whose outcome stayed unknown has
// ended, so that any gateway settles it that it is repeated at, also while the first one
// lives.
func TestWhatAGatewayCouldNotFindOutAnotherOneMay(t *testing.T) {
	d := newScene(t, &toRomeOf)
	var unread atomic.Bool
	reading := d.run(lives)
	c := newCluster(t, keep.NewMemory(nil), func(n int) ps.Runner {
		scripts := d.run(func(point string) bool { return point == "announced" })
		return &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			switch {
			case !req.Settles && n == 0:
				return scripts.Run(ctx, req)
			case req.Settles && unread.Load():
				return nil, &ps.Error{Kind: ps.KindUnavailable}
			}
			return reading.Run(ctx, req)
		}}
	}, nil)
	unread.Store(true)
	for n := range 2 { // also who is asked next may not find it out
		_, got, _ := toRome(c.servers[n])
		require.NotNil(t, got.Error)
		require.Equal(t, string(ps.OutcomeUnknown), got.Error.Outcome)
	}
	unread.Store(false)
	status, got, _ := toRome(c.servers[2])
	require.Equal(t, http.StatusOK, status, "%+v", got)
	assert.Equal(t, 1, d.writes)
}

// TestTheHistoryOfADeadGatewayIsSettled: also of a call without a key.
func TestTheHistoryOfADeadGatewayIsSettled(t *testing.T) {
	d := newScene(t, &toRomeOf)
	reached, wake := make(chan struct{}), make(chan struct{})
	c := newCluster(t, keep.NewMemory(nil), func(n int) ps.Runner {
		return d.run(func(at string) bool {
			if n == 0 && at == "written" {
				close(reached)
				<-wake
			}
			return false
		})
	}, nil)
	var group sync.WaitGroup
	group.Go(func() {
		call(c.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
	})
	<-reached
	for range 2 {
		_, err := c.servers[1].TakeOver(t.Context())
		require.NoError(t, err)
		running, err := c.servers[1].History.Running(t.Context())
		require.NoError(t, err)
		require.Len(t, running, 1, "its gateway lives, or may still run it")
		c.pass(20*time.Second, 1, 2)
	}
	c.pass(5*time.Minute, 1, 2)
	begun := c.selves[0].Begin()
	_, err := c.servers[1].TakeOver(t.Context())
	require.NoError(t, err)
	running, err := c.servers[1].History.Running(t.Context())
	require.NoError(t, err)
	assert.Empty(t, running)
	logged := 0
	require.NoError(t, c.store.Log(t.Context(), changes.Log, keep.Position{}, func(keep.Appended) bool { logged++; return true }))
	assert.Equal(t, 1, logged)
	pass, err := c.selves[0].Pass(t.Context(), begun)
	require.NoError(t, err)
	assert.ErrorIs(t, pass.Refresh(t.Context()), errFenced, "the fences of the one that is gone were moved")
	pass.End()
	close(wake)
	group.Wait()
}

// TestANameIsGivenAtOneController: a name that was given on one domain controller is not
// given on another one before it has replicated.
func TestANameIsGivenAtOneController(t *testing.T) {
	var fails, replicates, replicated atomic.Bool
	on := func(server string) ps.Runner {
		return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			if !req.Write && replicates.Load() { // just now, after the script has found nothing
				replicated.Store(true)
			}
			exists := "False"
			if server == "dc1" || replicated.Load() {
				exists = "True"
			}
			if !req.Write {
				return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(`[{"guid":"g-1","dn":"CN=Anna,OU=Sales,DC=corp","age":1,"state":{"exists":"` + exists + `"},"record":null}]`))
			}
			if exists == "True" && server != "dc1" {
				return nil, &ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: "It exists.", Outcome: ps.OutcomeNone}
			}
			if err := req.Announced(ps.Intent{Effect: ps.EffectCreated, Server: server, Objects: []ps.Intended{{
				Account: "Anna", Name: "Anna", Parent: "OU=Sales,DC=corp", Changes: []ps.IntendedChange{{Name: "exists", Before: "False", After: "True"}},
			}}}); err != nil {
				return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
			}
			if fails.Load() {
				return nil, &ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: "No.", Outcome: ps.OutcomeNone}
			}
			return &ps.Result{Effect: ps.EffectCreated, Server: server, Changes: []ps.Change{{GUID: "g-1"}}}, req.Records(json.RawMessage("[" + sample(schema.Group) + "]"))
		}}
	}
	c := newCluster(t, keep.NewMemory(nil), func(n int) ps.Runner { return on(fmt.Sprintf("dc%d", max(1, n))) }, nil)
	create := func(n int) (int, reply) {
		w := call(c.servers[n], http.MethodPost, "/api/ADGroups/anna/Security?GroupScope=Global", "")
		var got reply
		_ = json.Unmarshal(w.Body.Bytes(), &got)
		return w.Code, got
	}
	fails.Store(true)
	status, got := create(2)
	require.Equal(t, http.StatusConflict, status, "%+v", got)
	require.Equal(t, schema.Conflict, got.Error.Code)
	fails.Store(false)
	status, got = create(0)
	require.Equal(t, http.StatusCreated, status, "a name that was not given is free: %+v", got)
	status, _ = create(1)
	assert.Equal(t, http.StatusCreated, status, "on the same controller its own rule decides")
	status, got = create(2)
	require.Equal(t, http.StatusConflict, status)
	assert.Equal(t, schema.NamePending, got.Error.Code)
	replicates.Store(true)
	status, got = create(2)
	require.Equal(t, http.StatusConflict, status)
	assert.Equal(t, schema.Conflict, got.Error.Code, "the rule of its own controller decides")
}

// TestANameIsHeldForOneController: whichever gateways create it at once, and whatever the
// store loses, a name is given by one controller only as long as that has not replicated.
func TestANameIsHeldForOneController(t *testing.T) {
	for seed := range uint64(3) {
		var calls histories.Recorder
		runner := func(n int) ps.Runner {
			controller := fmt.Sprint("dc", n%2)
			return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
				raw, _ := req.Args["GroupName"].MarshalJSON()
				name := strings.Trim(string(raw), `"`)
				if !req.Write {
					return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(`[{"guid":"g-` + name + `","dn":"CN=` + name + `,OU=Sales,DC=corp","age":1,"state":{"exists":"False"},"record":null}]`))
				}
				give := calls.Begin(histories.Op{Of: name, At: n, Do: "give", Value: controller})
				err := req.Announced(ps.Intent{Effect: ps.EffectCreated, Server: controller, Objects: []ps.Intended{{
					Account: name, Name: name, Parent: "OU=Sales,DC=corp", Changes: []ps.IntendedChange{{Name: "exists", Before: "False", After: "True"}},
				}}})
				if err != nil { // the gateway writes nothing, whatever the store has
					give.Forget()
					return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
				}
				give.End(histories.Answer{})
				return &ps.Result{Effect: ps.EffectCreated, Server: controller, Changes: []ps.Change{{GUID: "g-" + name}}}, req.Records(json.RawMessage("[" + sample(schema.Group) + "]"))
			}}
		}
		faulty := keeptest.NewFaulty(keep.NewMemory(nil), seed, 0)
		t.Cleanup(func() { assert.NoError(t, faulty.Close()) })
		c := newCluster(t, faulty, runner, nil)
		faulty.Fail(0.2)
		var group sync.WaitGroup
		var given, pending atomic.Int64
		for n := range 60 {
			group.Go(func() {
				w := call(c.servers[n%3], http.MethodPost, fmt.Sprintf("/api/ADGroups/name%d/Security?GroupScope=Global", n/6), "")
				switch {
				case w.Code == http.StatusCreated:
					given.Add(1)
				case strings.Contains(w.Body.String(), string(schema.NamePending)):
					pending.Add(1)
				}
				assert.NotEqual(t, http.StatusInternalServerError, w.Code, w.Body)
			})
		}
		group.Wait()
		faulty.Heal()
		t.Logf("seed %d: %d given, %d pending", seed, given.Load(), pending.Load())
		assert.NotZero(t, given.Load())
		assert.NotZero(t, pending.Load())
		calls.Check(t, histories.Names, fmt.Sprint("seed ", seed))
	}
}

// TestAChangeOfTooManyObjectsIsRefused: at once, and with the reason, as what it needs does
// not fit into one decision.
func TestAChangeOfTooManyObjectsIsRefused(t *testing.T) {
	var objects []ps.Intended
	for i := range keep.MostChanges {
		objects = append(objects, ps.Intended{GUID: fmt.Sprintf("g-%d", i), DN: fmt.Sprintf("CN=c%d,DC=corp", i), Changes: []ps.IntendedChange{{Name: "exists", Before: "True", After: "False"}}})
	}
	c := newCluster(t, keep.NewMemory(nil), func(int) ps.Runner {
		return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			err := req.Announced(ps.Intent{Effect: ps.EffectRemoved, Server: "dc1", Objects: objects})
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}}
	}, nil)
	w := call(c.servers[0], http.MethodDelete, "/api/OU/Path/Remove?Recursive=true&OUPath=OU%3DTree,DC%3Dcorp", "")
	var got reply
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	assert.Equal(t, http.StatusConflict, w.Code, "%s", w.Body)
	assert.Equal(t, schema.TooMany, got.Error.Code)
	assert.Equal(t, "none", got.Error.Outcome)
}

func TestLate(t *testing.T) {
	now := time.Now()
	for passed, want := range map[time.Duration]bool{2 * time.Second: false, 3 * time.Second: true} {
		assert.Equal(t, want, late(now, now.Add(passed), 2*time.Second))
		assert.Equal(t, want, late(now.Round(0), now.Round(0).Add(passed), 2*time.Second), "without the monotonic clock")
	}
}

// TestAChangeThatWasAllowedTooLongAgoIsStopped: and can be sent again.
func TestAChangeThatWasAllowedTooLongAgoIsStopped(t *testing.T) {
	d := newScene(t, &toRomeOf)
	c := newCluster(t, keep.NewMemory(nil), func(int) ps.Runner { return d.run(lives) }, nil)
	s, asked := c.servers[0], 0
	real := s.Now
	s.Now = func() time.Time { // the host stands still between the batch and the answer
		asked++
		return real().Add(time.Duration(asked) * 3 * time.Second)
	}
	status, got, _ := toRome(s)
	require.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "none", got.Error.Outcome)
	assert.Zero(t, d.writes)
	s.Now = real
	status, got, _ = toRome(s)
	require.Equal(t, http.StatusOK, status, "%+v", got)
	assert.Equal(t, 1, d.writes)
}

// slowly is a way to a store on which something happens between the batch that allows the
// first change and its answer, which may be lost.
type slowly struct {
	keep.Store
	between atomic.Pointer[func() error]
}

func (s *slowly) Apply(ctx context.Context, all ...keep.Change) (keep.Revision, error) {
	revision, err := s.Store.Apply(ctx, all...)
	if slices.ContainsFunc(all, func(c keep.Change) bool { return c.Kind == leaseKind }) {
		if between := s.between.Swap(nil); between != nil {
			err = (*between)()
		}
	}
	return revision, err
}

// TestAChangeWhoseAllowanceWasAnsweredTooLateIsStopped: the lease may have ended before the
// answer came, and another gateway has found that nothing was changed.
func TestAChangeWhoseAllowanceWasAnsweredTooLateIsStopped(t *testing.T) {
	d := newScene(t, &toRomeOf)
	var c *sharers
	store := keep.NewMemory(func() time.Time {
		if c == nil {
			return time.Now()
		}
		return c.now() // leases end by the clock of the store
	})
	slow := &slowly{Store: store}
	c = newClusterOver(t, store, func(n int) keep.Store {
		if n == 0 {
			return slow
		}
		return store
	}, same(d.run(lives)), nil)
	elsewhere := func() error {
		c.pass(20*time.Second, 1, 2)
		c.pass(5*time.Minute, 1, 2)
		status, got, _ := toRome(c.servers[1])
		require.Equal(t, http.StatusOK, status, "%+v", got)
		return nil
	}
	slow.between.Store(&elsewhere)
	status, got, _ := toRome(c.servers[0])
	require.Nil(t, slow.between.Load())
	require.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "none", got.Error.Outcome)
	assert.Equal(t, 1, d.writes)
	status, _, header := toRome(c.servers[2])
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "true", header.Get(replayedHeader))
}

// TestAnAllowanceWhoseAnswerIsLostIsFoundOut: also that of a call without a key, which is made
// once (facts J11).
func TestAnAllowanceWhoseAnswerIsLostIsFoundOut(t *testing.T) {
	for _, headers := range [][]string{nil, {keyOfRome}} {
		d := newScene(t, &toRomeOf)
		slow := &slowly{Store: keep.NewMemory(nil)}
		c := newCluster(t, slow, same(d.run(lives)), nil)
		lost := func() error { return keep.ErrUnreachable }
		slow.between.Store(&lost)
		w := call(c.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, append(headers, "Content-Type: application/json")...)
		require.Equal(t, http.StatusOK, w.Code, "%v: %s", headers, w.Body)
		require.Nil(t, slow.between.Load())
		assert.Equal(t, 1, d.writes)
	}
}

// TestAChangeThatWasMadeAfterItWasSettledIsReported: a gateway that stood still between the
// permission and the write, until another one had found that nothing was changed, writes all
// the same, which cannot be prevented. Its answer, the audit and the history say so.
func TestAChangeThatWasMadeAfterItWasSettledIsReported(t *testing.T) {
	for point, raced := range map[string]bool{"announced": true, "written": false} {
		t.Run(point, func(t *testing.T) {
			d := newScene(t, &toRomeOf)
			reached, wake := make(chan struct{}), make(chan struct{})
			var once sync.Once
			file := filepath.Join(t.TempDir(), "audit.jsonl")
			log, err := audit.Open(audit.Options{File: file})
			require.NoError(t, err)
			defer func() { assert.NoError(t, log.Close()) }()
			c := newCluster(t, keep.NewMemory(nil), func(n int) ps.Runner {
				return d.run(func(at string) bool {
					if n == 0 && at == point {
						once.Do(func() { close(reached); <-wake })
					}
					return false
				})
			}, func(n int, o *Options) {
				if n == 0 {
					o.Audit = log
				}
			})
			var status int
			var got reply
			var header http.Header
			var group sync.WaitGroup
			group.Go(func() { status, got, header = toRome(c.servers[0]) })
			<-reached
			c.pass(20*time.Second, 1, 2)
			c.pass(5*time.Minute, 1, 2)
			other, _, settled := toRome(c.servers[1])
			require.Equal(t, http.StatusOK, other)
			close(wake)
			group.Wait()
			require.Equal(t, http.StatusOK, status, "%+v", got)
			var lines []*audit.Line
			require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
				lines = append(lines, r.Lines()...)
				return nil
			}))
			outcome := lines[len(lines)-1]
			assert.Equal(t, string(ps.OutcomeDone), outcome.Outcome)
			made := map[string]bool{header.Get(changeHeader): true, settled.Get(changeHeader): true}
			if raced {
				assert.Equal(t, 2, d.writes)
				require.Len(t, got.Warnings, 1)
				assert.Equal(t, "raced", got.Warnings[0].Code)
				assert.Equal(t, "raced", outcome.Code)
				assert.Len(t, made, 2)
			} else {
				assert.Equal(t, 1, d.writes)
				assert.Empty(t, got.Warnings)
				assert.Empty(t, outcome.Code)
				assert.Len(t, made, 1, "the other one has found this change")
			}
			for id := range made {
				record, err := c.servers[2].History.Get(t.Context(), id)
				require.NoError(t, err)
				assert.Equal(t, ps.OutcomeDone, record.Outcome)
				assert.False(t, record.Running)
			}
		})
	}
}

// TestAChangeOnAServerThatIsNotPinnedAnyMore is refused before its first write, and made once
// by a run that begins after the move.
func TestAChangeOnAServerThatIsNotPinnedAnyMore(t *testing.T) {
	for moves, want := range []int{http.StatusOK, http.StatusOK, http.StatusServiceUnavailable} {
		d := newScene(t, &toRomeOf)
		var c *sharers
		left := moves
		c = newCluster(t, keep.NewMemory(nil), same(d.run(func(at string) bool {
			if at == "read" && left > 0 {
				left--
				fences, err := members.MoveFences(t.Context(), c.store, "gw1")
				require.NoError(t, err)
				_, err = c.store.Apply(t.Context(), fences...)
				require.NoError(t, err)
			}
			return false
		})), nil)
		w := call(c.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
		require.Equal(t, want, w.Code, "%d moves: %s", moves, w.Body)
		require.Zero(t, left)
		if want == http.StatusOK {
			assert.Equal(t, 1, d.writes)
			continue
		}
		assert.Zero(t, d.writes)
		var got reply
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		assert.Equal(t, schema.PinMoved, got.Error.Code)
		assert.Equal(t, "none", got.Error.Outcome)
	}
}

// TestAChangeTakesThreeWrites: with a key, a plan, a budget and the history.
func TestAChangeTakesThreeWrites(t *testing.T) {
	q := newQuotas(t)
	q.now = time.Now()
	accounts, header := q.stored(auth.Rights{Scopes: []string{"user:write"}, Quota: &auth.Quota{ChangesPerHour: number(5)}})
	store := openKeys(t, filepath.Join(t.TempDir(), "state.db"))
	history, err := changes.Open(t.Context(), store, time.Hour, 1<<20)
	require.NoError(t, err)
	s := newTestServer(t, answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), func(o *Options) {
		o.Auth, o.Kept, o.History = accounts, store, history
	})
	w := call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "", header)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	before := store.State().Writes
	w = call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?PlanId="+planID(t, w.Body.Bytes()), "", header, keyOfRome)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	assert.EqualValues(t, 3, store.State().Writes-before)
}

// TestARunBeginsAgainAfterAChangeElsewhere: what a run has read before another gateway
// changed the object is read again, before anything is announced as if it still held, also
// if a third one has had the object since, and changed nothing.
func TestARunBeginsAgainAfterAChangeElsewhere(t *testing.T) {
	var value atomic.Int64
	var between func()
	runner := func(n int) ps.Runner {
		return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			read := value.Load()
			if n == 0 && between != nil {
				other := between
				between = nil
				other()
			}
			if err := req.Announced(ps.Intent{Effect: ps.EffectChanged, Server: "dc1", Objects: []ps.Intended{
				{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "l", Before: fmt.Sprint(read), After: fmt.Sprint(read + 1)}}}}}); err != nil {
				return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
			}
			if n == 2 {
				return nil, &ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: "No.", Outcome: ps.OutcomeNone}
			}
			value.Store(read + 1)
			return &ps.Result{Effect: ps.EffectChanged, Server: "dc1"}, req.Records(json.RawMessage("[" + sample(schema.User) + "]"))
		}}
	}
	c := newCluster(t, keep.NewMemory(nil), runner, nil)
	change := func(n int) int {
		return call(c.servers[n], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json").Code
	}
	for _, others := range [][]int{{1}, {1, 2}, {2}} {
		before, changed := value.Load(), int64(1)
		between = func() {
			for _, n := range others {
				want := http.StatusOK
				if n == 2 {
					want = http.StatusConflict
				} else {
					changed++
				}
				assert.Equal(t, want, change(n))
			}
		}
		require.Equal(t, http.StatusOK, change(0))
		assert.Equal(t, before+changed, value.Load(), "%v: no change is lost", others)
	}
}
