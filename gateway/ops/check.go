package ops

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// TokenName is the name, in any case, of the header that carries a token. The token may also be
// sent in the query or the body, so no parameter may have this name.
const TokenName = "Auth-Token"

// contextArgs are the types of the script parameters that no row feeds. The gateway supplies the
// caller's limits, and the runner supplies the server to use.
var contextArgs = map[string]string{
	"AllowedOU":         "string[]",
	"AllowedZone":       "string[]",
	"AllowedGroup":      "string[]",
	"AllowedName":       "string[]",
	"GuardedGroup":      "string[]",
	"GuardedName":       "string[]",
	"Privileged":        "bool",
	"BulkLimit":         "int",
	"ImpactLimit":       "int",
	"Readable":          "string[]", // types of objects that the caller may read
	"CreatableType":     "string[]", // types of objects that the caller may create
	"RemovedTogether":   "string[]", // objects removed by the change that is undone
	"ProtectedTogether": "string[]", // GUIDs of the protected ones
	"StaleSince":        "string[]", // as a file time and as a generalized time
	"Server":            "string",
	"ComputerName":      "string",

	"DomainController": "string[]", // all reachable controllers
	"Unreached":        "string[]", // all unreachable controllers
	"KnownController":  "string[]", // all controllers
}

// ForecastScript is the script that reads facts for the checks of dry runs.
const ForecastScript = "Get-GatewayForecast"

// ownScripts lists the scripts that serve no operation but are used by the runner and by dry runs.
var ownScripts = []string{"Get-GatewayServer", ForecastScript}

// Check verifies the table itself and compares it with the scripts. It returns all faults, in table order.
// Rows and scripts must not change afterwards, because Check remembers the last table and scripts without a
// fault, which all gateways of a process share. It is safe for concurrent use.
func Check(table []*Operation, scripts []ps.Script) []error {
	last := faultless.Load()
	if last != nil && slices.Equal(last.table, table) && slices.EqualFunc(last.scripts, scripts, sameScript) {
		return nil
	}
	faults := check(table, scripts)
	if len(faults) == 0 {
		faultless.Store(&checked{slices.Clone(table), slices.Clone(scripts)})
	}
	return faults
}

// checked is a table and its scripts that Check has verified.
type checked struct {
	table   []*Operation
	scripts []ps.Script
}

// faultless is the last table without a fault; nil if there was none.
var faultless atomic.Pointer[checked]

// sameScript reports whether two declarations are equal.
func sameScript(a, b ps.Script) bool {
	return a.Name == b.Name && a.File == b.File && a.Lane == b.Lane && a.Writes == b.Writes &&
		slices.Equal(a.Params, b.Params) && slices.Equal(a.Commands, b.Commands)
}

// check is Check, but does not remember tables without a fault.
func check(table []*Operation, scripts []ps.Script) []error {
	c := &checker{
		scripts: map[string]ps.Script{}, used: map[string]bool{},
		seen: map[string]string{}, shapes: map[*schema.Shape]bool{},
	}
	for _, script := range scripts {
		if _, twice := c.scripts[script.Name]; twice {
			c.fault("script %s: declared twice", script.Name)
		}
		c.scripts[script.Name] = script
	}
	for _, op := range table {
		c.operation(op)
		c.needs(op, table)
		c.beside(op, table)
		c.guards(op, table, func(format string, args ...any) { c.fault("operation "+op.ID+": "+format, args...) })
	}
	c.undos(table)
	for _, script := range scripts {
		if !c.used[script.Name] && !slices.Contains(ownScripts, script.Name) {
			c.fault("script %s: no operation uses it", script.Name)
		}
	}
	return c.faults
}

type checker struct {
	scripts map[string]ps.Script
	used    map[string]bool
	seen    map[string]string // operations by id and by route
	shapes  map[*schema.Shape]bool
	faults  []error
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

func (c *checker) operation(op *Operation) {
	fault := func(format string, args ...any) { c.fault("operation "+op.ID+": "+format, args...) }
	keys := []string{"id " + op.ID}
	for _, method := range op.Methods() {
		keys = append(keys, "route "+method+" "+routeKey(op.Path))
	}
	for _, key := range keys {
		if other, taken := c.seen[key]; taken {
			fault("has the same %s as %s", key, other)
		}
		c.seen[key] = op.ID
	}
	if op.ID == "" || op.Summary == "" || op.Subject == "" {
		fault("has no id, summary or subject")
	}
	if op.Scope == "" && !op.Local || op.Scope != "" && !slices.Contains(identity.Scopes(), op.Scope) ||
		op.Scope == identity.All {
		fault("has no specific scope (%q)", op.Scope)
	}
	if op.Effect < Read || op.Effect > Rename {
		fault("has no effect")
	}
	if op.Effect.Writes() == (op.Method == "GET") && (op.Protocol == nil || op.Effect.Writes()) && !op.Reveals {
		fault("has effect %s but method %s", op.Effect, op.Method)
	}
	if op.Effect.Writes() && op.Success == "" {
		fault("writes, but has no sentence for success")
	}
	here := op.Here || slices.ContainsFunc(op.Params, func(p Param) bool { return p.Here })
	if here && (!op.Local || op.Effect.Writes()) {
		fault("is Here, which only reads that are Local may be")
	}
	if s := op.Reply.Shape; s != nil && !c.shapes[s] {
		c.shapes[s] = true
		for _, name := range s.Twice() {
			fault("has %s twice in its records: directory.userAttributes must name others", name)
		}
	}
	if op.Script != "" && (op.Reply.Shape == nil ||
		!slices.Contains([]Mark{List, Single, Exists, Moment}, op.Reply.Mark)) {
		fault("has no reply")
	}
	for _, code := range op.Fails {
		if code.Status() == 0 {
			fault("fails with unknown code %q", code)
		}
	}
	c.path(op, fault)
	c.protocol(op, fault)
	c.params(op, fault)
	c.sentences(op, fault)
	c.names(op, fault)
	c.sample(op, fault)
	c.script(op, fault)
	c.settle(op, fault)
	reveals(op, fault)
}

var segment = regexp.MustCompile(`\{[^}]*\}`)

// routeKey returns a path with anonymous placeholders and folded literals. Paths with the same key
// conflict.
func routeKey(path string) string { return segment.ReplaceAllString(Fold(path), "{}") }

func (c *checker) path(op *Operation, fault func(string, ...any)) {
	if !strings.HasPrefix(op.Path, "/api/") || strings.HasSuffix(op.Path, "/") ||
		strings.Contains(op.Path, "//") {
		fault("has invalid path %q", op.Path)
	}
	fed := map[string]bool{}
	for _, p := range op.Params {
		if p.Path == "" {
			continue
		}
		if !strings.Contains(op.Path+"/", "/{"+p.Path+"}/") {
			fault("parameter %s belongs to placeholder {%s}, which the path does not have", p.Name, p.Path)
		}
		if fed[p.Path] {
			fault("placeholder {%s} has several parameters", p.Path)
		}
		fed[p.Path] = true
		if !p.Required {
			fault("parameter %s is in the path but not required", p.Name)
		}
		if p.Kind != nil && p.Kind.Secret() {
			fault("parameter %s is a secret in the path", p.Name)
		}
	}
	for segment := range strings.SplitSeq(op.Path, "/") {
		if name, isPlace := strings.CutPrefix(segment, "{"); isPlace && !fed[strings.TrimSuffix(name, "}")] {
			fault("placeholder %s has no parameter", segment)
		}
	}
}

func (c *checker) params(op *Operation, fault func(string, ...any)) {
	names := map[string]bool{}
	for _, p := range op.Params {
		if p.Kind == nil {
			fault("parameter %s has no kind", p.Name)
			continue
		}
		if p.Name == "" || names[Fold(p.Name)] || Fold(p.Name) == Fold(TokenName) {
			fault("parameter %q: the name is empty or taken", p.Name)
		}
		names[Fold(p.Name)] = true
		if p.Required && p.Default+p.Implied != "" || p.Default != "" && p.Implied != "" {
			fault("parameter %s is required and has a default, or has two", p.Name)
		}
		if p.Classic != "" && p.Default == "" {
			fault("parameter %s has a default of the classic dialect only", p.Name)
		}
		if strings.Contains(Fold(p.Name), "password") && p.Kind.Parts()[0].Type == "string" {
			fault("parameter %s is named like a secret but is not one", p.Name)
		}
		c.generated(op, &p, fault)
		for _, value := range []string{p.Default, p.Classic, p.Implied} {
			if value == "" {
				continue
			}
			if _, problem := p.Kind.Decode(value); problem != nil {
				fault("parameter %s has a default that %s", p.Name, problem.Message)
			}
		}
	}
}

func (c *checker) sentences(op *Operation, fault func(string, ...any)) {
	for _, sentence := range []string{op.Subject, op.Success, op.Partly, op.Unchanged} {
		names := placeholder.FindAllString(sentence, -1)
		if strings.Count(sentence, "{") != len(names) {
			fault("has a sentence with a brace that is not one of a placeholder")
		}
		for _, name := range names {
			name = strings.Trim(name, "{}")
			if name == "records" || name == "counts" || name == "also" || name == expiryWord &&
				op.Param(accountExpires) != nil || name == "subject" && sentence != op.Subject ||
				strings.HasPrefix(name, "count:") {
				continue
			}
			if p := op.Param(name); p == nil || p.Name != name || p.Kind.Secret() {
				fault("has a sentence with {%s}, which is not a parameter that may be shown", name)
			}
		}
	}
}

// sample checks that a row has a valid sample call.
func (c *checker) sample(op *Operation, fault func(string, ...any)) {
	switch {
	case op.Sample == nil && op.Protocol == nil && !op.Local:
		fault("has no sample")
		return
	case slices.ContainsFunc(op.Params, func(p Param) bool { return p.Kind == nil }):
		return // reported elsewhere as a fault
	}
	for _, name := range slices.Sorted(maps.Keys(op.Sample)) {
		if p := op.Param(name); p == nil || p.Name != name {
			fault("has a sample with %s, which is not a parameter", name)
		}
	}
	if op.Sample == nil {
		return
	}
	_, problems := op.Bind(op.Sample)
	for _, p := range problems {
		fault("has a sample that is refused: %s %s", p.Field, p.Message)
	}
}

// needs checks that the call in a sample's Needs is a valid call of its row.
func (c *checker) needs(op *Operation, table []*Operation) {
	if op.Needs.Row == "" {
		return
	}
	row := Find(table, op.Needs.Row)
	if row == nil || !row.Effect.Writes() || op.Sample == nil {
		c.fault("operation %s: its sample needs %s, which is no row that changes something", op.ID, op.Needs.Row)
		return
	}
	_, problems := row.Bind(op.Needs.Given)
	for _, p := range problems {
		c.fault("operation %s: its sample needs a call that is refused: %s %s", op.ID, p.Field, p.Message)
	}
}

// beside checks that the row in Beside emits records that fit into the completed record.
func (c *checker) beside(op *Operation, table []*Operation) {
	of := op.Beside
	if of.Row == "" {
		return
	}
	fault := func(why string) { c.fault("operation %s: the row beside it, %s, %s", op.ID, of.Row, why) }
	row := Find(table, of.Row)
	switch {
	case row == nil || row.Effect != Read || row.Local || row.Reveals || row.Reply.Mark != List:
		fault("is no list that a script reads")
		return
	case op.Effect != Read || op.Local || op.Reply.Mark != Single:
		fault("completes what is no single record that a script reads")
	case of.Code == "" || of.Unasked == "" || of.Given == nil:
		fault("lacks what is said when it fails, or its parameters")
	}
	at := slices.IndexFunc(op.Reply.Shape.Fields, func(f schema.Field) bool { return f.Name == of.Member })
	if at < 0 || !op.Reply.Shape.Fields[at].Null || op.Reply.Shape.Fields[at].Type != schema.ObjectListField {
		fault("completes a member that is no list of objects which may be null")
	}
}

func (c *checker) script(op *Operation, fault func(string, ...any)) {
	script, known := c.scripts[op.Script]
	if op.Script == "" && (op.Protocol != nil || op.Local) {
		return
	}
	if !known {
		fault("has no script %q", op.Script)
		return
	}
	c.used[op.Script] = true
	if script.Lane != op.Lane {
		fault("is in lane %s, but its script in %s", op.Lane, script.Lane)
	}
	if script.Writes && !op.Effect.Writes() {
		fault("reads, but its script calls a cmdlet that writes")
	}
	fed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(op.Fixed)) {
		declared, has := script.Param(name)
		_, given := contextArgs[name]
		switch typ := op.Fixed[name].Type(); {
		case !has:
			fault("fixes %s, which the script does not declare", name)
		case given || typ == "securestring":
			fault("fixes %s, which a row must not set", name)
		case declared.Type != typ:
			fault("fixes %s as %s, but the script declares %s", name, typ, declared.Type)
		}
		fed[name] = true
	}
	for _, p := range op.Params {
		if p.Kind == nil || p.Unsent {
			continue
		}
		for _, part := range p.Parts() {
			name := p.arg() + part.Suffix
			declared, has := script.Param(name)
			switch {
			case !has:
				fault("parameter %s feeds %s, which the script does not declare", p.Name, name)
			case declared.Type != part.Type:
				fault("parameter %s yields %s, but the script's %s is %s", p.Name, part.Type, name, declared.Type)
			case declared.Mandatory && !p.Required && p.Default == "" && p.Generated == "" &&
				(p.Item == 0 || op.fed(name) == ""):
				fault("parameter %s may be absent, but the script's %s is mandatory", p.Name, name)
			}
			if _, fixed := op.Fixed[name]; fixed {
				fault("parameter %s feeds %s, which is fixed", p.Name, name)
			} else if fed[name] && !p.shares() {
				fault("several parameters feed %s", name)
			}
			fed[name] = true
		}
	}
	if op.Protocol != nil {
		for name, typ := range op.Protocol.Supplies {
			if declared, has := script.Param(name); !has || declared.Type != typ {
				fault("supplies %s as %s, which the script does not declare", name, typ)
			}
			fed[name] = true
		}
	}
	for _, declared := range script.Params {
		typ, given := contextArgs[declared.Name]
		switch {
		case fed[declared.Name]:
		case !given && declared.Mandatory:
			fault("nothing feeds the script's mandatory %s", declared.Name)
		case given && declared.Type != typ:
			fault("the script's %s is %s, not %s", declared.Name, declared.Type, typ)
		}
	}
}

// reveals checks a row that reveals a secret. It also checks that a row that does not declare this has no
// secret in its record.
func reveals(op *Operation, fault func(string, ...any)) {
	secret := op.Reply.Shape != nil && len(schema.Secrets(op.Reply.Shape)) > 0
	if !op.Reveals {
		if secret {
			fault("answers with a secret, but does not say that it reveals one")
		}
		if op.Scope == identity.LapsReveal || op.Scope == identity.RecoveryReveal {
			fault("has the scope %s, but reveals nothing", op.Scope)
		}
		return
	}
	why := op.Param(ReasonName)
	switch {
	case !secret:
		fault("reveals, but its record has no secret")
	case op.Reply.Mark != Single || op.Reply.Shape.Tag != nil:
		fault("reveals more than one record, or one with an entity tag")
	}
	switch {
	case op.Effect != Read || op.Method != http.MethodPost || op.Also != "" || op.Local || op.Script == "":
		fault("reveals, but is no read by a script that is sent with POST alone")
	case !op.Scope.Apart() || len(op.Or) > 0:
		fault("reveals, but needs no scope that has to be given by its name")
	case why == nil || why.Kind != schema.Reason || !why.Required || !why.Identifies():
		fault("reveals, but asks for no %s", ReasonName)
	case slices.ContainsFunc(op.Params, func(p Param) bool { return schema.ChoosesFields(p.Kind) }):
		fault("reveals, but the record can be shortened")
	}
}

// FieldOf returns the name of the parameter that feeds an argument of the script, or "" if no parameter does.
func (op *Operation) FieldOf(arg string) string {
	for _, p := range op.Params {
		if a := schema.AttributeOf(p.Kind); a != nil && EqualFold(a.Field, arg) {
			return p.Name
		}
		for _, part := range p.Parts() {
			if arg != "" && strings.EqualFold(p.arg()+part.Suffix, arg) || arg != "" &&
				strings.EqualFold(p.arg(), arg) {
				return p.Name
			}
		}
	}
	return ""
}

// IsAbout reports whether a parameter names the target of the operation or
// describes its new state, as opposed to referring to another object.
func (op *Operation) IsAbout(p *Param) bool {
	switch {
	case p.Path != "":
		return !op.Effect.Creates() || p.Kind == schema.Identity || p.Kind == schema.Reference
	case op.Effect.Creates():
		return false
	default:
		refers := p.Kind == schema.DN || p.Kind == schema.Identity || p.Kind == schema.Reference
		return !refers || strings.Contains(op.Subject, "{"+p.Name+"}")
	}
}

// Codes returns the codes that a row can fail with in addition to the common ones, ordered by
// status and without duplicates.
func (op *Operation) Codes() []schema.Code {
	codes := slices.Clone(op.Fails)
	slices.SortStableFunc(codes, func(a, b schema.Code) int { return a.Status() - b.Status() })
	return slices.Compact(codes)
}
