package clients

import (
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// actionCall is an operation in the form that the module change calls.
type actionCall struct {
	ID     string            `json:"id"`
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Places map[string]string `json:"places"`
	// Previews means that the operation has a dry run, Reveals that it changes nothing but
	// returns a secret, and Secret that its answer contains a secret.
	Previews bool `json:"previews,omitempty"`
	Reveals  bool `json:"reveals,omitempty"`
	Secret   bool `json:"secret,omitempty"`
}

// actionOf returns an operation in the form that the module change calls, or nil if the module does not offer
// it. It does not offer operations of other protocols, reads, operations whose body is a list, and operations
// that take a secret.
func actionOf(op *ops.Operation) *actionCall {
	if op.Protocol != nil || op.Takes != nil || !op.Effect.Writes() && !op.Reveals {
		return nil
	}
	c := &actionCall{ID: op.ID, Method: op.Method, Path: op.Path, Places: map[string]string{}}
	c.Reveals, c.Secret = op.Reveals, op.Reveals
	for i := range op.Params {
		p := &op.Params[i]
		switch {
		case p.Kind.Secret():
			return nil
		case p.Path != "":
			c.Places[p.Name] = p.Path
		case p.Name == ops.DryRun && !op.Accepted:
			c.Previews = true
		}
	}
	if shape := op.Reply.Shape; shape != nil {
		secret := func(f schema.Field) bool { return f.Secret || f.Sealed }
		c.Secret = c.Secret || slices.ContainsFunc(shape.Fields, secret)
	}
	return c
}

const changeHead = `
DOCUMENTATION = r'''
module: change
short_description: Make one change with any operation
version_added: "1.0.0"
author:
  - The adgateway authors (@adgateway)
description:
  - Calls a write operation of the gateway once, such as a job for stale computers, the removal of all records that refer to a host,
    a photo, or the reveal of a password. Where a module that manages a state exists, use that module instead.
extends_documentation_fragment:
  - adgateway.ad.gateway
notes:
  - Check mode and diff mode are supported. For an operation without a dry run, check mode only reports that it would run.
  - An operation whose answer contains a secret requires C(no_log) for the task. It changes nothing and is never repeated.
options:
  operation:
    description:
      - C(operationId) of the operation, as in C(/docs) of the gateway.
    type: str
    required: true
    choices:
`

const changeTail = `  parameters:
    description:
      - Parameters of the operation, whether in the path, the query, or the body. A list has one element for each value.
    type: dict
    default: {}
'''

EXAMPLES = r'''
- name: Make a dry run of a job that disables computers not used for half a year
  adgateway.ad.change:
    operation: job.submitStaleComputers
    parameters:
      Action: disable
      Days: 180
      DryRun: true

- name: Remove all DNS records that refer to a host
  adgateway.ad.change:
    operation: record.deleteHost
    parameters:
      HostName: app7.corp.example

- name: Reveal a local administrator password
  adgateway.ad.change:
    operation: computer.revealLocalAdmin
    parameters:
      ADComputerName: PC01
      Reason: ticket 4711
  no_log: true
  register: revealed
'''

RETURN = r'''
output:
  description: Sentence that describes the outcome.
  returned: if a call was sent
  type: str
records:
  description: Records of the answer.
  returned: always
  type: list
  elements: dict
plans:
  description: IDs of the plans of the change.
  returned: always
  type: list
  elements: str
'''

from ansible_collections.adgateway.ad.plugins.module_utils.gateway import change

OPERATIONS = `

// changeModule returns the module that calls any operation with an effect.
func changeModule(table []*ops.Operation) string {
	calls := map[string]*actionCall{}
	var ids []string
	for _, op := range table {
		if c := actionOf(op); c != nil {
			calls[op.ID], ids = c, append(ids, op.ID)
		}
	}
	slices.Sort(ids)
	choices := "      - " + strings.Join(ids, "\n      - ") + "\n"
	return pythonHead + changeHead + choices + changeTail + python(calls, "") + `


def main():
    change(OPERATIONS)


if __name__ == '__main__':
    main()
`
}

// memberStates maps the states of the module group_members to operations.
var memberStates = map[string]string{
	"present": "membership.addMembers", "absent": "membership.removeMembers", "exact": "membership.setMembers",
}

const membersHead = `
DOCUMENTATION = r'''
module: group_members
short_description: Manage the members of a group
version_added: "1.0.0"
author:
  - The adgateway authors (@adgateway)
description:
  - Adds members of any class to a group, removes members, or replaces all members, in one change.
  - A member is given by account name, C(DOMAIN\name), distinguished name, GUID, or SID, and can belong to another domain of the forest.
extends_documentation_fragment:
  - adgateway.ad.gateway
notes:
  - Check mode and diff mode are supported.
  - If a member is not found or cannot be in the group, nothing is changed, and C(details) lists all such members.
options:
`

const membersTail = `'''

EXAMPLES = r'''
- name: Ensure that the group has these members
  adgateway.ad.group_members:
    group: VPN Users
    members: [aschmidt, 'EUROPE\eemea']

- name: Ensure that the group has exactly these members
  adgateway.ad.group_members:
    group: Project Phoenix
    members: [aschmidt, lweber, PC01$]
    state: exact
'''

RETURN = r'''
output:
  description: Sentence that describes the outcome.
  returned: if a call was sent
  type: str
result:
  description: Group, with the members that were added and removed.
  returned: if it was changed
  type: dict
plans:
  description: IDs of the plans of the changes.
  returned: always
  type: list
  elements: str
'''

from ansible_collections.adgateway.ad.plugins.module_utils.gateway import reach_members

SPEC = `

const membersMain = `


def main():
    reach_members(SPEC)


if __name__ == '__main__':
    main()
`

// membersModule returns the module that manages the members of a group.
func membersModule(rows map[string]*ops.Operation) (string, error) {
	m := &module{rows: rows, options: map[string]*option{}}
	m.state = &state{name: "group_members", noun: "members of a group", identity: []string{"group"}}
	spec := map[string]any{"title": m.noun, "identity": m.identity}
	for _, state := range slices.Sorted(maps.Keys(memberStates)) {
		c, err := m.called(memberStates[state])
		if err != nil {
			return "", err
		}
		spec[state] = c
	}
	m.options["members"].Required = true
	m.options["members"].doc = "The members to add or to remove, or all the members that the group has."
	m.options["state"] = &option{
		Type: "str", Choices: []string{"present", "absent", "exact"}, Default: "present",
		doc: "Whether these are members, are none, or are all the members of the group.",
	}
	spec["options"] = m.options
	var b strings.Builder
	b.WriteString(pythonHead + membersHead)
	for _, name := range slices.Sorted(maps.Keys(m.options)) {
		m.options[name].document(&b, name)
	}
	b.WriteString(membersTail + python(spec, "") + membersMain)
	return b.String(), nil
}
