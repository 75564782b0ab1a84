package scripts

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
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

// Describe returns the declaration of every script, which contains its parameters and the cmdlets of the two
// modules that it calls, directly or through the preludes. `make generate` writes the declarations to a file,
// so that a start need not read the scripts.
func Describe() []ps.Script {
	return slices.DeleteFunc(DescribeDoctor(),
		func(s ps.Script) bool { return strings.HasPrefix(s.File, doctorFolder) })
}

// DescribeDoctor is like [Describe], for the scripts of the doctor's sessions.
func DescribeDoctor() []ps.Script { return slices.Clone(declared()) }

//go:embed declarations.json
var declarations []byte

var declared = sync.OnceValue(func() (all []ps.Script) {
	if err := json.Unmarshal(declarations, &all); err != nil {
		panic(fmt.Sprintf("scripts: %v", err)) // embedded at build time
	}
	return all
})

// Verify returns an error if the scripts must not be released, because [Check] finds mistakes, a script has
// no param block, or the embedded declarations are not up to date.
func Verify() error {
	computed, err := computeDeclarations()
	if err == nil && !bytes.Equal(computed, declarations) {
		err = errors.New("the declarations of the scripts are not up to date: run make generate")
	}
	return err
}

// computeDeclarations returns the content of declarations.json. The error joins a [Fault] for each mistake.
func computeDeclarations() ([]byte, error) {
	all, faults := describe(preludes, list)
	own, more := describe(doctorPreludes, doctorList)
	survey := Check(ps.Source{Name: surveyFile, Text: Survey()}, CheckOptions{})
	lines := bytes.NewBufferString("[\n") // one for each script, so that differences are easy to read
	for i, script := range slices.Concat(all, own) {
		line, err := json.Marshal(script)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			lines.WriteString(",\n")
		}
		lines.Write(line)
	}
	lines.WriteString("\n]\n")
	return lines.Bytes(), joinFaults(slices.Concat(faults, more, survey))
}

// describe describes the scripts of both lanes. preludes and list return the files of a lane.
func describe(preludes, list func(ps.Lane) []string) (all []ps.Script, faults []Fault) {
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		lib := newLibrary(CheckOptions{})
		for _, file := range preludes(lane) {
			lib.addPrelude(file, read(file))
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
				all = append(all, script)
			}
		}
		faults = append(faults, lib.faults()...)
	}
	return all, faults
}

// joinFaults joins the distinct faults, sorted by position. It returns nil if there are none.
func joinFaults(faults []Fault) error {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Pos.Offset-b.Pos.Offset)
	})
	var errs []error
	for _, fault := range slices.Compact(faults) {
		errs = append(errs, fault)
	}
	return errors.Join(errs...)
}

// library contains the texts of one lane and the functions that they share.
type library struct {
	options   CheckOptions
	texts     []*text
	functions map[string]*function // by name in lower case
	variables names                // of the preludes
	broken    []Fault              // texts that do not parse
}

// text is one parsed file.
type text struct {
	file   string
	script *syntax.Script
	calls  []*call
}

// function is a function defined by a text.
type function struct {
	body    *syntax.ScriptBlock
	params  []*syntax.Param
	command *cmdlets.Cmdlet // its parameters, described like those of a cmdlet
}

// newLibrary returns a library with the preludes of the options.
func newLibrary(o CheckOptions) *library {
	l := &library{options: o, functions: map[string]*function{}, variables: names{}}
	for _, source := range o.Prelude {
		l.addPrelude(source.Name, source.Text)
	}
	return l
}

// addPrelude adds a file whose variables are known to the other texts.
func (l *library) addPrelude(file, source string) {
	if t := l.add(file, source); t != nil {
		l.learn(t.script)
	}
}

// add parses a file. It returns nil if the text does not parse.
func (l *library) add(file, source string) *text {
	script, errs := syntax.Parse(file, source)
	if len(errs) > 0 {
		for _, err := range errs {
			l.broken = append(l.broken, Fault{File: file, Pos: err.Pos, Message: err.Message})
		}
		return nil
	}
	syntax.Walk(script, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FunctionDef); ok {
			var params []*syntax.Param
			var attributes []*syntax.Attribute
			if f.Body.Param != nil {
				params, attributes = f.Body.Param.Params, f.Body.Param.Attributes
			}
			l.functions[strings.ToLower(f.Name)] = &function{body: f.Body, params: params,
				command: signature(f.Name, attributes, params)}
		}
		return true
	})
	t := &text{file: file, script: script}
	l.texts = append(l.texts, t)
	return t
}

// link reads the calls of all texts. All texts must have been added.
func (l *library) link() {
	for _, t := range l.texts {
		t.calls = readCalls(t.script, l.command)
	}
}

// command resolves a name, which may include its module, to a cmdlet of the modules, a
// function, or a built-in command. It returns nil if the name is unknown.
func (l *library) command(name string) *cmdlets.Cmdlet {
	if cmdlet, ok := cmdlets.Lookup(name); ok {
		return cmdlet
	}
	if f, ok := l.functions[strings.ToLower(name)]; ok {
		return f.command
	}
	return builtins()[strings.TrimPrefix(strings.ToLower(name), `microsoft.powershell.utility\`)]
}

// faults checks all texts.
func (l *library) faults() []Fault {
	faults := slices.Clone(l.broken)
	for _, t := range l.texts {
		if _, isScript := l.scriptOf(t); isScript && t.script.Block.Param == nil {
			faults = append(faults, t.fault(t.script, "", "the script has no param block"))
		}
		faults = append(faults, l.check(t)...)
	}
	return faults
}

// scriptOf returns the name of a script. It returns false for a prelude.
func (l *library) scriptOf(t *text) (string, bool) { return functionName(t.file), !isPrelude(t.file) }

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

// reach collects the cmdlets that a block calls, directly or through functions.
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

// typeOf returns the type of a parameter in the form of [ps.Param].
func typeOf(p *syntax.Param) string {
	if len(p.Types) == 0 {
		return "object"
	}
	name := strings.ToLower(p.Types[0].Name)
	if p.Types[0].Array {
		name += "[]"
	}
	return name
}

func mandatory(p *syntax.Param) bool {
	return slices.ContainsFunc(attributesOf(p, "Parameter"),
		func(a *syntax.Attribute) bool { return isSet(a, "Mandatory") })
}
