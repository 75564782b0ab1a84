package cmdlets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func get(t testing.TB, name string) *Cmdlet {
	t.Helper()
	c, ok := Lookup(name)
	require.True(t, ok, name)
	return c
}

func TestLookup(t *testing.T) {
	c := get(t, "gEt-aDuSeR")
	assert.Equal(t, "Get-ADUser", c.Name)
	assert.Equal(t, ActiveDirectory, c.Module)
	assert.Equal(t, []string{"Filter", "Identity", "LdapFilter"}, c.Sets)
	assert.Equal(t, "Filter", c.DefaultSet)
	assert.Same(t, c, get(t, "Get-ADUser"), "a cmdlet is read once")

	_, ok := Lookup("Get-ADUsers")
	assert.False(t, ok)
	assert.Nil(t, Module("NoSuchModule"))
	assert.Len(t, Module("activedirectory"), 151)
	assert.Len(t, Module("DNSSERVER"), 133)
}

func TestParametersOfASet(t *testing.T) {
	c := get(t, "Get-ADUser")
	in, ok := c.Param("identity").In("Identity")
	require.True(t, ok)
	assert.Equal(t, InSet{Set: "Identity", Mandatory: true, Position: 0, ByValue: true}, in)
	_, ok = c.Param("Identity").In("Filter")
	assert.False(t, ok)
	in, ok = c.Param("Properties").In("LdapFilter")
	require.True(t, ok)
	assert.Equal(t, InSet{Set: "LdapFilter", Position: -1}, in)

	one := get(t, "New-ADUser")
	assert.Equal(t, []string{AllSets}, one.Sets)
	assert.Equal(t, AllSets, one.DefaultSet)
	assert.Equal(t, "l", one.Param("City").LDAPName)
	assert.Empty(t, get(t, "Set-ADUser").DefaultSet, "the page marks no default set")
}

func TestFind(t *testing.T) {
	c := get(t, "Get-ADUser")
	names := func(ps []*Param) (out []string) {
		for _, p := range ps {
			out = append(out, p.Name)
		}
		return out
	}
	for written, want := range map[string][]string{
		"SearchBase": {"SearchBase"},
		"searchb":    {"SearchBase"},
		"Search":     {"SearchBase", "SearchScope"},
		"Property":   {"Properties"}, // alias
		"Nothing":    nil,
		"":           nil,
	} {
		assert.Equal(t, want, names(c.Find(written)), "-%s", written)
	}
	// A complete name takes precedence over longer names that start with it.
	assert.Equal(t, []string{"Name"}, names(get(t, "Add-DnsServerResourceRecord").Find("Name")))
}

func TestWrites(t *testing.T) {
	for name, want := range map[string]bool{
		"Get-ADUser": false, "Search-ADAccount": false, "Test-DnsServer": false,
		"New-ADUser": true, "Set-ADUser": true, "Unlock-ADAccount": true, "Move-ADObject": true,
		"Add-DnsServerResourceRecordCName": true, "Export-DnsServerZone": true,
	} {
		assert.Equal(t, want, get(t, name).Writes(), name)
	}
}

// Every Remove cmdlet prompts (facts A36), and every prompt can be suppressed.
func TestPrompts(t *testing.T) {
	for _, module := range []string{ActiveDirectory, DnsServer} {
		for _, c := range Module(module) {
			if c.Verb() == "Remove" && c.SupportsShouldProcess {
				assert.True(t, c.PromptsByDefault, c.Name)
			}
			if c.PromptsByDefault {
				assert.NotNil(t, c.Param("Confirm"), c.Name)
			}
			assert.Equal(t, c.SupportsShouldProcess, c.Param("WhatIf") != nil && c.Param("Confirm") != nil, c.Name)
			if c.ForceSkipsPrompt {
				assert.NotNil(t, c.Param("Force"), c.Name)
			}
		}
	}
	assert.False(t, get(t, "Set-ADUser").PromptsByDefault)
	assert.True(t, get(t, "Remove-DnsServerZone").ForceSkipsPrompt)
}

func TestVersions(t *testing.T) {
	c := get(t, "New-ADServiceAccount")
	assert.True(t, c.AvailableIn("2016"))
	assert.False(t, c.AvailableIn("2012"), "a version that was not compared")
	missing := map[string][]string{}
	for _, module := range []string{ActiveDirectory, DnsServer} {
		for _, c := range Module(module) {
			if len(c.MissingIn) > 0 {
				missing[c.Name] = c.MissingIn
			}
		}
	}
	assert.Equal(t, []string{"2016", "2019", "2022"}, missing["Start-ADServiceAccountMigration"])
	permissive := get(t, "Add-ADGroupMember").Param("DisablePermissiveModify")
	assert.False(t, permissive.AvailableIn("2016"),
		"released with 2019 (facts E25), though the page of 2016 has it")
	assert.True(t, permissive.AvailableIn("2019"))
	for name, sets := range missing {
		for _, s := range sets {
			assert.False(t, get(t, name).AvailableIn(s), "%s %s", name, s)
		}
	}
}

func TestEnumerations(t *testing.T) {
	p := get(t, "New-ADGroup").Param("GroupScope")
	assert.Equal(t, []string{"DomainLocal", "Global", "Universal"}, p.Values)
	assert.Equal(t, []int64{0, 1, 2}, p.Codes)
	assert.Equal(t, "ADGroupScope", p.Type)
}

func TestClasses(t *testing.T) {
	c, ok := LookupClass("aduser")
	require.True(t, ok)
	assert.Equal(t, "ADAccount", c.Parent)
	ldap := map[string][]string{}
	for _, p := range c.All() {
		_, twice := ldap[p.Name]
		assert.False(t, twice, p.Name)
		ldap[p.Name] = p.LDAP
	}
	assert.Equal(t, []string{"l"}, ldap["City"])
	assert.Equal(t, []string{"objectGUID"}, ldap["ObjectGUID"], "inherited")
	_, ok = LookupClass("ADNothing")
	assert.False(t, ok)
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, ok := Lookup("Get-ADUser"); !ok {
			b.Fatal("not found")
		}
	}
}

// BenchmarkColdLookup measures the first use of a cmdlet.
func BenchmarkColdLookup(b *testing.B) {
	for b.Loop() {
		x := &index{byName: map[string]*entry{}}
		x.add(ActiveDirectory, activeDirectoryData)
		x.byName["set-aduser"].cmdlet()
	}
}
