// Package rights knows which rights of Windows each scope of the API needs ([Table]): as
// lines of dsacls to review ([Lines]), and as a script that grants them and takes them
// back ([Script]).
package rights

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Place is where a right is granted.
type Place string

// The places.
const (
	OU      Place = "OU"      // each OU
	Domain  Place = "Domain"  // its root
	Deleted Place = "Deleted" // the container of deleted objects
	DNS     Place = "DNS"     // the container of DNS in the system's
	Zone    Place = "Zone"    // each zone
	Zones   Place = "Zones"   // their container
	Group   Place = "Group"   // the right is a membership in a group
)

// Grant is what some scopes need.
type Grant struct {
	Scopes  []string
	On      Place
	Inherit string   // /I:T: the object and all below; /I:S: only what lies below; empty: the object
	Rights  []string // of dsacls, or the group
}

// write returns the rights to read and write attributes of a class.
func write(class string, attributes ...string) []string {
	for i, attribute := range attributes {
		attributes[i] = "RPWP;" + attribute + ";" + class
	}
	return attributes
}

func some(scopes ...string) []string { return scopes }

// Table is ordered as the manual shows it.
var Table = []Grant{
	{some("user:read", "group:read", "member:read", "ou:read", "computer:read"), OU, "/I:T", some("GR")},

	{some("user:write", "user:delete"), OU, "/I:T", some("CCDC;user")},
	{some("user:write"), OU, "/I:S", write("user",
		"givenName", "initials", "sn", "displayName", "description", "mail", "department", "physicalDeliveryOfficeName",
		"company", "title", "manager", "streetAddress", "postOfficeBox", "l", "st", "postalCode", "c", "co", "countryCode",
		"telephoneNumber", "homePhone", "mobile", "profilePath", "scriptPath", "homeDirectory", "homeDrive", "userParameters",
		"accountExpires", "name", "cn", "sAMAccountName", "userPrincipalName")},
	{some("user:write", "user:password"), OU, "/I:S", write("user", "userAccountControl", "pwdLastSet", "lockoutTime")},
	{some("user:write", "user:password"), OU, "/I:S", some("CA;Reset Password;user")},

	{some("group:write", "group:delete"), OU, "/I:T", some("CCDC;group")},
	{some("group:write"), OU, "/I:S", write("group", "name", "cn", "sAMAccountName", "description", "mail", "displayName", "managedBy", "groupType")},
	{some("member:write"), OU, "/I:S", write("group", "member")},

	{some("computer:write", "computer:delete", "computer:bulk-delete"), OU, "/I:T", some("CCDC;computer")},
	{some("computer:write"), OU, "/I:S", write("computer", "name", "cn", "sAMAccountName", "dNSHostName", "servicePrincipalName", "description", "userAccountControl")},
	{some("computer:write"), OU, "/I:S", some("CA;Reset Password;computer")},
	{some("computer:delete", "computer:bulk-delete"), OU, "/I:S", some("SDDT;;computer")},

	{some("ou:write", "ou:delete"), OU, "/I:T", some("CCDC;organizationalUnit")},
	{some("ou:write"), OU, "/I:S", write("organizationalUnit", "name", "ou", "description")},
	{some("ou:delete", "ou:delete-tree"), OU, "/I:S", some("SDDT;;organizationalUnit")},
	{some("ou:write", "ou:delete"), OU, "/I:T", some("RCWD;;organizationalUnit")}, // the protection from accidental deletion

	{some("dns:read", "dns:write", "dns:delete", "dns:acme"), DNS, "", some("GR")},
	{some("dns:write", "dns:delete", "dns:acme"), Zone, "/I:T", some("GRGW", "CCDC;dnsNode")},
	{some("dns:write", "dns:delete"), Zones, "", some("CCDC;dnsZone")},
	{some("dns:write", "dns:delete"), Group, "", some("DnsAdmins")}, // zones only: nearly a domain administrator

	{some("bin:read", "bin:restore"), Deleted, "", some("LCRP")},
	{some("bin:restore"), Domain, "", some("CA;Reanimate Tombstones")},
}

// Target says for whom and where rights are granted.
type Target struct {
	Account string   // DOMAIN\name
	Domain  string   // DN
	OUs     []string // DNs
	Zones   []string // names
}

// objects returns the objects of a place.
func (t Target) objects(on Place) []string {
	switch on {
	case OU:
		return t.OUs
	case Domain:
		return []string{t.Domain}
	case Deleted:
		return []string{"CN=Deleted Objects," + t.Domain}
	case DNS:
		return []string{"CN=MicrosoftDNS,CN=System," + t.Domain}
	case Zones:
		return []string{"CN=MicrosoftDNS,DC=DomainDnsZones," + t.Domain}
	}
	var all []string
	for _, zone := range t.Zones {
		all = append(all, "DC="+zone+",CN=MicrosoftDNS,DC=DomainDnsZones,"+t.Domain)
	}
	return all
}

// Line is one change of permissions.
type Line struct {
	Scopes []string `json:"scopes"` // that need it
	Object string   `json:"object"`
	Right  string   `json:"right"` // as dsacls writes it
	Grant  string   `json:"grant"` // the command
	Revoke string   `json:"revoke"`
}

// Lines returns what the scopes need, for review. The error names scopes that are none.
func Lines(scopes []string, t Target) ([]Line, error) {
	var unknown []string
	for _, scope := range scopes {
		if !slices.Contains(Scopes(), scope) {
			unknown = append(unknown, scope)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("no rights belong to %s; scopes that need some are %s", strings.Join(unknown, ", "), strings.Join(Scopes(), ", "))
	}
	lines := []Line{}
	for _, g := range Table {
		var wanted []string
		for _, scope := range g.Scopes {
			if slices.Contains(scopes, scope) {
				wanted = append(wanted, scope)
			}
		}
		if len(wanted) > 0 {
			lines = append(lines, g.lines(wanted, t)...)
		}
	}
	return lines, nil
}

func (g Grant) lines(scopes []string, t Target) (lines []Line) {
	_, name, _ := strings.Cut(t.Account, `\`)
	if g.On == Group {
		return []Line{{scopes, g.Rights[0], "member", fmt.Sprintf("Add-ADGroupMember -Identity '%s' -Members '%s'", g.Rights[0], name), fmt.Sprintf("Remove-ADGroupMember -Identity '%s' -Members '%s'", g.Rights[0], name)}}
	}
	for _, object := range t.objects(g.On) {
		revoke := fmt.Sprintf(`dsacls "%s" /R "%s"`, object, t.Account)
		if g.On == Deleted {
			lines = append(lines, Line{scopes, object, "owner", fmt.Sprintf(`dsacls "%s" /takeownership`, object), ""})
		}
		for _, right := range g.Rights {
			words := slices.DeleteFunc([]string{g.Inherit, "/G", fmt.Sprintf(`"%s:%s"`, t.Account, right)}, func(word string) bool { return word == "" })
			lines = append(lines, Line{scopes, object, right, fmt.Sprintf(`dsacls "%s" %s`, object, strings.Join(words, " ")), revoke})
		}
	}
	return lines
}

// Scopes returns the scopes that need rights, in the order of the table.
func Scopes() (all []string) {
	for _, g := range Table {
		for _, scope := range g.Scopes {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

//go:embed script.ps1
var script string

// Script returns the PowerShell script that grants and revokes, with line ends of Windows.
func Script() string {
	var rows strings.Builder
	for i, g := range Table {
		if i > 0 {
			rows.WriteString("\n    ")
		}
		fmt.Fprintf(&rows, "@{ Scopes = %s; On = '%s'; Inherit = '%s'; Rights = %s }", list(g.Scopes), g.On, g.Inherit, list(g.Rights))
	}
	return strings.ReplaceAll(strings.Replace(script, "# GRANTS", rows.String(), 1), "\n", "\r\n")
}

// list returns texts as an array of PowerShell. None of them has a quotation mark.
func list(texts []string) string { return "@('" + strings.Join(texts, "', '") + "')" }
