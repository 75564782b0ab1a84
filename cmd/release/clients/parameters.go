package clients

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// parameter is a parameter of a function.
type parameter struct {
	name, typ, doc string
	sets           []inSet // nil means optional in all sets
	aliases        []string
	byValue        bool // accepts values from the pipeline
	byName         bool // accepts the property or column of the same name
	words          []string
	completes      string // kind of names that the gateway completes, such as "user" or "zone"; empty if none
}

// inSet is the role of a parameter in a parameter set.
type inSet struct {
	set      string
	required bool
	position int // -1: by name only
}

// parameterName returns the name of an operation's parameter in the module, without the
// underscores of the API. The API's name remains as an alias.
func parameterName(name string) string {
	return title(strings.ReplaceAll(strings.ReplaceAll(name, "DNS_", ""), "_", ""))
}

// habits maps parameters to their names in the modules ActiveDirectory and DnsServer.
var habits = map[string][]string{
	"Username": {"SamAccountName"}, "ADComputerName": {"ComputerName"}, "OUPath": {"Path", "SearchBase"}, "OUDestinationPath": {"TargetPath"},
	"FirstName": {"GivenName"}, "LastName": {"Surname"}, "JobTitle": {"Title"}, "Password": {"AccountPassword"}, "EmailAddress": {"Mail"},
	"PasswordNeverExpired": {"PasswordNeverExpires"}, "ChangePasswordNextLogon": {"ChangePasswordAtLogon"}, "Street": {"StreetAddress"},
	"ZipCode": {"PostalCode"}, "ProfileLogonScript": {"ScriptPath"}, "HomeFolderDirectory": {"HomeDirectory"}, "HomeFolderDrive": {"HomeDrive"},
	"GroupDescription": {"Description"}, "ComputerDescription": {"Description"}, "ADComputerDescription": {"Description"}, "OUDescription": {"Description"},
	"IsProtected": {"ProtectedFromAccidentalDeletion"}, "ShowFields": {"Properties"}, "HostName": {"Name"}, "IPAddress": {"IPv4Address"},
	"AccountExpires": {"AccountExpirationDate"}, "NewName": {}, "TargetName": {"PtrDomainName", "NameTarget", "MailExchange"},
	"HostNameAlias": {"HostNameTarget"}, "Text": {"DescriptiveText"},
}

// members maps parameters to the members of the gateway's records that fill them.
var members = map[string][]string{
	"GroupName": {"samName"}, "ParentGroupName": {"samName"}, "ADComputerName": {"guid"}, "OUPath": {"path"}, "ZoneName": {"zone"}, "HostName": {"name"},
	"OUGuid": {"guid"}, "UserGuid": {"guid"}, "JobId": {"id"}, "ChangeId": {"id"}, "PlanId": {}, "Guid": {},
	"IPAddress": {"data"}, "IPv6Address": {"data"}, "HostNameAlias": {"data"}, "TargetName": {"target", "data"}, "Text": {"data"}, "Type": {},
	"Preference": {}, "Priority": {}, "Weight": {}, "Port": {}, "Tag": {}, "Value": {}, "Flags": {}, "Fingerprint": {}, "Algorithm": {}, "FingerprintType": {},
	"CertificateAssociationData": {}, "CertificateUsage": {}, "Selector": {}, "MatchingType": {}, "AccountExpires": {},
	"IfMatch": {"etag"},
}

// completers maps parameters to the kinds of names that the gateway completes.
var completers = map[string]string{
	"Username": "user", "GroupName": "group", "ParentGroupName": "group", "ChildGroupName": "group", "OUPath": "ou", "OUDestinationPath": "ou",
	"ZoneName": "zone", "ShowFields": "field",
}

// parameters returns the parameters of the operations, the required ones first, followed by
// the parameters that the module adds.
func (f *Function) parameters() ([]*parameter, error) {
	var all []*parameter
	find := func(name string) *parameter {
		if i := slices.IndexFunc(all, func(p *parameter) bool { return strings.EqualFold(p.name, name) }); i >= 0 {
			return all[i]
		}
		return nil
	}
	for i := range f.Sets {
		set := &f.Sets[i]
		position := 0
		for k := range set.Op.Params {
			p := &set.Op.Params[k]
			if p.Name == ops.DryRun { // -WhatIf
				continue
			}
			param := f.parameterOf(set, p)
			in := inSet{set: set.Name, required: p.Required, position: -1}
			if p.Required && !p.Kind.Secret() && (i == 0 || len(required(set.Op)) == 1 && find(param.name) != nil) {
				in.position = position
				position++
			}
			if known := find(param.name); known != nil {
				if known.typ != param.typ {
					return nil, fmt.Errorf("%s -%s has two types: %s and %s", f.Name(), param.name, known.typ, param.typ)
				}
				known.sets = append(known.sets, in)
				continue
			}
			param.sets = []inSet{in}
			all = append(all, param)
		}
		if set.Switch != "" {
			doc := "Lists " + lowerFirst(strings.TrimPrefix(set.Op.Summary, "Lists "))
			only := []inSet{{set.Name, true, -1}}
			all = append(all, &parameter{name: set.Switch, typ: "switch", doc: doc, sets: only})
		}
	}
	slices.SortStableFunc(all, func(a, b *parameter) int { return a.rank() - b.rank() })
	all = append(all, f.added()...)
	f.alias(all)
	return all, nil
}

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }

func (p *parameter) rank() int {
	if slices.ContainsFunc(p.sets, func(s inSet) bool { return s.required }) {
		return 0
	}
	return 1
}

// parameterOf returns a parameter of an operation.
func (f *Function) parameterOf(set *Set, p *ops.Param) *parameter {
	op := set.Op
	param := &parameter{name: parameterName(p.Name), typ: f.typeOf(op, p), doc: p.Doc}
	switch {
	case param.doc == "":
		param.doc = p.Kind.Doc().Text
	case schema.AttributeOf(p.Kind) != nil, schema.Attribute(p.Kind) != "" && !p.Kind.Secret():
		param.doc += " " + p.Kind.Doc().Text // it names the attribute
	}
	param.words = p.Kind.Doc().Enum
	if param.completes = completers[param.name]; param.completes == "field" {
		param.words = fieldNames(op)
	}
	_, known := members[param.name]
	switch {
	case p.Kind.Secret():
	case op.Effect.Writes():
		param.byName = p.Name != "Force" && p.Name != "Recursive" && op.ID != "computer.deleteMany"
	default: // an optional OUPath would be filled from the OUPath of piped records
		param.byName = p.Required || known && param.name != "OUPath" && p.Name != "Type" && p.Name != "Text"
	}
	// records also have a name, and an object needs only one of the two
	if set.Name == guidSet && len(f.Sets) > 1 {
		param.byName = param.byName && p.Name != required(op)[0]
	}
	first := required(op)
	if set == &f.Sets[0] && len(first) > 0 && first[0] == p.Name {
		param.byValue = !p.Kind.Secret() && op.ID != "computer.deleteMany"
	}
	return param
}

// many reports whether a function accepts several values for a parameter and makes a call for each.
func many(op *ops.Operation, p *ops.Param) bool {
	if op.Effect == ops.Create && !strings.HasPrefix(op.ID, "membership.add") {
		return false
	}
	return p.Path != "" && p.Required && op.Effect != ops.Rename
}

// many reports whether all of the function's sets that have the parameter accept several values.
func (f *Function) many(p *ops.Param) bool {
	for i := range f.Sets {
		op := f.Sets[i].Op
		for k := range op.Params {
			if parameterName(op.Params[k].Name) == parameterName(p.Name) && !many(op, &op.Params[k]) {
				return false
			}
		}
	}
	return true
}

// flag reports whether a parameter is a Boolean.
func flag(op *ops.Operation, p *ops.Param) bool {
	return p.Kind.Doc().Type == "boolean" && op.Effect.Writes() && !switches(p)
}

// switches reports whether a parameter is a flag for which absent means false, because it only selects how
// something is done.
func switches(p *ops.Param) bool {
	return slices.Contains([]string{
		"WithETag", "Force", "Recursive", "CreatePtr", "RemovePtr", "MakeStatic", "IncludePrivileged", "Remove",
	}, p.Name)
}

// typeOf returns the type of a parameter. Flags of changes also accept the texts true and false, which
// Import-Csv produces and [bool] does not accept.
func (f *Function) typeOf(op *ops.Operation, p *ops.Param) string {
	k := p.Kind
	switch {
	case k.Secret():
		return "System.Security.SecureString"
	case schema.TakesList(k), schema.Repeats(k), f.many(p):
		return "string[]"
	}
	switch k.Doc().Type {
	case "boolean":
		switch {
		case f.Instead != "":
			return "bool"
		case flag(op, p):
			return "object"
		}
		return "switch"
	case "integer":
		return "long"
	}
	if isTime(p) {
		return "object"
	}
	return "string"
}

// isTime reports whether a parameter accepts a time, as a [datetime] or as text.
func isTime(p *ops.Param) bool {
	return slices.Contains([]string{
		"Since", "Until", "DeletedSince", "AccountExpires", "StampedBefore", "NotBefore",
	}, p.Name)
}

// added returns the parameters that the module adds.
func (f *Function) added() []*parameter {
	var all []*parameter
	add := func(given bool, name, typ, doc string) {
		if given {
			all = append(all, &parameter{name: name, typ: typ, doc: doc, byName: name == "IfMatch"})
		}
	}
	writes := func(op *ops.Operation) bool { return op.Effect.Writes() }
	new := func(op *ops.Operation) bool { return op.Guard.New }
	any := func(holds func(op *ops.Operation) bool) bool {
		return slices.ContainsFunc(f.Sets, func(s Set) bool { return holds(s.Op) })
	}
	add(any(paged), "PageSize", "int", "Number of records in each page that is read; the default is 1000.")
	add(any(writes), "IdempotencyKey", "string", "Unique key for the call. If you repeat the call with the "+
		"same key, it is not run again.")
	add(any(guarded), "IfMatch", "string", "Entity tag that the object must have; otherwise, the change is "+
		"not made.")
	add(any(new), "OnlyIfNew", "switch", "Fails with precondition_failed if the object already exists.")
	add(f.forces(), "Force", "switch", "Makes the change without asking for confirmation.")
	add(f.quiet(), "PassThru", "switch", "Returns the object, with the ID of the change.")
	add(true, "Raw", "switch", "Returns the whole answer: output, result, next, warnings, and the IDs of the "+
		"request and the change.")
	return all
}

func paged(op *ops.Operation) bool {
	return op.Reply.Mark == ops.List && op.Param("After") != nil && op.Param(ops.LimitName) != nil
}

func guarded(op *ops.Operation) bool { return op.Effect.Writes() && op.Guard.Matches() }

// forces reports whether the function has a switch Force that suppresses the confirmation. If the operation
// itself has a parameter of that name, only -Confirm:$false suppresses it.
func (f *Function) forces() bool {
	return slices.ContainsFunc(f.Sets, func(s Set) bool { return high(s.Op) }) &&
		!slices.ContainsFunc(f.Sets, func(s Set) bool { return s.Op.Param("Force") != nil })
}

// quiet reports whether the function returns nothing without -PassThru, like its counterpart in the
// ActiveDirectory module.
func (f *Function) quiet() bool {
	return f.Instead == "" && slices.Contains([]string{"Remove", "Disable", "Enable", "Unlock"}, f.Verb)
}

// alias adds aliases to parameters: their familiar names, their API names and their names in records. It uses
// no name twice.
func (f *Function) alias(all []*parameter) {
	taken := map[string]bool{}
	for _, p := range all {
		taken[strings.ToLower(p.name)] = true
	}
	give := func(p *parameter, names ...string) {
		for _, name := range names {
			if key := strings.ToLower(name); !taken[key] {
				taken[key] = true
				p.aliases = append(p.aliases, name)
			}
		}
	}
	for i := range f.Sets {
		for k := range f.Sets[i].Op.Params {
			name := f.Sets[i].Op.Params[k].Name
			for _, p := range all {
				if p.name == parameterName(name) {
					give(p, name)
				}
			}
		}
	}
	creates := f.Verb == "New" || f.Verb == "Register"
	for _, p := range all {
		if p.byValue && !creates {
			give(p, "Identity")
		}
		give(p, habits[p.name]...)
		if p.byName && !creates {
			give(p, members[p.name]...)
		}
	}
	for _, p := range all { // lists use the terms of the ActiveDirectory module
		if p.name == "Limit" {
			give(p, "ResultSetSize")
		}
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
