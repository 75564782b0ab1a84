package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// plan is the answer to a dry run.
type plan struct {
	ID        string
	Operation string
	Effect    string
	Server    string
	Undo      string
	Objects   []planned
	Checks    []planCheck
}

type planned struct {
	GUID              string
	DistinguishedName string
	Changes           []plannedChange
}

type plannedChange struct {
	Field, Kind   string
	Before, After json.RawMessage
}

type planCheck struct{ Name, State, Message string }

// step is a change of a session from its preview on. It is done once: pressing the
// button again shows what the first press did, at whichever gateway.
type step struct {
	ID      string
	Kind    *kind
	Action  *action
	GUID    string
	Name    string // of the object
	Says    string // what it does, with the names of all objects
	Given   url.Values
	Plan    *plan
	Said    string
	Warned  []warning
	Drifted bool    // the object changed after an earlier preview
	Result  *answer // nil: not confirmed
	role    role    // that made the plan

	version signin.Version
}

// role is what tells the roles of a person apart.
type role struct {
	Scopes []identity.Scope
	Limits identity.Limits
}

func roleOf(p *identity.Principal) role { return role{p.Scopes, p.Limits} }

// keptStep is a step as it is kept.
type keptStep struct {
	Kind, Action, GUID, Name, Says string
	Given                          url.Values
	Plan                           *plan
	Said                           string
	Warned                         []warning
	Drifted                        bool
	Role                           role
	Result                         *answer
	Status                         int // of the result
}

// Back returns the page of the object.
func (s *step) Back() string { return s.Kind.at(s.GUID) }

// keep keeps a step as it is now.
func (c *visit) keep(s *step) error {
	kept := keptStep{
		Kind: s.Kind.path, Action: s.Action.ID, GUID: s.GUID, Name: s.Name, Says: s.Says, Given: s.Given,
		Plan: s.Plan, Said: s.Said, Warned: s.Warned, Drifted: s.Drifted, Role: s.role, Result: s.Result,
	}
	if s.Result != nil {
		kept.Status = s.Result.Status
	}
	return c.session.Keep(c.r.Context(), s.ID, s.version, kept)
}

// preview shows what an action would change.
func (c *visit) preview(k *kind) {
	a := k.action(c.r.PathValue("action"))
	if a == nil {
		c.notFound(c.w, c.r)
		return
	}
	given, problem := a.given(c.r.PostForm)
	refused := &object{Given: given, Failed: a.ID}
	if problem != "" {
		c.show(k, http.StatusBadRequest, refused, &alert{Text: texts.Raw(problem)})
		return
	}
	s := &step{Kind: k, Action: a, GUID: c.r.PathValue("guid"), Given: given}
	if failed := c.plan(s); failed != nil {
		c.show(k, failed.Status, refused, alertOf(failed))
		return
	}
	c.showPreview(http.StatusOK, s, nil)
}

// plan makes a dry run and keeps its plan under a new id. It returns the answer of a dry
// run that failed.
func (c *visit) plan(s *step) *answer {
	var first *answer
	for _, principal := range c.principals {
		a := c.sendStep(principal, s, "DryRun", "true")
		if a.ok() && (a.Plan == nil || a.Plan.ID == "") {
			return &answer{Status: http.StatusServiceUnavailable, Error: &failure{Message: "This gateway keeps no plans, which changes on these pages need."}}
		}
		if a.ok() {
			s.ID, s.role, s.Plan, s.Said, s.Warned = signin.NewID(), roleOf(principal), a.Plan, a.Output, a.Warnings
			s.Name = cmp.Or(c.nameOf(s.Kind, s.GUID), s.GUID)
			s.Says = s.Action.sentence(s.Name, c.namesOfInputs(s))
			if err := c.keep(s); err != nil {
				return &answer{Status: http.StatusServiceUnavailable, Error: &failure{Message: texts.Of("step.notKept", "why", withoutStore(err)).In(c.lookOf(c.r).lang)}}
			}
			return nil
		}
		if first == nil || first.Status == http.StatusForbidden || a.Status == http.StatusTooManyRequests {
			first = a
		}
	}
	if first == nil {
		return &answer{Status: http.StatusForbidden, Error: &failure{Message: "No role gives you a right to do this."}}
	}
	return first
}

// sendStep sends the call of a step with one more parameter.
func (c *visit) sendStep(principal *identity.Principal, s *step, name, value string) *answer {
	sent := s.parameters()
	sent[name] = value
	return c.callAs(principal, s.Action.operation, sent)
}

// nameOf returns the name of an object in sentences; empty: it cannot be read.
func (c *visit) nameOf(k *kind, identity string) string {
	if identity == "" {
		return ""
	}
	for _, r := range records[record](c.read(k, identity)) {
		return nameIn(r)
	}
	return ""
}

// namesOfInputs returns what sentences call the inputs of a step. An object that the person
// may not read is called as the plan has it, or else as it was given.
func (c *visit) namesOfInputs(s *step) map[string]string {
	names := map[string]string{}
	for _, f := range s.Action.Fields {
		given := s.Given.Get(f.Name)
		name := rdn(given)
		for _, o := range s.Plan.Objects {
			if strings.EqualFold(o.GUID, given) {
				name = rdn(o.DistinguishedName)
			}
		}
		if k := kindAt(f.names); k != nil {
			name = cmp.Or(c.nameOf(k, given), name)
		}
		names[f.Name] = name
	}
	return names
}

// step returns a step of the session; nil: there is none.
func (c *visit) step(id string) *step {
	var kept keptStep
	at, err := c.session.Kept(c.r.Context(), id, &kept)
	if err != nil || at == 0 {
		return nil
	}
	s := &step{
		ID: id, Kind: kindAt(kept.Kind), GUID: kept.GUID, Name: kept.Name, Says: kept.Says, Given: kept.Given, Plan: kept.Plan, Said: kept.Said,
		Warned: kept.Warned, Drifted: kept.Drifted, Result: kept.Result, role: kept.Role, version: at,
	}
	if s.Kind != nil {
		s.Action = s.Kind.action(kept.Action)
	}
	if s.Action == nil || s.Plan == nil {
		return nil // another version has made it
	}
	s.Says = cmp.Or(s.Says, s.Action.Label+": "+s.Name) // an earlier version kept no sentence
	if s.Result != nil {
		s.Result.Status = kept.Status
	}
	return s
}

// confirm makes the change that a preview has shown, once.
func (c *visit) confirm() {
	s := c.step(c.r.PostForm.Get("step"))
	if s == nil {
		c.page(http.StatusGone, "message", page{Title: texts.Of("step.gone"), Alert: &alert{Text: texts.Of("step.gone.text")}})
		return
	}
	if s.Result != nil {
		c.goTo(address("done", s.ID))
		return
	}
	principal := c.current(s.role)
	if principal == nil {
		c.failed(&answer{Status: http.StatusForbidden, Error: &failure{Message: "You do not have the role any more with which you made this preview. Nothing was changed."}})
		return
	}
	a := c.sendStep(principal, s, "PlanId", s.Plan.ID)
	switch {
	case a.Error != nil && a.Error.Code == "plan_used":
		c.confirmedBefore(s)
		return
	case a.Status == http.StatusPreconditionFailed:
		c.previewAgain(s, a)
		return
	}
	generated := a.generated
	if generated != "" {
		a.Result = nil
	}
	s.Result = a
	if err := c.keep(s); generated == "" && err == nil {
		c.goTo(address("done", s.ID))
		return
	}
	// No redirect: the password is in this answer only, and so is what could not be kept.
	c.showDone(s, generated)
}

// resultWait is how long the result of an earlier press is waited for.
const resultWait = 20 * time.Second

// confirmedBefore shows what an earlier press of the button does, as soon as that is known.
func (c *visit) confirmedBefore(s *step) {
	ctx, cancel := context.WithTimeout(c.r.Context(), resultWait)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if now := c.step(s.ID); now != nil && now.Result != nil {
			c.goTo(address("done", s.ID))
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			c.page(http.StatusConflict, "message", page{Title: texts.Of("step.confirmed"), Alert: &alert{Text: texts.Of("step.confirmed.text")}})
			return
		}
	}
}

func (c *visit) goTo(path string) { http.Redirect(c.w, c.r, path, http.StatusSeeOther) }

// current returns the principal of a role as the person has it now; nil: none.
func (c *visit) current(was role) *identity.Principal {
	for _, p := range c.principals {
		if slices.Equal(p.Scopes, was.Scopes) && p.Limits.Equal(was.Limits) {
			return p
		}
	}
	return nil
}

// previewAgain shows what the action would change now.
func (c *visit) previewAgain(s *step, drifted *answer) {
	again := &step{Kind: s.Kind, Action: s.Action, GUID: s.GUID, Given: s.Given, Drifted: true}
	s.Result = drifted
	_ = c.keep(s) // the plan cannot be applied any more, which another press would show again
	if failed := c.plan(again); failed != nil {
		c.failed(failed)
		return
	}
	c.showPreview(http.StatusPreconditionFailed, again,
		&alert{Text: texts.Of("step.drifted")})
}

type donePage struct {
	*step
	Password string
	Note     texts.Text
	Output   string // empty: it was not done
	Partial  []copied
}

type copied struct{ Group, Action, Reason string }

// done shows what became of a step.
func (c *visit) done() {
	s := c.step(c.r.PathValue("step"))
	if s != nil && s.Result == nil { // another gateway may have just confirmed it
		c.session.CatchUp(c.r.Context())
		s = c.step(s.ID)
	}
	if s == nil {
		c.notFound(c.w, c.r)
		return
	}
	if s.Result == nil {
		c.showPreview(http.StatusOK, s, nil)
		return
	}
	c.showDone(s, "")
}

func (c *visit) showDone(s *step, password string) {
	body := donePage{step: s, Password: password}
	title := texts.Of("step.notDone", "what", s.Says)
	if s.Result.ok() {
		title, body.Output = texts.Of("step.done", "what", s.Says), strings.ReplaceAll(s.Result.Output, s.GUID, s.Name)
		if s.Action.generates && password == "" {
			body.Note = texts.Of("step.shownOnce")
		}
	}
	if s.Action.ID == "copy" {
		body.Partial = records[copied](s.Result)
	}
	c.page(http.StatusOK, "done", page{Title: title, Section: s.Kind.path, Alert: alertOf(s.Result), Body: body})
}
