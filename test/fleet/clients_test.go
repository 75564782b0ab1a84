package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/failing"
	"adgateway/test/histories"
)

// item is one change with a unique value. The client repeats the change under one
// idempotency key until some gateway reports the outcome.
type item struct {
	key, method, path, body string

	write string // name of the write that must be in the write log exactly once, see nameOf

	mu      sync.Mutex
	status  int    // status of the answer that settled the item; 0 if no such answer came
	change  string // ID of the resulting change; empty if unknown
	outcome string // the outcome if the status was not 2xx
	last    string // code of the last refusal
}

func (it *item) settled() bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.status != 0
}

// users is the number of accounts that items change. It is small, so that items collide.
const users = 12

// makeUsers creates the accounts that items change.
func (f *fleet) makeUsers() {
	f.t.Helper()
	dc := f.world.Directory.DCs()[0]
	for i := range users {
		name := fmt.Sprintf("shared%02d", i)
		_, err := dc.Add(f.t.Context(), "CN="+name+","+f.world.Directory.UsersContainer(),
			directory.Attr("objectClass", "user"), directory.Attr("sAMAccountName", name))
		require.NoError(f.t, err)
	}
}

// items returns changes of several kinds whose values begin with prefix.
func items(prefix string, n int, random *rand.Rand) (all []*item) {
	for i := range n {
		value := fmt.Sprintf("%s%04d", prefix, i)
		it := &item{key: "fleet-key-" + value}
		switch i % 4 {
		case 0:
			it.method, it.path, it.body = http.MethodPost, "/api/ADUser/"+value, `{}`
			it.write = "add " + value
		case 1, 2:
			it.method, it.path = http.MethodPut, fmt.Sprintf("/api/ADUser/shared%02d", random.IntN(users))
			it.body, it.write = fmt.Sprintf(`{"City":%q}`, value), "city "+value
		case 3:
			it.method, it.path, it.write = http.MethodPost, "/api/DnsCNameRecord", "record "+value
			it.body = fmt.Sprintf(`{"DNS_HostName":%q,"DNS_HostName_Alias":"host.corp.example",`+
				`"ZoneName":"corp.example"}`, value)
		}
		all = append(all, it)
	}
	return all
}

// crowd contains the clients and the answers that they received.
type crowd struct {
	f     *fleet
	calls histories.Recorder

	once []string // names of writes that may happen once in addition to the items, see nameOf
}

// ask sends an item to a gateway, and records the answer if the answer settles the item.
func (c *crowd) ask(ctx context.Context, at int, it *item) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	url, body := c.f.hosts[at].url(it.path), strings.NewReader(it.body)
	request, err := http.NewRequestWithContext(ctx, it.method, url, body)
	if err != nil {
		assert.NoError(c.f.t, err)
		return
	}
	request.Header.Set("Auth-Token", "Bearer "+c.f.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", it.key)
	call := c.calls.Begin(histories.Op{Of: it.key, At: at, Do: "call"})
	response, err := c.f.client.Do(request)
	if err != nil {
		call.Forget()
		return // the gateway was killed, or does not exist yet
	}
	defer response.Body.Close()
	var answer struct {
		Error struct{ Code, Outcome string }
	}
	if json.NewDecoder(response.Body).Decode(&answer) != nil {
		call.Forget()
		return // the client was killed meanwhile
	}
	done := response.StatusCode/100 == 2
	call.End(histories.Answer{Refused: !done, Value: response.Header.Get("X-Change-Id")})
	it.mu.Lock()
	defer it.mu.Unlock()
	code, outcome := answer.Error.Code, answer.Error.Outcome
	open := code == "not_leader" || response.Header.Get("Retry-After") != ""
	if it.last = code; !done && (open || outcome == "none") {
		return // nothing was done, or the outcome is not known yet
	}
	if it.status != 0 {
		assert.Equal(c.f.t, it.status, response.StatusCode, "%s has another verdict at %s: %s",
			it.key, c.f.hosts[at].name, code)
	}
	it.status, it.outcome, it.change = response.StatusCode, outcome, response.Header.Get("X-Change-Id")
}

// settle sends items to random gateways until the outcome of each item is known.
func (c *crowd) settle(ctx context.Context, all []*item, clients int, seed uint64, settled func(*item)) {
	queue := make(chan *item, len(all))
	for _, it := range all {
		queue <- it
	}
	close(queue)
	var working sync.WaitGroup
	for i := range clients {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		working.Go(func() {
			for it := range queue {
				for !it.settled() && ctx.Err() == nil {
					if c.ask(ctx, random.IntN(size), it); !it.settled() {
						failing.Pause(ctx, time.Duration(20+random.IntN(80))*time.Millisecond)
					}
				}
				settled(it)
			}
		})
	}
	working.Wait()
}

// nameOf returns the name of a write that an item must cause exactly once, or "" if the
// write is only a part of an item's change. known is false if no item causes such a write.
func nameOf(w sandbox.Write) (name string, known bool) {
	leaf, _, _ := strings.Cut(strings.TrimPrefix(w.Object, "CN="), ",")
	after := strings.Join(w.After, "")
	switch {
	case w.Op == "add record":
		return "record " + after[:strings.IndexAny(after+".", ".\t ")], true
	case w.Op == "add" && w.Attribute == "":
		return "add " + leaf, true
	case w.Op == "delete" && w.Attribute == "":
		leaf, _, _ := strings.Cut(strings.TrimPrefix(strings.Join(w.Before, ""), "CN="), ",")
		return "delete " + leaf, true
	case w.Attribute == "l":
		return "city " + after, true
	}
	return "", w.Op == "add" || w.Op == "delete"
}

// verify compares the write log with the answers that the clients received.
func (c *crowd) verify(all []*item) {
	t := c.f.t
	t.Helper()
	times := map[string][]time.Time{}
	for _, w := range c.f.writes.After(0, 1<<30) {
		name, known := nameOf(w)
		switch made, deleted := strings.CutPrefix(name, "delete "); {
		case w.Writer == "": // the test itself prepared objects
		case deleted: // remainder of a creation that was cut off
			if assert.NotEmpty(t, times["add "+made], name) {
				times["add "+made] = times["add "+made][1:]
			}
		case known && name != "":
			times[name] = append(times[name], w.Time)
		}
	}
	told := map[string]int{}
	for _, name := range c.once {
		assert.LessOrEqual(t, len(times[name]), 1, name)
		delete(times, name)
	}
	for _, it := range all {
		made := times[it.write]
		delete(times, it.write)
		if len(made) > 1 && c.f.late(made[0], made[1]) {
			told["written late by a gateway that was frozen"]++
			made = made[:1]
		}
		for _, at := range made {
			c.calls.Happened(histories.Op{Of: it.key, Do: "write"}, at)
		}
		assert.LessOrEqual(t, len(made), 1, "%s (%s %s) was made twice", it.key, it.method, it.path)
		switch {
		case it.status/100 == 2:
			told["done"]++
			assert.Len(t, made, 1, "%s (%s %s) was answered with %d", it.key, it.method, it.path, it.status)
		case it.status == 0:
			assert.Fail(t, "is open", "%s (%s %s), last %q", it.key, it.method, it.path, it.last)
		default:
			told[it.outcome]++
		}
	}
	assert.Empty(t, times, "are written and nobody asked for them")
	t.Logf("told: %v", told)
}

// late reports whether a gateway was frozen between two writes, or shortly before the first. A script that
// had permission from this gateway may then have written after other gateways had settled its change. Nothing
// can prevent that.
func (f *fleet) late(first, second time.Time) bool {
	const longest = 10 * time.Second // maximum time from the permission to the write, and to the verdict
	for _, h := range f.hosts {
		if h.gateway.wasFrozen(first.Add(-longest), second.Add(longest)) {
			return true
		}
	}
	return false
}
