package attributes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Site is an attribute of users that an installation has added to the table in its settings. The tags
// declare how package config reads it.
type Site struct {
	LDAP string `field:"attribute" need:"true"` // lDAPDisplayName: "acme-CostCentre"
	// Field is the name in records and filters; empty means LDAP without hyphens, in lower camel case.
	Field string `field:"field"`
	Form  string `field:"form" is:"form"` // one of [Forms]; empty means text
	// Limit is as in [Attribute]; zero means 1024, or the largest 32-bit number.
	Limit int `field:"limit"`
	// Most is the maximum number of values; zero and one mean a single value.
	Most       int  `field:"values"`
	Unique     bool `field:"unique"`     // no two objects of the domain may have the same value
	Privileged bool `field:"privileged"` // writing it needs the scope privileged
}

// Forms returns the forms that a site's attribute may have.
func Forms() []string { return []string{string(Unicode), string(ASCII), string(Integer)} }

// Limits on a site's declarations.
const (
	MostSite  = 50 // attributes
	mostText  = 1 << 15
	mostCount = 1000 // values
)

var (
	ldapPattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,255}$`)
	fieldPattern = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,63}$`)
)

// Attribute returns the row for the table. Its values give rights if the site says so, or if the
// directory or Windows derives rights from them.
func (s Site) Attribute() *Attribute {
	a := &Attribute{
		LDAP: s.LDAP, Field: s.field(), Form: Form(cmp.Or(s.Form, string(Unicode))), Limit: s.Limit,
		Unique: s.Unique, Guarded: s.Privileged || GivesRights(s.LDAP), Added: true,
		Doc: "Attribute that this installation added.",
	}
	a.Input = strings.ToUpper(a.Field[:1]) + a.Field[1:]
	if s.Most > 1 {
		a.Most = s.Most
	}
	switch {
	case a.Limit > 0:
	case a.Form == Integer:
		a.Limit = maxUnixID
	default:
		a.Limit = 1024
	}
	return a
}

func (s Site) field() string {
	if s.Field != "" {
		return s.Field
	}
	var name strings.Builder
	for i, part := range strings.Split(s.LDAP, "-") {
		switch {
		case part == "":
		case i == 0:
			name.WriteString(strings.ToLower(part[:1]) + part[1:])
		default:
			name.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return name.String()
}

// Check returns an error if the attribute is faulty.
func (s Site) Check() error {
	switch {
	case !ldapPattern.MatchString(s.LDAP):
		return fmt.Errorf("%q is no attribute: give its LDAP display name, such as roomNumber", s.LDAP)
	case !fieldPattern.MatchString(s.field()):
		return fmt.Errorf("%s: the field %q must begin with a small letter, and have letters and digits only",
			s.LDAP, s.field())
	case s.Form != "" && !slices.Contains(Forms(), s.Form):
		return fmt.Errorf("%s: form takes one of %s", s.LDAP, strings.Join(Forms(), ", "))
	case Form(s.Form) == Integer && s.Most > 1:
		return fmt.Errorf("%s: numbers have a single value", s.LDAP)
	case Form(s.Form) == Integer && s.Limit > maxUnixID:
		return fmt.Errorf("%s: a number is at most %d", s.LDAP, maxUnixID)
	case Form(s.Form) != Integer && s.Limit > mostText:
		return fmt.Errorf("%s: a text has at most %d characters", s.LDAP, mostText)
	case s.Most > mostCount:
		return fmt.Errorf("%s: there are at most %d values", s.LDAP, mostCount)
	}
	if why := refusal(s.LDAP); why != "" {
		return fmt.Errorf("%s: %s", s.LDAP, why)
	}
	return nil
}

// CheckSite returns the faults of a site's attributes, including duplicates.
func CheckSite(sites []Site) (faults []error) {
	if len(sites) > MostSite {
		faults = append(faults, fmt.Errorf("there are %d attributes, of at most %d", len(sites), MostSite))
	}
	taken := map[string]string{}
	for _, a := range append(slices.Clone(Users), Photo) {
		for _, name := range []string{a.LDAP, a.Field, a.Input, a.ShownAs()} {
			taken[strings.ToLower(name)] = "is in the table already"
		}
	}
	for _, name := range slices.Concat(fixed, systemOwned) {
		taken[name] = "is the name of a field, of its attribute or of a parameter"
	}
	for _, s := range sites {
		if err := s.Check(); err != nil {
			faults = append(faults, err)
			continue
		}
		names := []string{strings.ToLower(s.LDAP), strings.ToLower(s.field())}
		for _, name := range slices.Compact(names) {
			if why := taken[name]; why != "" {
				faults = append(faults, fmt.Errorf("%s: %s %s", s.LDAP, name, why))
			}
			taken[name] = "is given twice"
		}
	}
	return faults
}

// systemOwned lists attributes that the directory maintains, or that other operations change together with
// everything that depends on them.
var systemOwned = strings.Fields(strings.ToLower(`
	accountExpires adminCount badPasswordTime badPwdCount c cn co countryCode distinguishedName groupType instanceType
	isCriticalSystemObject isDeleted isRecycled lastKnownParent lastLogoff lastLogon lastLogonTimestamp lockoutTime
	logonCount member memberOf msDS-User-Account-Control-Computed name nTSecurityDescriptor objectCategory objectClass
	objectGUID objectSid ou primaryGroupID pwdLastSet rid sAMAccountName sAMAccountType securityIdentifier sIDHistory
	systemFlags thumbnailLogo thumbnailPhoto jpegPhoto tokenGroups userAccountControl userParameters userPrincipalName
	uSNChanged uSNCreated whenChanged whenCreated`))

// fixed lists further names that are already in use, in lower case: the fields of every user record and their
// attributes, the fields of filters, and the parameters of operations on users.
var fixed = strings.Fields(`
	accountexpired after changepassword changepasswordnextlogon city company count country created
	department description displayname dryrun emailaddress enabled filter firstname force generate
	givenname groupname guid homedirectory homedrive homefolderdirectory homefolderdrive homefolderpath homephone
	initials isprotected jobtitle l lastlogonapprox lastname limit lockedout mail manager memberofnested
	mobile mobilephone modified neverloggedon newpassword newusername nogroups office officephone oupath
	parent password passwordexpired passwordexpires passwordlastset passwordneverexpired
	physicaldeliveryofficename planid pobox postalcode postofficebox profilelogonscript profilepath reason
	rdsallowlogon rdsconnectdrive rdshomefolderdrive rdshomefolderpath rdsprofilepath recursive samusername
	scriptpath showfields sid smartcardrequired sn st state street streetaddress streetpobox telephonenumber
	text title userguid username withetag zipcode`)

// secretOwned lists parts of the names of attributes that contain secrets. No record may show such
// attributes.
var secretOwned = []string{"pwd", "password", "secret", "credential", "passphrase", "recoverykey"}

// refusal returns the reason why an attribute cannot be added by a site, or "" if it can.
func refusal(ldap string) string {
	name := strings.ToLower(ldap)
	switch {
	case slices.Contains(systemOwned, name):
		return "the directory or another row keeps this attribute"
	case slices.ContainsFunc(secretOwned, func(part string) bool { return strings.Contains(name, part) }):
		return "its name is the name of a secret, which records would show"
	}
	return ""
}

// rightful lists attributes from which Windows, or software for Windows, derives rights.
var rightful = strings.Fields(strings.ToLower(`
	accountNameHistory altSecurityIdentities desktopProfile logonHours logonWorkstation uid userCertificate
	userSMIMECertificate userWorkstations x509Certificate`))

// GivesRights reports whether a value of an attribute can give rights to its account or to another account.
// Such a value determines who can sign in as the account, where the account can sign in, or for which
// accounts it can act. It returns true for all Microsoft attributes, except those made for customers.
func GivesRights(ldap string) bool {
	name := strings.ToLower(ldap)
	if strings.HasPrefix(name, "msds-cloudextensionattribute") {
		return false
	}
	return slices.Contains(rightful, name) || strings.HasPrefix(name, "ms") || strings.HasPrefix(name, "krb")
}
