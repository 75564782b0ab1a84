package ops

import (
	"encoding/json"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Protocol is the declaration of a row that speaks a foreign protocol instead of our envelope: media types,
// credential, answers and refusals. It ignores unknown members of a body, because such protocols get new
// members over time.
type Protocol struct {
	Name      string // label in metrics, such as "httpreq"
	Media     string // media type of bodies and answers, spelled as clients compare it
	Status    int    // status of a successful answer
	BodyLimit int64  // in bytes; zero means the server's limit

	// UserHeader and KeyHeader carry the name and the secret of the credential. If they are empty, our
	// own headers do.
	UserHeader, KeyHeader string

	// Read reads a body that is a document. If nil, the body is a JSON object with the row's
	// parameters, or missing.
	Read func(b *Bound, body []byte) *schema.FieldError
	// Complete derives the script's arguments, and refuses values that the protocol, the settings or the
	// caller's limits do not allow. If nil, nothing is derived.
	Complete func(b *Bound, c Context) *schema.FieldError
	// Supplies are the types of the script's parameters that Complete sets.
	Supplies map[string]string
	// Answer returns the body of a successful answer, given the records that the script emitted, as
	// JSON arrays. If nil, the answer has no body.
	Answer func(b *Bound, c Context, batches []json.RawMessage) (any, error)
	// Refusal returns the status of a refusal, and its body, which is nil for our envelope. If Refusal
	// is nil, the protocol has no form of its own.
	Refusal func(code schema.Code, field string) (status int, body any)

	// PerSet reports whether the audit gets a line for each changed record set.
	PerSet bool
	// Whole reports whether a warning from the script counts as a failure, because the client would take
	// missing records for removed ones.
	Whole bool
	// Repeats reports whether a change that was cut off and has verifiably not been made is tried once more.
	Repeats bool

	Input, Output any // examples of bodies, from which the API document derives their schemas
}

// Context is the data that a row of a protocol gets in addition to the request.
type Context struct {
	Caller   *identity.Principal
	Settings ProtocolSettings
}

// ProtocolSettings are the settings of the protocols.
type ProtocolSettings struct {
	ChallengeTTL   int      // TTL of the records that answer challenges, in seconds
	ChallengeZones []string // zones in which these records may have any name
	Accounts       []AcmeAccount
	Budget         time.Duration // time for the changes of one ExternalDNS request
}

// AcmeAccount lets a credential write the challenges for one name.
type AcmeAccount struct {
	Subdomain  string
	Credential string // name of the token or user
	Name       string // full name of the record
}

// document is the body of a request, with the values that Complete derived from it.
type document struct {
	body  any      // result of Read
	names []string // full names whose records are changed
	notes []string // omissions, for the log
	idle  bool     // nothing to do

	removals int // number of sets that may be missing afterwards
}

// Idle reports whether the body requests nothing. If so, no script runs.
func (b *Bound) Idle() bool { return b.document.idle }

// Notes returns the omissions of an answer, for the log.
func (b *Bound) Notes() []string { return b.document.notes }

// supply sets an argument of the script.
func (b *Bound) supply(name string, value ps.Value) { b.Args[name] = value }

// protocol checks the fields that only rows for protocols declare.
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
