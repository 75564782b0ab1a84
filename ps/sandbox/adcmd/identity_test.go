package adcmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Facts C16, C17: the forms of an identity that each class accepts.
func TestIdentityForms(t *testing.T) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(t, err)
	classes := newClasses(d.Schema())
	const guid = "00112233-4455-6677-8899-aabbccddeeff"
	byGUID := `(objectGUID=\33\22\11\00\55\44\77\66\88\99\aa\bb\cc\dd\ee\ff)`
	for _, c := range []struct{ class, given, want string }{
		{"ADUser", "x", "(sAMAccountName=x)"},
		{"ADUser", guid, byGUID},
		{"ADUser", "{" + guid + "}", byGUID},
		{"ADUser", "a*(b)\\", `(sAMAccountName=a\2a\28b\29\5c)`},
		{"ADUser", "CN=x,DC=y", "(|(distinguishedName=CN=x,DC=y)(sAMAccountName=CN=x,DC=y))"},
		{"ADComputer", "pc", "(|(sAMAccountName=pc)(sAMAccountName=pc$))"},
		{"ADComputer", "pc$", "(sAMAccountName=pc$)"},
		{"ADPrincipal", "pc", "(sAMAccountName=pc)"},
		{"ADObject", "x", ""},
		{"ADObject", "CN=x,DC=y", "(distinguishedName=CN=x,DC=y)"},
		{"ADOrganizationalUnit", "Sales", ""},
	} {
		assert.Equal(t, strings.ToLower(c.want), strings.ToLower(classes[c.class].identityFilter(c.given, c.given)),
			"%s %s", c.class, c.given)
	}
	assert.Equal(t, strings.ToLower(byGUID), strings.ToLower(classes["ADObject"].identityFilter(
		dotnet.Guid{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff},
		"")))
}

// The filter for an identity is well-formed for any text.
func FuzzIdentity(f *testing.F) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(f, err)
	cl := newClasses(d.Schema())["ADUser"]
	cl.dollar = true
	for _, seed := range []string{
		"x", "CN=a\\,b,DC=c", "S-1-5-21-1-2-3-500", "{00112233-4455-6677-8899-aabbccddeeff}", "*", ")(cn=*", "\\", "\x00", "‘x’", "a\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		filter := cl.identityFilter(given, given)
		if filter == "" {
			return
		}
		if _, err := directory.CompileFilter("(&" + cl.filter + filter + ")"); err != nil {
			t.Fatalf("%q became %q: %v", given, filter, err)
		}
	})
}
