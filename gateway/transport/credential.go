package transport

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// credentialIn returns the credentials in the headers and in the query of a request.
func credentialIn(r *http.Request) authn.Credential {
	c := authn.Credential{
		AuthToken: r.Header.Values(ops.TokenName), Authorization: r.Header.Values("Authorization"),
		Query: queryTokens(r.URL.RawQuery), Client: ClientOf(r),
	}
	if r.TLS != nil {
		c.Chains = r.TLS.VerifiedChains
	}
	for _, name := range otherHeaders {
		if r.Header.Get(name) != "" {
			c.Other = name
		}
	}
	return c
}

// otherHeaders are headers in which other APIs expect a credential.
var otherHeaders = []string{"X-Api-Key", "Api-Key", "X-Auth-Token", "Token", "Access-Token"}

// queryTokens returns the values of all pairs with the token's name, including pairs that the
// binder cannot parse, so it misses no possible token.
func queryTokens(raw string) []string {
	if raw == "" {
		return nil
	}
	var values []string
	for pair := range strings.SplitSeq(raw, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(rawName); err != nil || !strings.EqualFold(name, ops.TokenName) {
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			value = "" // not a credential
		}
		values = append(values, value)
	}
	return values
}

// adoptToken adds the token in the body of a request to its credentials, unless there are others. It reads at
// most [bodyPiece] of the body, because the caller is still unknown.
func adoptToken(req *http.Request, credential *authn.Credential) {
	if credential.Given() || req.Body == nil || req.Body == http.NoBody || req.ContentLength > bodyPiece {
		return
	}
	start := make([]byte, bodyPiece+1)
	n, err := io.ReadFull(req.Body, start)
	start = start[:n]
	req.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), req.Body), req.Body}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return // the body is too long or broken, which the full read will report
	}
	if token, found := tokenOf(req.Header, start); found {
		credential.AuthToken = []string{token}
	}
}

// tokenOf returns the first Auth-Token field of a form or of a JSON object.
func tokenOf(header http.Header, body []byte) (token string, found bool) {
	switch mediaTypeOf(header) {
	case mediaForm:
		for pair := range strings.SplitSeq(string(body), "&") {
			rawName, rawValue, _ := strings.Cut(pair, "=")
			name, err := url.QueryUnescape(rawName)
			if err == nil && isToken(name) {
				token, err = url.QueryUnescape(rawValue)
				return token, err == nil
			}
		}
	case mediaJSON:
		var members map[string]json.RawMessage
		if json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &members) != nil {
			return "", false
		}
		for name, value := range members {
			if isToken(name) {
				return token, json.Unmarshal(value, &token) == nil
			}
		}
	}
	return "", false
}

func isToken(name string) bool {
	return ops.EqualFold(name, ops.TokenName)
}

// mediaTypeOf returns the media type of a body, or "" if such a body cannot be read.
func mediaTypeOf(header http.Header) string {
	encoding := header.Get("Content-Encoding")
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	inUTF8 := slices.Contains([]string{"", "utf-8", "utf8"}, strings.ToLower(parameters["charset"]))
	if err != nil || !inUTF8 || len(header.Values("Content-Type")) > 1 || encoding != "" &&
		!strings.EqualFold(encoding, "identity") {
		return ""
	}
	return mediaType
}

// token compares a credential in the body with the request's credential, which has already been
// checked.
func (c *collector) token(value any) error {
	switch c.tokens++; {
	case c.tokens > 1:
		return problem.New(schema.InvalidRequest, "Auth-Token is given twice in the body. Send one credential.")
	case value != c.credential.First():
		return problem.New(schema.InvalidRequest,
			"The request carries different credentials. Send one, in Auth-Token or in Authorization.")
	}
	return nil
}

// PagesPath is the path of the pages for people. They set their own headers.
const PagesPath = "/ui/"

// addPages adds the pages. They handle all methods, so a wrong method is answered with a page, too.
func (s *Server) addPages(engine *gin.Engine) {
	if s.Pages == nil {
		return
	}
	show := endpoint(func(x *exchange) {
		if _, refusal := unledOf(x.c.Request); refusal != nil {
			x.refusePage(refusal)
			return
		}
		s.Pages.ServeHTTP(x.c.Writer, x.c.Request)
	})
	engine.Any(PagesPath+"*page", show)
	engine.GET(strings.TrimSuffix(PagesPath, "/"),
		func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, PagesPath) })
}

// followsLink reports whether a request follows a link to a page. Such links are allowed on any web site. The
// pages refuse all other requests from other sites.
func (x *exchange) followsLink() bool {
	method := x.c.Request.Method
	return x.server.Pages != nil && strings.HasPrefix(x.c.Request.URL.Path, PagesPath) &&
		(method == http.MethodGet || method == http.MethodHead)
}

// A caller with a Kerberos ticket is a person, and may have several roles. The roles are merged only for a
// list, as far as the result stays the same. Any other call is made in the first role that allows it.

// roles returns the rights of a request's caller, as at least one principal. A ticket is accepted
// once; after that, only the person's rights are looked up again.
func (x *exchange) roles() ([]*identity.Principal, error) {
	s := x.server
	token, ticket := x.credential.Ticket()
	if s.tickets == nil || !ticket {
		p, err := s.Auth.Authenticate(x.c.Request.Context(), x.credential)
		if err != nil {
			return nil, err
		}
		x.one[0] = s.Quotas.Of(p)
		return x.one[:], nil
	}
	given := negotiate.Token{Value: token, Client: x.client}
	if s.EndPoint != nil {
		given.Bindings = s.EndPoint(x.c.Request)
	}
	all, err := x.rolesOf(given)
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
		all, err := s.tickets.Rights(ctx, x.person)
		if err == nil && len(all) == 0 {
			err = &authn.Refusal{Code: schema.Unauthenticated, Message: "The person has no role any more."}
		}
		return all, err
	}
	all, reply, err := s.tickets.Caller(ctx, token)
	if err != nil {
		return nil, err
	}
	x.person = all[0].ID
	if reply != nil {
		x.c.Header(challengeHeader, negotiate.Scheme+" "+base64.StdEncoding.EncodeToString(reply))
	}
	return all, nil
}

// authenticate finds the caller. If several roles are possible, it prefers one with the wanted
// scope.
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

// again returns the caller's current rights in the role in which the call is made.
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
		const lost = "The person does not have this role any more."
		return nil, refusedBy(&authn.Refusal{Code: schema.Unauthenticated, Message: lost})
	}
	return all[i], nil
}

// ownCall refuses a change with a ticket if, according to the browser, a page of another site may
// have made it. Browsers attach tickets automatically.
func (x *exchange) ownCall() error {
	if _, ticket := x.credential.Ticket(); !ticket || x.server.tickets == nil || !x.changes() {
		return nil
	}
	site, origin := x.c.GetHeader("Sec-Fetch-Site"), x.c.GetHeader("Origin")
	if site == "same-origin" || site == "" && origin == "" {
		return nil
	}
	const text = "A page may not change anything by the Windows sign-in of its reader. " +
		"Send a token in Auth-Token instead."
	failed := problem.New(schema.Forbidden, text)
	failed.Reason = problem.ReasonOtherSites
	return failed
}

// changes reports whether a call may do more than read.
func (x *exchange) changes() bool {
	method := x.c.Request.Method
	return x.op.Effect.Writes() || method != http.MethodGet && method != http.MethodHead
}

// inRoles makes a call in each role until one allows it. If none does, it returns the refusal of the first
// role, unless another role has reached a limit, because that is temporary.
func (x *exchange) inRoles(
	roles []*identity.Principal, do func(*identity.Principal) (call.Answer, error),
) (answer call.Answer, err error) {
	for i, p := range roles {
		next, failed := do(p)
		if !call.PassedOn(failed) || x.stream != nil {
			return next, failed
		}
		limited := problem.Of(failed).Code == schema.RateLimited
		if i == 0 || limited && problem.Of(err).Code != schema.RateLimited {
			answer, err = next, failed
		}
	}
	return answer, err
}
