package attributes

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAttributesOfASite(t *testing.T) {
	for ldap, field := range map[string]string{
		"roomNumber": "roomNumber", "acme-CostCentre": "acmeCostCentre", "Acme": "acme",
		"msDS-cloudExtensionAttribute1": "msDSCloudExtensionAttribute1",
	} {
		s := Site{LDAP: ldap}
		assert.NoError(t, s.Check())
		a := s.Attribute()
		assert.Equal(t, field, a.Field)
		assert.False(t, a.Guarded, ldap)
		assert.Equal(t, 1024, a.Limit)
	}
	site := Site{LDAP: "carLicense", Field: "car", Most: 3, Unique: true, Privileged: true}
	site.Limit, site.Form = 12, "ascii"
	a := site.Attribute()
	assert.Equal(t, &Attribute{
		LDAP: "carLicense", Field: "car", Input: "Car", Form: ASCII, Limit: 12, Most: 3,
		Unique: true, Guarded: true, Added: true,
		Doc: "Attribute that this installation added.",
	}, a)
	assert.Equal(t, maxUnixID, Site{LDAP: "badge", Form: "number"}.Attribute().Limit)
}

// TestWhatLeadsToRightsIsGuarded: attributes that give rights are guarded, regardless of the settings.
func TestWhatLeadsToRightsIsGuarded(t *testing.T) {
	for _, ldap := range []string{
		"altSecurityIdentities", "ALTSECURITYIDENTITIES", "msDS-AllowedToDelegateTo", "msDS-KeyCredentialLink", "userWorkstations",
		"msDS-AllowedToActOnBehalfOfOtherIdentity", "msNPAllowDialin", "krbPrincipalName", "msExchMailboxGuid",
	} {
		assert.True(t, Site{LDAP: ldap}.Attribute().Guarded, ldap)
	}
}

// TestUnsuitableAttributesOfASiteAreRefused: each attribute that a site must not add is refused, with
// the reason.
func TestUnsuitableAttributesOfASiteAreRefused(t *testing.T) {
	for _, c := range []struct {
		sites []Site
		says  string
	}{
		{[]Site{{LDAP: ""}}, "is no attribute"},
		{[]Site{{LDAP: "a)(b"}}, "is no attribute"},
		{[]Site{{LDAP: "userAccountControl"}}, "keeps this attribute"},
		{[]Site{{LDAP: "NTSecurityDescriptor"}}, "keeps this attribute"},
		{[]Site{{LDAP: "unicodePwd"}}, "secret"},
		{[]Site{{LDAP: "unixUserPassword"}}, "secret"},
		{[]Site{{LDAP: "ms-Mcs-AdmPwd"}}, "secret"},
		{[]Site{{LDAP: "roomNumber", Field: "Room"}}, "small letter"},
		{[]Site{{LDAP: "roomNumber", Form: "date"}}, "one of text, ascii, number"},
		{[]Site{{LDAP: "badge", Form: "number", Most: 2}}, "single value"},
		{[]Site{{LDAP: "badge", Form: "number", Limit: 1 << 40}}, "at most 2147483647"},
		{[]Site{{LDAP: "notes", Limit: 1 << 20}}, "at most 32768"},
		{[]Site{{LDAP: "notes", Most: 1001}}, "at most 1000"},
		{[]Site{{LDAP: "employeeID"}}, "in the table already"},
		{[]Site{{LDAP: "other", Field: "proxyAddress"}}, "in the table already"},
		{[]Site{{LDAP: "roomNumber"}, {LDAP: "ROOMNUMBER"}}, "given twice"},
		{[]Site{{LDAP: "roomNumber"}, {LDAP: "pager", Field: "roomNumber"}}, "given twice"},
		{make([]Site, MostSite+1), "of at most 50"},
	} {
		faults := CheckSite(c.sites)
		if assert.NotEmpty(t, faults, "%v", c.sites) {
			assert.ErrorContains(t, faults[0], c.says)
		}
	}
	assert.Empty(t, CheckSite([]Site{{LDAP: "roomNumber"}, {LDAP: "carLicense", Most: 5}}))
}
