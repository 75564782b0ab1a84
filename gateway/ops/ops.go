// Package ops declares every operation that the gateway offers.
//
// An [Operation] is one row of the API: its route, who may call it, what it
// takes, which script answers it and what comes back. Nothing about an endpoint
// is written anywhere else: routing, binding, answers, the API document and the
// audit derive from the row. [Table] is all rows, one file per resource;
// [Check] holds them against the scripts; [Operation.Bind] turns a request's
// values into a script's arguments.
package ops

import (
	"slices"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Operation is one row of the API.
type Operation struct {
	ID      string     // "user.create": operationId, audit name, metric label; unique
	Row     int        // its number in the HTTP contract; unique
	Summary string     // one sentence
	Method  string     // http.MethodPost
	Path    string     // "/api/ADUser/{UserName}"
	Scope   auth.Scope // asked of the caller
	Effect  Effect     // decides what an empty string means, and what a client's leaving does
	Params  []Param
	Rules   []Rule // what holds across parameters, in order

	Script string  // "New-GatewayUser"
	Fixed  ps.Args // arguments that are the same at every call: {"Category": "Security"}
	Lane   ps.Lane
	Reply  Reply
	Settle Settle        // of an operation that writes: how one that was cut off is settled
	Fails  []schema.Code // domain failures: what can go wrong besides the request itself

	Timeout time.Duration // zero: the server's default for reads, lists or writes

	// Subject names what the operation is about in sentences; {Name} stands for
	// the value of a parameter: "user '{Username}'".
	Subject string
	// Says is the sentence of success. Besides parameters it knows {records}
	// ("2 records"), {count:NAME} of the script's counts, {counts}, which is all
	// of them, and {also}, the objects changed with the first. Empty on reads: a
	// sentence by the mark of the reply.
	Says string
	// Same is the sentence when the script had nothing to change.
	Same string
}

// Effect is what an operation does to its object.
type Effect uint8

// The effects. Move, Rename and Register are changes with rules of their own
// for empty strings.
const (
	_ Effect = iota
	Read
	Create
	Update
	Delete
	Move
	Rename
	Register
)

// Writes tells whether the operation may change something.
func (e Effect) Writes() bool { return e > Read }

// Creates tells whether the operation makes an object, or a membership.
func (e Effect) Creates() bool { return e == Create || e == Register }

func (e Effect) String() string {
	names := []string{"none", "read", "create", "update", "delete", "move", "rename", "register"}
	if int(e) >= len(names) {
		return "unknown"
	}
	return names[e]
}

// Param is one parameter of an operation.
type Param struct {
	Name     string // as listed, in any case on the wire: "Username"
	Path     string // the placeholder that carries it: "UserName"; empty: query, form or JSON
	Arg      string // the script's parameter, before the kind's suffix; empty: Name
	Kind     schema.Kind
	Required bool
	Default  string     // taken when absent; empty: the argument is left out
	Keep     bool       // an empty string is taken as absent on updates, too
	Tells    bool       // says what the operation is about, or how far it goes, though it may be absent: for the audit
	Scope    auth.Scope // asked for besides the row's when the parameter is given, and not false
	Doc      string
	Example  string // one that is true of the sandbox's domain; empty: the kind's

	// Made is of a secret that the gateway makes when it is absent: the member
	// of the record that shows it, this one time.
	Made string
}

// arg is the script's parameter before the kind's suffix.
func (p *Param) arg() string {
	if p.Arg != "" {
		return p.Arg
	}
	return p.Name
}

// Sample is an example of a value; empty when there is none.
func (p *Param) Sample() string {
	if p.Example != "" {
		return p.Example
	}
	return p.Kind.Doc().Example
}

// Identifies tells whether the parameter says what the operation is about.
func (p *Param) Identifies() bool { return p.Path != "" || p.Required || p.Tells }

// Reply is what an operation answers with.
type Reply struct {
	Shape *schema.Shape
	Mark  Mark
}

// Mark is how many records an answer has, and what the classic dialect makes of them.
type Mark string

// The marks.
const (
	List   Mark = "L"
	Single Mark = "1"
	Exists Mark = "?" // a single existence; classic: its boolean
	Moment Mark = "t" // a single last logon; classic: its date-time
)

// Rule holds across parameters. It may complete the arguments; what it finds
// wrong are problems. It runs after every parameter by itself was accepted.
type Rule struct {
	Doc   string
	Apply func(b *Bound) []schema.Problem
}

// Table is every operation, by resource. The rows are shared: do not change them.
func Table() []*Operation { return table }

var table = slices.Concat(cnameRows, reverseZoneRows, membershipRows, userRows, ouRows, groupRows, computerRows)

// Resources are what operations are about: the part of an id before the dot,
// and a sentence.
var Resources = map[string]string{
	"cname":       "CNAME records of the DNS server",
	"reverseZone": "Reverse lookup zones of the DNS server",
	"membership":  "Members of groups",
	"user":        "User accounts",
	"ou":          "Organizational units",
	"group":       "Security and distribution groups",
	"computer":    "Computer accounts",
}

// Find returns the operation with the id, or nil.
func Find(table []*Operation, id string) *Operation {
	for _, op := range table {
		if op.ID == id {
			return op
		}
	}
	return nil
}

// Param returns the parameter of the name, in any case, or nil.
func (op *Operation) Param(name string) *Param {
	for i := range op.Params {
		if equalFold(op.Params[i].Name, name) {
			return &op.Params[i]
		}
	}
	return nil
}

// Secrets lists the names of the parameters that are secrets.
func (op *Operation) Secrets() []string {
	var names []string
	for _, p := range op.Params {
		if p.Kind.Secret() {
			names = append(names, p.Name)
		}
	}
	return names
}

// equalFold compares as routes and parameter names are compared: ASCII letters
// in any case, everything else exactly.
func equalFold(a, b string) bool { return Fold(a) == Fold(b) }

// Fold puts ASCII letters in lower case and leaves the rest: names on the wire
// are the same when their folds are.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			folded := []byte(s)
			for ; i < len(folded); i++ {
				if 'A' <= folded[i] && folded[i] <= 'Z' {
					folded[i] += 'a' - 'A'
				}
			}
			return string(folded)
		}
	}
	return s
}
