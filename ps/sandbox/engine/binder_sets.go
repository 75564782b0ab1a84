package engine

import (
	"math/bits"
	"slices"
	"strings"
)

func setCount(flags uint64) int {
	if flags == allSets {
		return 1
	}
	return bits.OnesCount64(flags)
}

func (inv *invocation) ambiguousSet() error {
	return inv.cannotBind("AmbiguousParameterSet", nil,
		"Parameter set cannot be resolved using the specified named parameters. One or more parameters issued "+
			"cannot be used together or an insufficient number of parameters were provided.")
}

// resolveByMandatory chooses the only set without a missing mandatory parameter.
func (inv *invocation) resolveByMandatory() error {
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
		return inv.ambiguousSet()
	}
	inv.flags = left
	return nil
}

// chooseSet chooses the parameter set and reports its missing mandatory parameters.
func (inv *invocation) chooseSet() error {
	sig := inv.sig
	switch {
	case len(sig.sets) == 0 || setCount(inv.flags) == 1 && inv.flags != allSets:
	case sig.defaultSet != 0 && inv.flags&sig.defaultSet != 0:
		inv.flags = sig.defaultSet
	default:
		if err := inv.resolveByMandatory(); err != nil {
			return err
		}
	}
	var missing []*param
	for _, p := range sig.mandatory {
		if !inv.bound.has(p.index) &&
			slices.ContainsFunc(p.sets, func(s inSet) bool { return s.of(inv.flags) && s.mandatory }) {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		return inv.missingError(missing)
	}
	return nil
}

func (inv *invocation) missingError(missing []*param) error {
	names := make([]string, len(missing))
	for i, p := range missing {
		names[i] = p.name
	}
	return inv.cannotBind("MissingMandatoryParameter", nil,
		"Cannot process command because of one or more missing mandatory parameters: "+strings.Join(names, " ")+".")
}

// atPosition contains the unbound parameters of one position.
type atPosition struct {
	position int
	params   []*param
}

// bindPositional binds arguments without a name by position. late is the conversion error of
// an argument that remains unbound.
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

// bindAt binds one positional argument. It tries the default set first, and binding without conversion first.
func (inv *invocation) bindAt(
	params []*param, position int, valid uint64, arg *argument,
) (bound bool, late, err error) {
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

// isTransformation reports whether binding failed for a reason other than validation.
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

// positions returns the unbound positional parameters by position.
func (inv *invocation) positions() []atPosition {
	var out []atPosition
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) {
			continue
		}
		for _, s := range p.sets {
			if !s.of(inv.flags) || s.position == noPosition {
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
