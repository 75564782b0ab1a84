package adcmd

import (
	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
)

// allCommands returns the commands of the module.
func allCommands() []command {
	var out []command
	for _, table := range [][]command{readers, writers, accounts, domainCommands} {
		out = append(out, table...)
	}
	return out
}

var readers = []command{
	{name: "Get-ADUser", class: "ADUser", run: getObjects, params: getParams},
	{name: "Get-ADGroup", class: "ADGroup", run: getObjects, params: getParams},
	{name: "Get-ADComputer", class: "ADComputer", run: getObjects, params: getParams},
	{name: "Get-ADOrganizationalUnit", class: "ADOrganizationalUnit", run: getObjects, params: getParams},
	{name: "Get-ADObject", class: "ADObject", run: getObjects, params: append([]string{"IncludeDeletedObjects"}, getParams...)},
	{name: "Get-ADPrincipalGroupMembership", class: "ADPrincipal", run: principalGroups},
}

var (
	newParams = []string{"Name", "Path", "OtherAttributes", "PassThru"}
	setParams = []string{"Add", "Remove", "Replace", "Clear", "PassThru"}
)

var writers = []command{
	{name: "New-ADUser", class: "ADUser", run: newUser.run, sets: true, params: append([]string{"AccountPassword", "Type"}, newParams...)},
	{name: "New-ADGroup", class: "ADGroup", run: newGroup.run, sets: true, params: newParams},
	{name: "New-ADComputer", class: "ADComputer", run: newComputer.run, sets: true, params: append([]string{"AccountPassword"}, newParams...)},
	{name: "New-ADOrganizationalUnit", class: "ADOrganizationalUnit", run: newOU.run, sets: true, params: newParams},
	{name: "New-ADObject", class: "ADObject", run: newObject.run, sets: true, params: append([]string{"Type"}, newParams...)},

	{name: "Set-ADUser", class: "ADUser", run: setObject, sets: true, params: setParams},
	{name: "Set-ADGroup", class: "ADGroup", run: setObject, sets: true, params: setParams},
	{name: "Set-ADComputer", class: "ADComputer", run: setObject, sets: true, params: setParams},
	{name: "Set-ADObject", class: "ADObject", run: setObject, sets: true, params: setParams},

	{name: "Remove-ADUser", class: "ADUser", run: removeObject},
	{name: "Remove-ADGroup", class: "ADGroup", run: removeObject},
	{name: "Remove-ADComputer", class: "ADComputer", run: removeObject},
	{name: "Remove-ADOrganizationalUnit", class: "ADOrganizationalUnit", run: removeObject, params: []string{"Recursive"}},
	{name: "Remove-ADObject", class: "ADObject", run: removeObject, params: []string{"Recursive"}},

	{name: "Move-ADObject", class: "ADObject", run: moveObject, params: []string{"TargetPath", "PassThru"}},
	{name: "Restore-ADObject", class: "ADObject", run: restoreObject, params: []string{"NewName", "TargetPath", "PassThru"}},
	{name: "Rename-ADObject", class: "ADObject", run: renameObject, params: []string{"NewName", "PassThru"}},

	{name: "Add-ADGroupMember", class: "ADGroup", run: changeMembers(directory.OpAdd), params: memberParams},
	{name: "Remove-ADGroupMember", class: "ADGroup", run: changeMembers(directory.OpDelete), params: memberParams},
}

var memberParams = []string{"Members", "DisablePermissiveModify", "PassThru"}

var accounts = []command{
	{name: "Enable-ADAccount", class: "ADAccount", run: setEnabled(true), params: []string{"PassThru"}},
	{name: "Disable-ADAccount", class: "ADAccount", run: setEnabled(false), params: []string{"PassThru"}},
	{name: "Unlock-ADAccount", class: "ADAccount", run: unlockAccount, params: []string{"PassThru"}},
	{name: "Set-ADAccountPassword", class: "ADAccount", run: setPassword, params: []string{"NewPassword", "OldPassword", "Reset", "PassThru"}},
}

var domainCommands = []command{
	{name: "Get-ADDomain", run: getDomain, params: []string{"Current"}},
	{name: "Get-ADDomainController", run: getControllers, params: []string{
		"Discover", "DomainName", "Filter", "ForceDiscover", "NextClosestSite", "Service", "SiteName", "Writable", "AvoidSelf", "MinimumDirectoryServiceVersion",
	}},
	{name: "Get-ADOptionalFeature", run: getFeature},
	{name: "Get-ADRootDSE", run: getRootDSE, params: []string{"Properties"}},
}

// attributeParams returns the parameters of a cmdlet that set an attribute, an account bit or access control
// entries. Names are not included, because they become part of the DN. -Certificates is not supported.
func attributeParams(decl *cmdlets.Cmdlet) []string {
	var out []string
	for _, p := range decl.Params {
		switch p.Name {
		case "Name", "NewName", "Certificates":
			continue
		case "GroupScope", "GroupCategory":
			out = append(out, p.Name)
			continue
		}
		if p.LDAPName != "" || attrParams[p.Name] != "" || isAccountParam(p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

// nullable maps a documented value type to the actual type of the parameter, which accepts $null.
// -AccountExpirationDate $null means never (facts E9), -ResultSetSize $null means all (facts
// C15), and a flag with $null counts as absent. The documentation omits that part of the types.
var nullable = map[string]string{
	"Boolean": "Nullable[bool]", "DateTime": "Nullable[datetime]", "TimeSpan": "Nullable[timespan]", "Int32": "Nullable[int]",
}

// declaration returns the contract of a cmdlet for the binder, with nullable types. The
// binder passes on $null, which clears an attribute, and the empty string (facts E7).
func declaration(decl *cmdlets.Cmdlet) *cmdlets.Cmdlet {
	out := *decl
	out.Params = make([]*cmdlets.Param, len(decl.Params))
	for i, p := range decl.Params {
		out.Params[i] = p
		if t, ok := nullable[p.Type]; ok {
			changed := *p
			changed.Type = t
			out.Params[i] = &changed
		}
	}
	return &out
}
