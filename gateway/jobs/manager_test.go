package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/jobs"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const patience = 3 * time.Minute

// world is the state that calls of items change: the number of times that each key was called.
type world struct {
	mu     sync.Mutex
	made   map[string]int
	order  []string
	most   map[ps.Lane]int // maximum number of simultaneous calls
	going  map[ps.Lane]int
	answer func(c jobs.Call, tries int) jobs.Answer
}

func newWorld(answer func(c jobs.Call, tries int) jobs.Answer) *world {
	if answer == nil {
		answer = func(jobs.Call, int) jobs.Answer { return jobs.Answer{Result: jobs.Result{State: jobstate.Made}} }
	}
	return &world{made: map[string]int{}, most: map[ps.Lane]int{}, going: map[ps.Lane]int{}, answer: answer}
}

func (w *world) call(_ context.Context, c jobs.Call) jobs.Answer {
	w.mu.Lock()
	w.made[c.Spec.Key]++
	tries := w.made[c.Spec.Key]
	w.order = append(w.order, c.Spec.ID)
	w.going[c.Spec.Lane]++
	w.most[c.Spec.Lane] = max(w.most[c.Spec.Lane], w.going[c.Spec.Lane])
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.going[c.Spec.Lane]--
	}()
	return w.answer(c, tries)
}

// gatewayOf is a manager that runs over a store in a file until it is stopped.
type gatewayOf struct {
	*jobs.Manager
	stop func()
}

func start(t *testing.T, file string, w *world, change func(*jobs.Options)) *gatewayOf {
	t.Helper()
	plain, _, err := store.Open(store.Options{Path: file})
	require.NoError(t, err)
	key, err := store.ReadKey(file + ".key")
	require.NoError(t, err)
	sealed, err := store.Seal(plain, key)
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(io.Discard)
	options := jobs.Options{
		Store: sealed, Call: w.call, Log: log, Sessions: map[ps.Lane]int{ps.Directory: 4, ps.DNS: 2},
		Limits: jobs.Limits{Share: 0.5, Running: 4, PerCaller: 2, Keep: time.Hour, MaxStored: 1 << 30},
	}
	if change != nil {
		change(&options)
	}
	m, err := jobs.Open(t.Context(), options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); m.Run(ctx) }()
	g := &gatewayOf{Manager: m, stop: sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("the manager does not end")
		}
		assert.NoError(t, plain.Close())
	})}
	t.Cleanup(g.stop)
	return g
}

// specs returns n items of a lane.
func specs(n int, lane ps.Lane) []jobs.Spec {
	all := make([]jobs.Spec, n)
	for i := range all {
		all[i] = jobs.Spec{Line: i + 1, ID: fmt.Sprint(i), Operation: "user.update", Lane: lane,
			Parameters: map[string]any{"City": "Rome"}}
	}
	return all
}

func (g *gatewayOf) submit(t *testing.T, job jobs.Job, items []jobs.Spec) string {
	t.Helper()
	if job.Mode == "" {
		job.Mode = jobstate.Run
	}
	if job.Caller.Name == "" {
		job.Caller.Name = "token"
	}
	added, err := g.Submit(t.Context(), jobs.Submission{Job: &job, Specs: items})
	require.NoError(t, err)
	return added.ID
}

func (g *gatewayOf) await(t *testing.T, id string, state jobstate.Job) *jobs.Job {
	t.Helper()
	var job *jobs.Job
	require.Eventually(t, func() bool {
		var err error
		job, err = g.Get(t.Context(), id)
		return err == nil && job.State == state
	}, patience, time.Millisecond, "not %s", state)
	return job
}

func storeFile(t *testing.T) string { return filepath.Join(t.TempDir(), "state.db") }

func TestItemsWaitForWhatTheyNeed(t *testing.T) {
	refused := jobs.Answer{Result: jobs.Result{State: jobstate.Refused, Code: "not_found"}}
	w := newWorld(func(c jobs.Call, _ int) jobs.Answer {
		if c.Spec.ID == "1" {
			return refused
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	g := start(t, storeFile(t), w, nil)
	items := specs(6, ps.Directory)
	items[2].Waits = []int{1}                                 // only ordered
	items[3].Waits, items[3].Needs = []int{1}, []int{1}       // ordered and dependent
	items[4].Waits, items[4].Needs = []int{3}, []int{3}       // depends on an item that was not run
	items[5].Waits, items[5].Needs = []int{0, 2}, []int{0, 2} //
	job := g.await(t, g.submit(t, jobs.Job{}, items), jobstate.Done)
	assert.Equal(t, jobs.Counts{Made: 3, Refused: 1, NotRun: 2}, job.Counts)
	assert.Less(t, slices.Index(w.order, "1"), slices.Index(w.order, "2"))
	assert.Equal(t, "5", w.order[len(w.order)-1])
	assert.NotContains(t, w.order, "3")
}

func TestJobsLeaveSessionsToOthers(t *testing.T) {
	release := make(chan struct{})
	w := newWorld(func(jobs.Call, int) jobs.Answer {
		<-release
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	g := start(t, storeFile(t), w, nil)
	var ids []string
	for range 2 {
		ids = append(ids, g.submit(t, jobs.Job{}, append(specs(10, ps.Directory), specs(10, ps.DNS)...)))
	}
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.going[ps.Directory] == 2 && w.going[ps.DNS] == 1
	}, patience, time.Millisecond)
	close(release)
	for _, id := range ids {
		g.await(t, id, jobstate.Done)
	}
	assert.Equal(t, map[ps.Lane]int{ps.Directory: 2, ps.DNS: 1}, w.most)
}

func TestJobsOfACallerTakeTurns(t *testing.T) {
	release := make(chan struct{})
	w := newWorld(func(jobs.Call, int) jobs.Answer {
		<-release
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	g := start(t, storeFile(t), w, func(o *jobs.Options) { o.PerCaller, o.Running = 1, 2 })
	first := g.submit(t, jobs.Job{}, specs(1, ps.Directory))
	g.await(t, first, jobstate.Running)
	second := g.submit(t, jobs.Job{}, specs(1, ps.Directory))
	require.Eventually(t, func() bool {
		job, err := g.Get(t.Context(), second)
		return err == nil && job.State == jobstate.Held && job.Why == jobstate.OtherJobs
	}, patience, time.Millisecond)
	other := g.submit(t, jobs.Job{Caller: jobs.Caller{Name: "another"}}, specs(1, ps.DNS))
	g.await(t, other, jobstate.Running)
	close(release)
	for _, id := range []string{first, second, other} {
		g.await(t, id, jobstate.Done)
	}
}

func TestHeldItemsAreCalledAgain(t *testing.T) {
	w := newWorld(func(_ jobs.Call, tries int) jobs.Answer {
		if tries < 3 {
			return jobs.Answer{Hold: jobstate.Budget, For: time.Millisecond}
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	g := start(t, storeFile(t), w, nil)
	job := g.await(t, g.submit(t, jobs.Job{}, specs(5, ps.Directory)), jobstate.Done)
	assert.Equal(t, jobs.Counts{Made: 5}, job.Counts)
}

func TestJobsStop(t *testing.T) {
	for name, c := range map[string]struct {
		job    jobs.Job
		result jobstate.Item
		want   jobstate.Job
		why    jobstate.Reason
		most   int // number of items that were called
	}{
		"after failures":       {jobs.Job{StopAfter: 3}, jobstate.Refused, jobstate.Failed, jobstate.Errors, 4},
		"never":                {jobs.Job{}, jobstate.Refused, jobstate.Done, "", 20},
		"at an unknown":        {jobs.Job{StopOnUnknown: true}, jobstate.Unknown, jobstate.Failed, jobstate.AnUnknown, 2},
		"unknown are not told": {jobs.Job{StopAfter: 1}, jobstate.Unknown, jobstate.Done, "", 20},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(func(jobs.Call,
				int) jobs.Answer {
				return jobs.Answer{Result: jobs.Result{State: c.result}}
			})
			g := start(t, storeFile(t), w, nil)
			job := g.await(t, g.submit(t, c.job, specs(20, ps.Directory)), c.want)
			assert.Equal(t, c.why, job.Why)
			assert.LessOrEqual(t, len(w.order), c.most)
			assert.Equal(t, 20, len(w.order)+job.Counts.NotRun)
		})
	}
}

// TestNothingIsLostOrRepeated: a manager may be stopped at any moment, and another one takes over. A call
// that had already ended is made again only under the same key.
func TestNothingIsLostOrRepeated(t *testing.T) {
	file := storeFile(t)
	effects := map[string]int{} // changes made, once per key
	var mu sync.Mutex
	var restarted atomic.Bool
	w := newWorld(func(c jobs.Call, _ int) jobs.Answer {
		assert.Equal(t, restarted.Load(), c.Resumed)
		mu.Lock()
		defer mu.Unlock()
		if effects[c.Spec.Key] == 0 {
			effects[c.Spec.Key]++
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made, ChangeID: "ch of " + c.Spec.Key}}
	})
	g := start(t, file, w, nil)
	items := specs(500, ps.Directory)
	for i := 1; i < len(items); i++ {
		items[i].Waits = []int{i - 1}
	}
	id := g.submit(t, jobs.Job{}, items)
	for n := 100; n <= 400; n += 100 {
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(effects) >= n
		}, patience, time.Millisecond)
		g.stop()
		restarted.Store(true)
		g = start(t, file, w, nil)
	}
	job := g.await(t, id, jobstate.Done)
	assert.Equal(t, jobs.Counts{Made: 500}, job.Counts)
	require.NoError(t, g.Items(t.Context(), job, 0, func(i int, spec *jobs.Spec, result jobs.Result) bool {
		return assert.Equal(t, jobs.ItemKey(id, i), spec.Key) && assert.Equal(t, "ch of "+spec.Key, result.ChangeID)
	}))
	assert.Len(t, slices.Collect(maps.Keys(effects)), 500)
}

func TestPlansAreBound(t *testing.T) {
	w := newWorld(func(c jobs.Call, _ int) jobs.Answer {
		switch {
		case c.DryRun && c.Spec.ID == "2", c.DryRun && c.Spec.ID == "3":
			return jobs.Answer{Result: jobs.Result{State: jobstate.Refused}}
		case c.DryRun:
			return jobs.Answer{Result: jobs.Result{State: jobstate.Made, Plan: "plan " + c.Spec.ID}}
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made, Message: c.Plan}}
	})
	g := start(t, storeFile(t), w, nil)
	items := specs(4, ps.Directory)
	items[3].Waits = []int{0}
	id := g.submit(t, jobs.Job{Mode: jobstate.DryRun, StopAfter: 1}, items)
	g.await(t, id, jobstate.Ready)
	_, err := g.Start(t.Context(), id)
	require.NoError(t, err)
	job := g.await(t, id, jobstate.Done)
	var got []string
	require.NoError(t, g.Items(t.Context(), job, 0, func(_ int, _ *jobs.Spec, result jobs.Result) bool {
		got = append(got, string(result.State)+" "+result.Message)
		return true
	}))
	assert.Equal(t, []string{"done plan 0", "done plan 1", "not_run ", "done "}, got,
		"the last one waits for what a dry run cannot make")
	_, err = g.Start(t.Context(), id)
	assert.ErrorIs(t, err, jobs.ErrState)
	_, err = g.Get(t.Context(), "jb_of no job")
	assert.ErrorIs(t, err, jobs.ErrAbsent)
}

// TestSecretsAreDestroyed: the key of a job's secrets is destroyed when nothing is left to retry.
func TestSecretsAreDestroyed(t *testing.T) {
	file := storeFile(t)
	seen := make(chan map[string]string, 10)
	fails := true
	w := newWorld(func(c jobs.Call, _ int) jobs.Answer {
		seen <- c.Secrets
		if fails {
			return jobs.Answer{Result: jobs.Result{State: jobstate.Refused}}
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	g := start(t, file, w, nil)
	submit := func(job *jobs.Job, items []jobs.Spec, secrets []map[string]string) *jobs.Job {
		added, err := g.Submit(t.Context(), jobs.Submission{Job: job, Specs: items, Secrets: secrets})
		require.NoError(t, err)
		return g.await(t, added.ID, jobstate.Done)
	}
	secret := map[string]string{"Password": "s3cret"}
	first := submit(&jobs.Job{Mode: jobstate.Run}, specs(1, ps.Directory), []map[string]string{secret})
	assert.Equal(t, secret, <-seen)
	again := func() *jobs.Job {
		var items []jobs.Spec
		require.NoError(t, g.Items(t.Context(), first, 0, func(_ int, spec *jobs.Spec, _ jobs.Result) bool {
			assert.NotContains(t, string(spec.Sealed), "s3cret")
			items = append(items, *spec)
			return true
		}))
		return submit(&jobs.Job{Mode: jobstate.Run, Root: first.ID, Retries: first.ID, Secrets: true, All: true},
			items, nil)
	}
	fails = false
	assert.Equal(t, 1, again().Counts.Made)
	assert.Equal(t, secret, <-seen)
	last := again()
	assert.Equal(t, 1, last.Counts.Refused, "the key is destroyed")
	require.NoError(t, g.Items(t.Context(), last, 0, func(_ int, _ *jobs.Spec, result jobs.Result) bool {
		return assert.Equal(t, "expired", result.Code)
	}))
}

func TestASubmissionThatIsRepeated(t *testing.T) {
	g := start(t, storeFile(t), newWorld(nil), nil)
	once := func() string {
		added, err := g.Submit(t.Context(),
			jobs.Submission{Job: &jobs.Job{Mode: jobstate.Run}, Specs: specs(3, ps.Directory), Once: "call"})
		require.NoError(t, err)
		return added.ID
	}
	assert.Equal(t, once(), once())
	n := 0
	require.NoError(t, g.List(t.Context(), "", func(*jobs.Job) bool { n++; return true }))
	assert.Equal(t, 1, n)
}

func TestOpenJobsOfACallerAreLimited(t *testing.T) {
	g := start(t, storeFile(t), newWorld(nil), nil)
	var ids []string
	for range bounds.OpenJobs.Own {
		ids = append(ids, g.submit(t, jobs.Job{Mode: jobstate.Validate}, specs(1, ps.Directory)))
	}
	_, err := g.Submit(t.Context(),
		jobs.Submission{Job: &jobs.Job{Mode: jobstate.Validate, Caller: jobs.Caller{Name: "token"}},
			Specs: specs(1, ps.Directory)})
	require.ErrorIs(t, err, jobs.ErrOpen)
	g.submit(t, jobs.Job{Mode: jobstate.Validate, Caller: jobs.Caller{Name: "another"}}, specs(1, ps.Directory))
	_, err = g.Cancel(t.Context(), ids[0])
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := g.Submit(t.Context(),
			jobs.Submission{Job: &jobs.Job{Mode: jobstate.Validate, Caller: jobs.Caller{Name: "token"}},
				Specs: specs(1, ps.Directory)})
		return err == nil
	}, patience, time.Millisecond)
}

// kindsOf returns the number of stored values of jobs, by kind.
func kindsOf(t *testing.T, db *store.Sealed) map[store.Kind]int {
	t.Helper()
	n := map[store.Kind]int{}
	for _, kind := range jobs.Kinds {
		require.NoError(t, db.Store.Range(t.Context(), kind, "", func(store.Entry) bool { n[kind]++; return true }))
	}
	return n
}

func TestAJobThatRanNothingKeepsNoList(t *testing.T) {
	for name, mode := range map[string]jobstate.Mode{"validated": jobstate.Validate, "dry run": jobstate.DryRun,
		"held": jobstate.Run} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Seal(t, store.NewMemory(nil))
			g := start(t, storeFile(t), newWorld(nil), func(o *jobs.Options) { o.Store = db })
			added, err := g.Submit(t.Context(), jobs.Submission{
				Job: &jobs.Job{Mode: mode,
					NotBefore: map[bool]time.Time{true: time.Now().Add(time.Hour)}[mode == jobstate.Run]},
				Specs: specs(1000, ps.Directory), Secrets: make([]map[string]string, 1000),
			})
			require.NoError(t, err)
			if mode == jobstate.DryRun {
				g.await(t, added.ID, jobstate.Ready)
			}
			_, err = g.Cancel(t.Context(), added.ID)
			require.NoError(t, err)
			job := g.await(t, added.ID, jobstate.Cancelled)
			assert.True(t, job.Listless)
			assert.Equal(t, 1000, job.Total)
			require.Eventually(t, func() bool {
				return assert.ObjectsAreEqual(map[store.Kind]int{"job": 1}, kindsOf(t, db))
			}, patience, time.Millisecond)
			require.NoError(t, g.Items(t.Context(), job, 0, func(int, *jobs.Spec, jobs.Result) bool {
				t.Error("it has no items")
				return false
			}))
		})
	}
}

func TestJobsAreRemoved(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	var forgotten []string
	g := start(t, storeFile(t), newWorld(func(c jobs.Call, _ int) jobs.Answer {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Refused}}
	}), func(o *jobs.Options) {
		o.Store = db
		o.Forget = func(_ context.Context, keys []string) ([]store.Change, error) {
			forgotten = append(forgotten, keys...)
			return nil, nil
		}
	})
	first, err := g.Submit(t.Context(), jobs.Submission{
		Job: &jobs.Job{Mode: jobstate.Run}, Specs: specs(2, ps.Directory),
		Secrets: []map[string]string{{"P": "x"}, nil}, Once: "call",
	})
	require.NoError(t, err)
	ended := func(id string) {
		require.Eventually(t, func() bool {
			_, err := g.Cancel(t.Context(), id) // ended, and dropped by the manager
			var wrong *jobs.StateError
			return errors.As(err, &wrong)
		}, patience, time.Millisecond)
	}
	g.await(t, first.ID, jobstate.Done)
	ended(first.ID)
	retried := specs(1, ps.Directory)
	retried[0].Key = jobs.ItemKey(first.ID, 0)
	again := g.submit(t, jobs.Job{Root: first.ID, Retries: first.ID, Secrets: true}, retried)
	g.await(t, again, jobstate.Done)
	ended(again)
	removed := func(id string) {
		require.Eventually(t, func() bool {
			_, err := g.Remove(t.Context(), id)
			var wrong *jobs.StateError
			return !errors.As(err, &wrong) && assert.NoError(t, err)
		}, patience, time.Millisecond)
	}
	removed(first.ID)
	assert.Equal(t, []string{jobs.ItemKey(first.ID, 1)}, forgotten, "the retry may try the other item again")
	_, err = g.Get(t.Context(), first.ID)
	require.ErrorIs(t, err, jobs.ErrAbsent)
	assert.Equal(t, map[store.Kind]int{"job": 1, "jobspec": 1, "jobitem": 1, "jobkey": 1, "jobonce": 1},
		kindsOf(t, db),
		"the retry has the key still")
	_, err = g.Submit(t.Context(),
		jobs.Submission{Job: &jobs.Job{Mode: jobstate.Run}, Specs: specs(2, ps.Directory), Once: "call"})
	require.ErrorIs(t, err, jobs.ErrRemoved, "a repetition of the call does not run it again")
	removed(again)
	assert.Equal(t, []string{jobs.ItemKey(first.ID, 1), jobs.ItemKey(first.ID, 0)}, forgotten)
	assert.Equal(t, map[store.Kind]int{"jobonce": 1}, kindsOf(t, db))

	open := g.submit(t, jobs.Job{Mode: jobstate.Validate}, specs(1, ps.Directory))
	_, err = g.Remove(t.Context(), open)
	require.ErrorIs(t, err, jobs.ErrState)
}

func TestJobsHaveABudget(t *testing.T) {
	file := storeFile(t)
	limit := func(most int64) func(*jobs.Options) { return func(o *jobs.Options) { o.MaxStored = most } }
	g := start(t, file, newWorld(nil), limit(8<<20))
	submit := func(caller string) (*jobs.Job, error) {
		return g.Submit(t.Context(),
			jobs.Submission{Job: &jobs.Job{Mode: jobstate.Validate, Caller: jobs.Caller{Name: caller}},
				Specs: specs(500, ps.Directory)})
	}
	var full *bounds.Full
	first, err := submit("one")
	require.NoError(t, err)
	_, err = submit("one")
	require.ErrorAs(t, err, &full)
	assert.True(t, full.Own)
	assert.Contains(t, full.Sentences(), "jobs.maxStored")
	assert.Contains(t, full.Sentences(), "DELETE /api/Jobs/{JobId}/Record")
	_, err = submit("other")
	require.NoError(t, err, "it leaves room to others")

	g.stop()
	g = start(t, file, newWorld(nil), limit(8<<20))
	_, err = submit("one")
	require.ErrorAs(t, err, &full, "also after a restart")
	_, err = g.Cancel(t.Context(), first.ID)
	require.NoError(t, err)
	g.await(t, first.ID, jobstate.Cancelled)
	require.Eventually(t, func() bool { _, err = submit("one"); return err == nil }, patience, time.Millisecond)

	for n := 0; err == nil; n++ {
		require.Less(t, n, 20)
		_, err = submit(fmt.Sprint("caller ", n))
	}
	require.ErrorAs(t, err, &full)
	assert.False(t, full.Own)

	g.stop()
	g = start(t, file, newWorld(nil), limit(2<<20))
	_, err = submit("third")
	require.ErrorAs(t, err, &full, "what was kept before the bound was lowered stays, and nothing new is added")
	g.stop()
	low := bounds.NewRoom(func() (int64, error) { return 100 << 20, nil }, 100<<20, time.Now)
	g = start(t, file, newWorld(nil), func(o *jobs.Options) { o.MaxStored, o.Room = 1<<30, low })
	_, err = submit("one")
	require.ErrorAs(t, err, &full)
	assert.Contains(t, full.Sentences(), "store.minFree")
}

func TestReversed(t *testing.T) {
	assert.Equal(t, [][]int{{1, 2}, {2}, nil}, jobs.Reversed([][]int{nil, {0}, {0, 1}}))
}

func TestStateErrors(t *testing.T) {
	g := start(t, storeFile(t), newWorld(nil), nil)
	id := g.submit(t, jobs.Job{}, specs(1, ps.Directory))
	g.await(t, id, jobstate.Done)
	for _, control := range []func(context.Context, string) (*jobs.Job,
		error){g.Pause, g.Resume, g.Cancel, g.Start} {
		require.Eventually(t, func() bool {
			_, err := control(t.Context(), id)
			var wrong *jobs.StateError
			return errors.As(err, &wrong) && wrong.State == jobstate.Done
		}, patience, time.Millisecond)
	}
}

// TestNamesOfValuesAreIdentities: the keys of stored values, which a reader of the store can see,
// consist of ids only.
func TestNamesOfValuesAreIdentities(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	g := start(t, storeFile(t), newWorld(nil), func(o *jobs.Options) { o.Store = db })
	id := g.submit(t, jobs.Job{Name: "Canary"}, specs(30, ps.Directory))
	g.await(t, id, jobstate.Done)
	for _, kind := range []store.Kind{"job", "jobspec", "jobitem"} {
		n := 0
		require.NoError(t, db.Store.Range(t.Context(), kind, "", func(e store.Entry) bool {
			n++
			return assert.True(t, strings.HasPrefix(e.Key, id)) && assert.NotContains(t, string(e.Value), "Canary")
		}))
		assert.Positive(t, n, kind)
	}
}

// behind is a store that cannot find out whether others have written to it.
type behind struct{ store.Store }

func (behind) Reach(context.Context) error { return store.ErrUnreachable }

// TestAJobIsNotAbsentWhileTheStoreIsBehind: a job that is not found is not reported as absent, because
// another gateway may have just added it.
func TestAJobIsNotAbsentWhileTheStoreIsBehind(t *testing.T) {
	m, err := jobs.Open(t.Context(), jobs.Options{Store: storetest.Seal(t, behind{store.NewMemory(nil)})})
	require.NoError(t, err)
	_, err = m.Get(t.Context(), jobs.NewID())
	assert.ErrorIs(t, err, store.ErrUnreachable)
	assert.NotErrorIs(t, err, jobs.ErrAbsent)
	_, err = m.Get(t.Context(), "of no job")
	assert.ErrorIs(t, err, jobs.ErrAbsent)
}
