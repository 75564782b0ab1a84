package sandbox

import (
	"context"
	"errors"
	"fmt"

	"adgateway/ps/sandbox/directory"
)

// Account is an account of the world with which a person signs in.
type Account struct {
	SID    string
	Name   string   // sAMAccountName
	Groups []string // SIDs, nested ones included
}

// The people of the sandbox and their groups.
const (
	HelpdeskPerson  = "helpdesk"
	OperatorPerson  = "operator"
	NoRightsPerson  = "norights"
	HelpdeskGroup   = "GW-Helpdesk"
	OperatorGroup   = "GW-Operators"
	PersonsPassword = "Sandbox-1-" // followed by the name
)

const administrationOU = "OU=Administration,OU=Corp,"

// AddPeople adds three people to the world, two of them as members of a group, and returns
// the SIDs of the groups by name. If a name is already in use, it adds nobody.
func (w *World) AddPeople(ctx context.Context) (groups map[string]string, err error) {
	dc := w.Directory.DCs()[0]
	parent := administrationOU + w.Directory.RootDN()
	if _, err := dc.Get(ctx, parent); err != nil {
		parent = w.Directory.UsersContainer() // in a custom domain
	}
	for _, name := range []string{HelpdeskPerson, OperatorPerson, NoRightsPerson, HelpdeskGroup, OperatorGroup} {
		if _, err := w.Lookup(ctx, name); err == nil {
			return nil, fmt.Errorf("the name %s is taken", name)
		}
		if _, err := dc.Get(ctx, "CN="+name+","+parent); err == nil {
			return nil, fmt.Errorf("the name %s is taken in %s", name, parent)
		}
	}
	groups = map[string]string{}
	for _, p := range []struct{ name, group string }{{HelpdeskPerson, HelpdeskGroup},
		{OperatorPerson, OperatorGroup}, {NoRightsPerson, ""}} {
		dn := "CN=" + p.name + "," + parent
		if _, err := dc.Add(ctx, dn, directory.Attr("objectClass", "user"),
			directory.Attr("sAMAccountName", p.name),
			directory.Attr("displayName", p.name),
			directory.Attr("description", "Signs in to the pages of the sandbox"),
			directory.Attr("userPrincipalName", p.name+"@"+w.Directory.DNSName())); err != nil {
			return nil, fmt.Errorf("the person %s: %w", p.name, err)
		}
		if err := dc.ResetPassword(ctx, dn, PersonsPassword+p.name); err != nil {
			return nil, fmt.Errorf("the password of %s: %w", p.name, err)
		}
		if err := dc.Modify(ctx, dn,
			[]directory.Change{{Op: directory.OpReplace, Name: "userAccountControl",
				Values: []any{512}}}, directory.ModifyOptions{}); err != nil {
			return nil, fmt.Errorf("the account of %s: %w", p.name, err)
		}
		if p.group == "" {
			continue
		}
		group, err := dc.Add(ctx, "CN="+p.group+","+parent, directory.Attr("objectClass", "group"),
			directory.Attr("sAMAccountName", p.group),
			directory.Attr("description", "Has rights on the pages of the sandbox"), directory.Attr("member", dn))
		if err != nil {
			return nil, fmt.Errorf("the group %s: %w", p.group, err)
		}
		groups[p.group] = group.SID.String()
	}
	return groups, nil
}

// Reasons why an account may not log on.
var (
	ErrLogon          = errors.New("sandbox: the logon was refused")
	ErrMustChange     = errors.New("sandbox: the password must be changed")
	ErrPasswordExpiry = errors.New("sandbox: the password has expired")
)

// gatewayComputer is the computer that the security log names as the source of passwords that the gateway
// checks.
const gatewayComputer = "GATEWAY"

// LogOn checks a password in the same way as a domain controller, which counts wrong ones.
func (w *World) LogOn(ctx context.Context, name, password string) (*Account, error) {
	ctx = directory.WithSource(ctx, gatewayComputer)
	for _, dc := range w.Directory.DCs() {
		if !dc.Alive() || !dc.Writable() {
			continue
		}
		escaped := directory.EscapeFilter(name)
		found, err := dc.Search(ctx,
			directory.SearchRequest{Scope: directory.ScopeSubtree, Attributes: []string{"sAMAccountName"},
				Filter: "(&(objectCategory=person)(objectClass=user)(|(sAMAccountName=" + escaped +
					")(userPrincipalName=" + escaped + ")))"})
		if err != nil {
			return nil, err
		}
		if len(found) != 1 {
			return nil, ErrLogon
		}
		if err := logonError(dc.Logon(ctx, found[0].String("sAMAccountName"), password)); err != nil {
			return nil, err
		}
		return readAccount(ctx, dc, found[0].DN)
	}
	return nil, errRefused
}

// Lookup returns an account by its sAMAccountName.
func (w *World) Lookup(ctx context.Context, name string) (*Account, error) {
	for _, dc := range w.Directory.DCs() {
		found, err := dc.Search(ctx,
			directory.SearchRequest{Scope: directory.ScopeSubtree,
				Filter: "(sAMAccountName=" + directory.EscapeFilter(name) + ")"})
		if err == nil && len(found) == 1 {
			return readAccount(ctx, dc, found[0].DN)
		}
	}
	return nil, ErrLogon
}

// Account returns an account by its SID, if the account may log on.
func (w *World) Account(ctx context.Context, sid string) (*Account, error) {
	for _, dc := range w.Directory.DCs() {
		if !dc.Alive() {
			continue
		}
		parsed, ok := directory.ParseSID(sid)
		if !ok {
			return nil, ErrLogon
		}
		found, err := dc.BySID(ctx, parsed, "userAccountControl", "accountExpires")
		if err != nil {
			return nil, ErrLogon
		}
		uac, _ := found.Int("userAccountControl")
		expires, _ := found.Int("accountExpires")
		if at, ok := directory.FromFileTime(expires); uac&2 != 0 || ok && !w.Directory.Now().Before(at) {
			return nil, ErrLogon
		}
		return readAccount(ctx, dc, found.DN)
	}
	return nil, errRefused
}

func readAccount(ctx context.Context, dc *directory.DC, dn string) (*Account, error) {
	found, err := dc.Search(ctx, directory.SearchRequest{Base: dn, Scope: directory.ScopeBase,
		Attributes: []string{"sAMAccountName", "tokenGroups"}})
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, ErrLogon
	}
	return &Account{SID: found[0].SID.String(), Name: found[0].String("sAMAccountName"),
		Groups: found[0].Strings("tokenGroups")}, nil
}

// logonError returns the reason for a refused logon, as far as the person may know it.
func logonError(err error) error {
	var refused *directory.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refused) || refused.Kind != directory.KindLogon:
		return err
	case refused.Code == directory.CodePasswordMustChange:
		return ErrMustChange
	case refused.Code == directory.CodePasswordExpired:
		return ErrPasswordExpiry
	}
	return fmt.Errorf("%w (%d)", ErrLogon, refused.Code)
}
