package many

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cast are the accounts that a list changes, by their number: those of the staff, and late
// ones, which cannot be found under their names until [fleet.nameLate].
type cast struct{ staff, late, groups int }

// castFor returns accounts for a list of so many items, each of which meets several of them.
// The groups are made by the list.
func castFor(items int) cast { return cast{max(24, items/8), max(8, items/40), max(2, items/60)} }

// listOf returns a list of changes of several kinds, of which some fail until the late
// accounts can be found, and others wait for those.
func listOf(n int, random *rand.Rand) string {
	cast := castFor(n)
	var list strings.Builder
	add := func(id, operation string, parameters map[string]any, after ...string) {
		line, err := json.Marshal(map[string]any{"id": id, "operation": operation, "parameters": parameters, "after": after})
		if err != nil {
			panic(err)
		}
		list.Write(append(line, '\n'))
	}
	for i := range cast.groups {
		name := fmt.Sprintf("group%04d", i)
		add(name, "group.createSecurity", map[string]any{"GroupName": name})
	}
	for i := 1; i <= n-cast.groups; i++ {
		id, before, value := fmt.Sprintf("i%05d", i), fmt.Sprintf("i%05d", i-1), fmt.Sprintf("v%05d", i)
		staff, late := fmt.Sprintf("staff%04d", random.IntN(cast.staff)), fmt.Sprintf("late%04d", random.IntN(cast.late))
		switch i % 8 {
		case 1:
			add(id, "user.create", map[string]any{"UserName": "job" + value})
		case 2:
			group := fmt.Sprintf("group%04d", random.IntN(cast.groups))
			add(id, "membership.add", map[string]any{"Username": fmt.Sprintf("jobv%05d", i-1), "GroupName": group}, before, group)
		case 3:
			add(id, "user.update", map[string]any{"UserName": fmt.Sprintf("jobv%05d", i-2), "City": value})
		case 4:
			add(id, "cname.create", map[string]any{"DNS_HostName": "job" + value, "ZoneName": "corp.example", "DNS_HostName_Alias": "host.corp.example"})
		case 5:
			add(id, "user.update", map[string]any{"UserName": late, "City": value})
		case 6:
			add(id, "user.update", map[string]any{"UserName": staff, "City": value}, before)
		default:
			add(id, "user.update", map[string]any{"UserName": staff, "City": value})
		}
	}
	return list.String()
}

// makeCast makes the accounts of a list.
func (f *fleet) makeCast(c cast) {
	f.t.Helper()
	add := func(dn, name string) {
		_, err := f.world.Directory.DCs()[0].Add(f.t.Context(), dn, directory.Attr("objectClass", "user"), directory.Attr("sAMAccountName", name))
		require.NoError(f.t, err)
	}
	for i := range c.staff {
		name := fmt.Sprintf("staff%04d", i)
		add("CN="+name+","+f.world.Directory.UsersContainer(), name)
	}
	for i := range c.late {
		add(f.lateDN(i), fmt.Sprintf("hidden%04d", i))
	}
}

func (f *fleet) lateDN(i int) string {
	return fmt.Sprintf("CN=account%04d,%s", i, f.world.Directory.UsersContainer())
}

// nameLate gives the late accounts names.
func (f *fleet) nameLate(c cast, prefix string) {
	f.t.Helper()
	for i := range c.late {
		name := []directory.Change{{Op: directory.OpReplace, Name: "sAMAccountName", Values: []any{fmt.Sprintf("%s%04d", prefix, i)}}}
		require.NoError(f.t, f.world.Directory.DCs()[0].Modify(f.t.Context(), f.lateDN(i), name, directory.ModifyOptions{}))
	}
}

// job is a job as answers show it.
type job struct {
	ID, State, Why string

	Total, Waiting, Running, Done, Noop, Failed, Unknown, Skipped, NotRun int
}

func (j *job) counted() int {
	return j.Waiting + j.Running + j.Done + j.Noop + j.Failed + j.Unknown + j.Skipped + j.NotRun
}

// clerk submits jobs to a fleet and follows them, at whichever gateway answers.
type clerk struct {
	f      *fleet
	cast   cast
	ctx    context.Context
	random *rand.Rand
	paused func() // is called while no gateway runs an item of the paused job
	keys   int
	looks  int // at jobs, each of which had counts that add up

	planned []stage // what each stage must be like; nil: whatever comes
}

// ask asks gateways, the given one first, until one of them answers the call, and decodes
// the answer. All calls may be repeated: those that submit have a key.
func (c *clerk) ask(gateway int, method, path, body string, into any) {
	c.f.t.Helper()
	c.keys++
	key := fmt.Sprintf("clerk-key-%05d", c.keys)
	if method == http.MethodGet {
		key = "" // it changes nothing
	}
	media := "application/json"
	if body != "" {
		media = "application/x-ndjson"
	}
	last := "no answer"
	for ; ; gateway++ {
		require.NoError(c.f.t, c.ctx.Err(), "%s %s: %s", method, path, last)
		status, _, text := c.f.send(c.ctx, gateway%len(c.f.gateways), method, path, media, body, key)
		switch {
		case status/100 == 2:
			require.NoError(c.f.t, json.Unmarshal(text, into), "%s", text)
			return
		case status == 0:
		case status == http.StatusServiceUnavailable:
			last = fmt.Sprintf("%d %s", status, text)
		default:
			require.Fail(c.f.t, "a call about a job was refused", "%s %s: %d %s", method, path, status, text)
		}
		pause(c.ctx, 20*time.Millisecond)
	}
}

// one asks for a job.
func (c *clerk) one(gateway int, method, path, body string) *job {
	c.f.t.Helper()
	var answer struct{ Result []job }
	c.ask(gateway, method, path, body, &answer)
	require.Len(c.f.t, answer.Result, 1)
	j := &answer.Result[0]
	require.Equal(c.f.t, j.Total, j.counted(), "%+v", j)
	c.looks++
	return j
}

// until follows a job at a gateway, as long as it answers, until the job is as wanted.
func (c *clerk) until(gateway int, id string, as func(*job) bool) *job {
	c.f.t.Helper()
	for {
		j := c.one(gateway, http.MethodGet, "/api/Jobs/"+id, "")
		if as(j) {
			return j
		}
		require.NotContains(c.f.t, []string{"done", "failed", "cancelled", "rejected"}, j.State, "%+v", j)
		pause(c.ctx, 20*time.Millisecond)
	}
}

// ended follows a job at gateways at random to its end, of which then all of them know.
func (c *clerk) ended(id string) (j *job) {
	c.f.t.Helper()
	done := func(j *job) bool { return j.State == "done" }
	for j == nil || !done(j) {
		pause(c.ctx, 20*time.Millisecond)
		j = c.one(c.random.IntN(len(c.f.gateways)), http.MethodGet, "/api/Jobs/"+id, "")
		require.NotContains(c.f.t, []string{"failed", "cancelled", "rejected"}, j.State, "%+v", j)
	}
	for gateway := range c.f.gateways {
		require.Equal(c.f.t, j, c.until(gateway, id, done))
	}
	require.Zero(c.f.t, j.Waiting+j.Running, "%+v", j)
	return j
}

// states returns what became of the items of a job, by id.
func (c *clerk) states(id string) map[string]string {
	c.f.t.Helper()
	states := map[string]string{}
	for after := ""; ; {
		var page struct {
			Result []struct{ ID, State, Code, Message string }
			Next   string
		}
		c.ask(0, http.MethodGet, "/api/Jobs/"+id+"/Items?Limit=1000&After="+url.QueryEscape(after), "", &page)
		for _, item := range page.Result {
			states[item.ID] = strings.TrimSpace(item.State + " " + item.Code)
		}
		if after = page.Next; after == "" {
			return states
		}
	}
}

// stage is what a job has left behind it.
type stage struct {
	job    *job
	states map[string]string // of items, by id
	digest sandbox.Digest
	writes []sandbox.Write
}

// course submits a list, tries again what failed, and takes all of it back. Where there are
// several gateways the job is paused meanwhile.
func (c *clerk) course(list string) (stages []stage) {
	f := c.f
	f.t.Helper()
	note := func(name string, from int64, id string) {
		f.t.Helper()
		s := stage{job: c.ended(id), states: c.states(id), writes: f.writes.After(from, 1<<30)}
		var err error
		s.digest, err = f.world.Digest()
		require.NoError(f.t, err)
		f.t.Logf("%s: %+v", name, *s.job)
		if c.planned != nil {
			plan := c.planned[len(stages)]
			assert.Equal(f.t, plan.states, s.states, name)
			assert.Equal(f.t, plan.digest, s.digest, "the directory after the %s", name)
			assert.Equal(f.t, written(plan.writes), written(s.writes), "writes of the %s", name)
		}
		stages = append(stages, s)
	}
	const goOn = "StopAfter=0&OnUnknown=continue"
	from := f.last()
	first := c.one(0, http.MethodPost, "/api/Jobs?"+goOn, list)
	if len(f.gateways) > 1 {
		c.until(0, first.ID, func(j *job) bool { return j.Done > j.Total/5 })
		c.one(1, http.MethodPut, "/api/Jobs/"+first.ID+"/Pause", "")
		for gateway := range members {
			c.until(gateway, first.ID, func(j *job) bool { return j.State == "paused" && j.Running == 0 })
		}
		c.paused()
		c.one(2, http.MethodPut, "/api/Jobs/"+first.ID+"/Resume", "")
	}
	note("job", from, first.ID)

	f.nameLate(c.cast, "late")
	from = f.last()
	again := c.one(1, http.MethodPost, "/api/Jobs/"+first.ID+"/Retry?"+goOn, "")
	note("retry", from, again.ID)

	from = f.last()
	note("undo of the retry", from, c.one(2, http.MethodPost, "/api/Jobs/"+again.ID+"/Undo?"+goOn, "").ID)
	from = f.last()
	note("undo of the job", from, c.one(0, http.MethodPost, "/api/Jobs/"+first.ID+"/Undo?"+goOn, "").ID)
	f.nameLate(c.cast, "hidden")
	return stages
}

// TestAJobAmongMany: while gateways and nodes are killed, a job that several gateways run is
// paused, resumed, tried again and taken back. Each step leaves the directory as it does at a
// gateway alone that nothing happens to, no value is written twice, and the counts of the
// job add up whenever somebody looks. JOB_ITEMS, KILL_EVERY_MS and SEED are for longer runs:
// without KILL_EVERY_MS only a node is killed, and two gateways while they run no item, as
// what one was changing is free again after a minute only.
func TestAJobAmongMany(t *testing.T) {
	n := systemtest.Number(t, "JOB_ITEMS", 120)
	every := systemtest.Number(t, "KILL_EVERY_MS", 0)
	seed := uint64(systemtest.Number(t, "SEED", 1))
	list := listOf(n, rand.New(rand.NewPCG(seed, 1)))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Duration(n)*200*time.Millisecond)
	defer cancel()
	settings := []string{"http.settlePause=50ms", "http.writeTimeout=15s", "pool.directorySessions=4", "log.level=error", "jobs.rate=0", "jobs.share=100"}
	start := func(f *fleet) (c *clerk, before sandbox.Digest) {
		f.makeCast(castFor(n))
		before, err := f.world.Digest()
		require.NoError(t, err)
		return &clerk{f: f, cast: castFor(n), ctx: ctx, random: rand.New(rand.NewPCG(seed, 2))}, before
	}
	alone := newLoner(t, settings...)
	c, before := start(alone)
	planned := c.course(list)
	kill(alone.gateways)

	f := newFleet(t, append(settings, "cluster.settleDelay=1s")...)
	c, sameBefore := start(f)
	require.Equal(t, before, sameBefore)
	began, over := time.Now(), make(chan struct{})
	var happened []string
	var killing sync.WaitGroup
	plan := faultPlan{most: 1, every: time.Second, lasts: time.Second, kind: "kill", ofNodes: true, random: rand.New(rand.NewPCG(seed, 3))}
	c.paused = func() {
		kill(f.gateways[:2])
		f.all(f.gateways[:2])
	}
	if every > 0 {
		c.paused = func() {}
		plan.most, plan.every, plan.ofNodes = math.MaxInt, time.Duration(every)*time.Millisecond, false
	}
	killing.Go(func() { happened = f.fail(ctx, over, plan) })
	defer func() {
		close(over)
		killing.Wait()
		t.Logf("seed %d: %d items, %d kills at random in %s, %d looks at jobs", seed, n, len(happened), time.Since(began).Round(time.Millisecond), c.looks)
		if t.Failed() {
			f.showLogs()
		}
	}()
	c.planned = planned
	c.course(list)
	after, err := f.world.Digest()
	require.NoError(t, err)
	assert.Equal(t, before, after, "all of it was taken back")
}

// written returns how often each value was written.
func written(writes []sandbox.Write) map[string]int {
	times := map[string]int{}
	for _, w := range writes {
		slices.Sort(w.After)
		times[fmt.Sprint(w.Op, " ", w.Object, " ", w.Attribute, " ", w.After)]++
	}
	return times
}
