// Package work contains the pages on which people make changes. These are the forms of operations, the
// previews with their confirmation, and the lists that run as jobs.
package work

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
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Step is a change in a session, from its preview on. It runs only once, because pressing the button again,
// at any gateway, shows the result of the first press.
type Step struct {
	ID   string
	Form *form.Form
	StepState
	secrets map[string]string
	version signin.Version
}

// StepState is the part of a step that is stored as it is.
type StepState struct {
	Given     call.Values // values of the call, without secrets
	Typed     url.Values  // values of the form, which can be opened again
	Back      string      // page from which it was started
	Says      form.Words  // description with the names of all objects
	Plan      *say.Plan
	Said      string
	Warned    []frame.Warning
	Drifted   bool          // the object has changed since an earlier preview
	Result    *frame.Answer // nil if not confirmed
	Role      role          // role that made the plan
	Password  []byte        // generated, encrypted; nil if there is none or it is no longer shown
	Confirmed time.Time
}

// role contains the properties that distinguish the roles of a person.
type role struct {
	Scopes []identity.Scope
	Limits identity.Limits
}

func RoleOf(p *identity.Principal) role { return role{p.Scopes, p.Limits} }

// keptStep is a stored step. Secrets and Password are encrypted with the session cookie.
type keptStep struct {
	StepState
	Row      string
	Secrets  map[string][]byte
	Status   int // status of the result
	ChangeID string
}

// passwordLife is the time for which a generated password can be seen.
const passwordLife = 10 * time.Minute

// keepStep stores a step in its current state.
func keepStep(c *frame.Visit, s *Step) error {
	kept := keptStep{StepState: s.StepState, Row: s.Form.Op.ID, Secrets: map[string][]byte{}}
	kept.Typed = frame.WithoutSecrets(s.Form, s.Typed)
	for name, text := range s.secrets {
		sealed, err := signin.SealSecret(c.Cookie(c.R), text)
		if err != nil {
			return err
		}
		kept.Secrets[name] = sealed
	}
	if s.Result != nil {
		kept.Status, kept.ChangeID = s.Result.Status, s.Result.ChangeID
	}
	return c.Session.Keep(c.R.Context(), s.ID, s.version, kept)
}

// stepAt returns a step of the session, or nil if there is none.
func stepAt(c *frame.Visit, id string) *Step {
	var kept keptStep
	at, err := c.Session.Kept(c.R.Context(), id, &kept)
	if err != nil || at == 0 {
		return nil
	}
	s := &Step{
		ID: id, Form: form.Of(kept.Row), StepState: kept.StepState, version: at, secrets: map[string]string{},
	}
	if s.Form == nil || s.Plan == nil {
		return nil // it was made by another version
	}
	for name, sealed := range kept.Secrets {
		if s.secrets[name], err = signin.OpenSecret(c.Cookie(c.R), sealed); err != nil {
			return nil // it was made with another cookie
		}
	}
	if s.Result != nil {
		s.Result.Status, s.Result.ChangeID = kept.Status, kept.ChangeID
	}
	return s
}

// planStep makes a dry run and stores the plan under a new id. It returns the answer if the dry run fails,
// and nil otherwise.
func planStep(c *frame.Visit, s *Step) *frame.Answer {
	s.hideSecrets()
	var first *frame.Answer
	for _, principal := range c.Principals {
		a := sendStep(c, principal, s, "DryRun", "true")
		if a.Ok() && (a.Plan == nil || a.Plan.ID == "") {
			return &frame.Answer{
				Status: http.StatusServiceUnavailable, Error: &frame.Failure{Message: c.Say("step.noPlans")},
			}
		}
		if a.Ok() {
			s.ID, s.Role, s.Plan, s.Said, s.Warned = signin.NewID(), RoleOf(principal), a.Plan, a.Output, a.Warnings
			s.Says = sentencesOf(c, s)
			if err := keepStep(c, s); err != nil {
				why := &frame.Failure{Message: c.Say("step.notKept", "why", frame.WithoutStore(err))}
				return &frame.Answer{Status: http.StatusServiceUnavailable, Error: why}
			}
			return nil
		}
		first = frame.Outranking(first, a)
	}
	if first == nil {
		return &frame.Answer{Status: http.StatusForbidden, Error: &frame.Failure{Message: c.Say("step.noRole")}}
	}
	return first
}

// hideSecrets moves the secrets out of Given.
func (s *Step) hideSecrets() {
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

// sendStep sends the call of a step with an additional parameter.
func sendStep(c *frame.Visit, principal *identity.Principal, s *Step, name, value string) *frame.Answer {
	sent := call.Values{}
	for each, given := range s.Given {
		sent[each] = listAgain(s.Form.Field(each), given)
	}
	for each, secret := range s.secrets {
		sent[each] = secret
	}
	sent[name] = value
	return c.CallAs(principal, s.Form.Op.ID, sent)
}

// sentencesOf returns the description of a step in each language, with the names of all objects.
func sentencesOf(c *frame.Visit, s *Step) (says form.Words) {
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
					names[field.Name] = say.LastOf(say.PathText(o.DistinguishedName))
				}
			}
		}
	}
	return s.Form.Sentences(names)
}

// undoes returns the description of an undo in each language.
func undoes(c *frame.Visit, change string, s *Step) (says form.Words) {
	f := s.Form
	for _, r := range frame.Records[say.Record](c.Get("change.get", "ChangeId", change)) {
		if made := form.Of(r.Text("operation")); made != nil {
			f = made
		}
	}
	for lang := range says {
		what := f.Label[lang]
		for i, o := range s.Plan.Objects {
			what += []string{": ", ", "}[min(i, 1)] + say.LastOf(say.PathText(o.DistinguishedName))
			if i == say.MostNamed {
				break
			}
		}
		says[lang] = texts.Of("step.undoes", "what", what).In(texts.Lang(lang))
	}
	return says
}

// ConfirmStep makes the previewed change, once.
func ConfirmStep(c *frame.Visit) {
	s := stepAt(c, c.R.PathValue("step"))
	if s == nil {
		tooLate(c)
		return
	}
	if s.Result != nil {
		c.GoTo(s.after())
		return
	}
	principal := RoleNow(c, s.Role)
	if principal == nil {
		c.Failed(
			&frame.Answer{Status: http.StatusForbidden, Error: &frame.Failure{Message: c.Say("step.roleGone")}},
		)
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
	generated := a.Generated
	if generated != "" {
		a.Result, s.Confirmed = nil, time.Now()
		var err error
		if s.Password, err = signin.SealSecret(c.Cookie(c.R), generated); err != nil {
			s.Password = nil
		}
	}
	s.Result, s.secrets = a, nil
	if err := keepStep(c, s); err != nil || generated != "" && s.Password == nil {
		// the result or the password could not be stored, so only this response contains them
		ShowStep(c, http.StatusOK, s, nil, generated)
		return
	}
	c.GoTo(s.after())
}

// after returns the page that shows the result of a step, which is the object's page, or the step's page if
// there is more to show.
func (s *Step) after() string {
	if s.Password != nil || !s.Result.Ok() {
		return say.Address("steps", s.ID)
	}
	return withDone(s.landing(), s.ID)
}

// withDone adds the message about a step to the address of a page.
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

// landing returns the page to show after the step. This is the page of the created object or, if there is
// none, the page from which the step was started, unless the object of that page is gone.
func (s *Step) landing() string {
	target := s.Form.Target()
	made := frame.Records[say.Record](s.Result)
	resource := sectionOf(s.Form)
	if k := frame.KindAt(resource); k != nil && target == nil && len(made) == 1 && made[0].Text("guid") != "" {
		return k.At(made[0].Text("guid"))
	}
	if s.Form.Op.Effect.String() == "delete" && target != nil && target.Pick != form.Zone {
		if k := frame.KindAt(resource); k != nil && s.Back == k.At(textIn(s.Given, target.Name)) {
			return say.Address(k.Path)
		}
	}
	return s.Back
}

func textIn(values call.Values, name string) string {
	text, _ := values[name].(string)
	return text
}

// resultWait is the maximum time to wait for the result of an earlier press.
const resultWait = 20 * time.Second

// confirmedBefore waits for the result of an earlier press of the button, and shows it.
func confirmedBefore(c *frame.Visit, s *Step) {
	ctx, cancel := context.WithTimeout(c.R.Context(), resultWait)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if now := stepAt(c, s.ID); now != nil && now.Result != nil {
			c.GoTo(now.after())
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			among := &frame.Alert{Text: texts.Of("step.among")}
			c.Page(http.StatusConflict, "message", frame.Page{Title: texts.Of("step.before"), Alert: among})
			return
		}
	}
}

// RoleNow returns the person's current principal for a role, or nil if there is none.
func RoleNow(c *frame.Visit, was role) *identity.Principal {
	for _, p := range c.Principals {
		if slices.Equal(p.Scopes, was.Scopes) && p.Limits.Equal(was.Limits) {
			return p
		}
	}
	return nil
}

// previewAgain shows the changes that the action would make now.
func previewAgain(c *frame.Visit, s *Step, drifted *frame.Answer) {
	again := &Step{
		Form: s.Form, secrets: maps.Clone(s.secrets),
		StepState: StepState{Given: s.Given, Typed: s.Typed, Back: s.Back, Drifted: true},
	}
	s.Result, s.secrets = drifted, nil
	_ = keepStep(c, s) // if this fails, another press finds the same drift
	if failed := planStep(c, again); failed != nil {
		leaveForm(c, s.Form, refusedDraft(c, s.Form, s.Typed, failed))
		return
	}
	c.GoTo(say.Address("steps", again.ID))
}

// ShownStep shows the preview of a step, or its result.
func ShownStep(c *frame.Visit) {
	s := stepAt(c, c.R.PathValue("step"))
	if s != nil && s.Result == nil { // another gateway may have confirmed it just now
		c.Session.CatchUp(c.R.Context())
		s = stepAt(c, s.ID)
	}
	if s == nil {
		tooLate(c)
		return
	}
	var said *frame.Alert
	if s.Drifted && s.Result == nil {
		said = &frame.Alert{Text: texts.Of("step.drifted")}
	}
	ShowStep(c, http.StatusOK, s, said, passwordOf(c, s))
}

// tooLate sends a page with the message that a step is no longer stored.
func tooLate(c *frame.Visit) {
	gone := &frame.Alert{Text: texts.Of("step.gone")}
	c.Page(http.StatusGone, "message", frame.Page{Title: texts.Of("step.late"), Alert: gone})
}

// passwordOf returns the password that a step has generated. It returns "" if there is no password, or if the
// password may no longer be shown.
func passwordOf(c *frame.Visit, s *Step) string {
	if s.Password == nil || time.Since(s.Confirmed) >= passwordLife {
		return ""
	}
	text, err := signin.OpenSecret(c.Cookie(c.R), s.Password)
	if err != nil {
		return "" // it was made in another session
	}
	return text
}

// CloseStep deletes the password of a step once it is no longer needed.
func CloseStep(c *frame.Visit) {
	s := stepAt(c, c.R.PathValue("step"))
	if s == nil || s.Result == nil {
		c.GoTo(say.Base)
		return
	}
	s.Password = nil
	if err := keepStep(c, s); err != nil {
		why := &frame.Failure{Message: frame.WithoutStore(err).In(c.Lang())}
		c.Failed(&frame.Answer{Status: http.StatusServiceUnavailable, Error: why})
		return
	}
	c.GoTo(withDone(s.landing(), s.ID))
}
