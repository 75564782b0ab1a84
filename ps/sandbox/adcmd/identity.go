package adcmd

import (
	"errors"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// connect finds the controller of the call: -Server, else the one a piped
// object came from, else the domain's own choice (facts G1, G5, G7). It takes
// a connection of the account there.
func (c *call) connect() (release func(), err error) {
	if dc := c.origin(); dc != nil && !c.Has("Server") {
		c.dc = dc
		if !dc.Alive() {
			return nil, c.throw(failure{typ: "ADServerDownException", message: c.say("serverDown"), fromServer: true})
		}
	} else if c.dc, err = c.h.Domain.DC(c.String("Server")); err != nil {
		return nil, c.fail(err)
	}
	if c.writes && isCatalog(c.String("Server")) {
		return nil, c.fail(&directory.Error{Code: directory.CodeUnwilling, Kind: directory.KindUnwilling, Op: "connect"})
	}
	if err := c.authenticate(); err != nil {
		return nil, err
	}
	if partition := c.String("Partition"); partition != "" {
		if err := c.checkPartition(partition); err != nil {
			return nil, err
		}
	}
	if release, err = c.h.connections.take(c.ctx(), c.dc, c.h.Account); err != nil {
		return nil, c.fail(err)
	}
	return release, nil
}

// isCatalog tells whether -Server names the port of a global catalog, which
// only reads (facts G5).
func isCatalog(server string) bool {
	return strings.HasSuffix(server, ":3268") || strings.HasSuffix(server, ":3269")
}

// origin is the controller that -Identity or -Instance, given as an object, was
// read from.
func (c *call) origin() *directory.DC {
	for _, param := range []string{"Identity", "Instance"} {
		if inst, ok := c.bound(param).(*dotnet.Instance); ok {
			if from, ok := inst.Data.(origin); ok {
				return from.dc
			}
		}
	}
	return nil
}

func (c *call) bound(name string) any {
	v, _ := c.Bound(name)
	return v
}

// authenticate tries -Credential as a logon: the sandbox has no access rights
// of its own per account, so nothing else follows from who asks.
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
		if cancelled(err) {
			return c.ctx().Err()
		}
		return c.throw(failure{typ: "System.Security.Authentication.AuthenticationException", message: c.say("rejected")})
	}
	return nil
}

// checkPartition takes the domain's own naming context only: it is all there is.
func (c *call) checkPartition(partition string) error {
	dn, err := directory.ParseDN(partition)
	if err != nil {
		return c.fail(err)
	}
	if root, err := directory.ParseDN(c.h.Domain.RootDN()); err == nil && dn.Equal(root) {
		return nil
	}
	return c.fail(&directory.Error{Code: directory.CodeReferral, Kind: directory.KindReferral, Op: "search", DN: partition})
}

// errSkip ends the work on one object of the pipeline, of which the error has
// been reported.
var errSkip = errors.New("the object has been reported")

// identity finds the object of -Identity. It throws when there is none: a
// terminating error, whatever -ErrorAction says. For an object of the pipeline
// the error does not end the command: the next object follows (facts C19, D4).
func (c *call) identity(attributes ...string) (*directory.Object, error) {
	return c.find(c.selection(attributes...))
}

// find is identity for attributes that have been looked up.
func (c *call) find(want *directory.Selection) (*directory.Object, error) {
	return c.resolve(c.class, c.bound("Identity"), "Identity", want)
}

// selection are the attributes of these names; none without a name.
func (c *call) selection(names ...string) *directory.Selection {
	if len(names) == 0 {
		return &directory.Selection{}
	}
	return c.h.Domain.Schema().Select(names...)
}

// resolve finds one object of a class by what a caller gave for it.
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
		if !c.FromPipeline(param) {
			return nil, c.throw(*f)
		}
		if err := c.WriteError(c.record(*f)); err != nil {
			return nil, err
		}
		return nil, errSkip
	}
	return o, nil
}

// lookup is resolve without the throwing: neither an object nor an error means
// the failure.
func (c *call) lookup(cl *class, v any, given string, want *directory.Selection) (*directory.Object, *failure, error) {
	filter := cl.identityFilter(v, given)
	if filter == "" {
		f := c.notFound(given)
		return nil, &f, nil
	}
	compiled, err := cl.only(filter)
	if err != nil {
		return nil, nil, err
	}
	found, err := c.dc.Search(c.ctx(), directory.SearchRequest{Compiled: compiled, Selected: want, Limit: 2})
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

// identityText is what an identity is called in messages.
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

// identityFilter is the search for an identity (facts C16, C17): what parses as
// a GUID is an objectGUID and nothing else; other text is tried as every form
// the class accepts. It is empty when the text fits no form.
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

// and joins filters; an empty one says nothing.
func and(filters ...string) string {
	var parts []string
	for _, f := range filters {
		if f != "" {
			parts = append(parts, f)
		}
	}
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	}
	return "(&" + strings.Join(parts, "") + ")"
}

// reference is the DN that a parameter such as -Manager means. A DN goes to the
// directory as it is, which finds out whether it exists; everything else is
// resolved here (facts E8).
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
