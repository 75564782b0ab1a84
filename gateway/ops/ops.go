// Package ops declares every operation that the gateway offers.
//
// An [Operation] is one row of the API: its route, the scope it requires, its parameters, the script that
// serves it and the shape of its reply. No other place describes an endpoint. Routing, binding, answers, the
// API document and the audit derive from the row. [Table] returns all rows, one file per resource; [Check]
// verifies them against the scripts; [Operation.Bind] turns the values of a request into arguments of a
// script.
package ops

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Operation is one row of the API.
type Operation struct {
	ID      string           // e.g. "user.create": operationId, audit name, metric label; unique
	Summary string           // one sentence
	Method  string           // empty in a declaration means the usual one of Effect, see [methods]
	Also    string           // another accepted method, which the API document does not list; empty if none
	Path    string           // e.g. "/api/ADUser/{UserName}"
	Scope   identity.Scope   // required of the caller; empty if none is
	Or      []identity.Scope // alternatives to Scope; the results are limited to what the caller's scopes open
	// decides what an empty string means and whether a run is canceled when the client leaves
	Effect Effect
	Params []Param
	Rules  []Rule // constraints across parameters, in order

	Script string  // e.g. "New-GatewayUser"
	Fixed  ps.Args // constant arguments, such as {"Category": "Security"}
	Lane   ps.Lane // of the script; set for groups of rows in the table
	Reply  Reply
	Settle Settle        // how an interrupted write is settled; zero for reads; see [usual]
	Fails  []schema.Code // domain failures, in addition to faults of the request itself

	// Reveals reports whether the answer contains a secret of the directory. Such a read is a POST, which
	// nothing repeats or caches. It needs a scope that [identity.All] does not imply, and a parameter
	// [ReasonName]. It counts against the caller's hourly limit, and its intent is in the audit before the
	// script runs.
	Reveals bool
	// Beside is another row that completes the record. It is zero if there is none.
	Beside Beside
	// Disrupts reports whether the operation counts against the caller's hourly limit of disruptive changes.
	// Such an operation disables, renames or moves an object, ends a membership, or redirects or opens a part of
	// DNS.
	Disrupts bool
	// Extent names the script's count of affected objects other than the addressed one, such as the
	// records of a zone. The script receives the rest of the caller's limit as ImpactLimit, and
	// refuses to affect more with too_many.
	Extent string

	// Sample is a valid call: parameter values, as a caller sends them, with which the operation
	// succeeds in the sandbox's domain. It must not be changed. It is nil only for rows without a
	// script and rows for third-party protocols. A declaration without one means the examples of the required
	// parameters.
	Sample Given
	// Needs is a call of another row that creates or removes the object of the sample. It is zero if
	// the sandbox's domain already has the right state.
	Needs Step

	// Local reports whether the gateway itself answers from its own data, without a script.
	Local bool
	// Here reports whether any gateway of a cluster can answer calls of a Local row, from its own copy or about
	// itself. See [Operation.Where].
	Here bool
	// Takes are the media types of a body that is a list of calls. Such a row has no parameters in the
	// body. If nil, the body holds parameters.
	Takes []string
	// Answers are the media types of an answer that is not an envelope.
	Answers []string
	// Images are the media types of an image. Callers that prefer one get the image instead of the
	// envelope.
	Images []string
	// Makes reports whether an update may create a missing object, which is answered with 201.
	Makes bool
	// Accepted reports whether the work continues after a successful answer, which then is 202.
	Accepted bool

	Undo  Undo  // how a change is undone; zero for reads
	Guard Guard // guards that a change honors; zero for reads

	// Protocol is the foreign protocol that the row speaks. If nil, it speaks our own.
	Protocol *Protocol

	Timeout time.Duration // zero means the server's default for reads, lists or writes

	// Subject names the target of the operation in sentences. {Name} is replaced by a parameter's
	// value, as in "user '{Username}'". A part in [brackets] is left out if its parameter is absent.
	Subject string
	// Success is the sentence for a success. In addition to parameters it may contain {records} ("2
	// records"), {count:NAME} for one of the script's counts, {counts} for all of them, and {also} for
	// the objects changed along with the first. It is empty for reads, whose sentence follows from the
	// reply's Mark.
	Success string
	// Partly is the sentence for a partial success, if Success would claim that everything was done.
	Partly string
	// Unchanged is the sentence if the script had nothing to change.
	Unchanged string
}

// Beside is a row about the same target whose records become a member of another row's record. If that member
// is null, the script of this row runs, too, within its own time limit. If that script fails, the answer only
// contains a warning.
type Beside struct {
	Row     string // id; empty if none
	Member  string // member of the record, a list of objects
	Code    string // code of the warning
	Unasked string // sentence, without a full stop, that says which fact is then unknown
	Given   func(*Bound) Given
}

// Step is a call of a row.
type Step struct {
	Row   string // id; empty if none
	Given Given
}

// listForms are the media types of lists.
var listForms = []string{MediaJSON, MediaCSV, MediaNDJSON}

// Forms returns the media types in which the row can answer, the usual one first, if it reads a list.
// It returns nil for all other rows. The returned slice must not be changed.
func (op *Operation) Forms() []string {
	if op.Reply.Mark != List || op.Effect.Writes() || op.Protocol != nil || op.Reveals {
		return nil
	}
	return listForms
}

// ContentTypeOf returns the Content-Type of a list in one of the media types of [Operation.Forms].
func ContentTypeOf(form string) string {
	if form == MediaCSV {
		return form + "; charset=utf-8; header=present"
	}
	return form + "; charset=utf-8"
}

// Creates reports whether a success can mean that an object was created.
func (op *Operation) Creates() bool { return op.Effect.Creates() || op.Makes }

// Effect is the effect of an operation on its target.
type Effect uint8

// The effects. Move and Rename are changes in which an empty string clears nothing.
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
	Path     string // placeholder of the path: "UserName"; empty for query, form or JSON
	Arg      string // parameter of the script, without the kind's suffix; empty means Name
	Item     int    // position in a list that several parameters fill, from 1; zero if there is no list
	Kind     schema.Kind
	Required bool
	Default  string // value if absent; empty to omit the argument
	Classic  string // value if absent in the classic dialect; empty means Default
	Implied  string // effect of an absent value without a default, for the API document
	Narrows  bool   // whether its absence widens the change, so that an empty string is refused
	Clears   bool   // required, but an empty string clears the attribute
	Moves    bool   // whether it moves the object in an update, which counts as a change
	// whether the audit shows it although it is optional, because it narrows the target or the extent
	Audited bool
	Scope   identity.Scope // also required if the parameter is given and not false
	Unsent  bool           // not an argument of the script; Protocol.Complete uses it
	Group   bool           // names a group, so limits to named groups apply
	Here    bool           // whether any gateway can answer a call with this parameter in the query
	Doc     string
	Example string // valid in the sandbox's domain; empty means the kind's example

	// Without is a sentence to add to the sentence for a success if the parameter is absent.
	Without string

	// Generated is set for a secret that the gateway generates if it is absent. It names the member of
	// the record that shows the secret, once.
	Generated string
}

// shares reports whether several parameters may feed the argument.
func (p *Param) shares() bool { return p.Item > 0 || schema.AttributeOf(p.Kind) != nil }

// arg returns the script's parameter, without the kind's suffix.
func (p *Param) arg() string {
	if p.Arg != "" {
		return p.Arg
	}
	return p.Name
}

// FieldsArg returns the argument of the script that selects the fields of the records, or "" if the row has
// no fields to choose.
func (op *Operation) FieldsArg() string {
	for i := range op.Params {
		if p := &op.Params[i]; schema.ChoosesFields(p.Kind) {
			return p.arg()
		}
	}
	return ""
}

// Parts returns the script arguments that the parameter becomes.
func (p *Param) Parts() []schema.Part {
	if p.Unsent {
		return nil
	}
	if p.Item > 0 {
		return []schema.Part{{Type: "string[]"}}
	}
	return p.Kind.Parts()
}

// Sample returns an example value, or "" if there is none.
func (p *Param) Sample() string {
	if p.Example != "" {
		return p.Example
	}
	return p.Kind.Doc().Example
}

// Identifies reports whether the parameter identifies the target in the audit.
func (p *Param) Identifies() bool { return p.Path != "" || p.Required || p.Audited }

// Reply describes an operation's answer.
type Reply struct {
	Shape *schema.Shape
	Mark  Mark
}

// Mark is the number of records in an answer, and their form in the classic dialect.
type Mark string

// The marks.
const (
	List   Mark = "L"
	Single Mark = "1"
	Exists Mark = "?" // whether an object exists; classic: a boolean
	Moment Mark = "t" // a last logon; classic: a date-time
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

// Find returns the operation with the given id in a table, or nil if there is none.
func Find(table []*Operation, id string) *Operation {
	for _, op := range table {
		if op.ID == id {
			return op
		}
	}
	return nil
}

var table = tagged(undoable(slices.Concat(
	previewable(slices.Concat(
		in(ps.DNS, recordRows(), recordSetRows, reverseZoneRows, zoneRows, forwarderRows, delegationRows),
		in(ps.Directory, membershipRows, membersRows, userRows, ouRows, groupRows, computerRows, localAdminRows,
			recoveryRows, taskRows, lockoutRows, staleRows, binRows))),
	in(ps.DNS, acmeRows, externalDNSRows),
	in(ps.Directory, planRows, historyRows, jobRows, clusterRows),
)))

// usual is the subject, the settling and the reply that most rows of a resource have. A row declares only
// another one.
var usual = map[string]struct {
	subject string
	settle  Settle
	reply   *schema.Shape // of a single record
}{
	"user":       {userSubject, settleUser, schema.User},
	"group":      {groupSubject, settleGroup, schema.Group},
	"computer":   {computerSubject, settleComputer, schema.Computer},
	"ou":         {ouSubject, settleOU, schema.OU},
	"zone":       {subject: zoneSubject},
	"forwarder":  {reply: schema.ConditionalForwarder},
	"membership": {reply: schema.Membership},
	"job":        {reply: schema.Job},
}

// methods are the methods of rows that declare none, by effect.
var methods = map[Effect]string{
	Read: http.MethodGet, Create: http.MethodPost, Update: http.MethodPut, Delete: http.MethodDelete,
	Move: http.MethodPut, Rename: http.MethodPut,
}

// in sets the lane of rows, and completes them with what is usual: the method of their effect, the subject,
// settling and reply of their resource, and a sample with the examples of the required parameters. It returns
// the rows.
func in(lane ps.Lane, rows ...[]*Operation) []*Operation {
	all := slices.Concat(rows...)
	for _, op := range all {
		op.Lane = lane
		op.Method = cmp.Or(op.Method, methods[op.Effect])
		resource, _, _ := strings.Cut(op.ID, ".")
		op.Subject = cmp.Or(op.Subject, usual[resource].subject)
		if op.Effect.Writes() && op.Settle.Script == "" {
			op.Settle = usual[resource].settle
		}
		if reply := usual[resource].reply; op.Reply.Mark == "" && reply != nil {
			op.Reply = Reply{reply, Single}
		}
		if op.Sample == nil && op.Script != "" && op.Protocol == nil {
			op.Sample = Given{}
			for i := range op.Params {
				if p := &op.Params[i]; p.Required {
					op.Sample[p.Name] = p.Sample()
				}
			}
		}
	}
	return all
}

// LastEventHeader is the header with which clients resume a stream of events.
const LastEventHeader = "Last-Event-ID"

// KeyHeader is the header that makes a change run at most once. KeyPattern matches its values.
const (
	KeyHeader = "Idempotency-Key"
	// ChangeHeader is the answer's header that identifies the change that was made.
	ChangeHeader = "X-Change-Id"
	KeyPattern   = `[A-Za-z0-9._:-]{8,128}`
)

// Resources describes each resource, keyed by the part of an operation's id before the dot.
var Resources = map[string]string{
	"cname":       "CNAME records",
	"a":           "A records",
	"aaaa":        "AAAA records",
	"ptr":         "PTR records",
	"txt":         "TXT records",
	"srv":         "SRV records",
	"mx":          "MX records",
	"caa":         "CAA records",
	"tlsa":        "TLSA records",
	"sshfp":       "SSHFP records",
	"dname":       "DNAME records",
	"record":      "DNS records of all types",
	"recordSet":   "Record sets: all records with the same name and type",
	"reverseZone": "Reverse lookup zones",
	"zone":        "DNS zones of all types",
	"lookupZone":  "Forward lookup zones",
	"forwarder":   "Conditional forwarders",
	"delegation":  "Delegations of names to other DNS servers",
	"nameServer":  "Name servers (NS records) of the zones",
	"membership":  "Members of groups",
	"user":        "User accounts",
	"ou":          "Organizational units",
	"caller":      "Credential of a request",
	"search":      "Users, groups, and computers",
	"group":       "Security and distribution groups",
	"computer":    "Computer accounts",
	"plan":        "Plans of changes, created by dry runs",
	"bin":         "Active Directory Recycle Bin",
	"change":      "History of changes made through the gateway",
	"job":         "Jobs, which run lists of changes",
	"externaldns": "Webhook provider for ExternalDNS",
	"cluster":     "Gateways of the cluster",
	"acme":        "ACME challenges, in the protocols of ACME clients",
}

// Methods returns the methods that a request for the operation can have.
func (op *Operation) Methods() []string {
	if op.Also == "" {
		return []string{op.Method}
	}
	return []string{op.Method, op.Also}
}

// Param returns the parameter with the given name, in any case, or nil if there is none. A parameter in the
// path may also be called by its placeholder.
func (op *Operation) Param(name string) *Param {
	for i := range op.Params {
		p := &op.Params[i]
		if EqualFold(p.Name, name) || p.Path != "" && EqualFold(p.Path, name) {
			return p
		}
	}
	return nil
}

// PhotoParam returns the parameter whose value is a body of an image type, or nil if there is none.
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

// Fold converts ASCII letters to lower case and nothing else. Fixed parts of paths and parameter
// names are equal if their folds are.
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
