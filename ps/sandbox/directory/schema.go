package directory

import (
	_ "embed"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Syntax determines the type and comparison of an attribute's values.
type Syntax uint8

// Syntaxes, with the Go type of Object.Values.
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
	SyntaxDNBinary                // string: octets and the distinguished name of an object
)

// Attribute is one attribute of the schema.
type Attribute struct {
	Name         string // lDAPDisplayName
	Syntax       Syntax
	SingleValued bool
	// RangeLower and RangeUpper limit the length (in UTF-16 units or octets) or
	// the number; an upper limit of 0 means none.
	RangeLower, RangeUpper int64
	SystemOnly             bool // written only by the directory
	Constructed            bool // computed, never stored, not allowed in filters
	NotReplicated          bool // each DC has its own value
	ANR                    bool // part of ambiguous name resolution
	Catalog                bool // in the partial attribute set of the global catalog
	Confidential           bool // shown only to principals with the control access right to the object
	LinkID                 int  // even: forward link, odd: its back link, 0: no link
	// Unknown marks an attribute of a loaded file that the schema does not
	// describe. Its values are text, or octets if they are not valid UTF-8.
	Unknown bool

	key   string // Name, folded
	order int    // rank in the schema, by which stored values are sorted
	get   getter // nil if the attribute is stored
	other *Attribute
}

func byKey(a, b *Attribute) int { return strings.Compare(a.key, b.key) }

// IsBackLink reports whether the attribute is a back link, derived from forward
// links.
func (a *Attribute) IsBackLink() bool { return a.LinkID%2 == 1 }

// ClassKind is the category of a class. Only structural classes have objects.
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
	Superiors  []string // possible parents, including inherited ones
	Unknown    bool     // from a loaded file, not described by the schema

	aux       []string
	must, may []*Attribute
	parents   []*Class // SubClassOf and aux
	chain     []string // from top to Name
	category  string   // key of Category, see categoryKey

	allowed, required func() []*Attribute // with the inherited ones, sorted by key
}

// Allows reports whether objects of the class may have the attribute.
func (c *Class) Allows(a *Attribute) bool {
	return a.Unknown || c.Unknown || slices.Contains(c.allowed(), a)
}

// Allowed returns the attributes that objects of the class may have, sorted by
// name. The slice must not be changed.
func (c *Class) Allowed() []*Attribute { return c.allowed() }

func (c *Class) is(name string) bool { return hasName(c.chain, name) }

// hasName reports whether a list contains a name, ignoring case.
func hasName(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// Schema contains attributes and classes. The schema of a Domain is immutable. It includes unknown attributes
// and classes of the loaded files.
type Schema struct {
	attrs   map[string]*Attribute
	classes map[string]*Class
	links   map[int]*Attribute
	order   int
	known   *known

	always, indexed []*Attribute // in the order of the lists below
	anr             []*Attribute // attributes of ambiguous name resolution, by name
}

//go:embed schema.txt
var schemaText string

//go:embed classes.txt
var classText string

// newSchema returns a schema with the built-in tables.
func newSchema() *Schema {
	s := *builtInSchema()
	s.attrs, s.classes, s.links = maps.Clone(s.attrs), maps.Clone(s.classes), maps.Clone(s.links)
	return &s
}

// builtInSchema is parsed only once, because attributes and classes do not change. Each
// schema only adds to them.
var builtInSchema = sync.OnceValue(parseSchema)

// parseSchema parses the built-in tables. It panics if a table is malformed.
func parseSchema() *Schema {
	s := &Schema{attrs: map[string]*Attribute{}, classes: map[string]*Class{}, links: map[int]*Attribute{}}
	for f := range rows(schemaText) {
		s.addAttribute(parseAttribute(f))
	}
	for id, a := range s.links {
		a.other = s.links[id^1]
	}
	for name, g := range getters {
		s.must(name).get = g
	}
	s.parseClasses()
	s.known = newKnown(s)
	for _, name := range always {
		s.always = append(s.always, s.must(name))
	}
	for _, name := range indexed {
		s.indexed = append(s.indexed, s.must(name))
	}
	s.anr = slices.DeleteFunc(s.Attributes(), func(a *Attribute) bool { return !a.ANR })
	return s
}

// rows returns the fields of the lines of a table, without comments.
func rows(table string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if f := strings.Fields(line); len(f) > 0 && f[0][0] != '#' && !yield(f) {
				return
			}
		}
	}
}

var syntaxNames = map[string]Syntax{
	"unicode": SyntaxUnicode, "exact": SyntaxCaseExact, "ia5": SyntaxIA5,
	"numeric": SyntaxNumeric, "oid": SyntaxOID, "dn": SyntaxDN, "bool": SyntaxBool,
	"int": SyntaxInteger, "large": SyntaxLarge, "time": SyntaxTime,
	"octets": SyntaxOctets, "sid": SyntaxSID, "guid": SyntaxGUID, "sd": SyntaxSecurity,
	"dnbin": SyntaxDNBinary,
}

func parseAttribute(f []string) *Attribute {
	syntax, ok := syntaxNames[f[1]]
	if !ok {
		panic("directory: the syntax of " + f[0])
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
		case 'g':
			a.Catalog = true
		case 'x':
			a.Confidential = true
		default:
			panic("directory: a flag of " + f[0])
		}
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil && text != "" {
			panic("directory: a number of " + f[0])
		}
		return n
	}
	for _, x := range f[3:] {
		if id, ok := strings.CutPrefix(x, "link="); ok {
			a.LinkID = int(number(id))
			continue
		}
		lower, upper, _ := strings.Cut(x, "..")
		a.RangeLower, a.RangeUpper = number(lower), number(upper)
	}
	return a
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

// parseClasses parses the class table. Attributes that are not in the attribute
// table become text attributes.
func (s *Schema) parseClasses() {
	var c *Class
	for f := range rows(classText) {
		switch f[0] {
		case "class":
			c = parseClass(f[1:])
			s.classes[strings.ToLower(c.Name)] = c
		case "under":
			c.Superiors = append(c.Superiors, f[1:]...)
		case "aux":
			c.aux = append(c.aux, f[1:]...)
		case "must":
			c.must = append(c.must, s.named(f[1:])...)
		case "may":
			c.may = append(c.may, s.named(f[1:])...)
		default:
			panic("directory: the class table has " + f[0])
		}
	}
	for _, c := range s.classes {
		s.complete(c)
	}
}

func (s *Schema) named(names []string) []*Attribute {
	out := make([]*Attribute, len(names))
	for i, n := range names {
		a, ok := s.Attribute(n)
		if !ok {
			a = &Attribute{Name: n}
			s.addAttribute(a)
		}
		out[i] = a
	}
	return out
}

func parseClass(f []string) *Class {
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
			panic("directory: the class " + c.Name + " has " + x)
		}
	}
	return c
}

// complete resolves inheritance, in any order of the classes.
func (s *Schema) complete(c *Class) {
	if c.chain != nil {
		return
	}
	for _, name := range append([]string{c.SubClassOf}, c.aux...) {
		p, ok := s.classes[strings.ToLower(name)]
		if !ok {
			continue // top has no parent
		}
		s.complete(p)
		c.parents = append(c.parents, p)
		if name == c.SubClassOf {
			c.chain = slices.Clone(p.chain)
			c.Superiors = append(c.Superiors, p.Superiors...)
		}
	}
	c.chain, c.category = append(c.chain, c.Name), DN{}.Child("CN", c.Category).Key()
	c.allowed = sync.OnceValue(func() []*Attribute {
		return c.inherit(slices.Concat(c.may, c.must), (*Class).Allowed)
	})
	c.required = sync.OnceValue(func() []*Attribute {
		return c.inherit(slices.Clone(c.must), func(p *Class) []*Attribute { return p.required() })
	})
}

// inherit returns attributes of the class together with its parents' attributes, sorted by key.
func (c *Class) inherit(attrs []*Attribute, of func(*Class) []*Attribute) []*Attribute {
	for _, p := range c.parents {
		attrs = append(attrs, of(p)...)
	}
	slices.SortFunc(attrs, byKey)
	return slices.Compact(attrs)
}

// Attribute returns an attribute by lDAPDisplayName, ignoring case.
func (s *Schema) Attribute(name string) (*Attribute, bool) {
	return byName(s.attrs, name)
}

// byName returns an entry by name, ignoring case.
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

// must returns an attribute of the built-in table, by key.
func (s *Schema) must(key string) *Attribute {
	a, ok := s.Attribute(key)
	if !ok {
		panic("directory: the schema table lacks " + key)
	}
	return a
}

// Class returns a class by lDAPDisplayName, ignoring case.
func (s *Schema) Class(name string) (*Class, bool) {
	return byName(s.classes, name)
}

// Attributes returns all attributes, sorted by name.
func (s *Schema) Attributes() []*Attribute {
	return slices.SortedFunc(maps.Values(s.attrs), byKey)
}

// learnAttribute returns an attribute, adding an Unknown one with the syntax if
// necessary.
func (s *Schema) learnAttribute(name string, syntax Syntax) *Attribute {
	if a, ok := s.Attribute(name); ok {
		return a
	}
	a := &Attribute{Name: name, Syntax: syntax, Unknown: true}
	s.addAttribute(a)
	return a
}

// learnClass returns a class, adding an Unknown subclass of parent if necessary.
func (s *Schema) learnClass(name, rdn string, parent *Class) *Class {
	if c, ok := s.Class(name); ok {
		return c
	}
	c := &Class{Name: name, SubClassOf: parent.Name, RDN: rdn, Category: name, Unknown: true}
	s.complete(c)
	s.classes[strings.ToLower(name)] = c
	return c
}

// known contains the attributes that the code refers to.
type known struct {
	sam, upn, spn, uac, groupType, primaryGroup, pwdLastSet, lockoutTime   *Attribute
	accountExpires, adminCount, critical, unicodePwd, member, memberOf     *Attribute
	codePage, countryCode, category, wellKnown, lastKnownParent, samType   *Attribute
	minPwdLength, pwdHistory, pwdProperties, minPwdAge, maxPwdAge          *Attribute
	lockoutThreshold, lockoutDuration, lockoutWindow, dnsHost, description *Attribute
	lastLogonStamp, logonSync, name, cn, displayName, givenName, sn, mail  *Attribute
	psoApplied, psoPrecedence, systemFlags, info, networkBIOS              *Attribute
	hours, workstations, lastKnownRDN                                      *Attribute
}

func newKnown(s *Schema) *known {
	return &known{
		sam: s.must("samaccountname"), upn: s.must("userprincipalname"), spn: s.must("serviceprincipalname"),
		uac: s.must("useraccountcontrol"), groupType: s.must("grouptype"), primaryGroup: s.must("primarygroupid"),
		pwdLastSet: s.must("pwdlastset"), lockoutTime: s.must("lockouttime"),
		accountExpires: s.must("accountexpires"),
		adminCount:     s.must("admincount"), critical: s.must("iscriticalsystemobject"),
		unicodePwd: s.must("unicodepwd"),
		member:     s.must("member"), memberOf: s.must("memberof"), codePage: s.must("codepage"),
		countryCode: s.must("countrycode"), category: s.must("objectcategory"),
		wellKnown:       s.must("wellknownobjects"),
		lastKnownParent: s.must("lastknownparent"), samType: s.must("samaccounttype"),
		minPwdLength: s.must("minpwdlength"), pwdHistory: s.must("pwdhistorylength"),
		pwdProperties: s.must("pwdproperties"),
		minPwdAge:     s.must("minpwdage"), maxPwdAge: s.must("maxpwdage"),
		lockoutThreshold: s.must("lockoutthreshold"),
		lockoutDuration:  s.must("lockoutduration"), lockoutWindow: s.must("lockoutobservationwindow"),
		dnsHost: s.must("dnshostname"), description: s.must("description"),
		lastLogonStamp: s.must("lastlogontimestamp"),
		logonSync:      s.must("msds-logontimesyncinterval"), name: s.must("name"), cn: s.must("cn"),
		displayName: s.must("displayname"), givenName: s.must("givenname"), sn: s.must("sn"), mail: s.must("mail"),
		psoApplied: s.must("msds-psoapplied"), psoPrecedence: s.must("msds-passwordsettingsprecedence"),
		systemFlags: s.must("systemflags"), info: s.must("info"),
		networkBIOS: s.must("netbiosname"), hours: s.must("logonhours"), workstations: s.must("userworkstations"),
		lastKnownRDN: s.must("msds-lastknownrdn"),
	}
}

// always are attributes that every object has without storing them.
var always = []string{
	"distinguishedname", "name", "cn", "ou", "dc", "objectclass", "objectcategory", "objectguid", "objectsid",
	"whencreated", "whenchanged", "usncreated", "usnchanged", "instancetype", "samaccounttype", "isdeleted",
	"isrecycled",
	"badpwdcount", "badpasswordtime", "lastlogon", "logoncount", "lastlogoff",
}

// indexed are the attributes with an index.
var indexed = []string{
	"samaccountname", "userprincipalname", "serviceprincipalname", "mail", "proxyaddresses",
	"primarygroupid", "displayname", "name", "cn", "employeeid", "dnshostname", "admincount",
}
