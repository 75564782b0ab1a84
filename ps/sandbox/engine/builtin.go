package engine

import (
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// spec declares one built-in command: a row of a table.
type spec struct {
	name   string
	class  string // short name of the class, in Microsoft.PowerShell.Commands
	params string // the inside of param(...), as PowerShell would declare it
	set    string // default parameter set
	should bool
	make   func(inv *invocation, out sink) (stage, error)
}

var (
	builtinOnce sync.Once
	builtinMap  map[string]*command
)

// builtins are the built-in commands by name in lower case.
func builtins() map[string]*command {
	builtinOnce.Do(func() {
		builtinMap = map[string]*command{}
		for _, table := range [][]spec{objectCommands(), selectCommands(), groupCommands(), writeCommands(), dataCommands(), stateCommands(), moduleCommands()} {
			for _, row := range table {
				builtinMap[lower(row.name)] = row.command()
			}
		}
	})
	return builtinMap
}

// command makes the command of a row. A row that does not parse is a defect of
// the table, which a test finds.
func (row spec) command() *command {
	head := "[CmdletBinding("
	if row.set != "" {
		head += "DefaultParameterSetName='" + row.set + "'"
	}
	if row.should {
		if row.set != "" {
			head += ","
		}
		head += "SupportsShouldProcess"
	}
	text := head + ")] param(" + row.params + ")"
	script, errs := syntax.Parse(row.name, text)
	if len(errs) > 0 {
		panic("interp: declaration of " + row.name + ": " + errs[0].Error())
	}
	c := &compiler{src: script.Source}
	sig := c.scriptBlock(script.Block, nil, row.name).sig
	sig.function = false
	sig.name = row.name
	sig.class = "Microsoft.PowerShell.Commands." + row.class
	return &command{name: row.name, module: "Microsoft.PowerShell.Utility", sig: sig, make: row.make}
}

// inputStage is a built-in command: it takes pipeline input as it comes,
// without binding.
type inputStage struct {
	inv   *invocation
	start func() error
	each  func(v any) error
	done  func() error
	// without tells what happens without pipeline input and without
	// -InputObject: true runs each once with null.
	without bool
}

func (st *inputStage) begin() error {
	if st.start == nil {
		return nil
	}
	return st.start()
}

func (st *inputStage) process(v any) error {
	if err := st.inv.f.step(st.inv.at); err != nil {
		return err
	}
	if st.each == nil {
		return nil
	}
	return st.each(v)
}

func (st *inputStage) end() error {
	if !st.inv.hasPipe && st.each != nil {
		v, given := st.inv.boundValue("InputObject")
		if given || st.without {
			if err := st.each(v); err != nil {
				return err
			}
		}
	}
	if st.done == nil {
		return nil
	}
	return st.done()
}

// once is a built-in command without pipeline input.
func once(run func(inv *invocation, out sink) error) func(inv *invocation, out sink) (stage, error) {
	return func(inv *invocation, out sink) (stage, error) {
		return &onceStage{inv: inv, out: out, run: run}, nil
	}
}

type onceStage struct {
	inv *invocation
	out sink
	run func(inv *invocation, out sink) error
}

func (st *onceStage) begin() error      { return nil }
func (st *onceStage) process(any) error { return st.inv.f.step(st.inv.at) }
func (st *onceStage) end() error        { return st.run(st.inv, st.out) }

const inputParam = "[Parameter(ValueFromPipeline)][AllowNull()][object]$InputObject"

func objectCommands() []spec {
	return []spec{
		{name: "ForEach-Object", class: "ForEachObjectCommand", set: "ScriptBlockSet", make: forEachObject,
			params: `[Parameter(Mandatory,Position=0,ParameterSetName='ScriptBlockSet')][scriptblock]$Process,
				[Parameter(ParameterSetName='ScriptBlockSet')][scriptblock]$Begin,
				[Parameter(ParameterSetName='ScriptBlockSet')][scriptblock]$End,
				[Parameter(Mandatory,Position=0,ParameterSetName='PropertyAndMethodSet')][string]$MemberName,
				[Parameter(ParameterSetName='PropertyAndMethodSet')][Alias('Args')][object[]]$ArgumentList,` + inputParam},
		{name: "Where-Object", class: "WhereObjectCommand", set: "ScriptBlockSet", make: whereObject,
			params: `[Parameter(Mandatory,Position=0,ParameterSetName='ScriptBlockSet')][scriptblock]$FilterScript,
				[Parameter(Mandatory,Position=0,ParameterSetName='EqualSet')][string]$Property,
				[Parameter(Position=1,ParameterSetName='EqualSet')][AllowNull()][object]$Value,` + whereSwitches() + inputParam},
		{name: "Out-Null", class: "OutNullCommand", params: inputParam, make: outNull},
		{name: "Out-String", class: "OutStringCommand", make: outString,
			params: `[Parameter()][switch]$Stream,[Parameter()][int]$Width,[Parameter()][switch]$NoNewline,` + inputParam},
		{name: "New-Object", class: "NewObjectCommand", make: once(newObject),
			params: `[Parameter(Mandatory,Position=0)][string]$TypeName,[Parameter(Position=1)][AllowNull()][Alias('Args')][object]$ArgumentList,[Parameter()][object]$Property`},
		{name: "Add-Member", class: "AddMemberCommand", set: "Note", make: addMember,
			params: `[Parameter(Mandatory,Position=0,ParameterSetName='Note')][string]$NotePropertyName,
				[Parameter(Mandatory,Position=1,ParameterSetName='Note')][AllowNull()][object]$NotePropertyValue,
				[Parameter(Mandatory,Position=0,ParameterSetName='Many')][object]$NotePropertyMembers,
				[Parameter(Mandatory,ParameterSetName='Member')][ValidateSet('NoteProperty')][string]$MemberType,
				[Parameter(Mandatory,ParameterSetName='Member')][string]$Name,
				[Parameter(ParameterSetName='Member')][AllowNull()][object]$Value,
				[Parameter()][switch]$Force,[Parameter()][switch]$PassThru,` + inputParam},
	}
}

// block is a bound script block parameter.
func (inv *invocation) block(name string) *blockCode {
	if b, ok := inv.get(name).(*ScriptBlock); ok {
		return b.code
	}
	return nil
}

func forEachObject(inv *invocation, out sink) (stage, error) {
	st := &inputStage{inv: inv}
	f := inv.bodyFrame()
	if inv.has("MemberName") {
		name := dotnet.ToText(inv.get("MemberName"))
		args := dotnet.EnumerateAny(inv.get("ArgumentList"))
		st.each = func(v any) error {
			result, err := f.memberOrMethod(v, name, args)
			if err != nil {
				return f.pipelineError(inv, err)
			}
			return emit(out, result)
		}
		return st, nil
	}
	run := func(name string) func() error {
		code := inv.block(name)
		if code == nil {
			return nil
		}
		return func() error { return f.inline(code, f.scope.dollarUnder(), out) }
	}
	st.start, st.done = run("Begin"), run("End")
	code := inv.block("Process")
	st.each = func(v any) error { return f.inline(code, v, out) }
	return st, nil
}

// bodyFrame is the caller's frame with the streams of the command: what its
// script blocks write goes where the command is redirected to.
func (inv *invocation) bodyFrame() *frame {
	if inv.streams == inv.f.streams {
		return inv.f
	}
	redirected := *inv.f
	redirected.streams = inv.streams
	return &redirected
}

// pipelineError makes an error for one input object a non-terminating one.
func (f *frame) pipelineError(inv *invocation, err error) error {
	pe := asPS(err)
	if pe == nil {
		return err
	}
	return inv.writeError(inv.qualify(pe.rec))
}

// memberOrMethod is what ForEach-Object NAME gives for one object.
func (f *frame) memberOrMethod(v any, name string, args []any) (any, error) {
	if isNull(v) {
		return nil, nil
	}
	member := dotnet.NewName(name)
	if len(args) == 0 {
		value, found, err := member.Get(v)
		if err != nil || found {
			return value, err
		}
	}
	if member.HasMethod(v) {
		return f.callMethod(v, member, args)
	}
	return f.getMember(v, member)
}

// comparisons are the switches of Where-Object and the operators they stand for.
var comparisons = []string{
	"EQ", "NE", "GT", "GE", "LT", "LE", "Like", "NotLike", "Match", "NotMatch", "Contains", "NotContains", "In", "NotIn",
	"CEQ", "CNE", "CGT", "CGE", "CLT", "CLE", "CLike", "CNotLike", "CMatch", "CNotMatch", "CContains", "CNotContains", "CIn", "CNotIn",
	"Is", "IsNot",
}

func whereSwitches() string {
	text := ""
	for _, name := range comparisons {
		text += "[Parameter(ParameterSetName='EqualSet')][switch]$" + name + ","
	}
	return text + "[Parameter(ParameterSetName='EqualSet')][switch]$Not,"
}

func whereObject(inv *invocation, out sink) (stage, error) {
	st := &inputStage{inv: inv}
	f := inv.bodyFrame()
	if code := inv.block("FilterScript"); code != nil {
		st.each = func(v any) error {
			keep, err := f.inlineValue(code, v)
			if err != nil {
				return err
			}
			if dotnet.Truthy(keep) {
				return out.write(v)
			}
			return nil
		}
		return st, nil
	}
	test, err := whereTest(inv)
	if err != nil {
		return nil, err
	}
	name := dotnet.NewName(dotnet.ToText(inv.get("Property")))
	st.each = func(v any) error {
		value, err := f.getMember(v, name)
		if err == nil {
			var keep bool
			if keep, err = test(plain(value)); err == nil {
				if keep {
					return out.write(v)
				}
				return nil
			}
		}
		return f.pipelineError(inv, err)
	}
	return st, nil
}

// whereTest is the comparison of Where-Object NAME -EQ VALUE.
func whereTest(inv *invocation) (func(v any) (bool, error), error) {
	want := inv.get("Value")
	for _, name := range comparisons {
		if !inv.flag(name) {
			continue
		}
		key := lower(name)
		switch key {
		case "match", "notmatch", "cmatch", "cnotmatch":
			exact, negate := key[0] == 'c', key == "notmatch" || key == "cnotmatch"
			return func(v any) (bool, error) {
				result, _, err := dotnet.Match(v, want, exact, negate)
				return dotnet.Truthy(result), err
			}, nil
		case "is", "isnot":
			t, ok := want.(*dotnet.Type)
			if !ok {
				if t = inv.f.s.lookupType(dotnet.ToText(want)); t == nil {
					return nil, typeNotFound(dotnet.ToText(want))
				}
			}
			return func(v any) (bool, error) { return dotnet.Is(v, t) == (key == "is"), nil }, nil
		}
		apply, ok := dotnet.Operator("-" + key)
		if !ok {
			break
		}
		return func(v any) (bool, error) {
			result, err := apply(v, want)
			return dotnet.Truthy(result), err
		}, nil
	}
	negate := inv.flag("Not")
	return func(v any) (bool, error) { return dotnet.Truthy(v) != negate, nil }, nil
}

func outNull(inv *invocation, _ sink) (stage, error) {
	return &inputStage{inv: inv, each: func(any) error { return nil }}, nil
}

func newObject(inv *invocation, out sink) error {
	f := inv.f
	name := dotnet.ToText(inv.get("TypeName"))
	t := f.s.lookupType(name)
	if t == nil {
		e := dotnet.NewException(exceptionType("System.Management.Automation.PSArgumentException"), "Cannot find type ["+name+"]: verify that the assembly containing this type is loaded.")
		return inv.terminating(inv.qualify(dotnet.NewError(e, "TypeNotFound", dotnet.InvalidType, nil)))
	}
	var args []any
	if v, ok := inv.boundValue("ArgumentList"); ok {
		args = dotnet.EnumerateAny(v)
		if v == nil {
			args = []any{nil}
		}
	}
	object, err := newValue(f, t, args)
	if err != nil {
		pe := asPS(err)
		if pe == nil {
			return err
		}
		return inv.terminating(inv.qualify(constructorError(pe.rec)))
	}
	if table, ok := inv.get("Property").(*dotnet.Hashtable); ok {
		for i := range table.Len() {
			key, value := table.At(i)
			if custom, ok := object.(*dotnet.PSObject); ok {
				custom.Props.Set(dotnet.ToText(key), value)
				continue
			}
			if err := dotnet.SetMember(object, dotnet.ToText(key), value); err != nil {
				return err
			}
		}
	}
	return out.write(object)
}

func newValue(f *frame, t *dotnet.Type, args []any) (any, error) {
	if t == dotnet.TPSObject && len(args) == 0 {
		return dotnet.NewPSObject(), nil
	}
	return dotnet.NewFor(f.s.Context, t, args)
}

// constructorError is how New-Object reports a constructor that failed.
func constructorError(rec *dotnet.ErrorRecord) *dotnet.ErrorRecord {
	copied := *rec
	copied.ErrorID = "ConstructorInvokedThrowException"
	copied.Category = dotnet.InvalidOperation
	return &copied
}

func addMember(inv *invocation, out sink) (stage, error) {
	st := &inputStage{inv: inv}
	st.each = func(v any) error {
		if isNull(v) {
			return nil
		}
		add := func(name string, value any) error { return inv.f.addNote(inv, v, name, value, inv.flag("Force")) }
		var err error
		switch {
		case inv.has("NotePropertyName"):
			err = add(dotnet.ToText(inv.get("NotePropertyName")), inv.get("NotePropertyValue"))
		case inv.has("Name"):
			err = add(dotnet.ToText(inv.get("Name")), inv.get("Value"))
		default:
			table, ok := inv.get("NotePropertyMembers").(*dotnet.Hashtable)
			for i := 0; ok && i < table.Len() && err == nil; i++ {
				key, value := table.At(i)
				err = add(dotnet.ToText(key), value)
			}
		}
		if err != nil {
			return err
		}
		if inv.flag("PassThru") {
			return out.write(v)
		}
		return nil
	}
	return st, nil
}

// addNote adds a note property to an object that can carry one.
func (f *frame) addNote(inv *invocation, v any, name string, value any, force bool) error {
	if err := f.charge(160); err != nil {
		return err
	}
	var props *dotnet.Props
	switch o := v.(type) {
	case *dotnet.PSObject:
		props = &o.Props
	case *dotnet.Instance:
		props = &o.Props
	case *dotnet.Exception:
		props = &o.Props
	default:
		e := dotnet.NewException(exceptionType("System.NotSupportedException"), "Add-Member is supported for custom objects only.")
		return inv.writeError(inv.qualify(dotnet.NewError(e, "NotSupported", dotnet.NotImplemented, v)))
	}
	if _, taken := props.Get(name); taken && !force {
		e := dotnet.NewException(exceptionType("System.InvalidOperationException"), "Cannot add a member with the name \""+name+
			"\" because a member with that name already exists. To overwrite the member anyway, add the Force parameter to your command.")
		return inv.writeError(inv.qualify(dotnet.NewError(e, "MemberAlreadyExists", dotnet.InvalidOperation, v)))
	}
	props.Set(name, value)
	return nil
}
