package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
)

// past is the earlier work of a gateway. It consists of changes with keys, a plan that can be applied, and a
// running job.
type past struct {
	changes []string // ids of the changes
	keyed   []*item
	plan    string
	job     string
	items   int // number of items of the job
}

// useAccounts gives the gateway of a host a credentials file with a token.
func (f *fleet) useAccounts() authn.File {
	f.t.Helper()
	now := time.Now()
	account := authn.NewAccount("fleet", now, authn.Rights{Scopes: []string{"*"}})
	f.token = account.AddToken(now, now)
	for _, h := range f.hosts {
		h.gateway.plan.Accounts = filepath.Join(h.folder, "credentials.json")
	}
	file := authn.File{Path: f.hosts[0].gateway.plan.Accounts}
	require.NoError(f.t, file.Edit(f.t.Context(), func(d *authn.Document) error {
		d.Tokens = append(d.Tokens, account)
		return nil
	}))
	return file
}

// live makes changes at a gateway, and creates a plan and a job there.
func (f *fleet) live(h *host, items int) *past {
	f.t.Helper()
	p := &past{items: items}
	for i := range 3 {
		value := fmt.Sprintf("before%02d", i)
		it := &item{key: "fleet-key-" + value, method: http.MethodPut, write: "city " + value}
		it.path, it.body = "/api/ADUser/shared00", fmt.Sprintf(`{"City":%q}`, value)
		a := f.must(h, it.method, it.path, it.body, it.key, nil)
		it.status = a.status
		p.keyed = append(p.keyed, it)
		p.changes = append(p.changes, a.header.Get("X-Change-Id"))
	}
	var planned struct{ Plan struct{ ID string } }
	f.must(h, http.MethodPut, "/api/ADUser/shared01/Disable?DryRun=true", "", "", &planned)
	require.NotEmpty(f.t, planned.Plan.ID)
	p.plan = planned.Plan.ID
	var list strings.Builder
	for i := range items {
		const item = `{"id":"i%03d","operation":"user.update","parameters":%s}` + "\n"
		fmt.Fprintf(&list, item, i, fmt.Sprintf(`{"UserName":"shared%02d","City":"item%03d"}`, 2+i%(users-2), i))
	}
	var job struct{ Result []struct{ ID string } }
	f.must(h, http.MethodPost, "/api/Jobs", list.String(), "fleet-key-job", &job)
	require.Len(f.t, job.Result, 1)
	p.job = job.Result[0].ID
	return p
}

// known checks that a gateway knows everything in p.
func (f *fleet) known(h *host, p *past) {
	f.t.Helper()
	for i, it := range p.keyed {
		a := f.must(h, it.method, it.path, it.body, it.key, nil)
		assert.Equal(f.t, it.status, a.status, h.name)
		assert.Equal(f.t, p.changes[i], a.header.Get("X-Change-Id"), "%s makes it again: %s", h.name, a.text)
		a = f.must(h, http.MethodGet, "/api/Changes/"+p.changes[i], "", "", nil)
		assert.Contains(f.t, a.text, p.changes[i])
	}
	a := f.must(h, http.MethodGet, "/api/Plans/"+p.plan, "", "", nil)
	assert.Contains(f.t, a.text, `"state":"open"`, h.name)
	f.must(h, http.MethodGet, "/api/Jobs/"+p.job, "", "", nil)
}

// fulfill applies the plan at a gateway, waits until the job has ended at all gateways, and checks that each
// change was written once.
func (f *fleet) fulfill(h *host, p *past) {
	f.t.Helper()
	f.must(h, http.MethodPut, "/api/ADUser/shared01/Disable?PlanId="+p.plan, "", "fleet-key-plan", nil)
	for _, at := range f.hosts {
		type job struct {
			State string
			Done  int
		}
		ends := job{"done", p.items}
		require.EventuallyWithT(f.t, func(c *assert.CollectT) {
			var shown struct{ Result []job }
			a := f.call(at, http.MethodGet, "/api/Jobs/"+p.job, "", "")
			_ = json.Unmarshal([]byte(a.text), &shown) // a refusal has no such members
			assert.Equal(c, []job{ends}, shown.Result, "%s: %s", at.name, a.text)
		}, patience, 100*time.Millisecond)
	}
	var want, made []string
	for _, it := range p.keyed {
		want = append(want, it.write)
	}
	for i := range p.items {
		want = append(want, fmt.Sprintf("city item%03d", i))
	}
	for _, w := range f.writes.After(0, 1<<30) {
		if name, known := nameOf(w); known && strings.HasPrefix(name, "city ") && w.Writer != "" {
			if slices.Contains(want, name) {
				made = append(made, name)
			}
		}
	}
	assert.ElementsMatch(f.t, want, made)
}
