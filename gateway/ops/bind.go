package ops

import (
	"maps"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Given is what a request carries, by the listed name of the parameter. Values
// are as [schema.Kind] decodes them.
type Given map[string]any

// Bound is a request whose parameters were accepted.
type Bound struct {
	Op     *Operation
	Args   ps.Args           // for the script, without the server's own (limits, privileges)
	Fields *schema.Selection // what the records hold
	Scopes []auth.Scope      // asked for besides the row's
	Made   *Made             // a secret that was made for this request; mostly nil
	texts  map[string]string
}

// Text is the accepted value of a parameter, for rules and sentences; empty
// when it is absent or a secret. A default counts as given.
func (b *Bound) Text(name string) string { return b.texts[name] }

// Has tells whether a parameter was given, or has a default.
func (b *Bound) Has(name string) bool {
	_, has := b.texts[name]
	return has
}

// Bind accepts the values of a request, or tells all that is wrong with them.
// Names in given that the operation does not have are ignored. The problems met
// while the request was read come first; what they name counts as given. When
// there are problems the Bound holds what was accepted, for sentences.
func (op *Operation) Bind(given Given, problems ...schema.Problem) (*Bound, []schema.Problem) {
	b := &Bound{Op: op, Args: ps.Args{}, texts: map[string]string{}}
	maps.Copy(b.Args, op.Fixed)
	if op.Reply.Shape != nil {
		b.Fields = op.Reply.Shape.All()
	}
	unread := map[string]bool{}
	for _, problem := range problems {
		unread[problem.Field] = true
	}
	for i := range op.Params {
		name := op.Params[i].Name
		if problem := b.bind(&op.Params[i], given); problem != nil && !unread[name] {
			problem.Field = name
			problems = append(problems, *problem)
		}
	}
	if len(problems) > 0 {
		return b, problems
	}
	for _, rule := range op.Rules {
		problems = append(problems, rule.Apply(b)...)
	}
	return b, problems
}

func (b *Bound) bind(p *Param, given Given) *schema.Problem {
	raw, present := given[p.Name]
	if raw == "" && present {
		switch b.Op.emptyMeans(p) {
		case absent:
			present = false
		case cleared:
			b.accept(p, &schema.Decoded{Values: p.Kind.Clear()})
			return nil
		case refused:
			return &schema.Problem{Code: schema.InvalidRequest, Message: "must not be empty"}
		}
	}
	switch {
	case !present && p.Required:
		return &schema.Problem{Code: schema.InvalidRequest, Message: "is required"}
	case !present && p.Made != "":
		b.make(p)
		return nil
	case !present && p.Default == "":
		return nil
	case !present:
		raw = p.Default
	}
	decoded, problem := p.Kind.Decode(raw)
	if problem != nil {
		problem.Message += b.Op.insteadOf(raw, p)
		return problem
	}
	if present && p.Scope != "" && decoded.Text != "false" {
		b.Scopes = append(b.Scopes, p.Scope)
	}
	b.accept(p, decoded)
	return nil
}

func (b *Bound) accept(p *Param, decoded *schema.Decoded) {
	b.texts[p.Name] = decoded.Text
	if decoded.Fields != nil {
		b.Fields = decoded.Fields
	}
	for i, part := range p.Kind.Parts() {
		b.Args[p.arg()+part.Suffix] = decoded.Values[i]
	}
}

type emptiness uint8

const (
	absent emptiness = iota
	cleared
	refused
)

// emptyMeans is the rule for an empty string.
func (op *Operation) emptyMeans(p *Param) emptiness {
	switch {
	case op.Effect == Read || op.Effect == Create || p.isFields():
		return absent
	case op.Effect != Update:
		return refused
	case p.Keep || p.Required && p.Kind.Clear() == nil:
		return absent
	case p.Kind.Clear() == nil:
		return refused
	default:
		return cleared
	}
}

// insteadOf says what may be sent in place of null, which kinds do not take.
func (op *Operation) insteadOf(raw any, p *Param) string {
	switch {
	case raw != nil || p.Required:
		return ""
	case op.emptyMeans(p) == cleared:
		return `: leave it out, or clear it with ""`
	default:
		return ": leave it out"
	}
}

// TakesEmpty tells whether an empty string is accepted: taken as absent, or
// emptying an attribute.
func (op *Operation) TakesEmpty(p *Param) bool {
	meaning := op.emptyMeans(p)
	return meaning == cleared || meaning == absent && !p.Required
}

func (p *Param) isFields() bool { return p.Name == showFields }

// Impact says what a run can destroy of which callers may destroy only so much
// an hour, and whether it can be more than one; counted is false when it can
// destroy nothing of the kind. It follows from the scopes that were asked for.
func (b *Bound) Impact() (impact auth.Impact, many, counted bool) {
	for _, scope := range append([]auth.Scope{b.Op.Scope}, b.Scopes...) {
		if deletes, more := scope.Deletes(); deletes {
			impact, many, counted = auth.Deletion, many || more, true
		}
		// A new account's first password takes nothing from anybody.
		if scope == auth.UserPassword && b.Op.Effect != Create {
			impact, counted = auth.PasswordReset, true
		}
	}
	return impact, many, counted
}
