package clients_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

const terraformExamples = "../../cmd/release/clients/terraform"

// restapi handles the resources of the example like the provider Mastercard/restapi (see its
// internal/apiclient/object.go). It sends paths unchanged, reads an object after creating it, searches the
// answer of a read for the object, and compares the object with data.
type restapi struct {
	t         *testing.T
	s         *systemtest.System
	resources []map[string]any
	values    map[string]any // results of the last reads, by object id; nil if the object does not exist
}

// loadTerraform loads the example, with some variables overridden.
func loadTerraform(t *testing.T, s *systemtest.System, variables map[string]cty.Value) *restapi {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(terraformExamples, "*.tf"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	parser := hclparse.NewParser()
	var blocks hclsyntax.Blocks
	for _, name := range files {
		f, faults := parser.ParseHCLFile(name)
		require.Empty(t, faults)
		blocks = append(blocks, f.Body.(*hclsyntax.Body).Blocks...)
	}
	given := maps.Clone(variables)
	scope := &hcl.EvalContext{Functions: map[string]function.Function{
		"jsonencode": stdlib.JSONEncodeFunc, "replace": stdlib.ReplaceFunc,
		"urlencode": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "text", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.StringVal(url.QueryEscape(args[0].AsString())), nil
			},
		}),
	}}
	value := func(a *hclsyntax.Attribute) cty.Value {
		v, faults := a.Expr.Value(scope)
		require.Empty(t, faults, a.Name)
		return v
	}
	for _, b := range blocks {
		if b.Type == "variable" && given[b.Labels[0]] == cty.NilVal && b.Body.Attributes["default"] != nil {
			given[b.Labels[0]] = value(b.Body.Attributes["default"])
		}
	}
	scope.Variables = map[string]cty.Value{"var": cty.ObjectVal(given)}
	for _, b := range blocks {
		if b.Type == "locals" {
			local := map[string]cty.Value{}
			for name, a := range b.Body.Attributes {
				local[name] = value(a)
			}
			scope.Variables["local"] = cty.ObjectVal(local)
		}
	}
	p := &restapi{t: t, s: s, values: map[string]any{}}
	for _, b := range blocks {
		if b.Type != "resource" && b.Type != "provider" {
			continue
		}
		all := map[string]any{}
		for name, a := range b.Body.Attributes {
			if name != "depends_on" {
				all[name] = plain(value(a))
			}
		}
		if b.Type == "provider" {
			assert.Equal(t, s.URL+"/api", all["uri"])
			status, _ := p.send("GET", all["test_path"].(string), "")
			require.Equal(t, http.StatusOK, status)
			continue
		}
		require.Equal(t, "restapi_object", b.Labels[0])
		p.resources = append(p.resources, all)
	}
	require.Len(t, p.resources, 5)
	return p
}

// plain returns a value in the types that encoding/json decodes into.
func plain(v cty.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Type() == cty.String:
		return v.AsString()
	case v.Type() == cty.Number:
		number, _ := v.AsBigFloat().Float64()
		return number
	case v.Type() == cty.Bool:
		return v.True()
	case v.Type().IsObjectType():
		out := map[string]any{}
		for name, item := range v.AsValueMap() {
			out[name] = plain(item)
		}
		return out
	default:
		panic(v.Type().FriendlyName())
	}
}

func (p *restapi) send(method, path, body string) (int, map[string]any) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.s.URL+"/api"+path,
		strings.NewReader(body))
	require.NoError(p.t, err)
	request.Header.Set("Authorization", "Bearer "+systemtest.AllToken)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(p.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	var content map[string]any
	require.NoError(p.t, json.Unmarshal(text, &content), "%s", text)
	if answer.StatusCode >= 300 && answer.StatusCode != http.StatusNotFound {
		p.t.Fatalf("%s %s: %s", method, path, text)
	}
	return answer.StatusCode, content
}

// read returns the members of an object that the provider keeps, or nil if the object does not exist.
func (p *restapi) read(r map[string]any) map[string]any {
	p.t.Helper()
	status, content := p.send("GET", r["read_path"].(string), "")
	if status == http.StatusNotFound {
		return nil
	}
	search := r["read_search"].(map[string]any)
	for _, item := range content[search["results_key"].(string)].([]any) {
		record := item.(map[string]any)
		if record[search["search_key"].(string)] != search["search_value"] {
			continue
		}
		var patch []struct{ Op, From, Path string }
		if text, ok := search["search_patch"].(string); ok {
			require.NoError(p.t, json.Unmarshal([]byte(text), &patch))
		}
		for _, change := range patch {
			require.Equal(p.t, "copy", change.Op)
			from := strings.TrimPrefix(change.From, "/")
			require.Contains(p.t, record, from)
			record[strings.TrimPrefix(change.Path, "/")] = record[from]
		}
		return record
	}
	return nil
}

// apply refreshes, plans and applies, and returns the ids of the created and the updated resources.
func (p *restapi) apply() (created, updated []string) {
	p.t.Helper()
	for _, r := range p.ordered() {
		id := r["object_id"].(string)
		found := p.read(r)
		switch {
		case found == nil:
			method, _ := r["create_method"].(string)
			if method == "" {
				method = "POST"
			}
			status, _ := p.send(method, r["create_path"].(string), r["data"].(string))
			require.Less(p.t, status, 300)
			require.NotNil(p.t, p.read(r), "%s is not found after its creation", id)
			created = append(created, id)
		case len(p.drift(r, found)) > 0:
			status, _ := p.send("PUT", r["update_path"].(string), r["data"].(string))
			require.Less(p.t, status, 300)
			assert.Empty(p.t, p.drift(r, p.read(r)), "%s has drifted right after its update", id)
			updated = append(updated, id)
		}
	}
	return created, updated
}

// ordered returns the resources in an order in which those that depend on others come last.
func (p *restapi) ordered() []map[string]any {
	all := slices.Clone(p.resources)
	slices.SortStableFunc(all, func(a, b map[string]any) int {
		return strings.Count(a["path"].(string), "/Group/") - strings.Count(b["path"].(string), "/Group/")
	})
	return all
}

// drift returns the members of data that differ from the object on the server. Further
// members on the server are ignored (ignore_server_additions).
func (p *restapi) drift(r, found map[string]any) []string {
	p.t.Helper()
	require.Equal(p.t, true, r["ignore_server_additions"])
	var data map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(r["data"].(string)), &data))
	var names []string
	for name, value := range data {
		if !reflect.DeepEqual(value, found[name]) {
			names = append(names, name)
		}
	}
	return names
}

func (p *restapi) destroy() {
	p.t.Helper()
	all := p.ordered()
	slices.Reverse(all)
	for _, r := range all {
		status, _ := p.send("DELETE", r["destroy_path"].(string), "")
		assert.Equal(p.t, http.StatusOK, status, r["object_id"])
		assert.Nil(p.t, p.read(r), r["object_id"])
	}
}

func TestTerraformExamples(t *testing.T) {
	if program, err := exec.LookPath("terraform"); err == nil {
		output, err := exec.CommandContext(t.Context(), program, "fmt", "-check", "-diff",
			terraformExamples).CombinedOutput()
		assert.NoError(t, err, "%s", output)
	}
	s := systemtest.New(t, sandbox.Options{})
	load := func(job, address string) *restapi {
		return loadTerraform(t, s, map[string]cty.Value{
			"gateway_url": cty.StringVal(s.URL), "gateway_token": cty.StringVal(systemtest.AllToken), "username": cty.StringVal("j weber"),
			"job_title": cty.StringVal(job), "addresses": cty.TupleVal([]cty.Value{cty.StringVal(address)}),
		})
	}
	first := load("Clerk", "10.0.7.1")
	created, updated := first.apply()
	assert.Len(t, created, 5)
	assert.Empty(t, updated)
	created, updated = first.apply()
	assert.Empty(t, created, "the second plan is empty")
	assert.Empty(t, updated, "the second plan is empty")

	second := load("Lead", "10.0.7.2")
	created, updated = second.apply()
	assert.Empty(t, created)
	assert.ElementsMatch(t, []string{"j weber", "mercury.corp.example A"}, updated)

	s.Expect(http.StatusOK, http.MethodPut, "/api/ADUser/j%20weber", map[string]any{"Department": "Elsewhere"})
	s.Expect(http.StatusOK, http.MethodDelete, "/api/ADUser/j%20weber/Group/Project%20Mercury", nil)
	created, updated = second.apply()
	assert.Equal(t, []string{"j weber/Project Mercury"}, created, "what was removed behind its back")
	assert.Equal(t, []string{"j weber"}, updated, "what was changed behind its back")
	second.destroy()
}
