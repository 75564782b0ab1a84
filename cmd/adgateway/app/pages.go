package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/gateway/signin"
	"adgateway/gateway/ui"

	"github.com/sirupsen/logrus"
)

// People are who signs in to the pages with an account of the domain.
type People struct {
	Directory signin.Directory
	Roles     []signin.Role
	Hint      string // how to sign in, shown on the page
}

// pages returns the pages for people, or nil if nobody could sign in to them.
func (s *Stack) pages(o Options) func(api http.Handler) http.Handler {
	tokens := o.Settings.SignIn.Tokens == config.SwitchOn || o.Settings.SignIn.Tokens == config.SwitchAuto && o.Sandbox
	if o.People == nil && !tokens {
		return nil
	}
	return func(api http.Handler) http.Handler {
		c := o.Settings.SignIn
		options := signin.Options{Idle: c.Idle, Max: c.Max, Recheck: c.Recheck, Tries: c.Tries, Record: s.recordSignIn(o.Log), Policy: lockoutPolicy(api)}
		pages := ui.Options{API: api, Sandbox: o.Sandbox, Unencrypted: o.Sandbox && Scheme(o.Settings) == "http", Version: o.Version.Version}
		if tokens {
			options.Tokens = o.Auth
		}
		if o.People != nil {
			options.Directory, options.Roles, pages.Hint = o.People.Directory, o.People.Roles, o.People.Hint
		}
		s.Gate = signin.NewGate(options)
		pages.Gate = s.Gate
		return ui.New(pages)
	}
}

// recordSignIn returns what logs who signed in, and records it in the audit.
func (s *Stack) recordSignIn(log *logrus.Logger) func(signin.Event) {
	return func(e signin.Event) {
		fields := logrus.Fields{"client": e.Client.String()}
		for name, value := range map[string]string{"principal": e.Name, "sid": e.SID, "reason": e.Reason} {
			if value != "" {
				fields[name] = value
			}
		}
		log.WithFields(fields).Info("sign-in: " + e.What)
		call := audit.Call{Operation: "signin." + map[string]string{"signed in": "start", "refused": "refuse", "signed out": "end", "ended": "revoke"}[e.What],
			From: e.Client.String(), Parameters: map[string]string{}}
		if e.Name != "" {
			call.Who = &audit.Who{Name: e.Name, Kind: signin.KindPerson}
		}
		for name, value := range map[string]string{"sid": e.SID, "reason": e.Reason} {
			if value != "" {
				call.Parameters[name] = value
			}
		}
		var err error
		if e.What == "refused" {
			err = s.Audit.Refuse(call, audit.Result{Code: "unauthenticated", Status: http.StatusUnauthorized})
		} else {
			err = s.Audit.Done(call, audit.Result{Outcome: "done", Status: http.StatusOK}, true)
		}
		if err != nil {
			log.WithError(err).Error("a sign-in could not be recorded")
		}
	}
}

// lockoutPolicy returns what reads, through the API, the policy that locks an account out.
func lockoutPolicy(api http.Handler) func(context.Context, string, netip.Addr) (string, int, time.Duration, error) {
	reader := &auth.Principal{Name: "sign-in", Kind: "gateway", Scopes: []auth.Scope{auth.UserRead}, Dialect: auth.Standard}
	read := func(ctx context.Context, path string, record any) error {
		r, err := http.NewRequestWithContext(auth.WithPrincipal(ctx, reader), http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		status, body := ui.Send(api, r)
		answer := struct{ Result []json.RawMessage }{}
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		if status != http.StatusOK || len(answer.Result) != 1 {
			return errors.New("the policy cannot be read")
		}
		return json.Unmarshal(answer.Result[0], record)
	}
	return func(ctx context.Context, name string, _ netip.Addr) (string, int, time.Duration, error) {
		var user struct{ SamUsername string }
		var policy struct{ LockoutThreshold, LockoutWindow int }
		path := "/api/ADUser/" + url.PathEscape(name) + "/Details?"
		query := url.Values{"ShowFields": {"samUsername"}}
		if strings.Contains(name, "@") {
			text, _ := json.Marshal(name) // always has a JSON form
			path, query["Filter"] = "/api/ADUser/ListUsers/All?", []string{"userPrincipalName eq " + string(text)}
		}
		err := read(ctx, path+query.Encode(), &user)
		if err == nil {
			err = read(ctx, "/api/ADUser/"+url.PathEscape(user.SamUsername)+"/PasswordPolicy", &policy)
		}
		return user.SamUsername, policy.LockoutThreshold, time.Duration(policy.LockoutWindow) * time.Minute, err
	}
}
