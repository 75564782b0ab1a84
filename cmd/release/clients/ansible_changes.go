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
	return ansibleText("change", "@CHOICES@", choices, "@OPERATIONS@", python(calls, ""))
}

// memberStates maps the states of the module group_members to operations.
var memberStates = map[string]string{
	"present": "membership.addMembers", "absent": "membership.removeMembers", "exact": "membership.setMembers",
}

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
	var options strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.options)) {
		m.options[name].document(&options, name)
	}
	return ansibleText("group_members", "@OPTIONS@", options.String(), "@SPEC@", python(spec, "")), nil
}
