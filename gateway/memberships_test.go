package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
	"adgateway/test/histories"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// joins returns the deed of adding a member to some groups.
func joins(op, member string, groups ...string) harness.Deed {
	d := harness.Deed{Op: op, Effect: ps.EffectCreated}
	for n, group := range groups {
		d.Objects = append(d.Objects, harness.Changed(group, "member", "False", "True"))
		if n == 0 {
			d.Objects = append(d.Objects, ps.Intended{GUID: member, DN: "CN=" + member})
		}
	}
	return d
}

func restored(guid string) ps.Intended {
	again := harness.Created("Buyers")
	again.GUID = guid
	return again
}

// rivalries are pairs of changes, and whether they exclude each other, in either order.
var rivalries = map[string]struct {
	a, b    harness.Deed
	exclude bool
}{
	"two members of one group": {joins("membership.add", "u-1", "g-1"), joins("membership.add", "u-2", "g-1"), false},
	"one member of two groups": {joins("membership.add", "u-1", "g-1"), joins("membership.add", "u-1", "g-2"), false},
	"one membership twice":     {joins("membership.add", "u-1", "g-1"), joins("membership.remove", "U-1", "G-1"), true},
	"two groups in each other": {joins("membership.addGroup", "g-2", "g-1"), joins("membership.addGroup", "g-1", "g-2"), true},
	"members of nested groups": {joins("membership.addGroup", "g-2", "g-1"), joins("membership.add", "u-1", "g-2"), false},
	"a group and its update": {joins("membership.add", "u-1", "g-1"),
		harness.Deed{Op: "group.update", Effect: ps.EffectChanged, Objects: []ps.Intended{harness.Changed("g-1", "scope", "Global", "Universal")}}, true},
	"a group and its renaming": {joins("membership.remove", "u-1", "g-1"),
		harness.Deed{Op: "group.rename", Effect: ps.EffectChanged, Objects: []ps.Intended{harness.Changed("G-1", "sAMAccountName", "Staff", "Crew")}}, true},
	"a group and its removal": {joins("membership.add", "u-1", "g-1"),
		harness.Deed{Op: "group.delete", Effect: ps.EffectRemoved, Objects: []ps.Intended{harness.Removed("g-1", schema.Group)}}, true},
	"a group and its return": {joins("membership.add", "u-1", "g-1"),
		harness.Deed{Op: "bin.restore", Effect: ps.EffectCreated, Objects: []ps.Intended{restored("g-1")}}, true},
	"a member and its removal with others": {joins("membership.add", "c-2", "g-1"),
		harness.Deed{Op: "computer.deleteMany", Effect: ps.EffectRemoved, Objects: []ps.Intended{harness.Removed("c-1", schema.Computer), harness.Removed("c-2", schema.Computer)}}, true},
	"a member and its removal": {joins("membership.add", "u-1", "g-1"),
		harness.Deed{Op: "user.delete", Effect: ps.EffectRemoved, Objects: []ps.Intended{harness.Removed("u-1", schema.User)}}, true},
	"a member and its renaming": {joins("membership.add", "u-1", "g-1"),
		harness.Deed{Op: "user.rename", Effect: ps.EffectChanged, Objects: []ps.Intended{harness.Changed("u-1", "sAMAccountName", "anna", "berta")}}, true},
	"a group within another and its update": {joins("membership.addGroup", "g-2", "g-1"),
		harness.Deed{Op: "group.update", Effect: ps.EffectChanged, Objects: []ps.Intended{harness.Changed("g-2", "description", "", "x")}}, true},
	"another group": {joins("membership.add", "u-1", "g-1"),
		harness.Deed{Op: "group.update", Effect: ps.EffectChanged, Objects: []ps.Intended{harness.Changed("g-2", "description", "", "x")}}, false},
	"a copy and one of its memberships": {joins("membership.copy", "u-1", "g-1", "g-2"), joins("membership.remove", "u-1", "g-2"), true},
	"a copy and another member":         {joins("membership.copy", "u-1", "g-1", "g-2"), joins("membership.add", "u-2", "g-2"), false},
	"two copies":                        {joins("membership.copy", "u-1", "g-1", "g-2"), joins("membership.copy", "u-2", "g-2", "g-1"), false},
	"a copy and one of its groups": {joins("membership.copy", "u-1", "g-1", "g-2"),
		harness.Deed{Op: "group.delete", Effect: ps.EffectRemoved, Objects: []ps.Intended{harness.Removed("g-2", schema.Group)}}, true},
}

// eachRivalry runs a check for each pair of changes, in either order.
func eachRivalry(t *testing.T, check func(t *testing.T, first, second harness.Deed, exclude bool)) {
	for name, c := range rivalries {
		t.Run(name, func(t *testing.T) { check(t, c.a, c.b, c.exclude) })
		t.Run(name+", the other way round", func(t *testing.T) { check(t, c.b, c.a, c.exclude) })
	}
}

// TestWhichChangesExcludeEachOther: a change waits while the other one runs. It starts over if the other
// change was made after it had read the object.
func TestWhichChangesExcludeEachOther(t *testing.T) {
	eachRivalry(t, func(t *testing.T, first, second harness.Deed, exclude bool) {
		assert.Equal(t, exclude, twoChanges(t, first, second, false), "while it runs")
		assert.Equal(t, exclude, twoChanges(t, first, second, true), "has run since")
	})
}

// awaited returns the next value of a channel, and fails the test if none comes.
func awaited[T any](t *testing.T, from <-chan T) (value T) {
	select {
	case value = <-from:
	case <-time.After(3 * time.Minute):
		assert.Fail(t, "nothing came in time")
	}
	return value
}

// twoChanges makes two changes at a gateway. The second arrives while the first is running or, if early is
// set, reads before the first begins and ends. twoChanges reports whether the first attempt at the second
// change was refused.
func twoChanges(t *testing.T, first, second harness.Deed, early bool) (refused bool) {
	var read, allowed, free, done, tried = make(chan bool, 1), make(chan bool,
		1), make(chan bool), make(chan bool), make(chan bool, 1)
	scenes, requestIDs := []*harness.Scene{harness.NewScene(t, &first),
		harness.NewScene(t, &second)}, []string{"first", "second"}
	reads := 0
	running := scenes[0].Run(func(point string) bool {
		if point == "announced" {
			allowed <- true
			awaited(t, free)
		}
		return false
	})
	trying := scenes[1].Run(func(point string) bool {
		if point != "read" {
			return false
		}
		if reads++; reads == 1 {
			read <- true
			awaited(t, done)
		}
		return false
	})
	s := gatewayOver(t, store.NewMemory(nil),
		&harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			if req.ID != requestIDs[1] {
				return running.Run(ctx, req)
			}
			result, err := trying.Run(ctx, req)
			select {
			case tried <- err != nil:
			default: // a later attempt
			}
			return result, err
		}})
	ask := func(n int) {
		row := scenes[n].Row
		w := harness.Call(s, row.Method, target(row, "", ""), string(harness.JSON(required(row))),
			"Content-Type: application/json", "X-Request-Id: "+requestIDs[n])
		assert.Equal(t, 2, w.Code/100, "%s: %s", row.ID, w.Body)
	}
	var calls sync.WaitGroup
	if early {
		close(free)
		calls.Go(func() { ask(1) })
		awaited(t, read)
		ask(0)
		close(done)
		refused = awaited(t, tried)
	} else {
		close(done)
		calls.Go(func() { ask(0) })
		awaited(t, allowed)
		calls.Go(func() { ask(1) })
		refused = awaited(t, tried)
		close(free)
	}
	calls.Wait()
	return refused
}

// grid is a directory with memberships. The group and the member each have a list of memberships. A change of
// a membership writes to both lists. A change of a group or of a member rewrites its whole list.
type grid struct {
	cells  map[string]*cell // keyed by the owner of the list, group or member
	calls  histories.Recorder
	inside func(group string) // called halfway through each change of a membership
}

type cell struct{ value, made, within atomic.Int64 }

func newGrid(groups, members int) *grid {
	d := &grid{cells: map[string]*cell{}, inside: func(string) {}}
	for g := range groups {
		for m := range members {
			for _, list := range []string{"GroupName", "MemberName"} {
				d.cells[fmt.Sprintf("%s g-%d u-%d", list, g, m)] = &cell{}
			}
		}
	}
	return d
}

// run changes the memberships that a request names: all of a group, all of a member, or one.
func (d *grid) run(t *testing.T, req ps.Request) (*ps.Result, error) {
	group, member := nameIn(req, "GroupName"), cmp.Or(nameIn(req, "MemberName"), nameIn(req, "UserName"))
	intent, shape := ps.Intent{Effect: ps.EffectChanged, Server: "dc1"}, schema.Membership
	switch {
	case member == "":
		intent.Objects, shape = []ps.Intended{harness.Changed(group, "description", "a", "b")}, schema.Group
	case group == "":
		intent.Objects, shape = []ps.Intended{harness.Changed(member, "enabled", "True", "False")}, schema.User
	default:
		intent.Objects = joins("membership.add", member, group).Objects
	}
	touches := func(list, g, m string) bool {
		if list == "GroupName" {
			return g == group && (m == member || member == "")
		}
		return m == member && (g == group || group == "")
	}
	read, calls := map[*cell]int64{}, []*histories.Call{}
	for name, one := range d.cells {
		if of := strings.Fields(name); touches(of[0], of[1], of[2]) {
			read[one] = one.value.Load()
			calls = append(calls, d.calls.Begin(histories.Op{Of: name, Do: "change", Expect: fmt.Sprint(read[one]),
				Value: fmt.Sprint(read[one] + 1)}))
		}
	}
	if err := req.Announced(intent); err != nil {
		for _, one := range calls {
			one.End(histories.Answer{Refused: true})
		}
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	for one := range read {
		assert.EqualValues(t, 1, one.within.Add(1), "changes of one membership exclude each other")
	}
	if shape == schema.Membership {
		d.inside(group)
	}
	runtime.Gosched()
	for one, value := range read {
		one.value.Store(value + 1)
		one.made.Add(1)
		one.within.Add(-1)
	}
	for _, one := range calls {
		one.End(histories.Answer{})
	}
	return &ps.Result{Effect: ps.EffectChanged, Server: "dc1"},
		req.Records(json.RawMessage("[" + harness.Sample(shape) + "]"))
}

// nameIn returns the text of an argument of a request, or "" if there is none.
func nameIn(req ps.Request, name string) (text string) {
	if value, has := req.Args[name]; has {
		raw, _ := value.MarshalJSON()
		_ = json.Unmarshal(raw, &text)
	}
	return text
}

// TestNoMembershipIsLost: a change of all memberships of a group or a member includes each membership that
// exists when it begins, and no later membership is lost, no matter what the store loses, duplicates or
// delays.
func TestNoMembershipIsLost(t *testing.T) {
	for name, faults := range map[string]float64{"a good store": 0, "a faulty store": 0.2} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2) {
				changeMemberships(t, seed, faults)
			}
		})
	}
}

func changeMemberships(t *testing.T, seed uint64, faults float64) {
	d := newGrid(2, 3)
	faulty := storetest.NewFaulty(store.NewMemory(nil), seed, 0)
	t.Cleanup(func() { assert.NoError(t, faulty.Close()) })
	s := gatewayOver(t, faulty, &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result,
		error) {
		return d.run(t, req)
	}})
	faulty.Fail(faults)
	random := rand.New(rand.NewPCG(seed, 1))
	var calls sync.WaitGroup
	var done atomic.Int64
	for range 48 {
		group, member := fmt.Sprintf("g-%d", random.IntN(2)), fmt.Sprintf("u-%d", random.IntN(3))
		method, path, body := http.MethodPost, "/api/ADUser/"+member+"/Group/"+group, ""
		switch random.IntN(6) {
		case 0:
			method, path, body = http.MethodPut, "/api/ADGroups/"+group, `{"Description":"b"}`
		case 1:
			method, path = http.MethodPut, "/api/ADUser/"+member+"/Disable"
		}
		calls.Go(func() {
			w := harness.Call(s, method, path, body, "Content-Type: application/json")
			if w.Code/100 == 2 {
				done.Add(1)
			}
			assert.True(t, w.Code/100 == 2 || faults > 0, "%s %s: %s", method, path, w.Body)
		})
	}
	calls.Wait()
	d.calls.Check(t, histories.Leases, fmt.Sprintf("memberships, seed %d", seed))
	for name, one := range d.cells {
		assert.Equal(t, one.made.Load(), one.value.Load(), "%s: no change is lost", name)
	}
	assert.NotZero(t, done.Load())
	t.Logf("seed %d: %d of 48 were made", seed, done.Load())
}

// TestAChangeOfAGroupHasItsTurn: a change of a group is made although another gateway keeps
// changing its members, and begins each change before the previous one has ended.
func TestAChangeOfAGroupHasItsTurn(t *testing.T) {
	const most = 300
	var s *gateway.Server
	var calls sync.WaitGroup
	var begun, changedAt atomic.Int64
	tried := make([]chan bool, most+1)
	for n := range tried {
		tried[n] = make(chan bool, 1)
	}
	d := newGrid(1, 1)
	join := func(n int) {
		w := harness.Call(s, http.MethodPost, fmt.Sprintf("/api/ADUser/u-%d/Group/g-0", n), "")
		assert.Equal(t, 2, w.Code/100, "%s", w.Body)
	}
	first := sync.OnceFunc(func() {
		calls.Go(func() {
			w := harness.Call(s, http.MethodPut, "/api/ADGroups/g-0", `{"Description":"b"}`, "Content-Type: application/json")
			assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		})
	})
	s = gatewayOver(t, store.NewMemory(nil),
		&harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			if nameIn(req, "MemberName") == "" {
				result, err := d.run(t, req)
				if err == nil {
					changedAt.Store(begun.Load())
				}
				return result, err
			}
			n := 0
			_, err := fmt.Sscanf(nameIn(req, "MemberName"), "u-%d", &n)
			require.NoError(t, err)
			announced := req.Announced
			req.Announced = func(i ps.Intent) error {
				err := announced(i)
				select {
				case tried[n] <- err == nil:
				default: // called again
				}
				return err
			}
			d.inside = func(string) {
				begun.Add(1)
				first()
				if n < most && changedAt.Load() == 0 {
					calls.Go(func() { join(n + 1) })
					awaited(t, tried[n+1])
				}
			}
			return d.run(t, req)
		}})
	join(0)
	calls.Wait()
	assert.Less(t, changedAt.Load(), int64(most), "members that came before it")
}

// TestAJobOnOneGroup: the items of the job wait for each other neither in the list nor at the gateway. In
// this test no item ends before all have begun.
func TestAJobOnOneGroup(t *testing.T) {
	const members = 40
	d := newGrid(1, members)
	all := make(chan struct{})
	var within atomic.Int64
	d.inside = func(string) {
		if within.Add(1) == members {
			close(all)
		}
		awaited(t, all)
	}
	s := gatewayOver(t, store.NewMemory(nil),
		&harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) { return d.run(t, req) }})
	specs := make([]jobs.Spec, members)
	for n := range specs {
		given := ops.Given{"Username": fmt.Sprintf("u-%d", n), "GroupName": "g-0"}
		specs[n] = jobs.Spec{Operation: "membership.add", Parameters: given, Key: fmt.Sprint("jb.", n),
			RequestID: fmt.Sprint("jb.", n)}
		bound, problems := harness.NewScene(t, &harness.Deed{Op: "membership.add"}).Row.Bind(given)
		require.Empty(t, problems)
		specs[n].Changes, specs[n].Uses = bound.Touches()
	}
	for n, before := range joblist.Waits(
		func(i int) joblist.Touch { return joblist.Touch{Changes: specs[i].Changes, Uses: specs[i].Uses} },
		make([][]int, members)) {
		assert.Empty(t, before, "item %d", n)
	}
	job := &jobs.Job{Caller: jobs.Caller{Kind: identity.KindToken, Name: "all"},
		Expires: time.Now().Add(time.Hour)}
	var calls sync.WaitGroup
	for n := range specs {
		calls.Go(func() {
			answer := s.Jobs().Items.Call(t.Context(), jobs.Call{Job: job, Spec: &specs[n]})
			assert.Equal(t, jobstate.Made, answer.State, "%+v", answer)
		})
	}
	calls.Wait()
	assert.EqualValues(t, members, within.Load())
}
