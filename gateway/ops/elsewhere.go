package ops

import (
	"slices"
	"strings"

	"adgateway/gateway/schema"
)

// Names that parameters have in other tools.
const (
	inLDAP    = "the LDAP name of "
	inCmdlets = "what the PowerShell cmdlets call "
	inAPIs    = "what other APIs call "
	another   = "another name of "
)

// Alias is a parameter that has a different name elsewhere.
type Alias struct {
	Param *Param
	Where string // beginning of a phrase that ends with the parameter's name
}

// others lists names that are in no table of attributes or records, which are parameters of cmdlets and
// second names of attributes. Each stands for the first parameter in its list that the operation has.
var others = []struct {
	name, where string
	params      []string
}{
	{"Surname", inCmdlets, []string{"LastName"}},
	{"AccountPassword", inCmdlets, []string{"Password", "newPassword"}},
	{"NewPassword", inCmdlets, []string{"Password"}},
	{"userPassword", inLDAP, []string{"Password", "newPassword"}},
	{"ChangePasswordAtLogon", inCmdlets, []string{"ChangePasswordNextLogon", "ChangePassword"}},
	{"pwdLastSet", inLDAP, []string{"ChangePasswordNextLogon", "ChangePassword"}},
	{"PasswordNeverExpires", inCmdlets, []string{"PasswordNeverExpired"}},
	{"AccountExpirationDate", inCmdlets, []string{"AccountExpires"}},
	{"co", inLDAP, []string{"Country"}},
	{"countryCode", inLDAP, []string{"Country"}},
	{"HomeDrive", inCmdlets, []string{"HomeFolderDrive"}},
	{"Path", inCmdlets, []string{"OUPath", "OUDestinationPath"}},
	{"TargetPath", inCmdlets, []string{"OUDestinationPath", "OUPath"}},
	{"SearchBase", inCmdlets, []string{"OUPath"}},
	{"SearchScope", inCmdlets, []string{"Recursive"}},
	{"ResultSetSize", inCmdlets, []string{"Limit"}},
	{"ResultPageSize", inCmdlets, []string{"Limit"}},
	{"Properties", inCmdlets, []string{ShowFields}},
	{"LDAPFilter", inCmdlets, []string{"Filter"}},
	{"ProtectedFromAccidentalDeletion", inCmdlets, []string{"IsProtected", "Protect"}},
	{"NewName", inCmdlets, []string{"NewUsername", "NewGroupName", "NewADComputerName", "OUNewName"}},
	{"Member", inCmdlets, []string{"Members", "Object", "ChildGroupName"}},
	{"MemberOf", inCmdlets, []string{"GroupName", "ParentGroupName"}},
	{"WhatIf", inCmdlets, []string{DryRun}},
	{"DNSHostName", inCmdlets, []string{"ADComputerName"}},
	{"NetworkId", inCmdlets, []string{"NetworkID", "NetworkIDOrZoneName"}},
	{"RRType", inCmdlets, []string{"Type"}},
	{"TTL", "short for ", []string{"TimeToLive"}},
	{"Expiry", another, []string{"AccountExpires"}},
	{"ExpiryDate", another, []string{"AccountExpires"}},
	{"top", inAPIs, []string{"Limit"}},
	{"per_page", inAPIs, []string{"Limit"}},
	{"pageSize", inAPIs, []string{"Limit"}},
	{"page_size", inAPIs, []string{"Limit"}},
	{"maxResults", inAPIs, []string{"Limit"}},
	{"page", inAPIs, []string{"After"}},
	{"skip", inAPIs, []string{"After"}},
	{"offset", inAPIs, []string{"After"}},
	{"cursor", inAPIs, []string{"After"}},
	{"pageToken", inAPIs, []string{"After"}},
	{"filter", inAPIs, []string{"Filter"}},
	{"select", inAPIs, []string{ShowFields}},
	{"q", inAPIs, []string{"Text"}},
	{"query", inAPIs, []string{"Text"}},
}

// subjects are the names of attributes and cmdlet parameters that identify an object.
var subjects = []struct{ name, where string }{
	{"Identity", inCmdlets}, {"sAMAccountName", inLDAP}, {"distinguishedName", inLDAP}, {"objectGUID", inLDAP},
	{"objectSid", inLDAP}, {"cn", inLDAP}, {"Name", inCmdlets},
}

// Elsewhere returns the parameter that has a name in the directory or in the cmdlets. Its Param is
// nil if there is none. A leading hyphen, as PowerShell writes it, or dollar sign, as OData does, is
// ignored.
func Elsewhere(op *Operation, name string) Alias {
	if name = strings.TrimPrefix(strings.TrimPrefix(name, "-"), "$"); name == "" {
		return Alias{}
	}
	for i := range op.Params {
		if strings.EqualFold(schema.Attribute(op.Params[i].Kind), name) {
			return Alias{&op.Params[i], inLDAP}
		}
	}
	if p := paramOf(op, fieldInput(op, name)); p != nil {
		return Alias{p, inLDAP}
	}
	if p := paramOf(op, recordInput(op, name)); p != nil {
		return Alias{p, inCmdlets}
	}
	for _, other := range others {
		if !strings.EqualFold(other.name, name) {
			continue
		}
		if p := paramOf(op, other.params...); p != nil {
			return Alias{p, other.where}
		}
	}
	for _, subject := range subjects {
		if strings.EqualFold(subject.name, name) {
			return Alias{subjectOf(op), subject.where}
		}
	}
	return Alias{}
}

// paramOf returns the first parameter with one of the names, or nil if there is none.
func paramOf(op *Operation, names ...string) *Param {
	for _, name := range names {
		if p := op.Param(name); p != nil && name != "" {
			return p
		}
	}
	return nil
}

// fieldInput returns the input for the record's field that holds an attribute, or "" if there is none.
func fieldInput(op *Operation, attribute string) string {
	if op.Reply.Shape == nil || !op.Effect.Writes() {
		return ""
	}
	for _, field := range op.Reply.Shape.Fields {
		if field.Attribute == "" || field.Attribute == "parent" || !strings.EqualFold(field.Attribute, attribute) {
			continue
		}
		if field.Input != "" {
			return field.Input
		}
		return field.Name
	}
	return ""
}

// recordInput returns the parameter for a property of a record's data, named as in the DNS cmdlets,
// or "" if there is none.
func recordInput(op *Operation, property string) string {
	resource, _, _ := strings.Cut(op.ID, ".")
	for _, kind := range schema.RecordTypes {
		if kind.Resource == "" || kind.Resource != resource {
			continue
		}
		at := slices.IndexFunc(kind.Fields, func(f schema.RecordField) bool {
			return strings.EqualFold(f.Property, property)
		})
		if at >= 0 {
			return kind.Fields[at].Name
		}
	}
	return ""
}

// subjectOf returns the parameter that names the object of the operation: the first one in its path
// or, without one, the first required one.
func subjectOf(op *Operation) *Param {
	for i := range op.Params {
		if op.Params[i].Path != "" {
			return &op.Params[i]
		}
	}
	for i := range op.Params {
		if op.Params[i].Required {
			return &op.Params[i]
		}
	}
	return nil
}

// Setter returns another change of the same record that takes a field as a parameter, or nil if
// there is none.
func Setter(op *Operation, field string) *Operation {
	at := slices.IndexFunc(table, func(other *Operation) bool {
		alike := other != op && other.Effect == Update && other.Reply.Shape == op.Reply.Shape
		return alike && other.Param(field) != nil
	})
	if at < 0 {
		return nil
	}
	return table[at]
}
