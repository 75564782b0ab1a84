package transport

import (
	"encoding/base64"
	"net/http"
	"slices"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// A caller with a ticket of Kerberos is a person, who may have several roles. They are not merged: a call is
// made in the first role that allows it.

// roles returns what the caller of a request may do, at least one principal. A ticket is accepted once; later
// the rights of its person are asked for.
func (x *exchange) roles() ([]*identity.Principal, error) {
	s, credential := x.server, credentialIn(x.c.Request)
	token, ticket := credential.Ticket()
	if s.Tickets == nil || !ticket {
		p, err := s.caller(x.c.Request)
		return []*identity.Principal{p}, err
	}
	all, err := x.rolesOf(negotiate.Token{Value: token, Client: credential.Client, Bindings: s.endPoint(x.c.Request)})
	if err != nil {
		return nil, err
	}
	counted := make([]*identity.Principal, len(all))
	for i, p := range all {
		counted[i] = s.Quotas.Of(p)
	}
	return counted, nil
}

func (x *exchange) rolesOf(token negotiate.Token) ([]*identity.Principal, error) {
	ctx, s := x.c.Request.Context(), x.server
	if x.person != "" {
		all, err := s.Tickets.Rights(ctx, x.person)
		if err == nil && len(all) == 0 {
			err = &authn.Refusal{Code: schema.Unauthenticated, Message: "The person has no role any more."}
		}
		return all, err
	}
	all, reply, err := s.Tickets.Caller(ctx, token)
	if err != nil {
		return nil, err
	}
	x.person = all[0].ID
	if reply != nil {
		x.c.Header(challengeHeader, negotiate.Scheme+" "+base64.StdEncoding.EncodeToString(reply))
	}
	return all, nil
}

func (s *Server) endPoint(r *http.Request) []byte {
	if s.EndPoint == nil {
		return nil
	}
	return s.EndPoint(r)
}

// authenticate finds the caller, with the role that has a scope if there is one.
func (x *exchange) authenticate(wanted identity.Scope) (*identity.Principal, error) {
	all, err := x.roles()
	if err != nil {
		return nil, refusedBy(err)
	}
	x.server.proved(Peer(x.c.Request))
	if i := slices.IndexFunc(all, func(p *identity.Principal) bool { return p.Has(wanted) }); i >= 0 {
		return all[i], nil
	}
	return all[0], nil
}

// again returns what the caller may do now, in the role in which the call is made.
func (x *exchange) again() (*identity.Principal, error) {
	all, err := x.roles()
	if err != nil {
		return nil, refusedBy(err)
	}
	x.server.proved(Peer(x.c.Request))
	if x.person == "" {
		return all[0], nil
	}
	i := slices.IndexFunc(all, func(p *identity.Principal) bool {
		return slices.Equal(p.Scopes, x.principal.Scopes) && p.Limits.Equal(x.principal.Limits)
	})
	if i < 0 {
		return nil, refusedBy(&authn.Refusal{Code: schema.Unauthenticated, Message: "The person does not have this role any more."})
	}
	return all[i], nil
}

// ownCall refuses a call of a ticket that changes something, if a browser says that a page of another site may
// have made it: browsers attach tickets by themselves.
func (x *exchange) ownCall() error {
	_, ticket := credentialIn(x.c.Request).Ticket()
	if x.server.Tickets == nil || !ticket || !x.changes() {
		return nil
	}
	site, origin := x.c.GetHeader("Sec-Fetch-Site"), x.c.GetHeader("Origin")
	if site == "same-origin" || site == "" && origin == "" {
		return nil
	}
	failed := problem.New(schema.Forbidden, "A page may not change anything by the Windows sign-in of its reader. "+
		"Send a token in Auth-Token instead.")
	failed.Reason = problem.ReasonOtherSites
	return failed
}

// changes reports whether a call may do more than read.
func (x *exchange) changes() bool {
	method := x.c.Request.Method
	return x.op.Effect.Writes() || method != http.MethodGet && method != http.MethodHead
}

// able returns the roles that have the scope of an operation; the first one if none has.
func able(all []*identity.Principal, op *ops.Operation) []*identity.Principal {
	var able []*identity.Principal
	for _, p := range all {
		if call.AuthoriseRow(p, op) == nil {
			able = append(able, p)
		}
	}
	if len(able) == 0 {
		return all[:1]
	}
	return able
}

// passedOn reports whether another role may do what one of them refuses. Nothing was done then.
func passedOn(err error) bool {
	if err == nil {
		return false
	}
	switch problem.Of(err).Code.Status() {
	case http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return true
	}
	return false
}

// inRoles makes a call in each role until one allows it. The refusal comes from the first role, unless another
// one has reached a limit, which passes.
func (x *exchange) inRoles(make func(*identity.Principal) (call.Answer, error)) (answer call.Answer, err error) {
	for i, p := range able(x.allRoles, x.op) {
		next, failed := make(p)
		if !passedOn(failed) || x.stream != nil {
			return next, failed
		}
		if i == 0 || problem.Of(failed).Code == schema.RateLimited && problem.Of(err).Code != schema.RateLimited {
			answer, err = next, failed
		}
	}
	return answer, err
}
