package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// documented checks answers against the OpenAPI document that the server publishes.
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

// holds checks that an answer of an operation agrees with the document.
func (d *documented) holds(t testing.TB, op *ops.Operation, a systemtest.Answer) {
	t.Helper()
	d.describes(t, op.ID, op.Method, op.Path, a)
}

// ofTransport are headers that the document may omit.
var ofTransport = []string{
	"Cache-Control", "Content-Length", "Content-Security-Policy", "Content-Type", "Cross-Origin-Resource-Policy", "Date",
	"Referrer-Policy", "Trailer", "Vary", "X-Content-Type-Options", "X-Frame-Options",
}

// sometimes are headers that only some answers have.
var sometimes = []string{"X-Directory-Server", "ETag", "X-Change-Id", "X-Dry-Run", "Idempotency-Replayed",
	"Idempotency-Request", "Retry-After"}

// ofForms are headers that a successful answer has only if it is a list without an envelope. Failures always
// have Link.
var ofForms = []string{"Link", "X-Total-Count", "X-Warning-Count", "X-Warnings"}

// describes checks that an answer of a route agrees with the document.
func (d *documented) describes(t testing.TB, id, method, path string, a systemtest.Answer) {
	t.Helper()
	response := d.document.Paths.Find(path).GetOperation(method).Responses.Status(a.Status)
	require.NotNil(t, response, "%s: the document has no status %d: %s", id, a.Status, a.Body)
	for name := range a.Header {
		assert.True(t, slices.Contains(ofTransport, name) || hasHeader(response.Value, name),
			"%s, status %d: the header %s is not in the document", id, a.Status, name)
	}
	for name := range response.Value.Headers {
		absent := slices.Contains(sometimes, name) || a.Status < 300 && slices.Contains(ofForms, name)
		assert.True(t, absent || a.Header.Get(name) != "", "%s, status %d: %s", id, a.Status, name)
	}
	require.Contains(t, response.Value.Content, "application/json")
	if strings.HasPrefix(d.document.OpenAPI, "3.0") {
		var value any
		require.NoError(t, json.Unmarshal(a.Body, &value))
		assert.NoError(t, response.Value.Content["application/json"].Schema.Value.VisitJSON(value,
			openapi3.EnableFormatValidation()), "%s, status %d", id, a.Status)
		return
	}
	compiled, err := d.compiler.Compile("openapi.json" + response.Value.Content["application/json"].Schema.Ref)
	require.NoError(t, err, id)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	require.NoError(t, err)
	assert.NoError(t, compiled.Validate(instance), "%s, status %d", id, a.Status)
}

func hasHeader(r *openapi3.Response, name string) bool {
	for known := range r.Headers {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

// TestAnswersMatchTheDocument sends the sample of every operation, and requests that are rejected. A plain
// run checks all operations against the first document, and only a share of them against the others.
func TestAnswersMatchTheDocument(t *testing.T) {
	t.Run("standard", func(t *testing.T) { answersMatch(t, "/openapi.json", systemtest.AllToken, 2) })
	t.Run("classic", func(t *testing.T) {
		answersMatch(t, "/openapi.json?dialect=classic",
			systemtest.ClassicToken, 6)
	})
	t.Run("standard, 3.0", func(t *testing.T) { answersMatch(t, "/openapi-3.0.json", systemtest.AllToken, 12) })
	t.Run("classic, 3.0", func(t *testing.T) {
		answersMatch(t, "/swagger/v1/swagger.json",
			systemtest.ClassicToken, 12)
	})
}

// answersMatch checks every share-th operation against the document at path.
func answersMatch(t *testing.T, path, token string, share int) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	d := loadDocument(s, path)
	for _, op := range opstest.Own() {
		if !thorough.OneOf(share, op.ID) {
			continue
		}
		s.Prepare(op)
		call := systemtest.Sample(op).As(token)
		if op.Effect.Writes() {
			dry := systemtest.Sample(op).As(token)
			dry.Params[ops.DryRun] = true
			d.holds(t, op, s.Do(dry))
			call.Headers = map[string]string{ops.KeyHeader: "key-of-" + op.ID}
		}
		a := s.Do(call)
		require.Less(t, a.Status, 300, "%s: %s", op.ID, a.Body)
		d.holds(t, op, a)
		if op.Effect.Writes() {
			again := s.Do(call)
			assert.Equal(t, "true", again.Header.Get("Idempotency-Replayed"), "%s: %s", op.ID, again.Body)
			d.holds(t, op, again)
		}
		s.Undo(op)
		for _, other := range []string{"none", systemtest.ReadToken} {
			c := systemtest.Sample(op)
			c.Token = other
			if a := s.Do(c); a.Status >= 300 || token == systemtest.AllToken {
				d.holds(t, op, a)
			} // the document of the other dialect describes this answer
		}
		c := systemtest.Sample(op)
		c.Params["Nonsense"] = "x"
		d.holds(t, op, s.Do(c))
	}
	d.holds(t, opstest.Find("recordSet.put"),
		s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: map[string]any{
			"ZoneName": "corp.example", "DNS_HostName": "made.by.put", "Type": "A", "Data": "10.0.0.9",
		}}.As(token)))
	for _, path := range []string{"/version", "/healthz", "/readyz"} {
		d.describes(t, path, http.MethodGet, path,
			s.Do(systemtest.Call{Method: http.MethodGet, Path: path}.As(token)))
	}
	d.holds(t, opstest.Find("user.get"),
		s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/nobody/Details"}.As(token)))
	d.holds(t, opstest.Find("user.create"),
		s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + systemtest.SampleUser}.As(token)))
	d.holds(t, opstest.Find("user.create"),
		s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/weak",
			Params: map[string]any{"Password": "x"}}.As(token)))
	d.holds(t, opstest.Find("user.resetPassword"),
		s.Do(systemtest.Call{Method: http.MethodPut,
			Path: "/api/ADUser/" + systemtest.SampleUser + "/ResetPassword"}.As(token)))
}

// TestExamplesOfTheDocumentWork sends the examples of the document. Examples that change
// something run from the last to the first, so that none needs the result of another. If an
// example fails because of an earlier one, it is sent again in a new world.
func TestExamplesOfTheDocumentWork(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	d := loadDocument(s, "/openapi.json")
	for _, writes := range []bool{false, true} {
		for _, op := range slices.Backward(opstest.Own()) {
			if op.Effect.Writes() != writes || !thorough.OneOf(2, op.ID) {
				continue
			}
			c := systemtest.CallFor(op, d.filledIn(op))
			if !writes {
				s.Prepare(op)
			}
			a := s.Do(c)
			if a.Status >= 300 && writes {
				another := systemtest.New(t, sandbox.Options{Seed: 1})
				another.Prepare(op)
				a = another.Do(c)
			}
			assert.Less(t, a.Status, 300, "%s %s with %v: %s", c.Method, c.Path, c.Params, a.Body)
		}
	}
}

// filledIn returns the example values of an operation's parameters.
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
