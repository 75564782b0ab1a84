package adcmd

import (
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// connect selects the controller of the call and takes a connection to it. The controller is
// the one in -Server, otherwise the one that the object in -Identity was read from,
// otherwise the domain's default (facts G1, G5, G7).
func (c *call) connect() (err error) {
	if dc := c.origin(); dc != nil && !c.Has("Server") {
		c.dc = dc
		if !dc.Alive() {
			return c.throw(c.serverDown(dc.HostName()))
		}
	} else if c.dc, err = c.h.Domain.DC(c.String("Server")); err != nil {
		return c.fail(err)
	}
	c.catalog = isCatalog(c.String("Server"))
	if c.catalog && c.dc.NoCatalog.Load() {
		return c.throw(c.serverDown(c.String("Server")))
	}
	if c.writes && c.catalog {
		return c.fail(&directory.Error{Code: directory.CodeUnwilling, Kind: directory.KindUnwilling, Op: "connect"})
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if c.free, err = c.h.connection(c.dc); err != nil {
		return c.fail(err)
	}
	if !c.h.reach(c.ctx(), c.dc) {
		c.free()
		return c.throw(c.serverDown(c.dc.HostName()))
	}
	return nil
}

// isCatalog reports whether -Server names a port of a global catalog, which is read-only (facts G5).
func isCatalog(server string) bool {
	return strings.HasSuffix(server, ":3268") || strings.HasSuffix(server, ":3269")
}

// origin returns the controller from which the object in -Identity was read, or nil if there is none.
func (c *call) origin() *directory.DC {
	if inst, ok := c.bound("Identity").(*dotnet.Instance); ok {
		if from, ok := inst.Data.(origin); ok {
			return from.dc
		}
	}
	return nil
}

func (c *call) bound(name string) any {
	v, _ := c.Bound(name)
	return v
}

// authenticate checks -Credential with a logon. That is its only effect, because the sandbox
// has no access rights per account.
func (c *call) authenticate() error {
	cred, ok := c.bound("Credential").(*dotnet.PSCredential)
	if !ok || cred == nil || cred.UserName == "" {
		return nil
	}
	name := cred.UserName
	if _, after, ok := strings.Cut(name, `\`); ok {
		name = after
	}
	password := ""
	if cred.Password != nil {
		password = cred.Password.Reveal()
	}
	if err := c.dc.Logon(c.ctx(), name, password); err != nil {
		if canceled(err) {
			return c.ctx().Err()
		}
		return c.throw(c.rejected())
	}
	return nil
}

// identity finds the object of -Identity. If it does not exist, the error is terminating, regardless of
// -ErrorAction (facts C19, D4).
func (c *call) identity(attributes ...string) (*directory.Object, error) {
	return c.find(c.selection(attributes...))
}

// find is identity with prepared attributes.
func (c *call) find(want *directory.Selection) (*directory.Object, error) {
	return c.resolve(c.class, c.bound("Identity"), "Identity", want)
}

// selection selects attributes by name. Without names it selects none.
func (c *call) selection(names ...string) *directory.Selection {
	if len(names) == 0 {
		return &directory.Selection{}
	}
	return c.h.Domain.Schema().Select(names...)
}

// resolve finds the object of a class that the value of a parameter identifies.
func (c *call) resolve(cl *class, v any, param string, want *directory.Selection) (*directory.Object, error) {
	given := identityText(v)
	if given == "" {
		return nil, c.invalidArgument(param, "The "+param+" property on the argument is null or empty.")
	}
	target := &dotnet.Instance{Type: cl.typ, Text: given}
	if c.target == nil {
		c.target = target
	}
	o, f, err := c.lookup(cl, v, given, want)
	if err != nil {
		return nil, c.fail(err)
	}
	if f != nil {
		c.target = target
		return nil, c.throw(*f)
	}
	return o, nil
}

// lookup is like resolve, but does not throw. It returns an object, the failure to resolve it, or the error
// of the search.
func (c *call) lookup(
	cl *class, v any, given string, want *directory.Selection,
) (*directory.Object, *failure, error) {
	filter := cl.identityFilter(v, given)
	if filter == "" {
		f := c.notFound(given)
		return nil, &f, nil
	}
	compiled, err := cl.only(filter)
	if err != nil {
		return nil, nil, err
	}
	req := directory.SearchRequest{Compiled: compiled, Selected: want, Limit: 2, Deleted: c.deleted(),
		Catalog: c.catalog}
	req.Base = configuration(c, given)
	found, err := c.dc.Search(c.ctx(), req)
	if err == nil && len(found) == 0 && cl.name == "ADObject" &&
		strings.EqualFold(given, services+c.h.Domain.RootDN()) {
		return c.h.Domain.Service(want), nil, nil
	}
	switch {
	case err != nil:
		return nil, nil, err
	case len(found) == 0:
		f := c.notFound(given)
		return nil, &f, nil
	case len(found) > 1:
		return nil, &failure{
			typ:     "ADMultipleMatchingIdentitiesException",
			message: c.say("multiple", given, c.h.Domain.RootDN()),
		}, nil
	}
	return found[0], nil, nil
}

// configuration returns the base of the configuration if given is a distinguished name in it, because such
// a name selects its naming context. It returns "" for other identities, and if there is no configuration.
func configuration(c *call, given string) string {
	base := "CN=Configuration," + c.h.Domain.RootDN()
	dn, err := directory.ParseDN(given)
	if err != nil || !strings.HasSuffix(strings.ToLower(dn.String()), strings.ToLower(","+base)) {
		return ""
	}
	if _, err := c.dc.Get(c.ctx(), base); err != nil {
		return ""
	}
	return base
}

// deleted reports whether the command also works on deleted objects.
func (c *call) deleted() bool {
	return c.row.name == "Restore-ADObject" || c.Bool("IncludeDeletedObjects")
}

// identityText returns an identity in the form used in messages.
func identityText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *dotnet.Instance:
		if v.Text != "" {
			return v.Text
		}
		if dn, ok := v.Props.Get("DistinguishedName"); ok {
			return dotnet.ToText(dn)
		}
	}
	return dotnet.ToText(v)
}

// identityFilter returns the filter for an identity (facts C16, C17). Text that parses as a
// GUID is only compared with objectGUID. Other text is tried in every form that the class
// accepts. The filter is "" if no form applies.
func (cl *class) identityFilter(v any, given string) string {
	switch v := v.(type) {
	case dotnet.Guid:
		return guidFilter(directory.GUID(v))
	case *dotnet.Instance:
		if from, ok := v.Data.(origin); ok {
			return guidFilter(from.guid)
		}
	}
	if g, ok := directory.ParseGUID(given); ok {
		return guidFilter(g)
	}
	var parts []string
	if _, err := directory.ParseDN(given); err == nil {
		parts = append(parts, "(distinguishedName="+directory.EscapeFilter(given)+")")
	}
	if cl.sid {
		if sid, ok := directory.ParseSID(given); ok {
			parts = append(parts, "(objectSid="+directory.EscapeFilterBytes(sid.Bytes())+")")
		}
	}
	if cl.sam {
		parts = append(parts, "(sAMAccountName="+directory.EscapeFilter(given)+")")
		if cl.dollar && !strings.HasSuffix(given, "$") {
			parts = append(parts, "(sAMAccountName="+directory.EscapeFilter(given+"$")+")")
		}
	}
	return or(parts)
}

func guidFilter(g directory.GUID) string {
	return "(objectGUID=" + directory.EscapeFilterBytes(g[:]) + ")"
}

func or(parts []string) string {
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	}
	return "(|" + strings.Join(parts, "") + ")"
}

// reference returns the DN for a parameter such as -Manager. A DN is passed on unchanged,
// and the directory checks that it exists. Any other text is resolved here (facts E8).
func (c *call) reference(cl *class, v any, param string) (string, error) {
	if s, ok := v.(string); ok && strings.Contains(s, "=") {
		if _, err := directory.ParseDN(s); err == nil {
			return s, nil
		}
	}
	o, err := c.resolve(cl, v, param, c.selection())
	if err != nil {
		return "", err
	}
	return o.DN, nil
}
