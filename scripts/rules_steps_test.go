package scripts

import (
	"regexp"
	"strings"

	"adgateway/ps/syntax"
)

// stepsAnnounced: on every path through a script, each call that changes something is announced by
// Write-GatewayIntent, follows its own Set-GatewayStep whose label names a change, and is followed by
// Complete-GatewayStep before the next change and before the end. Functions of the preludes are inlined. A
// script that changes nothing reports no steps, and a script that changes something reports its effect.
func stepsAnnounced(l *library, t *text) []error {
	if isPrelude(t.file) {
		return nil // checked as part of the scripts that call them
	}
	s := &steps{library: l, text: t, seen: map[string]bool{}}
	s.end(t.script, s.scriptBlock(t.script.Block, paths{{label: ""}: true}))
	called := map[string]bool{}
	l.reach(t.script.Block, called, map[string]bool{})
	writes := false
	for name := range called {
		writes = writes || l.command(name).Writes()
	}
	tells := map[string]bool{}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Command); ok {
			tells[strings.ToLower(commandName(c))] = true
		}
		return true
	})
	if !writes && (tells["complete-gatewaystep"] || tells["complete-gatewaychange"]) {
		s.fault(t.script.Block, "changes nothing, but tells of a change")
	}
	if writes && !tells["complete-gatewaychange"] {
		s.fault(t.script.Block, "changes something, but does not call Complete-GatewayChange")
	}
	return s.faults
}

// point is the state of a path: the label of its current step, and a change that has not been reported yet.
type point struct {
	label       string
	unannounced string // the cmdlet that changed something
	announced   bool   // the intent has been written
}

// paths contains the possible states at a place in the text. It is empty if the place is unreachable.
type paths map[point]bool

func (p paths) with(others paths) paths {
	out := paths{}
	for _, set := range []paths{p, others} {
		for at := range set {
			out[at] = true
		}
	}
	return out
}

type steps struct {
	library *library
	text    *text
	labels  map[string]string // values of the parameters of the function being followed
	active  []string          // functions being followed
	caught  []paths           // for each enclosing try block, the states in which an error can occur
	call    syntax.Node       // the call in the script that is being followed
	returns []paths
	faults  []error
	seen    map[string]bool
}

func (s *steps) fault(at syntax.Node, format string, args ...any) {
	if s.call != nil {
		at = s.call
	}
	err := placed(s.text, at, format, args...)
	if !s.seen[err.Error()] {
		s.seen[err.Error()] = true
		s.faults = append(s.faults, err)
	}
}

// end handles the end of the script.
func (s *steps) end(at syntax.Node, p paths) {
	for point := range p {
		if point.unannounced != "" {
			s.fault(at, "%s is not followed by Complete-GatewayStep", point.unannounced)
		}
	}
}

func (s *steps) scriptBlock(b *syntax.ScriptBlock, p paths) paths {
	s.returns = append(s.returns, paths{})
	p = s.block(b.Body, p)
	p = p.with(s.returns[len(s.returns)-1])
	s.returns = s.returns[:len(s.returns)-1]
	return p
}

func (s *steps) block(b *syntax.Block, p paths) paths {
	for _, statement := range b.Statements {
		p = s.statement(statement, p)
		if n := len(s.caught); n > 0 {
			for at := range p {
				if at.unannounced == "" { // an error between a change and its step means that the change failed
					s.caught[n-1][at] = true
				}
			}
		}
	}
	return p
}

func (s *steps) statement(n syntax.Statement, p paths) paths {
	switch n := n.(type) {
	case *syntax.FunctionDef:
		return p
	case *syntax.If:
		out := paths{}
		for _, clause := range n.Clauses {
			p = s.calls(clause.Cond, p)
			out = out.with(s.block(clause.Body, p))
		}
		if n.Else != nil {
			return out.with(s.block(n.Else, p))
		}
		return out.with(p)
	case *syntax.Switch:
		p = s.calls(n.Value, p)
		out := p
		for _, clause := range n.Clauses {
			out = out.with(s.block(clause.Body, p))
		}
		return out
	case *syntax.Try:
		s.caught = append(s.caught, paths{}.with(p))
		out := s.block(n.Body, p)
		thrown := s.caught[len(s.caught)-1]
		s.caught = s.caught[:len(s.caught)-1]
		if n.Catch != nil {
			out = out.with(s.block(n.Catch.Body, thrown))
		}
		if n.Finally != nil {
			return s.block(n.Finally, out)
		}
		return out
	case *syntax.Flow:
		if n.Value != nil {
			p = s.calls(n.Value, p)
		}
		switch n.Kind {
		case syntax.Return:
			s.returns[len(s.returns)-1] = s.returns[len(s.returns)-1].with(p)
			return paths{}
		case syntax.Throw, syntax.Exit:
			return paths{}
		}
		return p // the next iteration, or the code after the loop
	case *syntax.ForEach:
		return s.loop(n.In, n.Body, p)
	case *syntax.For:
		return s.loop(n.Cond, n.Body, p)
	case *syntax.While:
		return s.loop(n.Cond, n.Body, p)
	case *syntax.DoLoop:
		return s.loop(n.Cond, n.Body, p)
	}
	return s.calls(n, p)
}

func (s *steps) loop(head syntax.Node, body *syntax.Block, p paths) paths {
	if head != nil {
		p = s.calls(head, p)
	}
	p = p.with(s.block(body, p))
	return p.with(s.block(body, p))
}

// calls follows the commands inside a node in the order of the text. The arguments of a
// command are evaluated before it runs. Script blocks run later.
func (s *steps) calls(n syntax.Node, p paths) paths {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ScriptBlock:
			return false
		case *syntax.Block:
			p = s.block(n, p)
			return false
		case *syntax.Command:
			for _, a := range n.Args {
				p = s.calls(a, p)
			}
			p = s.command(n, p)
			return false
		case *syntax.Invoke:
			if method, _ := literal(n.Name); strings.EqualFold(method, "CommitChanges") { // of a directory entry
				p = s.write(n, "CommitChanges", p)
			}
		}
		return true
	})
	return p
}

func (s *steps) command(n *syntax.Command, p paths) paths {
	name := strings.ToLower(commandName(n))
	switch name {
	case "stop-gateway":
		return paths{}
	case "set-gatewaystep":
		out := paths{}
		for at := range p {
			out[point{s.label(n), at.unannounced, at.announced}] = true
		}
		return out
	case "write-gatewayintent":
		out := paths{}
		for at := range p {
			out[point{at.label, at.unannounced, true}] = true
		}
		return out
	case "complete-gatewaystep":
		out := paths{}
		for at := range p {
			out[point{announced: at.announced}] = true // the next change needs its own label
		}
		return out
	}
	command := s.library.command(name)
	if command != nil && command.Module != "" && command.Writes() {
		return s.write(n, command.Name, p)
	}
	f, shared := s.library.functions[name]
	if !shared {
		return p
	}
	for _, active := range s.active {
		if active == name {
			return p
		}
	}
	return s.follow(n, name, f, p)
}

// reading matches the beginning of the label of a step that changes nothing.
var reading = regexp.MustCompile(`(?i)^(find|check|read|list|count|discover|report|decode|run)\b`)

func (s *steps) write(n syntax.Node, name string, p paths) paths {
	out := paths{}
	for at := range p {
		switch {
		case at.unannounced != "":
			s.fault(n, "%s comes before %s is told by Complete-GatewayStep", name, at.unannounced)
		case at.label == "":
			s.fault(n, "%s comes without a Set-GatewayStep that names it", name)
		case reading.MatchString(at.label):
			s.fault(n, "%s runs under the label '%s', which names no change", name, at.label)
		case !at.announced:
			s.fault(n, "%s comes before Write-GatewayIntent has announced it", name)
		}
		out[point{at.label, name, at.announced}] = true
	}
	return out
}

// follow processes a function as if its body replaced the call.
func (s *steps) follow(n *syntax.Command, name string, f *function, p paths) paths {
	outer, outerCall := s.labels, s.call
	labels := map[string]string{}
	for i, a := range n.Args {
		if param, ok := a.(*syntax.CommandParam); ok && i+1 < len(n.Args) {
			labels[strings.ToLower(param.Name)] = s.value(n.Args[i+1])
		}
	}
	if s.call == nil {
		s.call = n
	}
	s.labels = labels
	s.active = append(s.active, name)
	p = s.scriptBlock(f.body, p)
	s.active = s.active[:len(s.active)-1]
	s.labels, s.call = outer, outerCall
	return p
}

// label returns the label that a Set-GatewayStep sets.
func (s *steps) label(n *syntax.Command) string {
	for i, a := range n.Args {
		if param, ok := a.(*syntax.CommandParam); ok && strings.EqualFold(param.Name, "Label") && i+
			1 < len(n.Args) {
			return s.value(n.Args[i+1])
		}
	}
	return ""
}

// value returns a constant text, which may be an argument of the followed function.
func (s *steps) value(n syntax.Node) string {
	if text, ok := literal(n); ok {
		return text
	}
	if v, ok := soleOf(n).(*syntax.Variable); ok {
		return s.labels[strings.ToLower(v.Name)]
	}
	return ""
}
