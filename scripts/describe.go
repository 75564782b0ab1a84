package scripts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"adgateway/ps"
	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// Describe reads what every script declares: its parameters, and the cmdlets of
// the two modules it calls, through the preludes too. The error joins every
// fault found: text outside the grammar, a script without a param block, a call
// of an unknown command, and a call whose arguments do not fit what it calls in
// every Windows Server version that is documented. The scripts are part of the
// program, so all calls give the same: it must not be changed.
func Describe() ([]ps.Script, error) { return described() }

var described = sync.OnceValues(func() ([]ps.Script, error) { return describeAll(preludes, list) })

// describeAll describes the scripts of both lanes: which files preludes and list
// name for a lane.
func describeAll(preludes, list func(ps.Lane) []string) ([]ps.Script, error) {
	var described []ps.Script
	var faults []error
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		lib := newLibrary()
		for _, file := range preludes(lane) {
			lib.add(file, read(file))
		}
		var texts []*text
		for _, file := range list(lane) {
			if t := lib.add(file, read(file)); t != nil {
				texts = append(texts, t)
			}
		}
		lib.link()
		for _, t := range texts {
			if script, ok := lib.describe(t, lane); ok {
				described = append(described, script)
			}
		}
		faults = append(faults, lib.faults()...)
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return described, errors.Join(slices.CompactFunc(faults, func(a, b error) bool { return a.Error() == b.Error() })...)
}

// library is the texts of one lane, and the functions that they share.
type library struct {
	texts     []*text
	functions map[string]*function // by name in lower case
	broken    []error              // what could not be read
}

// text is one file.
type text struct {
	file   string
	script *syntax.Script
	calls  []*call
}

// function is one that a prelude defines.
type function struct {
	body    *syntax.ScriptBlock
	params  []*syntax.Param
	command *cmdlets.Cmdlet // how it is called
}

func newLibrary() *library { return &library{functions: map[string]*function{}} }

// add reads a file; nil when its text is outside the grammar.
func (l *library) add(file, source string) *text {
	script, errs := syntax.Parse(file, source)
	if len(errs) > 0 {
		for _, err := range errs {
			l.broken = append(l.broken, err)
		}
		return nil
	}
	syntax.Walk(script, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FunctionDef); ok {
			params := f.Params
			if f.Body.Param != nil {
				params = f.Body.Param.Params
			}
			l.functions[strings.ToLower(f.Name)] = &function{body: f.Body, params: params, command: declared(f.Name, params)}
		}
		return true
	})
	t := &text{file: file, script: script}
	l.texts = append(l.texts, t)
	return t
}

// link reads the calls of all texts, once all functions are known.
func (l *library) link() {
	for _, t := range l.texts {
		t.calls = readCalls(t.script, l.command)
	}
}

// command finds what a name calls: a cmdlet of the modules, a function of the
// preludes, or one of the commands that scripts may use besides.
func (l *library) command(name string) *cmdlets.Cmdlet {
	if cmdlet, ok := cmdlets.Lookup(name); ok {
		return cmdlet
	}
	if f, ok := l.functions[strings.ToLower(name)]; ok {
		return f.command
	}
	return builtins[strings.ToLower(name)]
}

func (l *library) faults() []error {
	faults := slices.Clone(l.broken)
	for _, t := range l.texts {
		if _, isScript := l.scriptOf(t); isScript && t.script.Block.Param == nil {
			faults = append(faults, fmt.Errorf("%s: has no param block", t.file))
		}
		for _, c := range t.calls {
			for _, fault := range c.faults() {
				faults = append(faults, placed(t, c.at, "%s", fault))
			}
		}
	}
	return faults
}

// scriptOf gives the name of the script that a text is, if it is one.
func (l *library) scriptOf(t *text) (string, bool) { return functionName(t.file), !isPrelude(t.file) }

// placed is a fault and where it is.
func placed(t *text, at syntax.Node, format string, args ...any) error {
	from := at.Extent().From
	return fmt.Errorf("%s:%d:%d: %s", t.file, from.Line, from.Column, fmt.Sprintf(format, args...))
}

func (l *library) describe(t *text, lane ps.Lane) (ps.Script, bool) {
	name, _ := l.scriptOf(t)
	if t.script.Block.Param == nil {
		return ps.Script{}, false
	}
	script := ps.Script{Name: name, File: t.file, Lane: lane}
	for _, p := range t.script.Block.Param.Params {
		script.Params = append(script.Params, ps.Param{Name: p.Name.Name, Type: typeOf(p), Mandatory: mandatory(p)})
	}
	called := map[string]bool{}
	l.reach(t.script.Block, called, map[string]bool{})
	script.Commands = slices.Sorted(maps.Keys(called))
	for _, name := range script.Commands {
		if cmdlet, ok := cmdlets.Lookup(name); ok && cmdlet.Writes() {
			script.Writes = true
		}
	}
	return script, true
}

// reach collects the cmdlets that a block calls, itself and through functions of the preludes.
func (l *library) reach(block *syntax.ScriptBlock, called, seen map[string]bool) {
	syntax.Walk(block, func(n syntax.Node) bool {
		command, ok := n.(*syntax.Command)
		if !ok {
			return true
		}
		name := commandName(command)
		if cmdlet, known := cmdlets.Lookup(name); known {
			called[cmdlet.Name] = true
			return true
		}
		key := strings.ToLower(name)
		if f, shared := l.functions[key]; shared && !seen[key] {
			seen[key] = true
			l.reach(f.body, called, seen)
		}
		return true
	})
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
