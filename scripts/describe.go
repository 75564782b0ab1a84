package scripts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/ps"
	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// Describe reads what every script declares: its parameters, and the cmdlets of
// the two modules it calls, through the preludes too. The error joins every
// fault found: text outside the grammar, a script without a param block, a
// cmdlet called with a parameter it does not have, an unknown cmdlet.
func Describe() ([]ps.Script, error) {
	var described []ps.Script
	var faults []error
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		d := describer{functions: map[string]*syntax.ScriptBlock{}}
		for _, file := range preludes(lane) {
			d.prelude(file)
		}
		for _, file := range list(lane) {
			if script, ok := d.script(file, lane); ok {
				described = append(described, script)
			}
		}
		faults = append(faults, d.faults...)
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return described, errors.Join(slices.CompactFunc(faults, func(a, b error) bool { return a.Error() == b.Error() })...)
}

// describer holds the functions that the scripts of one lane share.
type describer struct {
	functions map[string]*syntax.ScriptBlock // by name in lower case
	faults    []error
}

func (d *describer) parse(file string) *syntax.Script {
	script, errs := syntax.Parse(file, read(file))
	for _, err := range errs {
		d.faults = append(d.faults, err)
	}
	if len(errs) > 0 {
		return nil
	}
	return script
}

func (d *describer) prelude(file string) {
	script := d.parse(file)
	if script == nil {
		return
	}
	syntax.Walk(script, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FunctionDef); ok {
			d.functions[strings.ToLower(f.Name)] = f.Body
		}
		return true
	})
}

func (d *describer) script(file string, lane ps.Lane) (ps.Script, bool) {
	text := d.parse(file)
	if text == nil {
		return ps.Script{}, false
	}
	if text.Block.Param == nil {
		d.faults = append(d.faults, fmt.Errorf("%s: has no param block", file))
		return ps.Script{}, false
	}
	script := ps.Script{Name: functionName(file), File: file, Lane: lane}
	for _, p := range text.Block.Param.Params {
		script.Params = append(script.Params, ps.Param{Name: p.Name.Name, Type: typeOf(p), Mandatory: mandatory(p)})
	}
	called := map[string]bool{}
	d.calls(text.Block, called, map[string]bool{})
	script.Commands = slices.Sorted(maps.Keys(called))
	for _, name := range script.Commands {
		if cmdlet, ok := cmdlets.Lookup(name); ok && cmdlet.Writes() {
			script.Writes = true
		}
	}
	return script, true
}

// typeOf is a parameter's type as [ps.Param] writes it.
func typeOf(p *syntax.Param) string {
	if len(p.Types) == 0 {
		return "object"
	}
	name := strings.ToLower(p.Types[0].Name)
	for range p.Types[0].Ranks {
		name += "[]"
	}
	return name
}

func mandatory(p *syntax.Param) bool {
	for _, attribute := range p.Attributes {
		if !strings.EqualFold(attribute.Type.Name, "Parameter") {
			continue
		}
		for _, arg := range attribute.Named {
			if strings.EqualFold(arg.Name, "Mandatory") {
				v, spelt := arg.Value.(*syntax.Variable)
				return arg.Value == nil || !spelt || !strings.EqualFold(v.Name, "false")
			}
		}
	}
	return false
}

// calls collects the cmdlets that a block calls, itself and through functions of the preludes.
func (d *describer) calls(block *syntax.ScriptBlock, called, seen map[string]bool) {
	splats := splatted(block)
	syntax.Walk(block, func(n syntax.Node) bool {
		command, ok := n.(*syntax.Command)
		if !ok {
			return true
		}
		name, plain := command.Name.(*syntax.String)
		if !plain {
			return true
		}
		if cmdlet, known := cmdlets.Lookup(name.Value); known {
			called[cmdlet.Name] = true
			d.arguments(block, command, cmdlet, splats)
			return true
		}
		key := strings.ToLower(name.Value)
		if body, shared := d.functions[key]; shared && !seen[key] {
			seen[key] = true
			d.calls(body, called, seen)
		}
		if strings.Contains(key, "-ad") || strings.Contains(key, "-dns") {
			d.fault(block, command, "there is no cmdlet %s in the modules", name.Value)
		}
		return true
	})
}

// arguments holds the parameter names of a call, splatted ones included,
// against the cmdlet: each written in full, all of them together in one set.
func (d *describer) arguments(block *syntax.ScriptBlock, command *syntax.Command, cmdlet *cmdlets.Cmdlet, splats map[string][]string) {
	var names []string
	for _, arg := range command.Args {
		switch arg := arg.(type) {
		case *syntax.CommandParam:
			names = append(names, arg.Name)
		case *syntax.Variable:
			if arg.Splat {
				names = append(names, splats[strings.ToLower(arg.Name)]...)
			}
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(commonParameters, func(common string) bool { return strings.EqualFold(common, name) }) && cmdlet.Param(name) == nil {
			d.fault(block, command, "%s has no parameter -%s", cmdlet.Name, name)
		}
	}
}

var commonParameters = []string{
	"Debug", "ErrorAction", "ErrorVariable", "InformationAction", "InformationVariable",
	"OutBuffer", "OutVariable", "PipelineVariable", "Verbose", "WarningAction", "WarningVariable",
}

func (d *describer) fault(block *syntax.ScriptBlock, at syntax.Node, format string, args ...any) {
	from := at.Extent().From
	d.faults = append(d.faults, fmt.Errorf("%s:%d:%d: %s", block.Source.Name, from.Line, from.Column, fmt.Sprintf(format, args...)))
}

// splatted finds, for every variable that is given a hashtable literal, the keys
// it can have: those of the literal and those assigned as $variable['Key'].
func splatted(block *syntax.ScriptBlock) map[string][]string {
	keys := map[string][]string{}
	syntax.Walk(block, func(n syntax.Node) bool {
		assignment, ok := n.(*syntax.Assignment)
		if !ok {
			return true
		}
		switch target := assignment.Target.(type) {
		case *syntax.Variable:
			syntax.Walk(assignment.Value, func(n syntax.Node) bool {
				hash, ok := n.(*syntax.Hash)
				if !ok {
					return true
				}
				for _, entry := range hash.Entries {
					if key, ok := entry.Key.(*syntax.String); ok {
						keys[strings.ToLower(target.Name)] = append(keys[strings.ToLower(target.Name)], key.Value)
					}
				}
				return false
			})
		case *syntax.Index:
			variable, named := target.Target.(*syntax.Variable)
			key, constant := target.Index.(*syntax.String)
			if named && constant {
				keys[strings.ToLower(variable.Name)] = append(keys[strings.ToLower(variable.Name)], key.Value)
			}
		}
		return true
	})
	return keys
}
