package directory

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Syntax is how an attribute's values are typed and compared.
type Syntax uint8

// Syntaxes, with the Go type that Object.Values gives.
const (
	SyntaxUnicode   Syntax = iota // string, compares without case
	SyntaxCaseExact               // string, compares exactly
	SyntaxIA5                     // string, ASCII, compares without case
	SyntaxNumeric                 // string of digits
	SyntaxOID                     // string: class or attribute names
	SyntaxDN                      // string: a distinguished name
	SyntaxBool                    // bool
	SyntaxInteger                 // int32 (Integer and Enumeration)
	SyntaxLarge                   // int64 (LargeInteger, Interval)
	SyntaxTime                    // time.Time, whole seconds, UTC
	SyntaxOctets                  // []byte
	SyntaxSID                     // []byte, the SID's octets
	SyntaxGUID                    // []byte, the GUID's 16 octets
	SyntaxSecurity                // []byte, a security descriptor
)

// Attribute is one attribute of the schema.
type Attribute struct {
	Name         string // lDAPDisplayName
	Syntax       Syntax
	SingleValued bool
	// RangeLower and RangeUpper bound the length (UTF-16 units or octets) or
	// the number; an upper bound of 0 means none.
	RangeLower, RangeUpper int64
	SystemOnly             bool // only the directory itself writes it
	Constructed            bool // computed at reading, never stored, not filterable
	NotReplicated          bool // each DC has its own value
	ANR                    bool // part of ambiguous name resolution
	LinkID                 int  // even: forward link, odd: its back link, 0: none
	// Unknown marks an attribute that no schema entry describes and that came
	// in a loaded file; it is kept as text, or octets when it is no UTF-8.
	Unknown bool

	key   string // Name, lower-cased
	order int    // rank in the schema; stored values are sorted by it
	get   getter // how to read it when it is not simply stored
	other *Attribute
}

// IsLink tells whether values are references the directory keeps in step.
func (a *Attribute) IsLink() bool { return a.LinkID != 0 }

// IsBackLink tells whether the directory derives the values from forward links.
func (a *Attribute) IsBackLink() bool { return a.LinkID%2 == 1 }

// ClassKind tells classes that can be created from those that cannot.
type ClassKind uint8

// Class kinds.
const (
	Structural ClassKind = iota
	Abstract
	AuxiliaryClass
)

// Class is one object class of the schema.
type Class struct {
	Name       string // lDAPDisplayName
	SubClassOf string // "" for top
	Kind       ClassKind
	RDN        string   // the naming attribute: cn, ou, dc
	Category   string   // name of the default object category, e.g. "Person"
	Superiors  []string // classes it may lie under, inherited ones included
	Unknown    bool     // no schema entry describes it; it came in a loaded file

	aux       []string
	must, may []*Attribute
	chain     []string // from top to Name
	allowed   map[*Attribute]bool
	required  []*Attribute
}

// Chain is the class and its ancestors, from top on. Do not change it.
func (c *Class) Chain() []string { return c.chain }

// Allows tells whether objects of the class may have the attribute.
func (c *Class) Allows(a *Attribute) bool { return a.Unknown || c.Unknown || c.allowed[a] }

// Allowed are the attributes objects of the class may have, sorted by name.
func (c *Class) Allowed() []*Attribute {
	out := make([]*Attribute, 0, len(c.allowed))
	for a := range c.allowed {
		out = append(out, a)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

func (c *Class) is(key string) bool {
	for _, n := range c.chain {
		if strings.EqualFold(n, key) {
			return true
		}
	}
	return false
}

// Schema holds attributes and classes. It may be used concurrently; it grows
// only by loading files with attributes or classes it does not know.
type Schema struct {
	mu      sync.RWMutex
	attrs   map[string]*Attribute
	classes map[string]*Class
	links   map[int]*Attribute
	order   int
}

//go:embed schema.txt
var schemaText string

//go:embed classes.txt
var classText string

// newSchema reads the built-in tables.
func newSchema() (*Schema, error) {
	s := &Schema{attrs: map[string]*Attribute{}, classes: map[string]*Class{}, links: map[int]*Attribute{}}
	for n, line := range strings.Split(schemaText, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		a, err := parseAttribute(f)
		if err != nil {
			return nil, fmt.Errorf("schema line %d: %w", n+1, err)
		}
		s.addAttribute(a)
	}
	for id, a := range s.links {
		if o, ok := s.links[id^1]; ok {
			a.other = o
		}
	}
	for name, g := range getters {
		a, ok := s.attrs[name]
		if !ok {
			return nil, fmt.Errorf("schema: no attribute %q", name)
		}
		a.get = g
	}
	if err := s.parseClasses(); err != nil {
		return nil, err
	}
	return s, nil
}

var syntaxNames = map[string]Syntax{
	"unicode": SyntaxUnicode, "exact": SyntaxCaseExact, "ia5": SyntaxIA5,
	"numeric": SyntaxNumeric, "oid": SyntaxOID, "dn": SyntaxDN, "bool": SyntaxBool,
	"int": SyntaxInteger, "large": SyntaxLarge, "time": SyntaxTime,
	"octets": SyntaxOctets, "sid": SyntaxSID, "guid": SyntaxGUID, "sd": SyntaxSecurity,
}

func parseAttribute(f []string) (*Attribute, error) {
	if len(f) < 3 {
		return nil, fmt.Errorf("attribute %q: too few fields", f[0])
	}
	syntax, ok := syntaxNames[f[1]]
	if !ok {
		return nil, fmt.Errorf("attribute %q: syntax %q", f[0], f[1])
	}
	a := &Attribute{Name: f[0], Syntax: syntax}
	for _, c := range f[2] {
		switch c {
		case 's':
			a.SingleValued = true
		case 'm':
		case 'y':
			a.SystemOnly = true
		case 'c':
			a.Constructed = true
		case 'n':
			a.NotReplicated = true
		case 'a':
			a.ANR = true
		default:
			return nil, fmt.Errorf("attribute %q: flag %q", f[0], c)
		}
	}
	for _, x := range f[3:] {
		if id, ok := strings.CutPrefix(x, "link="); ok {
			n, err := strconv.Atoi(id)
			if err != nil {
				return nil, fmt.Errorf("attribute %q: %w", f[0], err)
			}
			a.LinkID = n
			continue
		}
		lo, hi, ok := strings.Cut(x, "..")
		if !ok {
			return nil, fmt.Errorf("attribute %q: %q", f[0], x)
		}
		a.RangeLower, _ = strconv.ParseInt(lo, 10, 64)
		a.RangeUpper, _ = strconv.ParseInt(hi, 10, 64)
	}
	return a, nil
}

func (s *Schema) addAttribute(a *Attribute) {
	a.key = strings.ToLower(a.Name)
	s.order++
	a.order = s.order
	s.attrs[a.key] = a
	if a.LinkID != 0 {
		s.links[a.LinkID] = a
	}
}

// parseClasses reads the class table. Attributes it names that the attribute
// table leaves out become plain text attributes.
func (s *Schema) parseClasses() error {
	var c *Class
	for n, line := range strings.Split(classText, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		if f[0] == "class" {
			var err error
			if c, err = s.parseClass(f[1:]); err != nil {
				return fmt.Errorf("classes line %d: %w", n+1, err)
			}
			continue
		}
		if c == nil {
			return fmt.Errorf("classes line %d: no class", n+1)
		}
		switch f[0] {
		case "under":
			c.Superiors = append(c.Superiors, f[1:]...)
		case "aux":
			c.aux = append(c.aux, f[1:]...)
		case "must":
			c.must = append(c.must, s.named(f[1:])...)
		case "may":
			c.may = append(c.may, s.named(f[1:])...)
		default:
			return fmt.Errorf("classes line %d: %q", n+1, f[0])
		}
	}
	for _, c := range s.classes {
		s.complete(c)
	}
	return nil
}

func (s *Schema) named(names []string) []*Attribute {
	out := make([]*Attribute, len(names))
	for i, n := range names {
		a, ok := s.attrs[strings.ToLower(n)]
		if !ok {
			a = &Attribute{Name: n}
			s.addAttribute(a)
		}
		out[i] = a
	}
	return out
}

func (s *Schema) parseClass(f []string) (*Class, error) {
	c := &Class{Name: f[0]}
	f = f[1:]
	if len(f) > 1 && f[0] == "<" {
		c.SubClassOf = f[1]
		f = f[2:]
	}
	for _, x := range f {
		k, v, _ := strings.Cut(x, "=")
		switch k {
		case "structural":
		case "abstract":
			c.Kind = Abstract
		case "auxiliary":
			c.Kind = AuxiliaryClass
		case "rdn":
			c.RDN = v
		case "cat":
			c.Category = v
		default:
			return nil, fmt.Errorf("class %q: %q", c.Name, x)
		}
	}
	s.classes[strings.ToLower(c.Name)] = c
	return c, nil
}

// complete works out what a class inherits. Parents may come in any order.
func (s *Schema) complete(c *Class) {
	if c.chain != nil {
		return
	}
	c.allowed = map[*Attribute]bool{}
	required := map[*Attribute]bool{}
	inherit := func(name string) {
		p, ok := s.classes[strings.ToLower(name)]
		if !ok {
			return
		}
		s.complete(p)
		for a := range p.allowed {
			c.allowed[a] = true
		}
		for _, a := range p.required {
			required[a] = true
		}
		if name == c.SubClassOf {
			c.chain = append(c.chain, p.chain...)
			c.Superiors = append(c.Superiors, p.Superiors...)
		}
	}
	if c.SubClassOf != "" {
		inherit(c.SubClassOf)
	}
	for _, n := range c.aux {
		inherit(n)
	}
	c.chain = append(c.chain, c.Name)
	for _, a := range c.may {
		c.allowed[a] = true
	}
	for _, a := range c.must {
		c.allowed[a] = true
		required[a] = true
	}
	for a := range required {
		c.required = append(c.required, a)
	}
	sort.Slice(c.required, func(i, j int) bool { return c.required[i].key < c.required[j].key })
}

// Attribute finds one by lDAPDisplayName, without case.
func (s *Schema) Attribute(name string) (*Attribute, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return byName(s.attrs, name)
}

// byName finds an entry by a name whose case does not matter.
func byName[T any](entries map[string]T, name string) (T, bool) {
	var buf [shortName]byte
	lower := buf[:0]
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			e, ok := entries[strings.ToLower(name)]
			return e, ok
		}
		lower = append(lower, lowerASCII(c))
	}
	e, ok := entries[string(lower)]
	return e, ok
}

// must finds an attribute of the built-in table.
func (s *Schema) must(key string) *Attribute {
	a, ok := s.Attribute(key)
	if !ok {
		panic("directory: the schema table lacks " + key)
	}
	return a
}

// Class finds one by lDAPDisplayName, without case.
func (s *Schema) Class(name string) (*Class, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return byName(s.classes, name)
}

func (s *Schema) allClasses() []*Class {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.classes))
}

// Attributes are all, sorted by name.
func (s *Schema) Attributes() []*Attribute {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*Attribute, 0, len(s.attrs))
	for _, a := range s.attrs {
		out = append(out, a)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

// Allowed tells whether objects of the class may have the attribute; false for
// names that the schema does not know.
func (s *Schema) Allowed(class, attribute string) bool {
	c, ok := s.Class(class)
	if !ok {
		return false
	}
	a, ok := s.Attribute(attribute)
	return ok && c.Allows(a)
}

// learnAttribute finds an attribute or makes an Unknown one of that syntax.
func (s *Schema) learnAttribute(name string, syntax Syntax) *Attribute {
	if a, ok := s.Attribute(name); ok {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.attrs[strings.ToLower(name)]; ok {
		return a
	}
	a := &Attribute{Name: name, Syntax: syntax, Unknown: true}
	s.addAttribute(a)
	return a
}

// learnClass finds a class or makes an Unknown one below parent.
func (s *Schema) learnClass(name, rdn string, parent *Class) *Class {
	if c, ok := s.Class(name); ok {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.classes[strings.ToLower(name)]; ok {
		return c
	}
	c := &Class{Name: name, SubClassOf: parent.Name, RDN: rdn, Category: name, Unknown: true}
	s.complete(c)
	s.classes[strings.ToLower(name)] = c
	return c
}
