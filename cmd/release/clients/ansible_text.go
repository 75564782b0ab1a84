package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

const pythonHead = `#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 The adgateway authors
# MIT License (see LICENSE or https://opensource.org/licenses/MIT)
# Generated from the operations of the gateway.

from __future__ import absolute_import, division, print_function

__metaclass__ = type
`

const docFragment = `# -*- coding: utf-8 -*-
# Copyright (c) 2026 The adgateway authors
# MIT License (see LICENSE or https://opensource.org/licenses/MIT)

from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """The common options of all modules of the collection."""

    DOCUMENTATION = r'''
options:
  gateway_url:
    description:
      - Address of the gateway without C(/api), such as C(https://gateway.corp.example:8443).
      - If not set, the environment variable C(ADGATEWAY_URL) is used.
      - C(http) is allowed only for a gateway on the same computer.
    type: str
    required: true
  token:
    description:
      - Token of the gateway, in the standard dialect.
      - If not set, the environment variable C(ADGATEWAY_TOKEN) is used.
    type: str
    required: true
  ca_path:
    description:
      - PEM file with certificates of authorities to trust in addition to those that the computer trusts.
      - If not set, the environment variable C(ADGATEWAY_CA_PATH) is used.
    type: path
  timeout:
    description:
      - Time to wait for an answer, in seconds. A change that takes longer continues at the gateway.
    type: int
    default: 120
  retry_seconds:
    description:
      - Time during which a call is repeated if the gateway is busy or unreachable (429, 502, 503, 504), in seconds.
      - The pause is the time in C(Retry-After). A repeated change has the same C(Idempotency-Key).
    type: int
    default: 60
requirements:
  - A gateway that is reachable from the computer on which the module runs.
'''
`

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
	var b strings.Builder
	b.WriteString(pythonHead + "\nDOCUMENTATION = r'''\n")
	fmt.Fprintf(&b, "module: %s\nshort_description: Manage a %s\nversion_added: \"1.0.0\"\nauthor:\n"+
		"  - The adgateway authors (@adgateway)\n", m.name, m.noun)
	fmt.Fprintf(&b, "description:\n  - %s\n  - %s\n",
		yaml("Creates, changes or removes a "+m.noun+" through a gateway. Values that are not given do not "+
			"change."),
		yaml("The gateway first plans the change in a dry run. The change is then made exactly as planned, or "+
			"not at all."))
	b.WriteString("extends_documentation_fragment:\n  - adgateway.ad.gateway\nnotes:\n" +
		"  - Check mode and diff mode are supported.\n")
	for _, note := range m.notes {
		fmt.Fprintf(&b, "  - %s\n", yaml(note))
	}
	fmt.Fprintf(&b, "  - %s\noptions:\n", yaml("Requires the scopes "+strings.Join(m.scopes(), ", ")+"."))
	for _, name := range slices.Sorted(maps.Keys(m.options)) {
		m.options[name].document(&b, name)
	}
	b.WriteString("'''\n\nEXAMPLES = r'''\n" + m.examples() + "'''\n\nRETURN = r'''\n" + m.returned() +
		"'''\n\n")
	b.WriteString("from ansible_collections.adgateway.ad.plugins.module_utils.gateway import reach_state\n\n" +
		"SPEC = " + python(m.spec, "") + "\n")
	b.WriteString("\n\ndef main():\n    reach_state(SPEC)\n\n\nif __name__ == '__main__':\n    main()\n")
	return b.String()
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

// returned documents the return values of the module.
func (m *module) returned() string {
	var b strings.Builder
	b.WriteString(`output:
  description: Sentence that describes the outcome.
  returned: success
  type: str
plans:
  description: IDs of the plans of the changes that were made or, in check mode, would be made.
  returned: success
  type: list
  elements: str
code:
  description: Error code, such as C(not_found). C(msg) contains the error message.
  returned: failure
  type: str
details:
  description: All problems of a rejected call, each with the name of the field.
  returned: failure
  type: list
  elements: dict
request_id:
  description: ID of the failed request, which identifies it in the log and the audit log of the gateway.
  returned: failure
  type: str
result:
  description: Record of the object.
  returned: I(state=present), except in check mode for an object that would be created
  type: dict
  contains:
`)
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

const queryTail = `  parameters:
    description:
      - Parameters of the operation, by their names in C(/docs).
    type: dict
    default: {}
'''

EXAMPLES = r'''
- name: List users who have not logged on for two months
  adgateway.ad.query:
    operation: user.listAll
    parameters:
      Filter: enabled eq true and lastLogonApprox lt "-P60D"
      ShowFields: username,ouPath
      Limit: 500
  register: idle
'''

RETURN = r'''
records:
  description: Records of all pages.
  returned: success
  type: list
  elements: dict
output:
  description: Sentence that describes the answer.
  returned: success
  type: str
'''

from ansible_collections.adgateway.ad.plugins.module_utils.gateway import query

OPERATIONS = `

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
	return pythonHead + `
DOCUMENTATION = r'''
module: query
short_description: Read users, groups, computers, OUs, DNS, and the history
version_added: "1.0.0"
author:
  - The adgateway authors (@adgateway)
description:
  - Calls a read operation of the gateway and returns its records. All pages of a list are read.
extends_documentation_fragment:
  - adgateway.ad.gateway
notes:
  - Check mode is supported; nothing is changed.
options:
  operation:
    description:
      - C(operationId) of the operation, as in C(/docs) of the gateway.
    type: str
    required: true
    choices:
` + choices.String() + queryTail + python(reads, "") + `


def main():
    query(OPERATIONS)


if __name__ == '__main__':
    main()
`
}
