package frame

import (
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// retryAfter is the Retry-After header, in seconds, of answers to people who cannot sign in at the moment.
const retryAfter = "5"

// SignInPage is the sign-in page.
type SignInPage struct {
	Passwords, Tokens bool
	Next, Hint        string
	Ticket            string // address for signing in with a ticket; empty if tickets are not accepted
}

func (p *Pages) showSignIn(w http.ResponseWriter, r *http.Request) {
	if p.TriesTicket(r) {
		http.Redirect(w, r, say.Asking(TicketPath, "next", Next(r.URL.Query().Get("next"))), http.StatusSeeOther)
		return
	}
	p.askSignIn(w, r, http.StatusOK, nil, r.URL.Query().Get("next"))
}

// askSignIn shows the sign-in page. It does not show the typed values, because a person may have typed the
// password in the wrong box. A browser without a cookie gets one, and the form is bound to the cookie.
func (p *Pages) askSignIn(
	w http.ResponseWriter, r *http.Request, status int, problem texts.Text, where string,
) {
	body := SignInPage{Passwords: p.Gate.Passwords(), Tokens: p.Gate.Tokens(), Next: Next(where), Hint: p.Hint}
	if p.Gate.Tickets() {
		body.Ticket = say.Asking(TicketPath, "next", body.Next)
	}
	shown := Page{Title: texts.Of("signIn.title"), Section: "signin", Form: p.NewForm(w, r), Body: body}
	if !problem.Empty() {
		shown.Alert = &Alert{Text: problem}
	}
	p.Write(w, r, status, "signin", shown)
}

// NewForm returns a form token. A browser without a cookie gets one.
func (p *Pages) NewForm(w http.ResponseWriter, r *http.Request) string {
	cookie := p.Cookie(r)
	if cookie == "" {
		cookie = signin.NewID()
		p.setCookie(w, r, cookie)
	}
	return p.Gate.FormToken(cookie)
}

func (p *Pages) signIn(w http.ResponseWriter, r *http.Request) {
	var id, mark string
	var err error
	client, where := p.Client(r), r.PostForm.Get("next")
	if token := r.PostForm.Get("token"); token != "" {
		id, err = p.Gate.Token(r.Context(), token, client)
	} else {
		id, err = p.Gate.Password(
			r.Context(), r.PostForm.Get("username"), []byte(r.PostForm.Get("password")), client, p.markOf(r),
		)
		mark = p.Gate.Mark(r.PostForm.Get("username"))
	}
	var refused *authn.Refusal
	var tooMany *signin.TooMany
	switch {
	case err == nil:
		p.enter(w, r, id, mark, where)
	case errors.Is(err, signin.ErrMustChange):
		p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("signIn.mustChange"), where)
	case errors.Is(err, signin.ErrExpired):
		p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("signIn.expired"), where)
	case errors.As(err, &tooMany):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(tooMany.Wait.Seconds()))))
		p.askSignIn(w, r, http.StatusTooManyRequests, waitFor(tooMany.Wait), where)
	case errors.Is(err, signin.ErrRefused), errors.Is(err, signin.ErrUnsupported):
		p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("signIn.wrong"), where)
	case errors.Is(err, signin.ErrStore):
		p.cannotSignIn(w, r, err, where)
	case undecided(err):
		w.Header().Set("Retry-After", retryAfter)
		why := texts.Of("signIn.noStore", "why", texts.Of("store.tokens"))
		p.askSignIn(w, r, http.StatusServiceUnavailable, why, where)
	case errors.As(err, &refused):
		p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("signIn.token.not"), where)
	case errors.Is(err, signin.ErrBusy):
		w.Header().Set("Retry-After", retryAfter)
		p.askSignIn(w, r, http.StatusServiceUnavailable, texts.Of("signIn.busy"), where)
	default:
		w.Header().Set("Retry-After", retryAfter)
		p.askSignIn(w, r, http.StatusServiceUnavailable, texts.Of("signIn.away"), where)
	}
}

// waitFor returns the message that a password can be tried again after a number of minutes. The message is
// the same for names without an account.
func waitFor(wait time.Duration) texts.Text {
	return texts.Count("signIn.wait", max(1, int(math.Ceil(wait.Minutes()))))
}

func (p *Pages) cannotSignIn(w http.ResponseWriter, r *http.Request, err error, where string) {
	w.Header().Set("Retry-After", retryAfter)
	p.askSignIn(w, r, http.StatusServiceUnavailable, texts.Of("signIn.noStore", "why", WithoutStore(err)), where)
}

// enter starts a session with a new id and redirects to a page. It sets the browser's mark unless mark is
// empty.
func (p *Pages) enter(w http.ResponseWriter, r *http.Request, id, mark, where string) {
	// the gate tries again later; the new session does not depend on the old one's end
	_ = p.Gate.End(r.Context(), p.Cookie(r))
	p.setCookie(w, r, id)
	if mark != "" {
		p.setMark(w, r, mark)
	}
	http.Redirect(w, r, Next(where), http.StatusSeeOther)
}

func (p *Pages) signOut(w http.ResponseWriter, r *http.Request) {
	err := p.Gate.End(r.Context(), p.Cookie(r))
	p.setCookie(w, r, "")
	if p.Gate.Tickets() {
		p.preferForm(w, r) // otherwise the next page would sign the person in again
	}
	if errors.Is(err, signin.ErrStore) {
		p.plain(w, r, http.StatusServiceUnavailable, texts.Of("signIn.out"), texts.Of(
			"signIn.out.text", "why", WithoutStore(err),
		))
		return
	}
	http.Redirect(w, r, say.Base, http.StatusSeeOther)
}

// showLink asks for confirmation before it uses a one-time link, because otherwise programs that check links
// would use up the link.
func (p *Pages) showLink(w http.ResponseWriter, r *http.Request) {
	p.Write(w, r, http.StatusOK, "link", Page{
		Title: texts.Of("signIn.link"), Section: "signin", Form: p.NewForm(w, r), Body: r.PathValue("code"),
	})
}

func (p *Pages) useLink(w http.ResponseWriter, r *http.Request) {
	id, err := p.Gate.UseLink(r.Context(), r.PathValue("code"), p.Client(r))
	if errors.Is(err, signin.ErrStore) {
		p.cannotSignIn(w, r, err, say.Base)
		return
	}
	if err != nil {
		p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("signIn.link.used"), say.Base)
		return
	}
	p.enter(w, r, id, "", say.Base)
}

// When a page asks for a ticket, a browser sends one without asking the person, or shows a password dialog
// that no page can style or close. Therefore only one page asks for tickets, and a browser without a ticket
// is not redirected there again. A cookie records that the browser has no ticket. It lasts until the browser
// closes. Sign-out sets the cookie, too.

const (
	TicketPath = say.Base + "signin/kerberos"
	formSuffix = "-form"
)

// TriesTicket reports whether to ask a browser for a ticket before showing the form.
func (p *Pages) TriesTicket(r *http.Request) bool {
	if !p.Gate.Tickets() || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return false
	}
	_, err := r.Cookie(p.CookieName(r) + formSuffix)
	return err != nil
}

// preferForm sets the cookie with which the browser gets the form instead of the page for tickets.
func (p *Pages) preferForm(w http.ResponseWriter, r *http.Request) { p.setFormCookie(w, r, 0) }

func (p *Pages) setFormCookie(w http.ResponseWriter, r *http.Request, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: p.CookieName(r) + formSuffix, Value: "1", Path: "/", MaxAge: age,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	})
}

// ticket signs in the person who is signed in to Windows. If the request has no ticket, it asks for one.
func (p *Pages) ticket(w http.ResponseWriter, r *http.Request) {
	if !p.Gate.Tickets() {
		p.NotFound(w, r)
		return
	}
	where := r.URL.Query().Get("next")
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		// Without this check, an image on a page of another site could end the person's oldest session.
		p.askSignIn(w, r, http.StatusUnauthorized, nil, where)
		return
	}
	token, sent := authn.Credential{Authorization: r.Header.Values("Authorization")}.Ticket()
	if !sent {
		p.preferForm(w, r) // until a ticket is accepted
		w.Header().Set("WWW-Authenticate", negotiate.Scheme)
		p.askSignIn(w, r, http.StatusUnauthorized, nil, where)
		return
	}
	given := negotiate.Token{Value: token, Client: p.Client(r)}
	if p.EndPoint != nil {
		given.Bindings = p.EndPoint(r)
	}
	id, reply, err := p.Gate.Ticket(r.Context(), given)
	if err != nil {
		p.preferForm(w, r)
		p.refuseTicket(w, r, err, where)
		return
	}
	if reply != nil {
		w.Header().Set("WWW-Authenticate", negotiate.Scheme+" "+base64.StdEncoding.EncodeToString(reply))
	}
	p.setFormCookie(w, r, -1)
	p.enter(w, r, id, "", where)
}

// refuseTicket shows the form and explains why the ticket was refused.
func (p *Pages) refuseTicket(w http.ResponseWriter, r *http.Request, err error, where string) {
	var refused *negotiate.Refusal
	var tooMany *signin.TooMany
	switch {
	case errors.As(err, &refused):
		p.askSignIn(w, r, http.StatusUnauthorized, texts.Of("ticket."+string(refused.Reason)), where)
	case errors.As(err, &tooMany):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(tooMany.Wait.Seconds()))))
		p.askSignIn(w, r, http.StatusTooManyRequests, texts.Of("ticket.tooMany"), where)
	case errors.Is(err, signin.ErrStore):
		p.cannotSignIn(w, r, err, where)
	default:
		w.Header().Set("Retry-After", retryAfter)
		p.askSignIn(w, r, http.StatusServiceUnavailable, texts.Of("signIn.away"), where)
	}
}
