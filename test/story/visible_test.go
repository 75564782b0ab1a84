package story

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// credentials authenticates callers of all kinds. A test changes their rights while it uses them. Other
// callers are authenticated by the system's own authenticator.
type credentials struct {
	authn.Authenticator

	mu     sync.Mutex
	byName map[string]*identity.Principal
}

func (c *credentials) Authenticate(ctx context.Context, given authn.Credential) (*identity.Principal, error) {
	for _, value := range given.AuthToken {
		if found := c.named(strings.TrimPrefix(value, "Bearer ")); found != nil {
			return found, nil
		}
	}
	return c.Authenticator.Authenticate(ctx, given)
}

func (c *credentials) Now(id identity.ID) *identity.Principal { return c.named(id.ID) }

func (c *credentials) named(name string) *identity.Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

// set sets the rights of a credential. [identity.All] also grants the scopes that it does not imply.
func (c *credentials) set(kind string, limits identity.Limits, scopes ...identity.Scope) (name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = "keeper-" + kind
	if slices.Contains(scopes, identity.All) {
		scopes = slices.Concat(scopes, identity.Everything())
	}
	c.byName[name] = &identity.Principal{ID: name, Name: name, Kind: kind, Scopes: scopes, Limits: limits}
	return name
}

// visibleSystem returns a system with credentials of all kinds.
func visibleSystem(t *testing.T) (*systemtest.System, *credentials) {
	t.Helper()
	callers := &credentials{byName: map[string]*identity.Principal{}}
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	s := systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) {
		callers.Authenticator, o.Auth = o.Auth, callers
	}, fast)
	return s, callers
}

// kinds are the kinds of callers of the API and of the pages.
var kinds = []string{identity.KindToken, identity.KindUser, identity.KindCertificate, identity.KindPerson}

// elsewhere are limits that no sample touches.
var elsewhere = identity.Limits{
	OUs: []string{"OU=Nobody,DC=corp,DC=example"}, Zones: []string{"nobody.example"},
}

// otherGroups and otherNames are limits to groups and to names that no sample uses.
var (
	otherGroups = identity.Limits{Groups: []string{"Nobody's group"}}
	otherNames  = identity.Limits{Names: []string{"nobody.example"}}
)

// aboutGroup reports whether the sample of a row changes a group or its members.
func aboutGroup(op *ops.Operation) bool {
	primary := strings.HasSuffix(op.ID, ".primaryGroup") // changes only the account
	return op.ID == "bin.restore" || op.Scope == identity.GroupWrite || op.Scope == identity.GroupDelete ||
		op.Scope == identity.MemberWrite && !primary
}

// looking contains the scopes for viewing stored changes and jobs, but not the scopes for reading the objects
// themselves.
var looking = []identity.Scope{identity.ChangeRead, identity.ChangeUndo, identity.JobRead, identity.OpsRead}

// but returns all scopes except some.
func but(without ...identity.Scope) []identity.Scope {
	return slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool {
		return s == identity.All || slices.Contains(without, s)
	})
}

// demandsReading reports whether the sample of a row also needs the scope for reading.
func demandsReading(op *ops.Operation) bool {
	return slices.ContainsFunc(op.Params, func(p ops.Param) bool {
		return p.Scope == op.ReadScope() && op.Sample[p.Name] != nil
	})
}

// leftovers contains the items that the calls of a row have left in the store.
type leftovers struct {
	op           *ops.Operation
	plan, change string
	call         systemtest.Call // with its key
	answer       systemtest.Answer
}

// keep sends the sample of a row, as a dry run and with a key, with a credential that has all rights.
func keep(s *systemtest.System, callers *credentials, op *ops.Operation, kind string) leftovers {
	s.T.Helper()
	s.Prepare(op)
	name := callers.set(kind, identity.Limits{}, identity.All)
	c := systemtest.Sample(op).As(name)
	p, _ := dryRun(s, c)
	c.Headers = map[string]string{"Idempotency-Key": "visible:" + op.ID}
	a := s.Do(c)
	require.Less(s.T, a.Status, 300, "%s", a.Body)
	s.Undo(op)
	return leftovers{op, p.ID, a.Header.Get("X-Change-Id"), c, a}
}

// TestStoredDataIsShownByTheCurrentRights: for every change of every row, every kind of caller sees only what
// its current scopes and limits allow. A plain run tries one kind of caller for each change.
func TestStoredDataIsShownByTheCurrentRights(t *testing.T) {
	t.Parallel()
	s, callers := visibleSystem(t)
	count := map[string]int{}
	var all []leftovers
	for i, op := range opstest.Changes() {
		if !thorough.OneOf(3, op.ID) {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			of := keep(s, callers, op, kinds[i%len(kinds)])
			all = append(all, of)
			for _, c := range []struct {
				name   string
				limits identity.Limits
				scopes []identity.Scope
				seen   bool
			}{
				{"all scopes", identity.Limits{}, []identity.Scope{identity.All}, true},
				{"its own only", identity.Limits{}, append(slices.Clone(looking), op.ReadScope()), true},
				{"none for reading", identity.Limits{}, looking, false},
				{"all but its own", identity.Limits{}, but(op.ReadScope(), op.Scope), false},
				{"outside the limits", elsewhere, []identity.Scope{identity.All}, false},
				{"outside the groups", otherGroups, []identity.Scope{identity.All}, !aboutGroup(op)},
				{"outside the names", otherNames, []identity.Scope{identity.All}, op.Lane != ps.DNS},
			} {
				tried := thorough.Some(kinds, op.ID, c.name)
				for _, kind := range tried {
					other := "another-" + kind

					callers.mu.Lock()
					callers.byName[other] = &identity.Principal{
						ID: other, Name: other, Kind: kind, Scopes: c.scopes, Limits: c.limits,
					}
					callers.mu.Unlock()
					for what, get := range map[string]systemtest.Call{
						"change":  getChange(of.change, nil),
						"compare": getChange(of.change, map[string]any{"Compare": true}),
						"plan":    {Method: http.MethodGet, Path: "/api/Plans/" + of.plan},
					} {
						if what == "compare" && (kind != tried[0] || c.seen) {
							continue
						}
						count[what]++
						a := s.Do(get.As(other))
						want := http.StatusNotFound
						if c.seen {
							want = http.StatusOK
						}
						assert.Equal(t, want, a.Status, "%s of %s by %s, %s: %s", what, op.ID, kind, c.name, a.Body)
					}
				}
			}
			ownAnswers(s, callers, of, count)
		})
	}
	listed(s, callers, all, count)
	t.Log(count)
	if thorough.All() {
		assert.Greater(t, count["change"], 250*len(kinds))
	}
	assert.Greater(t, count["change"], 80)
}

// ownAnswers requests a caller's own leftovers after its rights were restricted.
func ownAnswers(s *systemtest.System, callers *credentials, of leftovers, count map[string]int) {
	s.T.Helper()
	kind := callers.named(of.call.Token).Kind
	start := s.Snapshot()
	hidden := func(a, plan systemtest.Answer) {
		assert.Contains(s.T, []int{http.StatusNotFound, http.StatusForbidden}, a.Status, "%s", a.Body)
		assert.Empty(s.T, a.Envelope.Result)
		assert.Equal(s.T, http.StatusNotFound, plan.Status, "%s", plan.Body)
	}
	unless := func(outside bool) func(a, plan systemtest.Answer) {
		if outside {
			return hidden
		}
		return func(a, plan systemtest.Answer) {
			assert.Equal(s.T, of.answer.Status, a.Status, "%s", a.Body)
			assert.Equal(s.T, http.StatusOK, plan.Status, "%s", plan.Body)
		}
	}
	for _, c := range []struct {
		name   string
		limits identity.Limits
		scopes []identity.Scope
		check  func(a, plan systemtest.Answer)
	}{
		{"not the reading scope", identity.Limits{}, but(of.op.ReadScope()), func(a, plan systemtest.Answer) {
			if demandsReading(of.op) {
				assert.Equal(s.T, http.StatusForbidden, a.Status, "%s", a.Body)
				return
			}
			assert.Equal(s.T, of.answer.Status, a.Status, "%s", a.Body)
			for _, record := range a.Envelope.Result {
				for field := range record {
					assert.True(s.T, schema.IsKey(field), field)
				}
			}
			assert.Contains(s.T, codesOf(a), "scope_missing")
			assert.Equal(s.T, http.StatusOK, plan.Status)
			assert.NotRegexp(s.T, `"before":[^n]`, string(plan.Body))
		}},
		{"outside the limits", elsewhere, []identity.Scope{identity.All}, hidden},
		{"outside the groups", otherGroups, []identity.Scope{identity.All}, unless(aboutGroup(of.op))},
		{"outside the names", otherNames, []identity.Scope{identity.All}, unless(of.op.Lane == ps.DNS)},
		{"not the scope of the row", identity.Limits{}, but(of.op.Scope, of.op.ReadScope()), func(a, plan systemtest.Answer) {
			assert.Equal(s.T, http.StatusForbidden, a.Status, "%s", a.Body)
			assert.Equal(s.T, http.StatusNotFound, plan.Status, "%s", plan.Body)
		}},
		{"as it was", identity.Limits{}, []identity.Scope{identity.All}, func(a, plan systemtest.Answer) {
			assert.Equal(s.T, of.answer.Status, a.Status)
			assert.Equal(s.T, of.answer.Envelope.Result, a.Envelope.Result)
			assert.Equal(s.T, http.StatusOK, plan.Status)
		}},
	} {
		callers.set(kind, c.limits, c.scopes...)
		count["key"]++
		plan := systemtest.Call{Method: http.MethodGet, Path: "/api/Plans/" + of.plan}
		c.check(s.Do(of.call), s.Do(plan.As(of.call.Token)))
	}
	assert.Empty(s.T, start.Compare(s.Snapshot()), "a key runs once")
}

func codesOf(a systemtest.Answer) (codes []string) {
	for _, w := range a.Envelope.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

// listed compares the changes that each caller may read with the list of changes, read as a whole and page by
// page, and with the answers of Wait and the stream.
func listed(s *systemtest.System, callers *credentials, all []leftovers, count map[string]int) {
	s.T.Helper()
	for _, scope := range []identity.Scope{
		identity.All, identity.UserRead, identity.DNSRead, identity.MemberRead, identity.OpsRead,
	} {
		for _, kind := range thorough.Some(kinds, string(scope)) {
			name := callers.set(kind, identity.Limits{}, identity.ChangeRead, scope)
			seen, pages := map[string]bool{}, 0
			for after := ""; pages == 0 || after != ""; pages++ {
				params := map[string]any{"Limit": 50}
				if after != "" {
					params["After"] = after
				}
				a := s.Do(listChanges(params).As(name))
				require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
				for _, c := range changesIn(s, a) {
					seen[c.ID] = true
					op := opstest.Find(c.Operation)
					assert.True(s.T, scope == identity.All || op.ReadScope() == scope, c.Operation)
				}
				var page struct{ Next string }
				require.NoError(s.T, json.Unmarshal(a.Body, &page))
				if after = page.Next; after != "" {
					assert.Len(s.T, a.Envelope.Result, 50, "no page is short of what is hidden")
				}
				count["page"]++
			}
			for _, of := range all {
				reads := scope == identity.All || of.op.ReadScope() == scope
				assert.Equal(s.T, reads, seen[of.change], "%s %s", of.op.ID, scope)
			}
			waited := s.Do(listChanges(map[string]any{"Wait": 0, "Since": "2020-01-01T00:00:00Z", "Limit": 1000}).As(
				name))
			require.Equal(s.T, http.StatusOK, waited.Status, "%s", waited.Body)
			assert.Len(s.T, waited.Envelope.Result, len(seen), "%s", scope)
		}
	}
}

// raw sends a request with a credential and returns the answer, which is not an envelope.
func raw(t *testing.T, s *systemtest.System, name, path string) systemtest.Answer {
	r := get(t, s, path)
	r.Header.Set("Auth-Token", "Bearer "+name)
	return s.Send(r)
}

// TestItemsAreShownByTheCurrentRights: the figures of a job need ops:read. An item needs the scope for
// reading its object and limits that include it or, for the job's owner, the right to make the change.
func TestItemsAreShownByTheCurrentRights(t *testing.T) {
	s, callers := visibleSystem(t)
	owner := callers.set(identity.KindToken, identity.Limits{}, identity.All)
	const outsider = "jmueller" // outside the limits below
	list := "Username;Description;MobilePhone;Manager\naschmidt;personal note 1;+49 1;" + outsider + "\n" +
		"nobody.there;personal note 2;+49 2;\n"
	id := submitted(s, submit(csvMedia, list, "Operation", "user.update", "Name", "Moves of Anna").As(owner))
	reached(s, id, "done")
	sales := identity.Limits{OUs: []string{"OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"}}
	const made, failed = "personal note 1", "personal note 2"
	for name, c := range map[string]struct {
		own    bool
		limits identity.Limits
		scopes []identity.Scope
		shown  []string
		named  bool // the name of the job is shown
	}{
		"its owner":                      {true, identity.Limits{}, []identity.Scope{identity.All}, []string{made, failed}, true},
		"its owner, writing only":        {true, identity.Limits{}, []identity.Scope{identity.UserWrite, identity.JobRead}, []string{made, failed}, true},
		"its owner, neither":             {true, identity.Limits{}, []identity.Scope{identity.JobRead}, nil, true},
		"its owner, limited since":       {true, elsewhere, []identity.Scope{identity.All}, nil, true},
		"its owner, limited around it":   {true, sales, []identity.Scope{identity.All}, []string{made}, true},
		"another one with all":           {false, identity.Limits{}, []identity.Scope{identity.All}, []string{made, failed}, true},
		"another one that reads":         {false, identity.Limits{}, []identity.Scope{identity.OpsRead, identity.JobRead, identity.UserRead}, []string{made, failed}, true},
		"figures only":                   {false, identity.Limits{}, []identity.Scope{identity.OpsRead, identity.JobRead}, nil, false},
		"another one that writes":        {false, identity.Limits{}, []identity.Scope{identity.OpsRead, identity.JobRead, identity.UserWrite}, nil, false},
		"another one limited around it":  {false, sales, []identity.Scope{identity.All}, []string{made}, false},
		"another one limited to nothing": {false, elsewhere, []identity.Scope{identity.All}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, reader := s.In(t), owner
			if callers.set(identity.KindToken, c.limits, c.scopes...); !c.own {
				callers.set(identity.KindToken, identity.Limits{}, identity.All)
				reader = callers.set(identity.KindUser, c.limits, c.scopes...)
			}
			path := "/api/Jobs/" + id
			job := s.Do(systemtest.Call{Method: http.MethodGet, Path: path}.As(reader))
			require.Equal(t, http.StatusOK, job.Status, "%s", job.Body)
			assert.Equal(t, []any{2.0, 1.0, 1.0},
				[]any{job.Envelope.Result[0]["total"], job.Envelope.Result[0]["done"], job.Envelope.Result[0]["failed"]})
			assert.Equal(t, c.named, job.Envelope.Result[0]["name"] != nil)
			listing := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs"}.As(reader))
			assert.Equal(t, c.named, strings.Contains(string(listing.Body), "Moves of Anna"))
			items := s.Do(systemtest.Call{Method: http.MethodGet, Path: path + "/Items"}.As(reader))
			require.Len(t, items.Envelope.Result, 2)
			shownItems := 0
			for _, item := range items.Envelope.Result {
				if item["changeId"] != nil || item["code"] != nil {
					shownItems++
					continue
				}
				assert.Contains(t, item["message"], "The item is not shown: ")
				assert.NotContains(t, fmt.Sprint(item), "nobody.there")
			}
			assert.Equal(t, len(c.shown), shownItems)
			for _, format := range []string{"csv", "ndjson"} {
				result := raw(t, s, reader, path+"/Result?Format="+format)
				for _, text := range []string{made, failed} {
					assert.Equal(t, slices.Contains(c.shown, text), strings.Contains(string(result.Body), text), "%s: %s",
						text, result.Body)
				}
				assert.Equal(t, len(c.shown) > 0 && (c.own || len(c.limits.OUs) == 0),
					strings.Contains(string(result.Body), outsider), "%s", result.Body)
				assert.Equal(t, 2-len(c.shown), strings.Count(string(result.Body), "The item is not shown: "), "%s",
					result.Body)
			}
			events := raw(t, s, reader, path+"/Stream?Items=failed")
			assert.Contains(t, string(events.Body), "event: end")
			assert.Equal(t, c.named, strings.Contains(string(events.Body), "Moves of Anna"))
		})
	}
}

// TestWritingDoesNotImplyReading: a caller that may change an object but not read it learns
// only which object was changed.
func TestWritingDoesNotImplyReading(t *testing.T) {
	s, callers := visibleSystem(t)
	for i, op := range opstest.Own() {
		if !op.Effect.Writes() || demandsReading(op) {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			name := callers.set(kinds[i%len(kinds)], identity.Limits{}, but(op.ReadScope())...)
			c := systemtest.Sample(op).As(name)
			p, preview := dryRun(s, c)
			assert.NotRegexp(t, `"before":[^n]`, string(preview.Body))
			assert.Contains(t, codesOf(preview), "scope_missing")
			a := s.Do(applying(c, p))
			require.Equal(t, systemtest.GoodStatus(op), a.Status, "%s", a.Body)
			assert.Contains(t, codesOf(a), "scope_missing")
			require.NotEmpty(t, a.Envelope.Result)
			for _, record := range a.Envelope.Result {
				assert.NotEmpty(t, record)
				for field := range record {
					assert.True(t, schema.IsKey(field) || field == "password", field)
				}
			}
			s.Undo(op)
		})
	}
	name := callers.set(identity.KindToken, identity.Limits{}, identity.UserWrite)
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Enable"}.As(name))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(t, a.Envelope.Output, "nothing was changed")
	assert.NotContains(t, string(a.Body), "department")
	undone := s.Do(undoChange("ch_019ab3f0-0000-7000-8000-000000000000", nil).As(name))
	assert.Equal(t, http.StatusForbidden, undone.Status)
}

// TestAnUndoWithoutTheRightToRead: an undo needs only the rights to write, and shows no values to a caller
// that may not read the object.
func TestAnUndoWithoutTheRightToRead(t *testing.T) {
	s, callers := visibleSystem(t)
	change := func(department string) string {
		a := s.Do(update("aschmidt", map[string]any{"Department": department}))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Header.Get("X-Change-Id")
	}
	first := change("Secret 1")
	writer := callers.set(identity.KindToken, identity.Limits{}, identity.ChangeUndo, identity.UserWrite)
	a := s.Do(undoChange(first, nil).As(writer))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.NotContains(t, string(a.Body), "Secret 1")
	assert.NotContains(t, string(a.Body), "Sales\"")
	drifted := change("Secret 2")
	change("Secret 3")
	a = s.Do(undoChange(drifted, nil).As(writer))
	require.Equal(t, http.StatusPreconditionFailed, a.Status, "%s", a.Body)
	assert.NotContains(t, string(a.Body), "Secret")
	assert.Contains(t, string(a.Body), `"department"`)
	for name, scopes := range map[string][]identity.Scope{
		"neither": {identity.ChangeUndo}, "another resource": {identity.ChangeUndo, identity.DNSWrite, identity.DNSRead},
	} {
		other := callers.set(identity.KindUser, identity.Limits{}, scopes...)
		a = s.Do(undoChange(drifted, nil).As(other))
		assert.Equal(t, http.StatusNotFound, a.Status, "%s: %s", name, a.Body)
	}
}

// TestFiltersTellWhatMayBeRead: a filter on memberships needs the scope for reading memberships, and a
// manager outside the limits counts as no manager.
func TestFiltersTellWhatMayBeRead(t *testing.T) {
	s, callers := visibleSystem(t)
	for path, filters := range map[string][]string{
		"/api/ADUser/ListUsers/All": {`memberOf eq "Domain Admins"`, `not (memberOf pr)`, `memberOfNested eq "VPN Users"`, `noGroups eq true`},
		"/api/ADGroups/All":         {`memberOf pr`, `empty eq true`},
		"/api/Computers/All":        {`enabled eq true and (memberOf pr or description pr)`},
	} {
		for _, filter := range filters {
			c := systemtest.Call{Method: http.MethodGet, Path: path, Params: map[string]any{"Filter": filter}}
			name := callers.set(identity.KindToken, identity.Limits{}, but(identity.MemberRead)...)
			a := s.Do(c.As(name))
			assert.Equal(t, http.StatusForbidden, a.Status, "%s: %s", filter, a.Body)
			assert.Contains(t, string(a.Body), "member:read")
			name = callers.set(identity.KindToken, identity.Limits{}, identity.UserRead, identity.GroupRead,
				identity.ComputerRead, identity.MemberRead)
			assert.Equal(t, http.StatusOK, s.Do(c.As(name)).Status, filter)
		}
	}
	const sales = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	name := callers.set(identity.KindToken, identity.Limits{OUs: []string{sales}}, identity.All)
	users := func(filter string) (shown map[string]bool) {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/ListUsers/All", Params: map[string]any{
			"Filter": filter, "ShowFields": "username,manager", "Count": true,
		}}.As(name))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		shown = map[string]bool{}
		for _, record := range a.Envelope.Result {
			shown[record["username"].(string)] = record["manager"] != nil
		}
		return shown
	}
	has, lacks, all := users("manager pr"), users("not (manager pr)"), users(`username pr`)
	assert.Len(t, all, len(has)+len(lacks))
	assert.NotEmpty(t, has)
	assert.NotEmpty(t, lacks)
	for user, visible := range all {
		assert.Equal(t, visible, has[user], user)
	}
}
