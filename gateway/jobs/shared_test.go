package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/jobs"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fleet are gateways with one store. The keys of items are the truth, as in the gateway: a
// call that is repeated gets the answer of the first.
type fleet struct {
	t     testing.TB
	store *keep.Sealed
	ended chan string // jobs, by the gateway that ended them

	mu       sync.Mutex
	members  map[string]string // incarnation by name, of those that live
	earlier  map[string]bool   // incarnations that have ended
	answers  map[string]jobs.Answer
	runs     map[string]int // by item
	order    map[string][]int
	by       map[string]int // items by gateway
	calls    chan struct{}  // receives before each call, if it is not nil
	duration time.Duration  // of a call
	answer   func(c jobs.Call) jobs.Answer
	going    map[string]int
	most     int // calls at a time of a gateway
}

// cutStore is a store that a gateway which was killed cannot reach any more.
type cutStore struct {
	keep.Store
	mu   sync.RWMutex
	dead bool
}

func (c *cutStore) Apply(ctx context.Context, changes ...keep.Change) (keep.Revision, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.dead {
		return 0, keep.ErrClosed
	}
	return c.Store.Apply(ctx, changes...)
}

func (c *cutStore) kill() { c.mu.Lock(); defer c.mu.Unlock(); c.dead = true }

// member is what a manager of a fleet knows of the others.
type member struct {
	f                 *fleet
	name, incarnation string
}

func (m *member) Name() string        { return m.name }
func (m *member) Incarnation() string { return m.incarnation }

func (m *member) Names() (names []string) {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	for name := range m.f.members {
		names = append(names, name)
	}
	if m.f.members[m.name] == "" {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

func (m *member) Gone(_, incarnation string, _ time.Duration) bool {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	return m.f.earlier[incarnation]
}

func newFleet(t testing.TB) *fleet {
	key, err := keep.NewKey(make([]byte, keep.KeyLength))
	require.NoError(t, err)
	sealed, err := keep.Seal(keep.NewMemory(nil), key)
	require.NoError(t, err)
	return &fleet{t: t, store: sealed, ended: make(chan string, 1000), members: map[string]string{}, earlier: map[string]bool{},
		answers: map[string]jobs.Answer{}, runs: map[string]int{}, order: map[string][]int{}, by: map[string]int{}, going: map[string]int{}}
}

// one is a gateway of a fleet.
type one struct {
	*gatewayOf
	kill func() // it ends without a word
}

var incarnations = struct {
	sync.Mutex
	n int
}{}

func (f *fleet) start(name string, change func(*jobs.Options)) *one {
	incarnations.Lock()
	incarnations.n++
	incarnation := fmt.Sprint(name, "-", incarnations.n)
	incarnations.Unlock()
	cut := &cutStore{Store: f.store.Store}
	key, err := keep.NewKey(make([]byte, keep.KeyLength))
	require.NoError(f.t, err)
	sealed, err := keep.Seal(cut, key)
	require.NoError(f.t, err)
	log := logrus.New()
	log.SetOutput(io.Discard)
	o := jobs.Options{
		Store: sealed, Log: log, Sessions: map[ps.Lane]int{ps.Directory: 4, ps.DNS: 2}, Share: 0.5, Running: 4, PerCaller: 2, Keep: time.Hour,
		Cluster: &member{f, name, incarnation},
		Entry:   func(job *jobs.Job) []byte { return []byte(job.ID) },
		Ended:   func(job *jobs.Job) { f.ended <- job.ID },
		Call: func(ctx context.Context, c jobs.Call) jobs.Answer {
			return f.call(ctx, name, c)
		},
	}
	if change != nil {
		change(&o)
	}
	f.mu.Lock()
	if before := f.members[name]; before != "" {
		f.earlier[before] = true
	}
	f.members[name] = incarnation
	f.mu.Unlock()
	m, err := jobs.Open(f.t.Context(), o)
	require.NoError(f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); m.Run(ctx) }()
	end := func() {
		cancel()
		select {
		case <-done:
		case <-time.After(patience):
			f.t.Error("the manager does not end")
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.earlier[incarnation] = true
		if f.members[name] == incarnation {
			delete(f.members, name)
		}
	}
	g := &one{gatewayOf: &gatewayOf{Manager: m, stop: sync.OnceFunc(end)}}
	g.kill = func() { cut.kill(); g.stop() }
	f.t.Cleanup(g.stop)
	return g
}

func (f *fleet) call(ctx context.Context, name string, c jobs.Call) jobs.Answer {
	f.mu.Lock()
	f.going[name]++
	f.most = max(f.most, f.going[name])
	calls, duration := f.calls, f.duration
	f.mu.Unlock()
	defer func() { f.mu.Lock(); defer f.mu.Unlock(); f.going[name]-- }()
	if calls != nil {
		select {
		case <-calls:
		case <-time.After(patience):
		}
	}
	if duration > 0 {
		timer := time.NewTimer(duration)
		defer timer.Stop()
		<-timer.C
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if answer, done := f.answers[c.Spec.Key]; done {
		return answer
	}
	answer := jobs.Answer{Result: jobs.Result{State: jobstate.Made, ChangeID: "ch of " + c.Spec.Key}}
	if f.answer != nil {
		answer = f.answer(c)
	}
	if answer.Hold == "" && !answer.Again {
		f.answers[c.Spec.Key] = answer
		f.runs[c.Spec.Key]++
		f.by[name]++
		if object := fmt.Sprint(c.Spec.Parameters["Object"]); object != "<nil>" {
			f.order[object] = append(f.order[object], c.Spec.Line)
		}
	}
	return answer
}

// listOn returns so many items, on so many objects by turns, each after the one before it
// on the same object.
func listOn(n, objects int) []jobs.Spec {
	all := specs(n, ps.Directory)
	for i := range all {
		all[i].Parameters["Object"] = fmt.Sprint(i % objects)
		if i >= objects {
			all[i].Waits = []int{i - objects}
		}
	}
	return all
}

// check says what must hold after a job has run.
func (f *fleet) check(g *one, id string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	assert.Len(f.t, f.runs, n)
	for key, times := range f.runs {
		assert.Equal(f.t, 1, times, key)
	}
	for object, lines := range f.order {
		assert.True(f.t, slices.IsSorted(lines), "order of %s: %v", object, lines)
	}
	var entries []string
	require.NoError(f.t, f.store.Log(context.Background(), jobs.Log, keep.Position{}, func(a keep.Appended) bool {
		entries = append(entries, string(a.Value))
		return true
	}))
	assert.Equal(f.t, []string{id}, entries, "a job has ended once")
	job, err := g.Get(context.Background(), id)
	require.NoError(f.t, err)
	require.NoError(f.t, g.Items(context.Background(), job, 0, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		return assert.Equal(f.t, "ch of "+spec.Key, result.ChangeID)
	}))
}

func TestAJobIsRunByAllGateways(t *testing.T) {
	f := newFleet(t)
	f.duration, f.calls = time.Millisecond, make(chan struct{})
	var all []*one
	for _, name := range []string{"gw1", "gw2", "gw3"} {
		all = append(all, f.start(name, nil))
	}
	id := all[0].submit(t, jobs.Job{}, listOn(1000, 40))
	require.Eventually(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.going) == 3 }, patience, time.Millisecond, "each takes some")
	close(f.calls)
	for _, g := range all {
		job := g.await(t, id, jobstate.Done)
		assert.Equal(t, jobs.Counts{Made: 1000}, job.Counts)
	}
	f.check(all[1], id, 1000)
	assert.Len(t, f.by, 3, "each has run some: %v", f.by)
	assert.LessOrEqual(t, f.most, 2, "no more than its share of the sessions")
	progress, err := all[2].Progress(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, []string{"gw1", "gw2", "gw3"}, progress.Gateways)
	assert.Len(t, f.ended, 1)
}

// TestGatewaysThatEndAreFollowed: gateways are killed and stopped while a job runs.
func TestGatewaysThatEndAreFollowed(t *testing.T) {
	f := newFleet(t)
	f.duration = time.Millisecond
	names := []string{"gw1", "gw2", "gw3"}
	all := map[string]*one{}
	for _, name := range names {
		all[name] = f.start(name, nil)
	}
	const n = 2000
	id := all["gw1"].submit(t, jobs.Job{}, listOn(n, 100))
	for k := 0; ; k++ {
		f.mu.Lock()
		made := len(f.runs)
		f.mu.Unlock()
		if made > n*3/4 {
			break
		}
		require.Eventually(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.runs) >= made+n/10 }, patience, time.Millisecond)
		name := names[rand.IntN(3)]
		if k%2 == 0 {
			all[name].kill()
		} else {
			all[name].stop()
		}
		all[name] = f.start(name, nil)
	}
	job := all["gw2"].await(t, id, jobstate.Done)
	assert.Equal(t, jobs.Counts{Made: n}, job.Counts)
	f.check(all["gw2"], id, n)
}

func TestControlsHoldEverywhere(t *testing.T) {
	f := newFleet(t)
	f.calls = make(chan struct{})
	a, b := f.start("gw1", nil), f.start("gw2", nil)
	id := a.submit(t, jobs.Job{}, specs(200, ps.Directory))
	for _, g := range []*one{a, b} {
		g.await(t, id, jobstate.Running)
	}
	for range 20 {
		f.calls <- struct{}{}
	}
	_, err := b.Pause(t.Context(), id)
	require.NoError(t, err)
	a.await(t, id, jobstate.Paused)
	close(f.calls) // those that were begun end
	made := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.runs)
	}
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.going["gw1"]+f.going["gw2"] == 0
	}, patience, time.Millisecond)
	before := made()
	assert.LessOrEqual(t, before, 24)
	_, err = a.Resume(t.Context(), id)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return made() > before }, patience, time.Millisecond)
	_, err = b.Cancel(t.Context(), id)
	require.NoError(t, err)
	for _, g := range []*one{a, b} {
		job := g.await(t, id, jobstate.Cancelled)
		assert.Equal(t, 200, job.Counts.Made+job.Counts.NotRun)
		assert.Equal(t, made(), job.Counts.Made)
	}
	_, err = a.Cancel(t.Context(), id)
	assert.ErrorIs(t, err, jobs.ErrState)
}

func TestFailuresStopItEverywhere(t *testing.T) {
	f := newFleet(t)
	f.answer = func(jobs.Call) jobs.Answer { return jobs.Answer{Result: jobs.Result{State: jobstate.Refused}} }
	a, b := f.start("gw1", nil), f.start("gw2", nil)
	id := a.submit(t, jobs.Job{StopAfter: 5}, specs(300, ps.Directory))
	for _, g := range []*one{a, b} {
		job := g.await(t, id, jobstate.Failed)
		assert.Equal(t, jobstate.Errors, job.Why)
		assert.Equal(t, 300, job.Counts.Refused+job.Counts.NotRun)
	}
}

func TestADryRunIsStartedOnce(t *testing.T) {
	f := newFleet(t)
	f.answer = func(c jobs.Call) jobs.Answer {
		if c.DryRun {
			return jobs.Answer{Result: jobs.Result{State: jobstate.Made, Plan: "plan " + c.Spec.ID}}
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made, Message: c.Plan, ChangeID: "ch of " + c.Spec.Key}}
	}
	a, b := f.start("gw1", nil), f.start("gw2", nil)
	id := a.submit(t, jobs.Job{Mode: jobstate.DryRun}, specs(150, ps.Directory))
	for _, g := range []*one{a, b} {
		g.await(t, id, jobstate.Ready)
	}
	f.mu.Lock()
	clear(f.answers) // a dry run has no keys
	clear(f.runs)
	clear(f.order)
	f.mu.Unlock()
	var both sync.WaitGroup
	for _, g := range []*one{a, b} {
		both.Go(func() { _, _ = g.Start(t.Context(), id) }) // one of them may be told that it was started
	}
	both.Wait()
	for _, g := range []*one{a, b} {
		job := g.await(t, id, jobstate.Done)
		assert.Equal(t, jobs.Counts{Made: 150}, job.Counts)
		require.NoError(t, g.Items(t.Context(), job, 0, func(_ int, spec *jobs.Spec, result jobs.Result) bool {
			return assert.Equal(t, "plan "+spec.ID, result.Message)
		}))
	}
	f.check(a, id, 150)
}

// TestADryRunThatKillsGateways: what has no key is not tried for ever.
func TestADryRunThatKillsGateways(t *testing.T) {
	f := newFleet(t)
	release := make(chan struct{})
	var started sync.Map
	f.answer = func(c jobs.Call) jobs.Answer {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	}
	deadly := func(o *jobs.Options) {
		o.Call = func(ctx context.Context, c jobs.Call) jobs.Answer {
			started.Store(o.Cluster.Incarnation(), true)
			<-release
			return jobs.Answer{Result: jobs.Result{State: jobstate.Unknown}}
		}
	}
	defer func() {
		select {
		case <-release:
		default:
			close(release)
		}
	}()
	g := f.start("gw1", deadly)
	id := g.submit(t, jobs.Job{Mode: jobstate.DryRun}, specs(1, ps.Directory))
	for k := 0; k < 4; k++ {
		require.Eventually(t, func() bool {
			n := 0
			started.Range(func(_, _ any) bool { n++; return true })
			return n == k+1
		}, patience, time.Millisecond, "attempt %d", k+1)
		f.cutOff(g)
		g = f.start("gw1", deadly)
	}
	job := g.await(t, id, jobstate.Ready)
	assert.Equal(t, jobs.Counts{Refused: 1}, job.Counts)
	require.NoError(t, g.Items(t.Context(), job, 0, func(_ int, _ *jobs.Spec, result jobs.Result) bool {
		return assert.Equal(t, "poison", result.Code)
	}))
	close(release)
}

// cutOff takes the store from a gateway that goes on.
func (f *fleet) cutOff(g *one) {
	g.Store.Store.(*cutStore).kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.earlier[g.Cluster.Incarnation()] = true
	delete(f.members, g.Cluster.Name())
}

func TestOneGatewayIsHeldAndOthersGoOn(t *testing.T) {
	f := newFleet(t)
	held := f.start("gw1", func(o *jobs.Options) {
		o.Call = func(context.Context, jobs.Call) jobs.Answer { return jobs.Answer{Hold: jobstate.Lane, For: time.Hour} }
	})
	id := held.submit(t, jobs.Job{}, specs(3, ps.Directory))
	require.Eventually(t, func() bool {
		p, err := held.Progress(t.Context(), id)
		return err == nil && p.State == jobstate.Held && p.Why == jobstate.Lane
	}, patience, time.Millisecond)
	other := f.start("gw2", nil)
	job := other.await(t, id, jobstate.Done)
	assert.Equal(t, jobs.Counts{Made: 3}, job.Counts)
	assert.Equal(t, map[string]int{"gw2": 3}, f.by)
}

// TestTheRateIsThatOfAll: with three gateways a job is not faster than with one.
func TestTheRateIsThatOfAll(t *testing.T) {
	f := newFleet(t)
	var all []*one
	for _, name := range []string{"gw1", "gw2", "gw3"} {
		all = append(all, f.start(name, func(o *jobs.Options) { o.Rate = 60 }))
	}
	began := time.Now()
	id := all[0].submit(t, jobs.Job{}, specs(90, ps.Directory))
	all[0].await(t, id, jobstate.Done)
	assert.Greater(t, time.Since(began), 900*time.Millisecond, "90 items at 60/s, of which 15 at once") // it cannot be faster, however slow the machine is
	f.check(all[0], id, 90)
}

func TestItemsThatOthersStillRunAreCalledAgain(t *testing.T) {
	f := newFleet(t)
	tries := map[string]int{}
	f.answer = func(c jobs.Call) jobs.Answer {
		if tries[c.Spec.Key]++; c.Spec.ID == "1" && tries[c.Spec.Key] < 3 {
			return jobs.Answer{Again: true, For: time.Millisecond}
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made, ChangeID: "ch of " + c.Spec.Key}}
	}
	g := f.start("gw1", nil)
	id := g.submit(t, jobs.Job{}, specs(5, ps.Directory))
	g.await(t, id, jobstate.Done)
	f.check(g, id, 5)
}

// TestNamesOfValuesAreIdentities is about what whoever holds the store sees.
func TestNamesOfValuesAreIdentities(t *testing.T) {
	f := newFleet(t)
	g := f.start("gw1", nil)
	id := g.submit(t, jobs.Job{Name: "Canary"}, specs(30, ps.Directory))
	g.await(t, id, jobstate.Done)
	for _, kind := range []keep.Kind{"job", "jobspec", "jobitem", "jobunit", "jobpart"} {
		n := 0
		require.NoError(t, f.store.Store.Range(t.Context(), kind, "", func(e keep.Entry) bool {
			n++
			return assert.True(t, strings.HasPrefix(e.Key, id)) && assert.NotContains(t, string(e.Value), "Canary")
		}))
		assert.Positive(t, n, kind)
	}
}

// TestWhatANewerGatewayHasClaimed: a unit whose claim cannot be read is another gateway's.
func TestWhatANewerGatewayHasClaimed(t *testing.T) {
	f := newFleet(t)
	f.calls = make(chan struct{})
	first := f.start("gw1", nil)
	id := first.submit(t, jobs.Job{}, listOn(4, 1))
	var claimed keep.Entry
	require.Eventually(t, func() bool {
		require.NoError(t, f.store.Range(t.Context(), "jobunit", id+"/", func(e keep.Entry) bool { claimed = e; return true }))
		return claimed.Key != ""
	}, patience, time.Millisecond)
	f.cutOff(first)
	close(f.calls)
	first.stop()
	newer := bytes.Replace(claimed.Value, []byte(`"v":1`), []byte(`"v":2`), 1)
	require.NotEqual(t, claimed.Value, newer)
	_, err := f.store.Apply(t.Context(), keep.Change{Kind: "jobunit", Key: claimed.Key, Expect: claimed.Revision, Value: newer, Expires: claimed.Expires})
	require.NoError(t, err)

	second := f.start("gw2", nil)
	other := second.submit(t, jobs.Job{}, listOn(4, 1))
	second.await(t, other, jobstate.Done)
	job, err := second.Get(t.Context(), id)
	require.NoError(t, err)
	assert.NotZero(t, job.Counts.Open(), "it waits for the newer one")
	left, err := f.store.Get(t.Context(), "jobunit", claimed.Key)
	require.NoError(t, err)
	assert.Equal(t, string(newer), string(left.Value))
}

// behind is a store that cannot find out what others have written.
type behind struct{ keep.Store }

func (behind) Reach(context.Context) error { return keep.ErrUnreachable }

// TestAJobThatMayBeThereIsNotAbsent: another gateway may have just added it.
func TestAJobThatMayBeThereIsNotAbsent(t *testing.T) {
	m, err := jobs.Open(t.Context(), jobs.Options{Store: keeptest.Seal(t, behind{keep.NewMemory(nil)})})
	require.NoError(t, err)
	_, err = m.Get(t.Context(), jobs.NewID())
	assert.ErrorIs(t, err, keep.ErrUnreachable)
	assert.NotErrorIs(t, err, jobs.ErrAbsent)
	_, err = m.Get(t.Context(), "of no job")
	assert.ErrorIs(t, err, jobs.ErrAbsent)
}

// deaf is a store whose news do not come, until it says that some were missed.
type deaf struct {
	keep.Store
	missed atomic.Bool
}

func (d *deaf) Log(ctx context.Context, log keep.Log, after keep.Position, visit func(keep.Appended) bool) error {
	switch {
	case log != "jobnews":
		return d.Store.Log(ctx, log, after, visit)
	case d.missed.Swap(false):
		return keep.ErrPosition
	}
	return nil
}

// TestMissedNewsLoseNoJob: a gateway that has not heard of a job looks at all of them once it
// knows that it has missed news, and goes on with those of one that has ended.
func TestMissedNewsLoseNoJob(t *testing.T) {
	f := newFleet(t)
	f.duration = time.Millisecond
	first, unheard := f.start("gw1", nil), &deaf{Store: f.store.Store}
	key, err := keep.NewKey(make([]byte, keep.KeyLength))
	require.NoError(t, err)
	sealed, err := keep.Seal(unheard, key)
	require.NoError(t, err)
	second := f.start("gw2", func(o *jobs.Options) { o.Store = sealed })
	const n = 1000
	id := first.submit(t, jobs.Job{}, listOn(n, 50))
	require.Eventually(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.runs) > 0 }, patience, time.Millisecond)
	first.kill()
	unheard.missed.Store(true)
	_, err = f.store.Apply(t.Context(), keep.Change{Log: "jobnews", Value: []byte("{}")})
	require.NoError(t, err)
	select { // who asks the second one for the job tells it of that
	case <-f.ended:
	case <-time.After(patience):
		require.Fail(t, "nobody goes on with the job")
	}
	job := second.await(t, id, jobstate.Done)
	assert.Equal(t, jobs.Counts{Made: n}, job.Counts)
	f.check(second, id, n)
}
