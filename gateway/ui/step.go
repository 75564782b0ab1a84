package ui

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/texts"
)

// step is a change of a session from its preview on. It is done once: pressing the button again
// shows what the first press did, at whichever gateway.
type step struct {
	ID      string
	Form    *form.Form
	Given   call.Values // of the call, without secrets
	secrets map[string]string
	Typed   url.Values // into the form, which can be opened again
	Back    string     // the page that it began at
	Says    form.Words // what it does, with the names of all objects
	Plan    *plan
	Said    string
	Warned  []warning
	Drifted bool    // the object changed after an earlier preview
	Result  *answer // nil: not confirmed
	role    role    // that made the plan
	sealed  []byte  // a password that was generated; nil: none, or it is no longer shown
	shown   time.Time

	version signin.Version
}

// role is what tells the roles of a person apart.
type role struct {
	Scopes []identity.Scope
	Limits identity.Limits
}

func roleOf(p *identity.Principal) role { return role{p.Scopes, p.Limits} }

// keptStep is a step as it is kept. Secrets are sealed for the cookie of the session.
type keptStep struct {
	Row       string
	Given     call.Values
	Secrets   map[string][]byte
	Typed     url.Values
	Back      string
	Says      form.Words
	Plan      *plan
	Said      string
	Warned    []warning
	Drifted   bool
	Role      role
	Result    *answer
	Status    int // of the result
	ChangeID  string
	Password  []byte
	Confirmed time.Time
}

// passwordLife is how long a password that was generated can be seen.
const passwordLife = 10 * time.Minute

// keepStep keeps a step as it is now.
func keepStep(c *visit, s *step) error {
	kept := keptStep{
		Row: s.Form.Op.ID, Given: s.Given, Secrets: map[string][]byte{},
		Typed: withoutSecrets(s.Form, s.Typed), Back: s.Back, Says: s.Says,
		Plan: s.Plan, Said: s.Said, Warned: s.Warned, Drifted: s.Drifted, Role: s.role,
		Result: s.Result, Password: s.sealed, Confirmed: s.shown,
	}
	for name, text := range s.secrets {
		sealed, err := signin.SealSecret(c.cookie(c.r), text)
		if err != nil {
			return err
		}
		kept.Secrets[name] = sealed
	}
	if s.Result != nil {
		kept.Status, kept.ChangeID = s.Result.Status, s.Result.ChangeID
	}
	return c.session.Keep(c.r.Context(), s.ID, s.version, kept)
}

// stepAt returns a step of the session; nil: there is none.
func stepAt(c *visit, id string) *step {
	var kept keptStep
	at, err := c.session.Kept(c.r.Context(), id, &kept)
	if err != nil || at == 0 {
		return nil
	}
	s := &step{
		ID: id, Form: form.Of(kept.Row), Given: kept.Given, Typed: kept.Typed, Back: kept.Back, Says: kept.Says,
		Plan: kept.Plan, Said: kept.Said, Warned: kept.Warned, Drifted: kept.Drifted, Result: kept.Result,
		role: kept.Role, sealed: kept.Password, shown: kept.Confirmed, version: at, secrets: map[string]string{},
	}
	if s.Form == nil || s.Plan == nil {
		return nil // another version has made it
	}
	for name, sealed := range kept.Secrets {
		if s.secrets[name], err = signin.OpenSecret(c.cookie(c.r), sealed); err != nil {
			return nil // it was made with another cookie
		}
	}
	if s.Result != nil {
		s.Result.Status, s.Result.ChangeID = kept.Status, kept.ChangeID
	}
	return s
}

// planStep makes a dry run and keeps its plan under a new id. It returns the answer of a dry run that
// failed.
func planStep(c *visit, s *step) *answer {
	s.hideSecrets()
	var first *answer
	for _, principal := range c.principals {
		a := sendStep(c, principal, s, "DryRun", "true")
		if a.ok() && (a.Plan == nil || a.Plan.ID == "") {
			return &answer{Status: http.StatusServiceUnavailable, Error: &failure{Message: c.say("step.noPlans")}}
		}
		if a.ok() {
			s.ID, s.role, s.Plan, s.Said, s.Warned = signin.NewID(), roleOf(principal), a.Plan, a.Output, a.Warnings
			s.Says = sentencesOf(c, s)
			if err := keepStep(c, s); err != nil {
				why := &failure{Message: c.say("step.notKept", "why", withoutStore(err))}
				return &answer{Status: http.StatusServiceUnavailable, Error: why}
			}
			return nil
		}
		first = outranking(first, a)
	}
	if first == nil {
		return &answer{Status: http.StatusForbidden, Error: &failure{Message: c.say("step.noRole")}}
	}
	return first
}

// hideSecrets takes the secrets out of what was given.
func (s *step) hideSecrets() {
	if s.secrets == nil {
		s.secrets = map[string]string{}
	}
	for i := range s.Form.Fields {
		field := &s.Form.Fields[i]
		if value, is := s.Given[field.Name].(string); is && field.Control == form.Secret {
			s.secrets[field.Name] = value
			delete(s.Given, field.Name)
		}
	}
}

// sendStep sends the call of a step with one more parameter.
func sendStep(c *visit, principal *identity.Principal, s *step, name, value string) *answer {
	sent := call.Values{}
	for each, given := range s.Given {
		sent[each] = listAgain(s.Form.Field(each), given)
	}
	for each, secret := range s.secrets {
		sent[each] = secret
	}
	sent[name] = value
	return c.callAs(principal, s.Form.Op.ID, sent)
}

// sentencesOf says what a step does, with the names of all objects, in each language.
func sentencesOf(c *visit, s *step) (says form.Words) {
	if id := textIn(s.Given, "ChangeId"); id != "" {
		return undoes(c, id, s)
	}
	names := map[string]string{}
	for i := range s.Form.Fields {
		field := &s.Form.Fields[i]
		value, _ := s.Given[field.Name].(string)
		names[field.Name] = value
		if field.Pick != "" && value != "" {
			names[field.Name] = nameOfPicked(c, field.Pick, value)
			for _, o := range s.Plan.Objects {
				if o.GUID == value && names[field.Name] == value {
					names[field.Name] = lastOf(pathText(o.DistinguishedName))
				}
			}
		}
	}
	return s.Form.Sentences(names)
}

// undoes says what an undo takes back.
func undoes(c *visit, change string, s *step) (says form.Words) {
	f := s.Form
	for _, r := range records[record](c.get("change.get", "ChangeId", change)) {
		if made := form.Of(r.Text("operation")); made != nil {
			f = made
		}
	}
	for lang := range says {
		what := f.Label[lang]
		for i, o := range s.Plan.Objects {
			what += []string{": ", ", "}[min(i, 1)] + lastOf(pathText(o.DistinguishedName))
			if i == mostNamed {
				break
			}
		}
		says[lang] = texts.Of("step.undoes", "what", what).In(texts.Lang(lang))
	}
	return says
}

// confirmStep makes the change that a preview has shown, once.
func confirmStep(c *visit) {
	s := stepAt(c, c.r.PathValue("step"))
	if s == nil {
		tooLate(c)
		return
	}
	if s.Result != nil {
		c.goTo(s.after())
		return
	}
	principal := roleNow(c, s.role)
	if principal == nil {
		c.failed(&answer{Status: http.StatusForbidden, Error: &failure{Message: c.say("step.roleGone")}})
		return
	}
	a := sendStep(c, principal, s, "PlanId", s.Plan.ID)
	switch {
	case a.Error != nil && a.Error.Code == "plan_used":
		confirmedBefore(c, s)
		return
	case a.Status == http.StatusPreconditionFailed:
		previewAgain(c, s, a)
		return
	}
	generated := a.generated
	if generated != "" {
		a.Result, s.shown = nil, time.Now()
		var err error
		if s.sealed, err = signin.SealSecret(c.cookie(c.r), generated); err != nil {
			s.sealed = nil
		}
	}
	s.Result, s.secrets = a, nil
	if err := keepStep(c, s); err != nil || generated != "" && s.sealed == nil {
		showStep(c, http.StatusOK, s, nil, generated) // what could not be kept is in this answer only
		return
	}
	c.goTo(s.after())
}

// after returns the page that shows what a step did: the object's page, unless there is more to show.
func (s *step) after() string {
	if s.sealed != nil || !s.Result.ok() {
		return address("steps", s.ID)
	}
	return withDone(s.landing(), s.ID)
}

// withDone returns a page with the message about what a step did.
func withDone(page, step string) string {
	at, err := url.Parse(page)
	if err != nil {
		return page
	}
	query := at.Query()
	query.Set(doneName, step)
	at.RawQuery = query.Encode()
	return at.String()
}

// landing returns the page to go to when the step is done: that of what it made, or the one that it began at,
// unless its object is gone.
func (s *step) landing() string {
	target := s.Form.Target()
	made := records[record](s.Result)
	resource := sectionOf(s.Form)
	if k := kindAt(resource); k != nil && target == nil && len(made) == 1 && made[0].Text("guid") != "" {
		return k.at(made[0].Text("guid"))
	}
	if s.Form.Op.Effect.String() == "delete" && target != nil && target.Pick != form.Zone {
		if k := kindAt(resource); k != nil && s.Back == k.at(textIn(s.Given, target.Name)) {
			return k.Path()
		}
	}
	return s.Back
}

func textIn(values call.Values, name string) string {
	text, _ := values[name].(string)
	return text
}

// resultWait is how long the result of an earlier press is waited for.
const resultWait = 20 * time.Second

// confirmedBefore shows what an earlier press of the button does, as soon as that is known.
func confirmedBefore(c *visit, s *step) {
	ctx, cancel := context.WithTimeout(c.r.Context(), resultWait)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if now := stepAt(c, s.ID); now != nil && now.Result != nil {
			c.goTo(now.after())
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			among := &alert{Text: texts.Of("step.among")}
			c.page(http.StatusConflict, "message", page{Title: texts.Of("step.before"), Alert: among})
			return
		}
	}
}

// roleNow returns the principal of a role as the person has it now; nil: none.
func roleNow(c *visit, was role) *identity.Principal {
	for _, p := range c.principals {
		if slices.Equal(p.Scopes, was.Scopes) && p.Limits.Equal(was.Limits) {
			return p
		}
	}
	return nil
}

// previewAgain shows what the action would change now.
func previewAgain(c *visit, s *step, drifted *answer) {
	again := &step{
		Form: s.Form, Given: s.Given, secrets: maps.Clone(s.secrets), Typed: s.Typed, Back: s.Back, Drifted: true,
	}
	s.Result, s.secrets = drifted, nil
	_ = keepStep(c, s) // the plan can no longer be applied, which another press would show again
	if failed := planStep(c, again); failed != nil {
		leaveForm(c, s.Form, refusedDraft(c, s.Form, s.Typed, failed))
		return
	}
	c.goTo(address("steps", again.ID))
}

// shownStep shows a preview, or what came of it.
func shownStep(c *visit) {
	s := stepAt(c, c.r.PathValue("step"))
	if s != nil && s.Result == nil { // another gateway may have just confirmed it
		c.session.CatchUp(c.r.Context())
		s = stepAt(c, s.ID)
	}
	if s == nil {
		tooLate(c)
		return
	}
	var said *alert
	if s.Drifted && s.Result == nil {
		said = &alert{Text: texts.Of("step.drifted")}
	}
	showStep(c, http.StatusOK, s, said, passwordOf(c, s))
}

// tooLate says that a step is no longer kept.
func tooLate(c *visit) {
	gone := &alert{Text: texts.Of("step.gone")}
	c.page(http.StatusGone, "message", page{Title: texts.Of("step.late"), Alert: gone})
}

// passwordOf returns the password that a step has generated, as long as it may be seen; empty: there is none.
func passwordOf(c *visit, s *step) string {
	if s.sealed == nil || time.Since(s.shown) >= passwordLife {
		return ""
	}
	text, err := signin.OpenSecret(c.cookie(c.r), s.sealed)
	if err != nil {
		return "" // it was made in another session
	}
	return text
}

// closeStep forgets the password of a step, which was passed on.
func closeStep(c *visit) {
	s := stepAt(c, c.r.PathValue("step"))
	if s == nil || s.Result == nil {
		c.goTo(base)
		return
	}
	s.sealed = nil
	if err := keepStep(c, s); err != nil {
		why := &failure{Message: withoutStore(err).In(c.lang())}
		c.failed(&answer{Status: http.StatusServiceUnavailable, Error: why})
		return
	}
	c.goTo(withDone(s.landing(), s.ID))
}
