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
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// API is what the pages use of the gateway. It is safe for concurrent use.
type API interface {
	// Call makes a call of an operation as its Principal. With an error the answer has the records of
	// what was done all the same.
	Call(ctx context.Context, operation string, c call.Call) (call.Answer, error)
	// Readiness reports whether requests can be served, and what was checked. Nobody but a caller with
	// ops:read gets reasons; nil is somebody who is not signed in.
	Readiness(ctx context.Context, caller *identity.Principal) (checks []Check, ready bool)
	// Proved notes that a request came from somebody who is signed in.
	Proved(r *http.Request)
}

// Check is a part of the gateway, and whether it works.
type Check struct {
	Name     string
	OK       bool
	Degraded bool   // it works, and needs attention
	Reason   string // empty also if the caller may not see it
}

// Visit is a request of somebody who is signed in.
type Visit struct {
	*Pages
	W          http.ResponseWriter
	R          *http.Request
	Session    *signin.Session
	Principals []*identity.Principal
	Sees       map[*identity.Principal]bool // whether a role shows the object of the page
}

// May reports whether a role has the scope.
func (c *Visit) May(scope identity.Scope) bool {
	return slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool { return p.Has(scope) })
}

// Answer is an answer of the API.
type Answer struct {
	Status   int             `json:"-"`
	Output   string          `json:"output"`
	Result   json.RawMessage `json:"result"`
	Error    *Failure        `json:"error"`
	Warnings []Warning       `json:"warnings"`
	Plan     *say.Plan       `json:"plan"`
	Next     string          `json:"next"`
	Total    int             `json:"-"` // of all pages; 0 also if it was not asked for

	Document  *call.Document `json:"-"` // nil: it is an envelope
	ChangeID  string         `json:"-"` // in the history; empty: nothing was changed
	Generated string         // secret, which is shown once; empty: none
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

// Said returns what pages say of the warning.
func (w Warning) Said() texts.Text { return texts.Warning(w.Code, w.Message) }

// Records decodes the records of an answer.
func Records[T any](a *Answer) []T {
	var all []T
	_ = json.Unmarshal(a.Result, &all) // an answer of ours has the form of its row
	return all
}

func (a *Answer) Ok() bool { return a.Status >= 200 && a.Status < 300 }

// Identity returns who is signed in.
func (c *Visit) Identity() identity.ID {
	if len(c.Principals) > 0 {
		return c.Principals[0].Identity()
	}
	return c.Session.Identity
}

// Call makes a call as the person. Of several roles, which are never merged, the first one counts
// that may do this. Lists are read by [visit.listed].
func (c *Visit) Call(operation string, values call.Values) *Answer {
	return Send(c, operation, call.Call{Input: values})
}

// Send is [visit.call] with all that a call may have.
func Send(c *Visit, operation string, sent call.Call) *Answer {
	var first *Answer
	for _, principal := range c.Principals {
		a := sendAs(c, principal, operation, sent)
		if !passedOn(a.Status) {
			return a
		}
		first = Outranking(first, a)
	}
	if first == nil {
		first = &Answer{Status: http.StatusForbidden, Error: &Failure{
			Code: "forbidden", Message: "No role gives you a right here.",
		}}
	}
	return first
}

// Get makes a call as the person, with pairs of names and values, of which empty ones are left out.
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

// CallAs makes a call in one of the roles of the person.
func (c *Visit) CallAs(principal *identity.Principal, operation string, values call.Values) *Answer {
	return sendAs(c, principal, operation, call.Call{Input: values})
}

// sendAs is [visit.callAs] with all that a call may have.
func sendAs(c *Visit, principal *identity.Principal, operation string, sent call.Call) *Answer {
	id := call.NewID()
	sent.ID, sent.Principal, sent.From = id, principal, c.Client(c.R) // from where the person asks
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
		_ = json.Unmarshal(made.Plan, a.Plan) // a plan of ours has this form
	}
	if e := problem.Of(call.Problem(made, err)); e != nil {
		a.Status, a.Output = e.Code.Status(), e.Message
		a.Error = &Failure{
			Code: string(e.Code), Message: e.Message, Outcome: string(e.Outcome), RequestID: id, Details: e.Details,
		}
	}
	return a
}

// NeedsReason reports whether calls of an operation must say why.
func (c *Visit) NeedsReason(operation string) bool { return c.Reasoned != nil && c.Reasoned(operation) }

// KeepNew keeps a value with the session under a new id.
func (c *Visit) KeepNew(value any) (id string, err error) {
	id = signin.NewID()
	return id, c.Session.Keep(c.R.Context(), id, 0, value)
}

func (c *Visit) GoTo(path string) { http.Redirect(c.W, c.R, path, http.StatusSeeOther) }
