package app

import (
	"net/http"

	"adgateway/gateway/audit"
	"adgateway/gateway/config"
	"adgateway/gateway/signin"
	"adgateway/gateway/ui"

	"github.com/sirupsen/logrus"
)

// People are who signs in to the pages with an account of the domain.
type People struct {
	Directory signin.Directory
	Roles     []signin.Role
	Domains   []string // whose accounts may sign in; none: any
	// ByName reports that Directory cannot tell whether an account may still log on; the
	// API is asked for it by name then.
	ByName bool
	Hint   string // how to sign in, shown on the page
}

// pages returns the pages for people, or nil if nobody could sign in to them.
func (s *Stack) pages(o Options) func(api http.Handler) http.Handler {
	tokens := o.Settings.SignIn.Tokens == config.SwitchOn || o.Settings.SignIn.Tokens == config.SwitchAuto && o.Sandbox
	if o.People == nil && !tokens {
		return nil
	}
	return func(api http.Handler) http.Handler {
		c := o.Settings.SignIn
		options := signin.Options{Idle: c.Idle, Max: c.Max, Recheck: c.Recheck, Tries: c.Tries, Record: s.recordSignIn(o.Log), Policy: accounts{api}.lockoutPolicy}
		pages := ui.Options{API: api, Sandbox: o.Sandbox, Unencrypted: o.Sandbox && Scheme(o.Settings) == "http", Version: o.Version.Version}
		if tokens {
			options.Tokens = o.Auth
		}
		if o.People != nil {
			options.Directory, options.Roles, options.Domains, pages.Hint = o.People.Directory, o.People.Roles, o.People.Domains, o.People.Hint
			if o.People.ByName {
				options.Directory = enabledDirectory{o.People.Directory, accounts{api}}
			}
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
