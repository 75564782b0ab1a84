package ui

import (
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"strconv"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/ui/texts"
)

// A browser sends a ticket by itself once a page asks for it, or shows a box for a password that no page can
// style or close. So only one page asks, and a browser that has no ticket is not sent there again: it has a
// cookie until it ends. Sign-out sets that cookie, too.

const (
	ticketPath = base + "signin/kerberos"
	formSuffix = "-form"
)

// triesTicket reports whether a browser is to be asked for a ticket before it is shown the form.
func (p *Pages) triesTicket(r *http.Request) bool {
	if !p.Gate.Tickets() || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return false
	}
	_, err := r.Cookie(p.cookieName(r) + formSuffix)
	return err != nil
}

// preferForm lets a browser be shown the form from now on.
func (p *Pages) preferForm(w http.ResponseWriter, r *http.Request) { p.setFormCookie(w, r, 0) }

func (p *Pages) setFormCookie(w http.ResponseWriter, r *http.Request, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: p.cookieName(r) + formSuffix, Value: "1", Path: "/", MaxAge: age,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	})
}

// ticket signs the person in who is signed in to Windows, and asks for the ticket first.
func (p *Pages) ticket(w http.ResponseWriter, r *http.Request) {
	if !p.Gate.Tickets() {
		p.notFound(w, r)
		return
	}
	where := r.URL.Query().Get("next")
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		// A picture on a page of another site would end the oldest session of the person.
		p.askSignIn(w, r, http.StatusUnauthorized, nil, where)
		return
	}
	token, sent := authn.Credential{Authorization: r.Header.Values("Authorization")}.Ticket()
	if !sent {
		p.preferForm(w, r) // until it has worked
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

// refuseTicket shows the form, and why the ticket is not accepted.
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
