package ops

import (
	"encoding/json"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Protocol is the declaration of a row that speaks a foreign protocol instead of our envelope:
// media types, credential, answers and refusals. Unknown members of a body are ignored, because
// such protocols grow.
type Protocol struct {
	Name      string // label of the metrics: "httpreq"
	Media     string // of bodies and answers, spelled as clients compare it
	Status    int    // of a success
	BodyLimit int64  // in bytes; zero: the server's

	// UserHeader and KeyHeader carry the name and the secret of the credential; empty:
	// our own headers do.
	UserHeader, KeyHeader string

	// Read takes a body that is a document. Nil: the body is a JSON object with the
	// row's parameters, or there is none.
	Read func(b *Bound, body []byte) *schema.FieldError
	// Complete derives the script's arguments, and refuses values outside the bounds of the
	// protocol, the settings or the caller. Nil: nothing is derived.
	Complete func(b *Bound, c Context) *schema.FieldError
	// Supplies are the types of the script's parameters that Complete sets.
	Supplies map[string]string
	// Answer returns the body of a success, given the records that the script emitted,
	// as JSON arrays. Nil: it has none.
	Answer func(b *Bound, c Context, batches []json.RawMessage) (any, error)
	// Refusal returns the status of a refusal, and its body unless that is our envelope.
	// Nil: as everywhere.
	Refusal func(code schema.Code, field string) (status int, body any)

	// PerSet reports that the audit has a line for each record set that is changed.
	PerSet bool
	// Whole reports that a warning of the script is a failure: the client would take missing
	// records for removed ones.
	Whole bool
	// Repeats reports that a change which was cut off, and proved not to have been made,
	// is tried once more.
	Repeats bool

	Input, Output any // examples of bodies, from which the API document derives their schemas
}

// Context is the data that a row of a protocol has besides the request.
type Context struct {
	Caller   *identity.Principal
	Settings ProtocolSettings
}

// ProtocolSettings are the settings of the protocols.
type ProtocolSettings struct {
	ChallengeTTL   int      // of the records that answer challenges, in seconds
	ChallengeZones []string // in which these may have any name
	Accounts       []AcmeAccount
	Budget         time.Duration // for the changes of one request of ExternalDNS
}

// AcmeAccount lets a credential write the challenges of one name.
type AcmeAccount struct {
	Subdomain  string
	Credential string // name of the token or user
	Name       string // of the record, in full
}

// document is the body of a request, with the values that Complete derived from it.
type document struct {
	body  any      // the result of Read
	names []string // whose records are changed, in full
	notes []string // omissions, for the log
	idle  bool     // there is nothing to do

	removals int // sets that may be gone afterwards
}

// Idle reports that the body asks for nothing, so that no script runs.
func (b *Bound) Idle() bool { return b.document.idle }

// Notes returns the omissions of an answer, for the log.
func (b *Bound) Notes() []string { return b.document.notes }

// supply sets an argument of the script.
func (b *Bound) supply(name string, value ps.Value) { b.Args[name] = value }

// protocol checks the fields that only rows of protocols declare.
func (c *checker) protocol(op *Operation, fault func(string, ...any)) {
	p := op.Protocol
	switch {
	case p == nil:
		return
	case p.Name == "" || p.Media == "" || p.Status == 0:
		fault("has a protocol without a name, media type or status")
	case p.Answer == nil != (p.Output == nil):
		fault("has an answer without an example of it, or the other way round")
	case p.Read != nil && len(op.Params) > 0:
		fault("takes a document, but has parameters")
	case op.Script == "" && op.Effect.Writes():
		fault("writes without a script")
	}
	if (p.UserHeader == "") != (p.KeyHeader == "") {
		fault("has a header for one half of a credential")
	}
}
