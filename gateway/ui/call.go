package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
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

// visit is a request of somebody who is signed in.
type visit struct {
	*Pages
	w          http.ResponseWriter
	r          *http.Request
	session    *signin.Session
	principals []*identity.Principal
	sees       map[*identity.Principal]bool // whether a role shows the object of the page
}

func (p *Pages) visit(w http.ResponseWriter, r *http.Request, session *signin.Session) (*visit, error) {
	principals, err := session.Principals(r.Context(), p.Client(r))
	if err != nil {
		return nil, err
	}
	p.API.Proved(r)
	return &visit{Pages: p, w: w, r: r, session: session, principals: principals}, nil
}

// may reports whether a role has the scope.
func (c *visit) may(scope identity.Scope) bool {
	return slices.ContainsFunc(c.principals, func(p *identity.Principal) bool { return p.Has(scope) })
}

// answer is an answer of the API.
type answer struct {
	Status   int             `json:"-"`
	Output   string          `json:"output"`
	Result   json.RawMessage `json:"result"`
	Error    *failure        `json:"error"`
	Warnings []warning       `json:"warnings"`
	Plan     *plan           `json:"plan"`
	Next     string          `json:"next"`
	Total    int             `json:"-"` // of all pages; 0 also if it was not asked for

	ChangeID  string `json:"-"` // in the history; empty: nothing was changed
	generated string // secret, which is shown once; empty: none
}

type failure struct {
	Code      string           `json:"code"`
	Message   string           `json:"message"`
	Outcome   string           `json:"outcome"`
	RequestID string           `json:"requestId"`
	Details   []problem.Detail `json:"details"`
}

type warning struct {
	Code    string `json:"code"`
	Target  string `json:"target"`
	Message string `json:"message"`
}

// records decodes the records of an answer.
func records[T any](a *answer) []T {
	var all []T
	_ = json.Unmarshal(a.Result, &all) // an answer of ours has the form of its row
	return all
}

func (a *answer) ok() bool { return a.Status >= 200 && a.Status < 300 }

// identity returns who is signed in.
func (c *visit) identity() identity.ID {
	if len(c.principals) > 0 {
		return c.principals[0].Identity()
	}
	return c.session.Identity
}

// call makes a call as the person. Of several roles, which are never merged, the first one counts
// that may do this. Lists are read by [visit.listed].
func (c *visit) call(operation string, values call.Values) *answer {
	return send(c, operation, call.Call{Input: values})
}

// send is [visit.call] with all that a call may have.
func send(c *visit, operation string, sent call.Call) *answer {
	var first *answer
	for _, principal := range c.principals {
		a := sendAs(c, principal, operation, sent)
		if !passedOn(a.Status) {
			return a
		}
		first = outranking(first, a)
	}
	if first == nil {
		first = &answer{Status: http.StatusForbidden, Error: &failure{Code: "forbidden", Message: "No role gives you a right here."}}
	}
	return first
}

// get makes a call as the person, with pairs of names and values, of which empty ones are left out.
func (c *visit) get(operation string, pairs ...string) *answer {
	values := call.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values[pairs[i]] = pairs[i+1]
		}
	}
	return c.call(operation, values)
}

// read reads an object of a kind.
func (c *visit) read(k *kind, identity string) *answer { return c.get(k.reader, k.object, identity) }

// callAs makes a call in one of the roles of the person.
func (c *visit) callAs(principal *identity.Principal, operation string, values call.Values) *answer {
	return sendAs(c, principal, operation, call.Call{Input: values})
}

// sendAs is [visit.callAs] with all that a call may have.
func sendAs(c *visit, principal *identity.Principal, operation string, sent call.Call) *answer {
	id := call.NewID()
	sent.ID, sent.Principal, sent.From = id, principal, c.Client(c.r) // from where the person asks
	made, err := c.API.Call(c.r.Context(), operation, sent)
	a := &answer{Status: http.StatusOK, Output: made.Output, Next: made.Next, ChangeID: made.ChangeID}
	a.Result = slices.Concat([]byte("["), made.Records, []byte("]"))
	if made.Total != nil {
		a.Total = *made.Total
	}
	if made.Secret != nil {
		a.generated = made.Secret.Reveal()
	}
	for _, w := range made.Warnings {
		a.Warnings = append(a.Warnings, warning{w.Code, w.Target, w.Message})
	}
	if made.Plan != nil {
		a.Plan = &plan{}
		_ = json.Unmarshal(made.Plan, a.Plan) // a plan of ours has this form
	}
	if e := problem.Of(call.Problem(made, err)); e != nil {
		a.Status, a.Output = e.Code.Status(), e.Message
		a.Error = &failure{
			Code: string(e.Code), Message: e.Message, Outcome: string(e.Outcome), RequestID: id, Details: e.Details,
		}
	}
	return a
}

func (c *visit) goTo(path string) { http.Redirect(c.w, c.r, path, http.StatusSeeOther) }
