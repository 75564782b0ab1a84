package scripts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adgateway/ps"
	"adgateway/ps/syntax"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rule is a requirement for all scripts and preludes. Its good and bad examples are in
// testdata/rules/<name>.txt.
type rule struct {
	name  string
	facts string // the reason for the rule
	check func(l *library, t *text) []error
	// probes means that the rule also applies to the doctor's scripts. These scripts change only a scratch OU or
	// zone, which the doctor removes as a whole afterwards.
	probes bool
}

var rules = []rule{
	{"server", "facts G1, E63: without it each call may go to another server", pinned, true},
	{"confirm", "facts A34, A36: a prompt would eat the next request", unprompted, true},
	{"arguments", "facts-5.1 I80; the contract of the cmdlets for Windows Server 2016 to 2025", fitting, true},
	{"banned", "facts E22, E23, C13; facts-5.1 I40, K6: cmdlets that fail, filters that are code, slow or logged ways", unbanned, true},
	{"filter", "facts C13: every value in an LDAP filter is escaped", filtersEscaped, true},
	{"language", "facts-5.1 I70-I77: what Windows PowerShell 5.1 has", inLanguage, true},
	{"values", "facts-5.1 K6, I58: a wrapped value is serialized as an object", valuesBare, true},
	{"texts", "PowerShell compares texts by the rules of the invariant culture (about_Comparison_Operators)", textsExact, true},
	{"culture", "-like, -match and -replace ignore case, and methods search texts, as the culture of the account does", cultureFree, true},
	{"secrets", "facts-5.1 K3, I44: plain arguments are logged", secretsKept, true},
	{"steps", "facts G9: each change is announced, so that a cut-off request can be settled", stepsAnnounced, false},
	{"undo", "design: a failed step undoes the earlier ones, after their script has ended", undoSound, false},
	{"layout", "facts-5.1 I75, I8: Windows PowerShell reads a file without BOM as ANSI", laidOut, true},
}

// lanes returns the library of each lane, with all preludes and scripts.
func lanes(t *testing.T) map[ps.Lane]*library {
	t.Helper()
	out := map[ps.Lane]*library{}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		l := newLibrary(CheckOptions{})
		for _, file := range slices.Concat(doctorPreludes(lane), list(lane), doctorList(lane)) {
			require.NotNil(t, l.add(file, read(file)), file)
		}
		l.link()
		out[lane] = l
	}
	return out
}

func TestScriptsKeepTheRules(t *testing.T) {
	libraries := lanes(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			checked := 0
			seen := map[string]bool{}
			for _, lane := range slices.Sorted(maps.Keys(libraries)) {
				for _, text := range libraries[lane].texts {
					if strings.HasPrefix(text.file, doctorFolder) && !r.probes {
						continue
					}
					checked++
					for _, fault := range r.check(libraries[lane], text) {
						if !seen[fault.Error()] {
							seen[fault.Error()] = true
							t.Errorf("%v\n\trule %q: %s", fault, r.name, r.facts)
						}
					}
				}
			}
			assert.Greater(t, checked, 40, "preludes and scripts of both lanes")
		})
	}
}

// snippet is one example for a rule: a script as part of a lane.
type snippet struct {
	bad  bool
	lane ps.Lane
	says string // description of a good example, or a part of the fault's message for a bad one
	text string
}

// snippets reads the examples for a rule. Each starts with a line "== good: description" or "== bad: message
// of the fault". "good dns" and "bad dns" introduce examples for the DNS lane.
func snippets(t *testing.T, name string) []snippet {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "rules", name+".txt"))
	require.NoError(t, err)
	var out []snippet
	for part := range strings.SplitSeq("\n"+string(content), "\n== ") {
		head, text, _ := strings.Cut(part, "\n")
		kind, says, ok := strings.Cut(head, ": ")
		if strings.TrimSpace(part) == "" || strings.HasPrefix(part, "#") || strings.HasPrefix(part, "\n#") {
			continue
		}
		require.True(t, ok, "%s: %q", name, head)
		s := snippet{lane: ps.Directory, says: says, text: text + "\n"}
		verdict, lane, _ := strings.Cut(kind, " ")
		require.Contains(t, []string{"good", "bad"}, verdict, "%s: %q", name, head)
		require.Contains(t, []string{"", "dns"}, lane, "%s: %q", name, head)
		s.bad = verdict == "bad"
		if lane == "dns" {
			s.lane = ps.DNS
		}
		out = append(out, s)
	}
	return out
}

// TestRulesTellGoodFromBad: each rule reports its bad examples and accepts its good ones.
func TestRulesTellGoodFromBad(t *testing.T) {
	shared := map[ps.Lane]*library{}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		shared[lane] = newLibrary(CheckOptions{})
		for _, file := range preludes(lane) {
			shared[lane].add(file, read(file))
		}
	}
	for _, r := range rules {
		good, bad := 0, 0
		for i, s := range snippets(t, r.name) {
			t.Run(fmt.Sprintf("%s/%d", r.name, i+1), func(t *testing.T) {
				l := newLibrary(CheckOptions{})
				l.functions, l.texts = maps.Clone(shared[s.lane].functions), slices.Clone(shared[s.lane].texts)
				file := folders[s.lane] + "/Test-GatewayCase.ps1"
				script := l.add(file, s.text)
				var faults []error
				if script == nil {
					require.Equal(t, "language", r.name, "%s: %v", s.says, l.broken)
					for _, fault := range l.broken {
						faults = append(faults, fault)
					}
				} else {
					l.texts = slices.Concat(shared[s.lane].texts, []*text{script})
					script.calls = readCalls(script.script, l.command)
					faults = r.check(l, script)
				}
				if !s.bad {
					good++
					assert.Empty(t, faults, "%s\n%s", s.says, s.text)
					return
				}
				bad++
				found := slices.ContainsFunc(faults,
					func(err error) bool { return strings.Contains(err.Error(), s.says) })
				assert.True(t, found, "want a fault that says %q, got %v in\n%s", s.says, faults, s.text)
			})
		}
		assert.Positive(t, good, "%s has no good case", r.name)
		assert.Positive(t, bad, "%s has no bad case", r.name)
	}
}

// scope is a function, or the body of a text without its functions, with the values of its
// variables in no particular order.
type scope struct {
	function string
	body     *syntax.ScriptBlock
	params   map[string]*syntax.Param
	values   map[string][]syntax.Node // $name = value, $name += value
	rounds   map[string][]syntax.Node // foreach ($name in value)
	added    map[string][]syntax.Node // $name.Add(value)
	keys     map[string][]argument    // $name['key'] = value, $name.key = value
	other    map[string]bool          // changed in a way that is not tracked
}

// scopes returns the scopes of a text. The first one is its body.
func scopes(t *text) []*scope {
	out := []*scope{newScope("", t.script.Block)}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FunctionDef); ok {
			out = append(out, newScope(f.Name, f.Body))
		}
		return true
	})
	return out
}

func newScope(function string, body *syntax.ScriptBlock) *scope {
	s := &scope{
		function: function, body: body, params: map[string]*syntax.Param{}, other: map[string]bool{},
		values: map[string][]syntax.Node{}, rounds: map[string][]syntax.Node{}, added: map[string][]syntax.Node{},
		keys: map[string][]argument{},
	}
	s.walk(func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Param:
			s.params[strings.ToLower(n.Name.Name)] = n
		case *syntax.Assignment:
			s.assignment(n)
		case *syntax.ForEach:
			name := strings.ToLower(n.Var.Name)
			s.rounds[name] = append(s.rounds[name], n.In)
		case *syntax.Unary:
			if v, ok := n.Operand.(*syntax.Variable); ok && n.Op >= syntax.PostInc {
				s.values[strings.ToLower(v.Name)] = append(s.values[strings.ToLower(v.Name)],
					&syntax.Number{Span: n.Span})
			}
		case *syntax.Invoke:
			method, _ := literal(n.Name)
			if v, ok := n.Target.(*syntax.Variable); ok && strings.EqualFold(method, "Add") {
				for _, value := range n.Args {
					s.added[strings.ToLower(v.Name)] = append(s.added[strings.ToLower(v.Name)], value)
				}
			}
		}
	})
	return s
}

func (s *scope) assignment(n *syntax.Assignment) {
	name, key, isKey := target(n.Target)
	name = strings.ToLower(name)
	switch {
	case name == "":
		syntax.Walk(n.Target, func(n syntax.Node) bool {
			if v, ok := n.(*syntax.Variable); ok {
				s.other[strings.ToLower(v.Name)] = true
			}
			return true
		})
	case isKey:
		s.keys[name] = append(s.keys[name], argument{key, n.Value, n.Target})
	default:
		value := syntax.Node(n.Value)
		if cast, ok := n.Target.(*syntax.Cast); ok { // [int] $x = value
			value = &syntax.Cast{Span: n.Span, Type: cast.Type, Operand: &syntax.Paren{Span: n.Span, Inner: n.Value}}
		}
		s.values[name] = append(s.values[name], value)
	}
}

// walk visits the nodes of a scope, except the functions in it.
func (s *scope) walk(visit func(syntax.Node)) {
	syntax.Walk(s.body, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.FunctionDef); ok {
			return false
		}
		visit(n)
		return true
	})
}

// assigned reports whether a variable gets any value in the scope.
func (s *scope) assigned(name string) bool {
	return len(s.values[name])+len(s.rounds[name]) > 0 || s.other[name]
}
