package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// enumValues are the names that an enumeration parameter accepts.
type enumValues struct {
	typeName string
	names    []string
	codes    []int64
}

var actionEnum = &enumValues{typeName: "System.Management.Automation.ActionPreference",
	names: []string{"SilentlyContinue", "Stop", "Continue", "Inquire", "Ignore", "Suspend", "Break"},
	codes: []int64{0, 1, 2, 3, 4, 5, 6}}

// pick finds a value by its name, an unambiguous prefix or its number.
func (e *enumValues) pick(v any) (string, bool) {
	text := strings.TrimSpace(dotnet.ToText(v))
	var found string
	for i, name := range e.names {
		if strings.EqualFold(name, text) {
			return name, true
		}
		if i < len(e.codes) && text == dotnet.ToText(e.codes[i]) {
			return name, true
		}
	}
	for _, name := range e.names {
		if text != "" && strings.HasPrefix(lower(name), lower(text)) {
			if found != "" {
				return "", false
			}
			found = name
		}
	}
	return found, found != ""
}

// bindParam converts, validates and stores the value of a parameter. Without coerce it
// accepts only a value that needs no conversion. ok reports whether the value was bound.
func (inv *invocation) bindParam(p *param, arg *argument, coerce bool) (ok bool, err error) {
	v := plain(arg.value)
	at := arg.at
	if arg.valueAt != nil {
		at = arg.valueAt
	}
	if p.refused {
		return false, fail(dotnet.Refuse("the parameter -%s", p.name), arg.at)
	}
	if _, isBlock := v.(*ScriptBlock); isBlock && !p.takesBlocks() {
		return false, fail(dotnet.Refuse("a script block for the parameter -%s", p.name), at)
	}
	if !coerce {
		if v, ok = inv.fits(p, v); !ok {
			return false, nil
		}
	} else if v, err = inv.coerce(p, v, at); err != nil {
		return false, err
	}
	if err := inv.checkNull(p, v, at); err != nil {
		return false, err
	}
	if e := p.set.check(v); e != nil {
		return false, inv.bindingError("ParameterBindingValidationException", "ParameterArgumentValidationError",
			dotnet.InvalidData, at,
			e, "Cannot validate argument on parameter '"+p.name+"'. "+e.Message, nil)
	}
	inv.store(p, v)
	return true, nil
}

// takesBlocks reports whether a script block can be the parameter's value.
func (p *param) takesBlocks() bool {
	return p.typ == dotnet.TScriptBlock || p.typ == dotnet.TObject || p.typ == nil && p.ref == nil &&
		p.enum == nil
}

func (inv *invocation) store(p *param, v any) {
	if p.index >= len(inv.values) {
		inv.values = append(make([]any, 0, len(inv.sig.params)), inv.values...)[:len(inv.sig.params)]
	}
	inv.values[p.index] = v
	inv.bound.add(p.index)
	if p.flags != 0 {
		inv.flags &= p.flags
	}
	inv.commons = inv.commons || p.common
}

// resolve returns the parameter's type; nil means any.
func (inv *invocation) resolve(p *param) (*dotnet.Type, error) {
	if p.typ != nil || p.ref == nil {
		return p.typ, nil
	}
	return p.ref(inv.f)
}

// fits reports whether a value has the parameter's type without conversion.
func (inv *invocation) fits(p *param, v any) (any, bool) {
	t, err := inv.resolve(p)
	if err != nil || p.enum != nil {
		return nil, false
	}
	switch {
	case t == nil || t == dotnet.TObject:
		return v, true
	case v == nil:
		return nil, t.Kind != dotnet.KindStruct && t.Kind != dotnet.KindEnum && t != dotnet.TString
	case dotnet.Is(v, t):
		return v, true
	case t.Kind == dotnet.KindArray && t.Elem != nil:
		if _, many := dotnet.Enumerate(v); !many && dotnet.Is(v, t.Elem) {
			converted, ok := dotnet.TryConvert(v, t)
			return converted, ok
		}
	}
	return nil, false
}

// coerce converts a value to the parameter's type.
func (inv *invocation) coerce(p *param, v any, at *place) (any, error) {
	if p.enum != nil {
		return inv.coerceEnum(p, v, at)
	}
	t, err := inv.resolve(p)
	if err != nil {
		return nil, err
	}
	if v == nil && !inv.sig.function && t != dotnet.TSwitch {
		return nil, nil // cmdlets receive null unconverted
	}
	switch t {
	case nil, dotnet.TObject:
		return v, nil
	case dotnet.TString:
		if _, ok := v.(string); ok {
			return v, nil
		}
		switch v.(type) {
		case *dotnet.Array, *dotnet.Bytes:
			if inv.sig.advanced {
				return nil, inv.transformError(p, at, nil, "Cannot convert value to type System.String.")
			}
		case *dotnet.List:
			return nil, fail(dotnet.Refuse("a list for the parameter -%s", p.name), at)
		}
	case dotnet.TSecureString:
		if _, clear := v.(string); clear {
			text := "Cannot convert the value of type \"System.String\" to type \"System.Security.SecureString\"."
			return nil, inv.transformError(p, at, nil, text)
		}
	case dotnet.TBool, dotnet.TSwitch:
		if v, done, err := inv.coerceBool(p, t, v, at); done {
			return v, err
		}
	case dotnet.TScriptBlock:
		if _, ok := v.(*ScriptBlock); ok {
			return v, nil
		}
	}
	if t.Kind == dotnet.KindNullable {
		if v == nil {
			return nil, nil
		}
		if t.Elem == dotnet.TBool {
			if v, done, err := inv.coerceBool(p, t, v, at); done {
				return v, err
			}
		}
	}
	converted, err := inv.f.convert(v, t)
	if err == nil {
		return converted, nil
	}
	pe := asPS(err)
	if pe == nil {
		return nil, err
	}
	return nil, inv.transformError(p, at, pe.rec.Exception, pe.rec.Exception.Message)
}

// coerceBool converts the values that a bool or switch parameter accepts. It does not accept strings.
func (inv *invocation) coerceBool(p *param, t *dotnet.Type, v any, at *place) (any, bool, error) {
	switch x := v.(type) {
	case bool:
		return x, true, nil
	case int32, int64:
		if t == dotnet.TSwitch {
			return nil, true, fail(dotnet.Refuse("a number for the switch -%s", p.name), at)
		}
		return dotnet.Truthy(x), true, nil
	case nil:
		if t == dotnet.TSwitch {
			return false, true, nil
		}
		text := "Cannot convert value \"\" to type \"" + t.Name +
			"\". Boolean parameters accept only Boolean values and numbers, such as $True, $False, 1 or 0."
		return nil, true, inv.transformError(p, at, nil, text)
	}
	if dotnet.TypeOf(v) == dotnet.TSwitch {
		return dotnet.Truthy(v), true, nil
	}
	typ := dotnet.TypeOf(v)
	if typ != dotnet.TString {
		return nil, true, fail(dotnet.Refuse("[%s] for the parameter -%s", typ.Display(), p.name), at)
	}
	text := "Cannot convert value \"" + typ.Name + "\" to type \"" + t.Name +
		"\". Boolean parameters accept only Boolean values and numbers, such as $True, $False, 1 or 0."
	return nil, true, inv.transformError(p, at, nil, text)
}

// transformError returns the error for a value that cannot be converted: a transformation
// error for functions, a failed conversion for cmdlets.
func (inv *invocation) transformError(p *param, at *place, inner *dotnet.Exception, why string) error {
	if !inv.sig.function {
		return inv.bindingError("ParameterBindingException", "CannotConvertArgumentNoMessage",
			dotnet.InvalidArgument, at, inner,
			"Cannot bind parameter '"+p.name+"'. "+why, nil)
	}
	meta := dotnet.NewException(exceptionType(
		"System.Management.Automation.ArgumentTransformationMetadataException"), why)
	meta.Inner = inner
	return inv.bindingError("ParameterBindingArgumentTransformationException",
		"ParameterArgumentTransformationError", dotnet.InvalidData, at, meta,
		"Cannot process argument transformation on parameter '"+p.name+"'. "+why, nil)
}

func (inv *invocation) coerceEnum(p *param, v any, at *place) (any, error) {
	if isNull(v) && !p.common && !inv.sig.function {
		return nil, nil
	}
	if isNull(v) && !p.common {
		return nil, inv.transformError(p, at, nil,
			"Cannot convert null to type \""+p.enum.typeName+
				"\" due to enumeration values that are not valid. Specify one of the following enumeration values and "+
				"try again. The possible enumeration values are \""+strings.Join(p.enum.names, ",")+"\".")
	}
	if t, err := inv.resolve(p); err == nil && t != nil && t.Kind == dotnet.KindArray {
		items := dotnet.EnumerateAny(v)
		names := make([]any, len(items))
		for i, item := range items {
			name, ok := p.enum.pick(item)
			if !ok {
				return nil, inv.enumError(p, item, at)
			}
			names[i] = name
		}
		return dotnet.NewArray(names...), nil
	}
	name, ok := p.enum.pick(v)
	if !ok {
		return nil, inv.enumError(p, v, at)
	}
	return name, nil
}

func (inv *invocation) enumError(p *param, v any, at *place) error {
	why := "Cannot convert value \"" + dotnet.ToText(v) + "\" to type \"" + p.enum.typeName +
		"\". Error: \"Unable to match the identifier name " + dotnet.ToText(v) +
		" to a valid enumerator name. Specify one of the following enumerator names and try again:" + "\r\n" +
		strings.Join(p.enum.names, ", ") + "\""
	return inv.bindingError("ParameterBindingException", "CannotConvertArgumentNoMessage",
		dotnet.InvalidArgument, at, nil,
		"Cannot bind parameter '"+p.name+"'. "+why, nil)
}

// checkNull rejects null and empty values of mandatory parameters.
func (inv *invocation) checkNull(p *param, v any, at *place) error {
	if !p.mandatory {
		return nil
	}
	refuse := func(id, what string) error {
		return inv.bindingError("ParameterBindingValidationException", id, dotnet.InvalidData, at, nil,
			"Cannot bind argument to parameter '"+p.name+"' because it is "+what+".", nil)
	}
	t, err := inv.resolve(p)
	if err != nil {
		return err
	}
	switch x := v.(type) {
	case nil:
		if !p.allowNull {
			return refuse("ParameterArgumentValidationErrorNullNotAllowed", "null")
		}
		return nil
	case string:
		if x == "" && t == dotnet.TString && !p.allowEmpty {
			return refuse("ParameterArgumentValidationErrorEmptyStringNotAllowed", "an empty string")
		}
		return nil
	case bool, int32, int64, *dotnet.Hashtable, *dotnet.PSObject:
		return nil
	}
	items, ok := dotnet.Enumerate(v)
	if !ok || t == nil || t.Kind != dotnet.KindArray {
		return nil
	}
	if len(items) == 0 && !p.allowNone {
		return refuse("ParameterArgumentValidationErrorEmptyArrayNotAllowed", "an empty array")
	}
	if _, raw := v.(*dotnet.Bytes); raw {
		return nil
	}
	for _, item := range items {
		if isNull(item) && !p.allowNull {
			return refuse("ParameterArgumentValidationErrorNullNotAllowed", "null")
		}
		if item == "" && t.Elem == dotnet.TString && !p.allowEmpty {
			return refuse("ParameterArgumentValidationErrorEmptyStringNotAllowed", "an empty string")
		}
	}
	return nil
}
