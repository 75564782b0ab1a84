package cli

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/attributes"
)

// grantPlace is the kind of object on which a right is granted.
type grantPlace string

// The places of grants.
const (
	onOU      grantPlace = "OU"      // each OU
	onDomain  grantPlace = "Domain"  // the root of the domain
	onDeleted grantPlace = "Deleted" // the container of deleted objects
	onDNS     grantPlace = "DNS"     // the DNS container in the System container
	onZone    grantPlace = "Zone"    // each zone
	onZones   grantPlace = "Zones"   // the container of the zones
	onGroup   grantPlace = "Group"   // the right is a membership in a group
)

// grant is a right that some scopes need.
type grant struct {
	Scopes  []string
	On      grantPlace
	Inherit string   // /I:T: the object and its descendants; /I:S: only descendants; empty means only the object
	Rights  []string // in dsacls notation, or the name of a group
}

// writing returns the rights to read and write attributes of a class, in dsacls notation.
func writing(class string, attributes ...string) []string {
	for i, attribute := range attributes {
		attributes[i] = "RPWP;" + attribute + ";" + class
	}
	return attributes
}

// revealing returns the rights to read confidential attributes of a class, in dsacls notation.
func revealing(class string, attributes ...string) []string {
	for i, attribute := range attributes {
		attributes[i] = "RPCA;" + attribute + ";" + class
	}
	return attributes
}

// further returns the additional attributes of users: the ones that Exchange adds if added is set, otherwise
// the ones that every forest has. It omits guarded attributes, because writing them grants rights.
func further(added bool) (names []string) {
	for _, a := range attributes.Users {
		if a.Added == added && !a.Guarded {
			names = append(names, a.LDAP)
		}
	}
	return names
}

func forScopes(scopes ...string) []string { return scopes }

// grants lists the rights in the order of the manual.
var grants = []grant{
	{forScopes("user:read", "group:read", "member:read", "ou:read", "computer:read", "user:lockouts", "laps:reveal", "laps:expire", "recovery:list", "recovery:reveal"), onOU, "/I:T", forScopes("GR")},

	{forScopes("user:write", "user:delete"), onOU, "/I:T", forScopes("CCDC;user")},
	{forScopes("user:write"), onOU, "/I:S", writing("user",
		"givenName", "initials", "sn", "displayName", "description", "mail", "department", "physicalDeliveryOfficeName",
		"company", "title", "manager", "streetAddress", "postOfficeBox", "l", "st", "postalCode", "c", "co", "countryCode",
		"telephoneNumber", "homePhone", "mobile", "profilePath", "scriptPath", "homeDirectory", "homeDrive", "userParameters",
		"accountExpires", "name", "cn", "sAMAccountName", "userPrincipalName", attributes.Photo.LDAP)},
	{forScopes("user:write"), onOU, "/I:S", writing("user", further(false)...)},
	// where Exchange has added these attributes
	{forScopes("user:write"), onOU, "/I:S", writing("user", further(true)...)},
	{forScopes("user:write", "user:password"), onOU, "/I:S", writing("user", "userAccountControl", "pwdLastSet", "lockoutTime")},
	{forScopes("user:write", "user:password"), onOU, "/I:S", forScopes("CA;Reset Password;user")},

	{forScopes("user:delete", "user:delete-tree"), onOU, "/I:S", forScopes("SDDT;;user")},
	// for the protection from accidental deletion
	{forScopes("user:write", "user:delete"), onOU, "/I:S", forScopes("RCWD;;user")},

	{forScopes("group:write", "group:delete"), onOU, "/I:T", forScopes("CCDC;group")},
	{forScopes("group:write"), onOU, "/I:S", writing("group", "name", "cn", "sAMAccountName", "description", "mail", "displayName", "managedBy", "groupType")},
	{forScopes("group:delete"), onOU, "/I:S", forScopes("SD;;group")},
	{forScopes("group:write", "group:delete"), onOU, "/I:S", forScopes("RCWD;;group")},
	{forScopes("member:write"), onOU, "/I:S", writing("group", "member")},
	{forScopes("member:write"), onOU, "/I:S", writing("user", "primaryGroupID")},
	{forScopes("member:write"), onOU, "/I:S", writing("computer", "primaryGroupID")},

	{forScopes("computer:write", "computer:delete", "computer:bulk-delete"), onOU, "/I:T", forScopes("CCDC;computer")},
	{forScopes("computer:write"), onOU, "/I:S", writing("computer", "name", "cn", "sAMAccountName", "dNSHostName", "servicePrincipalName", "description", "userAccountControl")},
	{forScopes("computer:write"), onOU, "/I:S", forScopes("CA;Reset Password;computer")},
	{forScopes("computer:delete", "computer:delete-tree", "computer:bulk-delete"), onOU, "/I:S", forScopes("SDDT;;computer")},
	{forScopes("computer:write", "computer:delete"), onOU, "/I:S", forScopes("RCWD;;computer")},

	{forScopes("laps:reveal"), onOU, "/I:S", revealing("computer",
		// where Windows LAPS has added these attributes
		"msLAPS-Password", "msLAPS-EncryptedPassword", "msLAPS-EncryptedPasswordHistory")},
	// where legacy LAPS has added this attribute
	{forScopes("laps:reveal"), onOU, "/I:S", revealing("computer", "ms-Mcs-AdmPwd")},
	{forScopes("laps:expire"), onOU, "/I:S", writing("computer", "msLAPS-PasswordExpirationTime")},
	{forScopes("laps:expire"), onOU, "/I:S", writing("computer", "ms-Mcs-AdmPwdExpirationTime")},
	{forScopes("recovery:reveal"), onOU, "/I:S", revealing("msFVE-RecoveryInformation", "msFVE-RecoveryPassword")},
	{forScopes("user:lockouts"), onGroup, "", forScopes("Event Log Readers")}, // of the domain controllers

	{forScopes("ou:write", "ou:delete"), onOU, "/I:T", forScopes("CCDC;organizationalUnit")},
	{forScopes("ou:write"), onOU, "/I:S", writing("organizationalUnit", "name", "ou", "description")},
	{forScopes("ou:delete", "ou:delete-tree"), onOU, "/I:S", forScopes("SDDT;;organizationalUnit")},
	// for the protection from accidental deletion
	{forScopes("ou:write", "ou:delete", "user:write", "group:write", "computer:write"), onOU, "/I:T", forScopes("RCWD;;organizationalUnit")},

	{forScopes("dns:read", "dns:write", "dns:delete", "dns:acme"), onDNS, "", forScopes("GR")},
	{forScopes("dns:write", "dns:delete", "dns:acme"), onZone, "/I:T", forScopes("GRGW", "CCDC;dnsNode")},
	{forScopes("dns:write", "dns:delete"), onZones, "", forScopes("CCDC;dnsZone")},
	// needed for whole zones, although a member of DnsAdmins is nearly a domain administrator
	{forScopes("dns:write", "dns:delete"), onGroup, "", forScopes("DnsAdmins")},

	{forScopes("bin:read", "bin:restore"), onDeleted, "", forScopes("LCRP")},
	{forScopes("bin:restore"), onDomain, "", forScopes("CA;Reanimate Tombstones")},
}

// grantTarget is the account that receives rights, and the places where they are granted.
type grantTarget struct {
	Account string   // DOMAIN\name
	Domain  string   // DN
	OUs     []string // DNs
	Zones   []string // names
}

// objects returns the distinguished names of the objects of a place.
func (t grantTarget) objects(on grantPlace) []string {
	switch on {
	case onOU:
		return t.OUs
	case onDomain:
		return []string{t.Domain}
	case onDeleted:
		return []string{"CN=Deleted Objects," + t.Domain}
	case onDNS:
		return []string{"CN=MicrosoftDNS,CN=System," + t.Domain}
	case onZones:
		return []string{"CN=MicrosoftDNS,DC=DomainDnsZones," + t.Domain}
	}
	var all []string
	for _, zone := range t.Zones {
		all = append(all, "DC="+zone+",CN=MicrosoftDNS,DC=DomainDnsZones,"+t.Domain)
	}
	return all
}

// grantLine is one permission to grant.
type grantLine struct {
	Scopes []string `json:"scopes"` // scopes that need the right
	Object string   `json:"object"`
	Right  string   `json:"right"` // in dsacls notation
	Grant  string   `json:"grant"` // the command that grants the right
	Revoke string   `json:"revoke"`
}

// grantLines returns the rights that the scopes need, for review. The error names all unknown scopes.
func grantLines(scopes []string, t grantTarget) ([]grantLine, error) {
	var unknown []string
	for _, scope := range scopes {
		if !slices.Contains(grantScopes(), scope) {
			unknown = append(unknown, scope)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("no rights belong to %s; scopes that need some are %s", strings.Join(unknown, ", "),
			strings.Join(grantScopes(), ", "))
	}
	lines := []grantLine{}
	for _, g := range grants {
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

func (g grant) lines(scopes []string, t grantTarget) (lines []grantLine) {
	_, name, _ := strings.Cut(t.Account, `\`)
	if g.On == onGroup {
		return []grantLine{{scopes, g.Rights[0], "member",
			fmt.Sprintf("Add-ADGroupMember -Identity '%s' -Members '%s'", g.Rights[0], name),
			fmt.Sprintf("Remove-ADGroupMember -Identity '%s' -Members '%s'", g.Rights[0], name)}}
	}
	for _, object := range t.objects(g.On) {
		revoke := fmt.Sprintf(`dsacls "%s" /R "%s"`, object, t.Account)
		if g.On == onDeleted {
			lines = append(lines, grantLine{scopes, object, "owner", fmt.Sprintf(`dsacls "%s" /takeownership`, object), ""})
		}
		for _, right := range g.Rights {
			words := slices.DeleteFunc([]string{g.Inherit, "/G", fmt.Sprintf(`"%s:%s"`, t.Account, right)},
				func(word string) bool { return word == "" })
			lines = append(lines, grantLine{scopes, object, right,
				fmt.Sprintf(`dsacls "%s" %s`, object, strings.Join(words, " ")), revoke})
		}
	}
	return lines
}

// grantScopes returns the scopes that need rights, in the order of the table.
func grantScopes() (all []string) {
	for _, g := range grants {
		for _, scope := range g.Scopes {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

//go:embed grants.ps1
var grantScriptText string

// grantScript returns the PowerShell script that grants and revokes the rights, with CRLF line endings.
func grantScript() string {
	var rows strings.Builder
	for i, g := range grants {
		if i > 0 {
			rows.WriteString("\n    ")
		}
		fmt.Fprintf(&rows, "@{ Scopes = %s; On = '%s'; Inherit = '%s'; Rights = %s }", quotedList(g.Scopes), g.On,
			g.Inherit, quotedList(g.Rights))
	}
	return strings.ReplaceAll(strings.Replace(grantScriptText, "# GRANTS", rows.String(), 1), "\n", "\r\n")
}

// quotedList returns texts as a PowerShell array. No text may contain a quotation mark.
func quotedList(texts []string) string { return "@('" + strings.Join(texts, "', '") + "')" }
