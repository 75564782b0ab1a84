package ui

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/signin"
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

// Secret reports whether the values must not be shown.
func (p plannedChange) Secret() bool { return p.Kind == "secret" }

type planCheck struct{ Name, State, Message string }

// step is a change of a session from its preview on. It is done once: pressing the
// button again shows what the first press did.
type step struct {
	ID      string
	Kind    *kind
	Action  *action
	GUID    string
	Name    string // of the object
	Given   url.Values
	Plan    *plan
	Said    string
	Warned  []warning
	Drifted bool // the object changed after an earlier preview
	made    time.Time
	as      *auth.Principal // of the roles, the one that made the plan

	mu     sync.Mutex
	Result *answer // nil: not confirmed
}

// Back returns the page of the object.
func (s *step) Back() string { return s.Kind.Path() + "/" + segment(s.GUID) }

// Limits of the steps that a session keeps.
const (
	stepsMost = 50
	stepLife  = time.Hour
)

// keep keeps a step, and forgets old ones.
func (c *visit) keep(s *step) {
	kept := map[*step]bool{}
	c.session.Steps.Range(func(_, value any) bool {
		kept[value.(*step)] = true
		return true
	})
	byAge := slices.SortedFunc(maps.Keys(kept), func(a, b *step) int { return a.made.Compare(b.made) })
	for i, old := range byAge {
		if i <= len(byAge)-stepsMost || time.Since(old.made) > stepLife {
			c.session.Steps.Delete(old.ID)
		}
	}
	c.session.Steps.Store(s.ID, s)
}

// preview shows what an action would change.
func (c *visit) preview(k *kind) {
	a := k.action(c.r.PathValue("action"))
	if a == nil {
		c.notFound(c.w, c.r)
		return
	}
	given, missing := a.given(c.r.PostForm)
	refused := &object{Given: given, Failed: a.ID}
	if missing != "" {
		c.show(k, http.StatusBadRequest, refused, &alert{Text: missing + " is missing."})
		return
	}
	s := &step{Kind: k, Action: a, GUID: c.r.PathValue("guid"), Given: given}
	if failed := c.plan(s); failed != nil {
		c.show(k, failed.Status, refused, alertOf(failed))
		return
	}
	c.page(http.StatusOK, "preview", page{Title: a.Label, Section: k.path, Body: s})
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
			s.ID, s.as, s.Plan, s.Said, s.Warned, s.made = signin.NewID(), principal, a.Plan, a.Output, a.Warnings, time.Now()
			s.Name = c.nameOf(s)
			c.keep(s)
			return nil
		}
		if first == nil || first.Status == http.StatusForbidden {
			first = a
		}
	}
	if first == nil {
		return &answer{Status: http.StatusForbidden, Error: &failure{Message: "No role gives you a right to do this."}}
	}
	return first
}

// sendStep sends the call of a step with one more parameter.
func (c *visit) sendStep(principal *auth.Principal, s *step, name, value string) *answer {
	sent := s.Action.parameters(s.Given)
	sent.Set(name, value)
	path := s.Action.path(s.GUID, s.Given)
	if s.Action.method == http.MethodDelete {
		return c.callAs(principal, s.Action.method, path, sent, nil)
	}
	return c.callAs(principal, s.Action.method, path, nil, sent)
}

// nameOf returns the name of the object that a step is about.
func (c *visit) nameOf(s *step) string {
	found := records[map[string]any](c.get(s.Kind.read(s.GUID)))
	for _, name := range []string{"displayName", "name", "computerName"} {
		for _, record := range found {
			if text, ok := record[name].(string); ok && text != "" {
				return text
			}
		}
	}
	return s.GUID
}

// step returns a step of the session; nil: there is none.
func (c *visit) step(id string) *step {
	found, _ := c.session.Steps.Load(id)
	s, _ := found.(*step)
	return s
}

// confirm makes the change that a preview has shown, once.
func (c *visit) confirm() {
	s := c.step(c.r.PostForm.Get("step"))
	if s == nil {
		c.page(http.StatusGone, "message", page{Title: "Too late", Alert: &alert{Text: "This preview is not kept any more. Nothing was changed. Open the page again and repeat what you did."}})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Result != nil {
		c.goTo(base + "done/" + s.ID)
		return
	}
	principal := c.current(s.as)
	if principal == nil {
		c.failed(&answer{Status: http.StatusForbidden, Error: &failure{Message: "You do not have the role any more with which you made this preview. Nothing was changed."}})
		return
	}
	a := c.sendStep(principal, s, "PlanId", s.Plan.ID)
	if a.Status == http.StatusPreconditionFailed {
		c.previewAgain(s, a)
		return
	}
	generated := ""
	if s.Action.generates && a.ok() {
		generated, a = takePassword(a)
	}
	s.Result = a
	if generated == "" {
		c.goTo(base + "done/" + s.ID)
		return
	}
	// No redirect: the password is in this answer only.
	c.showDone(s, generated)
}

func (c *visit) goTo(path string) { http.Redirect(c.w, c.r, path, http.StatusSeeOther) }

// current returns the principal of the same role as the person has it now; nil: none.
func (c *visit) current(was *auth.Principal) *auth.Principal {
	for _, p := range c.principals {
		if slices.Equal(p.Scopes, was.Scopes) && slices.Equal(p.Limits.OUs, was.Limits.OUs) && slices.Equal(p.Limits.Groups, was.Limits.Groups) {
			return p
		}
	}
	return nil
}

// previewAgain shows what the action would change now.
func (c *visit) previewAgain(s *step, drifted *answer) {
	again := &step{Kind: s.Kind, Action: s.Action, GUID: s.GUID, Given: s.Given, Drifted: true}
	s.Result = drifted
	if failed := c.plan(again); failed != nil {
		c.failed(failed)
		return
	}
	c.page(http.StatusPreconditionFailed, "preview", page{Title: s.Action.Label, Section: s.Kind.path, Body: again,
		Alert: &alert{Text: "Somebody changed this meanwhile, so nothing was done. Here is what would change now. Look at it again."}})
}

// takePassword takes the generated password out of an answer.
func takePassword(a *answer) (string, *answer) {
	for _, record := range records[map[string]any](a) {
		if text, ok := record["password"].(string); ok && text != "" {
			kept := *a
			kept.Result = nil
			return text, &kept
		}
	}
	return "", a
}

type donePage struct {
	*step
	Password string
	Output   string
	OK       bool
	Partial  []copied
}

type copied struct{ Group, Action, Reason string }

// done shows what became of a step.
func (c *visit) done() {
	s := c.step(c.r.PathValue("step"))
	if s == nil {
		c.notFound(c.w, c.r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Result == nil {
		c.page(http.StatusOK, "preview", page{Title: s.Action.Label, Section: s.Kind.path, Body: s})
		return
	}
	c.showDone(s, "")
}

func (c *visit) showDone(s *step, password string) {
	body := donePage{step: s, Password: password, OK: s.Result.ok(), Output: strings.ReplaceAll(s.Result.Output, s.GUID, s.Name)}
	if s.Action.ID == "copy" {
		body.Partial = records[copied](s.Result)
	}
	title := s.Action.Label + ": done"
	if !body.OK {
		title = s.Action.Label + ": not done"
	}
	c.page(http.StatusOK, "done", page{Title: title, Section: s.Kind.path, Alert: alertOf(s.Result), Body: body})
}
