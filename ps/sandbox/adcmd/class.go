package adcmd

import (
	"slices"
	"strings"
	"sync"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// class is a class of objects that the module returns.
type class struct {
	name     string // "ADUser"
	typ      *dotnet.Type
	filter   string   // restricts searches to the class; "" if unnecessary
	defaults []string // properties returned without -Properties
	sid, sam bool     // -Identity also accepts a SID, a sAMAccountName (facts C16)
	dollar   bool     // -Identity may omit the "$" of a computer

	props    map[string]*property // by lower-case friendly name
	schema   *directory.Schema
	compiled *directory.Filter // compiled filter; may be nil
	plan     plan              // for the default properties
	plans    *planCache        // for the property lists that scripts repeat
}

// property is a friendly property of a class.
type property struct {
	name  string
	attrs []string // attributes that get needs
	// get returns the value for an object that was read with the attributes.
	get func(r *reader, o *directory.Object) any
}

var objectDefaults = []string{"DistinguishedName", "Name", "ObjectClass", "ObjectGUID"}

// classRows are the classes. Searches for users exclude computers, because the LDAP class of
// computers derives from user.
var classRows = []class{
	{name: "ADObject", typ: tObject, defaults: objectDefaults},
	{name: "ADOrganizationalUnit", typ: tOU, filter: "(objectClass=organizationalUnit)",
		defaults: append([]string{"City", "Country", "LinkedGroupPolicyObjects", "ManagedBy", "PostalCode", "State", "StreetAddress"}, objectDefaults...)},
	{name: "ADPrincipal", typ: tPrincipal, filter: "(objectSid=*)", sid: true, sam: true,
		defaults: append([]string{"SamAccountName", "SID"}, objectDefaults...)},
	{name: "ADAccount", typ: tAccount, sid: true, sam: true,
		filter: "(|(&(objectCategory=person)(objectClass=user))(objectClass=computer))",
		defaults: append([]string{"AccountExpirationDate", "Enabled", "LastLogonDate", "LockedOut", "PasswordExpired",
			"PasswordNeverExpires", "SamAccountName", "SID", "UserPrincipalName"}, objectDefaults...)},
	{name: "ADUser", typ: tUser, filter: "(&(objectCategory=person)(objectClass=user))", sid: true, sam: true,
		defaults: append([]string{"Enabled", "GivenName", "SamAccountName", "SID", "Surname", "UserPrincipalName"}, objectDefaults...)},
	{name: "ADComputer", typ: tComputer, filter: "(objectClass=computer)", sid: true, sam: true, dollar: true,
		defaults: append([]string{"DNSHostName", "Enabled", "SamAccountName", "SID", "UserPrincipalName"}, objectDefaults...)},
	{name: "ADGroup", typ: tGroup, filter: "(objectClass=group)", sid: true, sam: true,
		defaults: append([]string{"GroupCategory", "GroupScope", "SamAccountName", "SID"}, objectDefaults...)},
}

func newClasses(schema *directory.Schema) map[string]*class {
	out := make(map[string]*class, len(classRows))
	for _, row := range classRows {
		c := row
		c.schema = schema
		if c.filter != "" {
			var err error
			if c.compiled, err = directory.CompileFilter(c.filter); err != nil {
				panic("adcmd: " + err.Error()) // the rows are fixed
			}
		}
		c.plans = &planCache{plans: map[string]plan{}}
		c.props = map[string]*property{}
		model, ok := cmdlets.LookupClass(c.name)
		if !ok {
			panic("adcmd: no class " + c.name) // the rows are fixed, and tested
		}
		for _, p := range model.All() {
			prop := newProperty(schema, p)
			c.props[strings.ToLower(p.Name)] = prop
		}
		c.plan, _ = c.read(nil)
		out[c.name] = &c
	}
	return out
}

// newProperty returns a property of the object model: a computed one, an account bit, a
// list, or the value of one attribute.
func newProperty(schema *directory.Schema, p cmdlets.Property) *property {
	if row, ok := computed[p.Name]; ok {
		return &property{name: p.Name, attrs: row.attrs, get: row.get}
	}
	if bit, ok := accountBits[p.Name]; ok {
		return &property{name: p.Name, attrs: []string{"userAccountControl"}, get: bit.read}
	}
	if attr, ok := lists[p.Name]; ok {
		return &property{name: p.Name, attrs: []string{attr}, get: listOf(schema, attr)}
	}
	if len(p.LDAP) != 1 {
		return &property{name: p.Name, get: func(*reader, *directory.Object) any { return nil }}
	}
	attr := p.LDAP[0]
	return &property{name: p.Name, attrs: []string{attr}, get: firstOf(schema, attr)}
}

// firstOf returns a getter of the attribute's first value. Friendly properties are single-valued, even if the
// attribute is not.
func firstOf(schema *directory.Schema, name string) func(*reader, *directory.Object) any {
	a, ok := schema.Attribute(name)
	if !ok {
		return func(*reader, *directory.Object) any { return nil }
	}
	return func(r *reader, o *directory.Object) any {
		if v := o.ValueOf(a); v != nil {
			return r.h.raw(a, v)
		}
		return nil
	}
}

func listOf(schema *directory.Schema, name string) func(*reader, *directory.Object) any {
	a, ok := schema.Attribute(name)
	if !ok {
		return func(*reader, *directory.Object) any { return collection(nil) }
	}
	return func(r *reader, o *directory.Object) any { return collection(r.h.raws(o, a)) }
}

// rawProperty returns an attribute under its LDAP name. Its value is a collection if the
// attribute is multi-valued, and $null without values (facts B21).
func rawProperty(a *directory.Attribute) *property {
	return &property{name: a.Name, attrs: []string{a.Name}, get: func(r *reader, o *directory.Object) any {
		if a.SingleValued {
			return r.h.raw(a, o.ValueOf(a))
		}
		if values := r.h.raws(o, a); len(values) > 0 {
			return collection(values)
		}
		return nil
	}}
}

// plan describes a read: the attributes to request and the properties to build.
type plan struct {
	attrs    []string
	selected *directory.Selection // the attributes, looked up
	props    []*property
	blank    dotnet.Props // the names of the properties, without values
	all      bool         // add every attribute of the first object (facts B23)
}

// planCache caches plans by the requested names.
type planCache struct {
	mu    sync.RWMutex
	plans map[string]plan
}

// maxPlans limits the cache, because scripts may request arbitrary names.
const maxPlans = 256

// cached is [class.read] with a cache. Plans are shared and must not be changed.
func (c *class) cached(names []string) (plan, string) {
	var buf [1024]byte // enough for the keys of nearly all lists
	key := buf[:0]
	for _, name := range names {
		key = append(append(key, name...), 0)
	}
	c.plans.mu.RLock()
	p, ok := c.plans.plans[string(key)]
	c.plans.mu.RUnlock()
	if ok {
		return p, ""
	}
	p, bad := c.read(names)
	if bad != "" {
		return p, bad
	}
	c.plans.mu.Lock()
	defer c.plans.mu.Unlock()
	if len(c.plans.plans) >= maxPlans {
		clear(c.plans.plans)
	}
	c.plans.plans[string(key)] = p
	return p, ""
}

// read returns the plan for -Properties. bad is the first name that is neither a property of
// the class nor an attribute of the schema; "" if there is none.
func (c *class) read(names []string) (p plan, bad string) {
	seen := map[string]bool{}
	add := func(prop *property) {
		if key := strings.ToLower(prop.name); !seen[key] {
			seen[key] = true
			p.props = append(p.props, prop)
		}
	}
	for _, name := range c.defaults {
		add(c.props[strings.ToLower(name)])
	}
	for _, name := range names {
		if name == "*" {
			p.all = true
			for _, prop := range c.props {
				add(prop)
			}
			continue
		}
		prop := c.find(name)
		if prop == nil {
			return plan{}, name
		}
		add(prop)
	}
	slices.SortFunc(p.props, byName)
	p.attrs = attributesOf(p.props)
	if p.all {
		p.attrs = append(p.attrs, "*")
	}
	p.selected = c.schema.Select(p.attrs...)
	p.blank = blank(p.props)
	return p, ""
}

// find returns a property by its friendly or LDAP name, or nil.
func (c *class) find(name string) *property {
	if prop, ok := c.props[strings.ToLower(name)]; ok {
		return prop
	}
	if a, ok := c.schema.Attribute(name); ok {
		return rawProperty(a)
	}
	return nil
}

// attributesOf returns the attributes that properties need. The list is never empty, which
// would request all attributes, because every class has the default property Name.
func attributesOf(props []*property) []string {
	var attrs []string
	seen := map[string]bool{}
	for _, prop := range props {
		for _, a := range prop.attrs {
			if key := fold(a); !seen[key] {
				seen[key] = true
				attrs = append(attrs, a)
			}
		}
	}
	return attrs
}

// extend adds the attributes of the first object to the plan for -Properties *. Later objects get the same
// properties (facts B23).
func (c *class) extend(p plan, first *directory.Object) plan {
	p.all = false
	props := slices.Clone(p.props)
	for _, name := range first.Names() {
		if _, friendly := c.props[fold(name)]; friendly {
			continue
		}
		if a, ok := c.schema.Attribute(name); ok {
			props = append(props, rawProperty(a))
		}
	}
	slices.SortStableFunc(props, byName)
	p.props = props[:0]
	for i, prop := range props {
		if i == 0 || !strings.EqualFold(prop.name, props[i-1].name) {
			p.props = append(p.props, prop)
		}
	}
	p.blank = blank(p.props)
	return p
}

// blank returns the properties in order, without values.
func blank(props []*property) (names dotnet.Props) {
	names.Grow(len(props))
	for _, prop := range props {
		names.Set(prop.name, nil)
	}
	return names
}

func fold(s string) string { return strings.ToLower(s) }

// reader builds .NET objects from the directory objects of one controller.
type reader struct {
	h   *host
	c   *call
	dc  *directory.DC
	err error // error of a property that got no connection for its read
}

// other runs a read of another object that a property needs, on a separate connection. It
// returns false if the object cannot be read.
func (r *reader) other(read func() error) bool {
	release, err := r.h.connection(r.dc)
	if err != nil {
		r.err = err
		return false
	}
	defer release()
	return read() == nil
}

// origin records which controller an object was read from (facts G7).
type origin struct {
	dc   *directory.DC
	guid directory.GUID
}

// object returns an object of the class with the properties of the plan.
func (r *reader) object(c *class, p plan, o *directory.Object) *dotnet.Instance {
	inst := &dotnet.Instance{Type: c.typ, Text: o.DN, Data: origin{r.dc, o.GUID}, Props: p.blank.Clone()}
	for i, prop := range p.props {
		inst.Props.SetAt(i, prop.get(r, o))
	}
	return inst
}

func byName(a, b *property) int { return strings.Compare(fold(a.name), fold(b.name)) }
