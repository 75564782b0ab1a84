package ops

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Parameter names of records.
const (
	zoneParam    = "ZoneName"
	addressParam = "IP_Address" // of PTR records, in place of owner and zone
	ttlParam     = "TimeToLive"
)

// recordRows returns the rows of all record types.
func recordRows() []*Operation {
	rows := slices.Concat(
		[]*Operation{recordList, recordGuard}, hostRows, []*Operation{controllerRow}, nameServerRows)
	for _, t := range schema.RecordTypes {
		if t.Resource == "" {
			continue
		}
		r := recordType{t}
		rows = append(rows, r.get(), r.listZone(), r.listAll(), r.listHostName())
		if t.Search != "" {
			rows = append(rows, r.listData())
		}
		rows = append(rows, r.create(), r.remove(), r.change())
	}
	return rows
}

// recordList is the list of a zone's records, of all types.
var recordList = &Operation{
	ID: "record.listZone", Summary: "Lists the records of a zone, of all types.",
	Path: "/api/DnsRecord/{ZoneName}", Scope: identity.DNSRead, Effect: Read,
	Params: []Param{
		{Name: zoneParam, Path: zoneParam, Kind: schema.Zone, Required: true, Doc: "Zone."},
		{Name: "Type", Kind: schema.RecordTypeList, Doc: "Record types to include. If absent, all types are included."},
		{Name: ownerParam, Arg: "Name", Kind: schema.Owner, Doc: "Owner name of the records to list. If absent, the records of all names are listed."},
		stampedBefore,
	},
	Fixed:   ps.Args{"Mixed": ps.Bool(true)},
	Script:  "Get-GatewayRecordList",
	Reply:   Reply{schema.Record, List},
	Fails:   []schema.Code{schema.NotFound, schema.Conflict},
	Subject: "zone '{ZoneName}'",
	Sample:  Given{"ZoneName": "corp.example"},
}

// recordGuard is the question whether the records of a name are guarded.
var recordGuard = &Operation{
	ID: "record.guard",
	Summary: "Shows whether the records of a name are guarded, that is, whether changes require the scope " +
		"privileged.",
	Path: "/api/DnsRecord/Guard/{ZoneName}", Scope: identity.DNSRead, Effect: Read,
	Params: []Param{
		{Name: zoneParam, Path: zoneParam, Kind: schema.Zone, Required: true, Doc: "Zone."},
		{Name: ownerParam, Arg: "Name", Kind: schema.Owner, Doc: "Owner name. If absent, all records in the zone count."},
		{Name: "Target", Kind: schema.Names, Example: "dc1.corp.example", Doc: "Targets of PTR records to check. If absent, no targets are checked."},
	},
	Script:  "Get-GatewayRecordGuard",
	Reply:   Reply{schema.RecordGuard, Single},
	Fails:   []schema.Code{schema.NotFound},
	Subject: "zone '{ZoneName}'",
	Sample:  Given{"ZoneName": "corp.example"},
}

const (
	hostParam   = "HostName"
	hostSubject = "host '{HostName}'"
)

// hostRows are the rows about all records that name a host, in all zones.
var hostRows = []*Operation{
	{
		ID:      "record.listHost",
		Summary: "Lists all records that refer to a host, in all zones: records with its name and records that point to it.",
		Path:    "/api/DnsRecord/Host/{HostName}", Scope: identity.DNSRead, Effect: Read,
		Params:  []Param{namedHost, hostTypes, stampedBefore},
		Rules:   []Rule{hostIsFull},
		Fixed:   ps.Args{"Mixed": ps.Bool(true)},
		Script:  "Get-GatewayRecordList",
		Reply:   Reply{schema.Record, List},
		Subject: hostSubject,
	},
	{
		ID:      "record.hostExists",
		Summary: "Reports whether any record refers to a host, by its name or as a target.",
		Path:    "/api/DnsRecord/Host/{HostName}/Exists", Scope: identity.DNSRead, Effect: Read,
		Params:  []Param{namedHost},
		Rules:   []Rule{hostIsFull},
		Script:  "Test-GatewayHost",
		Reply:   Reply{schema.Existence, Exists},
		Subject: hostSubject,
	},
	{
		ID:      "record.deleteHost",
		Summary: "Removes all records that refer to a host in one change: records with its name and records that point to it.",
		Path:    "/api/DnsRecord/Host/{HostName}", Scope: identity.DNSDelete, Effect: Delete,
		Params:    []Param{namedHost, audited(hostTypes)},
		Rules:     []Rule{hostIsFull},
		Script:    "Remove-GatewayHost",
		Reply:     Reply{schema.Record, List},
		Settle:    Settle{Script: "Confirm-GatewayHost"},
		Fails:     []schema.Code{schema.Protected, schema.TooMany, schema.Partial},
		Undo:      recordsBack,
		Guard:     Guard{Never: "it is about several records"},
		Subject:   hostSubject,
		Success:   "What names the {subject} was removed: {records}.",
		Unchanged: "Nothing was removed: no record that can be removed names the {subject}.",
		Sample:    Given{hostParam: "app3.corp.example"},
	},
}

// controllerRow removes the remains of a domain controller.
var controllerRow = &Operation{
	ID:      "record.deleteController",
	Summary: "Removes the DNS records that a former domain controller left behind, in one change.",
	Path:    "/api/DnsRecord/Controller/{HostName}", Scope: identity.DNSDelete, Effect: Delete,
	Params: []Param{namedHost}, Rules: []Rule{hostIsFull},
	Script: "Remove-GatewayHost", Fixed: ps.Args{"Controller": ps.Bool(true)},
	Reply:  Reply{schema.Record, List},
	Settle: Settle{Script: "Confirm-GatewayHost"},
	Fails: []schema.Code{
		schema.Protected, schema.TooMany, schema.Unprocessable, schema.Unavailable, schema.Partial,
	},
	Undo:      recordsBack,
	Guard:     Guard{Never: "it is about several records"},
	Subject:   "domain controller '{HostName}'",
	Success:   "What the {subject} had left was removed: {records}.",
	Unchanged: "Nothing was removed: the {subject} has left no record that can be removed.",
	Sample:    Given{hostParam: "app3.corp.example"},
}

var namedHost = Param{
	Name: hostParam, Path: hostParam, Arg: "Named", Kind: schema.Owner, Required: true,
	Example: "web1.corp.example",
	Doc:     "Fully qualified name of the host. A name with only one label must end with a dot.",
}

var hostTypes = Param{Name: "Type", Kind: schema.RecordTypeList, Doc: "Record types to include. If absent, " +
	"all types are included."}

// nameServerRows are the rows about the name servers of a zone.
var nameServerRows = []*Operation{
	{
		ID:      "nameServer.create",
		Summary: "Adds a name server to a zone. Also requires the scope `privileged`.",
		Path:    "/api/DnsNameServer", Scope: identity.DNSWrite, Effect: Create, Disrupts: true,
		Params: []Param{
			{Name: zoneParam, Kind: schema.Zone, Required: true, Doc: "Zone."},
			{Name: serverParam, Kind: schema.NewTarget, Required: true, Example: "ns9.corp.example", Doc: serverDoc},
			{Name: ttlParam, Kind: schema.TimeToLive, Doc: "Time to live, in seconds. If absent, the default of the zone is used."},
		},
		Script:  "New-GatewayNameServer",
		Reply:   Reply{schema.Record, Single},
		Settle:  Settle{Script: "Confirm-GatewayHost"},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Undo:    called("nameServer.delete", sameServer),
		Subject: serverSubject,
		Success: "The {subject} was added.",
	},
	{
		ID:      "nameServer.delete",
		Summary: "Removes a name server from a zone. Also requires the scope `privileged`.",
		Path:    "/api/DnsNameServer", Scope: identity.DNSDelete, Effect: Delete,
		Params: []Param{
			{Name: zoneParam, Kind: schema.Zone, Required: true, Doc: "Zone."},
			{Name: serverParam, Kind: schema.Target, Required: true, Example: "dc2.corp.example", Doc: serverDoc},
		},
		Script:  "Remove-GatewayNameServer",
		Reply:   Reply{schema.Record, Single},
		Settle:  Settle{Script: "Confirm-GatewayHost"},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected},
		Undo:    recordsBack,
		Guard:   Guard{Never: "name servers of a zone have no tags"},
		Subject: serverSubject,
		Success: "The {subject} was removed.",
	},
}

const (
	serverSubject = "name server '{NameServer}' of zone '{ZoneName}'"
	serverDoc     = "Name server; without a dot, a name in the zone."
)

// sameServer returns the parameters of a call for the name server that a change concerned.
func sameServer(d Done) Given {
	return Given{zoneParam: d.Texts[zoneParam], serverParam: d.Texts[serverParam]}
}

// audited returns a copy of a parameter whose value the audit shows.
func audited(p Param) Param {
	p.Audited = true
	return p
}

// stampedBefore selects records that dynamic update has not refreshed since a time.
var stampedBefore = Param{
	Name: "StampedBefore", Kind: schema.Moment, Example: "2026-10-01T00:00:00Z",
	Doc: "Time before which the records were last refreshed. Static records have no time stamp and are left " +
		"out. If absent, records of any age are listed.",
}

// hostIsFull refuses a host name without a zone.
var hostIsFull = Rule{
	Doc: "HostName must be a fully qualified name, with at least one dot",
	Apply: func(b *Bound) []schema.FieldError {
		if strings.Contains(b.Text(hostParam), ".") {
			return nil
		}
		return []schema.FieldError{{Field: hostParam, Code: schema.InvalidRequest,
			Message: "must be a name in full, such as web1.corp.example: all zones are searched"}}
	},
}

// recordType builds the rows of one record type.
type recordType struct{ *schema.RecordType }

// row adds the common parts of a type's operations.
func (r recordType) row(id string, op Operation) *Operation {
	op.ID = r.Resource + "." + id
	if op.Path == "" {
		op.Path = "/api/" + r.Path
	} else {
		op.Path = "/api/" + r.Path + "/" + op.Path
	}
	op.Fixed = ps.Args{"Type": ps.Text(r.Name)}
	op.Reply.Shape = r.Shape
	if op.Reply.Mark == List {
		op.Script, op.Fixed = "Get-GatewayRecordList", ps.Args{"Type": ps.List([]string{r.Name})}
	} else {
		op.Reply.Mark = Single
		op.Subject = r.subject()
	}
	if op.Effect == Read {
		op.Scope = identity.DNSRead
	} else {
		op.Settle = settleRecord
	}
	return &op
}

// subject names a record by its owner, data and zone, as far as they are given.
func (r recordType) subject() string {
	subject := r.Name + " record[ '{DNS_HostName}']"
	if r.Reverse {
		subject += "[ of '{IP_Address}']"
	}
	what := "the " + map[schema.RecordForm]string{schema.NameForm: "target", schema.AddressForm: "address",
		schema.TextForm: "text", schema.HexForm: "data"}[r.target().Form]
	return fmt.Sprintf("%s with %s '{%s}'[ in zone '{ZoneName}']", subject, what, r.target().Name)
}

// target is the last field of the data.
func (r recordType) target() *schema.RecordField { return &r.Fields[len(r.Fields)-1] }

// article returns "an MX record".
func (r recordType) article() string {
	switch r.Name[0] {
	case 'A', 'M', 'S': // letters whose names begin with a vowel
		return "an " + r.Name + " record"
	default:
		return "a " + r.Name + " record"
	}
}

func (r recordType) get() *Operation {
	codes := []schema.Code{schema.NotFound, schema.Conflict}
	if len(r.Fields) > 1 || r.Address { // some identifying parameters are optional
		codes = append(codes, schema.Ambiguous)
	}
	return r.row("get", Operation{
		Summary: "Finds one " + r.Name + " record.", Effect: Read,
		Params: r.identity(false), Rules: r.rules(schema.NotFound), Script: "Get-GatewayRecord",
		Fails: codes, Sample: r.sample(),
	})
}

func (r recordType) listZone() *Operation {
	return r.row("listZone", Operation{
		Summary: "Lists the " + r.Name + " records of a zone.", Effect: Read, Path: "{ZoneName}",
		Params: []Param{{Name: zoneParam, Path: zoneParam, Kind: schema.Zone, Required: true,
			Doc: "Zone."}},
		Reply:   Reply{Mark: List},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict},
		Subject: "zone '{ZoneName}'",
		Sample:  Given{zoneParam: r.Zone},
	})
}

func (r recordType) listAll() *Operation {
	return r.row("listAll", Operation{
		Summary: "Lists the " + r.Name + " records of all zones.", Effect: Read, Path: "All",
		Reply:   Reply{Mark: List},
		Subject: r.Name + " records",
	})
}

func (r recordType) listHostName() *Operation {
	return r.row("listHostName", Operation{
		Summary: "Lists the " + r.Name + " records with an owner name, in all zones.",
		Effect:  Read, Path: "HostName/{DNS_HostName}",
		Params: []Param{{Name: ownerParam, Path: ownerParam, Arg: "Name", Kind: schema.Owner, Required: true,
			Example: r.Example, Doc: "Owner name, either relative to its zone or fully qualified."}},
		Reply:   Reply{Mark: List},
		Subject: "name '{DNS_HostName}'",
	})
}

// listData returns the row that lists records by their target.
func (r recordType) listData() *Operation {
	f := r.target()
	p := Param{Name: f.Name, Path: f.Name, Arg: "Data", Item: len(r.Fields), Kind: f.Kind, Required: true,
		Example: f.Example, Doc: "Address that the records contain."}
	subject, with := "address", "an address"
	if f.Form == schema.NameForm {
		p.Doc = "Target of the records; without a dot, a name in the zone of each record."
		subject, with = "target", "a target"
	}
	return r.row(r.Found, Operation{
		Summary: "Lists the " + r.Name + " records with " + with + ", in all zones.",
		Effect:  Read, Path: r.Search + "/{" + f.Name + "}",
		Params:  []Param{p},
		Reply:   Reply{Mark: List},
		Subject: subject + " '{" + f.Name + "}'",
	})
}

func (r recordType) create() *Operation {
	params := append(r.identity(true), Param{Name: ttlParam, Kind: schema.TimeToLive,
		Doc: "Time to live, in seconds. If absent, the default of the zone is used.", Example: "3600"})
	if r.Address {
		params = append(params, createPtr)
	}
	return r.row("create", Operation{
		Summary: "Creates " + r.article() + ".", Scope: identity.DNSWrite, Effect: Create,
		Params: params, Rules: append(r.rules(schema.Unprocessable), ownerIsMeant),
		Script: "New-GatewayRecord",
		Fails: []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous,
			schema.Protected, schema.Unprocessable, schema.Partial},
		Success: "The {subject} was created{also}.",
		Sample:  r.newSample(),
	})
}

func (r recordType) remove() *Operation {
	params := r.identity(false)
	if r.Address {
		params = append(params, removePtr)
	}
	return r.row("delete", Operation{
		Summary: "Removes one " + r.Name + " record.", Scope: identity.DNSDelete, Effect: Delete,
		Params: zoneRequired(params, r.Reverse), Rules: r.rules(schema.NotFound),
		Script: "Remove-GatewayRecord",
		Fails: []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous,
			schema.Protected, schema.Unprocessable, schema.Partial},
		Success: "The {subject} was removed{also}.",
		Sample:  r.sample(),
	})
}

func (r recordType) change() *Operation {
	params := zoneRequired(r.identity(false), r.Reverse)
	for i := range r.Fields {
		f := &r.Fields[i]
		params = append(params, Param{Name: "New" + f.Name, Arg: "NewData", Item: i + 1, Kind: f.NewKind,
			Doc: "New value of " + f.Name + "."})
	}
	params = append(params,
		Param{Name: ttlParam, Kind: schema.TimeToLive,
			Doc: "New time to live, in seconds.", Example: "3600"},
		Param{Name: "MakeStatic", Kind: schema.Bool, Default: "false",
			Doc: "Whether to change a dynamic record, too, which makes it static. Otherwise, a dynamic record is " +
				"not changed."},
	)
	if r.Address {
		params = append(params, createPtr)
	}
	return r.row("change", Operation{
		Summary: "Changes one " + r.Name + " record.", Scope: identity.DNSWrite, Effect: Update,
		Params: params, Rules: append(r.rules(schema.Unprocessable), somethingNew(r)),
		Script: "Set-GatewayRecord",
		Fails: []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous,
			schema.Protected, schema.Unprocessable, schema.Partial},
		Success:   "The {subject} was changed.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample:    r.changedSample(),
	})
}

// identity returns the parameters that identify a record, or that describe a new one. The kinds
// keep a trailing dot, because the scripts complete names from the zone.
func (r recordType) identity(isNew bool) []Param {
	owner := Param{Name: ownerParam, Arg: "Name", Kind: schema.Owner, Required: !r.Reverse, Example: r.Example,
		Doc: ownerDoc}
	zone := Param{Name: zoneParam, Kind: schema.Zone, Required: !r.Reverse && (isNew || !r.Address),
		Example: r.Zone, Doc: "Zone."}
	if isNew {
		owner.Kind, owner.Example = schema.NewOwner, r.Another
	}
	if !isNew && r.Address {
		zone.Doc = "Zone. If absent, all zones are searched."
	}
	if r.Reverse {
		owner.Doc += " If absent, IP_Address is required."
		zone.Doc = "Zone. If absent, IP_Address is required, which determines the zone."
	}
	params := []Param{owner}
	if r.Reverse {
		params = append(params, Param{Name: addressParam, Arg: "Address", Kind: schema.Address,
			Example: addressOf(owner.Example, r.Zone),
			Doc:     "Address, which replaces DNS_HostName and ZoneName. If absent, these are required."})
	}
	var numbers []Param
	for i := range r.Fields {
		f := &r.Fields[i]
		p := Param{Name: f.Name, Arg: "Data", Item: i + 1, Kind: f.Kind, Required: f.Default == "", Doc: f.Doc,
			Example: f.Example}
		if isNew {
			p.Kind, p.Default, p.Example = f.NewKind, f.Default, f.Another
		} else if f.Form == schema.NumberForm {
			p.Required = false
			p.Doc += " If absent, any value matches."
		}
		if f.Form == schema.NumberForm {
			numbers = append(numbers, p)
		} else {
			params = append(params, p)
		}
	}
	return append(append(params, numbers...), zone)
}

// sample returns the parameters of a record that exists in the sandbox.
func (r recordType) sample() Given {
	sample := Given{zoneParam: r.Zone, ownerParam: r.Example}
	for i := range r.Fields {
		sample[r.Fields[i].Name] = r.Fields[i].Example
	}
	return sample
}

// newSample returns the parameters of a new record. It has the same name if a name can have several records
// of the type.
func (r recordType) newSample() Given {
	sample := r.sample()
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Changed != "" {
			sample[f.Name] = f.Changed
		}
	}
	if r.Alone {
		sample[ownerParam] = "sample"
	}
	return sample
}

// changedSample returns the parameters that change the first record into the second.
func (r recordType) changedSample() Given {
	sample := r.sample()
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Changed != "" {
			sample["New"+f.Name] = f.Changed
		}
	}
	return sample
}

// addressOf returns the IPv4 address of an owner in a reverse zone.
func addressOf(owner, zone string) string {
	octets := strings.Split(strings.TrimSuffix(FullName(owner, zone), ".in-addr.arpa"), ".")
	slices.Reverse(octets)
	return strings.Join(octets, ".")
}

// zoneRequired makes the zone required, as changes need it.
func zoneRequired(params []Param, reverse bool) []Param {
	for i := range params {
		if params[i].Name == zoneParam && !reverse {
			params[i].Required, params[i].Doc = true, "Zone."
		}
	}
	return params
}

var recordSetRows = []*Operation{
	{
		ID: "recordSet.get", Summary: "Shows a record set, that is, all records with the same name and type.",
		Path: "/api/DnsRecordSet", Scope: identity.DNSRead, Effect: Read,
		Params:  recordSetParams(),
		Rules:   []Rule{namesFit(schema.NotFound)},
		Script:  "Get-GatewayRecordSet",
		Reply:   Reply{schema.RecordSet, Single},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict},
		Subject: recordSetSubject,
	},
	{
		ID: "recordSet.put", Summary: "Replaces a record set, or creates it if it does not exist.",
		Path: "/api/DnsRecordSet", Scope: identity.DNSWrite, Effect: Update, Makes: true,
		Params: append(recordSetParams(),
			Param{Name: "Data", Kind: schema.RecordValues, Required: true, Scope: identity.DNSDelete,
				Doc: "Values of the records, in the format of data in answers."},
			Param{Name: ttlParam, Kind: schema.TimeToLive,
				Example: "3600", Doc: "Time to live of all values, in seconds. If absent, the lowest of the values " +
					"that stay is used, or the default of the zone."},
			Param{Name: "MakeStatic", Kind: schema.Bool, Default: "false",
				Doc: "Whether to change dynamic records, too, which makes them static. Otherwise, dynamic records are " +
					"not changed."},
		),
		Rules:  []Rule{namesFit(schema.Unprocessable), valuesFit},
		Fixed:  ps.Args{doubtArg: ps.List(nil), ownerDoubtArg: ps.Text("")},
		Script: "Set-GatewayRecordSet",
		Reply:  Reply{schema.RecordSet, Single},
		Settle: settleSet,
		Fails: []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous,
			schema.Protected, schema.Unprocessable, schema.Partial},
		Undo:      Undo{Rows: []string{"recordSet.put", "recordSet.delete"}, Calls: undoSet, Loss: stampLost},
		Guard:     Guard{Never: "sets of records have no tags"},
		Subject:   recordSetSubject,
		Success:   "The {subject} is as given now.",
		Partly:    "The {subject} is not yet as given.",
		Unchanged: "The {subject} already has these values; nothing was changed.",
		Sample: Given{
			"ZoneName": "corp.example", "DNS_HostName": "web1", "Type": "A", "Data": "10.0.1.31",
		},
	},
	{
		ID: "recordSet.delete", Summary: "Removes a record set, that is, all records with the same name and type.",
		Path: "/api/DnsRecordSet", Scope: identity.DNSDelete, Effect: Delete,
		Params: recordSetParams(),
		Rules:  []Rule{namesFit(schema.NotFound)},
		Script: "Remove-GatewayRecordSet",
		Reply:  Reply{schema.RecordSet, Single},
		Settle: settleSet,
		Fails: []schema.Code{schema.NotFound, schema.Conflict, schema.Ambiguous,
			schema.Protected, schema.Unprocessable, schema.Partial},
		Undo:    Undo{Rows: []string{"recordSet.put"}, Calls: undoSet, Loss: stampLost},
		Guard:   Guard{Never: "sets of records have no tags"},
		Subject: recordSetSubject,
		Success: "The {subject} was removed.",
		Partly:  "A part of the {subject} was removed.",
	},
}

const recordSetSubject = "set of {Type} records '{DNS_HostName}' in zone '{ZoneName}'"

// recordSetParams returns the parameters that identify a record set.
func recordSetParams() []Param {
	return []Param{
		{Name: zoneParam, Kind: schema.Zone, Required: true, Doc: "Zone."},
		{Name: ownerParam, Arg: "Name", Kind: schema.Owner, Required: true, Example: "web1", Doc: ownerDoc},
		{Name: "Type", Kind: schema.RecordTypeName, Required: true, Example: "A",
			Doc: "Type of the records."},
	}
}
