package gateway

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A dry run is the change itself up to its announcement: the script resolves and
// checks on the real server, with the caller's scopes and limits, announces what it
// would do, and is not allowed to do it.

// errDryRun is why a dry run is not allowed to change anything.
var errDryRun = errors.New("this is a dry run")

// dryRun reports whether the caller asked for one.
func (r *request) dryRun() bool { return r.bound != nil && r.bound.Text(ops.DryRun) == "true" }

// plan is the answer to a dry run.
type plan struct {
	Operation string          `json:"operation"`
	Effect    ps.Effect       `json:"effect"`
	Server    string          `json:"server"`
	Made      time.Time       `json:"made"`
	Objects   []plannedObject `json:"objects"`
	Requires  []auth.Scope    `json:"requires"`
}

// plannedObject is an object that would be changed. One to be created has no GUID yet.
type plannedObject struct {
	GUID              *string         `json:"guid"`
	DistinguishedName string          `json:"distinguishedName"`
	Changes           []plannedChange `json:"changes"`
}

// plannedChange is a property that would be changed, by the name of the record's field
// and by the directory's. Values are null if there are none, and for secrets.
type plannedChange struct {
	Field     string            `json:"field"`
	Attribute string            `json:"attribute"`
	Before    json.RawMessage   `json:"before"`
	After     json.RawMessage   `json:"after"`
	Kind      schema.ChangeKind `json:"kind"`
}

// answerPlan answers a dry run whose script was stopped at its announcement, or had
// nothing to announce.
func (s *Server) answerPlan(r *request, e *envelope) *failure {
	switch {
	case r.runErr != nil && !errors.Is(r.runErr, errDryRun):
		return s.explainRun(r, e, r.runErr)
	case r.runErr == nil && r.result.Effect != ps.EffectNone:
		failed := internalError(errors.New("the script changed something that it had not announced"))
		failed.outcome = ps.OutcomeDone
		return failed
	}
	p := plan{Operation: r.op.ID, Effect: ps.EffectNone, Made: time.Now().UTC().Truncate(time.Second),
		Objects: []plannedObject{}, Requires: append([]auth.Scope{r.op.Scope}, r.bound.Scopes...)}
	var warnings []ps.Warning
	if r.announced == nil {
		p.Server, warnings = r.result.Server, r.result.Warnings
	} else {
		p.Server, warnings = ps.AsError(r.runErr).Server, r.announced.Warnings
		p.fill(r)
	}
	slices.Sort(p.Requires)
	p.Requires = slices.Compact(p.Requires)
	r.runErr, r.server = nil, p.Server
	result := json.RawMessage("[]")
	if e.classic {
		result = json.RawMessage("null")
	}
	setHeader(r.c.Writer.Header(), serverHeader, p.Server)
	r.c.Header(dryRunHeader, "true")
	r.send(http.StatusOK, encode(struct {
		Output   string          `json:"output"`
		Result   json.RawMessage `json:"result"`
		Warnings []ps.Warning    `json:"warnings,omitempty"`
		Plan     plan            `json:"plan"`
	}{p.sentence(r), result, warnings, p}))
	return nil
}

// dryRunHeader marks the answer to a dry run, so that nothing takes it for the act.
const dryRunHeader = "X-Dry-Run"

// fill adds what was announced.
func (p *plan) fill(r *request) {
	if r.announced.Changes() {
		p.Effect = r.announced.Effect
	}
	for i := range r.announced.Objects {
		object := &r.announced.Objects[i]
		planned := plannedObject{DistinguishedName: object.DN, Changes: []plannedChange{}}
		if object.GUID != "" {
			planned.GUID = &object.GUID
		}
		if object.DN == "" {
			planned.DistinguishedName = nameOfNew(r.op.Reply.Shape, object)
		}
		for _, c := range object.Changes {
			planned.Changes = append(planned.Changes, changesOf(r, object, c)...)
		}
		for _, name := range slices.Sorted(maps.Keys(object.Also)) {
			planned.Changes = append(planned.Changes, changesOf(r, object, ps.IntendedChange{Name: name, After: object.Also[name]})...)
		}
		if len(planned.Changes) > 0 {
			p.Objects = append(p.Objects, planned)
		}
	}
}

// nameOfNew returns the distinguished name that an object to be created will have.
func nameOfNew(shape *schema.Shape, object *ps.Intended) string {
	kind := "CN="
	if shape == schema.OU {
		kind = "OU="
	}
	return kind + schema.EscapeRDN(object.Name) + "," + object.Parent
}

// passwordAttribute changes with the password, and says when it must be changed.
const passwordAttribute = "pwdLastSet"

// changesOf returns what an announced change amounts to. Values that are to stay as
// they are are left out.
func changesOf(r *request, object *ps.Intended, c ps.IntendedChange) []plannedChange {
	switch {
	case !c.Renewed && c.Before == c.After:
		return nil
	case c.Name == passwordAttribute:
		return passwordChanges(r, c)
	case c.Name == parent && r.op.Reply.Shape == schema.OU && strings.HasSuffix(object.DN, c.Before):
		// The field that shows where an OU is is its own distinguished name.
		c.Before, c.After = object.DN, strings.TrimSuffix(object.DN, c.Before)+c.After
	case c.Name == member && len(r.announced.Objects) > 1:
		c.Before, c.After = memberText(c.Before, r.announced), memberText(c.After, r.announced)
	case c.Renewed:
		return []plannedChange{{Field: c.Name, Attribute: c.Name, Kind: schema.ServerChooses}}
	}
	var changes []plannedChange
	for _, field := range r.op.Reply.Shape.Changes(schema.Announced{Attribute: c.Name, Before: c.Before, After: c.After}) {
		changes = append(changes, plannedChange{field.Field, field.Attribute, field.Before, field.After, kindOf(c, field)})
	}
	return changes
}

// Names of announced changes. A membership is announced with two objects, the group
// and the member.
const (
	existence = "exists"
	member    = "member"
	parent    = "parent"
)

// memberText returns the member's name in place of the announced text of a membership.
func memberText(text string, announced *ps.Intent) string {
	if text != "True" {
		return ""
	}
	return announced.Objects[1].DN
}

// passwordChanges returns what a change of pwdLastSet amounts to.
func passwordChanges(r *request, c ps.IntendedChange) []plannedChange {
	var changes []plannedChange
	if slices.ContainsFunc(r.op.Secrets(), func(name string) bool { return r.bound.Has(name) || r.bound.Generated != nil }) {
		changes = append(changes, plannedChange{Field: "password", Attribute: c.Name, Kind: schema.SetsSecret})
	}
	const mustChange = "0"
	before, after := c.Before == mustChange, c.After == mustChange
	if before != after {
		changes = append(changes, plannedChange{"changePasswordNextLogon", c.Name, encode(before), encode(after), schema.SetsFlag})
	}
	return changes
}

// kindOf classifies a change by its announced name and its values.
func kindOf(c ps.IntendedChange, field schema.FieldChange) schema.ChangeKind {
	switch c.Name {
	case existence:
		if c.After == "True" {
			return schema.Creates
		}
		return schema.Removes
	case member:
		return schema.SetsMember
	case parent:
		return schema.Moves
	}
	switch isName := c.Name == "name" || c.Name == "sAMAccountName" || c.Name == "userPrincipalName"; {
	case isName && c.Before != "":
		return schema.Renames
	case string(field.After) == "true", string(field.After) == "false":
		return schema.SetsFlag
	case string(field.After) == "null":
		return schema.ClearsValue
	default:
		return schema.SetsValue
	}
}

// sentence says what would happen.
func (p *plan) sentence(r *request) string {
	if p.Effect == ps.EffectNone {
		return "Would change nothing about the " + r.op.SubjectOf(r.bound) + "."
	}
	verb := map[ps.Effect]string{ps.EffectCreated: "create", ps.EffectChanged: "change", ps.EffectRemoved: "remove"}[p.Effect]
	text := "Would " + verb + " the " + r.op.SubjectOf(r.bound)
	var fields []string
	for _, object := range p.Objects {
		for _, c := range object.Changes {
			if !slices.Contains(fields, c.Field) {
				fields = append(fields, c.Field)
			}
		}
	}
	const most = 10
	switch {
	case p.Effect == ps.EffectChanged && len(fields) > most:
		text += ": " + strings.Join(fields[:most], ", ") + ", ..."
	case p.Effect == ps.EffectChanged:
		text += ": " + strings.Join(fields, ", ")
	case len(r.announced.Counts) > 0:
		text += ": " + r.op.Sentence("{counts}", r.bound, 0, &ps.Result{Counts: r.announced.Counts})
	}
	return text + "."
}
