package ui

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
	"adgateway/gateway/visible"
)

// odd contains characters that are special in addresses, in HTML and on the screen.
const odd = "a/../b?c=d#e%2F\"'<b>&;\u202ex\u200by\x1b\u00a0 שלום ü"

// oddRecord returns a record whose texts are all odd.
func oddRecord(fields map[string]any) map[string]any {
	for _, name := range []string{
		"guid", "id", "name", "username", "displayName", "emailAddress", "description", "type", "caller", "operation",
		"distinguishedName", "office", "company", "computerName", "operatingSystem", "why", "code", "message", "state", "created",
		"outcome", "manager", "managedBy", "reason", "jobTitle", "department", "dnsHostName", "callerKind",
		"groupName", "time", "matched",
	} {
		if _, has := fields[name]; !has {
			fields[name] = odd
		}
	}
	fields["objects"] = []any{map[string]any{"distinguishedName": odd, "guid": odd}}
	for _, name := range []string{"manager", "managedBy"} {
		fields[name] = "CN=" + odd + ",DC=corp,DC=example"
	}
	return fields
}

// oddActions adds the pages of a kind's actions.
func oddActions(t *testing.T, k *frame.Kind, api given, pages map[string]string) {
	t.Helper()
	for i := range actions[k.HitType] {
		s := &work.Step{
			ID: odd, Form: form.Of(actions[k.HitType][i].operation),
			StepState: work.StepState{Says: form.Words{odd, odd}, Back: k.At(odd)},
		}
		s.Typed = url.Values{"back": {odd}}
		text, err := json.Marshal(odd)
		require.NoError(t, err)
		changes := []say.PlannedChange{
			{Field: odd, Before: text, After: text},
			{Field: odd, Kind: say.MemberChange, Before: text, After: text},
		}
		s.Plan = &say.Plan{Server: odd, Undo: odd, Checks: []say.PlanCheck{{Name: odd, State: odd, Message: odd}}}
		s.Plan.Objects = []say.Planned{{GUID: odd, DistinguishedName: odd, Changes: changes}}
		s.Warned = []frame.Warning{{Message: odd}}
		name := k.Path + " " + actions[k.HitType][i].ID
		pages["preview of "+name] = shownAt(t, api, say.Base, func(c *frame.Visit) {
			work.ShowStep(c, http.StatusOK, s, &frame.Alert{Text: texts.Raw(odd)}, "")
		})
		done := *s
		done.Result = &frame.Answer{Status: http.StatusOK, Output: odd, Warnings: s.Warned}
		pages["result of "+name] = shownAt(t, api, say.Base, func(c *frame.Visit) {
			work.ShowStep(c, http.StatusOK, &done, nil, odd)
		})
		pages["form of "+name] = shownAt(t, api, say.Base, func(c *frame.Visit) {
			typed := url.Values{"back": {odd}}
			for i := range s.Form.Fields {
				typed.Set(s.Form.Fields[i].Name, odd)
			}
			work.ShowForm(c, s.Form, work.Draft{Typed: typed})
		})
	}
}

// oddPages returns all pages with odd texts, by name.
func oddPages(t *testing.T) map[string]string {
	t.Helper()
	api := given{
		"search.find": nil, "change.list": {oddRecord(map[string]any{})},
		"job.items": {oddRecord(map[string]any{"line": 1})},
	}
	for _, k := range frame.Kinds {
		api[k.Reader] = []map[string]any{oddRecord(map[string]any{})}
		api["search.find"] = append(api["search.find"], oddRecord(map[string]any{"type": k.HitType}))
	}
	member := oddRecord(map[string]any{"type": "user"})
	api["group.members"] = []map[string]any{member, oddRecord(map[string]any{})}
	api["membership.list"] = []map[string]any{oddRecord(map[string]any{"type": "Security"})}
	problems := []any{map[string]any{"field": odd, "message": odd, "id": odd}}
	job := oddRecord(map[string]any{"state": "ready", "callerId": odd, "problems": problems})
	api["job.list"], api["job.get"] = []map[string]any{job}, []map[string]any{job}

	for i := range listings {
		api[listings[i].Operation] = []map[string]any{
			oddRecord(map[string]any{"id": odd, "zoneName": odd, "changes": nil}),
		}
	}
	api["ou.list"] = []map[string]any{oddRecord(map[string]any{"path": "OU=" + odd + ",DC=corp,DC=example"})}
	api["change.get"] = api["change.list"]
	api["record.listZone"] = []map[string]any{oddRecord(map[string]any{})}
	api["user.list"], api["group.list"] = nil, nil

	pages := map[string]string{}
	query := "?q=" + url.QueryEscape(odd) + "&after=" + url.QueryEscape(odd)
	for i := range listings {
		l := &listings[i]
		shown := func(c *frame.Visit) { table.ShowListing(c, l) }
		all := query + "&f=" + url.QueryEscape("office eq "+table.Quoted(odd)) + "&back=" + url.QueryEscape(odd)
		if !l.Searches && !l.Pages {
			all = "" // rows without the text are omitted
		}
		pages["list of "+l.Path] = shownAt(t, api, say.Address(l.Path)+all, shown)
		pages["nothing in "+l.Path] = shownAt(t, given{l.Operation: nil}, say.Address(l.Path)+query, shown)
	}
	pages["search"] = shownAt(t, api, "/ui/search"+query, searchAll)
	pages["home"] = shownAt(t, api, say.Base, home)
	pages["tree"] = shownAt(t, api, say.Address("ous"), showTree)
	pages["unit"] = shownAt(t, api, say.Address("ous", odd), showOU)
	for _, path := range partsOfOU {
		of := inOU(path, odd)
		some := given{of.Operation: {oddRecord(map[string]any{})}}
		pages[path+" in a unit"] = shownAt(t, some, of.Address(), func(c *frame.Visit) { table.ShowListing(c, of) })
	}
	records := recordsOf(odd)
	pages["records"] = shownAt(t, api, records.Address(), func(c *frame.Visit) { table.ShowListing(c, records) })
	pages["zone"] = shownAt(t, api, say.Address("zones", odd), showZone)
	pages["change"] = shownAt(t, api, say.Address("changes", odd), showChange)
	for _, k := range frame.Kinds {
		if sections[k.HitType] == nil {
			continue
		}
		shown := func(c *frame.Visit) { showObject(c, k) }
		pages["a page of "+k.Path] = shownAt(t, api, k.At(odd)+query, shown)
		oddActions(t, k, api, pages)
	}
	pages["a job"] = shownAt(t, api, say.Address("jobs", odd), func(c *frame.Visit) { work.ShowJob(c, nil) })
	log := "/ui/audit?view=calls&who=" + url.QueryEscape(odd) + "&target=" + url.QueryEscape(odd)
	pages["audit"] = shownAt(t, api, log, func(c *frame.Visit) {
		c.Log = func(frame.LogFilter) ([]frame.LogLine, error) {
			line := frame.LogLine{Time: odd, From: odd, Operation: odd, Outcome: odd, Code: odd, Who: odd, Kind: odd}
			line.Targets, line.Given = []string{odd}, []string{odd}
			return []frame.LogLine{line}, nil
		}
		showAudit(c)
	})
	both := frame.Page{Title: texts.Raw(odd), Body: odd}
	pages["a link"] = shownAt(
		t, api, say.Base, func(c *frame.Visit) { c.Write(c.W, c.R, http.StatusOK, "link", both) },
	)
	pages["a message"] = shownAt(
		t, api, say.Base, func(c *frame.Visit) { c.Page(http.StatusOK, "message", both) },
	)
	return pages
}

// queryNames contains the names of query parameters in addresses of pages.
var queryNames = []string{
	"q", "after", "f", "sort", "format", "from", "view", "back", "counts", "ChangeId", "object", "day", "who", "target",
}

var (
	addresses = regexp.MustCompile(`(?:href|action|src)="([^"]*)"`)
	values    = regexp.MustCompile(` (?:value|data-copy)="[^"]*"|(?s:<textarea[^>]*>[^<]*</textarea>)`)
	isolated  = regexp.MustCompile(`<bdi>[^<]*</bdi>|<title>[^<]*</title>|="[^"]*"`)
)

// TestEveryAddressOfAPageIsOne: regardless of the content of an id, an address leads to one of these pages,
// and the id is a single segment of the path or a single value of the query.
func TestEveryAddressOfAPageIsOne(t *testing.T) {
	routes := New(frame.Options{Log: func(frame.LogFilter) ([]frame.LogLine, error) { return nil, nil }}).Routes
	sprite, err := frame.Files.ReadFile("assets/icons.svg")
	require.NoError(t, err)
	odds := 0
	for name, text := range oddPages(t) {
		for _, m := range addresses.FindAllStringSubmatch(text, -1) {
			to := html.UnescapeString(m[1])
			if to == "#content" || to == "/docs/" || strings.HasPrefix(to, "mailto:") {
				continue
			}
			target, err := url.Parse(to)
			require.NoError(t, err, "%s: %s", name, to)
			method := http.MethodGet
			if strings.HasPrefix(m[0], "action") && !strings.Contains(text, `method="get" action="`+m[1]) {
				method = http.MethodPost
			}
			_, pattern := routes.Handler(httptest.NewRequest(method, to, nil))
			assert.NotContains(t, []string{"", "/ui/"}, pattern, "%s: %s leads nowhere", name, to)
			for part := range strings.SplitSeq(strings.Trim(target.EscapedPath(), "/"), "/") {
				if part, err = url.PathUnescape(part); part == odd || strings.HasPrefix(part[min(3, len(part)):], odd) {
					odds++
					continue
				}
				assert.NoError(t, err)
				assert.Regexp(t, `^[A-Za-z0-9.-]+$`, part, "%s: %s", name, to)
			}
			for key, all := range target.Query() {
				known := queryNames
				if operation, is := strings.CutPrefix(target.Path, say.Base+say.DoPath+"/"); is {
					known = []string{work.BackName, frame.TypedName, "ChangeId"}
					for _, field := range form.Of(operation).Fields {
						known = append(known, field.Name)
					}
				}
				assert.Contains(t, known, key, "%s: %s", name, to)
				assert.NotEmpty(t, all)
			}
			if target.Fragment != "" { // an icon of the sprite
				assert.Contains(t, string(sprite), `id="`+target.Fragment+`"`, "%s: %s", name, to)
			}
		}
	}
	assert.Greater(t, odds, 50)
	for _, part := range []string{"", ".", ".."} {
		assert.Equal(t, say.Base, say.Address("jobs", part), "browsers take it for a step upwards")
	}
}

// TestAddressesAreMadeInOnePlace: templates do not assemble addresses.
func TestAddressesAreMadeInOnePlace(t *testing.T) {
	written := regexp.MustCompile(`(?:href|action|src)="((?:\{\{[^}]*\}\}|[^"{])*)"`)
	whole := regexp.MustCompile(`^(?:[^{}]*|\{\{[^{}]*\}\})$`)
	all, err := frame.Files.ReadDir("templates")
	require.NoError(t, err)
	for _, one := range all {
		text, err := frame.Files.ReadFile("templates/" + one.Name())
		require.NoError(t, err)
		for _, m := range written.FindAllStringSubmatch(string(text), -1) {
			assert.Regexp(t, whole, m[1], one.Name())
		}
	}
}

// TestNothingOnAPageIsHidden: invisible characters are made visible, and right-to-left text is isolated.
func TestNothingOnAPageIsHidden(t *testing.T) {
	for name, text := range oddPages(t) {
		read := values.ReplaceAllString(text, "") // without the values of inputs, which are sent unchanged
		hidden := func(r rune) bool { return r != '\n' && (visible.Hidden(r) || visible.Blank(r)) }
		i := strings.IndexFunc(read, hidden)
		if i >= 0 {
			assert.Fail(t, name, "%q", read[max(i-80, 0):min(i+20, len(read))])
		}
		if name != "a link" && !strings.HasPrefix(name, "nothing") && !strings.HasPrefix(name, "form of") {
			assert.Contains(t, read, `\u202ex\u200by\u001b\u00a0`, name)
		}
		assert.NotContains(t, isolated.ReplaceAllString(read, ""), "ש", name)
		assert.NotContains(t, read, "<b>&", name)
		assert.NotContains(t, read, "&lt;nil&gt;", name)
	}
}
