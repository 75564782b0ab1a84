package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema/jobstate"
	"adgateway/test/harness"
)

// narrowed looks up the caller of a job with its current rights.
type narrowed struct {
	*authn.Static
	only *atomic.Pointer[[]identity.Scope]
}

func (n narrowed) Now(id identity.ID) *identity.Principal {
	return &identity.Principal{Name: id.ID, Kind: id.Kind, Scopes: *n.only.Load()}
}

// TestAJobHasTheRightsOfTheNextLeader: the caller's current rights count, not the rights that the former
// leader knew. The job continues once the caller has the right again.
func TestAJobHasTheRightsOfTheNextLeader(t *testing.T) {
	t.Parallel()
	const items = 6
	all, few := []identity.Scope{identity.All}, []identity.Scope{identity.UserRead, identity.JobSubmit}
	var now atomic.Pointer[[]identity.Scope]
	now.Store(&all)
	d := newTown()
	rs := newReplicas(t, 3, d.runner, func(_ int, o *gateway.Options) {
		o.Auth = narrowed{harness.Auth(t), &now}
	})
	a := rs.leader()
	kill := sync.OnceFunc(func() {
		now.Store(&few)
		a.kill()
	})
	d.set(func(gateway int, point, user string) bool {
		dies := gateway == a.n && (user == "u2" && point == "written" || !a.runs())
		if dies {
			kill()
		}
		return dies
	})
	list := "Id,After,Operation,UserName,City\n"
	for i := range items {
		after := map[bool]string{true: fmt.Sprint("i", i-1)}[i > 0]
		list += fmt.Sprintf("i%d,%s,user.update,u%d,Rome\n", i, after, i)
	}
	w := harness.Call(a.Server, http.MethodPost, "/api/Jobs", list, "Content-Type: text/csv")
	require.Equal(t, http.StatusAccepted, w.Code, "%s", w.Body)
	var added shownJob
	require.NoError(t, json.Unmarshal(harness.Read(t, w).Result[0], &added))
	b := rs.leaderBut(a)
	b.judged()
	until := func(state jobstate.Job) (job shownJob) {
		t.Helper()
		require.Eventually(t, func() bool {
			w := harness.Call(b.Server, http.MethodGet, "/api/Jobs/"+added.ID, "")
			got := struct{ Result []shownJob }{}
			if json.Unmarshal(w.Body.Bytes(), &got) != nil || len(got.Result) != 1 { // there may be no leader yet
				return false
			}
			job = got.Result[0]
			return job.State == string(state) && job.Running == 0
		}, replicaPatience, 5*time.Millisecond, "%s", state)
		return job
	}
	held := until(jobstate.Held)
	assert.Equal(t, string(jobstate.Credential), held.Why)
	for i := 3; i < items; i++ {
		assert.Zero(t, d.written(fmt.Sprint("u", i)), "item %d", i)
	}
	now.Store(&all)
	assert.Equal(t, items, until(jobstate.Done).Done)
	for i := range items {
		assert.Equal(t, 1, d.written(fmt.Sprint("u", i)), "item %d", i)
	}
}
