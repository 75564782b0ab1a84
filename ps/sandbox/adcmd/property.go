package adcmd

import (
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// lists maps the friendly properties that are collections to their attributes. The
// documentation of the object model does not mark them.
var lists = map[string]string{
	"MemberOf":              "memberOf",
	"Members":               "member",
	"SIDHistory":            "sIDHistory",
	"Certificates":          "userCertificate",
	"ServicePrincipalNames": "servicePrincipalName",
	"ServiceAccount":        "msDS-HostServiceAccount",
	"HostComputers":         "msDS-HostServiceAccountBL",
}

type computedRow struct {
	attrs []string
	get   func(r *reader, o *directory.Object) any
}

// computed are the friendly properties that are not the value of a single attribute.
var computed map[string]computedRow

func init() {
	computed = map[string]computedRow{
		"DistinguishedName": {nil, func(_ *reader, o *directory.Object) any { return o.DN }},
		"ObjectClass":       {nil, func(_ *reader, o *directory.Object) any { return o.Class }},
		"ObjectGUID":        {nil, func(_ *reader, o *directory.Object) any { return dotnet.Guid(o.GUID) }},
		"SID":               {nil, func(_ *reader, o *directory.Object) any { return sidValue(o.SID) }},
		"Created":           {[]string{"whenCreated"}, moment("whenCreated")},
		"Modified":          {[]string{"whenChanged"}, moment("whenChanged")},

		"ProtectedFromAccidentalDeletion": {nil, protected},
		"CannotChangePassword":            {nil, cannotChangePassword},
		"LinkedGroupPolicyObjects":        {[]string{"gpLink"}, linkedPolicies},
		"GroupScope":                      {[]string{"groupType"}, groupScope},
		"GroupCategory":                   {[]string{"groupType"}, groupCategory},
		"PrimaryGroup":                    {[]string{"primaryGroupID"}, primaryGroup},

		"AccountExpirationDate":  {[]string{"accountExpires"}, since1601("accountExpires")},
		"AccountLockoutTime":     {[]string{"lockoutTime"}, since1601("lockoutTime")},
		"LastBadPasswordAttempt": {[]string{"badPasswordTime"}, since1601("badPasswordTime")},
		"LastLogonDate":          {[]string{"lastLogonTimestamp"}, since1601("lastLogonTimestamp")}, // facts E17c
		"PasswordLastSet":        {[]string{"pwdLastSet"}, since1601("pwdLastSet")},

		// Computed by the directory, not stored in userAccountControl (facts H11).
		"LockedOut":       {[]string{uacComputed}, computedBit(0x10)},
		"PasswordExpired": {[]string{uacComputed}, computedBit(0x800000)},

		// The sandbox does not resolve computer names.
		"IPv4Address": {nil, func(*reader, *directory.Object) any { return nil }},
		"IPv6Address": {nil, func(*reader, *directory.Object) any { return nil }},
	}
}

const uacComputed = "msDS-User-Account-Control-Computed"

func moment(attr string) func(*reader, *directory.Object) any {
	return func(r *reader, o *directory.Object) any {
		if t, ok := o.Time(attr); ok {
			return r.h.local(t)
		}
		return nil
	}
}

// since1601 returns a getter of a FILETIME. 0 and never become $null.
func since1601(attr string) func(*reader, *directory.Object) any {
	return func(r *reader, o *directory.Object) any { return r.h.fromFileTime(o.Value(attr)) }
}

func computedBit(bit int64) func(*reader, *directory.Object) any {
	return func(_ *reader, o *directory.Object) any {
		n, _ := o.Int(uacComputed)
		return n&bit != 0
	}
}

// protected returns $null if the access list cannot be read (facts E37).
func protected(r *reader, o *directory.Object) any {
	on := false
	if !r.other(func() (err error) {
		on, err = r.dc.Protected(r.c.ctx(), o.GUID.Ref())
		return err
	}) {
		return nil
	}
	return on
}

func cannotChangePassword(r *reader, o *directory.Object) any {
	on, err := r.dc.CannotChangePassword(r.c.ctx(), o.GUID.Ref())
	if err != nil {
		return nil
	}
	return on
}

// linkedPolicies returns the DNs in gpLink, which has the form [LDAP://dn;options]...
func linkedPolicies(_ *reader, o *directory.Object) any {
	var dns []any
	for _, part := range strings.Split(o.String("gpLink"), "[") {
		part, _, _ = strings.Cut(part, ";")
		if len(part) > 7 && strings.EqualFold(part[:7], "LDAP://") {
			dns = append(dns, part[7:])
		}
	}
	return collection(dns)
}

// Bits of groupType (facts E34).
const (
	groupGlobal      = 2
	groupDomainLocal = 4
	groupUniversal   = 8
	groupSecurity    = 0x80000000
)

func groupScope(_ *reader, o *directory.Object) any {
	n, ok := o.Int("groupType")
	if !ok {
		return nil
	}
	switch {
	case n&groupGlobal != 0:
		return dotnet.EnumOf(tScope, "Global")
	case n&groupUniversal != 0:
		return dotnet.EnumOf(tScope, "Universal")
	}
	return dotnet.EnumOf(tScope, "DomainLocal")
}

func groupCategory(_ *reader, o *directory.Object) any {
	n, ok := o.Int("groupType")
	if !ok {
		return nil
	}
	if n&groupSecurity != 0 {
		return dotnet.EnumOf(tKind, "Security")
	}
	return dotnet.EnumOf(tKind, "Distribution")
}

// primaryGroup needs a second read (facts E18).
func primaryGroup(r *reader, o *directory.Object) any {
	rid, ok := o.Int("primaryGroupID")
	if !ok || o.SID.IsZero() {
		return nil
	}
	var group *directory.Object
	if !r.other(func() (err error) {
		group, err = r.dc.BySID(r.c.ctx(), o.SID.Domain().WithRID(uint32(rid)), "cn")
		return err
	}) {
		return nil
	}
	return group.DN
}
