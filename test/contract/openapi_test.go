package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documented checks answers against the document that the server publishes.
type documented struct {
	document *openapi3.T
	compiler *jsonschema.Compiler
}

// loadDocument reads the document of a system.
func loadDocument(s *systemtest.System, path string) *documented {
	s.T.Helper()
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path})
	require.Equal(s.T, http.StatusOK, a.Status)
	document, err := openapi3.NewLoader().LoadFromData(a.Body)
	require.NoError(s.T, err)
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	require.NoError(s.T, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	require.NoError(s.T, compiler.AddResource("openapi.json", plain))
	return &documented{document, compiler}
}

// holds checks that the document describes an answer.
func (d *documented) holds(t testing.TB, op *ops.Operation, a systemtest.Answer) {
	t.Helper()
	response := d.document.Paths.Find(op.Path).GetOperation(op.Method).Responses.Status(a.Status)
	require.NotNil(t, response, "%s: the document has no status %d: %s", op.ID, a.Status, a.Body)
	require.Contains(t, response.Value.Content, "application/json")
	if strings.HasPrefix(d.document.OpenAPI, "3.0") {
		var value any
		require.NoError(t, json.Unmarshal(a.Body, &value))
		assert.NoError(t, response.Value.Content["application/json"].Schema.Value.VisitJSON(value, openapi3.EnableFormatValidation()), "%s, status %d", op.ID, a.Status)
		return
	}
	compiled, err := d.compiler.Compile("openapi.json" + response.Value.Content["application/json"].Schema.Ref)
	require.NoError(t, err, op.ID)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	require.NoError(t, err)
	assert.NoError(t, compiled.Validate(instance), "%s, status %d", op.ID, a.Status)
	for name := range response.Value.Headers {
		switch {
		case name == "X-Directory-Server": // only if one was used
		case name == "ETag" && op.Effect.Writes(): // only if it is asked for
		default:
			assert.NotEmpty(t, a.Header.Get(name), "%s, status %d: %s", op.ID, a.Status, name)
		}
	}
}

// TestAnswersMatchTheDocument sends the sample of every operation and requests
// that are rejected.
func TestAnswersMatchTheDocument(t *testing.T) {
	t.Run("standard", func(t *testing.T) { answersMatch(t, "/openapi.json", systemtest.AllToken) })
	t.Run("classic", func(t *testing.T) { answersMatch(t, "/openapi.json?dialect=classic", systemtest.ClassicToken) })
	t.Run("standard, 3.0", func(t *testing.T) { answersMatch(t, "/openapi-3.0.json", systemtest.AllToken) })
	t.Run("classic, 3.0", func(t *testing.T) { answersMatch(t, "/swagger/v1/swagger.json", systemtest.ClassicToken) })
}

func answersMatch(t *testing.T, path, token string) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	d := loadDocument(s, path)
	for _, op := range opstest.Own() {
		s.Prepare(op)
		good := systemtest.Samples[op.ID]
		a := s.Do(systemtest.CallFor(op, good.Params).As(token))
		require.Less(t, a.Status, 300, "%s: %s", op.ID, a.Body)
		d.holds(t, op, a)
		if good.Undo.Path != "" {
			require.Less(t, s.Do(good.Undo).Status, 300, op.ID)
		}
		for _, other := range []string{"none", systemtest.ReadToken} {
			c := systemtest.CallFor(op, good.Params)
			c.Token = other
			if a := s.Do(c); a.Status >= 300 || token == systemtest.AllToken {
				d.holds(t, op, a)
			} // the answer to a credential of the other dialect is described elsewhere
		}
		c := systemtest.CallFor(op, good.Params)
		c.Params["Nonsense"] = "x"
		d.holds(t, op, s.Do(c))
	}
	d.holds(t, opstest.Find("user.get"), s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/nobody/Details"}.As(token)))
	d.holds(t, opstest.Find("user.create"), s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + systemtest.SampleUser}.As(token)))
	d.holds(t, opstest.Find("user.create"), s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/weak", Params: map[string]any{"Password": "x"}}.As(token)))
	d.holds(t, opstest.Find("user.resetPassword"), s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser + "/ResetPassword"}.As(token)))
}

// TestExamplesOfTheDocumentWork sends the examples. An
// example that fails because of an earlier one is tried again in a new world.
func TestExamplesOfTheDocumentWork(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	d := loadDocument(s, "/openapi.json")
	for _, writes := range []bool{false, true} {
		for _, op := range opstest.Own() {
			if op.Effect.Writes() != writes {
				continue
			}
			c := systemtest.CallFor(op, d.filledIn(op))
			do := func(s *systemtest.System) systemtest.Answer {
				if strings.HasPrefix(op.ID, "bin.") {
					s.Prepare(op) // what is in the Recycle Bin has been deleted before
				}
				return s.Do(c)
			}
			a := do(s)
			if a.Status >= 300 && writes {
				a = do(systemtest.New(t, sandbox.Options{Seed: 1}))
			}
			assert.Less(t, a.Status, 300, "%s %s with %v: %s", c.Method, c.Path, c.Params, a.Body)
		}
	}
}

// filledIn returns the example values of an operation.
func (d *documented) filledIn(op *ops.Operation) map[string]any {
	values := map[string]any{}
	o := d.document.Paths.Find(op.Path).GetOperation(op.Method)
	for _, p := range o.Parameters {
		name := p.Value.Name
		for i := range op.Params {
			if op.Params[i].Path == name {
				name = op.Params[i].Name
			}
		}
		for _, example := range []any{p.Value.Example, p.Value.Extensions["x-example"]} {
			if example != nil {
				values[name] = example
			}
		}
	}
	if o.RequestBody != nil {
		maps.Copy(values, o.RequestBody.Value.Content["application/json"].Extensions["x-example"].(map[string]any))
	}
	return values
}
