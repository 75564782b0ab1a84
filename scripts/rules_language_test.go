package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adgateway/ps/syntax"
)

// inLanguage: scripts use only features of Windows PowerShell 5.1 and .NET Framework 4.5.2, the oldest
// versions that run them. The parser refuses later syntax. The file testdata/framework.txt lists the allowed
// types, static members and methods with their numbers of arguments. Later overloads with the same number of
// arguments are recognized if they are visible in the text.
func inLanguage(_ *library, t *text) []error {
	known := framework()
	var faults []error
	fault := func(at syntax.Node, format string, args ...any) {
		faults = append(faults, placed(t, at, format, args...))
	}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Variable:
			if slices.Contains(laterVariables, strings.ToLower(n.Name)) {
				fault(n, "$%s is not set by Windows PowerShell (facts-5.1 I73)", n.Name)
			}
		case *syntax.TypeName:
			if !known["["+bareName(n)+"]"] {
				fault(n, "the type [%s] is not in testdata/framework.txt: enter it once it is known that .NET "+
					"Framework 4.5.2 has it", n)
			}
		case *syntax.Attribute:
			for _, named := range n.Named {
				if !strings.EqualFold(n.Type.Name, "Parameter") || !strings.EqualFold(named.Name, "Mandatory") {
					fault(n, "the argument %s of [%s] is not used here (facts-5.1 I73)", named.Name, n.Type.Name)
				}
			}
		case *syntax.Member:
			if typ, ok := n.Target.(*syntax.TypeExpr); ok && n.Static {
				member, _ := literal(n.Name)
				entry := fmt.Sprintf("[%s]::%s", bareName(typ.Type), strings.ToLower(member))
				if !known[entry] {
					fault(n, "%s is not in testdata/framework.txt (facts-5.1 I74)", entry)
				}
			}
		case *syntax.Invoke:
			entry := invoked(n)
			if !known[entry] {
				fault(n, "%s is not in testdata/framework.txt (facts-5.1 I74)", entry)
			}
			if later := laterOverload(n); later != "" {
				fault(n, "%s (facts-5.1 I74)", later)
			}
		case *syntax.Binary:
			if _, block := sole(n.Right).(*syntax.ScriptBlockExpr); block && n.Op == syntax.Replace {
				fault(n, "-replace takes a script block for its text in Windows PowerShell (facts-5.1 I72)")
			}
		case *syntax.Command:
			if strings.EqualFold(commandName(n), "New-Object") {
				for _, fault := range newObjectFaults(n, known) {
					faults = append(faults, placed(t, n, "%s", fault))
				}
			}
		}
		return true
	})
	return faults
}

// laterVariables are set only by PowerShell 6 and later.
var laterVariables = []string{"iswindows", "islinux", "ismacos", "iscoreclr", "psstyle"}

// invoked writes a call in the form of testdata/framework.txt: [type]::name/n or .name/n.
func invoked(n *syntax.Invoke) string {
	method, _ := literal(n.Name)
	if typ, ok := n.Target.(*syntax.TypeExpr); ok && n.Static {
		return fmt.Sprintf("[%s]::%s/%d", bareName(typ.Type), strings.ToLower(method), len(n.Args))
	}
	return fmt.Sprintf(".%s/%d", strings.ToLower(method), len(n.Args))
}

// laterOverload reports a call of an overload that .NET Framework does not have, or that selects a different
// overload there than in later versions.
func laterOverload(n *syntax.Invoke) string {
	method, _ := literal(n.Name)
	var first string // the type to which the first argument is cast
	if len(n.Args) > 0 {
		if cast, ok := sole(n.Args[0]).(*syntax.Cast); ok {
			first = bareType(cast.Type.String())
		}
	}
	if typ, ok := n.Target.(*syntax.TypeExpr); ok && bareName(typ.Type) == "array" {
		if strings.EqualFold(method, "Sort") && !slices.Equal(castsOf(n.Args), sortCasts) {
			return "Sort needs its arguments cast to " + strings.Join(sortCasts, ", ") +
				": without the casts PowerShell chooses a generic overload and sorts a copy of the items"
		}
		return ""
	}
	switch strings.ToLower(method) {
	case "split":
		if !slices.Contains([]string{"char", "char[]", "string[]"}, first) {
			return "Split needs its separator cast to [char], [char[]] or [string[]]: a string is a set of " +
				"characters in Windows PowerShell"
		}
	case "trim", "trimstart", "trimend":
		if len(n.Args) > 0 && first != "char" && first != "char[]" {
			return method + " needs its argument cast to [char] or [char[]]"
		}
	case "startswith", "endswith", "contains":
		if first == "char" || first == "char[]" {
			return method + " takes no character in Windows PowerShell"
		}
	}
	return ""
}

// sortCasts contains the casts with which Array.Sort on a real engine also sorts its second array.
var sortCasts = []string{"array", "array", "collections.icomparer"}

// castsOf returns the types to which arguments are cast, or "" for an argument without a cast.
func castsOf(args []syntax.Expr) []string {
	types := make([]string, len(args))
	for i, arg := range args {
		if cast, ok := sole(arg).(*syntax.Cast); ok {
			types[i] = bareName(cast.Type)
		}
	}
	return types
}

// newObjectFaults refuses New-Object, because [T]::new() has the same effect and is a hundred times faster.
// The exceptions are types whose constructor can be called in every engine only with New-Object.
func newObjectFaults(n *syntax.Command, known map[string]bool) []string {
	var faults []string
	for i, a := range n.Args {
		param, ok := a.(*syntax.CommandParam)
		if !ok || !strings.EqualFold(param.Name, "TypeName") || i+1 == len(n.Args) {
			continue
		}
		name, constant := literal(n.Args[i+1])
		if entry := "[" + bareType(name) + "]"; !constant || !known[entry] {
			faults = append(faults, fmt.Sprintf("New-Object creates %s, which is not in testdata/framework.txt",
				entry))
		}
		if bareType(name) != "directoryservices.directoryentry" {
			faults = append(faults, fmt.Sprintf("New-Object creates [%s], which is slow: write [%s]::new()", name,
				name))
		}
	}
	return faults
}

// framework returns testdata/framework.txt as a set.
var framework = sync.OnceValue(func() map[string]bool {
	text, err := os.ReadFile(filepath.Join("testdata", "framework.txt"))
	if err != nil {
		return nil // nothing is known then, and every text has faults
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out[strings.ToLower(line)] = true
		}
	}
	return out
})

// maxColumns is the maximum width of a line.
const maxColumns = 160

// laidOut: files are ASCII with LF and have no tabs, trailing spaces or wide lines. Each file starts with a
// comment, each function has a comment, and each script and function has [CmdletBinding()] and a param block.
func laidOut(_ *library, t *text) []error {
	var faults []error
	source := t.script.Text
	lines := append([]string{""}, strings.Split(source, "\n")...)
	if !strings.HasPrefix(source, "# ") {
		faults = append(faults, fmt.Errorf("%s:1:1: does not begin with a comment that says what it does", t.file))
	}
	if !strings.HasSuffix(source, "\n") {
		faults = append(faults, fmt.Errorf("%s: does not end with a line end", t.file))
	}
	number := 0
	for line := range strings.Lines(source) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if i := strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			faults = append(faults, fmt.Errorf("%s:%d:%d: holds what is no printable ASCII", t.file, number, i+1))
		}
		if strings.TrimRight(line, " ") != line {
			faults = append(faults, fmt.Errorf("%s:%d: ends with a blank", t.file, number))
		}
		if len(line) > maxColumns {
			faults = append(faults, fmt.Errorf("%s:%d: has %d columns, more than %d", t.file, number, len(line),
				maxColumns))
		}
	}
	if !isPrelude(t.file) && !bindable(t.script.Block) {
		faults = append(faults, fmt.Errorf("%s: needs [CmdletBinding()] and a param block", t.file))
	}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		f, ok := n.(*syntax.FunctionDef)
		if ok && !bindable(f.Body) {
			faults = append(faults, placed(t, n, "%s needs [CmdletBinding()] and a param block", f.Name))
		}
		if ok && !strings.HasPrefix(lines[f.From.Line-1], "# ") {
			faults = append(faults, placed(t, n, "%s needs a comment that says what it does", f.Name))
		}
		return true
	})
	return faults
}

// bindable reports whether a block refuses arguments that it does not declare.
func bindable(block *syntax.ScriptBlock) bool {
	return block.Param != nil && slices.ContainsFunc(block.Param.Attributes, func(a *syntax.Attribute) bool {
		return strings.EqualFold(a.Type.Name, "CmdletBinding")
	})
}
