package engine

import (
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
)

// command is a built-in command or a cmdlet of an imported module.
type command struct {
	name   string
	module string
	sig    *signature
	make   func(inv *invocation, out sink) (stage, error)

	takesInput bool // takes pipeline input: make returns an *inputStage
}

// findCommand resolves the name of a command: a function, a built-in command or
// a cmdlet of an imported module.
func (f *frame) findCommand(key string, inv *invocation) error {
	if fn := f.scope.function(key); fn != nil {
		code, err := fn.code.ready()
		if err != nil {
			return err
		}
		inv.block, inv.sig, inv.home = code, code.sig, fn.home
		return nil
	}
	c := f.s.lookupCommand(key)
	if c == nil {
		return fail(commandNotFound(key, inv.called), inv.at)
	}
	inv.command, inv.sig = c, c.sig
	return nil
}

func (s *Session) lookupCommand(key string) *command {
	if c, ok := s.commands[key]; ok {
		return c
	}
	if c, ok := builtins()[key]; ok {
		return c
	}
	if module, name, ok := strings.Cut(key, `\`); ok {
		if c := s.lookupCommand(name); c != nil && lower(c.module) == module {
			return c
		}
		return nil
	}
	if s.engine.opts.AutoLoad {
		for _, m := range s.engine.modules {
			for _, c := range m.Commands {
				if lower(c.Decl.Name) == key {
					_ = s.importModule(m) // cannot fail, because its commands are in Go
					return s.commands[key]
				}
			}
		}
	}
	return nil
}

// importModule adds a module's commands and types to the session.
func (s *Session) importModule(m *Module) error {
	key := lower(m.Name)
	if s.imported[key] != nil {
		return nil
	}
	s.imported[key] = m
	if m.Script != "" {
		return importScript(s, m)
	}
	for _, c := range m.Commands {
		s.commands[lower(c.Decl.Name)] = &command{name: c.Decl.Name, module: m.Name, sig: s.engine.signatureOf(c),
			make: cmdletMaker(c)}
	}
	for _, t := range m.Types {
		s.types[lower(t.Name)] = t
		if short := t.ShortName(); s.types[lower(short)] == nil && dotnet.Lookup(short) == nil {
			s.types[lower(short)] = t
		}
	}
	return nil
}

// signatureOf returns the signature of a module's command. It is built once per engine.
func (e *Engine) signatureOf(c *Command) *signature {
	if sig, ok := e.sigs.Load(c); ok {
		return sig.(*signature)
	}
	sig, _ := e.sigs.LoadOrStore(c, declaredSignature(c.Decl, c.Class))
	return sig.(*signature)
}

// declaredSignature returns the signature of a declared cmdlet.
func declaredSignature(decl *cmdlets.Cmdlet, class string) *signature {
	if class == "" {
		class = decl.Name
	}
	sig := &signature{name: decl.Name, class: class, advanced: true, byKey: map[string]*param{},
		should: decl.SupportsShouldProcess, high: decl.PromptsByDefault, force: decl.ForceSkipsPrompt}
	for _, set := range decl.Sets {
		sig.setFlag(set)
	}
	if decl.DefaultSet != "" {
		sig.defaultSet = sig.setFlag(decl.DefaultSet)
	}
	for _, p := range decl.Params {
		if sig.should && (strings.EqualFold(p.Name, "WhatIf") || strings.EqualFold(p.Name, "Confirm")) {
			continue
		}
		sig.add(declaredParam(sig, p))
	}
	sig.addCommon()
	return sig
}

func declaredParam(sig *signature, p *cmdlets.Param) *param {
	out := &param{name: p.Name, aliases: p.Aliases, typ: declaredType(p.Type)}
	if len(p.Values) > 0 && (out.typ == nil || out.typ == dotnet.TString || out.typ == dotnet.TStringArray) {
		out.enum = &enumValues{typeName: p.Type, names: p.Values, codes: p.Codes}
		if strings.HasSuffix(p.Type, "[]") {
			out.typ = dotnet.TStringArray
		}
	}
	out.sets = declaredSets(sig, p)
	return out
}

// declaredSets returns the sets of a parameter. A parameter with the same declaration in
// every set of the command belongs to all sets.
func declaredSets(sig *signature, p *cmdlets.Param) []inSet {
	sets := make([]inSet, 0, len(p.PerSet))
	alike := len(p.PerSet) == max(len(sig.sets), 1)
	for i, in := range p.PerSet {
		position := noPosition
		if in.Position >= 0 {
			position = in.Position
		}
		sets = append(sets, inSet{flag: sig.setFlag(in.Set), mandatory: in.Mandatory, position: position})
		first := sets[0]
		first.flag = sets[i].flag
		alike = alike && first == sets[i]
	}
	if alike && len(sets) > 0 {
		sets[0].flag = 0
		return sets[:1]
	}
	return sets
}

func isObject(typeName string) bool {
	switch lower(typeName) {
	case "object", "psobject", "":
		return true
	}
	return false
}

// declaredType returns the type of a declared parameter, or nil for the types of modules,
// whose values the bodies check.
func declaredType(name string) *dotnet.Type {
	switch {
	case isObject(name):
		return nil
	case strings.EqualFold(name, "SwitchParameter"), strings.EqualFold(name, "switch"):
		return dotnet.TSwitch
	}
	if t := dotnet.Lookup(name); t != nil {
		return t
	}
	return nil
}

// cmdletStage runs a module's command as a stage.
type cmdletStage struct {
	cmd  *Command
	inv  *invocation
	call Call
}

func cmdletMaker(cmd *Command) func(inv *invocation, out sink) (stage, error) {
	return func(inv *invocation, out sink) (stage, error) {
		st := &cmdletStage{cmd: cmd, inv: inv}
		st.call = Call{inv: inv, out: out}
		return st, nil
	}
}

func (st *cmdletStage) end() error {
	err := st.cmd.Process(&st.call)
	if pe := asPS(err); pe != nil {
		if _, ours := err.(*psError); !ours {
			return st.inv.terminating(st.inv.qualify(pe.rec))
		}
		return err
	}
	return defect(st.inv.sig.name, err)
}
