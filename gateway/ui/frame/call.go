package frame

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/readiness"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// API is the part of the gateway that the pages use. Implementations must be safe for concurrent use.
type API interface {
	// Call calls an operation as c's Principal. If the call fails, the answer still contains records of the
	// changes that were made.
	Call(ctx context.Context, operation string, c call.Call) (call.Answer, error)
	// Readiness returns the checks of the gateway, and reports whether it can serve requests. Checks contain
	// reasons only if the caller has ops:read. A nil caller is not signed in.
	Readiness(ctx context.Context, caller *identity.Principal) (checks []readiness.Check, ready bool)
	// Proved records that a request came from a person who is signed in.
	Proved(r *http.Request)
}

// Visit is a request of a person who is signed in.
type Visit struct {
	*Pages
	W          http.ResponseWriter
	R          *http.Request
	Session    *signin.Session
	Principals []*identity.Principal
	Sees       map[*identity.Principal]bool // whether each role can see the object of the page
	opened     bool                         // the frame of the page has been sent
}

// May reports whether any of the person's roles has the scope.
func (c *Visit) May(scope identity.Scope) bool {
	return slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool { return p.Has(scope) })
}

// Answer is an answer of the API to a call.
type Answer struct {
	Status   int             `json:"-"`
	Output   string          `json:"output"`
	Result   json.RawMessage `json:"result"`
	Error    *Failure        `json:"error"`
	Warnings []Warning       `json:"warnings"`
	Plan     *say.Plan       `json:"plan"`
	Next     string          `json:"next"`
	Total    int             `json:"-"` // records on all pages; also 0 if the total was not requested

	Document  *call.Document `json:"-"` // nil if the answer is an envelope
	ChangeID  string         `json:"-"` // id in the history; empty if nothing was changed
	Generated string         // secret to show once; empty if there is none

	passedOn bool // refused, and may be called in another role
}

type Failure struct {
	Code      string           `json:"code"`
	Message   string           `json:"message"`
	Outcome   string           `json:"outcome"`
	RequestID string           `json:"requestId"`
	Details   []problem.Detail `json:"details"`
}

type Warning struct {
	Code    string `json:"code"`
	Target  string `json:"target"`
	Message string `json:"message"`
}

// Said returns the text that pages show for the warning.
func (w Warning) Said() texts.Text { return texts.Warning(w.Code, w.Message) }

// Records decodes the records of an answer.
func Records[T any](a *Answer) []T {
	var all []T
	_ = json.Unmarshal(a.Result, &all) // our own answers match the shape of their operation
	return all
}

func (a *Answer) Ok() bool { return a.Status >= 200 && a.Status < 300 }

// Identity returns the identity of the person.
func (c *Visit) Identity() identity.ID {
	if len(c.Principals) > 0 {
		return c.Principals[0].Identity()
	}
	return c.Session.Identity
}

// Call makes a call as the person. Roles are never merged: the first role that allows the call is used. To
// read lists use [Visit.Listed].
func (c *Visit) Call(operation string, values call.Values) *Answer {
	return Send(c, operation, call.Call{Input: values})
}

// Send is like [Visit.Call], for calls that consist of more than values.
func Send(c *Visit, operation string, sent call.Call) *Answer {
	var first *Answer
	for _, principal := range c.Principals {
		a := sendAs(c, principal, operation, sent)
		if !a.passedOn {
			return a
		}
		first = Outranking(first, a)
	}
	if first == nil {
		first = &Answer{Status: http.StatusForbidden, Error: &Failure{
			Code: "forbidden", Message: "You have no role here.",
		}}
	}
	return first
}

// Get makes a call as the person. pairs contains alternating names and values. Empty values are omitted.
func (c *Visit) Get(operation string, pairs ...string) *Answer {
	values := call.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values[pairs[i]] = pairs[i+1]
		}
	}
	return c.Call(operation, values)
}

// Read reads an object of a kind.
func (c *Visit) Read(k *Kind, identity string) *Answer { return c.Get(k.Reader, k.Object, identity) }

// CallAs makes a call with one of the person's roles.
func (c *Visit) CallAs(principal *identity.Principal, operation string, values call.Values) *Answer {
	return sendAs(c, principal, operation, call.Call{Input: values})
}

// sendAs is like [Visit.CallAs], for calls that consist of more than values.
func sendAs(c *Visit, principal *identity.Principal, operation string, sent call.Call) *Answer {
	id := call.NewID()
	sent.ID, sent.Principal, sent.From = id, principal, c.Client(c.R) // the person's address
	made, err := c.API.Call(c.R.Context(), operation, sent)
	a := &Answer{
		Status: http.StatusOK, Output: made.Output, Next: made.Next, ChangeID: made.ChangeID,
		Document: made.Document,
	}
	a.Result = slices.Concat([]byte("["), made.Records, []byte("]"))
	if made.Total != nil {
		a.Total = *made.Total
	}
	if made.Secret != nil {
		a.Generated = made.Secret.Reveal()
	}
	for _, w := range made.Warnings {
		a.Warnings = append(a.Warnings, Warning{w.Code, w.Target, w.Message})
	}
	if made.Plan != nil {
		a.Plan = &say.Plan{}
		_ = json.Unmarshal(made.Plan, a.Plan) // our own plans have this form
	}
	failed := call.Problem(made, err)
	if e := problem.Of(failed); e != nil {
		a.passedOn = call.PassedOn(failed)
		a.Status, a.Output = e.Code.Status(), e.Message
		a.Error = &Failure{
			Code: string(e.Code), Message: e.Message, Outcome: string(e.Outcome), RequestID: id, Details: e.Details,
		}
	}
	return a
}

// NeedsReason reports whether calls of an operation require a reason.
func (c *Visit) NeedsReason(operation string) bool { return c.Reasoned != nil && c.Reasoned(operation) }

// KeepNew stores a value with the session and returns its new id.
func (c *Visit) KeepNew(value any) (id string, err error) {
	id = signin.NewID()
	return id, c.Session.Keep(c.R.Context(), id, 0, value)
}

func (c *Visit) GoTo(path string) { http.Redirect(c.W, c.R, path, http.StatusSeeOther) }
