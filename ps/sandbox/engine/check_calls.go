package engine

import (
	"sort"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// unit checks one scope: a script, or the body of a function.
func (ch *checker) unit(b *syntax.ScriptBlock, params []*syntax.Param, outer *assigned) {
	vars := assignedIn(b, params)
	vars.outer = outer
	for _, p := range params {
		ch.walk(p, vars)
	}
	ch.walk(b, vars)
}

// walk checks the nodes of one scope.
func (ch *checker) walk(root syntax.Node, vars *assigned) {
	written := map[*syntax.Variable]bool{}
	syntax.Walk(root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			name, _ := functionName(n.Name)
			if sig := ch.functions[lower(name)]; sig != nil && sig.attrError != nil {
				ch.fault(n, FaultType, "", "%v", sig.attrError)
			}
			if target, alias := aliasTargets[lower(name)]; alias {
				ch.fault(n, FaultAlias, "", "the function %s would never be called: the alias of %s wins over it", name, target)
			}
			ch.unit(n.Body, n.Params, vars)
			return false
		case *syntax.Assignment:
			if n.Op == syntax.Assign {
				markWritten(n.Target, written)
			}
		case *syntax.ForEach:
			written[n.Var] = true
		case *syntax.Param:
			written[n.Name] = true
			for _, t := range n.Types {
				ch.typeName(t)
			}
		case *syntax.Attribute:
			return true
		case *syntax.TypeName:
			return false
		case *syntax.TypeExpr:
			ch.typeName(n.Type)
		case *syntax.Cast:
			ch.typeName(n.Type)
		case *syntax.Try:
			for _, e := range caughtBefore(n, ch.src) {
				ch.faults = append(ch.faults, Fault{File: ch.src.Name, Pos: e.Pos, Kind: FaultType, Message: e.Message})
			}
		case *syntax.Catch:
			for _, t := range n.Types {
				ch.typeName(t)
			}
		case *syntax.Variable:
			if !written[n] {
				ch.variable(n, vars)
			}
		case *syntax.Pipeline:
			for i, e := range n.Elements {
				if cmd, ok := e.(*syntax.Command); ok {
					ch.command(cmd, i > 0, vars)
				}
			}
		}
		return true
	})
}

func markWritten(e syntax.Expr, written map[*syntax.Variable]bool) {
	switch e := e.(type) {
	case *syntax.Variable:
		written[e] = true
	case *syntax.Cast:
		markWritten(e.Operand, written)
	case *syntax.ArrayLiteral:
		for _, item := range e.Items {
			markWritten(item, written)
		}
	}
}

func (ch *checker) typeName(t *syntax.TypeName) {
	text := typeText(t)
	key := strings.TrimSuffix(lower(text), "[]")
	if ch.types[key] || staticType(text) != nil {
		return
	}
	ch.fault(t, FaultType, "", "unknown type [%s]", text)
}

func (ch *checker) variable(v *syntax.Variable, vars *assigned) {
	name := lower(v.Name)
	switch lower(v.Scope) {
	case "env":
		return
	case "function":
		if _, ok := ch.functions[name]; !ok {
			ch.fault(v, FaultCommand, nearest(v.Name, ch.allNames()), "unknown function %s", v.Name)
		}
		return
	case "global", "script":
		if ch.globals[name] {
			return
		}
	default:
		if vars.has(name) || ch.globals[name] {
			return
		}
	}
	var candidates []string
	for up := vars; up != nil; up = up.outer {
		for known := range up.local {
			candidates = append(candidates, known)
		}
	}
	sort.Strings(candidates)
	suggest := nearest(v.Name, candidates)
	if suggest != "" {
		suggest = "$" + suggest
	}
	ch.fault(v, FaultVariable, suggest, "the variable $%s is never assigned", v.Name)
}

func (ch *checker) allNames() []string {
	names := make([]string, 0, len(ch.names))
	for _, name := range ch.names {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// command checks a call by a constant name.
func (ch *checker) command(cmd *syntax.Command, piped bool, vars *assigned) {
	s, ok := cmd.Name.(*syntax.String)
	if !ok {
		return
	}
	key := lower(s.Value)
	if target, alias := aliasTargets[key]; alias {
		ch.fault(cmd, FaultAlias, target, "aliases are not used in scripts: %s", s.Value)
		return
	}
	sig, isFunction := ch.functions[key]
	if !isFunction {
		if decl := ch.cmdlets[key]; decl != nil {
			sig = declaredSignature(decl, decl.Name)
		} else if c := builtins()[key]; c != nil {
			sig = c.sig
		}
		if sig == nil {
			ch.fault(cmd, FaultCommand, nearest(s.Value, ch.allNames()), "unknown command %s", s.Value)
			return
		}
	}
	if sig == nil || sig.attrError != nil {
		return
	}
	ch.call(cmd, sig, piped, vars)
	if key == "new-object" {
		ch.newObject(cmd)
	}
}

// newObject checks the type a New-Object names.
func (ch *checker) newObject(cmd *syntax.Command) {
	for i, arg := range cmd.Args {
		var name *syntax.String
		if p, ok := arg.(*syntax.CommandParam); ok && strings.HasPrefix("typename", lower(p.Name)) && i+1 < len(cmd.Args) {
			name, _ = cmd.Args[i+1].(*syntax.String)
		} else if s, ok := arg.(*syntax.String); ok && i == 0 {
			name = s
		}
		if name != nil {
			if dotnet.Lookup(name.Value) == nil && !ch.types[lower(name.Value)] {
				ch.fault(name, FaultType, "", "unknown type [%s]", name.Value)
			}
			return
		}
	}
}

// unknownValue stands for a value that is known when the script runs only.
type unknownValue struct{}

// call binds a call with the values left open and reports what the binder says.
func (ch *checker) call(cmd *syntax.Command, sig *signature, piped bool, vars *assigned) {
	inv := &invocation{f: constantFrame(), sig: sig, at: ch.c.place(cmd), hasPipe: piped, dry: true}
	splat := false
	for _, node := range cmd.Args {
		switch a := node.(type) {
		case *syntax.CommandParam:
			if a.Name == "-" {
				continue
			}
			arg := argument{name: a.Name, hasName: true, at: ch.c.place(a)}
			if a.Value != nil {
				arg.hasValue, arg.value = true, ch.known(a.Value)
			}
			inv.args = append(inv.args, arg)
		case *syntax.Variable:
			if a.Splat {
				splat = true
				ch.splat(a, sig, vars)
				continue
			}
			inv.args = append(inv.args, argument{hasValue: true, value: unknownValue{}, at: ch.c.place(a)})
		case syntax.Expr:
			inv.args = append(inv.args, argument{hasValue: true, value: ch.known(a), at: ch.c.place(a)})
		}
	}
	inv.splatted = splat
	err := inv.bind()
	if pe := asPS(err); pe != nil {
		ch.bindingFault(cmd, sig, pe.rec)
		return
	}
	if piped && sig.advanced && !sig.byPipeline {
		ch.fault(cmd, FaultParameter, "", "%s takes no pipeline input", sig.name)
	}
}

// known is the value of a constant argument, else unknownValue.
func (ch *checker) known(e syntax.Expr) any {
	switch e := e.(type) {
	case *syntax.Number, *syntax.String:
		if v, err := ch.c.expr(e)(constantFrame()); err == nil {
			return v
		}
	case *syntax.ScriptBlockExpr:
		return &ScriptBlock{code: &blockCode{src: ch.src, at: e.Block.Span, place: ch.c.place(e)}}
	}
	return unknownValue{}
}

// splat checks the keys a splatted dictionary is known to have.
func (ch *checker) splat(v *syntax.Variable, sig *signature, vars *assigned) {
	if !sig.advanced {
		return
	}
	inv := &invocation{f: constantFrame(), sig: sig, at: ch.c.place(v)}
	for up := vars; up != nil; up = up.outer {
		for _, key := range up.keys[lower(v.Name)] {
			p, err := inv.find(key.Value, ch.c.place(key))
			if pe := asPS(err); pe != nil {
				ch.fault(key, FaultParameter, "", "%s", pe.rec.Exception.Message)
			} else if p == nil {
				ch.fault(key, FaultParameter, nearest(key.Value, paramNames(sig)), "%s has no parameter %s", sig.name, key.Value)
			}
		}
	}
}

func paramNames(sig *signature) []string {
	names := make([]string, len(sig.params))
	for i, p := range sig.params {
		names[i] = p.name
	}
	return names
}

// bindingFault turns the binder's error into a fault.
func (ch *checker) bindingFault(cmd *syntax.Command, sig *signature, rec *dotnet.ErrorRecord) {
	id, _, _ := strings.Cut(rec.ErrorID, ",")
	f := Fault{File: ch.src.Name, Pos: cmd.From, Kind: FaultParameter, Message: sig.name + ": " + rec.Exception.Message}
	for _, arg := range cmd.Args {
		at := arg.Extent().From
		if rec.Position != nil && at.Line == rec.Position.Line && at.Column == rec.Position.Column {
			f.Pos = at
			if p, ok := arg.(*syntax.CommandParam); ok && id == "NamedParameterNotFound" {
				f.Message = sig.name + " has no parameter " + p.Name
				if f.Suggest = nearest(p.Name, paramNames(sig)); f.Suggest != "" {
					f.Suggest = "-" + f.Suggest
				}
			}
		}
	}
	switch id {
	case "AmbiguousParameterSet", "MissingMandatoryParameter":
		f.Kind = FaultSet
	case "TypeNotFound":
		f.Kind = FaultType
	}
	ch.faults = append(ch.faults, f)
}
