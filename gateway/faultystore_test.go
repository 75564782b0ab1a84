package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
	"adgateway/test/histories"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cities is a directory of users with one property that can be changed. Some of the sessions that change it
// die before they can answer, and some reads get no answer.
type cities struct {
	mu     sync.Mutex
	of     map[string]string
	writes map[string][]string // request ids by user
	random *rand.Rand
	calls  histories.Recorder
}

func (d *cities) run(_ context.Context, req ps.Request) (*ps.Result, error) {
	user := userOf(req)
	record := harness.Sample(schema.User)
	d.mu.Lock()
	unlucky := d.random.IntN(2) == 0
	present := d.of[user]
	d.mu.Unlock()
	if !req.Write {
		if unlucky {
			return nil, &ps.Error{Kind: ps.KindUnavailable}
		}
		return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(
			`[{"guid":"` + user + `","dn":"CN=` + user + `","age":1,"state":{"exists":"True","l":"` + present + `"},"record":` + record + `}]`))
	}
	if present == "Rome" {
		return &ps.Result{Effect: ps.EffectNone, Server: "dc9"}, req.Records(json.RawMessage("[" + record + "]"))
	}
	intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9", Objects: []ps.Intended{
		{GUID: user, DN: "CN=" + user, Changes: []ps.IntendedChange{{Name: "l", Before: present, After: "Rome"}}}}}
	if err := req.Announced(intent); err != nil {
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	write := d.calls.Begin(histories.Op{Of: user, Do: "write"})
	d.mu.Lock()
	d.of[user] = "Rome"
	d.writes[user] = append(d.writes[user], req.ID)
	d.mu.Unlock()
	write.End(histories.Answer{})
	if unlucky {
		return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &intent}
	}
	return &ps.Result{Effect: ps.EffectChanged, Server: "dc9"}, req.Records(json.RawMessage("[" + record + "]"))
}

// userOf returns the user that a script changes or reads.
func userOf(req ps.Request) (user string) {
	for _, name := range []string{"UserName", ops.SettleGuid} {
		if value, has := req.Args[name]; has {
			raw, _ := value.MarshalJSON()
			_ = json.Unmarshal(raw, &user)
		}
	}
	return user
}

// faultyServer returns a server over a store with faults, and its history.
func faultyServer(
	t *testing.T, seed uint64, run func(context.Context, ps.Request) (*ps.Result, error),
) (*gateway.Server, *storetest.Faulty, *changes.History) {
	t.Helper()
	faulty := storetest.NewFaulty(store.NewMemory(nil), seed, 0.5)
	t.Cleanup(func() { assert.NoError(t, faulty.Close()) })
	db := storetest.Seal(t, faulty)
	history := changes.New(db, time.Hour, 1<<20)
	s := harness.New(t, &harness.Runner{Do: run}, func(o *gateway.Options) {
		o.Kept, o.History, o.Policy.SettlePause = db, history, time.Millisecond
	})
	return s, faulty, history
}

const users = 6

// repeated runs clients that change users at servers. Each repeats its call under the same key
// until it succeeds.
func (d *cities) repeated(ctx context.Context, t *testing.T, server func() *gateway.Server) {
	t.Helper()
	var group sync.WaitGroup
	const clients = 4
	for user := range users {
		for range clients {
			group.Go(func() {
				name := fmt.Sprintf("user%d", user)
				for ctx.Err() == nil {
					asked := d.calls.Begin(histories.Op{Of: name, Do: "call"})
					w := harness.Call(server(), http.MethodPut, "/api/ADUser/"+name, `{"City":"Rome"}`,
						"Content-Type: application/json", "Idempotency-Key: key-of-"+name)
					asked.End(histories.Answer{Refused: w.Code != http.StatusOK,
						Value: w.Header().Get(harness.ChangeHeader)})
					switch w.Code {
					case http.StatusOK:
						return
					case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
						time.Sleep(time.Millisecond) // another client may be using the key
					default:
						assert.Fail(t, "no repetition helps", "%d: %s", w.Code, w.Body)
						return
					}
				}
				assert.Fail(t, "the call did not succeed in time")
			})
		}
	}
	group.Wait()
}

// madeOnce checks that each user was changed exactly once, before any client was told so, and that
// all clients were told the same.
func (d *cities) madeOnce(t *testing.T, seed uint64) {
	t.Helper()
	d.calls.Check(t, histories.Keys, fmt.Sprint("seed ", seed))
	for user := range users {
		assert.Len(t, d.writes[fmt.Sprintf("user%d", user)], 1, "seed %d, user %d", seed, user)
	}
}

// TestAFaultyStoreRunsNoKeyTwice: the store loses, duplicates, delays and reorders updates. Clients repeat a
// change under a key until it succeeds. The change is still made exactly once, is in the history, and is at
// most once in the log.
func TestAFaultyStoreRunsNoKeyTwice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for seed := range uint64(5) {
		d := &cities{of: map[string]string{}, writes: map[string][]string{}, random: rand.New(rand.NewPCG(seed, 2))}
		s, faulty, history := faultyServer(t, seed, d.run)
		d.repeated(ctx, t, func() *gateway.Server { return s })
		faulty.Heal()
		d.madeOnce(t, seed)
		logged := map[string]int{}
		require.NoError(t, s.Kept.Log(t.Context(), changes.Log, store.Position{}, func(a store.Appended) bool {
			logged[string(a.Value)]++
			return true
		}))
		for id, times := range logged {
			assert.Equal(t, 1, times)
			_, err := history.Get(t.Context(), id)
			assert.NoError(t, err)
		}
		assert.NotEmpty(t, logged)
	}
}

// TestAFaultyStoreAppliesNoPlanTwice: of many clients that apply a plan at once, only one changes the
// directory. If the answer to that client is lost, none of the others may change it.
func TestAFaultyStoreAppliesNoPlanTwice(t *testing.T) {
	for seed := range uint64(5) {
		var mu sync.Mutex
		made := map[string]int{}
		good := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
		s, _, _ := faultyServer(t, seed, func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			result, err := good.Do(ctx, req)
			if err == nil && req.Write {
				mu.Lock()
				made[userOf(req)]++
				mu.Unlock()
			}
			return result, err
		})
		var group sync.WaitGroup
		var calls histories.Recorder
		applied := 0
		for user := range 5 {
			path := fmt.Sprintf("/api/ADUser/user%d/Disable", user)
			var body []byte
			for !strings.Contains(string(body), `"id":"pl_`) { // the plan could not be stored
				body = harness.Call(s, http.MethodPut, path+"?DryRun=true", "").Body.Bytes()
			}
			id := planID(t, body)
			mu.Lock()
			delete(made, fmt.Sprintf("user%d", user)) // made by the dry run
			mu.Unlock()
			for range 4 {
				group.Go(func() {
					use := calls.Begin(histories.Op{Of: id, Do: "use"})
					w := harness.Call(s, http.MethodPut, path+"?PlanId="+id, "")
					switch w.Code {
					case http.StatusOK:
						use.End(histories.Answer{})
						mu.Lock()
						applied++
						mu.Unlock()
					case http.StatusConflict:
						use.End(histories.Answer{Refused: true})
					}
				})
			}
		}
		group.Wait()
		calls.Check(t, histories.Once, fmt.Sprint("seed ", seed))
		for user, times := range made {
			assert.Equal(t, 1, times, user)
		}
		assert.NotZero(t, applied, "seed %d", seed)
		assert.Len(t, made, applied)
	}
}
