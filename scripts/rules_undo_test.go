package scripts

import (
	"slices"
	"strings"

	"adgateway/ps/syntax"
)

// undoSound: an undo runs after its script has ended and sees none of the script's variables. It is a script
// block whose parameters are the keys of -Arguments in the same function. It reads only these parameters, its
// own variables, and the variables of the preludes.
func undoSound(l *library, t *text) []error {
	var faults []error
	all := scopes(t)
	for _, c := range t.calls {
		if !strings.EqualFold(c.name, "Complete-GatewayStep") {
			continue
		}
		s := all[slices.IndexFunc(all, func(s *scope) bool { return strings.EqualFold(s.function, c.function) })]
		for _, way := range c.ways {
			undo, has := arg(way, "Undo")
			if !has || isVariable(undo.value, "null") {
				continue
			}
			block, ok := s.latest(undo.value).(*syntax.ScriptBlockExpr)
			if !ok {
				faults = append(faults, placed(t, c.at, "-Undo is not a script block of the same function"))
				continue
			}
			given, known := s.undoArguments(way)
			if !known {
				faults = append(faults, placed(t, c.at, "-Arguments is not a hashtable literal of the same function"))
				continue
			}
			for _, fault := range undoFaults(l, block.Block, given) {
				faults = append(faults, placed(t, c.at, "%s", fault))
			}
		}
	}
	return once(faults)
}

// undoArguments returns the keys in a step's -Arguments.
func (s *scope) undoArguments(way []argument) ([]string, bool) {
	arguments, has := arg(way, "Arguments")
	if !has {
		return nil, true
	}
	hash := hashOf(s.latest(arguments.value))
	if hash == nil {
		return nil, false
	}
	var keys []string
	for _, entry := range hash.Entries {
		key, _ := literal(entry.Key)
		keys = append(keys, strings.ToLower(key))
	}
	return keys, true
}

// latest resolves a variable to its last assignment that precedes the use in the text.
func (s *scope) latest(value syntax.Node) syntax.Node {
	v, ok := soleOf(value).(*syntax.Variable)
	if !ok {
		return soleOf(value)
	}
	var found syntax.Node
	for _, assigned := range s.values[strings.ToLower(v.Name)] {
		if assigned.Extent().From.Offset < v.From.Offset {
			found = soleOf(assigned)
		}
	}
	return found
}

// setByPowerShell are variables that need not be assigned.
var setByPowerShell = []string{"true", "false", "null", "_"}

func undoFaults(l *library, block *syntax.ScriptBlock, given []string) []string {
	inside := newScope("", block)
	var faults []string
	if block.Param == nil {
		return []string{"the undo has no param block"}
	}
	for name := range inside.params {
		if !slices.Contains(given, name) {
			faults = append(faults, "the undo's parameter "+name+" is not among -Arguments")
		}
	}
	for _, key := range given {
		if inside.params[key] == nil {
			faults = append(faults, "the undo has no parameter "+key)
		}
	}
	constants := preludeConstants(l)
	inside.walk(func(n syntax.Node) {
		v, ok := n.(*syntax.Variable)
		if !ok {
			return
		}
		name := strings.ToLower(v.Name)
		known := inside.params[name] != nil || inside.assigned(name) || constants[name] != nil ||
			slices.Contains(setByPowerShell, name)
		if fault := "the undo reads $" + v.Name + ", which it does not have"; !known &&
			!slices.Contains(faults, fault) {
			faults = append(faults, fault)
		}
	})
	slices.Sort(faults)
	return faults
}
