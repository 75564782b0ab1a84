// Package frame contains what all pages of the console share: sign-in, calls as the signed-in person, lists
// over several roles, the menu, the display settings and the rendering.
//
// Pages access the directory only by calling operations as the signed-in person, see [API]. The scopes,
// limits, rates, plans and audit of the API therefore apply to them.
package frame

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/packing"
	"adgateway/gateway/ui/procedure"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Options configures the pages. API, Gate and Client are required.
type Options struct {
	API  API
	Gate *signin.Gate
	// Client returns the address of the client that sent a request, even if the gateway is behind a proxy.
	Client func(*http.Request) netip.Addr
	// EndPoint returns the channel bindings of the TLS connection from a request's client, or nothing if they
	// are unknown. It may be nil.
	EndPoint func(*http.Request) []byte

	Sandbox bool // shows on every page that this is the sandbox
	// Unencrypted serves plain HTTP to browsers on this machine, for the sandbox.
	Unencrypted bool
	Version     string
	Manual      string // address of the manual, such as "/manual/"; empty if it is not served
	Hint        string // how to sign in to the sandbox; may be empty

	// Zone is the time zone in which days end, and the default zone for times on pages. Nil means UTC.
	Zone *time.Location

	// Procedures are sequences of changes that share one form.
	Procedures []*procedure.Procedure

	// Changes are the operations that a list can contain.
	Changes []Change

	// Reasoned reports whether the current settings require a reason for calls of an operation. Nil means
	// that no call requires one.
	Reasoned func(operation string) bool

	// Figures returns the current operating figures of the gateway. If it is nil, pages do not show them.
	Figures func() figures.Figures
	// Log returns lines of the audit log, newest first. It is nil if there is no audit log.
	Log func(LogFilter) ([]LogLine, error)
}

// Pages serves the pages. It is safe for concurrent use.
type Pages struct {
	Options
	Console
	Routes *http.ServeMux
	sites  *http.CrossOriginProtection
}

// Console contains the parts of the frame that the pages provide.
type Console struct {
	Menu []MenuRow
	Said func(*Visit) *Done // message about what was done; nil if there is none
	// Notes returns notes to show the person once, and reports whether more may follow while the page is
	// open.
	Notes func(*Visit) (notes []Note, open bool)
}

// NewPages returns pages that have only the routes of the frame.
func NewPages(o Options, of Console) *Pages {
	p := &Pages{Options: o, Console: of, Routes: http.NewServeMux(), sites: http.NewCrossOriginProtection()}
	p.Routes.HandleFunc("GET /ui/assets/{version}/{name}", asset)
	p.Routes.HandleFunc("GET /ui/signin", p.showSignIn)
	p.Routes.HandleFunc("POST /ui/signin", p.form(p.signIn))
	p.Routes.HandleFunc("GET "+TicketPath, p.ticket)
	p.Routes.HandleFunc("GET /ui/link/{code}", p.showLink)
	p.Routes.HandleFunc("POST /ui/link/{code}", p.form(p.useLink))
	p.Routes.HandleFunc("POST /ui/signout", p.form(p.signOut))
	p.Routes.HandleFunc("POST /ui/look", p.form(p.setLook))
	p.Routes.HandleFunc("/ui/", p.NotFound)
	return p
}

// Get registers a page for people who are signed in.
func (p *Pages) Get(path string, shown func(*Visit)) {
	p.Routes.HandleFunc("GET "+path, p.person(shown))
}

// Post registers a handler of forms from people who are signed in.
func (p *Pages) Post(path string, taken func(*Visit)) {
	p.Routes.HandleFunc("POST "+path, p.form(p.person(taken)))
}

// Because of the prefix __Host-, browsers refuse the cookie from plain HTTP and from other hosts of the
// domain. The prefix requires the attribute Secure, but browsers do not keep secure cookies from the
// sandbox's plain HTTP, so the sandbox's cookie has another name.
const (
	secureCookie = "__Host-adgateway"
	plainCookie  = "adgateway"
)

// headers are the headers of every page.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":  "nosniff",
	"X-Frame-Options":         "DENY",
	// With no-referrer, browsers would send the origin "null" with forms.
	"Referrer-Policy":              "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	"Cache-Control":                "no-store",
}

const formLimit = 64 << 10 // bytes

// Rights returns a person's current rights, one principal for each role. The person need not be signed in.
func (p *Pages) Rights(ctx context.Context, sid string) ([]*identity.Principal, error) {
	return p.Gate.Rights(ctx, sid)
}

// Tickets returns the verifier of Kerberos tickets, or nil if tickets are not accepted.
func (p *Pages) Tickets() authn.Tickets {
	if !p.Gate.Tickets() {
		return nil
	}
	return p.Gate
}

// ServeHTTP implements [http.Handler].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	switch {
	case r.TLS == nil && !(p.Unencrypted && local(r)):
		p.plain(w, r, http.StatusForbidden, texts.Of("frame.plain"), texts.Of("frame.plain.text"))
	case p.sites.Check(r) != nil:
		p.plain(w, r, http.StatusForbidden, texts.Of("form.foreign"), texts.Of("form.foreign.text"))
	default:
		packing.Handler(p.Routes).ServeHTTP(w, r)
	}
}

// local reports whether a request comes from this machine and names this machine as its host. The host is
// checked because an attacker can make a name of another site resolve to this machine.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	named := strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
	return peer.Addr().Unmap().IsLoopback() && named
}

func (p *Pages) NotFound(w http.ResponseWriter, r *http.Request) {
	p.plain(w, r, http.StatusNotFound, texts.Of("frame.noPage"), texts.Of("frame.noPage.text"))
}

// Cookie returns the value of the session cookie, or "" if there is none.
func (p *Pages) Cookie(r *http.Request) string {
	found, err := r.Cookie(p.CookieName(r))
	if err != nil {
		return ""
	}
	return found.Value
}

func (p *Pages) CookieName(r *http.Request) string {
	if r.TLS != nil {
		return secureCookie
	}
	return plainCookie
}

// setCookie sets the session cookie until the browser closes. An empty value removes it.
func (p *Pages) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	cookie := &http.Cookie{
		Name: p.CookieName(r), Value: value, Path: "/",
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// A browser's mark is in a separate cookie, which remains after sign-out.
const markSuffix = "-mark"

func (p *Pages) markOf(r *http.Request) string {
	found, err := r.Cookie(p.CookieName(r) + markSuffix)
	if err != nil {
		return ""
	}
	return found.Value
}

func (p *Pages) setMark(w http.ResponseWriter, r *http.Request, value string) {
	http.SetCookie(w, &http.Cookie{
		Name: p.CookieName(r) + markSuffix, Value: value, Path: "/", MaxAge: int(signin.MarkLife.Seconds()),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// Upload registers a handler of forms that contain a file.
func (p *Pages) Upload(path string, taken func(*Visit)) {
	p.Routes.HandleFunc("POST "+path, p.upload(taken))
}

// Fill registers a handler of forms that may contain a file.
func (p *Pages) Fill(path string, taken func(*Visit)) {
	p.Routes.HandleFunc("POST "+path, p.filled(taken))
}

// Anybody registers a page that does not require sign-in.
func (p *Pages) Anybody(path string, shown http.HandlerFunc) { p.Routes.HandleFunc("GET "+path, shown) }

// filled passes on forms of operations. They may contain a file.
func (p *Pages) filled(next func(*Visit)) http.HandlerFunc {
	typed, withFile := p.form(p.person(next)), p.upload(next)
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			withFile(w, r)
			return
		}
		typed(w, r)
	}
}

// form requires a form token that was issued to the same browser.
func (p *Pages) form(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, formLimit)
		if err := r.ParseForm(); err != nil {
			status, shown := unreadable(err)
			p.Write(w, r, status, "message", shown)
			return
		}
		cookie := p.Cookie(r)
		if p.Gate.FormValid(cookie, r.PostForm.Get("form")) {
			next(w, r)
			return
		}
		session, err := p.Gate.Find(r.Context(), cookie)
		if err != nil {
			p.notNow(w, r, WithoutStore(err))
			return
		}
		if session == nil {
			p.askSignIn(w, r, http.StatusUnauthorized, ended(r), pageOf(r))
			return
		}
		p.plain(w, r, http.StatusForbidden, texts.Of("form.old"), texts.Of("form.old.text"))
	}
}

// notNow sends a page that explains why it is unknown at the moment what the person may do.
func (p *Pages) notNow(w http.ResponseWriter, r *http.Request, why texts.Text) {
	w.Header().Set("Retry-After", retryAfter)
	p.plain(w, r, http.StatusServiceUnavailable, texts.Of("store.notNow"), texts.Of(
		"store.notNow.text", "why", why,
	))
}

// undecided reports whether a token could not be checked, so that it may still be valid.
func undecided(err error) bool {
	var refused *authn.Refusal
	return errors.As(err, &refused) && (refused.Code == schema.Unavailable || refused.Code == schema.Overloaded)
}

// WithoutStore explains why there are no sessions. Errors of the store contain host names, so only the log
// gets them.
func WithoutStore(err error) texts.Text {
	if errors.Is(err, signin.ErrRewound) {
		return texts.Of("store.rewound")
	}
	return texts.Of("store.lost")
}

// ended returns the message that a session has ended, and says whether the typed values are kept.
func ended(r *http.Request) texts.Text {
	if strings.HasPrefix(r.URL.Path, say.Base+say.DoPath+"/") || strings.Contains(pageOf(r), "?"+listName+"=") {
		return texts.Of("signIn.kept")
	}
	return texts.Of("signIn.ended")
}

// pageOf returns the address of the page that a form was on. For the form of an operation or a list, it
// includes what was typed, except secrets.
func pageOf(r *http.Request) string {
	if operation, is := strings.CutPrefix(r.URL.Path, say.Base+say.DoPath+"/"); is {
		if f := form.Of(operation); f != nil {
			return Next(TypedAddress(f, r.PostForm))
		}
	}
	if r.URL.Path == say.Address(listPath) {
		return Next(listAddress(r.PostForm))
	}
	return Next(cmp.Or(r.PostForm.Get("from"), r.PostForm.Get("next")))
}

// Next returns a safe address for a redirect, which is text if that is the path of one of these pages, and
// otherwise the status page.
func Next(text string) string {
	target, err := url.Parse(text)
	if err != nil || target.Scheme != "" || target.Host != "" || target.User != nil || target.Opaque != "" ||
		!strings.HasPrefix(target.Path, say.Base) || strings.Contains(text, "\\") ||
		strings.Contains(target.Path, "//") ||
		strings.Contains(target.Path, "/..") || strings.ContainsFunc(
		text, func(r rune) bool { return r < ' ' || r == 0x7f },
	) ||
		strings.HasPrefix(target.Path, say.Base+"sign") || strings.HasPrefix(target.Path, say.Base+"link") {
		return say.Base
	}
	return (&url.URL{Path: target.Path, RawQuery: target.RawQuery}).String()
}

// renewHeader marks requests that an open page sends to refresh itself. Event streams do not have it, because
// browsers cannot add headers to them.
const renewHeader = "X-Renew"

// session returns the session of a request. Requests that refresh an open page do not prolong the session, so
// that the session of a person who has left ends.
func (p *Pages) session(r *http.Request) (*signin.Session, error) {
	stream := r.Header.Get("Accept") == eventStream
	if r.Method == http.MethodGet && (stream || r.Header.Get(renewHeader) != "") {
		return p.Gate.Peek(r.Context(), p.Cookie(r))
	}
	return p.Gate.Find(r.Context(), p.Cookie(r))
}

// person passes on requests from people who are signed in, and asks others to sign in.
func (p *Pages) person(next func(*Visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		session, err := p.session(r)
		if err != nil {
			p.notNow(w, r, WithoutStore(err))
			return
		}
		if session == nil {
			where := pageOf(r)
			if r.Method == http.MethodGet {
				where = r.URL.RequestURI()
				if p.TriesTicket(r) {
					http.Redirect(w, r, say.Asking(TicketPath, "next", where), http.StatusSeeOther)
					return
				}
				p.askSignIn(w, r, http.StatusUnauthorized, nil, where)
				return
			}
			p.askSignIn(w, r, http.StatusUnauthorized, ended(r), where)
			return
		}
		c, err := p.Visit(w, r, session)
		switch {
		case err == nil:
			next(c)
		case undecided(err):
			p.notNow(w, r, texts.Of("store.tokens"))
		default:
			_ = p.Gate.End(r.Context(), p.Cookie(r)) // the session is useless without its API token
			p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("signIn.token.ended"), say.Base)
		}
	}
}

// unreadable returns the answer to a form that could not be read.
func unreadable(err error) (status int, shown Page) {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge,
			Page{Title: texts.Of("form.tooLarge"), Body: texts.Of("form.tooLarge.text")}
	}
	return http.StatusBadRequest,
		Page{Title: texts.Of("form.unreadable"), Body: texts.Of("form.unreadable.text")}
}

// upload parses a form that contains a file, and calls next. It reads at most uploadLimit bytes, and at most
// formLimit unless the person is signed in.
func (p *Pages) upload(next func(*Visit)) http.HandlerFunc {
	signedIn := p.person(func(c *Visit) {
		c.R.Body = http.MaxBytesReader(c.W, c.R.Body, uploadLimit)
		err := c.R.ParseMultipartForm(uploadLimit)
		switch {
		case err != nil:
			status, shown := unreadable(err)
			c.Page(status, "message", shown)
		case !c.Gate.FormValid(c.Cookie(c.R), c.R.PostForm.Get("form")):
			c.plain(c.W, c.R, http.StatusForbidden, texts.Of("form.old"), texts.Of("form.old.text"))
		default:
			next(c)
		}
	})
	return func(w http.ResponseWriter, r *http.Request) {
		if session, err := p.session(r); err == nil && session == nil {
			r.Body = http.MaxBytesReader(w, r.Body, formLimit)
			_ = r.ParseMultipartForm(formLimit) // what cannot be read is not kept
		}
		signedIn(w, r)
	}
}

// Change is an operation that a list can apply to each of its items.
type Change struct {
	ID, Summary string
	Scope       identity.Scope
}

// Limits of lists, in bytes. Larger lists must be sent to the API.
const (
	ListLimit   = 1 << 20 // maximum size of a list
	uploadLimit = 4 << 20 // maximum size of a form with a list; the values typed into a larger form are lost
)

func (p *Pages) Visit(w http.ResponseWriter, r *http.Request, session *signin.Session) (*Visit, error) {
	principals, err := session.Principals(r.Context(), p.Client(r))
	if err != nil {
		return nil, err
	}
	p.API.Proved(r)
	return &Visit{Pages: p, W: w, R: r, Session: session, Principals: principals}, nil
}
