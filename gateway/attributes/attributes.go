// Package attributes contains the table of the additional attributes of accounts, which records show only on
// request. The API, the filters, the scripts and the pages all derive from its rows.
package attributes

import (
	"fmt"
	"regexp"
	"strings"
)

// Attribute is an attribute of users in addition to those that every record shows. Its row defines
// a field of the record, which is shown if ShowFields names it, an input of create and update, and
// a field of filters.
type Attribute struct {
	LDAP   string // LDAP name: "employeeID"
	Field  string // field of records: "employeeId"
	Input  string // input of create and update: "EmployeeId"
	Filter string // field of filters, if it is not Field
	Form   Form   // form of its values
	Limit  int    // maximum length in UTF-16 code units, or the largest number
	Most   int    // maximum number of values; zero for a single value

	Indexed bool // the base schema has an index for it
	Unique  bool // whether no two objects of the domain may have the same value
	Guarded bool // writing it needs the scope privileged, because its values give rights
	Added   bool // not in the base schema; Exchange adds it

	Pattern *regexp.Regexp // pattern of a value; nil for any text
	Must    string         // "must be ...", if Pattern does not match
	Example string
	Doc     string
}

// Form is the form of an attribute's values.
type Form string

// The forms. Scripts use the same words.
const (
	Unicode Form = "text"
	ASCII   Form = "ascii"
	Integer Form = "number"
	Bytes   Form = "bytes" // in base64
	size    Form = "size"  // only the number of bytes is shown
)

const maxUnixID = 1<<31 - 1

var (
	proxyPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*:[^ ].*$`)
	spnPattern   = regexp.MustCompile(`^[^/ ]+/[^/ ]+(?:/[^/ ]+)?$`)
)

// Users is the table. Everything that the gateway does with an attribute derives from its row.
var Users = append([]*Attribute{
	{LDAP: "employeeID", Field: "employeeId", Input: "EmployeeId", Form: Unicode, Limit: 16, Example: "10442", Doc: "Employee ID."},
	{LDAP: "employeeNumber", Field: "employeeNumber", Input: "EmployeeNumber", Form: Unicode, Limit: 512, Doc: "Employee number."},
	{LDAP: "employeeType", Field: "employeeType", Input: "EmployeeType", Form: Unicode, Limit: 256, Example: "contractor", Doc: "Employee type."},
	{LDAP: "division", Field: "division", Input: "Division", Form: Unicode, Limit: 256, Doc: "Division."},
	{LDAP: "uidNumber", Field: "uidNumber", Input: "UidNumber", Form: Integer, Limit: maxUnixID, Unique: true, Example: "10442", Doc: "User ID on UNIX (uidNumber)."},
	{LDAP: "gidNumber", Field: "gidNumber", Input: "GidNumber", Form: Integer, Limit: maxUnixID, Example: "10000", Doc: "Primary group ID on UNIX (gidNumber)."},
	{LDAP: "loginShell", Field: "loginShell", Input: "LoginShell", Form: ASCII, Limit: 1024, Example: "/bin/bash", Doc: "Login shell on UNIX."},
	{LDAP: "unixHomeDirectory", Field: "unixHomeDirectory", Input: "UnixHomeDirectory", Form: ASCII, Limit: 10240, Example: "/home/jdoe", Doc: "Home directory on UNIX."},
	{
		LDAP: "proxyAddresses", Field: "proxyAddresses", Input: "ProxyAddresses", Filter: "proxyAddress", Form: Unicode, Limit: 1123, Most: 500,
		Indexed: true, Unique: true, Example: "SMTP:jane.doe@corp.example",
		Pattern: proxyPattern, Must: "must be addresses with their types, such as SMTP:jane@corp.example (the primary one) or smtp:j.doe@corp.example",
		Doc: "Email addresses of the mailbox with their types. An update replaces all addresses.",
	},
	{
		LDAP: "servicePrincipalName", Field: "servicePrincipalNames", Input: "ServicePrincipalNames", Filter: "servicePrincipalName", Form: Unicode, Limit: 1024, Most: 500,
		Indexed: true, Unique: true, Guarded: true, Example: "HTTP/intranet.corp.example",
		Pattern: spnPattern, Must: "must be service principal names, such as HTTP/intranet.corp.example",
		Doc: "Service principal names of the account. An update replaces all names. With a service principal name, any domain user can request a ticket and try to guess the account's password offline.",
	},
}, extensionAttributes()...)

// Photo is the small picture of a user. It is not a field of records, because lists must not contain it. It
// has separate operations.
var Photo = &Attribute{LDAP: "thumbnailPhoto", Field: "photo", Input: "Photo", Form: Bytes, Limit: 102400}

// extensionAttributes are the fifteen attributes that Exchange reserves for customers.
func extensionAttributes() []*Attribute {
	var all []*Attribute
	for n := 1; n <= 15; n++ {
		name := fmt.Sprint("extensionAttribute", n)
		a := &Attribute{
			LDAP: name, Field: name, Input: fmt.Sprint("ExtensionAttribute", n),
			Form: Unicode, Limit: 1024, Added: true, Doc: fmt.Sprintf("Exchange extension attribute %d.", n),
		}
		if n > 10 {
			a.Limit = 2048
		}
		all = append(all, a)
	}
	return all
}

// ShownAs returns the name of the attribute in filters.
func (a *Attribute) ShownAs() string {
	if a.Filter != "" {
		return a.Filter
	}
	return a.Field
}

// separator separates the parts of a line about an attribute. Values contain no control characters.
const separator = "\x1d"

// ValueSeparator separates the values of an attribute in announcements.
const ValueSeparator = "\n"

// Line returns the attribute in the form for scripts: its name, form and rules, followed by the
// values to write.
func (a *Attribute) Line(values ...string) string {
	var rules []string
	if a.Most > 0 {
		rules = append(rules, "many")
	}
	if a.Unique {
		rules = append(rules, "unique")
	}
	if a.Guarded {
		rules = append(rules, "guarded")
	}
	head := []string{a.LDAP, string(a.Form), strings.Join(rules, " "), a.Field}
	return strings.Join(append(head, values...), separator)
}

// Kept returns the lines of the additional attributes in the records of removals and creations. These are the
// attributes that every forest has, and the size of the photo.
func Kept() []string {
	photo := *Photo
	photo.Form = size
	return append(Base(Users), photo.Line())
}

// Base returns the lines of the attributes that every forest has, for scripts that read all of
// them.
func Base(table []*Attribute) []string {
	var lines []string
	for _, a := range table {
		if !a.Added {
			lines = append(lines, a.Line())
		}
	}
	return lines
}
