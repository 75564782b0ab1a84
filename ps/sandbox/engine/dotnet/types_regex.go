package dotnet

import (
	"strconv"
	"strings"

	"github.com/dlclark/regexp2"
)

var tMatch, tGroup *Type

func declareRegex() {
	tGroup = Register(Class{Name: "System.Text.RegularExpressions.Group"})
	tMatch = Register(Class{Name: "System.Text.RegularExpressions.Match", Base: tGroup, Members: []Member{
		Method("NextMatch", "", func(self any, _ []any) (any, error) {
			m, ok := self.(*Instance).Data.(*match)
			if !ok {
				return self, nil
			}
			next, err := m.re.FindNextMatch(m.m)
			if err != nil {
				return nil, regexFailure(err)
			}
			return newMatch(next, m.re, m.input), nil
		}),
		Method("Result", "string", func(self any, a []any) (any, error) {
			m, ok := self.(*Instance).Data.(*match)
			if !ok {
				return nil, ExceptionNamed("System.NotSupportedException", "Result cannot be called on a failed Match.")
			}
			s, err := m.re.Replace(m.m.String(), Text(a[0]), -1, 1)
			if err != nil {
				return nil, regexFailure(err)
			}
			return s, nil
		}),
	}})
	Register(Class{Name: "System.Text.RegularExpressions.MatchEvaluator", Base: TDelegate})
	TRegex = Register(Class{
		Name: "System.Text.RegularExpressions.Regex", Aliases: []string{"regex"},
		New: []Member{
			Constructor("string", func(_ any, a []any) (any, error) { return newRegex(a[0], 0) }),
			Constructor("string,System.Text.RegularExpressions.RegexOptions", func(_ any, a []any) (any, error) {
				return newRegex(a[0], a[1].(Enum).Value)
			}),
			Constructor("string,System.Text.RegularExpressions.RegexOptions,timespan", func(_ any, a []any) (any, error) {
				return newRegex(a[0], a[1].(Enum).Value)
			}),
		},
		Static:  regexStatics(),
		Members: regexMembers(),
	})
}

// match is what a Match instance carries.
type match struct {
	m     *regexp2.Match
	re    *regexp2.Regexp
	input string
}

// newMatch makes a Match object; of nil one with Success false.
func newMatch(m *regexp2.Match, re *regexp2.Regexp, input string) *Instance {
	if m == nil {
		return NewInstance(tMatch, "Groups", &groups{}, "Success", false, "Name", "0", "Captures", NewArray(), "Index", int32(0), "Length", int32(0), "Value", "")
	}
	all := &groups{}
	for _, g := range m.Groups() {
		all.items = append(all.items, newGroup(tGroup, &g, input))
		all.names = append(all.names, g.Name)
	}
	i := newGroup(tMatch, &m.Group, input)
	i.Props.Set("Groups", all)
	i.Data = &match{m, re, input}
	all.items[0] = i
	return i
}

// unitIndex turns the library's index, in code points, into one in UTF-16 units.
func unitIndex(input string, runes int) int32 {
	units := runes
	for at := 0; at < len(input) && runes > 0; runes-- {
		r, n := decode(input[at:])
		if r >= 0x10000 {
			units++
		}
		at += n
	}
	return int32(units)
}

func newGroup(t *Type, g *regexp2.Group, input string) *Instance {
	captures := &Array{}
	for _, c := range g.Captures {
		one := NewInstance(tGroup, "Index", unitIndex(input, c.Index), "Length", int32(Length(c.String())), "Value", c.String())
		one.Text = c.String()
		captures.Items = append(captures.Items, one)
	}
	ok := len(g.Captures) > 0
	value, index := "", int32(0)
	if ok {
		value, index = g.String(), unitIndex(input, g.Index)
	}
	i := NewInstance(t, "Groups", nil, "Success", ok, "Name", g.Name, "Captures", captures, "Index", index, "Length", int32(Length(value)), "Value", value)
	if t == tGroup {
		i.Props.Delete("Groups")
	}
	i.Text = value
	return i
}

// groups is the GroupCollection: by position, number or name.
type groups struct {
	items []any
	names []string
}

// Type is GroupCollection's nearest kin here: a collection.
func (g *groups) Type() *Type { return Lookup("System.Collections.ICollection") }

// Enumerate gives the groups.
func (g *groups) Enumerate() []any { return g.items }

// ByIndex is false: the collection has its own lookup.
func (g *groups) ByIndex() bool { return false }

// Member reads Count.
func (g *groups) Member(name string) (any, bool) {
	if EqualFold(name, "Count") {
		return int32(len(g.items)), true
	}
	return nil, false
}

// Invoke looks a group up; one that does not exist is a failed group.
func (g *groups) Invoke(name string, args []any) (any, error) {
	if !EqualFold(name, "Item") && !EqualFold(name, "get_Item") || len(args) != 1 {
		return nil, ErrNoMethod
	}
	want := ToText(args[0])
	for i, n := range g.names {
		if n == want {
			return g.items[i], nil
		}
	}
	if n, err := strconv.Atoi(want); err == nil && n >= 0 && n < len(g.items) {
		return g.items[n], nil
	}
	return NewInstance(tGroup, "Success", false, "Index", int32(0), "Length", int32(0), "Value", ""), nil
}

func regexOptions(bits int64) regexp2.RegexOptions {
	// The numbers are those of .NET; Compiled and CultureInvariant mean nothing here.
	return regexp2.RegexOptions(bits) &^ (8 | 512)
}

func newRegex(pattern any, options int64) (any, error) {
	if pattern == nil {
		return nil, argumentNull("pattern")
	}
	re, e := compileRegex(Text(pattern), regexOptions(options))
	if e != nil {
		return nil, e
	}
	i := &Instance{Type: TRegex, Data: re, Text: Text(pattern)}
	i.Props.Set("Options", Enum{Lookup("System.Text.RegularExpressions.RegexOptions"), options})
	return i, nil
}

// regexCall is a method that exists on an instance and, with the pattern as
// second argument and perhaps options, as a static.
type regexCall struct {
	name string
	sig  string // after the input
	call func(re *regexp2.Regexp, input string, a []any) (any, error)
}

var regexCalls = []regexCall{
	{"IsMatch", "", func(re *regexp2.Regexp, input string, _ []any) (any, error) {
		ok, err := re.MatchString(input)
		if err != nil {
			return nil, regexFailure(err)
		}
		return ok, nil
	}},
	{"Match", "", func(re *regexp2.Regexp, input string, _ []any) (any, error) {
		m, err := re.FindStringMatch(input)
		if err != nil {
			return nil, regexFailure(err)
		}
		return newMatch(m, re, input), nil
	}},
	{"Matches", "", func(re *regexp2.Regexp, input string, _ []any) (any, error) {
		out := &Array{}
		m, err := re.FindStringMatch(input)
		for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
			if len(out.Items) >= MaxArrayLength {
				return nil, &LimitError{"array length", MaxArrayLength}
			}
			out.Items = append(out.Items, newMatch(m, re, input))
		}
		if err != nil {
			return nil, regexFailure(err)
		}
		return out, nil
	}},
	{"Replace", "string", func(re *regexp2.Regexp, input string, a []any) (any, error) { return replaceText(re, input, a[0], -1) }},
	{"Replace", "System.Text.RegularExpressions.MatchEvaluator", func(re *regexp2.Regexp, input string, a []any) (any, error) {
		return replaceText(re, input, a[0], -1)
	}},
	{"Split", "", func(re *regexp2.Regexp, input string, _ []any) (any, error) {
		pieces, err := splitText(re, input, 0)
		return &Array{Elem: TString, Items: pieces}, err
	}},
}

func regexStatics() []Member {
	rows := []Member{
		Method("Escape", "string", func(_ any, a []any) (any, error) { return regexp2.Escape(Text(a[0])), nil }),
		Method("Unescape", "string", func(_ any, a []any) (any, error) {
			s, err := regexp2.Unescape(Text(a[0]))
			if err != nil {
				return nil, ExceptionNamed("System.ArgumentException", "Unrecognized escape sequence.")
			}
			return s, nil
		}),
	}
	const options = ",System.Text.RegularExpressions.RegexOptions"
	for _, c := range regexCalls {
		sig := "string input,string pattern"
		extra := 0
		if c.sig != "" {
			sig += "," + c.sig
			extra = 1
		}
		run := func(_ any, a []any) (any, error) {
			if a[0] == nil {
				return nil, argumentNull("input")
			}
			bits := int64(0)
			if len(a) > 2+extra {
				bits = a[2+extra].(Enum).Value
			}
			re, e := compileRegex(Text(a[1]), regexOptions(bits))
			if e != nil {
				return nil, e
			}
			return c.call(re, Text(a[0]), a[2:])
		}
		rows = append(rows, Method(c.name, sig, run), Method(c.name, sig+options, run))
	}
	return rows
}

func regexMembers() []Member {
	rows := []Member{
		Method("ToString", "", func(self any, _ []any) (any, error) { return self.(*Instance).Text, nil }),
		Method("GetGroupNames", "", func(self any, _ []any) (any, error) {
			return StringArray(self.(*Instance).Data.(*regexp2.Regexp).GetGroupNames()), nil
		}),
		Method("Replace", "string,string,int", func(self any, a []any) (any, error) {
			return replaceText(self.(*Instance).Data.(*regexp2.Regexp), Text(a[0]), a[1], int(a[2].(int32)))
		}),
	}
	for _, c := range regexCalls {
		sig := strings.TrimSuffix("string input,"+c.sig, ",")
		rows = append(rows, Method(c.name, sig, func(self any, a []any) (any, error) {
			if a[0] == nil {
				return nil, argumentNull("input")
			}
			return c.call(self.(*Instance).Data.(*regexp2.Regexp), Text(a[0]), a[1:])
		}))
	}
	return rows
}
