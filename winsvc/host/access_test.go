package host

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// SIDs of domain accounts.
const (
	service  = "S-1-5-80-1-2-3-4-5"
	anna     = "S-1-5-21-1-2-3-1001"
	bert     = "S-1-5-21-1-2-3-1002"
	everyone = "S-1-1-0"
)

func TestWhoGetsAFile(t *testing.T) {
	for name, c := range map[string]struct {
		accounts accounts
		want     []string
	}{
		"an administrator, with a service":    {accounts{anna, true, service}, []string{sidSystem, sidAdministrators, service}},
		"an administrator, without one":       {accounts{anna, true, ""}, []string{sidSystem, sidAdministrators}},
		"a user":                              {accounts{anna, false, ""}, []string{sidSystem, anna, sidAdministrators}},
		"the service itself":                  {accounts{service, false, service}, []string{sidSystem, sidAdministrators, service}},
		"the service as LocalSystem":          {accounts{sidSystem, true, sidSystem}, []string{sidSystem, sidAdministrators}},
		"the service, made an administrator":  {accounts{service, true, service}, []string{sidSystem, sidAdministrators, service}},
		"a user where another is the service": {accounts{anna, false, service}, []string{sidSystem, anna, sidAdministrators, service}},
	} {
		assert.ElementsMatch(t, c.want, c.accounts.given(), name)
	}
	assert.Equal(t, "D:P(A;OICI;FA;;;S-1-5-18)(A;OICI;FA;;;S-1-5-32-544)", accessList([]string{sidSystem, sidAdministrators}, "OICI"))
}

// Each of these accounts trusts files that another one has written.
func TestAFileIsTakenFromEverybodyWhoMayMakeIt(t *testing.T) {
	const full = 0x1f01ff // FILE_ALL_ACCESS
	all := map[string]accounts{
		"anna as administrator": {anna, true, service},
		"bert as administrator": {bert, true, service},
		"the service":           {service, false, service},
	}
	for writer, by := range all {
		owner := by.process
		if by.administrator {
			owner = sidAdministrators
		}
		var grants []grant
		for _, sid := range by.given() {
			grants = append(grants, grant{sid, full})
		}
		for reader, a := range all {
			readers, err := a.exposed("f", owner, grants, strings.ToUpper)
			require.NoError(t, err, "%s reads what %s wrote", reader, writer)
			assert.Empty(t, readers)
		}
	}
}

func TestWhoElseMayUseAFile(t *testing.T) {
	a := accounts{service, false, service}
	for name, c := range map[string]struct {
		owner   string
		grants  []grant
		readers string
		fault   string
	}{
		"nobody else":       {service, []grant{{sidSystem, genericAll}, {service, fileReadData}, {sidOwnerRights, writeDAC}}, "", ""},
		"readers":           {sidAdministrators, []grant{{anna, fileReadData}, {everyone, genericRead}}, "<" + anna + ">, <" + everyone + ">", ""},
		"neither":           {sidAdministrators, []grant{{anna, 0x20 | 0x20000}}, "", ""}, // execute, read the list
		"writers":           {sidAdministrators, []grant{{everyone, fileReadData}, {anna, fileReadData | fileAppendData}}, "", `<` + anna + `> may change the file`},
		"who can help":      {sidAdministrators, []grant{{bert, writeDAC}}, "", `/remove:g "<` + bert + `>"`},
		"who can remove it": {sidAdministrators, []grant{{bert, accessDelete}}, "", "may change the file"},
		"another's":         {anna, []grant{{service, genericAll}}, "", "belongs to <" + anna + ">"},
	} {
		readers, err := a.exposed(`C:\f`, c.owner, c.grants, func(sid string) string { return "<" + sid + ">" })
		if c.fault == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.fault, name)
		}
		assert.Equal(t, c.readers, readers, name)
	}
}

func TestBuiltInAccountsAreWrittenInLowerCase(t *testing.T) {
	for name := range builtInAccounts {
		assert.Equal(t, strings.ToLower(name), name)
	}
}

func TestWhoMayReplaceWhatIsInAFolder(t *testing.T) {
	a := accounts{service, false, service}
	const modify, readAndRun = 0x1301bf, 0x1200a9
	for name, c := range map[string]struct {
		owner  string
		grants []grant
		want   string // in the error; empty: trusted
	}{
		"Program Files":           {sidTrustedInstaller, []grant{{sidTrustedInstaller, 0x1f01ff}, {sidSystem, modify}, {sidAdministrators, modify}, {"S-1-5-32-545", readAndRun}, {sidCreatorOwner, genericAll}}, ""},
		"a folder of C:":          {sidAdministrators, []grant{{sidAdministrators, 0x1f01ff}, {"S-1-5-11", modify}}, "<S-1-5-11> may replace"},
		"files may be added":      {sidAdministrators, []grant{{everyone, fileWriteData}}, "<S-1-1-0> may replace"},
		"files may be removed":    {sidAdministrators, []grant{{everyone, deleteChild}}, "<S-1-1-0> may replace"},
		"of somebody else":        {bert, nil, "belongs to <" + bert + ">"},
		"readable by everybody":   {sidAdministrators, []grant{{everyone, readAndRun}}, ""},
		"writable by the service": {sidAdministrators, []grant{{service, modify}}, ""},
	} {
		err := a.exposedFolder(`C:\gw`, c.owner, c.grants, func(sid string) string { return "<" + sid + ">" })
		if c.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, c.want, name)
		}
	}
}

func TestVirtualAccountsHaveTheSIDOfTheirName(t *testing.T) {
	assert.Equal(t, sidTrustedInstaller, virtualAccount(`nt service\trustedinstaller`))
	for _, account := range []string{"", `NT SERVICE\`, `CORP\gw$`, "LocalSystem"} {
		assert.Empty(t, virtualAccount(account), account)
	}
}
