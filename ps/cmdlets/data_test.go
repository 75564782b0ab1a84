package cmdlets

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the data files from the contract")

// contract contains the members of a contract file that the tests use. See testdata/README.md.
type contract struct {
	Module  string                `json:"module"`
	Cmdlets map[string]docCmdlet  `json:"cmdlets"`
	Model   map[string]docModeled `json:"objectModel"`
}

type docCmdlet struct {
	MissingIn      []string   `json:"missingIn"`
	Should         bool       `json:"supportsShouldProcess"`
	Prompts        []string   `json:"promptsByDefault"`
	Force          bool       `json:"forceSkipsPrompt"`
	NotWorkingWith []string   `json:"notWorkingWith"`
	Outputs        []string   `json:"outputs"`
	Sets           []docSet   `json:"parameterSets"`
	Params         []docParam `json:"parameters"`
	Anomalies      []struct {
		Kind  string   `json:"kind"`
		Param string   `json:"param"`
		In    []string `json:"in"`
	} `json:"docAnomalies"`
}

type docSet struct {
	Name      *string `json:"name"`
	IsDefault *bool   `json:"isDefault"`
	Params    []struct {
		Name      string `json:"name"`
		Mandatory bool   `json:"mandatory"`
		Position  *int   `json:"position"`
	} `json:"params"`
}

type docParam struct {
	docFacts
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	PerSet      []docFacts     `json:"perSet"`
	Values      []string       `json:"values"`
	Codes       map[string]any `json:"valueCodes"`
	LDAPName    string         `json:"ldapName"`
	Identifiers []string       `json:"identifiers"`
	Wildcard    bool           `json:"wildcard"`
	MissingIn   []string       `json:"missingIn"`
}

type docFacts struct {
	Sets     []string `json:"sets"`
	Required bool     `json:"required"`
	Position *int     `json:"position"`
	Pipeline []string `json:"pipeline"`
	Aliases  []string `json:"aliases"`
}

type docModeled struct {
	Parent     *string `json:"parent"`
	Properties []struct {
		Name string   `json:"name"`
		Type string   `json:"type"`
		LDAP []string `json:"ldap"`
	} `json:"properties"`
}

func readContract(t *testing.T, file string) contract {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	var c contract
	require.NoError(t, json.Unmarshal(raw, &c))
	return c
}

func TestDataIsCurrent(t *testing.T) {
	ad, dns := readContract(t, "activedirectory.json"), readContract(t, "dnsserver.json")
	laps, diagnostics := readContract(t, "laps.json"), readContract(t, "diagnostics.json")
	files := map[string][]byte{
		"laps.ndjson":            cmdletLines(t, laps),
		"diagnostics.ndjson":     cmdletLines(t, diagnostics),
		"activedirectory.ndjson": cmdletLines(t, ad),
		"dnsserver.ndjson":       cmdletLines(t, dns),
		"objectmodel.ndjson":     modelLines(t, ad),
	}
	for name, want := range files {
		path := filepath.Join("data", name)
		if *update {
			require.NoError(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), "%s is not what the contract says: run with -update", name)
	}
}

func line(t *testing.T, buf *bytes.Buffer, name string, v any) {
	t.Helper()
	buf.WriteString(name + "\t")
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
}

func cmdletLines(t *testing.T, c contract) []byte {
	var buf bytes.Buffer
	for _, name := range sortedKeys(c.Cmdlets) {
		line(t, &buf, name, compactCmdlet(t, name, c.Cmdlets[name]))
	}
	return buf.Bytes()
}

func modelLines(t *testing.T, c contract) []byte {
	var buf bytes.Buffer
	for _, name := range sortedKeys(c.Model) {
		d := c.Model[name]
		var w wireClass
		if d.Parent != nil {
			w.Parent = *d.Parent
		}
		for _, p := range d.Properties {
			w.Properties = append(w.Properties, Property{Name: p.Name, Type: shortType(p.Type), LDAP: p.LDAP})
		}
		line(t, &buf, name, w)
	}
	return buf.Bytes()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func compactCmdlet(t *testing.T, name string, d docCmdlet) wireCmdlet {
	w := wireCmdlet{
		Should: d.Should, Force: d.Force, Missing: d.MissingIn, Notes: d.NotWorkingWith,
		// Every Remove cmdlet prompts (facts A36), even if its page does not mention that.
		Prompts: len(d.Prompts) > 0 || d.Should && strings.HasPrefix(name, "Remove-"),
	}
	for _, o := range d.Outputs {
		if o != "None" && o != "None." {
			w.Outputs = append(w.Outputs, o)
		}
	}
	for _, s := range d.Sets {
		if s.Name == nil {
			require.Len(t, d.Sets, 1, "%s: an unnamed set among several", name)
			continue
		}
		w.Sets = append(w.Sets, *s.Name)
		if s.IsDefault != nil && *s.IsDefault && len(d.Sets) > 1 {
			require.Empty(t, w.Default, "%s: two default sets", name)
			w.Default = *s.Name
		}
	}
	for _, p := range d.Params {
		w.Params = append(w.Params, compactParam(t, name, d, p))
	}
	return w
}

func compactParam(t *testing.T, cmdlet string, d docCmdlet, p docParam) wireParam {
	w := wireParam{
		Name: p.Name, Type: shortType(p.Type), Values: p.Values, LDAP: p.LDAPName,
		Ident: p.Identifiers, Wildcard: p.Wildcard, Missing: p.MissingIn, Aliases: p.Aliases,
	}
	// Pages of versions older than the parameter's release list it by mistake.
	for _, a := range d.Anomalies {
		if a.Kind == "listedBeforeItsRelease" && a.Param == p.Name {
			w.Missing = append(append([]string(nil), a.In...), w.Missing...)
		}
	}
	for _, f := range p.PerSet {
		if len(w.Aliases) == 0 {
			w.Aliases = f.Aliases
		}
	}
	w.Codes = codes(p)
	for i, s := range d.Sets {
		for _, row := range s.Params {
			if row.Name == p.Name {
				in := wireSet{Sets: []int{i}, Mandatory: row.Mandatory}
				if row.Position != nil {
					in.Position = *row.Position + 1
				}
				in.Value, in.Property = pipeline(p, s.Name)
				w.In = append(w.In, in)
			}
		}
	}
	if len(w.In) == 0 {
		// The parameter is in no SYNTAX of the base version, because only a newer version has it.
		// The table then decides.
		require.NotEmpty(t, p.MissingIn, "%s -%s is in no set", cmdlet, p.Name)
		for i, s := range d.Sets {
			if s.Name != nil && slices.Contains(p.Sets, *s.Name) {
				w.In = append(w.In, wireSet{Sets: []int{i}, Mandatory: p.Required})
			}
		}
		require.NotEmpty(t, w.In, "%s -%s is in no set", cmdlet, p.Name)
	}
	w.In = merge(w.In, len(d.Sets))
	return w
}

// pipeline returns the table's entry for a set. "unspecified" counts as neither.
func pipeline(p docParam, set *string) (value, property bool) {
	facts := p.docFacts
	for _, f := range p.PerSet {
		if set != nil && slices.Contains(f.Sets, *set) {
			facts = f
		}
	}
	return slices.Contains(facts.Pipeline, "ByValue"), slices.Contains(facts.Pipeline, "ByPropertyName")
}

// merge joins sets with the same behavior and drops defaults.
func merge(in []wireSet, sets int) []wireSet {
	var out []wireSet
next:
	for _, s := range in {
		for i := range out {
			o := &out[i]
			if o.Mandatory == s.Mandatory && o.Position == s.Position && o.Value == s.Value &&
				o.Property == s.Property {
				o.Sets = append(o.Sets, s.Sets...)
				continue next
			}
		}
		out = append(out, s)
	}
	if len(out) == 1 && len(out[0].Sets) == sets {
		out[0].Sets = nil
		if !out[0].Mandatory && out[0].Position == 0 && !out[0].Value && !out[0].Property {
			return nil
		}
	}
	return out
}

// codes returns the numbers of the accepted values, or nil unless every value has one.
func codes(p docParam) []int64 {
	byName := map[string]int64{}
	for name, code := range p.Codes {
		if n, ok := code.(float64); ok {
			byName[strings.ToLower(name)] = int64(n)
		}
	}
	var out []int64
	for _, v := range p.Values {
		n, ok := byName[strings.ToLower(v)]
		if !ok {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// shortType drops the namespace, because some pages print System.String and others String.
func shortType(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

func TestEveryCmdletIsReadAsTheContractSaysIt(t *testing.T) {
	for _, file := range []string{"activedirectory.json", "dnsserver.json", "laps.json", "diagnostics.json"} {
		doc := readContract(t, file)
		for name, d := range doc.Cmdlets {
			c, ok := Lookup(strings.ToUpper(name))
			require.True(t, ok, name)
			assert.Equal(t, name, c.Name)
			assert.Equal(t, doc.Module, c.Module)
			assert.Len(t, c.Params, len(d.Params), name)
			assert.Len(t, c.Sets, len(d.Sets), name)
			for _, s := range d.Sets {
				set := AllSets
				if s.Name != nil {
					set = *s.Name
				}
				for _, row := range s.Params {
					p := c.Param(row.Name)
					require.NotNil(t, p, "%s -%s", name, row.Name)
					in, ok := p.In(set)
					require.True(t, ok, "%s -%s in %s", name, row.Name, set)
					assert.Equal(t, row.Mandatory, in.Mandatory, "%s -%s in %s", name, row.Name, set)
					if row.Position == nil {
						assert.Equal(t, -1, in.Position, "%s -%s", name, row.Name)
					} else {
						assert.Equal(t, *row.Position, in.Position, "%s -%s", name, row.Name)
					}
				}
			}
			for _, p := range c.Params {
				if name == "New-ADServiceAccount" && p.Name == "CreateDelegatedServiceAccount" {
					continue // in no SYNTAX of the base version, so its sets come from the table
				}
				for _, in := range p.PerSet {
					assert.True(t, setHas(d, in.Set, p.Name), "%s -%s is not in %s", name, p.Name, in.Set)
				}
			}
		}
		assert.Len(t, Module(doc.Module), len(doc.Cmdlets))
	}
}

func setHas(d docCmdlet, set, param string) bool {
	for _, s := range d.Sets {
		if s.Name == nil && set == AllSets || s.Name != nil && *s.Name == set {
			for _, row := range s.Params {
				if row.Name == param {
					return true
				}
			}
		}
	}
	return false
}

func TestEveryClassIsRead(t *testing.T) {
	doc := readContract(t, "activedirectory.json")
	for name, d := range doc.Model {
		c, ok := LookupClass(strings.ToLower(name))
		require.True(t, ok, name)
		assert.Equal(t, name, c.Name)
		require.Len(t, c.Properties, len(d.Properties), name)
		for i, p := range d.Properties {
			assert.Equal(t, p.Name, c.Properties[i].Name)
			assert.Equal(t, p.LDAP, c.Properties[i].LDAP)
		}
	}
	assert.Len(t, classes(), len(doc.Model))
}
