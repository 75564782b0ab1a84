package test

import (
	"bytes"
	"hash/crc32"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile are values that break careless programs, by what they are.
var hostile = map[string]string{
	"empty":             "",
	"blank":             " ",
	"single quotes":     "a'b‘c’d‚e‛f",
	"double quotes":     `a"b“c”d„e`,
	"a quote alone":     "'",
	"semicolon":         "a;exit;b",
	"subexpression":     "a$(Get-Process)b",
	"variable":          "$env:PATH",
	"backtick":          "a`nb`",
	"star":              "*",
	"star within":       "as*dt",
	"question mark":     "a?b",
	"brackets":          "a[b-z]c",
	"backslash":         `a\b\5c\`,
	"LDAP filter":       "*)(objectClass=*",
	"LDAP escape":       `\2a`,
	"DN":                "CN=x,DC=corp,DC=example",
	"DN escapes":        `a,b+c"d<e>f;g=h#`,
	"path":              "../../All",
	"slash":             "a/b",
	"percent":           "a%2Fb%00",
	"comment":           "#" + "<# x #>",
	"pipe and redirect": "a|b>c<d&e",
	"newline":           "a\nb",
	"CRLF":              "a\r\nb",
	"tab":               "a\tb",
	"NUL":               "a\x00b",
	"escape":            "a\x1b[31mb",
	"record separator":  "\x1e1 end 2\n{}\n",
	"DEL":               "a\x7fb",
	"C1 control":        "a\u0085b",
	"line separator":    "a\u2028b",
	"right to left":     "a\u202eb",
	"umlaut":            "ÄÖÜ ß é",
	"emoji":             "😀 日本",
	"date":              "2024-01-02T03:04:05Z",
	"prefix of secrets": "!0",
	"prefix of text":    "=x",
	"JSON":              `{"a":[1]}`,
	"number":            "42",
	"boolean":           "true",
	"null":              "null",
	"GUID":              "00000000-0000-0000-0000-000000000000",
	"half in braces":    "{00000000-0000-0000-0000-000000000000",
	"noncharacter":      "a\uffffb",
	"dots":              "a..b.",
	"100 kB":            strings.Repeat("A", 100_000),
	"invalid UTF-8":     "a\xff\xfeb",
}

// TestHostileValues gives every parameter of every script every hostile value. What its kind forbids is refused with the field's name; what its kind
// allows is stored and read back character for character; a look-up finds
// nothing else. Nothing changes but what was asked for, and nothing fails inside.
func TestHostileValues(t *testing.T) {
	for _, op := range ops.Table() {
		if len(op.Params) == 0 {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			s := newSystem(t, sandbox.Options{Seed: 1})
			g := guard{base: s.snapshot()}
			for i := range op.Params {
				t.Run(op.Params[i].Name, func(t *testing.T) { s.in(t).attackAll(&g, op, &op.Params[i]) })
			}
			for _, bad := range []string{`"code":"internal"`, "panic"} { // the log is too long to be shown
				assert.False(t, strings.Contains(s.log.String(), bad), "%s is in the log", bad)
			}
		})
	}
}

// attackAll gives one parameter every hostile value.
func (s *system) attackAll(g *guard, op *ops.Operation, p *ops.Param) {
	if first, needed := before[op.ID]; needed {
		require.Equal(s.t, http.StatusCreated, s.do(first).status)
		g.base = s.snapshot()
		defer func() {
			undo := callOf(op, samples[op.ID].params)
			require.Equal(s.t, http.StatusOK, s.do(undo).status)
			g.base = s.snapshot()
		}()
	}
	again := hasTwin(op, p)
	for name, value := range hostile {
		if again && crc32.ChecksumIEEE([]byte(op.ID+p.Name+name))%8 != 0 {
			continue
		}
		s.attack(g, op, p, name, value)
	}
}

// hasTwin tells whether an operation before this one hands the same parameter to
// the same script: then each eighth value shows that this one does, too.
func hasTwin(op *ops.Operation, p *ops.Param) bool {
	for _, other := range ops.Table() {
		if other == op {
			return false
		}
		twin := other.Param(p.Name)
		if other.Script == op.Script && other.Effect == op.Effect && twin != nil && reflect.DeepEqual(twin.Kind, p.Kind) && twin.Path == p.Path && p.Path == "" {
			return true
		}
	}
	return false
}

// guard holds that nothing stays changed. Most requests write nothing at all,
// which the journals tell faster than snapshots.
type guard struct {
	base sandbox.Snapshot
	mark sandbox.Mark
}

func (g *guard) unchanged(s *system, what string) {
	s.t.Helper()
	var writes int
	if writes, g.mark = s.world.Since(g.mark); writes > 0 {
		assert.Empty(s.t, g.base.Compare(s.snapshot()), what)
	}
}

func (s *system) attack(g *guard, op *ops.Operation, p *ops.Param, name, value string) {
	s.t.Helper()
	params := map[string]any{}
	for key, good := range samples[op.ID].params {
		params[key] = good
	}
	params[p.Name] = value
	if p.Name != "ShowFields" && op.Param("ShowFields") != nil && (op.Effect == ops.Create || op.Effect == ops.Update) {
		params["ShowFields"] = "username"
		if isField(op.Reply.Shape, p.Name) {
			params["ShowFields"] = p.Name
		}
	}
	c := callOf(op, params)
	if value == hostile["invalid UTF-8"] && p.Path == "" && op.Effect.Writes() && op.Method != http.MethodDelete {
		// JSON cannot be made with it by the library: send it as a form.
		form := url.Values{}
		for key, v := range c.params {
			form.Set(key, text(v))
		}
		c.params, c.raw = nil, strings.NewReader(form.Encode())
		c.headers = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	}
	a := s.do(c)
	require.Less(s.t, a.status, 500, "%s: %s", name, a.body)
	switch {
	case a.status == http.StatusBadRequest:
		require.NotNil(s.t, a.envelope.Error, name)
		named := a.envelope.Output == "" || p.Path != "" // an empty path segment is no parameter any more
		for _, detail := range a.envelope.Error.Details {
			named = named || detail.Field == p.Name
		}
		assert.True(s.t, named, "%s: the refusal does not name %s: %s", name, p.Name, a.body)
		fallthrough
	case a.status >= 400 || !op.Effect.Writes():
		g.unchanged(s, name)
		s.foundNothingElse(op, p, name, value, a)
	default:
		s.storedExactly(g, op, p, name, value, a)
		g.unchanged(s, name)
	}
}

// foundNothingElse: a look-up by a hostile name that succeeds has found that name.
func (s *system) foundNothingElse(op *ops.Operation, p *ops.Param, name, value string, a answer) {
	if a.status >= 300 || p.Path == "" || value == "" || len(a.envelope.Result) == 0 {
		return
	}
	switch op.ID {
	case "user.get":
		assert.Equal(s.t, strings.ToLower(value), strings.ToLower(text(a.envelope.Result[0]["username"])), name)
	case "group.get":
		assert.Equal(s.t, strings.ToLower(value), strings.ToLower(text(a.envelope.Result[0]["samName"])), name)
	case "user.exists", "group.exists", "computer.exists":
		assert.Equal(s.t, false, a.envelope.Result[0]["exists"], name)
	case "membership.get", "membership.exists", "membership.list", "membership.groupExists":
		s.t.Errorf("%s has found something by %s: %s", op.ID, name, a.body)
	}
}

// isField tells whether an input is a field of the record, too.
func isField(shape *schema.Shape, name string) bool {
	return slices.ContainsFunc(shape.Fields, func(f schema.Field) bool {
		return strings.EqualFold(f.Name, name) || f.Input == name
	})
}

// changedOnly takes what is there now as the state to hold on to, when nothing
// but one object has changed.
func (g *guard) changedOnly(s *system, dn, what string) {
	s.t.Helper()
	now := s.snapshot()
	for _, line := range g.base.Compare(now) {
		assert.Contains(s.t, line, dn, what)
	}
	g.base = now
}

// storedBy are the checks of what operations have stored, which put things back.
var storedBy = merged(storedOU, storedComputer, storedGroup)

// storedCheck is one of them.
type storedCheck func(s *system, g *guard, p *ops.Param, name, value string, a answer)

// storedExactly reads back what a create has stored, and removes it.
func (s *system) storedExactly(g *guard, op *ops.Operation, p *ops.Param, name, value string, a answer) {
	switch op.ID {
	case "user.create":
		username := samples[op.ID].params["Username"]
		if p.Name == "Username" {
			username = value
		}
		path := "/api/ADUser/" + url.PathEscape(text(username))
		if p.Kind.Secret() || value == "" || p.Name == "ShowFields" || p.Name == "OUPath" || p.Name == "Manager" || p.Name == "Country" {
			// nothing to compare: secrets are not shown, the others are not stored as given
		} else if p.Name == "Username" {
			assert.Equal(s.t, value, a.envelope.Result[0]["username"], name)
			read := s.get(path + "/Details?ShowFields=username")
			require.Equal(s.t, http.StatusOK, read.status, "%s: %s", name, read.body)
			assert.Equal(s.t, value, read.envelope.Result[0]["username"], name)
		} else {
			read := s.get(path + "/Details?ShowFields=" + p.Name)
			require.Equal(s.t, http.StatusOK, read.status, "%s: %s", name, read.body)
			require.Len(s.t, read.envelope.Result[0], 1)
			for _, stored := range read.envelope.Result[0] {
				assert.Equal(s.t, value, text(stored), "%s in %s", name, p.Name)
			}
			assert.Equal(s.t, a.envelope.Result, read.envelope.Result, name)
		}
		removed := s.do(call{method: http.MethodDelete, path: path})
		require.Equal(s.t, http.StatusOK, removed.status, "%s: %s", name, removed.body)
	case "cname.create":
		params := map[string]any{}
		for key, good := range samples[op.ID].params {
			params[key] = good
		}
		params[p.Name] = value
		removed := s.do(call{method: http.MethodDelete, path: op.Path, params: params})
		require.Equal(s.t, http.StatusOK, removed.status, "%s: %s", name, removed.body)
	case "user.update", "user.updateByGuid":
		if isField(schema.User, p.Name) && p.Name != "OUPath" && p.Name != "Manager" && p.Name != "Country" {
			read := s.get("/api/ADUser/" + sampleUser + "/Details?ShowFields=" + p.Name)
			require.Len(s.t, read.envelope.Result[0], 1)
			for _, stored := range read.envelope.Result[0] {
				if value == "" {
					assert.Nil(s.t, stored, "%s is cleared", p.Name)
				} else {
					assert.Equal(s.t, value, text(stored), "%s in %s", name, p.Name)
				}
			}
			assert.Equal(s.t, a.envelope.Result, read.envelope.Result, name)
		}
		g.changedOnly(s, sampleUserDN, name)
	case "user.rename":
		back := s.do(call{method: http.MethodPut, path: "/api/ADUser/" + url.PathEscape(text(a.envelope.Result[0]["username"])) + "/Rename/" + sampleUser})
		require.Equal(s.t, http.StatusOK, back.status, "%s: %s", name, back.body)
		if p.Name == "NewUsername" {
			assert.Equal(s.t, value, a.envelope.Result[0]["username"], name)
		}
		// A display name that an update left equal to the new name follows back.
		g.changedOnly(s, sampleUserDN, name)
	case "user.resetPassword":
		g.changedOnly(s, sampleUserDN, name)
	case "user.disable", "user.enable", "user.unlock":
		require.Equal(s.t, "ShowFields", p.Name, "%s: %s", name, a.body)
		g.base = s.snapshot()
	case "user.deleteByGuid":
		require.Equal(s.t, "ShowFields", p.Name, "%s: %s", name, a.body)
		g.base = s.snapshot()
	case "user.delete":
		require.Equal(s.t, "ShowFields", p.Name, "%s: %s", name, a.body)
		require.Equal(s.t, http.StatusCreated, s.do(before[op.ID]).status)
		g.base = s.snapshot()
	default:
		check, known := storedBy[op.ID]
		require.True(s.t, known, "%s accepts %s: %s", op.ID, name, a.body)
		check(s, g, p, name, value, a)
	}
}

func TestJSONOfTheWrongTypeIsRefused(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for _, op := range ops.Table() {
		if op.Method != http.MethodPost {
			continue
		}
		for i := range op.Params {
			p := &op.Params[i]
			if p.Path != "" {
				continue
			}
			for name, value := range map[string]any{"a number": 1, "an object": map[string]any{"a": 1}, "a list": []any{"a"}} {
				t.Run(op.ID+"/"+p.Name+"/"+name, func(t *testing.T) {
					c := callOf(op, samples[op.ID].params)
					c.params[p.Name] = value
					a := s.in(t).refused(c, http.StatusBadRequest, "invalid_request")
					assert.Equal(t, p.Name, a.envelope.Error.Details[0].Field)
				})
			}
		}
	}
}

func TestBrokenRequestsAreRefused(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	json := map[string]string{"Content-Type": "application/json"}
	for name, c := range map[string]struct {
		call   call
		status int
		code   string
	}{
		"unknown route":       {call{method: "GET", path: "/api/ADUsers/x/Details"}, 404, "not_found"},
		"unknown method":      {call{method: "PATCH", path: "/api/ADUser/x"}, 405, "method_not_allowed"},
		"empty segment":       {call{method: "GET", path: "/api/ADUser//Details"}, 400, "invalid_request"},
		"bad percent":         {call{method: "GET", path: "/api/ADUser/aschmidt/Details?ShowFields=%zz"}, 400, "invalid_request"},
		"twice, differing":    {call{method: "GET", path: "/api/ADUser/aschmidt/Details?ShowFields=username&showfields=name"}, 400, "invalid_request"},
		"path and query":      {call{method: "GET", path: "/api/ADUser/aschmidt/Details?Username=other"}, 400, "invalid_request"},
		"secret in the query": {call{method: "POST", path: "/api/ADUser/x?Password=Corr3ct-Horse"}, 400, "invalid_request"},
		"no JSON":             {call{method: "POST", path: "/api/ADUser/x", raw: strings.NewReader("{"), headers: json}, 400, "invalid_request"},
		"a JSON list":         {call{method: "POST", path: "/api/ADUser/x", raw: strings.NewReader("[]"), headers: json}, 400, "invalid_request"},
		"deep JSON":           {call{method: "POST", path: "/api/ADUser/x", raw: strings.NewReader(strings.Repeat("[", 100000)), headers: json}, 400, "invalid_request"},
		"XML":                 {call{method: "POST", path: "/api/ADUser/x", raw: strings.NewReader("<a/>"), headers: map[string]string{"Content-Type": "text/xml"}}, 415, "unsupported_media_type"},
		"a body too large":    {call{method: "POST", path: "/api/ADUser/x", raw: bytes.NewReader(make([]byte, 2<<20)), headers: json}, 413, "too_large"},
		"cross-site":          {call{method: "GET", path: "/api/OU/All", headers: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403, "forbidden"},
		"foreign origin":      {call{method: "GET", path: "/api/OU/All", headers: map[string]string{"Origin": "https://evil.example"}}, 403, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) { s.in(t).refused(c.call, c.status, c.code) })
	}
	assert.NotContains(t, s.log.String(), "Corr3ct-Horse", "no secret is in the log")
}
