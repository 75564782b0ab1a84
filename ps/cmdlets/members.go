package cmdlets

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/members.txt
var membersData string

// Type is a .NET type that scripts may name. It must not be modified.
type Type struct {
	Name    string   // full name, without the arguments of a generic type
	Aliases []string // accelerators: "int"
	Arity   int      // number of type arguments
	Enum    bool
	Static  []Member // static members, constructors as "new", names of an enumeration
	Members []Member
}

// Member is a property, or the overloads of a method that take one number of arguments.
type Member struct {
	Name   string
	Method bool
	Args   int  // number of arguments; the minimum if More is set
	More   bool // more arguments than Args are accepted
}

// Accepts reports whether the member is a method that can be called with n arguments.
func (m Member) Accepts(n int) bool { return m.Method && (n == m.Args || m.More && n > m.Args) }

// String returns the member in the format of data/members.txt, without the colons or the dot.
func (m Member) String() string {
	switch {
	case m.More:
		return m.Name + "/" + strconv.Itoa(m.Args) + "+"
	case m.Method:
		return m.Name + "/" + strconv.Itoa(m.Args)
	}
	return m.Name
}

// members contains data/members.txt with its indexes.
type members struct {
	types    []*Type
	byName   map[string]*Type    // names and aliases, in lower case
	instance map[string][]Member // instance members of all types, by name in lower case
}

var loadMembers = sync.OnceValue(func() *members {
	m := &members{byName: map[string]*Type{}, instance: map[string][]Member{}}
	var t *Type
	for line := range strings.Lines(membersData) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			t = parseType(line)
			m.types = append(m.types, t)
			for _, name := range append([]string{t.Name}, t.Aliases...) {
				m.byName[strings.ToLower(name)] = t
			}
		case strings.HasPrefix(line, "\t::"):
			t.Static = append(t.Static, parseMember(line[3:]))
		default:
			member := parseMember(line[2:])
			t.Members = append(t.Members, member)
			key := strings.ToLower(member.Name)
			if !slices.Contains(m.instance[key], member) {
				m.instance[key] = append(m.instance[key], member)
			}
		}
	}
	return m
})

// parseType parses "System.Int32 enum int": the full name, with the arity of a generic type,
// then "enum" for an enumeration, then the aliases.
func parseType(line string) *Type {
	words := strings.Fields(line)
	t := &Type{}
	name, arity, _ := strings.Cut(words[0], "`")
	t.Name = name
	t.Arity, _ = strconv.Atoi(arity) // 0 without one
	words = words[1:]
	if len(words) > 0 && words[0] == "enum" {
		t.Enum, words = true, words[1:]
	}
	t.Aliases = words
	return t
}

// parseMember parses "Length", "Substring/1" or "Concat/1+".
func parseMember(text string) Member {
	name, count, method := strings.Cut(text, "/")
	count, more := strings.CutSuffix(count, "+")
	args, _ := strconv.Atoi(count) // always valid: a test reads every line
	return Member{Name: name, Method: method, Args: args, More: more}
}

// Types lists the types of data/members.txt, sorted by name.
func Types() []*Type { return loadMembers().types }

// LookupType finds a type by its full name, its name below System, or an alias,
// ignoring case.
func LookupType(name string) (*Type, bool) {
	m, key := loadMembers(), strings.ToLower(name)
	t, ok := m.byName[key]
	if !ok {
		t, ok = m.byName["system."+key]
	}
	return t, ok
}

// InstanceMembers lists the instance members with the given name, ignoring case, of all types.
func InstanceMembers(name string) []Member { return loadMembers().instance[strings.ToLower(name)] }

// StaticMembers lists the static members with the given name, ignoring case.
func (t *Type) StaticMembers(name string) []Member {
	var out []Member
	for _, m := range t.Static {
		if strings.EqualFold(m.Name, name) {
			out = append(out, m)
		}
	}
	return out
}
