package ui

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/gateway/inprocess"
)

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
}

type failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Outcome   string `json:"outcome"`
	RequestID string `json:"requestId"`
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

// call sends a request to the API as the person. Of several roles, which are never
// merged, the first one counts that may do this.
func (c *visit) call(method, path string, query, form url.Values) *answer {
	var first *answer
	for _, principal := range c.principals {
		a := c.callAs(principal, method, path, query, form)
		if a.Status != http.StatusForbidden && a.Status != http.StatusNotFound {
			return a
		}
		if first == nil {
			first = a
		}
	}
	if first == nil {
		first = &answer{Status: http.StatusForbidden, Error: &failure{Code: "forbidden", Message: "No role gives you a right here."}}
	}
	return first
}

// get reads through the API. Pairs of names and values make the query.
func (c *visit) get(path string, pairs ...string) *answer {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return c.call(http.MethodGet, path, query, nil)
}

// send sends a request to the API through the handler that serves all others.
func (p *Pages) send(r *http.Request, principal *identity.Principal, method, path string, query, form url.Values) *answer {
	target := path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(r.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		return &answer{Status: http.StatusBadRequest, Error: &failure{Code: "invalid_request", Message: "The name is not valid."}}
	}
	if len(form) > 0 {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.RemoteAddr, req.Host = r.RemoteAddr, r.Host // from where the person asks
	req.Header["X-Forwarded-For"] = r.Header["X-Forwarded-For"]
	if principal != nil {
		req = inprocess.As(req, principal)
	}
	taken := inprocess.Send(p.API, req)
	a := &answer{}
	if err := json.Unmarshal(taken.Body, a); err != nil {
		a.Error = &failure{Code: "internal", Message: "The answer could not be read."}
	}
	a.Status = taken.Status
	return a
}

func (c *visit) callAs(principal *identity.Principal, method, path string, query, form url.Values) *answer {
	return c.send(c.r, principal, method, path, query, form)
}
