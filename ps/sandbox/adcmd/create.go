package adcmd

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// creation describes a New cmdlet.
type creation struct {
	objectClass string
	container   func(*directory.Domain) string           // default of -Path
	attributes  func(ch *changes, name string) error     // adds default attributes; may be nil
	finish      func(c *call, o *directory.Object) error // runs after Add; may be nil
}

var (
	newUser = creation{
		objectClass: "user",
		container:   (*directory.Domain).UsersContainer,
		attributes:  userAttributes,
		finish:      finishUser,
	}
	newComputer = creation{
		objectClass: "computer",
		container:   (*directory.Domain).ComputersContainer,
		attributes:  computerAttributes,
		finish:      finishComputer,
	}
	newGroup = creation{
		objectClass: "group",
		container:   (*directory.Domain).UsersContainer,
		attributes:  groupAttributes,
	}
	newOU = creation{
		objectClass: "organizationalUnit",
		container:   (*directory.Domain).RootDN,
		finish:      finishOU,
	}
	newObject = creation{container: (*directory.Domain).RootDN, finish: (*call).accessLists}
)

// run is the body of a New cmdlet.
func (n creation) run(c *call) error {
	if err := c.checkPasswordFlags(); err != nil {
		return err
	}
	objectClass := n.objectClass
	if t := c.String("Type"); t != "" {
		objectClass = t
	}
	dn, err := c.newDN(n, objectClass)
	if err != nil {
		return err
	}
	c.target = dn
	ch := c.newChanges()
	if err := ch.parameters(); err != nil {
		return err
	}
	if err := ch.otherAttributes(); err != nil {
		return err
	}
	if n.attributes != nil {
		if err := n.attributes(ch, c.String("Name")); err != nil {
			return err
		}
	}
	ok, err := c.ShouldProcess(dn)
	if err != nil || !ok {
		return err
	}
	attrs := append([]directory.Values{directory.Attr("objectClass", objectClass)}, ch.initial()...)
	o, err := c.dc.Add(c.ctx(), dn, attrs...)
	if err != nil {
		return c.fail(err)
	}
	if n.finish != nil {
		if err := n.finish(c, o); err != nil {
			return err
		}
	}
	return c.passThru(o.GUID)
}

// newDN returns the DN of the new object. It escapes -Name. -Path is a DN (facts C21) and
// must exist (facts D.2).
func (c *call) newDN(n creation, objectClass string) (string, error) {
	class, ok := c.h.Domain.Schema().Class(objectClass)
	if !ok {
		return "", c.fail(&directory.Error{Code: directory.CodeNoSuchAttribute, Kind: directory.KindConstraint,
			Op: "add", Attribute: "objectClass", Value: objectClass})
	}
	path := c.String("Path")
	if path == "" {
		path = n.container(c.h.Domain)
	} else if err := c.checkDN(path); err != nil {
		return "", err
	}
	return strings.ToUpper(class.RDN) + "=" + directory.EscapeRDN(c.String("Name")) + "," + path, nil
}

// checkDN checks that a path is a DN of an existing object.
func (c *call) checkDN(path string) error {
	if _, err := directory.ParseDN(path); err != nil {
		return c.fail(&directory.Error{Code: directory.CodeBadNameSyntax, Kind: directory.KindSyntax, DN: path})
	}
	c.target = path
	_, err := c.dc.Get(c.ctx(), path, "distinguishedName")
	if isCode(err, directory.CodeNoSuchObject) {
		err = &directory.Error{Code: directory.CodeNotFound, Kind: directory.KindNotFound, Op: "add", DN: path}
	}
	if err != nil {
		return c.fail(err)
	}
	return nil
}

// accountName sets sAMAccountName to the name unless the caller gave one, and appends the
// suffix if it is missing.
func (ch *changes) accountName(name, suffix string) {
	const attr = "sAMAccountName"
	ch.fallback(attr, name)
	for i := range ch.list {
		change := &ch.list[i]
		if !strings.EqualFold(change.Name, attr) || len(change.Values) != 1 {
			continue
		}
		if s := dotnet.ToText(change.Values[0]); !strings.HasSuffix(s, suffix) {
			change.Values = []any{s + suffix}
		}
	}
}

// userAttributes sets the attributes of a new user, which is always created disabled, regardless of -Enabled
// (facts E2).
func userAttributes(ch *changes, name string) error {
	ch.accountName(name, "")
	ch.fallback("userAccountControl", ch.c.bits(uacNormal|uacDisabled, "Enabled"))
	return nil
}

// finishUser sets the password and then enables the account (facts E2, H1-H4).
func finishUser(c *call, o *directory.Object) error {
	if err := c.newPassword(o); err != nil {
		return err
	}
	enable, _ := c.flag("Enabled")
	return c.finishAccount(o, enable)
}

func (c *call) newPassword(o *directory.Object) error {
	s, ok := c.bound("AccountPassword").(*dotnet.SecureString)
	if !ok || s == nil {
		return nil
	}
	if err := c.dc.ResetPassword(c.ctx(), o.GUID.Ref(), s.Reveal()); err != nil {
		return c.fail(err)
	}
	return nil
}

// finishAccount writes the attributes that require a password, and then the access lists.
func (c *call) finishAccount(o *directory.Object, enable bool) error {
	ch := c.newChanges()
	if change, given := c.flag("ChangePasswordAtLogon"); given {
		ch.add(directory.OpReplace, "pwdLastSet", pwdLastSet(change))
	}
	if enable {
		base := int64(uacNormal)
		if o.Is("computer") {
			base = uacWorkstation
		}
		ch.add(directory.OpReplace, "userAccountControl", c.bits(base|uacDisabled, "Enabled")&^uacDisabled)
	}
	if err := ch.write(o, directory.ModifyOptions{}); err != nil {
		return err
	}
	return c.accessLists(o)
}

// computerAttributes sets the attributes of a workstation account, which is disabled until
// it has a password and whose name ends in "$" (facts E47).
func computerAttributes(ch *changes, name string) error {
	ch.accountName(name, "$")
	ch.fallback("userAccountControl", ch.c.bits(uacWorkstation|uacDisabled, "Enabled"))
	return nil
}

// finishComputer sets the given password, or a random one of 240 characters, and enables the
// account unless -Enabled is false (facts E47).
func finishComputer(c *call, o *directory.Object) error {
	if c.bound("AccountPassword") != nil {
		if err := c.newPassword(o); err != nil {
			return err
		}
	} else {
		random := make([]byte, 180)
		if _, err := rand.Read(random); err != nil {
			return err
		}
		if err := c.dc.ResetPassword(c.ctx(), o.GUID.Ref(), base64.StdEncoding.EncodeToString(random)); err != nil {
			return c.fail(err)
		}
	}
	enable, given := c.flag("Enabled")
	return c.finishAccount(o, enable || !given)
}

var (
	scopeBits = map[string]int64{
		"domainlocal": groupDomainLocal, "global": groupGlobal, "universal": groupUniversal,
		"0": groupDomainLocal, "1": groupGlobal, "2": groupUniversal,
	}
	categoryBits = map[string]int64{"distribution": 0, "security": groupSecurity, "0": 0, "1": groupSecurity}
)

// groupAttributes sets the attributes of a new group, by default a security group.
func groupAttributes(ch *changes, name string) error {
	ch.accountName(name, "")
	n, err := ch.c.groupType(groupSecurity)
	if err != nil {
		return err
	}
	ch.fallback("groupType", n)
	return nil
}

// groupType returns n with -GroupScope and -GroupCategory applied.
func (c *call) groupType(n int64) (int64, error) {
	if v := c.bound("GroupScope"); v != nil {
		bit, ok := scopeBits[fold(enumText(v))]
		if !ok {
			return 0, c.invalidArgument("GroupScope", "The value is not one of DomainLocal, Global, Universal.")
		}
		n = n&^(groupDomainLocal|groupGlobal|groupUniversal) | bit
	}
	if v := c.bound("GroupCategory"); v != nil {
		bit, ok := categoryBits[fold(enumText(v))]
		if !ok {
			return 0, c.invalidArgument("GroupCategory", "The value is not one of Distribution, Security.")
		}
		n = n&^groupSecurity | bit
	}
	return int64(int32(uint32(n))), nil
}

// enumText returns the number of an enumeration value, or any other value as
// text.
func enumText(v any) string {
	if e, ok := v.(dotnet.Enum); ok {
		return itoa(int(e.Value))
	}
	return dotnet.ToText(v)
}

// finishOU protects the OU unless the caller opts out; the access lists are read in both
// cases. If this fails, an unprotected OU remains (facts E36, E73).
func finishOU(c *call, o *directory.Object) error {
	protect, given := c.flag("ProtectedFromAccidentalDeletion")
	if err := c.dc.SetProtected(c.ctx(), o.GUID.Ref(), protect || !given); err != nil {
		return c.fail(err)
	}
	return nil
}
