package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	oldFolder = flag.String("old", "", "folder with adgateway and adgateway-engine of the older version")
	newFolder = flag.String("new", "", "folder with those of the newer version")
)

// answer is the answer of a gateway.
type answer struct {
	status int
	header http.Header
	body   []byte
	Result []json.RawMessage
	Plan   struct{ ID string }
	Error  struct{ Code, Outcome string }
}

// ask sends a call to a gateway. It returns an error if no answer comes, for example because
// the gateway is being replaced.
func (f *fleet) ask(
	ctx context.Context, g *member, token, key, method, path, media string, body []byte,
) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Auth-Token", "Bearer "+token)
	if media != "" {
		request.Header.Set("Content-Type", media)
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	a := &answer{status: response.StatusCode, header: response.Header, body: text}
	_ = json.Unmarshal(text, a) // the result of a job is a list
	return a, nil
}

// forbidden returns the status and the body of an answer that must never occur while two
// versions run side by side, or "" if the answer is allowed.
func (f *fleet) forbidden(a *answer) string {
	unknown := a.Error.Outcome == "unknown" && !(f.runs("old") && a.header.Get("Retry-After") != "")
	if a.status == http.StatusInternalServerError || a.Error.Code == "newer_peer" || unknown {
		return fmt.Sprintf("%d %s", a.status, a.body)
	}
	return ""
}

// runs reports whether a gateway of a version is running. When the older version stops, it closes connections
// on which calls may still be on their way. A client repeats these calls with their key.
func (f *fleet) runs(version string) bool {
	return slices.ContainsFunc(f.gateways, func(g *member) bool { return g.version.Load().name == version })
}

// must repeats a call until the gateway answers with the given status. The gateway may first have to receive
// a change that another gateway has just made.
func (f *fleet) must(status int, g *member, token, method, path, media, body string) (a *answer) {
	f.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var err error
		a, err = f.ask(f.t.Context(), g, token, "", method, path, media, []byte(body))
		require.NoError(f.t, err)
		early := a.status == http.StatusNotFound || a.Error.Code == "in_progress" || a.Error.Code == "busy"
		if a.status == status || !early || time.Now().After(end) {
			break
		}
	}
	require.Equal(f.t, status, a.status, "%s (%s): %s %s: %s", g.name, g.version.Load().name, method, path,
		a.body)
	return a
}

// crowd contains clients. Each client sets one value after another for its user. For each value it uses a
// key, with which it repeats the change at other gateways.
type crowd struct {
	f        *fleet
	token    string
	done     atomic.Int64
	replayed atomic.Int64 // repeated keys, of these:
	// number of answers from a gateway of another version than the one that made the change
	elsewhere atomic.Int64
	retried   atomic.Int64

	mu      sync.Mutex
	changes []string          // identities
	values  map[string]string // by user, as last confirmed
	wrong   []string
}

func (c *crowd) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// work changes a user until stop is closed.
func (c *crowd) work(ctx context.Context, user string, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		value, key := fmt.Sprintf("%s-%d", user, n), fmt.Sprintf("upgrade-%s-%06d", user, n)
		first, by := c.settle(ctx, user, key, value, nil)
		if first == nil {
			return
		}
		ran := by.version.Load()
		c.done.Add(1)
		c.mu.Lock()
		c.values[user] = value
		c.changes = append(c.changes, first.header.Get("X-Change-Id"))
		c.mu.Unlock()
		again, at := c.settle(ctx, user, key, value, by)
		if again == nil {
			return
		}
		c.replayed.Add(1)
		if at.version.Load() != ran {
			c.elsewhere.Add(1)
		}
		if again.header.Get("Idempotency-Replayed") != "true" || !bytes.Equal(again.body, first.body) {
			c.fault("%s was answered with %s and then, not replayed, with %s", key, first.body, again.body)
		}
	}
}

// settle sends a change to one gateway after another until the change is made. If there is another
// gateway, it does not use avoided.
func (c *crowd) settle(ctx context.Context, user, key, value string, avoided *member) (*answer, *member) {
	last := "no gateway answers"
	for end := time.Now().Add(patience); ctx.Err() == nil && time.Now().Before(end); c.retried.Add(1) {
		g := c.f.gateways[rand.IntN(len(c.f.gateways))]
		if g == avoided && len(c.f.gateways) > 1 {
			continue
		}
		a, err := c.f.ask(ctx, g, c.token, key, http.MethodPut, "/api/ADUser/"+user, "application/json",
			fmt.Appendf(nil, `{"City":%q}`, value))
		if err == nil {
			if wrong := c.f.forbidden(a); wrong != "" {
				c.fault("%s at %s (%s): %s", key, g.name, g.version.Load().name, wrong)
				return nil, nil
			}
			if a.status/100 == 2 {
				return a, g
			}
			last = string(a.body)
		}
		time.Sleep(20 * time.Millisecond) // a client's pause between attempts
	}
	c.fault("%s is not settled: %s", key, last)
	return nil, nil
}

// versions returns the old and the latest version.
func versions(t *testing.T) (old, latest *version) {
	t.Helper()
	if *oldFolder == "" || *newFolder == "" {
		t.Skip("it needs two versions: run 'make upgrade-test'")
	}
	return &version{"old", *oldFolder}, &version{"new", *newFolder}
}

// TestAGatewayAlone: while clients keep making calls, a single gateway is upgraded to another version,
// downgraded and upgraded again. Each version reads and continues the work of the other version, no answer
// contradicts this, and the audit log is complete.
func TestAGatewayAlone(t *testing.T) {
	old, latest := versions(t)
	f, token := newFleet(t, old, 1)
	g := f.gateways[0]
	f.startGateway(g, old)
	f.upgrade(token, old, latest)
	for _, v := range []*version{old, latest} {
		f.command(v, "audit", "verify", "--config", g.settings)
	}
}

// TestACluster: while clients keep making calls, the gateways of a cluster are upgraded one after another to
// another version, and then downgraded. Each version reads and continues the work of the other version, no
// answer contradicts this, and the audit logs agree.
func TestACluster(t *testing.T) {
	old, latest := versions(t)
	f, token := newCluster(t, old)
	f.upgrade(token, old, latest)
	for _, v := range []*version{old, latest} {
		for _, g := range f.gateways { // each gateway has its own files
			shown := f.command(v, "cluster", "verify", "--config", g.settings)
			assert.Contains(t, shown, "OK: the logs agree with each other", "%s of %s", v.name, g.name)
		}
	}
}

// upgrade replaces the gateways of the old version with gateways of the new version and then does the
// reverse, while clients keep making calls. Finally it replaces the first gateway once more.
func (f *fleet) upgrade(token string, old, latest *version) {
	f.t.Helper()
	t := f.t
	c := &crowd{f: f, token: token, values: map[string]string{}}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 4 {
		user := fmt.Sprintf("upgrade%d", i)
		f.must(http.StatusCreated, f.gateways[0], token, http.MethodPost, "/api/ADUser/"+user, "application/json", `{}`)
		clients.Go(func() { c.work(t.Context(), user, stop) })
	}
	ended := sync.OnceFunc(func() { close(stop); clients.Wait() })
	defer ended()
	f.exchange(c, "all old")
	for _, v := range []*version{latest, old} {
		for i, g := range f.gateways {
			begun := f.begin(c, g)
			f.replace(g, v)
			f.finish(c, g, begun)
			f.exchange(c, fmt.Sprintf("%d of %d gateways %s", i+1, len(f.gateways), v.name))
		}
	}
	ended()
	t.Logf("%d changes, %d keys repeated, %d of them at the other version, %d tries more", c.done.Load(),
		c.replayed.Load(), c.elsewhere.Load(), c.retried.Load())
	assert.Empty(t, c.wrong)
	f.replace(f.gateways[0], latest)
	for _, g := range f.gateways[:min(2, len(f.gateways))] { // one of each version
		for _, id := range c.changes {
			f.must(http.StatusOK, g, token, http.MethodGet, "/api/Changes/"+id, "", "")
		}
		for user, value := range c.values {
			a := f.must(http.StatusOK, g, token, http.MethodGet, "/api/ADUser/"+user+"/Details", "", "")
			assert.Contains(t, string(a.body), fmt.Sprintf("%q", value))
		}
	}
}

// before is the unfinished work of a gateway that is replaced.
type before struct {
	key    string
	change *answer
	plan   string
}

// begin changes a user under an idempotency key, and makes a plan.
func (f *fleet) begin(c *crowd, g *member) before {
	f.t.Helper()
	b := before{key: fmt.Sprintf("upgrade-kept-%06d", c.done.Load())}
	b.change = f.kept(c, g, b.key)
	made := f.must(http.StatusOK, g, c.token, http.MethodPut, "/api/ADUser/lweber", "application/json", `{"Department":"Kept","DryRun":true}`)
	b.plan = made.Plan.ID
	require.NotEmpty(f.t, b.plan, "%s", made.body)
	return b
}

// finish repeats the key, and applies and undoes the plan, at the gateway of the other version.
func (f *fleet) finish(c *crowd, g *member, b before) {
	f.t.Helper()
	again := f.kept(c, g, b.key)
	assert.Equal(f.t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(f.t, string(b.change.body), string(again.body))
	applied := f.must(http.StatusOK, g, c.token, http.MethodPut, "/api/ADUser/lweber", "application/json",
		fmt.Sprintf(`{"Department":"Kept","PlanId":%q}`, b.plan))
	f.must(http.StatusOK, g, c.token, http.MethodPut, "/api/Changes/"+applied.header.Get("X-Change-Id")+"/Undo",
		"", "")
}

// kept changes a user under an idempotency key.
func (f *fleet) kept(c *crowd, g *member, key string) *answer {
	f.t.Helper()
	a, err := f.ask(f.t.Context(), g, c.token, key, http.MethodPut, "/api/ADUser/ahoffmann", "application/json",
		fmt.Appendf(nil, `{"City":%q}`, key))
	require.NoError(f.t, err)
	require.Equal(f.t, http.StatusOK, a.status, "%s", a.body)
	return a
}

// exchange makes each pair of neighbors continue each other's work. A single gateway continues its own work.
func (f *fleet) exchange(c *crowd, when string) {
	f.t.Helper()
	before := c.done.Load()
	for i, a := range f.gateways {
		b := f.gateways[(i+1)%len(f.gateways)]
		f.token(c, a, b, fmt.Sprintf("%s %d", when, i))
		f.plan(c, a, b)
		f.job(c, a, b)
	}
	f.until("the clients go on: "+when, func() bool { return c.done.Load() >= before+8 })
	f.t.Logf("%s: %d changes so far", when, c.done.Load())
}

// token creates a token with a command of one gateway's version, uses the token at the other
// gateway, and revokes it there.
func (f *fleet) token(c *crowd, a, b *member, name string) {
	f.t.Helper()
	name = strings.ReplaceAll(name, " ", "-")
	secret := strings.TrimSpace(f.command(a.version.Load(), "token", "create", name, "--scope", "user:read",
		"--config", a.settings))
	reads := func(g *member, status int) {
		f.t.Helper()
		var last []byte
		defer func() {
			if f.t.Failed() {
				f.t.Logf("%s answered last: %s", g.name, last)
			}
		}()
		f.until(fmt.Sprintf("%s answers the token %s with %d", g.name, name, status), func() bool {
			answered, err := f.ask(f.t.Context(), g, secret, "", http.MethodGet, "/api/ADUser/Administrator/Details",
				"", nil)
			require.NoError(f.t, err)
			last = answered.body
			return answered.status == status
		})
	}
	reads(b, http.StatusOK)
	f.command(b.version.Load(), "token", "revoke", name, "--config", b.settings)
	reads(a, http.StatusUnauthorized)
}

// plan makes a plan at one gateway and applies it at the other. The first gateway undoes the change.
func (f *fleet) plan(c *crowd, a, b *member) {
	f.t.Helper()
	made := f.must(http.StatusOK, a, c.token, http.MethodPut, "/api/ADUser/aschmidt", "application/json", `{"Department":"Upgrades","DryRun":true}`)
	require.NotEmpty(f.t, made.Plan.ID, "%s", made.body)
	f.must(http.StatusOK, b, c.token, http.MethodGet, "/api/Plans/"+made.Plan.ID, "", "")
	applied := f.must(http.StatusOK, b, c.token, http.MethodPut, "/api/ADUser/aschmidt", "application/json",
		fmt.Sprintf(`{"Department":"Upgrades","PlanId":%q}`, made.Plan.ID))
	id := applied.header.Get("X-Change-Id")
	one := f.must(http.StatusOK, a, c.token, http.MethodGet, "/api/Changes/"+id, "", "")
	other := f.must(http.StatusOK, b, c.token, http.MethodGet, "/api/Changes/"+id, "", "")
	require.NotEmpty(f.t, one.Result)
	require.NotEmpty(f.t, other.Result)
	f.must(http.StatusOK, a, c.token, http.MethodPut, "/api/Changes/"+id+"/Undo", "", "")
}

// job submits a list at one gateway, starts the job at the other, and reads it at both.
func (f *fleet) job(c *crowd, a, b *member) {
	f.t.Helper()
	query := url.Values{"Operation": {"user.update"}, "Mode": {"validate"}}
	list := "Username,Office\n"
	for _, user := range []string{"aschmidt", "ahoffmann", "lweber"} {
		list += user + "," + fmt.Sprintf("%s %d\n", a.name, c.done.Load())
	}
	submitted := f.must(http.StatusAccepted, a, c.token, http.MethodPost, "/api/Jobs?"+query.Encode(),
		"text/csv", list)
	type job struct {
		ID, State   string
		Done, Total int
	}
	read := func(answered *answer) (j job) {
		require.NotEmpty(f.t, answered.Result, "%s", answered.body)
		require.NoError(f.t, json.Unmarshal(answered.Result[0], &j))
		return j
	}
	id := read(submitted).ID
	until := func(g *member, state string) {
		f.t.Helper()
		f.until(fmt.Sprintf("%s is %s at %s", id, state, g.name), func() bool {
			return read(f.must(http.StatusOK, g, c.token, http.MethodGet, "/api/Jobs/"+id, "", "")).State == state
		})
	}
	until(b, "ready")
	f.must(http.StatusOK, b, c.token, http.MethodPut, "/api/Jobs/"+id+"/Start", "", "")
	until(a, "done")
	until(b, "done")
	result := f.must(http.StatusOK, a, c.token, http.MethodGet, "/api/Jobs/"+id+"/Result", "", "")
	assert.Equal(f.t, string(result.body),
		string(f.must(http.StatusOK, b, c.token, http.MethodGet, "/api/Jobs/"+id+"/Result", "", "").body))
	assert.Equal(f.t, 3, strings.Count(string(result.body), ",done,"), "%s", result.body)
}
