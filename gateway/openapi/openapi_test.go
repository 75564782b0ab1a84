package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/openapi"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/test/thorough"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func document(t testing.TB) []byte {
	t.Helper()
	text, err := openapi.Document(ops.Table(), openapi.Options{Version: "1.2.3"})
	require.NoError(t, err)
	return text
}

// load returns the parsed document, which all tests share and do not change.
func load(t testing.TB) *openapi3.T {
	t.Helper()
	loaded, err := loadOnce()
	require.NoError(t, err)
	return loaded
}

var loadOnce = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := openapi.Document(ops.Table(), openapi.Options{Version: "1.2.3"})
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

func TestDocumentMatchesTheGoldenFile(t *testing.T) {
	var pretty bytes.Buffer
	require.NoError(t, json.Indent(&pretty, document(t), "", " "))
	pretty.WriteByte('\n')
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		require.NoError(t, os.WriteFile(golden, pretty.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), pretty.String())
	assert.Equal(t, document(t), document(t), "the same table yields the same bytes")
}

// TestDocumentIsValid checks the document against the rules of the specification, including
// examples and defaults, and against the JSON Schema that its authors publish.
func TestDocumentIsValid(t *testing.T) {
	require.NoError(t, load(t).Validate(t.Context(), openapi3.IsOpenAPI31OrLater()))

	file, err := os.Open(filepath.Join("testdata", "oas-3.1-schema.json"))
	require.NoError(t, err)
	defer file.Close()
	official, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("oas.json", official))
	compiled, err := compiler.Compile("oas.json")
	require.NoError(t, err)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(document(t)))
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(instance))
	delete(instance.(map[string]any), "info")
	require.Error(t, compiled.Validate(instance), "the schema must find faults")
}

// TestEveryVariantIsValid checks the documents for older generators and for clients of the classic
// dialect. A plain run checks some of them.
func TestEveryVariantIsValid(t *testing.T) {
	for i, o := range []openapi.Options{{V30: true}, {Classic: true}, {V30: true, Classic: true},
		{V30: true, Sandbox: true}, {Tickets: true}, {V30: true, Tickets: true}} {
		if i%3 != 2 && !thorough.All() {
			continue
		}
		o.Version = "1.2.3"
		text, err := openapi.Document(ops.Table(), o)
		require.NoError(t, err)
		doc, err := openapi3.NewLoader().LoadFromData(text)
		require.NoError(t, err)
		if o.V30 {
			require.NoError(t, doc.Validate(t.Context()), "%+v", o)
			assert.Equal(t, "3.0.3", doc.OpenAPI)
			for _, new := range []string{`"null"`, `"examples"`, `"identifier"`} {
				assert.NotContains(t, string(text), new, "%+v: of 3.1", o)
			}
		} else {
			require.NoError(t, doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()), "%+v", o)
		}
		assert.Equal(t, o.Sandbox, strings.HasPrefix(doc.Info.Description, "**This is a sandbox**"))
		scheme, offered := doc.Components.SecuritySchemes["Negotiate"]
		assert.Equal(t, o.Tickets, offered, "%+v", o)
		if offered {
			assert.Equal(t, "negotiate", scheme.Value.Scheme)
			assert.Contains(t, doc.Security, openapi3.SecurityRequirement{"Negotiate": {}})
		}
		for _, op := range ops.Table() {
			o30 := doc.Paths.Find(op.Path).GetOperation(op.Method)
			created := o30.Responses.Status(201) != nil || o30.Responses.Status(207) != nil
			if o.Classic {
				assert.False(t, created, "%s: every success of the classic dialect is 200", op.ID)
			}
		}
	}
}

// TestNoChangeIsFilledIn: pages do not fill in parameters of changes, because people tend to send filled-in
// forms without reading them.
func TestNoChangeIsFilledIn(t *testing.T) {
	doc := load(t)
	for _, op := range ops.Table() {
		o := doc.Paths.Find(op.Path).GetOperation(op.Method)
		for _, p := range o.Parameters {
			if op.Effect.Writes() {
				assert.Nil(t, p.Value.Example, "%s %s", op.ID, p.Value.Name)
			} else if p.Value.Required {
				assert.NotNil(t, p.Value.Example, "%s %s", op.ID, p.Value.Name)
			}
		}
		if o.RequestBody != nil {
			for _, media := range o.RequestBody.Value.Content {
				assert.Empty(t, media.Example, op.ID)
				if media.Schema.Value.Format != "binary" {
					assert.NotNil(t, media.Extensions["x-example"], op.ID)
				}
				for name, value := range media.Schema.Value.Properties {
					assert.Nil(t, value.Value.Example, "%s %s", op.ID, name)
					assert.Empty(t, value.Value.Examples, "%s %s", op.ID, name)
				}
			}
		}
	}
}

func TestEveryRowIsDescribed(t *testing.T) {
	doc := load(t)
	described := 0
	for _, path := range doc.Paths.Map() {
		described += len(path.Operations())
	}
	assert.Equal(t, len(ops.Table())+4, described, "with the operational endpoints")
	for _, op := range ops.Table() {
		path := doc.Paths.Find(op.Path)
		require.NotNil(t, path, op.ID)
		o := path.GetOperation(op.Method)
		require.NotNil(t, o, op.ID)
		assert.Equal(t, op.ID, o.OperationID)
		assert.Equal(t, string(op.Scope), o.Extensions["x-scope"])
		assert.NotEmpty(t, o.Summary, op.ID)
		for _, tag := range o.Tags {
			assert.NotEmpty(t, doc.Tags.Get(tag).Description, op.ID)
		}
		names := map[string]string{}
		for _, p := range o.Parameters {
			if p.Value.In == openapi3.ParameterInHeader {
				switch p.Value.Name {
				case ops.LastEventHeader:
					assert.Equal(t, ops.Events, op.Reply.Mark, op.ID)
				case ops.IfMatch:
					assert.True(t, op.Effect.Writes() && op.Guard.Matches(), op.ID)
				case ops.IfNoneMatch:
					assert.True(t, op.Guard.New || !op.Effect.Writes() && op.Tagged(), op.ID)
				default:
					assert.True(t, op.Effect.Writes(), op.ID)
				}
				continue
			}
			names[p.Value.Name] = p.Value.Description
		}
		if o.RequestBody != nil && op.Takes == nil {
			for _, content := range o.RequestBody.Value.Content {
				for name, value := range content.Schema.Value.Properties {
					names[name] = value.Value.Description
				}
			}
		}
		if op.Protocol == nil || op.Protocol.Input == nil {
			assert.Len(t, names, len(op.Params), op.ID)
		}
		for _, p := range op.Params {
			name := p.Name
			if _, known := names[name]; !known {
				name = p.Path // rows that share the path use a different name
			}
			assert.NotEmpty(t, names[name], "%s: %s is not described", op.ID, name)
			if p.Kind.Secret() {
				assert.NotNil(t, o.RequestBody, "%s: %s must not be in the query", op.ID, name)
			}
			if p.Required && !p.Kind.Secret() {
				assert.NotEmpty(t, p.Sample(), "%s: %s has no example", op.ID, name)
			}
			if sample := p.Sample(); sample != "" {
				_, problem := p.Kind.Decode(sample)
				assert.Nil(t, problem, "%s: example of %s", op.ID, name)
			}
		}
		for _, code := range op.Fails {
			status := code.Status()
			if op.Protocol != nil && op.Protocol.Refusal != nil {
				status, _ = op.Protocol.Refusal(code, "")
			}
			response := o.Responses.Status(status)
			require.NotNil(t, response, "%s: %s", op.ID, code)
			assert.Contains(t, *response.Value.Description, "`"+string(code)+"`", op.ID)
		}
	}
	for _, code := range schema.Codes() {
		assert.NotZero(t, code.Status())
		assert.NotEmpty(t, code.Doc())
	}
}

func TestStreamsOfEventsAreDescribed(t *testing.T) {
	doc := load(t)
	for _, op := range ops.Table() {
		if op.Reply.Mark != ops.Events {
			continue
		}
		done := doc.Paths.Find(op.Path).Get.Responses.Status(200).Value
		stream := done.Content.Get("text/event-stream")
		require.NotNil(t, stream, op.ID)
		assert.Nil(t, done.Content.Get("application/json"), op.ID)
		name := strings.TrimPrefix(stream.Schema.Value.Extensions["x-event-data"].(string), "#/components/schemas/")
		assert.Contains(t, doc.Components.Schemas, name, op.ID)
	}
}

func TestDocumentHoldsNoSecret(t *testing.T) {
	assert.NotContains(t, strings.ToLower(string(document(t))), "corr3ct")
}

// TestThePageShowsTheSamplesOfTheManual: the page shows the samples of the manual. For each row with a
// sample, it shows the curl call, the answer and, if the PowerShell module has a function for the row, the
// call of that function.
func TestThePageShowsTheSamplesOfTheManual(t *testing.T) {
	w := httptest.NewRecorder()
	openapi.Page().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/samples.json", nil))
	require.Equal(t, http.StatusOK, w.Code)
	var served map[string]string
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &served))
	assert.Equal(t, openapi.Samples(), served)
	modules := 0
	for _, op := range ops.Table() {
		if op.Sample == nil || op.Protocol != nil {
			assert.Empty(t, served[op.ID], op.ID)
			continue
		}
		assert.Regexp(t, "(?s)^```sh\ncurl -s .*\n```\n\n.*\n20\\d:\n\n```json\n", served[op.ID], op.ID)
		assert.NotContains(t, served[op.ID], "<!--", op.ID)
		if strings.Contains(served[op.ID], "```powershell\n") {
			modules++
		}
	}
	assert.Greater(t, modules, 120)
	w = httptest.NewRecorder()
	openapi.Page().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/page.js", nil))
	assert.Contains(t, w.Body.String(), `fetch("samples.json")`)
}
