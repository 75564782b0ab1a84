package engine

import (
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// lineState is what the command line bound: each object of the pipeline binds on top of it.
type lineState struct {
	values []any
	bound  indexSet
	flags  uint64
}

// process binds an object of the pipeline and runs the block for it. What does not bind is
// an error that lets the next object follow.
func (st *blockStage) process(v any) error {
	inv := st.inv
	if err := inv.f.step(inv.at); err != nil {
		return err
	}
	inv.values, inv.bound, inv.flags = slices.Clone(st.line.values), st.line.bound.clone(), st.line.flags
	st.bound = nil
	if err := inv.bindInput(v); err != nil {
		pe := asPS(err)
		if pe == nil {
			return err
		}
		pe.rec.Target = v
		return inv.writeError(pe.rec)
	}
	if err := st.setParams(); err != nil {
		return err
	}
	sc := st.frame.scope
	old, had := sc.setUnder(v)
	err := st.run(st.code.body)
	sc.restoreUnder(old, had)
	return err
}

// bindInput binds an object of the pipeline: whole without conversion, its properties
// without conversion, and both again with conversion, first in the default parameter set.
func (inv *invocation) bindInput(v any) error {
	any := false
	for _, how := range []struct{ name, coerce bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		bound, err := inv.bindInputHow(v, how.name, how.coerce)
		if err != nil {
			return err
		}
		any = any || bound
	}
	if !any {
		return inv.cannotBind("InputObjectNotBound", nil, "The input object cannot be bound to any parameters for the command either because "+
			"the command does not take pipeline input or the input and its properties do not match any of the parameters that take pipeline input.")
	}
	if inv.flags == 0 {
		return inv.ambiguousSet()
	}
	err := inv.chooseSet()
	if pe := asPS(err); pe != nil && strings.HasPrefix(pe.rec.ErrorID, "MissingMandatoryParameter") {
		_, names, _ := strings.Cut(strings.TrimSuffix(pe.rec.Exception.Message, "."), "parameters: ")
		return inv.cannotBind("InputObjectMissingMandatory", nil,
			"The input object cannot be bound because it did not contain the information required to bind all mandatory parameters:  "+names)
	}
	return err
}

// bindInputHow tries one way of binding: the default set first, if it is still possible,
// and the other sets if nothing was bound there.
func (inv *invocation) bindInputHow(v any, byName, coerce bool) (bound bool, err error) {
	valid, def := inv.flags, inv.sig.defaultSet
	if def != 0 && valid&def != 0 {
		if bound, err = inv.bindInputIn(v, byName, coerce, def); bound || err != nil {
			return bound, err
		}
		valid &^= def
	}
	return inv.bindInputIn(v, byName, coerce, valid)
}

func (inv *invocation) bindInputIn(v any, byName, coerce bool, flags uint64) (any bool, err error) {
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) || !p.takesInput(byName, flags) {
			continue
		}
		value := v
		if byName {
			found := false
			if value, found, err = inv.property(v, p); err != nil || !found {
				if err != nil {
					return any, err
				}
				continue
			}
		}
		ok, err := inv.bindParam(p, &argument{value: value, at: inv.at}, coerce)
		if err != nil {
			return any, err
		}
		any = any || ok
	}
	return any, nil
}

// takesInput reports whether a parameter takes objects of a pipeline, or their properties,
// in one of the sets.
func (p *param) takesInput(byName bool, flags uint64) bool {
	for _, s := range p.sets {
		if s.of(flags) && (byName && s.byName || !byName && s.byValue) {
			return true
		}
	}
	return false
}

// property returns the property of an object that has the name of a parameter, or one of
// its aliases.
func (inv *invocation) property(v any, p *param) (value any, found bool, err error) {
	switch v.(type) {
	case *dotnet.PSObject, *dotnet.Instance:
	case string, bool, int32, int64, dotnet.DateTime, dotnet.Guid:
		return nil, false, nil // a property of these, such as Length, names no parameter here
	default:
		return nil, false, dotnet.Refuse("properties of [%s] as parameters", dotnet.TypeOf(v).Display())
	}
	for _, name := range append([]string{p.name}, p.aliases...) {
		for _, info := range dotnet.Properties(v) {
			if dotnet.EqualFold(info.Name, name) {
				return info.Value(), true, nil
			}
		}
	}
	return nil, false, nil
}
