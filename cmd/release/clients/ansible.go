package clients

import (
	_ "embed" // hand-written parts
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// The name of the Ansible collection.
const (
	CollectionNamespace = "adgateway"
	CollectionName      = "ad"
)

//go:embed ansible/gateway.py
var ansibleCore string

//go:embed ansible/fragment.py
var docFragment string

//go:embed ansible/README.md
var ansibleReadme string

// RequiresAnsible is the range of ansible-core versions that the collection supports.
const RequiresAnsible = ">=2.14.0"

// state is a module that keeps an object in a given state by calling operations.
type state struct {
	name, noun string
	identity   []string // options that identify the object
	read       string   // operation
	// operations; if there are several, the option in choice selects one by the position of its value
	create  []string
	choice  string
	choices []string
	update  []string
	remove  string
	on, off string
	// options that are distinguished names, each with its attribute and the options for its name and its parent
	joined map[string][3]string
	needed []string // options that a state requires in addition to the identity
	shown  []string // options shown in the example
	notes  []string
}

var states = []state{
	{
		name: "user", noun: "user", identity: []string{"username"}, read: "user.get", create: []string{"user.create"},
		update: []string{"user.update", "user.expiry"}, remove: "user.delete", on: "user.enable", off: "user.disable",
		shown: []string{"password", "first_name", "last_name", "job_title", "ou_path"},
		notes: []string{
			"A password cannot be read, so with update_password=always, the task always reports a change.",
			"Once the user has changed the password, change_password_next_logon is no longer true, and the next run sets it again.",
		},
	},
	{
		name: "group", noun: "group", identity: []string{"name"}, read: "group.get", create: []string{"group.createSecurity", "group.createDistribution"},
		choice: "category", choices: []string{"security", "distribution"}, update: []string{"group.update"}, remove: "group.delete",
		shown: []string{"scope", "description", "ou_path"},
		notes: []string{"The category of an existing group is not changed.", "With state=absent, ou_path is the OU that must directly contain the group."},
	},
	{
		name: "computer", noun: "computer", identity: []string{"name"}, read: "computer.get", create: []string{"computer.register"},
		update: []string{"computer.update", "computer.move"}, remove: "computer.delete", on: "computer.enable", off: "computer.disable",
		shown: []string{"description", "ou_path"},
	},
	{
		name: "ou", noun: "organizational unit", identity: []string{"name", "parent", "path"}, joined: map[string][3]string{"path": {"OU", "name", "parent"}},
		read: "ou.get", create: []string{"ou.create"}, update: []string{"ou.update"}, remove: "ou.delete", shown: []string{"description"},
		notes: []string{"With state=absent, force removes the protection from accidental deletion, and recursive also removes the objects below."},
	},
	{
		name: "membership", noun: "membership of a user in a group", identity: []string{"username", "group"}, read: "membership.get",
		create: []string{"membership.add"}, remove: "membership.remove",
	},
	{
		name: "nested_group", noun: "membership of a group in a group", identity: []string{"group", "member"}, read: "membership.groupExists",
		create: []string{"membership.addGroup"}, remove: "membership.removeGroup",
	},
	{
		name: "dns_record_set", noun: "set of all records with the same name and type", identity: []string{"zone", "name", "type"}, read: "recordSet.get",
		create: []string{"recordSet.put"}, update: []string{"recordSet.put"}, remove: "recordSet.delete", needed: []string{"data"}, shown: []string{"data", "ttl"},
		notes: []string{"Afterward, the set has exactly the values in data; other values with the same name and type are removed."},
	},
	{
		name: "dns_zone", noun: "forward lookup zone", identity: []string{"name"}, read: "zone.get", create: []string{"lookupZone.create"},
		remove: "lookupZone.delete", shown: []string{"replication_scope", "dynamic_update"},
		notes: []string{"replication_scope and dynamic_update of an existing zone are not changed."},
	},
	{
		name: "dns_reverse_zone", noun: "reverse lookup zone of a network", identity: []string{"network"}, read: "reverseZone.get",
		create: []string{"reverseZone.create"}, remove: "reverseZone.delete",
		notes: []string{"With state=absent, the zone is removed with its records."},
	},
}

// optionNames maps parameters to options that are not named after them in snake case, by
// module, or for all modules ("").
var optionNames = map[string]map[string]string{
	"": {
		"GroupDescription": "description", "GroupEmail": "email_address", "GroupScope": "scope", "NewDisplayName": "display_name",
		"ADComputerName": "name", "ADComputersName": "name", "ADComputerDescription": "description", "ComputerDescription": "description",
		"OUDescription": "description", "OUName": "name", "OUDestinationPath": "parent", "POBox": "po_box",
		"ZoneName": "zone", "DNS_HostName": "name", "TimeToLive": "ttl", "ParentGroupName": "group", "ChildGroupName": "member",
		"NetworkID": "network", "State": "state_or_province", "NetworkIDOrZoneName": "network",
	},
	"group":         {"GroupName": "name"},
	"membership":    {"GroupName": "group"},
	"group_members": {"GroupName": "group"},
	"ou":            {"OUPath": "path"},
	"dns_zone":      {"ZoneName": "name"},
}

// unoffered lists the parameters that are not options, because the modules set them or because they are
// synonyms.
var unoffered = []string{ops.DryRun, ops.PlanID, "WithETag", "ShowFields", "HomeFolderPath",
	"Recursive@membership"}

func (s *state) optionName(parameter string) string {
	if name := optionNames[s.name][parameter]; name != "" {
		return name
	}
	if name := optionNames[""][parameter]; name != "" {
		return name
	}
	return snake(parameter)
}

// snake converts a name such as HomeFolderPath to home_folder_path. Adjacent capitals form one word.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// option is an option of a module.
type option struct {
	Type     string   `json:"type"`
	Required bool     `json:"required,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Default  string   `json:"default,omitempty"`
	Elements string   `json:"elements,omitempty"`
	NoLog    *bool    `json:"no_log,omitempty"`
	doc      string
	example  string
}

// call is an operation in the form that the modules call.
type call struct {
	ID         string            `json:"id"`
	Method     string            `json:"method"`
	Path       string            `json:"path"`
	Places     map[string]string `json:"places"`
	Parameters map[string]string `json:"parameters"`
}

// module is a module that is being generated.
type module struct {
	*state
	rows    map[string]*ops.Operation
	options map[string]*option
	spec    map[string]any
}

// called returns an operation as a call, and adds its parameters to the options.
func (m *module) called(id string) (*call, error) {
	op := m.rows[id]
	if op == nil {
		return nil, fmt.Errorf("%s: there is no operation %s", m.name, id)
	}
	c := &call{op.ID, op.Method, op.Path, map[string]string{}, map[string]string{}}
	for i := range op.Params {
		p := &op.Params[i]
		if slices.Contains(unoffered, p.Name) || slices.Contains(unoffered, p.Name+"@"+m.name) {
			continue
		}
		name := m.optionName(p.Name)
		c.Parameters[p.Name] = name
		if p.Path != "" {
			c.Places[p.Name] = p.Path
		}
		if _, joined := m.joined[name]; joined || m.options[name] != nil {
			continue
		}
		m.options[name] = m.optionOf(p, name)
	}
	return c, nil
}

func (m *module) optionOf(p *ops.Param, name string) *option {
	d := p.Kind.Doc()
	o := &option{Type: "str", Choices: d.Enum, Required: slices.Contains(m.identity, name), doc: p.Doc,
		example: p.Sample()}
	if o.doc == "" {
		o.doc = d.Text
	}
	switch {
	case p.Kind.Secret():
		yes := true
		o.NoLog = &yes
	case schema.TakesList(p.Kind), schema.Repeats(p.Kind):
		o.Type, o.Elements = "list", "str"
	case d.Type == "boolean":
		o.Type = "bool"
	case d.Type == "integer":
		o.Type = "int"
	}
	if o.NoLog == nil && strings.Contains(name, "password") {
		no := false // Ansible would take an option such as change_password_next_logon for a secret
		o.NoLog = &no
	}
	return o
}

// build collects the options of a module and the values that it passes to the shared code.
func (s *state) build(rows map[string]*ops.Operation) (*module, error) {
	m := &module{state: s, rows: rows, options: map[string]*option{}}
	var failed error
	calls := func(ids ...string) []*call {
		all := []*call{}
		for _, id := range ids {
			c, err := m.called(id)
			if err != nil {
				failed = err
			}
			all = append(all, c)
		}
		return all
	}
	m.spec = map[string]any{"title": s.noun, "identity": s.identity}
	created := calls(s.create...)
	m.spec["create"] = created[0]
	if s.choice != "" {
		chosen := map[string]*call{}
		for i, word := range s.choices {
			chosen[word] = created[i]
		}
		m.spec["create"], m.spec["choice"] = chosen, s.choice
		m.options[s.choice] = &option{Type: "str", Choices: s.choices, Default: s.choices[0],
			doc: "Type of the " + s.noun + " to create."}
	}
	m.spec["update"] = calls(s.update...)
	m.spec["read"], m.spec["delete"] = calls(s.read)[0], calls(s.remove)[0]
	if s.on != "" {
		m.spec["switch"] = map[string]*call{"on": calls(s.on)[0], "off": calls(s.off)[0]}
		m.options["enabled"] = &option{Type: "bool", doc: "Whether the account is enabled."}
	}
	if s.joined != nil {
		m.spec["joined"] = s.joined
	}
	if s.needed != nil {
		m.spec["required_if"] = [][]any{{"state", "present", s.needed}}
	}
	var secrets []string
	for name, o := range m.options {
		if o.NoLog != nil && *o.NoLog {
			secrets = append(secrets, name)
		}
	}
	if secrets != nil {
		slices.Sort(secrets)
		no := false
		m.spec["secrets"] = secrets
		m.options["update_password"] = &option{Type: "str", Choices: []string{"on_create", "always"},
			Default: "on_create", NoLog: &no,
			doc: "Whether to set the password of an existing " + s.noun + ", too."}
	}
	if m.options["state"] != nil {
		return nil, fmt.Errorf("%s: a parameter has the name of the option state", m.name)
	}
	m.options["state"] = &option{Type: "str", Choices: []string{"present", "absent"}, Default: "present",
		doc: "State to ensure: whether the " + s.noun + " exists."}
	m.spec["options"] = m.options
	return m, failed
}

// Collection returns the files of the Ansible collection by their path in the collection.
func Collection(table []*ops.Operation) (map[string][]byte, error) {
	rows := map[string]*ops.Operation{}
	for _, op := range table {
		rows[op.ID] = op
	}
	files := map[string]string{
		"README.md":                         ansibleReadme,
		"plugins/module_utils/gateway.py":   ansibleCore,
		"plugins/modules/query.py":          queryModule(table),
		"plugins/modules/change.py":         changeModule(table),
		"plugins/doc_fragments/gateway.py":  docFragment,
		"plugins/module_utils/__init__.py":  "",
		"plugins/modules/__init__.py":       "",
		"plugins/doc_fragments/__init__.py": "",
	}
	members, err := membersModule(rows)
	if err != nil {
		return nil, err
	}
	files["plugins/modules/group_members.py"] = members
	names := []string{"query", "change", "group_members"}
	for i := range states {
		m, err := states[i].build(rows)
		if err != nil {
			return nil, err
		}
		names = append(names, m.name)
		files["plugins/modules/"+m.name+".py"] = m.text()
	}
	slices.Sort(names)
	files["meta/runtime.yml"] = fmt.Sprintf("---\nrequires_ansible: %q\naction_groups:\n  gateway:\n    - %s\n",
		RequiresAnsible, strings.Join(names, "\n    - "))
	out := map[string][]byte{}
	for path, text := range files {
		out[path] = []byte(text)
	}
	return out, nil
}

// python returns a value as a Python literal. Its lines are indented by indent.
func python(value any, indent string) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values of this package can be encoded
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		panic(err)
	}
	return literal(plain, indent)
}

func literal(value any, indent string) string {
	inner := indent + "    "
	var items []string
	switch v := value.(type) {
	case map[string]any:
		short := true
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text := literal(v[key], inner)
			short = short && !strings.Contains(text, "\n")
			items = append(items, quotedPython(key)+": "+text)
		}
		if line := "{" + strings.Join(items, ", ") + "}"; short && len(line)+len(indent) < 140 {
			return line
		}
		return "{\n" + inner + strings.Join(items, ",\n"+inner) + ",\n" + indent + "}"
	case []any:
		for _, item := range v {
			items = append(items, literal(item, inner))
		}
		if line := "[" + strings.Join(items, ", ") + "]"; !strings.Contains(line, "\n") {
			return line
		}
		return "[\n" + inner + strings.Join(items, ",\n"+inner) + ",\n" + indent + "]"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return quotedPython(v)
	default:
		return fmt.Sprint(v)
	}
}

func quotedPython(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(text) + "'"
}
