package clients

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

//go:embed ansible
var ansibleFiles embed.FS

// ansibleText returns a module, with the placeholders of its file replaced. pairs alternates placeholders and
// texts.
func ansibleText(name string, pairs ...string) string {
	text, err := ansibleFiles.ReadFile("ansible/" + name + ".py.txt")
	if err != nil {
		panic(err) // all names are constant
	}
	return strings.NewReplacer(pairs...).Replace(string(text))
}

// yaml returns a text as a YAML scalar that can be part of a raw string in Python.
func yaml(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // any string can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// text returns the text of a module.
func (m *module) text() string {
	var notes, options strings.Builder
	required := "Requires the scopes " + strings.Join(m.scopes(), ", ") + "."
	for _, note := range append(slices.Clone(m.notes), required) {
		fmt.Fprintf(&notes, "  - %s\n", yaml(note))
	}
	for _, name := range slices.Sorted(maps.Keys(m.options)) {
		m.options[name].document(&options, name)
	}
	return ansibleText("module", "@NAME@", m.name, "@NOUN@", m.noun, "@NOTES@", notes.String(),
		"@OPTIONS@", options.String(), "@EXAMPLES@", m.examples(), "@FIELDS@", m.fields(),
		"@SPEC@", python(m.spec, ""))
}

func (o *option) document(b *strings.Builder, name string) {
	fmt.Fprintf(b, "  %s:\n    description:\n      - %s\n    type: %s\n", name, yaml(o.doc), o.Type)
	if o.Elements != "" {
		fmt.Fprintf(b, "    elements: %s\n", o.Elements)
	}
	if o.Required {
		b.WriteString("    required: true\n")
	}
	if o.Choices != nil {
		b.WriteString("    choices:\n")
		for _, choice := range o.Choices {
			fmt.Fprintf(b, "      - %s\n", yaml(choice))
		}
	}
	if o.Default != "" {
		fmt.Fprintf(b, "    default: %s\n", yaml(o.Default))
	}
}

// scopes returns the scopes that the operations of the module require.
func (m *module) scopes() []string {
	found := map[string]bool{}
	for _, id := range slices.Concat([]string{m.read, m.remove, m.on, m.off}, m.create, m.update) {
		if op := m.rows[id]; op != nil {
			found[string(op.Scope)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// examples returns a task for each state.
func (m *module) examples() string {
	var b strings.Builder
	for _, wanted := range []string{"present", "absent"} {
		names := slices.DeleteFunc(slices.Clone(m.identity),
			func(name string) bool { return m.options[name] == nil })
		if wanted == "present" {
			names = append(names, m.shown...)
		}
		fmt.Fprintf(&b, "- name: %s\n  adgateway.ad.%s:\n",
			yaml("Ensure that the "+m.noun+" is "+wanted), m.name)
		for _, name := range names {
			o := m.options[name]
			value := yaml(o.example)
			switch {
			case o.NoLog != nil && *o.NoLog:
				value = `"{{ vaulted_password }}"`
			case o.Type == "list":
				value = "[" + value + "]"
			case o.Type == "int" || o.Type == "bool":
				value = o.example
			}
			fmt.Fprintf(&b, "    %s: %s\n", name, value)
		}
		fmt.Fprintf(&b, "    state: %s\n", wanted)
	}
	return b.String()
}

// fieldTypes maps the types of fields to their names in Ansible.
var fieldTypes = map[schema.FieldType]string{
	schema.BoolField: "bool", schema.TextListField: "list", schema.NumberField: "int", schema.DecimalField: "float", schema.ObjectField: "dict", schema.ObjectListField: "list", schema.ValueField: "raw",
}

// fields documents the fields of the record that the module returns.
func (m *module) fields() string {
	var b strings.Builder
	for _, f := range m.rows[m.create[0]].Reply.Shape.Fields {
		if f.Extra != nil {
			continue // the module does not request fields
		}
		typ := fieldTypes[f.Type]
		if typ == "" {
			typ = "str"
		}
		doc := f.Doc
		if doc == "" {
			doc = "Value in the directory."
		}
		fmt.Fprintf(&b, "    %s:\n      description: %s\n      type: %s\n", f.Name, yaml(doc), typ)
	}
	return b.String()
}

// queryModule returns the module that calls any operation that reads.
func queryModule(table []*ops.Operation) string {
	reads := map[string]*call{}
	var rows []*ops.Operation
	for _, op := range table {
		if op.Effect != ops.Read || op.Protocol != nil || op.Method != "GET" {
			continue
		}
		c := &call{op.ID, op.Method, op.Path, map[string]string{}, map[string]string{}}
		for _, p := range op.Params {
			if p.Path != "" {
				c.Places[p.Name] = p.Path
			}
		}
		reads[op.ID], rows = c, append(rows, op)
	}
	slices.SortFunc(rows, func(a, b *ops.Operation) int { return strings.Compare(a.ID, b.ID) })
	var choices strings.Builder
	for _, op := range rows {
		fmt.Fprintf(&choices, "      - %s\n", op.ID)
	}
	return ansibleText("query", "@CHOICES@", choices.String(), "@OPERATIONS@", python(reads, ""))
}
