package engine

import (
	"math/bits"
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func setCount(flags uint64) int {
	if flags == allSets {
		return 1
	}
	return bits.OnesCount64(flags)
}

func (inv *invocation) ambiguousSet() error {
	return inv.cannotBind("AmbiguousParameterSet", nil, "Parameter set cannot be resolved using the specified named parameters. One or more parameters issued cannot be used together or an insufficient number of parameters were provided.")
}

// validateSets narrows the possible sets. before tells that pipeline input may
// still decide, choose that the default set may be taken now.
func (inv *invocation) validateSets(before, choose bool) (int, error) {
	sig := inv.sig
	count := setCount(inv.flags)
	switch {
	case count == 0:
		return 0, inv.ambiguousSet()
	case count > 1:
		if sig.defaultSet != 0 && inv.flags&sig.defaultSet != 0 {
			if choose {
				inv.flags = sig.defaultSet
				return 1, nil
			}
			return count, nil
		}
		if before && inv.pipelineCouldDecide() {
			return count, nil
		}
		return inv.resolveByMandatory()
	}
	if inv.flags != allSets {
		return count, nil
	}
	count = max(len(sig.sets), 1)
	switch {
	case before && inv.pipelineCouldDecide():
	case sig.defaultSet != 0:
		if choose {
			inv.flags = sig.defaultSet
			count = 1
		}
	case count > 1:
		return inv.resolveByMandatory()
	}
	return count, nil
}

// pipelineCouldDecide tells whether an unbound parameter of a possible set takes
// pipeline input.
func (inv *invocation) pipelineCouldDecide() bool {
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) {
			continue
		}
		for _, s := range p.sets {
			if s.of(inv.flags) && (s.byValue || s.byName) {
				return true
			}
		}
	}
	return false
}

// resolveByMandatory takes the one set of which no mandatory parameter is missing.
func (inv *invocation) resolveByMandatory() (int, error) {
	var all uint64
	for _, p := range inv.sig.params {
		all |= p.flags
	}
	left := inv.flags & all
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) {
			continue
		}
		for _, s := range p.sets {
			if s.mandatory {
				left &^= s.flag
			}
		}
	}
	if setCount(left) != 1 || left == 0 {
		return 0, inv.ambiguousSet()
	}
	inv.flags = left
	return 1, nil
}

// chooseSet settles the set and the mandatory parameters, as far as what is
// written decides.
func (inv *invocation) chooseSet() error {
	count, err := inv.validateSets(inv.hasPipe, !inv.hasPipe)
	if err != nil {
		return err
	}
	if count > 1 && inv.hasPipe {
		if narrowed := inv.setsWithPipeline(); narrowed != inv.flags {
			inv.flags = narrowed
			if count, err = inv.validateSets(true, false); err != nil {
				return err
			}
		}
	}
	missing, err := inv.missingMandatory(count, inv.hasPipe)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return inv.missingError(missing)
	}
	if !inv.hasPipe && len(inv.sig.sets) > 1 && inv.flags == allSets {
		if inv.sig.defaultSet == 0 {
			return inv.ambiguousSet()
		}
		inv.flags = inv.sig.defaultSet
	}
	return nil
}

func (inv *invocation) missingError(missing []*param) error {
	names := make([]string, len(missing))
	for i, p := range missing {
		names[i] = p.name
	}
	return inv.cannotBind("MissingMandatoryParameter", nil, "Cannot process command because of one or more missing mandatory parameters: "+strings.Join(names, " ")+".")
}

// setsWithPipeline drops the sets that can no longer take pipeline input.
func (inv *invocation) setsWithPipeline() uint64 {
	var found uint64
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) && inv.delayed[p] == nil {
			continue
		}
		for _, s := range p.sets {
			if !s.byValue && !s.byName {
				continue
			}
			if s.flag == 0 {
				return inv.flags
			}
			found |= s.flag
		}
	}
	if found == 0 || inv.flags&found == 0 {
		return inv.flags
	}
	return inv.flags & found
}

// missingInSet are the mandatory parameters of one set that are not bound.
type missingInSet struct {
	flag      uint64 // 0: of all sets
	pipeline  []*param
	writtenBy []*param // can only be written
}

// missingMandatory lists what must have been written and is not.
func (inv *invocation) missingMandatory(count int, pipe bool) ([]*param, error) {
	var missing []*param
	var sets []*missingInSet
	var wanted uint64
	inAll := false
	for _, p := range inv.sig.mandatory {
		if inv.bound.has(p.index) {
			continue
		}
		found := false
		for _, s := range p.sets {
			if !s.of(inv.flags) || !s.mandatory {
				continue
			}
			found = true
			if s.flag == 0 {
				inAll = true
			}
			wanted |= inv.flags & s.flag
			sets = noteMissing(sets, s, p, pipe)
		}
		if found && !pipe {
			missing = append(missing, p)
		}
	}
	if !pipe || len(sets) == 0 {
		return missing, nil
	}
	return inv.missingBeforePipe(count, sets, wanted, inAll)
}

func noteMissing(sets []*missingInSet, s inSet, p *param, pipe bool) []*missingInSet {
	i := slices.IndexFunc(sets, func(m *missingInSet) bool { return m.flag == s.flag })
	if i < 0 {
		i = len(sets)
		sets = append(sets, &missingInSet{flag: s.flag})
	}
	if pipe && (s.byValue || s.byName) {
		sets[i].pipeline = append(sets[i].pipeline, p)
	} else {
		sets[i].writtenBy = append(sets[i].writtenBy, p)
	}
	return sets
}

// missingBeforePipe is missingMandatory when pipeline input will follow: what it
// can give is not missing yet.
func (inv *invocation) missingBeforePipe(count int, sets []*missingInSet, wanted uint64, inAll bool) ([]*param, error) {
	def := inv.sig.defaultSet
	if wanted == 0 || inAll {
		wanted = inv.flags
		if all := inv.allSetFlags(); all != 0 {
			wanted = inv.flags & all
		}
	}
	if count > 1 && def != 0 && def&wanted == 0 && def&inv.flags != 0 && !othersTakePipeline(sets, def) {
		inv.flags &^= wanted
		wanted = inv.flags
	}
	if setCount(wanted) > 1 {
		if def != 0 && wanted&def != 0 && !othersTakePipeline(sets, def) {
			wanted, inv.flags = def, def
		} else {
			var possible uint64
			for i := range inv.sig.sets {
				flag := uint64(1) << i
				if wanted&flag != 0 && !slices.ContainsFunc(sets, func(m *missingInSet) bool { return m.flag == flag && len(m.writtenBy) > 0 }) {
					possible |= flag
				}
			}
			if possible == 0 {
				return nil, inv.ambiguousSet()
			}
			inv.flags &= possible
			wanted = possible
		}
	}
	var missing []*param
	for _, m := range sets {
		if m.flag != 0 && m.flag&wanted == 0 {
			continue
		}
		if m.flag != 0 && setCount(wanted) > 1 {
			continue
		}
		missing = append(missing, m.writtenBy...)
	}
	return missing, nil
}

func (inv *invocation) allSetFlags() uint64 {
	if n := len(inv.sig.sets); n > 0 {
		return 1<<n - 1
	}
	return 0
}

func othersTakePipeline(sets []*missingInSet, def uint64) bool {
	for _, m := range sets {
		if m.flag != 0 && m.flag&def == 0 && len(m.pipeline) > 0 && len(m.writtenBy) == 0 {
			return true
		}
	}
	return false
}

// atPosition are the unbound parameters of one position.
type atPosition struct {
	position int
	params   []*param
}

// bindPositional binds arguments without a name by position. late is the error
// of one that no parameter could take.
func (inv *invocation) bindPositional() (late error, err error) {
	if len(inv.args) == 0 {
		return nil, nil
	}
	positions := inv.positions()
	if len(positions) == 0 {
		return nil, nil
	}
	var left []argument
	next := 0
	valid := inv.flags
	for _, at := range positions {
		params := at.params[:0:0]
		for _, p := range at.params {
			if p.positionIn(valid, at.position) {
				params = append(params, p)
			}
		}
		if len(params) == 0 {
			continue
		}
		var arg *argument
		for next < len(inv.args) && arg == nil {
			a := &inv.args[next]
			next++
			if !a.hasName {
				arg = a
				break
			}
			left = append(left, *a)
			if next < len(inv.args) && !inv.args[next].hasName && !a.hasValue {
				left = append(left, inv.args[next])
				next++
			}
		}
		if arg == nil {
			break
		}
		bound, why, err := inv.bindAt(params, at.position, valid, arg)
		if err != nil {
			return nil, err
		}
		if !bound {
			late = why
			left = append(left, *arg)
			continue
		}
		valid = inv.flags
	}
	inv.args = append(left, inv.args[next:]...)
	return late, nil
}

// bindAt tries the default set first, and values of the right type first.
func (inv *invocation) bindAt(params []*param, position int, valid uint64, arg *argument) (bound bool, late, err error) {
	def := inv.sig.defaultSet
	for _, coerce := range []bool{false, true} {
		for _, flags := range []uint64{def, valid} {
			if flags == 0 || flags == def && valid&def == 0 {
				continue
			}
			for _, p := range params {
				if !p.positionIn(flags, position) {
					continue
				}
				ok, err := inv.bindParam(p, arg, coerce)
				if err != nil {
					if !isTransformation(err) {
						return false, nil, err
					}
					late = err
					continue
				}
				bound = bound || ok
			}
			if bound {
				return true, nil, nil
			}
		}
	}
	return false, late, nil
}

// isTransformation tells an argument that did not convert from one that is invalid.
func isTransformation(err error) bool {
	pe := asPS(err)
	return pe != nil && pe.rec.Exception.Type.Name != "System.Management.Automation.ParameterBindingValidationException"
}

func (p *param) positionIn(flags uint64, position int) bool {
	for _, s := range p.sets {
		if s.position == position && (s.flag == 0 || s.flag&flags != 0) {
			return true
		}
	}
	return false
}

// positions lists the unbound positional parameters by position.
func (inv *invocation) positions() []atPosition {
	var out []atPosition
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) {
			continue
		}
		for _, s := range p.sets {
			if !s.of(inv.flags) || s.position == noPosition || s.remaining {
				continue
			}
			i := slices.IndexFunc(out, func(a atPosition) bool { return a.position == s.position })
			if i < 0 {
				i = len(out)
				out = append(out, atPosition{position: s.position})
			}
			if !slices.Contains(out[i].params, p) {
				out[i].params = append(out[i].params, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b atPosition) int { return a.position - b.position })
	return out
}

// bindPipeline binds one object of the pipeline: by value first, then by
// property name, each without conversion first.
func (inv *invocation) bindPipeline(v any) error {
	inv.bound = inv.prePipe.clone()
	inv.flags = inv.pre
	bound := false
	for p, block := range inv.delayed {
		value, err := inv.f.inlineValue(block.code, v)
		if err != nil {
			return err
		}
		if _, err := inv.bindParam(p, &argument{value: value, hasValue: true, at: inv.at}, true); err != nil {
			return err
		}
		bound = true
	}
	var late error
	for _, coerce := range []bool{false, true} {
		for _, byName := range []bool{false, true} {
			ok, err := inv.bindFromObject(v, byName, coerce)
			if err != nil {
				if !isTransformation(err) {
					return err
				}
				late = err
			}
			bound = bound || ok
		}
	}
	if !bound {
		if late != nil {
			return late
		}
		return inv.bindingError("ParameterBindingException", "InputObjectNotBound", dotnet.InvalidArgument, nil, nil,
			"The input object cannot be bound to any parameters for the command either because the command does not take pipeline input or the input and its properties do not match any of the parameters that take pipeline input.", v)
	}
	if _, err := inv.validateSets(false, true); err != nil {
		return err
	}
	missing, err := inv.missingMandatory(1, false)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return inv.bindingError("ParameterBindingException", "InputObjectMissingMandatory", dotnet.InvalidArgument, nil, nil,
			"The input object cannot be bound because it did not contain the information required to bind all mandatory parameters: "+missing[0].name, v)
	}
	return nil
}

func (inv *invocation) bindFromObject(v any, byName, coerce bool) (bool, error) {
	bound := false
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) {
			continue
		}
		takes := false
		for _, s := range p.sets {
			takes = takes || s.of(inv.flags) && (byName && s.byName || !byName && s.byValue)
		}
		if !takes {
			continue
		}
		value := v
		if byName {
			found := false
			if value, found = propertyFor(p, v); !found {
				continue
			}
		}
		ok, err := inv.bindParam(p, &argument{value: value, hasValue: true, at: inv.at}, coerce)
		if err != nil {
			return bound, err
		}
		bound = bound || ok
	}
	return bound, nil
}

func propertyFor(p *param, v any) (any, bool) {
	if _, table := v.(*dotnet.Hashtable); table || isNull(v) {
		return nil, false
	}
	for _, name := range append([]string{p.name}, p.aliases...) {
		if value, found, err := dotnet.GetMember(v, name); err == nil && found {
			return value, true
		}
	}
	return nil, false
}
