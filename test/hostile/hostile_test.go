// Package hostile sends malformed requests. In every parameter of every operation, it sends values that break
// careless programs.
package hostile

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// TestHostileValues sends hostile values in every parameter of every operation. A thorough run sends all of
// them, and other runs send some of them. A value that the parameter's kind forbids is refused, and the
// refusal names the parameter. An allowed value is stored and read back unchanged, and a look-up finds no
// other object. Nothing else changes, and no internal error occurs.
func TestHostileValues(t *testing.T) {
	var tries atomic.Int64
	t.Cleanup(func() { t.Logf("%d tries", tries.Load()) })
	var writing []*ops.Operation
	reads := systemtest.New(t, sandbox.Options{Seed: 1}) // for all operations that change nothing
	for _, op := range opstest.Own() {
		switch {
		case len(op.Params) == 0:
		case op.Effect.Writes():
			writing = append(writing, op)
		default:
			t.Run(op.ID, func(t *testing.T) {
				t.Parallel()
				tries.Add(attackOperation(t, reads, op))
			})
		}
	}
	systems := 4
	if thorough.All() { // many thousand values, whose changes slow a system down
		systems = len(writing)
	}
	for first := range systems {
		t.Run(fmt.Sprintf("changes %d", first+1), func(t *testing.T) {
			t.Parallel()
			whole := systemtest.New(t, sandbox.Options{Seed: 1}) // every attack leaves it as it was
			for i := first; i < len(writing); i += systems {
				t.Run(writing[i].ID, func(t *testing.T) { tries.Add(attackOperation(t, whole, writing[i])) })
			}
		})
	}
}

// attackOperation sends every hostile value in every parameter of an operation, and returns the number of
// values that it sent.
func attackOperation(t *testing.T, whole *systemtest.System, op *ops.Operation) (tries int64) {
	s := whole.In(t)
	g := guard{base: s.Snapshot(), record: recordOf(s, op)}
	for i := range op.Params {
		p := &op.Params[i]
		t.Run(p.Name, func(t *testing.T) { tries += attackAll(s.In(t), &g, op, p) })
	}
	for _, bad := range []string{`"code":"internal"`, "panic"} {
		assert.Empty(t, s.Log.Lines(bad), "%s is in the log", bad)
	}
	return tries
}

// attackAll sends every hostile value in one parameter, and returns the number of values that it sent.
func attackAll(s *systemtest.System, g *guard, op *ops.Operation, p *ops.Param) (tries int64) {
	if op.Effect.Writes() && s.Prepare(op) {
		g.base = s.Snapshot()
		defer func() {
			undo := systemtest.Sample(op)
			require.Equal(s.T, http.StatusOK, s.Do(undo).Status)
			g.base = s.Snapshot()
		}()
	}
	share := 30
	switch {
	case hasTwin(op, p):
		share = 240
	case hasAlike(op, p):
		share = 90
	}
	for name, value := range systemtest.HostileValues {
		if !thorough.OneOf(share, op.ID, p.Name, name) {
			continue
		}
		if value == "" && op.Effect == ops.Delete && !p.Required && op.EmptyMeans(p) == ops.Absent {
			continue // this value equals the sample of a removal
		}
		attack(s, g, op, p, name, value)
		tries++
	}
	return tries
}

// hasTwin reports whether an earlier operation passes the same parameter to the same script, so that a few
// values are enough.
func hasTwin(op *ops.Operation, p *ops.Param) bool {
	for _, other := range opstest.Own() {
		if other == op {
			return false
		}
		twin := other.Param(p.Name)
		if other.Script == op.Script && other.Effect == op.Effect && twin != nil &&
			reflect.DeepEqual(twin.Kind, p.Kind) && twin.Path == p.Path && p.Path == "" {
			return true
		}
	}
	return false
}

// hasAlike reports whether an earlier parameter of the operation has the same kind and differs only in the
// name under which it is stored.
func hasAlike(op *ops.Operation, p *ops.Param) bool {
	for i := range op.Params {
		other := &op.Params[i]
		if other == p {
			return false
		}
		if reflect.TypeOf(p.Kind) == reflect.TypeOf(schema.Text("sn")) &&
			reflect.TypeOf(other.Kind) == reflect.TypeOf(p.Kind) {
			return true
		}
	}
	return false
}

// renamedUser checks a user that was renamed to an odd name, and restores the old names.
func renamedUser(s *systemtest.System, p *ops.Param, name, value string, a systemtest.Answer) {
	renamed := a.Envelope.Result[0]
	back := s.Do(systemtest.Call{
		Method: http.MethodPut, Params: map[string]any{"Name": "Anna Schmidt"},
		Path: "/api/ADUser/" + url.PathEscape(systemtest.Text(renamed["username"])) + "/Rename/" +
			systemtest.SampleUser,
	})
	require.Equal(s.T, http.StatusOK, back.Status, "%s: %s", name, back.Body)
	switch {
	case p.Name == "NewUsername":
		assert.Equal(s.T, value, renamed["username"], name)
	case p.Name == "Name" && value != "":
		assert.Equal(s.T, value, renamed["name"], name)
	}
}

// guard checks that the world is restored. Most requests write nothing, which the journals show faster than
// snapshots.
type guard struct {
	base   sandboxtest.Snapshot
	mark   sandboxtest.Mark
	record *systemtest.Call // the call that restores the set of records which the operation's sample changes
}

func (g *guard) unchanged(s *systemtest.System, what string) {
	s.T.Helper()
	var writes int
	if writes, g.mark = sandboxtest.Since(s.World, g.mark); writes > 0 {
		assert.Empty(s.T, g.base.Compare(s.Snapshot()), what)
	}
}

// attack sends one hostile value in one parameter.
func attack(s *systemtest.System, g *guard, op *ops.Operation, p *ops.Param, name, value string) {
	s.T.Helper()
	params := map[string]any{}
	for key, good := range op.Sample {
		params[key] = good
	}
	params[p.Name] = value
	if p.Name != "ShowFields" && op.Param("ShowFields") != nil &&
		(op.Effect == ops.Create || op.Effect == ops.Update) {
		params["ShowFields"] = "username"
		if isField(op.Reply.Shape, p.Name) {
			params["ShowFields"] = p.Name
		}
	}
	c := systemtest.CallFor(op, params)
	if value == systemtest.HostileValues["invalid UTF-8"] && p.Path == "" && op.Effect.Writes() &&
		op.Method != http.MethodDelete {
		// encoding/json would replace the value, so send a form.
		form := url.Values{}
		for key, v := range c.Params {
			form.Set(key, systemtest.Text(v))
		}
		c.Params, c.Raw = nil, strings.NewReader(form.Encode())
		c.Headers = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	}
	a := s.Do(c)
	require.Less(s.T, a.Status, 500, "%s: %s", name, a.Body)
	switch {
	case a.Status == http.StatusBadRequest:
		require.NotNil(s.T, a.Envelope.Error, name)
		named := a.Envelope.Output == "" || p.Path != "" // an empty path segment matches another route
		for _, detail := range a.Envelope.Error.Details {
			named = named || detail.Field == p.Name || detail.Field == "" && strings.Contains(detail.Message, p.Name)
		}
		assert.True(s.T, named, "%s: the refusal does not name %s: %s", name, p.Name, a.Body)
		fallthrough
	case a.Status >= 400 || !op.Effect.Writes():
		g.unchanged(s, name)
		foundNothingElse(s, op, p, name, value, a)
	default:
		storedExactly(s, g, op, p, name, value, a)
		g.unchanged(s, name)
	}
}

// foundNothingElse checks that a look-up by a hostile name found an object with that name, or nothing.
func foundNothingElse(
	s *systemtest.System, op *ops.Operation, p *ops.Param, name, value string, a systemtest.Answer,
) {
	if a.Status >= 300 || p.Path == "" || value == "" || len(a.Envelope.Result) == 0 {
		return
	}
	switch op.ID {
	case "user.get":
		assert.Equal(s.T, strings.ToLower(value),
			strings.ToLower(systemtest.Text(a.Envelope.Result[0]["username"])), name)
	case "group.get":
		assert.Equal(s.T, strings.ToLower(value), strings.ToLower(systemtest.Text(a.Envelope.Result[0]["samName"])),
			name)
	case "user.exists", "group.exists", "computer.exists":
		assert.Equal(s.T, false, a.Envelope.Result[0]["exists"], name)
	case "membership.get", "membership.exists", "membership.list", "membership.groupExists":
		s.T.Errorf("%s has found something by %s: %s", op.ID, name, a.Body)
	}
}

// isField reports whether an input is also a field of the record.
func isField(shape *schema.Shape, name string) bool {
	return slices.ContainsFunc(shape.Fields, func(f schema.Field) bool {
		return strings.EqualFold(f.Name, name) || f.Input == name
	})
}

// changedOnly makes the current state the new base if no object other than dn has changed.
func (g *guard) changedOnly(s *systemtest.System, dn, what string) {
	s.T.Helper()
	now := s.Snapshot()
	for _, line := range g.base.Compare(now) {
		assert.Contains(s.T, line, dn, what)
	}
	g.base = now
}

// storedBy maps each operation to a function that checks the stored value and restores the world.
var storedBy = systemtest.Merge(storedTasks, storedOU, storedComputer, storedGroup, storedZone, storedBin,
	storedRecords())

// removing contains the parameters of a removal other than the name. Each of them accepts only certain
// values.
var removing = []string{"ShowFields", "Force", "Recursive"}

// single returns the value of a field that was set to one value.
func single(stored any) string {
	if list, many := stored.([]any); many && len(list) == 1 {
		stored = list[0]
	}
	return systemtest.Text(stored)
}

type storedCheck func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer)

// storedExactly reads the stored value back, compares it with the sent value, and restores the world.
func storedExactly(
	s *systemtest.System, g *guard, op *ops.Operation, p *ops.Param, name, value string, a systemtest.Answer,
) {
	if p.Name == ops.WithETag { // the parameter only extends the answer, and the sample makes the change
		s.Undo(op)
		s.Prepare(op)
		g.base = s.Snapshot()
		return
	}
	if p.Name == ops.ReasonName && op.Effect.Writes() {
		reasonKept(s, name, value, a)
		restored(s, g, op)
		return
	}
	if p.Name == ops.DryRun {
		assert.Equal(s.T, "true", a.Header.Get("X-Dry-Run"), name)
		return // nothing was stored
	}
	switch op.ID {
	case "user.create":
		username := op.Sample["Username"]
		if p.Name == "Username" {
			username = value
		}
		path := "/api/ADUser/" + url.PathEscape(systemtest.Text(username))
		if p.Kind.Secret() || value == "" || p.Name == "ShowFields" || p.Name == "OUPath" || p.Name == "Manager" ||
			p.Name == "Country" {
			// There is nothing to compare, because answers show no secrets, and other values are stored in another
			// form.
		} else if p.Name == "Username" {
			assert.Equal(s.T, value, a.Envelope.Result[0]["username"], name)
			read := s.Get(path + "/Details?ShowFields=username")
			require.Equal(s.T, http.StatusOK, read.Status, "%s: %s", name, read.Body)
			assert.Equal(s.T, value, read.Envelope.Result[0]["username"], name)
		} else {
			read := s.Get(path + "/Details?ShowFields=" + p.Name)
			require.Equal(s.T, http.StatusOK, read.Status, "%s: %s", name, read.Body)
			require.Len(s.T, read.Envelope.Result[0], 1)
			for _, stored := range read.Envelope.Result[0] {
				assert.Equal(s.T, value, single(stored), "%s in %s", name, p.Name)
			}
			assert.Equal(s.T, a.Envelope.Result, read.Envelope.Result, name)
		}
		removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
		require.Equal(s.T, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
	case "user.update", "user.updateByGuid":
		if isField(schema.User, p.Name) && p.Name != "OUPath" && p.Name != "Manager" && p.Name != "Country" {
			read := s.Get("/api/ADUser/" + systemtest.SampleUser + "/Details?ShowFields=" + p.Name)
			require.Len(s.T, read.Envelope.Result[0], 1)
			for _, stored := range read.Envelope.Result[0] {
				if value == "" && op.EmptyMeans(p) == ops.Cleared {
					assert.Empty(s.T, stored, "%s is cleared", p.Name)
				} else if value != "" {
					assert.Equal(s.T, value, single(stored), "%s in %s", name, p.Name)
				}
			}
			assert.Equal(s.T, a.Envelope.Result, read.Envelope.Result, name)
		}
		if p.Name == "Name" {
			back := s.Do(systemtest.Call{
				Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser,
				Params: map[string]any{"Name": "Anna Schmidt"},
			})
			require.Equal(s.T, http.StatusOK, back.Status, "%s: %s", name, back.Body)
		}
		g.changedOnly(s, systemtest.SampleUserDN, name)
	case "user.rename":
		renamedUser(s, p, name, value, a)
		// If an update has set the display name to the new name, the display name is restored, too.
		g.changedOnly(s, systemtest.SampleUserDN, name)
	case "user.resetPassword":
		g.changedOnly(s, systemtest.SampleUserDN, name)
	default:
		if check, known := storedBy[op.ID]; known {
			check(s, g, p, name, value, a)
			return
		}
		storedAsShown(s, g, op, p, name, value, a)
	}
}

// storedAsShown checks a parameter that needs no special check. If the parameter is a member of the record,
// the record must have the sent value. Otherwise the parameter must be a flag or select the fields to show.
// Any other parameter needs its own check.
func storedAsShown(
	s *systemtest.System, g *guard, op *ops.Operation, p *ops.Param, name, value string, a systemtest.Answer,
) {
	switch field := fieldOf(op.Reply.Shape, p.Name); {
	case p.Kind == schema.Bool, p.Name == "ShowFields":
	case field != "" && value == "":
		require.Equal(s.T, ops.Cleared, op.EmptyMeans(p), "%s accepts %s as %s: %s", op.ID, name, p.Name, a.Body)
		assert.Empty(s.T, s.Record(a)[field], name)
	case field != "":
		assert.Equal(s.T, value, single(s.Record(a)[field]), name)
	default:
		require.Fail(s.T, "no check", "%s accepts %s as %s: %s", op.ID, name, p.Name, a.Body)
	}
	restored(s, g, op)
}

// restored undoes the sample's change and prepares the next change.
func restored(s *systemtest.System, g *guard, op *ops.Operation) {
	s.Undo(op)
	// otherwise the object that the sample needs exists again
	if op.Effect != ops.Delete || op.Undo.Never != "" {
		s.Prepare(op)
	}
	g.base = s.Snapshot()
}

// reasonKept checks that the history has the reason as sent, if a change was made.
func reasonKept(s *systemtest.System, name, value string, a systemtest.Answer) {
	id := a.Header.Get("X-Change-Id")
	if id == "" || value == "" {
		return
	}
	made := s.Get("/api/Changes/" + id)
	require.Equal(s.T, http.StatusOK, made.Status, "%s", made.Body)
	assert.Equal(s.T, value, s.Record(made)["reason"], name)
}

// fieldOf returns the field of a record that an input sets, or "" if there is none.
func fieldOf(shape *schema.Shape, input string) string {
	for _, f := range shape.Fields {
		if f.Input == input || f.Input == "" && strings.EqualFold(f.Name, input) {
			return f.Name
		}
	}
	return ""
}

func TestJSONOfTheWrongTypeIsRejected(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Own() {
		if op.Method != http.MethodPost {
			continue
		}
		for i := range op.Params {
			p := &op.Params[i]
			if p.Path != "" {
				continue
			}
			for name, value := range map[string]any{"a number": 1, "an object": map[string]any{"a": 1},
				"a list": []any{"a"}} {
				if name == "a number" && p.Kind.Doc().Type == "integer" || name == "a list" && opstest.TakesNames(p) {
					continue
				}
				t.Run(op.ID+"/"+p.Name+"/"+name, func(t *testing.T) {
					c := systemtest.Sample(op)
					c.Params[p.Name] = value
					a := s.In(t).Rejects(c, http.StatusBadRequest, "invalid_request")
					assert.Equal(t, p.Name, a.Envelope.Error.Details[0].Field)
				})
			}
		}
	}
}

func TestMalformedRequestsAreRejected(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	json := map[string]string{"Content-Type": "application/json"}
	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
	}{
		"unknown route":       {systemtest.Call{Method: "GET", Path: "/api/ADUsers/x/Details"}, 404, "not_found"},
		"unknown method":      {systemtest.Call{Method: "PATCH", Path: "/api/ADUser/x"}, 405, "method_not_allowed"},
		"empty segment":       {systemtest.Call{Method: "GET", Path: "/api/ADUser//Details"}, 400, "invalid_request"},
		"bad percent":         {systemtest.Call{Method: "GET", Path: "/api/ADUser/aschmidt/Details?ShowFields=%zz"}, 400, "invalid_request"},
		"twice, differing":    {systemtest.Call{Method: "GET", Path: "/api/ADUser/aschmidt/Details?ShowFields=username&showfields=name"}, 400, "invalid_request"},
		"path and query":      {systemtest.Call{Method: "GET", Path: "/api/ADUser/aschmidt/Details?Username=other"}, 400, "invalid_request"},
		"secret in the query": {systemtest.Call{Method: "POST", Path: "/api/ADUser/x?Password=Corr3ct-Horse"}, 400, "invalid_request"},
		"no JSON":             {systemtest.Call{Method: "POST", Path: "/api/ADUser/x", Raw: strings.NewReader("{"), Headers: json}, 400, "invalid_request"},
		"a JSON list":         {systemtest.Call{Method: "POST", Path: "/api/ADUser/x", Raw: strings.NewReader("[]"), Headers: json}, 400, "invalid_request"},
		"deep JSON":           {systemtest.Call{Method: "POST", Path: "/api/ADUser/x", Raw: strings.NewReader(strings.Repeat("[", 100000)), Headers: json}, 400, "invalid_request"},
		"XML":                 {systemtest.Call{Method: "POST", Path: "/api/ADUser/x", Raw: strings.NewReader("<a/>"), Headers: map[string]string{"Content-Type": "text/xml"}}, 415, "unsupported_media_type"},
		"a body too large":    {systemtest.Call{Method: "POST", Path: "/api/ADUser/x", Raw: bytes.NewReader(make([]byte, 2<<20)), Headers: json}, 413, "too_large"},
		"cross-site":          {systemtest.Call{Method: "GET", Path: "/api/OU/All", Headers: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403, "forbidden"},
		"foreign origin":      {systemtest.Call{Method: "GET", Path: "/api/OU/All", Headers: map[string]string{"Origin": "https://evil.example"}}, 403, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) { s.In(t).Rejects(c.call, c.status, c.code) })
	}
	assert.NotContains(t, s.Log.String(), "Corr3ct-Horse", "a secret is in the log")
}
