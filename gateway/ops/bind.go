package ops

import (
	"maps"
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Given holds the values of a request, keyed by the documented names of the parameters. Their types
// are those that [schema.Kind] decodes.
type Given map[string]any

// Bound holds the accepted parameters of a request.
type Bound struct {
	Op        *Operation
	Args      ps.Args           // arguments of the script, except those about the caller (limits, privileges)
	Fields    *schema.Selection // fields of the records
	Scopes    []identity.Scope  // scopes required in addition to the operation's own
	Generated *Generated        // secret generated for this request; nil if none
	texts     map[string]string
	lines     map[string][]string // lists that parameters append to, keyed by argument
	absent    []*Param            // parameters with a default that were not given
	items     map[string][]string // lists that several parameters fill, keyed by argument
	document  document            // the body, if it belongs to a foreign protocol
}

// Text returns the accepted value of a parameter, or its default, for rules and sentences. It is ""
// if the parameter is absent or a secret.
func (b *Bound) Text(name string) string { return b.texts[name] }

// Moment returns the time given in a parameter. It is zero if the parameter is absent or not a
// time.
func (b *Bound) Moment(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, b.texts[name]) // zero on error
	return t
}

// Has reports whether a parameter was given or has a default.
func (b *Bound) Has(name string) bool {
	_, has := b.texts[name]
	return has
}

// Secret returns the secret of the request, given or generated, or false if it has none.
func (b *Bound) Secret(op *Operation) (ps.Value, bool) {
	for i := range op.Params {
		if value := b.Args[op.Params[i].arg()]; value.IsSecret() {
			return value, true
		}
	}
	return ps.Value{}, false
}

// Added returns the attributes that the request writes or reads and that not every forest has. b may be nil.
func (b *Bound) Added() (names []string) {
	if b == nil {
		return nil
	}
	for i := range b.Op.Params {
		p := &b.Op.Params[i]
		if a := schema.AttributeOf(p.Kind); a != nil && a.Added && b.Has(p.Name) {
			names = append(names, a.LDAP)
		}
	}
	if b.Fields == nil {
		return names
	}
	return append(names, b.Fields.Added()...)
}

// Canonical returns the request as text. Equal requests have equal texts. The text contains secrets that the
// caller sent, so it must not be shown. It does not contain generated secrets.
func (b *Bound) Canonical() string {
	return b.canonical(func(*Param) bool { return false })
}

// Planned is [Bound.Canonical] of the change, whether it is a dry run or not, without the fields of
// the answer.
func (b *Bound) Planned() string {
	return b.canonical(func(p *Param) bool { return !p.Plans() })
}

// Plans reports whether the plan of a dry run depends on the parameter.
func (p *Param) Plans() bool {
	return p.Name != DryRun && p.Name != PlanID && !schema.ChoosesFields(p.Kind)
}

func (b *Bound) canonical(without func(*Param) bool) string {
	args := maps.Clone(b.Args)
	for i := range b.Op.Params {
		p := &b.Op.Params[i]
		switch {
		case without(p), b.Generated != nil && p.Generated == b.Generated.Member:
			delete(args, p.arg())
		case len(p.Parts()) == 0 && b.Has(p.Name): // it is not an argument of the script
			args["?"+p.Name] = ps.List([]string{b.texts[p.Name]})
		}
	}
	return ps.EncodeRequest("", b.Op.ID, args)
}

// Bind checks the values of a request and returns all problems. It ignores names in given that are not
// parameters of the operation. The problems passed in, which were found while reading the request, come
// first. No further problems of the same parameters are reported. If there are any problems, Bound holds only
// the accepted values, so that the caller can still report on the request.
func (op *Operation) Bind(given Given, problems ...schema.FieldError) (*Bound, []schema.FieldError) {
	b := &Bound{Op: op, Args: ps.Args{}, texts: map[string]string{}}
	maps.Copy(b.Args, op.Fixed)
	if op.Reply.Shape != nil {
		b.Fields = op.Reply.Shape.All()
	}
	before := problems
	for i := range op.Params {
		name := op.Params[i].Name
		if problem := b.bind(&op.Params[i], given); problem != nil &&
			!slices.ContainsFunc(before, func(p schema.FieldError) bool { return p.Field == name }) {
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

// Classic applies the defaults of the classic dialect and selects the fields that its records have.
func (b *Bound) Classic() {
	for _, p := range b.absent {
		if p.Classic == "" {
			continue
		}
		if decoded, problem := p.Kind.Decode(p.Classic); problem == nil { // Check has verified it
			b.accept(p, decoded)
		}
	}
	if arg := b.Op.FieldsArg(); arg != "" {
		b.Fields = b.Fields.Classic()
		b.Args[arg] = b.Fields.Read()
	}
}

func (b *Bound) bind(p *Param, given Given) *schema.FieldError {
	raw, present := given[p.Name]
	if raw == "" && present {
		switch b.Op.EmptyMeans(p) {
		case Absent:
			present = false
		case Cleared:
			if p.Scope != "" {
				b.Scopes = append(b.Scopes, p.Scope)
			}
			b.accept(p, &schema.Decoded{Values: p.Kind.Clear()})
			return nil
		case Refused:
			return &schema.FieldError{Code: schema.InvalidRequest,
				Message: "must not be empty: leave it out or fill it in"}
		}
	}
	switch {
	case !present && p.Required:
		return &schema.FieldError{Code: schema.InvalidRequest, Message: "is required"}
	case !present && p.Generated != "":
		b.generate(p)
		return nil
	case !present && p.Default == "":
		return nil
	case !present:
		raw = p.Default
		b.absent = append(b.absent, p)
	}
	decoded, problem := p.Kind.Decode(raw)
	if problem != nil {
		problem.Message += b.Op.nullHint(raw, p)
		return problem
	}
	unset := p.Kind == schema.Bool && decoded.Text == "false"
	if present && p.Scope != "" && !unset {
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
	if decoded.Links {
		b.Scopes = append(b.Scopes, identity.MemberRead)
	}
	if p.Unsent {
		return
	}
	if p.Item > 0 {
		b.fill(p, decoded.Text)
		return
	}
	if schema.AttributeOf(p.Kind) != nil {
		b.appendLine(p.arg(), decoded.Values[0].Items())
		return
	}
	for i, part := range p.Kind.Parts() {
		b.Args[p.arg()+part.Suffix] = decoded.Values[i]
	}
}

// appendLine adds to a list that several parameters append to.
func (b *Bound) appendLine(name string, lines []string) {
	if b.lines == nil {
		b.lines = map[string][]string{}
	}
	b.lines[name] = append(b.lines[name], lines...)
	b.Args[name] = ps.List(b.lines[name])
}

// fill sets an item of a list that several parameters fill. Items of absent parameters are empty.
func (b *Bound) fill(p *Param, text string) {
	if b.items == nil {
		b.items = map[string][]string{}
	}
	name := p.arg()
	if b.items[name] == nil {
		size := 0
		for i := range b.Op.Params {
			if other := &b.Op.Params[i]; other.arg() == name {
				size = max(size, other.Item)
			}
		}
		b.items[name] = make([]string, size)
	}
	b.items[name][p.Item-1] = text
	b.Args[name] = ps.List(b.items[name])
}

// Emptiness is the meaning of an empty string.
type Emptiness uint8

// The meanings of an empty string.
const (
	Absent  Emptiness = iota // as if the parameter were not given
	Cleared                  // the attribute is cleared
	Refused
)

// EmptyMeans returns the meaning of an empty string for a parameter of the operation. Clients and forms send
// fields that were not filled in as empty strings. So an empty string means that the parameter is absent,
// unless that is dangerous or leaves no way to clear the attribute.
func (op *Operation) EmptyMeans(p *Param) Emptiness {
	switch {
	case p.Kind.Secret() || p.Narrows:
		return Refused
	case p.Clears || op.Effect == Update && !p.Required && p.Kind.Clear() != nil:
		return Cleared
	default:
		return Absent
	}
}

// nullHint says what to send instead of null, which is not a value of any kind.
func (op *Operation) nullHint(raw any, p *Param) string {
	switch {
	case raw != nil || p.Required:
		return ""
	case op.EmptyMeans(p) == Cleared:
		return `: leave it out, or clear it with ""`
	default:
		return ": leave it out"
	}
}

// Impact is the damage that a run can do to the directory, which counts against the caller's hourly
// limits.
type Impact struct {
	Kind identity.Impact
	Many bool // more than one object, up to the limit of a bulk removal
	Most int  // upper limit with Many; 0 if unknown
}

// Impacts returns all impacts of a run. Deletions and password resets follow from the required scopes;
// a removal through a foreign protocol is a deletion, too.
func (b *Bound) Impacts() []Impact {
	var deletion, reset, change bool
	deletesMany := false
	if p := b.Op.Protocol; p != nil {
		deletion, deletesMany = b.Op.Effect == Delete, b.document.removals > 0
	}
	for _, scope := range append([]identity.Scope{b.Op.Scope}, b.Scopes...) {
		if deletes, more := scope.Deletes(); deletes {
			deletion, deletesMany = true, deletesMany || more
		}
		// The first password of a new account does not count as a reset.
		reset = reset || scope == identity.UserPassword && b.Op.Effect != Create
	}
	if b.Op.Protocol == nil && b.Op.Effect == Delete && b.Op.Reply.Mark == List {
		deletesMany = deletion // the answer names each deleted object
	}
	change = b.Op.Disrupts
	for i := range b.Op.Params {
		p := &b.Op.Params[i]
		change = change || p.Moves && b.Op.Effect == Update && b.Has(p.Name)
	}
	var impacts []Impact
	if deletion {
		impacts = append(impacts, Impact{identity.Deletion, deletesMany, b.document.removals})
	}
	if reset {
		impacts = append(impacts, Impact{Kind: identity.PasswordReset})
	}
	if change {
		impacts = append(impacts, Impact{Kind: identity.Change})
	}
	if b.Op.Reveals {
		impacts = append(impacts, Impact{Kind: identity.Reveal})
	}
	return impacts
}
