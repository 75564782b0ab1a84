package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	tree "text/template/parse"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/readiness"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// given contains the records that the API of a test returns, by operation. It refuses all other operations.
type given map[string][]map[string]any

func (g given) Call(_ context.Context, operation string, _ call.Call) (call.Answer, error) {
	records, known := g[operation]
	if !known {
		return call.Answer{}, problem.New(schema.NotFound, "There is none.")
	}
	var all [][]byte
	for _, record := range records {
		one, err := json.Marshal(record)
		if err != nil {
			return call.Answer{}, err
		}
		all = append(all, one)
	}
	return call.Answer{Records: bytes.Join(all, []byte(","))}, nil
}

func (given) Readiness(context.Context, *identity.Principal) ([]readiness.Check, bool) {
	return nil, true
}
func (given) Proved(*http.Request) {}

// refusing is an API that refuses all calls.
type refusing struct{ given }

func (refusing) Call(context.Context, string, call.Call) (call.Answer, error) {
	return call.Answer{}, problem.New(schema.Forbidden, "Refused.")
}

// somewhere returns the same address for all clients of a test.
func somewhere(*http.Request) netip.Addr { return netip.Addr{} }

// shownAt returns the page that a person with all rights sees.
func shownAt(t *testing.T, api frame.API, address string, show func(*frame.Visit)) string {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, address, nil)
	if _, guid, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, say.Base), "/"); guid != "" {
		for _, name := range []string{"guid", "id", "zone", "path"} {
			r.SetPathValue(name, guid)
		}
	}
	gate := signin.NewGate(signin.Options{Record: func(signin.Event) {}})
	show(&frame.Visit{
		Pages: New(frame.Options{API: api, Gate: gate, Client: somewhere}), W: w, R: r,
		Session: &signin.Session{Name: "somebody", Kind: identity.KindPerson}, Principals: []*identity.Principal{{Scopes: []identity.Scope{identity.All}}},
	})
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	return w.Body.String()
}

// says contains the expected color and text for each value of a flag.
var says = map[string]map[any]string{
	"enabled":                 {true: "ok Enabled", false: "bad Disabled", nil: ""},
	"locked":                  {true: "bad Locked out", false: "", nil: ""},
	"lockedOut":               {true: "bad Locked out", false: "", nil: ""},
	"changePasswordNextLogon": {true: "warn Must be changed at the next logon", false: "", nil: ""},
	"primary":                 {true: "primary group", false: "", nil: ""},

	"state":    {"active": "ok Active"},
	"type":     {"Security": "Security", "Distribution": "Mail list", "user": "Person", "group": "Group", "computer": "Computer", "ou": "Organizational unit"},
	"scope":    {"Domain_Local": "domain local", "Global": "global", "Universal": "universal"},
	"lookup":   {"Forward": "Names to addresses", "Reverse": "Addresses to names"},
	"zoneType": {"Primary": "Primary", "Secondary": "Secondary", "Stub": "Stub", "Forwarder": "Forwarder"},
	"dynamicUpdate": {"None": "None", "Secure": "Secure only", "NonsecureAndSecure": "warn Nonsecure and " +
		"secure"},
	"paused":     {true: "bad Paused"},
	"readOnly":   {true: "Read-only"},
	"signed":     {true: "ok Signed"},
	"restorable": {true: "ok Can be restored", false: "bad Cannot be restored"},
	"outcome":    {"done": "ok Done", "partial": "warn Partly done", "unknown": "warn Unknown"},
	"protected":  {true: "Yes", false: "No"},
}

// expected returns the expected words for fields of a record.
func expected(r map[string]any, fields ...string) []string {
	all := []string{}
	for _, field := range fields {
		if text := says[field][r[field]]; text != "" {
			all = append(all, text)
		}
	}
	return all
}

var badge = regexp.MustCompile(`<span class="st (ok|warn|bad)">([^<]*)</span>`)

// badges returns the badges in a part of a page.
func badges(text string) []string {
	all := []string{}
	for _, m := range badge.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+" "+html.UnescapeString(m[2]))
	}
	return all
}

// between returns the part of a page between two texts.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, from)
	require.True(t, found, "no %q in %s", from, page)
	part, _, found := strings.Cut(rest, to)
	require.True(t, found, "no %q after %q", to, from)
	return part
}

const absent = "absent" // the record does not have the field

// everyValue calls check with records that have every combination of true, false, null and absent fields.
func everyValue(fields []string, check func(map[string]any)) {
	values := []any{true, false, nil, absent}
	count := 1
	for range fields {
		count *= len(values)
	}
	for i := range count {
		r := map[string]any{}
		for n, rest := 0, i; n < len(fields); n, rest = n+1, rest/len(values) {
			if value := values[rest%len(values)]; value != absent {
				r[fields[n]] = value
			}
		}
		check(r)
	}
}

func TestWordsOfMembers(t *testing.T) {
	for _, kind := range schema.MemberTypes {
		everyValue([]string{"enabled"}, func(r map[string]any) {
			r["type"], r["guid"], r["name"] = kind, "m", "Somebody"
			api := given{"group.get": {{"guid": "g", "name": "Group"}}, "group.members": {r}, "change.list": nil}
			page := shownAt(t, api, "/ui/groups/g", func(c *frame.Visit) { showObject(c, frame.KindOf("group")) })
			cell := between(t, page, `<td class="state">`, "</td>")
			assert.Equal(t, expected(r, "enabled"), badges(cell), "%v", r)
			assert.Equal(t, r["enabled"] == nil, cell == "–", "%v", r)
		})
	}
}

// TestRowsThatCannotBeRemoved: a member by primary group cannot be removed on the page of that group.
func TestRowsThatCannotBeRemoved(t *testing.T) {
	everyValue([]string{"primary"}, func(r map[string]any) {
		r["type"], r["guid"], r["name"] = "user", "m", "Somebody"
		api := given{"group.get": {{"guid": "g", "name": "Group"}}, "group.members": {r}, "change.list": nil}
		page := shownAt(t, api, "/ui/groups/g", func(c *frame.Visit) { showObject(c, frame.KindOf("group")) })
		assert.Equal(t, r["primary"] != true, strings.Contains(page, `aria-label="Remove Somebody from Group"`), "%v", r)

		r["type"] = "Security"
		page = shownAt(t, person(nil, nil, r), "/ui/people/g", showKind("user"))
		assert.Equal(t, r["primary"] != true, strings.Contains(page, `aria-label="Remove Lea Weber from Somebody"`), "%v", r)
		assert.Equal(t, r["primary"] == true, strings.Contains(page, "Security, primary group"), "%v", r)
	})
}

// person returns an API with one person.
func person(record, logon map[string]any, groups ...map[string]any) given {
	whole := map[string]any{"guid": "g", "name": "Lea Weber", "username": "lweber"}
	for name, value := range record {
		whole[name] = value
	}
	api := given{"user.get": {whole}, "membership.list": groups, "change.list": nil}
	if logon != nil {
		api["user.logonState"] = []map[string]any{logon}
	}
	return api
}

func TestWordsOfPeopleAndComputers(t *testing.T) {
	everyValue([]string{"enabled", "lockedOut", "changePasswordNextLogon"}, func(r map[string]any) {
		page := shownAt(t, person(r, nil), "/ui/people/g", showKind("user"))
		assert.Equal(t, append(expected(r, "enabled", "lockedOut", "changePasswordNextLogon"), "warn "+
			"unknown"), // nothing is known about the logon
			badges(between(t, page, `<h2 id="card-account">`, "</dl>")), "%v", r)
		offered := []string{}
		for _, id := range []string{"unlock", "enable", "disable"} {
			if strings.Contains(page, `action="/ui/do/user.`+id+`"`) {
				offered = append(offered, id)
			}
		}
		fitting := []string{}
		if r["lockedOut"] == true {
			fitting = append(fitting, "unlock")
		}
		switch r["enabled"] {
		case true:
			fitting = append(fitting, "disable")
		case false:
			fitting = append(fitting, "enable")
		}
		assert.Equal(t, fitting, offered, "%v", r)
	})
	everyValue([]string{"enabled"}, func(r map[string]any) {
		r["guid"], r["computerName"] = "g", "PC"
		page := shownAt(t, given{"computer.get": {r}, "change.list": nil}, "/ui/computers/g", showKind("computer"))
		assert.Equal(t, expected(r, "enabled"), badges(between(t, page, `<h2 id="card-about">`, "</dl>")), "%v", r)
	})
}

// TestEveryFlagHasAnExpectation: every badge in the product's tables is in the tables of this test, so that
// every new badge is tested.
func TestEveryFlagHasAnExpectation(t *testing.T) {
	table, err := os.ReadFile("texts/words.txt")
	require.NoError(t, err)
	word := regexp.MustCompile(`(?m)^word\.(\w+)\.(\w+) \|`)
	for _, m := range word.FindAllStringSubmatch(string(table), -1) {
		field, value := m[1], any(m[2])
		if flag, err := strconv.ParseBool(m[2]); err == nil {
			value = flag
		}
		require.Contains(t, says, field)
		w := say.WordOf(field, value)
		said := strings.TrimSpace(string(w.Color) + " " + w.Text.In(texts.English))
		assert.Equal(t, says[field][value], said, "%s %v", field, value)
	}
}

func TestLogonHasThreeStates(t *testing.T) {
	const cannot, change = "bad Cannot log on", "warn Can log on only after changing the password – not over VPN, mail or Wi-Fi"
	for _, c := range []struct {
		can   bool
		codes string
		says  string
		reset bool // the action is offered next to it
	}{
		{true, "ok", "ok Can log on", false},
		{true, "", "ok Can log on", false},
		{true, "password_expired", change, true},
		{true, "must_change", change, true},
		{true, "unknown must_change", change, true},
		{true, "password_expired workstations", change, true},
		{true, "smartcard_required", "warn Can log on only with a smart card", false},
		{true, "workstations", "warn Can log on only at some computers", false},
		{true, "unknown", "warn Can log on, as far as can be read", false},
		{true, "new", "warn Can log on, with a restriction", false},
		{false, "disabled", cannot, false},
		{false, "locked must_change", cannot, false},
		{false, "expired", cannot, false},
		{false, "hours", "bad Cannot log on at this hour", false},
		{false, "new", cannot, false}, {false, "must_change", cannot, false}, {false, "", cannot, false},
	} {
		verdicts := []any{}
		for _, code := range strings.Fields(c.codes) {
			verdicts = append(verdicts, map[string]any{"code": code, "text": "because of " + code, "since": nil, "until": nil})
		}
		api := person(map[string]any{"enabled": true}, map[string]any{"canLogOn": c.can, "verdicts": verdicts})
		page := shownAt(t, api, "/ui/people/g", showKind("user"))
		part := between(t, page, `<section class="box verdict `, "</section>")
		m := regexp.MustCompile(`^(\w+)" aria.*<h2 id="v">([^<]*)</h2>`).FindStringSubmatch(part)
		require.Len(t, m, 3, part)
		assert.Equal(t, c.says, m[1]+" "+html.UnescapeString(m[2]), c.codes)
		assert.Equal(t, c.reset, strings.Contains(part, `action="/ui/do/user.resetPassword"`), c.codes)
		for _, code := range strings.Fields(c.codes) {
			assert.Contains(t, part, "because of "+code)
		}
	}
}

// factsIn returns the facts of a page, without relative times.
func factsIn(page string) map[string]string {
	all, tags := map[string]string{}, regexp.MustCompile(`<[^>]*>`)
	for _, m := range regexp.MustCompile(`<dt>([^<]*)</dt><dd>(.*?)</dd>`).FindAllStringSubmatch(page, -1) {
		all[m[1]] = strings.TrimSpace(html.UnescapeString(tags.ReplaceAllString(m[2], "")))
	}
	return all
}

func TestTimesThatAreNull(t *testing.T) {
	logon := func(code string, expires any) map[string]any {
		return map[string]any{"canLogOn": true, "verdicts": []any{map[string]any{"code": code, "text": "x"}}, "passwordExpires": expires}
	}
	for name, c := range map[string]struct {
		record, logon map[string]any
		set, expires  string
	}{
		"must change": {map[string]any{"changePasswordNextLogon": true}, logon("must_change", nil), "Must " +
			"be changed at the next logon", "immediately"},
		"no time":         {map[string]any{"changePasswordNextLogon": false}, logon("ok", nil), "unknown", "never"},
		"unreadable":      {nil, logon("unknown", nil), "unknown", "unknown"},
		"no logon at all": {nil, nil, "unknown", "unknown"},
	} {
		page := shownAt(t, person(c.record, c.logon), "/ui/people/g", showKind("user"))
		facts := factsIn(page)
		assert.Equal(t, []string{c.set, c.expires}, []string{facts["Password set"], facts["Password expires"]}, name)
		assert.Equal(t, "never", facts["Account expires"], name)
		assert.NotContains(t, facts, "Created", "%s: it is unknown, and was not never", name)
	}
}

func TestPolicyThatCannotBeRead(t *testing.T) {
	policy := func(values map[string]any) map[string]string {
		api := person(nil, nil)
		values["name"] = "Policy"
		api["user.passwordPolicy"] = []map[string]any{values}
		return factsIn(between(t, shownAt(t, api, "/ui/people/g", showKind("user")), "Password policy: Policy", "</details>"))
	}
	assert.Equal(t, map[string]string{"Length": "unknown", "Cannot be reused": "unknown", "Locks " +
		"out": "unknown"},
		policy(map[string]any{"minLength": nil, "complexity": nil, "historyCount": nil, "lockoutThreshold": nil}))
	assert.Equal(t, map[string]string{"Length": "at least 8, a mix of letters, digits and symbols", "Cannot " +
		"be reused": "the last 24", "Locks out": "after 5 wrong passwords within 30 minutes"},
		policy(map[string]any{"minLength": 8, "complexity": true, "historyCount": 24, "lockoutThreshold": 5, "lockoutWindow": 30}))
	assert.Equal(t, map[string]string{"Length": "at least 0", "Cannot be reused": "the last 0", "Locks " +
		"out": "never"},
		policy(map[string]any{"minLength": 0, "complexity": false, "historyCount": 0, "lockoutThreshold": 0}))
}

func TestReadinessHasAWordForEachState(t *testing.T) {
	for _, c := range []struct {
		ok, degraded bool
		says         say.Word
	}{
		{true, false, say.Word{Text: texts.Of("word.readiness.ok.true"), Color: say.Good}}, {true, true, say.Word{Text: texts.Of("word.readiness.degraded.true"), Color: say.Warn}}, {false, false, say.Word{Text: texts.Of("word.readiness.ok.false"), Color: say.Bad}}, {false, true, say.Word{Text: texts.Of("word.readiness.ok.false"), Color: say.Bad}},
	} {
		assert.Equal(t, c.says, rowOf(readiness.Check{OK: c.ok, Degraded: c.degraded}).Word)
	}
}

// TestNothingIsEmptyBesideAnAlert: a page never shows an alert together with a message that there is nothing,
// because data that could not be read is not known to be empty.
func TestNothingIsEmptyBesideAnAlert(t *testing.T) {
	for name, show := range map[string]func(*frame.Visit){
		"changes": func(c *frame.Visit) { table.ShowListing(c, listingAt("changes")) }, "jobs": func(c *frame.Visit) { table.ShowListing(c, listingAt("jobs")) },
		"search": searchAll, "audit": showAudit, "people": func(c *frame.Visit) { table.ShowListing(c, listingAt("people")) },
	} {
		for _, refused := range []bool{false, true} {
			w := httptest.NewRecorder()
			address := "/ui/x?q=some"
			if refused {
				address += "&day=none"
			}
			api := frame.API(given{"change.list": nil, "job.list": nil, "search.find": nil, "user.listAll": nil, "user.get": nil, "group.get": nil, "computer.get": nil})
			if refused {
				api = refusing{}
			}
			pages := New(frame.Options{API: api, Client: somewhere, Gate: signin.NewGate(signin.Options{Record: func(signin.Event) {}}),
				Log: func(frame.LogFilter) ([]frame.LogLine, error) { return nil, nil }})
			show(&frame.Visit{Pages: pages, W: w, R: httptest.NewRequest(http.MethodGet, address, nil),
				Session: &signin.Session{Name: "somebody"}, Principals: []*identity.Principal{{Scopes: []identity.Scope{identity.All}}}})
			assert.Equal(t, refused, strings.Contains(w.Body.String(), `role="alert"`), name)
			assert.Equal(t, !refused, strings.Contains(w.Body.String(), `class="card void"`), name)
		}
	}
}

func TestTheMenuHasWhatOneMayUse(t *testing.T) {
	titles := func(scopes ...identity.Scope) (all []string) {
		c := &frame.Visit{Pages: &frame.Pages{
			Options: frame.Options{Log: func(frame.LogFilter) ([]frame.LogLine, error) { return nil, nil }},
			Console: frame.Console{Menu: menu},
		}}
		if len(scopes) > 0 {
			c.Principals = []*identity.Principal{{Scopes: scopes}}
		}
		for _, section := range frame.Nav(c, "status") {
			for _, tab := range section.Tabs {
				all = append(all, tab.Title.In(texts.English))
			}
		}
		return all
	}
	assert.Equal(t, []string{"Status", "Audit", "What I may do"}, titles())
	assert.Equal(t, []string{"Home", "People", "Status", "Audit", "What I may do"}, titles(identity.UserRead))
	assert.Equal(t, []string{"Home", "Groups", "Changes", "Status", "Audit", "What I may " +
		"do"}, titles(identity.GroupRead, identity.ChangeRead))
	assert.Equal(t, []string{
		"Home", "People", "Groups", "Computers", "Organizational units", "Recycle Bin", "Zones and records", "Lists", "Changes",
		"Status", "Audit", "What I may do",
	}, titles(identity.All))
}

func TestProgressOfJobs(t *testing.T) {
	for name, c := range map[string]struct {
		job  work.Job
		said string
		max  int
		made int
	}{
		"rejected":           {work.Job{State: "rejected", Mode: "run", Percent: 100}, "Nothing was run", 0, 0},
		"checked":            {work.Job{State: "ready", Mode: "dryRun", Total: 2, Done: 1, Failed: 1, Percent: 100}, "2 of 2 items checked, none changed", 2, 0},
		"being checked":      {work.Job{State: "running", Mode: "dryRun", Total: 4, Waiting: 3, Done: 1, Percent: 25}, "1 of 4 items checked, none changed", 4, 0},
		"validated":          {work.Job{State: "ready", Mode: "validate", Total: 2, Waiting: 2}, "0 of 2 items done", 2, 0},
		"running":            {work.Job{State: "running", Mode: "run", Total: 4, Waiting: 1, Running: 1, Done: 2, Percent: 50}, "2 of 4 items, 50 %", 4, 2},
		"done":               {work.Job{State: "done", Mode: "run", Total: 2, Done: 1, Failed: 1, Percent: 100}, "2 of 2 items, 100 %", 2, 2},
		"of a newer gateway": {work.Job{State: "done", Mode: "new", Total: 1, Done: 1, Percent: 100}, "1 of 1 items, 100 %", 1, 1},
	} {
		p := c.job.Progress()
		assert.Equal(t, c.said, p.Text.In(texts.English), name)
		assert.Equal(t, []int{c.max, c.made}, []int{p.Max, p.Made}, name)
	}
}

// ofThePage contains conditions of templates that concern the page rather than a record.
var ofThePage = []string{
	`not .Known`, `not .Keys`, `not $page.Body.Counts`, `or $o.Buttons $o.Forms $o.Danger $o.Denied`,
}

// TestTemplatesDecideNothing: templates only check whether there is something to show. The tables decide what
// is shown for a record.
func TestTemplatesDecideNothing(t *testing.T) {
	var walk func(name string, node tree.Node)
	walk = func(name string, node tree.Node) {
		if node == nil || reflect.ValueOf(node).IsNil() {
			return
		}
		branch := func(b *tree.BranchNode, condition bool) {
			text := b.Pipe.String()
			first := strings.Fields(text)[0]
			if condition && !strings.ContainsAny(first[:1], ".$") && !slices.Contains(ofThePage, text) {
				t.Errorf("%s decides: if %s", name, text)
			}
			walk(name, b.List)
			walk(name, b.ElseList)
		}
		switch n := node.(type) {
		case *tree.ListNode:
			for _, one := range n.Nodes {
				walk(name, one)
			}
		case *tree.IfNode:
			branch(&n.BranchNode, true)
		case *tree.WithNode:
			branch(&n.BranchNode, false)
		case *tree.RangeNode:
			branch(&n.BranchNode, false)
		}
	}
	for page, parsed := range frame.Templates()[texts.English] {
		for _, one := range parsed.Templates() {
			if one.Tree != nil {
				walk(page+" "+one.Name(), one.Tree.Root)
			}
		}
	}
}

// TestPagesHaveNoOptionalValues: templates get no pointers to values, which would be true regardless of the
// value, and no records, which they could interpret.
func TestPagesHaveNoOptionalValues(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(path string, kind reflect.Type)
	walk = func(path string, kind reflect.Type) {
		if seen[kind] {
			return
		}
		seen[kind] = true
		switch kind.Kind() {
		case reflect.Pointer:
			if kind.Elem().Kind() != reflect.Struct {
				t.Errorf("%s is a %s", path, kind)
			}
			walk(path, kind.Elem())
		case reflect.Slice, reflect.Array:
			walk(path, kind.Elem())
		case reflect.Map:
			if kind != reflect.TypeFor[url.Values]() {
				t.Errorf("%s is a %s", path, kind)
			}
		case reflect.Struct:
			for field := range fieldsOf(kind) {
				walk(path+"."+field.Name, field.Type)
			}
		}
	}
	for _, body := range []any{
		frame.Page{}, searchPage{}, table.ListPage{}, homePage{}, treePage{}, zonePage{}, changePage{}, rightsPage{}, object{},
		thingPage{}, comparePage{}, work.RevealPage{}, work.StepPage{}, work.FormPage{}, work.JobPage{}, work.SheetPage{}, madeRow{}, statusPage{}, auditPage{}, frame.SignInPage{},
	} {
		walk(fmt.Sprintf("%T", body), reflect.TypeOf(body))
	}
}

// fieldsOf yields the fields that templates can access.
func fieldsOf(kind reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range kind.NumField() {
			if field := kind.Field(i); (field.IsExported() || field.Anonymous) && !yield(field) {
				return
			}
		}
	}
}

// TestTheOperationsOfThePagesExist: all operations of the pages exist and have the parameters that the pages
// use.
func TestTheOperationsOfThePagesExist(t *testing.T) {
	known := map[string]*ops.Operation{}
	for _, op := range ops.Table() {
		known[op.ID] = op
	}
	check := func(operation string, parameters ...string) {
		op := known[operation]
		require.NotNil(t, op, operation)
		for _, name := range parameters {
			p := op.Param(name)
			require.NotNil(t, p, "%s %s", operation, name)
			assert.Equal(t, name, p.Name, operation)
		}
	}
	for _, k := range frame.Kinds {
		check(k.Reader, k.Object)
		for i := range actions[k.HitType] {
			a := actions[k.HitType][i]
			names := append(slices.Collect(maps.Keys(a.values)), append(a.asks, a.target, "DryRun", "PlanId")...)
			if a.Inline {
				names = append(names, a.input)
			}
			check(a.operation, names...)
		}
	}
	for _, control := range work.JobControls {
		check(control.Operation, work.JobID)
	}
	check("job.list", "Limit", "After")
	check("job.get", work.JobID)
	check("job.items", work.JobID, "State", "Limit")
	for i := range listings {
		l := &listings[i]
		check(l.Operation, slices.Collect(maps.Keys(l.Fixed))...)
		if l.Pages {
			check(l.Operation, "Limit", "After")
		}
		if l.Searches {
			check(l.Operation, "Text", "Filter", "Count")
		}
		for _, m := range l.Many {
			check(m.Operation, l.Object)
			if m.Asks != "" {
				check(m.Operation, m.Asks)
			}
		}
	}
	check("change.list", "Since")
	check("change.get", "ChangeId", "Compare")
	check("record.listZone", "ZoneName")
	for _, operation := range []string{"user.list", "group.list", "ou.get"} {
		check(operation, "OUPath")
	}
	check("search.find", "Text", "Type", "Limit")
	check("change.list", "Object", "Caller", "Limit", "After")
	check("group.members", frame.KindOf("group").Object, "Limit", "After")
	for _, operation := range []string{"user.logonState", "user.passwordPolicy", "membership.list"} {
		check(operation, frame.KindOf("user").Object)
	}
}
