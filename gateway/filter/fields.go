package filter

import (
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/attributes"
)

// Class is a class of objects with the fields by which they can be filtered.
type Class struct {
	Name    string // "users"
	Example string
	fields  []field
	refused map[string]string // fields of the record that cannot be used in filters, with the reason
}

// Names returns the names of the fields, in documentation order.
func (c *Class) Names() []string {
	names := make([]string, len(c.fields))
	for i := range c.fields {
		names[i] = c.fields[i].name
	}
	return names
}

// Row describes the common properties of some fields of a class, for people.
type Row struct {
	Fields    []string
	Operators string
	Values    string
	Indexed   bool
}

// Rows describes the fields of a class, grouped by the values that they accept.
func (c *Class) Rows() []Row {
	var rows []Row
	for i := range c.fields {
		f := &c.fields[i]
		row := Row{Operators: f.operators(), Values: f.form.about(), Indexed: f.indexed}
		at := slices.IndexFunc(rows, func(r Row) bool {
			return r.Operators == row.Operators && r.Values == row.Values && r.Indexed == row.Indexed
		})
		if at < 0 {
			at = len(rows)
			rows = append(rows, row)
		}
		rows[at].Fields = append(rows[at].Fields, f.name)
	}
	return rows
}

// field is one field of a class.
type field struct {
	name    string
	attr    string // the directory's name of the attribute
	ops     []Op
	form    form
	indexed bool // the base schema has an index for the attribute
	top     bool // whether the field is checked after the search, so that it may only be used at the top level
	links   bool // the field reveals memberships
}

func (f *field) operators() string {
	words := make([]string, len(f.ops))
	for i, op := range f.ops {
		words[i] = string(op)
	}
	return strings.Join(words, " ")
}

// The operators for each type of value.
var (
	textOps      = []Op{Equal, NotEqual, StartsWith, Contains, EndsWith, Present}
	wordOps      = []Op{Equal, NotEqual}
	referenceOps = []Op{Equal, NotEqual, Present}
	dateOps      = []Op{Greater, GreaterEqual, Less, LessEqual, Present}
	numberOps    = []Op{Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual, Present}
	onlyEqual    = []Op{Equal}
	expiryOps    = []Op{Greater, Less}
)

func text(name, attr string) field {
	return field{name: name, attr: attr, ops: textOps, form: textForm{}}
}

func bit(name string, mask string, inverted bool) field {
	return field{name: name, attr: accountControl, ops: wordOps, form: bitForm{mask, inverted}}
}

func fileTime(name, attr string) field {
	return field{name: name, attr: attr, ops: dateOps, form: fileTimeForm{}}
}

func reference(name, attr, word string) field {
	return field{name: name, attr: attr, ops: referenceOps, form: referenceForm{word}}
}

// state returns a field that is true of some objects and can only be tested for that.
func state(name string, clause func(at moment) *clause, check string) field {
	return field{name: name, ops: onlyEqual, form: stateForm{clause, check}, top: true}
}

// linking marks a field as one that reveals memberships.
func linking(f field) field {
	f.links = true
	return f
}

// indexed marks fields as indexed.
func indexed(fields ...field) []field {
	for i := range fields {
		fields[i].indexed = true
	}
	return fields
}

// further returns the fields for a table of attributes.
func further(table []*attributes.Attribute) []field {
	fields := make([]field, len(table))
	for i, a := range table {
		fields[i] = text(a.ShownAs(), a.LDAP)
		if a.Form == attributes.Integer {
			fields[i] = field{name: a.ShownAs(), attr: a.LDAP, ops: numberOps, form: numberForm{a.Limit}}
		}
		fields[i].indexed = a.Indexed
	}
	return fields
}

// With returns the class with additional fields for attributes.
func (c *Class) With(table []*attributes.Attribute) *Class {
	extended := *c
	extended.fields = slices.Concat(c.fields, further(table))
	return &extended
}

var (
	created  = field{name: "created", attr: "whenCreated", ops: dateOps, form: generalizedForm{}}
	modified = field{name: "modified", attr: "whenChanged", ops: dateOps, form: generalizedForm{}}
	members  = linking(reference("memberOf", "memberOf", "member"))
)

// Users is the class of user accounts.
var Users = &Class{
	Name: "users", Example: `enabled eq true and lastLogonApprox lt "-P60D"`,
	fields: slices.Concat(
		indexed(
			text("username", "sAMAccountName"), text("samUsername", "sAMAccountName"), text("name", "name"),
			text("displayName", "displayName"),
			text("firstName", "givenName"), text("lastName", "sn"), text("emailAddress", "mail"),
			text("userPrincipalName", "userPrincipalName"), text("office", "physicalDeliveryOfficeName"),
			text("city", "l"),
		),
		[]field{
			text("department", "department"), text("company", "company"), text("jobTitle", "title"), text("description", "description"),
			text("officePhone", "telephoneNumber"), text("mobilePhone", "mobile"),
			reference("manager", "manager", "user"),
		},
		indexed(members),
		[]field{
			linking(field{name: "memberOfNested", attr: "memberOf", ops: onlyEqual, form: referenceForm{"nested"}}),
			bit("enabled", "2", true), bit("passwordNeverExpired", neverExpires, false), bit("smartcardRequired", smartcard, false),
			{name: "changePasswordNextLogon", ops: wordOps, form: mustChangeForm{}},
			state("lockedOut", lockedOut, "locked"), state("passwordExpired", passwordExpired, "expires:1:"),
			state("accountExpired", accountExpired, ""), state("neverLoggedOn", neverLoggedOn, ""), linking(state("noGroups", noGroups, "")),
		},
		indexed(fileTime("lastLogonApprox", "lastLogonTimestamp")),
		[]field{
			fileTime("passwordLastSet", "pwdLastSet"),
			{name: "passwordExpires", ops: expiryOps, form: passwordExpiresForm{}, top: true},
			{name: "accountExpires", attr: "accountExpires", ops: dateOps, form: fileTimeForm{never: true}},
			created, modified,
		},
		further(attributes.Users),
	),
	refused: merged(places, map[string]string{
		"lastLogon": "each domain controller stores its own time; use lastLogonApprox, which is 9 to " +
			"14 days late",
		"badPwdCount":        "each domain controller stores its own count",
		"lockoutTime":        "it remains after a lockout has ended; use lockedOut",
		"userAccountControl": "use enabled, passwordNeverExpired or smartcardRequired",
		"pwdLastSet":         "use passwordLastSet or changePasswordNextLogon",
		"password":           "passwords cannot be read",
		"rdsProfilePath":     remoteDesktop, "rdsHomeFolderPath": remoteDesktop, "rdsHomeFolderDrive": remoteDesktop,
		"rdsConnectDrive": remoteDesktop, "rdsAllowLogon": remoteDesktop,
	}),
}

// Groups is the class of groups.
var Groups = &Class{
	Name: "groups", Example: `type eq "Security" and empty eq true`,
	fields: slices.Concat(
		indexed(text("name", "name"), text("samName", "sAMAccountName"), text("email", "mail")),
		[]field{text("description", "description"), reference("managedBy", "managedBy", "account")},
		indexed(members),
		[]field{
			{name: "scope", attr: groupType, ops: wordOps, form: wordForm{[]word{{"Domain_Local", "4"}, {"Global", "2"}, {"Universal", "8"}}}},
			{name: "type", attr: groupType, ops: wordOps, form: wordForm{[]word{{"Security", securityGroup}, {"Distribution", ""}}}},
			linking(state("empty", empty, "empty")),
			created, modified,
		},
	),
	refused: merged(places, nil),
}

// Computers is the class of computer accounts.
var Computers = &Class{
	Name: "computers", Example: `stale eq true`,
	fields: slices.Concat(
		indexed(text("computerName", "name")),
		[]field{text("dnsName", "dNSHostName"), text("description", "description"),
			text("operatingSystem", "operatingSystem"), bit("enabled", "2", true)},
		indexed(fileTime("lastLogonApprox", "lastLogonTimestamp")),
		[]field{fileTime("passwordLastSet", "pwdLastSet")},
		indexed(members),
		[]field{state("stale", stale, ""), created, modified},
	),
	refused: merged(places, map[string]string{
		"lastLogon": "each domain controller stores its own time; use lastLogonApprox, which the record shows " +
			"as lastLogon",
		"path": "use the parameter OUPath",
	}),
}

const remoteDesktop = "it is part of a packed attribute that the directory cannot search"

// places are the fields for an object's place, which filters cannot test, with the reason (facts
// S17).
var places = map[string]string{
	"distinguishedName": "the directory cannot search by parts of it; use the parameter OUPath",
	"ouPath":            "use the parameter OUPath",
}

func merged(tables ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}
