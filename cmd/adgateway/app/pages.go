package app

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/change"
	"adgateway/gateway/config"
	"adgateway/gateway/forward"
	"adgateway/gateway/manual/site"
	"adgateway/gateway/ops"
	"adgateway/gateway/ui"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/ui/frame"
	"adgateway/ps"
	"adgateway/ps/servers"
)

// pages returns the pages for people, or nil if nobody could sign in to them.
func (s *Stack) pages(o Options) func(*gateway.Server) gateway.Pages {
	tokens := o.Settings.SignIn.Tokens == config.SwitchOn || o.Settings.SignIn.Tokens == config.SwitchAuto &&
		o.Sandbox
	if o.People == nil && !tokens {
		return nil
	}
	return func(api *gateway.Server) gateway.Pages {
		gate := options.SignIn(o.Settings.SignIn)
		gate.Record, gate.Policy = s.recordSignIn(o.Log), accounts{api}.lockoutPolicy
		pages := frame.Options{API: api, Client: gateway.ClientOf, Sandbox: o.Sandbox,
			Unencrypted: o.Sandbox && Scheme(o.Settings) == "http", Version: o.Version.Version,
			Zone: o.Settings.Time.Location()}
		pages.EndPoint = func(r *http.Request) []byte { return forward.EndPointOf(r, s.certificate.endPoint) }
		if o.Settings.Docs.Enabled {
			pages.Manual = site.Path
		}
		if tokens {
			gate.Tokens = o.Auth
		}
		if o.People != nil {
			mode := o.Settings.SignIn
			gate.Tickets, gate.TicketsOnly = mode.Tickets(), mode.Mode == config.SignInKerberos
			gate.Directory, gate.Roles, gate.Domains, pages.Hint = o.People.Directory, o.People.Roles, o.People.Domains, o.People.Hint
			if o.People.ByName {
				gate.Directory = enabledDirectory{o.People.Directory, accounts{api}}
			}
		}
		gate.Now, gate.Store, gate.Problem = s.kept.now(), s.kept.lasting(), func(
			err error) {
			o.Log.WithError(err).Error("sessions of the pages")
		}
		s.Gate = signin.NewGate(gate)
		pages.Figures, pages.Log = s.figures, s.auditLines(o.Settings.Audit)
		pages.Reasoned = func(operation string) bool { return gateway.RequiresReason(api, operation) }
		pages.Gate, pages.Changes = s.Gate, listable()
		var err error
		if pages.Procedures, err = proceduresOf(o.Settings); err != nil { // [Check] has not been called
			o.Log.WithError(err).Error("there are no procedures")
		}
		return ui.New(pages)
	}
}

// listable returns the operations that the pages may offer for lists.
func listable() (all []frame.Change) {
	for _, op := range ops.Table() {
		if op.Listable() {
			all = append(all, frame.Change{ID: op.ID, Summary: op.Summary, Scope: op.Scope})
		}
	}
	return all
}

// tidyEvery is the interval between attempts to end sessions on gateways that could not be reached when the
// sessions were ended.
const tidyEvery = time.Second

// recordSignIn returns a function that records each sign-in in the log and the audit.
func (s *Stack) recordSignIn(log *logrus.Logger) func(signin.Event) {
	return func(e signin.Event) {
		fields := logrus.Fields{"client": e.Client.String()}
		for name, value := range map[string]string{"principal": e.Name, "sid": e.SID, "reason": e.Reason} {
			if value != "" {
				fields[name] = value
			}
		}
		log.WithFields(fields).Info("sign-in: " + e.What)
		call := audit.Call{Operation: "signin." +
			map[string]string{"signed in": "start", "refused": "refuse", "signed out": "end",
				"ended": "revoke"}[e.What],
			From: e.Client.String(), Parameters: map[string]string{}}
		if e.Name != "" {
			call.Who = &audit.Who{Name: e.Name, Kind: e.Kind, ID: e.ID}
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

// figures returns the sessions, servers and calls for the status page.
func (s *Stack) figures() figures.Figures {
	stats := s.Pool.Stats()
	directory, dns := s.Servers.Status()
	f := figures.Figures{Certificate: s.certificateExpires(), Minutes: s.Gateway.LastHour()}
	for _, lane := range []struct {
		name   ps.Lane
		server servers.Status
	}{{ps.Directory, directory}, {ps.DNS, dns}} {
		now := stats[lane.name]
		f.Lanes = append(f.Lanes, figures.Lane{
			Name: string(lane.name), Busy: now.Busy, Idle: now.Idle, Starting: now.Starting, Max: now.Size,
			Waiting: now.Waiting, Trouble: now.Reason,
			Server: lane.server.Pinned, Since: lane.server.Since, Failovers: lane.server.Failovers,
		})
	}
	return f
}

// auditLines returns a function that reads the audit log for the pages, or nil if there is no log.
func (s *Stack) auditLines(c config.Audit) func(frame.LogFilter) ([]frame.LogLine, error) {
	if !audited(c) {
		return nil
	}
	return func(f frame.LogFilter) (lines []frame.LogLine, err error) {
		filter := audit.Filter{
			Since: f.Since, Until: f.Until, Who: f.Who, Target: f.Target, Names: f.Names,
		}
		err = audit.Read(c.File, nil, filter, func(r *audit.Record) error {
			call := r.Call()
			line := frame.LogLine{Time: call.Time, From: call.From, Operation: call.Operation, Outcome: r.State(),
				RequestID: call.RequestID}
			if call.Who != nil {
				line.Who, line.Kind = call.Who.Name, call.Who.Kind
			}
			if f.Only != nil && (call.Who == nil || call.Who.Identity() != *f.Only) {
				return nil
			}
			if r.Outcome != nil {
				line.Code = r.Outcome.Code
			}
			line.Targets = targetsOf(r)
			of := change.Call{
				Row: ops.Find(ops.Table(), call.Operation), Own: call.Who != nil && call.Who.Identity() == f.Reader,
				About: change.About{Names: line.Targets, Zone: ops.ZoneIn(call.Parameters)},
			}
			sights := readable(f, of)
			if len(sights) == 0 && !(of.Own && of.Row == nil) { // people see their own sign-ins without any role
				return nil
			}
			for _, name := range slices.Sorted(maps.Keys(call.Parameters)) {
				if showsGiven(sights, of, name, call.Parameters[name]) {
					line.Given = append(line.Given, name+"="+call.Parameters[name])
				}
			}
			if lines = append(lines, line); len(lines) > f.Skip+f.Most {
				lines = lines[1:]
			}
			return nil
		})
		slices.Reverse(lines)
		return lines[min(f.Skip, len(lines)):], err
	}
}

// targetsOf returns the distinguished name of each of a call's objects, or the GUID of an object without a
// distinguished name.
func targetsOf(r *audit.Record) (all []string) {
	for _, of := range r.Lines() {
		for _, object := range of.Targets() {
			if name := cmp.Or(object.DN, object.GUID); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// readable returns the sights of the reader's roles that may see a line of the audit log about a call.
func readable(f frame.LogFilter, c change.Call) (sights []change.Sight) {
	for _, p := range f.Readers {
		if sight := change.SightOf(p); sight.SeeCall(c) {
			sights = append(sights, sight)
		}
	}
	return sights
}

// showsGiven reports whether a reader with some sights may see the value of a parameter of a call.
func showsGiven(sights []change.Sight, c change.Call, name, value string) bool {
	return c.Own || c.Row == nil || slices.ContainsFunc(sights, func(s change.Sight) bool {
		return s.ShowsGiven(c.Row, name, value)
	})
}
