// Package ops declares every operation that the gateway offers.
//
// An [Operation] is one row of the API: its route, the scope it requires, its
// parameters, the script that serves it and the shape of its reply. Nothing about
// an endpoint is written anywhere else: routing, binding, answers, the API
// document and the audit derive from the row. [Table] returns all rows, one file
// per resource; [Check] verifies them against the scripts; [Operation.Bind] turns
// the values of a request into arguments of a script.
package ops

import (
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Operation is one row of the API.
type Operation struct {
	ID      string           // "user.create": operationId, audit name, metric label; unique
	Summary string           // one sentence
	Method  string           // http.MethodPost
	Also    string           // another method that is accepted, which the document does not list; empty: there is none
	Path    string           // "/api/ADUser/{UserName}"
	Scope   identity.Scope   // required of the caller; empty: none
	Or      []identity.Scope // any of them suffices instead of Scope; the operation then restricts itself to what the caller may do
	Effect  Effect           // decides what an empty string means and whether a run is cancelled when the client leaves
	Params  []Param
	Rules   []Rule // constraints across parameters, in order

	Script string  // "New-GatewayUser"
	Fixed  ps.Args // constant arguments: {"Category": "Security"}
	Lane   ps.Lane
	Reply  Reply
	Settle Settle        // how a write that was cut off is settled; zero for reads
	Fails  []schema.Code // domain failures, besides the faults of the request itself

	// Reveals reports that the answer has a secret of the directory. Such a read is a POST, which nothing
	// repeats or keeps, with a scope that [identity.All] does not imply and a [ReasonName]. It counts
	// against the caller's hourly limit, and the audit has its intent before the script runs.
	Reveals bool
	// Beside is another row that completes the record. Zero: none does.
	Beside Beside
	// Disrupts reports that the operation counts against the caller's hourly limit of
	// changes: it disables, renames, moves, ends a membership, or redirects or opens
	// a part of DNS.
	Disrupts bool
	// Extent names the count of the script that says how many objects the run affects
	// besides the one that is addressed, such as the records of a zone. The script gets
	// what the caller has left as ImpactLimit, and refuses more with too_many.
	Extent string

	// Sample is a good call: values of the parameters, as a caller writes them, with which the
	// operation succeeds in the domain of the sandbox. It must not be changed. Nil: none, which only
	// rows without a script and those that speak protocols of others have.
	Sample Given
	// Needs is a call of another row that creates, or removes, the object of the sample. Zero: the
	// domain of the sandbox has the right state.
	Needs Step

	// Local reports that the gateway itself answers, from its own data: there is no script.
	Local bool
	// Here reports that any gateway of a cluster answers from its own copy or about itself,
	// although it is Local. See [Operation.Where].
	Here bool
	// Takes are the media types of a body that is a list of calls; then no parameter is in
	// the body. Nil: the body has parameters.
	Takes []string
	// Answers are the media types of the answer, if it is not an envelope.
	Answers []string
	// Images are the media types of an image that is the answer to callers that prefer it to an envelope.
	Images []string
	// Makes reports that an update creates a missing object, which is 201.
	Makes bool
	// Accepted reports that the work continues after a success, which is 202.
	Accepted bool

	Undo  Undo  // how a change is taken back; zero for reads
	Guard Guard // which guards of a change are honoured; zero for reads

	// Protocol is the foreign protocol that the row speaks; nil: our own.
	Protocol *Protocol

	Timeout time.Duration // zero: the server's default for reads, lists or writes

	// Subject names the target of the operation in sentences; {Name} is replaced
	// by the value of a parameter: "user '{Username}'". A part in [brackets] is left
	// out if its parameter is absent.
	Subject string
	// Success is the sentence of a success. Besides parameters it may contain
	// {records} ("2 records"), {count:NAME} for one of the script's counts,
	// {counts} for all of them, and {also} for the objects changed along with the
	// first. Empty on reads, whose sentence follows from the mark of the reply.
	Success string
	// Partly is the sentence when some of it was done and some was not, if Success would say
	// that all of it was.
	Partly string
	// Unchanged is the sentence when the script had nothing to change.
	Unchanged string
}

// Beside is a row about the same target whose records are a member of another row's record: where that has
// null, the script of the row runs, too, within its own limit. Its failure is a warning.
type Beside struct {
	Row     string // id; empty: there is none
	Member  string // a list of objects
	Code    string // of the warning
	Unasked string // sentence without a full stop: what is not known then
	Given   func(*Bound) Given
}

// Step is a call of a row.
type Step struct {
	Row   string // id; empty: there is none
	Given Given
}

// Creates reports whether a success may be that an object was made.
func (op *Operation) Creates() bool { return op.Effect.Creates() || op.Makes }

// Effect is the effect of an operation on its target.
type Effect uint8

// The effects. Move and Rename are changes in which an empty text clears nothing.
const (
	_ Effect = iota
	Read
	Create
	Update
	Delete
	Move
	Rename
)

// Writes reports whether the operation may change something.
func (e Effect) Writes() bool { return e > Read }

// Creates reports whether the operation creates an object or a membership.
func (e Effect) Creates() bool { return e == Create }

func (e Effect) String() string {
	names := []string{"none", "read", "create", "update", "delete", "move", "rename"}
	if int(e) >= len(names) {
		return "unknown"
	}
	return names[e]
}

// Param is one parameter of an operation.
type Param struct {
	Name     string // as documented; case-insensitive on the wire: "Username"
	Path     string // placeholder of the path: "UserName"; empty: query, form or JSON
	Arg      string // parameter of the script, without the kind's suffix; empty: Name
	Item     int    // place in a list that several parameters fill, from 1; zero: the argument is the value
	Kind     schema.Kind
	Required bool
	Default  string         // value if absent; empty: the argument is omitted
	Classic  string         // value if absent in the classic dialect; empty: Default
	Implied  string         // the effect of an absent value that is no argument; for the API document
	Narrows  bool           // without it more would be changed, so that an empty text is refused
	Clears   bool           // required, but an empty text clears
	Moves    bool           // given in an update, it moves the object, which counts as a change
	Audited  bool           // optional, but shown in the audit: it narrows the target or the extent
	Scope    identity.Scope // also required if the parameter is given and not false
	Unsent   bool           // not an argument of the script: Protocol.Complete uses it
	Group    bool           // names a group, to which limits to named groups apply
	Here     bool           // given in the query, it makes the operation one that any gateway answers
	Doc      string
	Example  string // valid in the sandbox's domain; empty: the kind's

	// Without is a sentence that follows the sentence of a success if the parameter is absent.
	Without string

	// Generated is for a secret that the gateway generates if it is absent: the
	// member of the record that shows it, once.
	Generated string
}

// shares reports whether several parameters may feed the argument.
func (p *Param) shares() bool { return p.Item > 0 || schema.AttributeOf(p.Kind) != nil }

// arg returns the parameter of the script, without the kind's suffix.
func (p *Param) arg() string {
	if p.Arg != "" {
		return p.Arg
	}
	return p.Name
}

// Parts returns the arguments that the parameter becomes.
func (p *Param) Parts() []schema.Part {
	if p.Unsent {
		return nil
	}
	if p.Item > 0 {
		return []schema.Part{{Type: "string[]"}}
	}
	return p.Kind.Parts()
}

// Sample returns an example of a value; empty if there is none.
func (p *Param) Sample() string {
	if p.Example != "" {
		return p.Example
	}
	return p.Kind.Doc().Example
}

// Identifies reports whether the parameter identifies the target in the audit.
func (p *Param) Identifies() bool { return p.Path != "" || p.Required || p.Audited }

// Reply is the kind of an operation's answer.
type Reply struct {
	Shape *schema.Shape
	Mark  Mark
}

// Mark is the number of records in an answer and their form in the classic dialect.
type Mark string

// The marks.
const (
	List   Mark = "L"
	Single Mark = "1"
	Exists Mark = "?" // one existence; classic: a boolean
	Moment Mark = "t" // one last logon; classic: a date-time
	Events Mark = "E" // a stream of server-sent events, whose data are the records
)

// Rule is a constraint across parameters, applied once each of them has been
// accepted. It may complete the arguments.
type Rule struct {
	Doc   string
	Apply func(b *Bound) []schema.FieldError
}

// Table returns every operation, by resource. The rows are shared and must not be
// changed.
func Table() []*Operation { return table }

// Find returns the operation of a table that has an id; nil: none has it.
func Find(table []*Operation, id string) *Operation {
	for _, op := range table {
		if op.ID == id {
			return op
		}
	}
	return nil
}

var table = tagged(undoable(slices.Concat(
	previewable(slices.Concat(recordRows(), recordSetRows, reverseZoneRows, zoneRows, forwarderRows, delegationRows, membershipRows, membersRows, userRows, ouRows, groupRows, computerRows, localAdminRows, recoveryRows, taskRows, lockoutRows, staleRows, binRows)),
	acmeRows, externalDNSRows, planRows, historyRows, jobRows, clusterRows,
)))

// LastEventHeader is the header with which clients resume a stream of events.
const LastEventHeader = "Last-Event-ID"

// KeyHeader is the header with which changing operations run once, and KeyPattern matches its
// values.
const (
	KeyHeader = "Idempotency-Key"
	// ChangeHeader is the header of an answer that identifies the change that was made.
	ChangeHeader = "X-Change-Id"
	KeyPattern   = `[A-Za-z0-9._:-]{8,128}`
)

// Resources describes each resource, by the part of an operation's id before the
// dot.
var Resources = map[string]string{
	"cname":       "CNAME records of the DNS server",
	"a":           "A records of the DNS server",
	"aaaa":        "AAAA records of the DNS server",
	"ptr":         "PTR records of the DNS server",
	"txt":         "TXT records of the DNS server",
	"srv":         "SRV records of the DNS server",
	"mx":          "MX records of the DNS server",
	"caa":         "CAA records of the DNS server",
	"tlsa":        "TLSA records of the DNS server",
	"sshfp":       "SSHFP records of the DNS server",
	"dname":       "DNAME records of the DNS server",
	"record":      "Records of all types of the DNS server",
	"recordSet":   "Sets of records: all of one name and type",
	"reverseZone": "Reverse lookup zones of the DNS server",
	"zone":        "Zones of the DNS server, of all types",
	"lookupZone":  "Forward lookup zones of the DNS server",
	"forwarder":   "Conditional forwarders of the DNS server",
	"delegation":  "Delegations: names that the zones of the DNS server leave to other servers",
	"nameServer":  "Name servers of zones: the NS records of the zones themselves",
	"membership":  "Members of groups",
	"user":        "User accounts",
	"ou":          "Organizational units",
	"caller":      "The credential of a request",
	"search":      "Users, groups and computers",
	"group":       "Security and distribution groups",
	"computer":    "Computer accounts",
	"plan":        "Plans of changes that dry runs have made",
	"bin":         "Recycle Bin of the directory",
	"change":      "History of what the gateway has changed",
	"job":         "Lists of changes that run as one job",
	"externaldns": "Webhook provider for ExternalDNS",
	"cluster":     "The gateways of the cluster",
	"acme":        "Challenges of certificate authorities, in the protocols of their clients",
}

// Methods returns the methods that a request for the operation can have.
func (op *Operation) Methods() []string {
	if op.Also == "" {
		return []string{op.Method}
	}
	return []string{op.Method, op.Also}
}

// Param returns the parameter with the name, in any case, or nil. One in the path may
// be called by its placeholder, too.
func (op *Operation) Param(name string) *Param {
	for i := range op.Params {
		p := &op.Params[i]
		if EqualFold(p.Name, name) || p.Path != "" && EqualFold(p.Path, name) {
			return p
		}
	}
	return nil
}

// PhotoParam returns the parameter that a body of an image type is the value of, or nil.
func (op *Operation) PhotoParam() *Param {
	for i := range op.Params {
		if schema.PhotoTypes(op.Params[i].Kind) != nil {
			return &op.Params[i]
		}
	}
	return nil
}

// Secrets returns the names of the parameters that are secrets.
func (op *Operation) Secrets() []string {
	var names []string
	for _, p := range op.Params {
		if p.Kind.Secret() {
			names = append(names, p.Name)
		}
	}
	return names
}

// EqualFold reports whether the folds of two names are equal, see [Fold].
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Fold converts ASCII letters to lower case and nothing else. Fixed parts of paths
// and names of parameters are equal if their folds are.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			folded := []byte(s)
			for ; i < len(folded); i++ {
				folded[i] = lower(folded[i])
			}
			return string(folded)
		}
	}
	return s
}
