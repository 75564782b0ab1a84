package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// town is a directory of users who live in Oslo until the scripts of several gateways move them to
// Rome.
type town struct {
	mu     sync.Mutex
	made   map[string]bool
	writes map[string]int
	at     func(gateway int, point, user string) (dies bool) // called at points of a script; may be nil
}

func newTown() *town { return &town{made: map[string]bool{}, writes: map[string]int{}} }

func (d *town) set(at func(gateway int, point, user string) (dies bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
}

func (d *town) reach(gateway int, point, user string) (dies bool) {
	d.mu.Lock()
	at := d.at
	d.mu.Unlock()
	return at != nil && at(gateway, point, user)
}

// written returns the number of times that the scripts wrote a user.
func (d *town) written(user string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes[user]
}

func (d *town) runner(gateway int) ps.Runner {
	return &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if req.Settles {
			user := harness.TextArg(req, ops.SettleGuid)
			city := map[bool]string{true: "Rome", false: "Oslo"}[d.written(user) > 0]
			return &ps.Result{Effect: ps.EffectNone}, req.Records(harness.JSON([]any{map[string]any{
				"guid": user, "dn": "CN=" + user + ",OU=Sales,DC=corp", "age": 1,
				"state": map[string]string{"l": city, harness.Existence: "True"}, "record": json.RawMessage(harness.Sample(schema.User)),
			}}))
		}
		user := harness.TextArg(req, "UserName")
		if d.reach(gateway, "read", user) {
			return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeNone}
		}
		object := harness.Changed(user, "l", "Oslo", "Rome")
		intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc1", Objects: []ps.Intended{object}}
		if strings.HasPrefix(req.Script, "Remove-") {
			intent.Effect, intent.Objects[0] = ps.EffectRemoved, harness.Removed(user, schema.User)
		}
		if err := req.Announced(intent); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		died := &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: "dc1"}
		if d.reach(gateway, "allowed", user) {
			return nil, died
		}
		d.mu.Lock()
		d.made[user] = true
		d.writes[user]++
		d.mu.Unlock()
		if d.reach(gateway, "written", user) {
			return nil, died
		}
		result := &ps.Result{Effect: intent.Effect, Server: "dc1", Changes: []ps.Change{{GUID: user}}}
		if intent.Effect == ps.EffectChanged {
			result.Changes[0].After = map[string]json.RawMessage{"city": nil}
		}
		return result, req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
	}}
}

// toRomeWith moves a user to Rome, with an idempotency key of that user.
func toRomeWith(s *gateway.Server, user string, headers ...string) (int, harness.Reply, http.Header) {
	headers = append([]string{"Content-Type: application/json", "Idempotency-Key: key-of-" + user}, headers...)
	w := harness.Call(s, http.MethodPut, "/api/ADUser/"+user, `{"City":"Rome"}`, headers...)
	var got harness.Reply
	_ = json.Unmarshal(w.Body.Bytes(), &got)
	return w.Code, got, w.Header()
}

// itemOf returns the call of a job's item that moves a user to Rome.
func itemOf(user string) jobs.Call {
	call := harness.ItemToRome("item-of-" + user)
	call.Spec.Parameters["UserName"] = user
	return call
}

// judged advances the leader's clock, while it keeps leading, until the open changes of earlier
// terms are judged.
func (r *replicated) judged() {
	r.of.t.Helper()
	for range 60 { // seconds
		if r.Member.Status().Open == 0 {
			return
		}
		before := len(r.of.nodes.Messages())
		r.sleep(time.Second)
		proved := func() bool { return len(r.of.nodes.Messages()) > before && r.Leads() }
		require.Eventually(r.of.t, proved, replicaPatience, time.Millisecond)
	}
	judged := func() bool { return r.Member.Status().Open == 0 }
	require.Eventually(r.of.t, judged, replicaPatience, time.Millisecond)
}

// reported waits until a leader has accepted the reports of this gateway.
func (r *replicated) reported() {
	r.of.t.Helper()
	none := func() bool { return r.Member.Status().Reports == 0 }
	require.Eventually(r.of.t, none, replicaPatience, time.Millisecond)
}

// ends returns the number of times that each change ends in the history of a gateway.
func (r *replicated) ends() map[string]int {
	ends := map[string]int{}
	count := func(a store.Appended) bool {
		ends[string(a.Value)]++
		return true
	}
	require.NoError(r.of.t, r.history.Store().Log(r.of.t.Context(), changes.Log, store.Position{}, count))
	return ends
}

// TestALeaderThatStoodStillMakesWhatWasInFlightAtMost: while one gateway is suspended, another leads. It
// judges the changes in flight once their scripts can no longer write, and allows them to be repeated. Any
// outcome that the first gateway reports later is stored next to the verdict.
func TestALeaderThatStoodStillMakesWhatWasInFlightAtMost(t *testing.T) {
	t.Parallel()
	d := newTown()
	folder := t.TempDir()
	file := func(n int) string { return filepath.Join(folder, fmt.Sprintf("audit%d.jsonl", n)) }
	rs := newReplicas(t, 3, d.runner, func(n int, o *gateway.Options) {
		log, err := audit.Open(audit.Options{File: file(n)})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, log.Close()) })
		o.Audit = log
	})
	a := rs.leader()
	users := []string{"u1", "u2", "u3", "u4"}
	var allowed sync.WaitGroup
	wake := make(chan struct{})
	allowed.Add(len(users))
	d.set(func(gateway int, point, user string) bool {
		if gateway == a.n && point == "allowed" {
			allowed.Done()
			<-wake
		}
		return false
	})
	var calls sync.WaitGroup
	var mu sync.Mutex
	warned := map[string]string{} // keyed by user
	for _, user := range users {
		calls.Go(func() {
			if user == "u4" {
				answer := a.Jobs().Items.Call(t.Context(), itemOf(user))
				assert.Equal(t, jobstate.Made, answer.State, "%+v", answer)
				mu.Lock()
				defer mu.Unlock()
				if assert.Equal(t, "raced", answer.Code) {
					warned[user] = answer.ChangeID
				}
				return
			}
			status, got, header := toRomeWith(a.Server, user)
			assert.Equal(t, http.StatusOK, status, "%+v", got.Error)
			mu.Lock()
			defer mu.Unlock()
			if assert.Len(t, got.Warnings, 1) && assert.Equal(t, "raced", got.Warnings[0].Code) {
				warned[user] = header.Get(harness.ChangeHeader)
			}
		})
	}
	allowed.Wait()
	a.cut()
	b := rs.leader()
	require.NotEqual(t, a.name, b.name)
	status, got, _ := toRomeWith(b.Server, "u9")
	require.Equal(t, http.StatusOK, status, "nothing stands against other objects: %+v", got.Error)
	status, got, _ = toRomeWith(b.Server, "u1")
	require.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, schema.InProgress, got.Error.Code)
	other := make(chan harness.Reply) // a call with another key, which waits for the object
	go func() {
		status, got := http.StatusServiceUnavailable, harness.Reply{}
		for status == http.StatusServiceUnavailable { // the gateway's clock leaps
			status, got, _ = toRomeWith(b.Server, "u1", "Idempotency-Key: another-key")
		}
		other <- got
	}()
	b.judged()
	got = <-other
	require.Nil(t, got.Error, "%+v", got.Error)
	for _, user := range users[:3] {
		status, got, _ = toRomeWith(b.Server, user)
		require.Equal(t, http.StatusOK, status, "%s: %+v", user, got.Error)
	}
	require.Equal(t, jobstate.Made, b.Jobs().Items.Call(t.Context(), itemOf("u4")).State)
	a.mend()
	rs.leader()
	close(wake)
	calls.Wait()
	for user, want := range map[string]int{"u1": 3, "u2": 2, "u3": 2, "u4": 2, "u9": 1} {
		assert.Equal(t, want, d.written(user), user) // once by its call, and once by the leader that was suspended
	}
	a.reported()
	rs.level()
	require.Len(t, warned, len(users))
	for user, id := range warned {
		c, err := b.history.Get(t.Context(), id)
		require.NoError(t, err, user)
		assert.Equal(t, ps.OutcomeDone, c.Raced, user)
	}
	lines := map[string]int{} // number of outcome lines in the audit logs of answering gateways, by change
	for n := range 3 {
		require.NoError(t, audit.Read(file(n), nil, audit.Filter{}, func(r *audit.Record) error {
			if r.Outcome != nil && r.Outcome.Code == "raced" && r.Outcome.SettledBy == a.name {
				assert.Equal(t, string(ps.OutcomeDone), r.Outcome.Outcome)
				lines[r.Outcome.Change]++
			}
			return nil
		}))
	}
	for user, id := range warned {
		assert.Equal(t, 1, lines[id], user)
	}
	for id, n := range b.ends() {
		assert.Equal(t, 1, n, id)
	}
	assert.Len(t, b.ends(), 4+1+5)
}

// TestAChangeOfALeaderThatIsKilledIsJudgedOnce: a leader is killed at each step of a change. Any other
// gateway then answers a call with the same key, and does not make the change twice.
func TestAChangeOfALeaderThatIsKilledIsJudgedOnce(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"read", "stored", "allowed", "written"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			d := newTown()
			rs := newReplicas(t, 3, d.runner, nil)
			a := rs.leader()
			kill := a.kill
			d.set(func(gateway int, at, _ string) bool {
				switch {
				case gateway != a.n:
					return false
				case at == point:
					kill()
					return true
				case at == "read" && point == "stored":
					a.client.Fates(func(_ uint64, message []byte, _ int) journaltest.Fate {
						go kill() // the change is stored, but its answer comes too late
						return journaltest.Fate{Silent: true}
					})
					a.client.Undeliver(true)
				}
				return false
			})
			gone := make(chan struct{})
			go func() { defer close(gone); toRomeWith(a.Server, "u1") }()
			b := rs.leaderBut(a)
			d.set(nil)
			b.judged()
			var id string
			for _, r := range rs.others(a) {
				status, got, header := toRomeWith(r.Server, "u1")
				require.Equal(t, http.StatusOK, status, "%+v", got.Error)
				id = header.Get(harness.ChangeHeader)
			}
			assert.Equal(t, 1, d.written("u1"))
			<-gone
			rs.level()
			require.Equal(t, map[string]int{id: 1}, b.ends())
			c, err := b.history.Get(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, ps.OutcomeDone, c.Outcome)
			assert.Empty(t, c.Raced)
		})
	}
}

// leaderBut waits until a gateway other than former leads, and returns that gateway.
func (rs *replicas) leaderBut(former *replicated) (leads *replicated) {
	rs.t.Helper()
	require.Eventually(rs.t, func() bool {
		for _, r := range rs.others(former) {
			if r.runs() && r.Leads() && rs.know(r) {
				leads = r
			}
		}
		return leads != nil
	}, replicaPatience, 5*time.Millisecond, "no other gateway leads")
	return leads
}

// TestAScriptContinuesAfterItsGatewayHasStoppedLeading: the script's change ends at the new leader, the
// caller gets the usual answer, and the new leader unlocks the object at once.
func TestAScriptContinuesAfterItsGatewayHasStoppedLeading(t *testing.T) {
	t.Parallel()
	d := newTown()
	rs := newReplicas(t, 3, d.runner, nil)
	a := rs.leader()
	allowed, wake := make(chan struct{}), make(chan struct{})
	d.set(func(gateway int, point, user string) bool {
		if gateway == a.n && point == "allowed" {
			close(allowed)
			<-wake
		}
		return false
	})
	var status int
	var got harness.Reply
	var header http.Header
	var calling sync.WaitGroup
	calling.Go(func() { status, got, header = toRomeWith(a.Server, "u1") })
	<-allowed
	over, cancel := context.WithCancel(t.Context())
	cancel() // the call no longer waits for anything
	_ = a.Member.HandOver(over)
	b := rs.leaderBut(a)
	require.Equal(t, 1, b.Member.Status().Open)
	other := make(chan int)
	go func() { status, _, _ := toRomeWith(b.Server, "u1", "Idempotency-Key: another-key"); other <- status }()
	close(wake)
	calling.Wait()
	require.Equal(t, http.StatusOK, status, "%+v", got.Error)
	assert.Empty(t, got.Warnings)
	require.Equal(t, http.StatusOK, <-other,
		"the object is unlocked without waiting for the limits of the script")
	a.reported()
	status, _, again := toRomeWith(b.Server, "u1")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "true", again.Get(harness.ReplayedHeader))
	c, err := b.history.Get(t.Context(), header.Get(harness.ChangeHeader))
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, c.Outcome)
	assert.Empty(t, c.Raced)
	assert.Equal(t, 2, d.written("u1"), "once by each call")
}

// TestAnEndThatNoLeaderTakesIsUnknown: if no leader accepts the end of a change, the caller is told that the
// outcome is unknown. Once the gateway can report the end of the run, that outcome becomes the verdict.
func TestAnEndThatNoLeaderTakesIsUnknown(t *testing.T) {
	t.Parallel()
	d := newTown()
	rs := newReplicas(t, 3, d.runner, nil)
	a := rs.leader()
	d.set(func(gateway int, point, _ string) bool {
		if gateway == a.n && point == "written" {
			a.cut()
		}
		return false
	})
	status, got, header := toRomeWith(a.Server, "u1")
	require.Equal(t, http.StatusGatewayTimeout, status)
	assert.Equal(t, string(ps.OutcomeUnknown), got.Error.Outcome)
	id := header.Get(harness.ChangeHeader)
	require.NotEmpty(t, id)
	b := rs.leaderBut(a)
	require.Equal(t, 1, b.Member.Status().Open)
	a.mend()
	a.reported()
	assert.Zero(t, b.Member.Status().Open)
	c, err := b.history.Get(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, c.Outcome)
	status, got, again := toRomeWith(b.Server, "u1")
	require.Equal(t, http.StatusOK, status, "%+v", got.Error)
	assert.Equal(t, id, again.Get(harness.ChangeHeader))
	assert.Equal(t, 1, d.written("u1"))
}

var _ authn.Source = current{}

// current looks up the caller of a job.
type current struct{ *authn.Static }

func (c current) Now(id identity.ID) *identity.Principal {
	return &identity.Principal{Name: id.ID, Kind: id.Kind, Scopes: []identity.Scope{identity.All}}
}

// TestAJobGoesOnAtTheNextLeader: a job continues at the next leader, and no item is made twice.
func TestAJobGoesOnAtTheNextLeader(t *testing.T) {
	t.Parallel()
	const items = 12
	d := newTown()
	rs := newReplicas(t, 3, d.runner, func(_ int, o *gateway.Options) { o.Auth = current{harness.Auth(t)} })
	a := rs.leader()
	kill := sync.OnceFunc(a.kill)
	d.set(func(gateway int, point, user string) bool {
		dies := gateway == a.n && (user == "u5" && point == "written" || !a.runs())
		if dies {
			kill()
		}
		return dies
	})
	var list strings.Builder
	for i := range items {
		item := map[string]any{"id": fmt.Sprint("u", i), "operation": "user.update"}
		item["parameters"] = map[string]any{"UserName": fmt.Sprint("u", i), "City": "Rome"}
		if i > 0 {
			item["after"] = []string{fmt.Sprint("u", i-1)}
		}
		fmt.Fprintf(&list, "%s\n", harness.JSON(item))
	}
	w := harness.Call(a.Server, http.MethodPost, "/api/Jobs", list.String(),
		"Content-Type: application/x-ndjson")
	require.Equal(t, http.StatusAccepted, w.Code, "%s", w.Body)
	submitted := harness.Read(t, w)
	require.Len(t, submitted.Result, 1)
	type job struct {
		ID, State string
		Done      int
	}
	var added, ended job
	require.NoError(t, json.Unmarshal(submitted.Result[0], &added))
	b := rs.leaderBut(a)
	b.judged()
	require.Eventually(t, func() bool {
		w := harness.Call(b.Server, http.MethodGet, "/api/Jobs/"+added.ID, "")
		got := struct{ Result []job }{}
		_ = json.Unmarshal(w.Body.Bytes(), &got) // there may be no leader yet
		if len(got.Result) == 1 {
			ended = got.Result[0]
		}
		return ended.State == string(jobstate.Done)
	}, replicaPatience, 5*time.Millisecond)
	assert.Equal(t, items, ended.Done)
	for i := range items {
		assert.Equal(t, 1, d.written(fmt.Sprint("u", i)), "item %d", i)
	}
}

// TestWhatIsSpentCountsAtTheNextLeader: hourly limits and plans that were used at one leader stay
// used at the next.
func TestWhatIsSpentCountsAtTheNextLeader(t *testing.T) {
	t.Parallel()
	d := newTown()
	q := newQuotas(t)
	q.now = time.Now()
	quota := &identity.Quota{DeletionsPerHour: number(2)}
	_, caller := q.stored(authn.Rights{Scopes: []string{string(identity.All)}, Quota: quota})
	rs := newReplicas(t, 3, d.runner, func(_ int, o *gateway.Options) {
		own, err := authn.OpenStore(authn.StoreOptions{File: q.file, Now: q.clock})
		require.NoError(t, err)
		o.Auth, o.Quotas = own, identity.NewMeters(identity.Quota{}, q.clock)
	})
	a := rs.leader()
	update := func(s *gateway.Server, how string) *httptest.ResponseRecorder {
		return harness.Call(s, http.MethodPut, "/api/ADUser/u3?"+how, `{"City":"Rome"}`, "Content-Type: application/json", caller)
	}
	plan := planID(t, update(a.Server, "DryRun=true").Body.Bytes())
	apply := func(s *gateway.Server) (int, harness.Reply) {
		w := update(s, "PlanId="+plan)
		var got harness.Reply
		_ = json.Unmarshal(w.Body.Bytes(), &got)
		return w.Code, got
	}
	remove := func(s *gateway.Server, user string) int {
		return harness.Call(s, http.MethodDelete, "/api/ADUser/"+user, "", caller).Code
	}
	for _, user := range []string{"u1", "u2"} {
		require.Equal(t, http.StatusOK, remove(a.Server, user))
	}
	status, got := apply(a.Server)
	require.Equal(t, http.StatusOK, status, "%+v", got.Error)
	_ = a.Member.HandOver(t.Context())
	b := rs.leaderBut(a)
	assert.Equal(t, http.StatusTooManyRequests, remove(b.Server, "u4"))
	status, got = apply(b.Server)
	require.Equal(t, http.StatusConflict, status)
	assert.Equal(t, schema.PlanUsed, got.Error.Code)
	assert.Equal(t, 1, d.written("u3"))
}

// TestANameStaysWithItsControllerOverATakeover: a reserved name stays bound to its domain
// controller after a takeover, because the next leader may use a controller that does not have the
// name yet.
func TestANameStaysWithItsControllerOverATakeover(t *testing.T) {
	t.Parallel()
	fails := map[string]bool{"failing": true}
	rs := newReplicas(t, 3, func(n int) ps.Runner {
		return &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			name := harness.TextArg(req, "GroupName")
			if !req.Write {
				absent := `[{"guid":"g-1","dn":"CN=x","age":1,"state":{"exists":"False"},"record":null}]`
				return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(absent))
			}
			server := fmt.Sprint("dc", n)
			intent := ps.Intent{Effect: ps.EffectCreated, Server: server,
				Objects: []ps.Intended{harness.Created(name)}}
			if err := req.Announced(intent); err != nil {
				return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
			}
			if fails[name] {
				return nil, &ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: "No.", Outcome: ps.OutcomeNone}
			}
			made := &ps.Result{Effect: ps.EffectCreated, Server: server, Changes: []ps.Change{{GUID: "g-" + name}}}
			return made, req.Records(json.RawMessage("[" + harness.Sample(schema.Group) + "]"))
		}}
	}, nil)
	create := func(s *gateway.Server, name string) (int, string) {
		w := harness.Call(s, http.MethodPost, "/api/ADGroups/"+name+"/Security?GroupScope=Global", "")
		var got harness.Reply
		_ = json.Unmarshal(w.Body.Bytes(), &got)
		if got.Error == nil {
			return w.Code, ""
		}
		return w.Code, string(got.Error.Code)
	}
	a := rs.leader()
	status, code := create(a.Server, "buyers")
	require.Equal(t, http.StatusCreated, status, code)
	status, code = create(a.Server, "failing")
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, string(schema.Conflict), code)
	require.NoError(t, a.Member.HandOver(t.Context()))
	b := rs.leaderBut(a)
	status, code = create(b.Server, "buyers")
	require.Equal(t, http.StatusConflict, status)
	assert.Equal(t, string(schema.NamePending), code)
	delete(fails, "failing")
	status, code = create(b.Server, "failing")
	assert.Equal(t, http.StatusCreated, status, "a name that was not given is free: %s", code)
	require.NoError(t, b.Member.HandOver(t.Context()))
	c := rs.leaderBut(b)
	status, code = create(c.Server, "sellers")
	assert.Equal(t, http.StatusCreated, status, code)
}

// TestAGatewayThatDoesNotLeadBeginsNothing: a gateway that does not lead begins no change, no matter which of
// its handlers gets the call.
func TestAGatewayThatDoesNotLeadBeginsNothing(t *testing.T) {
	t.Parallel()
	d := newTown()
	rs := newReplicas(t, 3, d.runner, nil)
	f := rs.others(rs.leader())[0]
	_, err := f.Call(t.Context(), "user.update", call.Call{
		Principal: &identity.Principal{Name: "all", Scopes: []identity.Scope{identity.All}},
		Input:     call.Values{"Username": "u1", "City": "Rome"},
	})
	failed := problem.Of(err)
	require.NotNil(t, failed)
	assert.Equal(t, schema.NotLeader, failed.Code)
	assert.Contains(t, failed.Message, "does not lead")
	assert.Equal(t, ps.OutcomeNone, failed.Outcome)
	assert.Zero(t, d.written("u1"))
	_, err = f.Kept.Apply(t.Context(), store.Change{Kind: "k", Key: "k", Value: []byte("v")})
	assert.True(t, errors.Is(err, store.ErrFollows) && errors.Is(err, store.ErrNotSent), "%v", err)
}
