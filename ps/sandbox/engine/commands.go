package engine

import (
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

const callDot = syntax.CallDot

// command is a built-in command or a cmdlet of an imported module.
type command struct {
	name   string
	module string
	sig    *signature
	make   func(inv *invocation, out sink) (stage, error)
}

// findCommand finds what a name calls: a function, a built-in command, a cmdlet
// of an imported module.
func (f *frame) findCommand(key, name string, at *place) (any, error) {
	s := f.s
	if _, alias := aliasTargets[key]; alias {
		return nil, fail(commandNotFound(name), at)
	}
	if fn := f.scope.function(key); fn != nil {
		return fn, nil
	}
	if c := s.lookupCommand(key); c != nil {
		return c, nil
	}
	return nil, fail(commandNotFound(name), at)
}

// aliasTargets are the aliases PowerShell starts with. They win over functions of
// the same name there, so here such a name calls nothing: neither the alias,
// which scripts must not use, nor the function, which would not be called.
var aliasTargets = parseAliases(`
%=ForEach-Object ?=Where-Object ac=Add-Content cat=Get-Content cd=Set-Location chdir=Set-Location clc=Clear-Content
clear=Clear-Host clhy=Clear-History cli=Clear-Item clp=Clear-ItemProperty cls=Clear-Host clv=Clear-Variable
compare=Compare-Object copy=Copy-Item cp=Copy-Item cpi=Copy-Item cpp=Copy-ItemProperty curl=Invoke-WebRequest
cvpa=Convert-Path dbp=Disable-PSBreakpoint del=Remove-Item diff=Compare-Object dir=Get-ChildItem dnsn=Disconnect-PSSession
ebp=Enable-PSBreakpoint echo=Write-Output epal=Export-Alias epcsv=Export-Csv erase=Remove-Item etsn=Enter-PSSession
exsn=Exit-PSSession fc=Format-Custom fhx=Format-Hex fl=Format-List foreach=ForEach-Object ft=Format-Table fw=Format-Wide
gal=Get-Alias gbp=Get-PSBreakpoint gc=Get-Content gcb=Get-Clipboard gci=Get-ChildItem gcm=Get-Command gcs=Get-PSCallStack
gdr=Get-PSDrive gerr=Get-Error ghy=Get-History gi=Get-Item gin=Get-ComputerInfo gjb=Get-Job gl=Get-Location gm=Get-Member
gmo=Get-Module gp=Get-ItemProperty gps=Get-Process gpv=Get-ItemPropertyValue group=Group-Object gsn=Get-PSSession
gsv=Get-Service gtz=Get-TimeZone gu=Get-Unique gv=Get-Variable gwmi=Get-WmiObject h=Get-History history=Get-History
icm=Invoke-Command iex=Invoke-Expression ihy=Invoke-History ii=Invoke-Item ipal=Import-Alias ipcsv=Import-Csv
ipmo=Import-Module irm=Invoke-RestMethod iwmi=Invoke-WmiMethod iwr=Invoke-WebRequest kill=Stop-Process ls=Get-ChildItem
man=Get-Help md=New-Item measure=Measure-Object mi=Move-Item mount=New-PSDrive move=Move-Item mp=Move-ItemProperty
mv=Move-Item nal=New-Alias ndr=New-PSDrive ni=New-Item nmo=New-Module nsn=New-PSSession nv=New-Variable ogv=Out-GridView
oh=Out-Host popd=Pop-Location ps=Get-Process pushd=Push-Location pwd=Get-Location r=Invoke-History rbp=Remove-PSBreakpoint
rcjb=Receive-Job rcsn=Receive-PSSession rd=Remove-Item rdr=Remove-PSDrive ren=Rename-Item ri=Remove-Item rjb=Remove-Job
rm=Remove-Item rmdir=Remove-Item rmo=Remove-Module rni=Rename-Item rnp=Rename-ItemProperty rp=Remove-ItemProperty
rsn=Remove-PSSession rv=Remove-Variable rvpa=Resolve-Path sajb=Start-Job sal=Set-Alias saps=Start-Process sasv=Start-Service
sbp=Set-PSBreakpoint scb=Set-Clipboard select=Select-Object set=Set-Variable shcm=Show-Command si=Set-Item sl=Set-Location
sleep=Start-Sleep sls=Select-String sort=Sort-Object sp=Set-ItemProperty spjb=Stop-Job spps=Stop-Process spsv=Stop-Service
start=Start-Process stz=Set-TimeZone sv=Set-Variable tee=Tee-Object type=Get-Content wget=Invoke-WebRequest where=Where-Object
wjb=Wait-Job write=Write-Output
`)

func parseAliases(text string) map[string]string {
	out := map[string]string{}
	for _, pair := range strings.Fields(text) {
		alias, target, _ := strings.Cut(pair, "=")
		out[alias] = target
	}
	return out
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
					s.importModule(m)
					return s.commands[key]
				}
			}
		}
	}
	return nil
}

func commandNotFound(name string) *dotnet.ErrorRecord {
	e := dotnet.NewException(exceptionType("System.Management.Automation.CommandNotFoundException"), "The term '"+name+
		"' is not recognized as a name of a cmdlet, function, script file, or executable program.\nCheck the spelling of the name, or if a path was included, verify that the path is correct and try again.")
	e.Props.Set("CommandName", name)
	rec := dotnet.NewError(e, "CommandNotFoundException", dotnet.ObjectNotFound, name)
	e.Record = rec
	return rec
}

// importModule makes a module's commands and types known.
func (s *Session) importModule(m *Module) {
	key := lower(m.Name)
	if s.imported[key] != nil {
		return
	}
	s.imported[key] = m
	for _, c := range m.Commands {
		s.commands[lower(c.Decl.Name)] = &command{name: c.Decl.Name, module: m.Name, sig: s.engine.signatureOf(c), make: cmdletMaker(c)}
	}
	for _, t := range m.Types {
		s.types[lower(t.Name)] = t
		if short := t.ShortName(); s.types[lower(short)] == nil && dotnet.Lookup(short) == nil {
			s.types[lower(short)] = t
		}
	}
}

// signatureOf is the signature of a module's command, made once for all sessions.
func (e *Engine) signatureOf(c *Command) *signature {
	if sig, ok := e.sigs.Load(c); ok {
		return sig.(*signature)
	}
	sig, _ := e.sigs.LoadOrStore(c, declaredSignature(c.Decl, c.Class))
	return sig.(*signature)
}

// declaredSignature makes the binder's view of a declared cmdlet.
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
	out.foreign = out.typ == nil && !isObject(p.Type)
	out.sets = declaredSets(sig, p)
	return out
}

// declaredSets gives the sets of a parameter; one that behaves alike in every
// set of the command belongs to all.
func declaredSets(sig *signature, p *cmdlets.Param) []inSet {
	sets := make([]inSet, 0, len(p.PerSet))
	alike := len(p.PerSet) == max(len(sig.sets), 1)
	for i, in := range p.PerSet {
		position := noPosition
		if in.Position >= 0 {
			position = in.Position
		}
		sets = append(sets, inSet{flag: sig.setFlag(in.Set), mandatory: in.Mandatory, position: position, byValue: in.ByValue, byName: in.ByPropertyName})
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

// declaredType is the type of a declared parameter; nil for types of the modules,
// whose values the bodies check themselves.
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

// FromPipeline tells whether a parameter's value came from the object in the
// pipeline: many cmdlets report what is wrong with one object and go on with
// the next.
func (c *Call) FromPipeline(name string) bool {
	if c.host != nil {
		return c.host.FromPipeline(name)
	}
	if !c.inv.piped {
		return false
	}
	p := c.inv.sig.param(name)
	return p != nil && c.inv.bound.has(p.index) && (!c.inv.prePipe.has(p.index) || c.inv.delayed[p] != nil)
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

func (st *cmdletStage) begin() error { return nil }

func (st *cmdletStage) process(v any) error {
	inv := st.inv
	if err := inv.f.step(inv.at); err != nil {
		return err
	}
	if !inv.sig.byPipeline {
		rec := asPS(inv.bindingError("ParameterBindingException", "InputObjectNotBound", dotnet.InvalidArgument, nil, nil,
			"The input object cannot be bound to any parameters for the command either because the command does not take pipeline input or the input and its properties do not match any of the parameters that take pipeline input.", v)).rec
		return inv.writeError(rec)
	}
	if err := inv.bindPipeline(v); err != nil {
		if pe := asPS(err); pe != nil {
			return inv.writeError(pe.rec)
		}
		return err
	}
	return st.run(st.cmd.Process)
}

func (st *cmdletStage) end() error {
	if !st.inv.hasPipe {
		if err := st.run(st.cmd.Process); err != nil {
			return err
		}
	}
	return st.run(st.cmd.End)
}

func (st *cmdletStage) run(body func(c *Call) error) error {
	if body == nil {
		return nil
	}
	s := st.inv.f.s
	old := s.current
	s.current = st.inv.f
	err := body(&st.call)
	s.current = old
	if pe := asPS(err); pe != nil {
		if _, ours := err.(*psError); !ours {
			return st.inv.terminating(st.inv.qualify(pe.rec))
		}
		return err
	}
	return defect(st.inv.sig.name, err)
}
