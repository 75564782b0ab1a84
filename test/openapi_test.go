package test

import (
	"bytes"
	"maps"
	"net/http"
	"testing"

	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documented holds answers against the document that the server itself gives.
type documented struct {
	document *openapi3.T
	compiler *jsonschema.Compiler
}

func (s *system) documented() *documented {
	s.t.Helper()
	a := s.do(call{method: http.MethodGet, path: "/openapi.json"})
	require.Equal(s.t, http.StatusOK, a.status)
	document, err := openapi3.NewLoader().LoadFromData(a.body)
	require.NoError(s.t, err)
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	require.NoError(s.t, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	require.NoError(s.t, compiler.AddResource("openapi.json", plain))
	return &documented{document, compiler}
}

// holds checks that an answer is one that the document tells of.
func (d *documented) holds(t testing.TB, op *ops.Operation, a answer) {
	t.Helper()
	response := d.document.Paths.Value(op.Path).GetOperation(op.Method).Responses.Status(a.status)
	require.NotNil(t, response, "%s: the document has no status %d: %s", op.ID, a.status, a.body)
	require.Contains(t, response.Value.Content, "application/json")
	compiled, err := d.compiler.Compile("openapi.json" + response.Value.Content["application/json"].Schema.Ref)
	require.NoError(t, err, op.ID)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	require.NoError(t, err)
	assert.NoError(t, compiled.Validate(instance), "%s, status %d", op.ID, a.status)
	for name := range response.Value.Headers {
		if name != "X-Directory-Server" { // only where one was asked
			assert.NotEmpty(t, a.header.Get(name), "%s, status %d: %s", op.ID, a.status, name)
		}
	}
}

// TestAnswersAreAsTheDocumentSays walks once through every row on one system:
// its good call, and calls that are refused.
func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	d := s.documented()
	for _, op := range ops.Table() {
		if first, needed := before[op.ID]; needed {
			require.Equal(t, http.StatusCreated, s.do(first).status, op.ID)
		}
		good := samples[op.ID]
		a := s.do(callOf(op, good.params))
		require.Less(t, a.status, 300, "%s: %s", op.ID, a.body)
		d.holds(t, op, a)
		if good.undo.path != "" {
			require.Less(t, s.do(good.undo).status, 300, op.ID)
		}
		for _, token := range []string{"none", readToken} {
			c := callOf(op, good.params)
			c.token = token
			d.holds(t, op, s.do(c))
		}
		c := callOf(op, good.params)
		c.params["Nonsense"] = "x"
		d.holds(t, op, s.do(c))
	}
	d.holds(t, ops.Find(ops.Table(), "user.get"), s.do(call{method: http.MethodGet, path: "/api/ADUser/nobody/Details"}))
	d.holds(t, ops.Find(ops.Table(), "user.create"), s.do(call{method: http.MethodPost, path: "/api/ADUser/" + sampleUser}))
	d.holds(t, ops.Find(ops.Table(), "user.create"), s.do(call{method: http.MethodPost, path: "/api/ADUser/weak", params: map[string]any{"Password": "x"}}))
	d.holds(t, ops.Find(ops.Table(), "user.resetPassword"), s.do(call{method: http.MethodPut, path: "/api/ADUser/" + sampleUser + "/ResetPassword"}))
}

// TestExamplesOfTheDocumentAreTrue: what the page fills in by itself works in
// the sandbox. An example that another one got in the way of is tried again
// where nothing has changed.
func TestExamplesOfTheDocumentAreTrue(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	d := s.documented()
	for _, writes := range []bool{false, true} {
		for _, op := range ops.Table() {
			if op.Effect.Writes() != writes {
				continue
			}
			c := callOf(op, d.filledIn(op))
			a := s.do(c)
			if a.status >= 300 && writes {
				a = newSystem(t, sandbox.Options{Seed: 1}).do(c)
			}
			assert.Less(t, a.status, 300, "%s %s with %v: %s", c.method, c.path, c.params, a.body)
		}
	}
}

// filledIn are the values that the document offers for a row.
func (d *documented) filledIn(op *ops.Operation) map[string]any {
	values := map[string]any{}
	o := d.document.Paths.Value(op.Path).GetOperation(op.Method)
	for _, p := range o.Parameters {
		name := p.Value.Name
		for i := range op.Params {
			if op.Params[i].Path == name {
				name = op.Params[i].Name
			}
		}
		if example := p.Value.Example; example != nil {
			values[name] = example
		}
	}
	if o.RequestBody != nil {
		maps.Copy(values, o.RequestBody.Value.Content["application/json"].Example.(map[string]any))
	}
	return values
}
