// Package clients generates clients for other tools from the table of operations: the PowerShell module
// AdGateway and the Ansible collection adgateway.ad.
//
// [Functions] returns the functions of the module, [Renamed] the functions under their former names, and
// [Module] the files. Code that all functions share is in core.psm1. [Collection] returns the files of the
// collection, with a module for each kind of object. Code that all modules share is in ansible/gateway.py.
package clients

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/ops"
)

// Function is a function of the module. Each parameter set calls one operation.
type Function struct {
	Verb, Noun string
	Sets       []Set  // in the order of the table, one for each operation
	Instead    string // for a former name: the function that replaces it, with its parameters; otherwise empty
}

// Set is a parameter set of a function.
type Set struct {
	Name   string
	Op     *ops.Operation
	Switch string // mandatory switch for a call that would otherwise select another set; empty if none
}

// Name returns the name of the function.
func (f *Function) Name() string { return f.Verb + "-" + f.Noun }

// callable reports whether the module calls an operation. Operations of other protocols have
// their own clients.
func callable(op *ops.Operation) bool {
	switch {
	case op.Protocol != nil:
		return false
	case op.Reply.Mark == ops.Events:
		return false // Windows PowerShell cannot read an endless answer, so -Wait polls
	}
	return op.Takes == nil && op.Answers == nil // Submit-AdgJob and Receive-AdgJob send and fetch lists
}

// Functions returns the functions of the module, sorted by name. Operations with the same effect on an
// object, or that list the same objects, are parameter sets of one function.
func Functions(table []*ops.Operation) ([]*Function, error) {
	byName := map[string]*Function{}
	var all []*Function
	for _, op := range table {
		if !callable(op) {
			continue
		}
		verb, noun, set, err := named(op)
		if err != nil {
			return nil, err
		}
		f := byName[verb+"-"+noun]
		if f == nil {
			f = &Function{Verb: verb, Noun: noun}
			byName[f.Name()] = f
			all = append(all, f)
		}
		f.Sets = append(f.Sets, Set{Name: set, Op: op})
	}
	for _, f := range all {
		slices.SortStableFunc(f.Sets, func(a, b Set) int { return rank(a) - rank(b) })
		f.distinguish()
	}
	sortByName(all)
	return all, nil
}

// Names of parameter sets.
const (
	identitySet = "Identity" // identifies the object itself
	guidSet     = "Guid"
)

// rank orders the set that identifies the object itself first.
func rank(s Set) int {
	if s.Name == identitySet {
		return 0
	}
	return 1
}

func sortByName(all []*Function) {
	slices.SortFunc(all, func(a, b *Function) int { return strings.Compare(a.Name(), b.Name()) })
}

// distinguish adds a switch to each set whose required parameters equal those of an earlier set.
func (f *Function) distinguish() {
	taken := map[string]bool{}
	for i := range f.Sets {
		names := required(f.Sets[i].Op)
		for k := range names {
			names[k] = parameterName(names[k])
		}
		slices.Sort(names)
		key := strings.Join(names, ",")
		if taken[key] {
			f.Sets[i].Switch = f.Sets[i].Name
		}
		taken[key] = true
	}
}

// defaultSet returns the set that a call selects if its parameters imply no other: the one
// with the fewest required parameters.
func (f *Function) defaultSet() *Set {
	return slices.MinFunc(pointers(f.Sets), func(a, b *Set) int {
		return cmp.Compare(len(required(a.Op))+len(a.Switch), len(required(b.Op))+len(b.Switch))
	})
}

func pointers(sets []Set) []*Set {
	out := make([]*Set, len(sets))
	for i := range sets {
		out[i] = &sets[i]
	}
	return out
}

func required(op *ops.Operation) []string {
	var names []string
	for i := range op.Params {
		if op.Params[i].Required {
			names = append(names, op.Params[i].Name)
		}
	}
	return names
}

// Renamed returns functions with the names of the previous version. They warn, call the function that
// replaces them, and will be removed in the next version.
func Renamed(table []*ops.Operation) ([]*Function, error) {
	now, err := Functions(table)
	if err != nil {
		return nil, err
	}
	var all []*Function
	for _, f := range now {
		for i := range f.Sets {
			set := &f.Sets[i]
			verb, noun, err := formerly(set.Op)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(now, func(x *Function) bool { return strings.EqualFold(x.Name(), verb+"-"+noun) }) {
				continue
			}
			instead := f.Name()
			if set.Switch != "" {
				instead += " -" + set.Switch
			} else if names := required(set.Op); len(names) > 0 && len(f.Sets) > 1 {
				instead += " -" + parameterName(names[0])
			}
			all = append(all, &Function{Verb: verb, Noun: noun, Sets: []Set{{Op: set.Op}}, Instead: instead})
		}
	}
	sortByName(all)
	return all, nil
}

// nouns maps resources to nouns.
var nouns = map[string]string{
	"cname": "CNameRecord", "a": "ARecord", "aaaa": "AAAARecord", "ptr": "PtrRecord", "txt": "TxtRecord", "srv": "SrvRecord", "mx": "MxRecord",
	"caa": "CaaRecord", "tlsa": "TlsaRecord", "sshfp": "SshfpRecord", "dname": "DNameRecord",
	"record": "DnsRecord", "recordSet": "DnsRecordSet", "reverseZone": "DnsReverseZone", "zone": "DnsZone", "lookupZone": "DnsLookupZone",
	"forwarder": "DnsForwarder", "delegation": "DnsDelegation", "membership": "Membership", "user": "User", "ou": "OU", "caller": "Caller",
	"nameServer": "DnsNameServer",
	"search":     "Object", "group": "Group", "computer": "Computer", "plan": "Plan", "bin": "RecycleBin", "change": "Change", "job": "Job", "cluster": "Cluster",
}

// prefix starts the noun of every function.
const prefix = "Adg"

// verbs maps the first word of an operation to an approved verb.
var verbs = map[string]string{
	"get": "Get", "list": "Get", "show": "Get", "find": "Find", "create": "New", "change": "Set", "update": "Set", "put": "Set", "set": "Set",
	"delete": "Remove", "remove": "Remove", "rename": "Rename", "move": "Move", "register": "Register", "enable": "Enable", "disable": "Disable",
	"unlock": "Unlock", "reset": "Reset", "add": "Add", "copy": "Copy", "restore": "Restore", "undo": "Undo",
	"start": "Start", "pause": "Suspend", "resume": "Resume", "cancel": "Stop", "retry": "Restart", "submit": "Submit",
	"reveal": "Show", "expire": "Reset",
}

// odd maps the ids of operations that contain no singular noun to nouns.
var odd = map[string]string{
	"group.members": "GroupMember", "membership.addMembers": "GroupMember", "membership.setMembers": "GroupMember",
	"membership.removeMembers": "GroupMember", "job.items": "JobItem", "zone.statistics": "DnsZoneStatistic",
	"computer.deleteMany":      "ComputerBatch",
	"job.submitStaleComputers": "StaleComputerJob", "job.submitStaleUsers": "StaleUserJob",
}

// words splits the id of an operation into its noun, its verb and the rest.
func words(op *ops.Operation) (noun, first, rest string, err error) {
	resource, action, _ := strings.Cut(op.ID, ".")
	if noun = nouns[resource]; noun == "" {
		return "", "", "", fmt.Errorf("%s: the resource has no noun", op.ID)
	}
	first = action
	if i := strings.IndexFunc(action, func(r rune) bool { return r <= 'Z' }); i > 0 {
		first, rest = action[:i], action[i:]
	}
	return noun, first, rest, nil
}

// named returns the name of an operation's function and its parameter set there.
func named(op *ops.Operation) (verb, noun, set string, err error) {
	noun, first, rest, err := words(op)
	if err != nil {
		return "", "", "", err
	}
	if other := odd[op.ID]; other != "" {
		noun, rest = other, ""
		if first == "members" || first == "items" || first == "statistics" {
			return "Get", prefix + noun, identitySet, nil
		}
	}
	if exists := strings.TrimSuffix(strings.ToLower(first+rest), "exists"); len(exists) < len(first+rest) {
		return "Test", prefix + noun, cmp.Or(title(exists), identitySet), nil
	}
	verb = verbs[first]
	switch {
	case first == "list":
		return verb, prefix + noun, cmp.Or(rest, "List"), nil
	case rest == "ByGuid" || rest == "Group" && noun == "Membership":
		return verb, prefix + noun, strings.TrimPrefix(rest, "By"), nil
	case verb != "":
		return verb, prefix + noun + rest, identitySet, nil
	case op.Effect == ops.Read:
		return "Get", prefix + noun + title(first+rest), identitySet, nil
	case op.Effect == ops.Update:
		return "Set", prefix + noun + title(first+rest), identitySet, nil
	}
	return "", "", "", fmt.Errorf("%s: what it does has no verb", op.ID)
}

// formerly returns the verb and the noun that an operation's function had in the previous version.
func formerly(op *ops.Operation) (verb, noun string, err error) {
	noun, first, rest, err := words(op)
	if err != nil {
		return "", "", err
	}
	noun = prefix + noun
	if before, exists := strings.CutSuffix(strings.ToLower(first+rest), "exists"); exists {
		return "Test", noun + title((first + rest)[:len(before)]), nil
	}
	verb = verbs[first]
	switch {
	case verb != "" && first == "list":
		return verb, noun + "List" + rest, nil
	case verb != "":
		return verb, noun + rest, nil
	case op.Effect == ops.Read:
		return "Get", noun + title(first+rest), nil
	case op.Effect == ops.Update:
		return "Set", noun + title(first+rest), nil
	}
	return "", "", fmt.Errorf("%s: what it does has no verb", op.ID)
}

// title returns a name with its first letter in upper case.
func title(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// high reports whether the function asks for confirmation, because it removes something or
// replaces a password.
func high(op *ops.Operation) bool {
	replaces := slices.ContainsFunc(op.Params, func(p ops.Param) bool { return p.Generated != "" })
	return op.Effect == ops.Delete || op.Effect == ops.Update && replaces
}
