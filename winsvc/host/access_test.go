package host

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
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

func TestAccountsThatMayUseAFile(t *testing.T) {
	for name, c := range map[string]struct {
		accounts accounts
		want     []string
	}{
		"an administrator, with a service":    {accounts{process: anna, administrator: true, service: service}, []string{sidSystem, sidAdministrators, service}},
		"an administrator, without one":       {accounts{process: anna, administrator: true, service: ""}, []string{sidSystem, sidAdministrators}},
		"a user":                              {accounts{process: anna, administrator: false, service: ""}, []string{sidSystem, anna, sidAdministrators}},
		"the service itself":                  {accounts{process: service, administrator: false, service: service}, []string{sidSystem, sidAdministrators, service}},
		"the service as LocalSystem":          {accounts{process: sidSystem, administrator: true, service: sidSystem}, []string{sidSystem, sidAdministrators}},
		"the service, made an administrator":  {accounts{process: service, administrator: true, service: service}, []string{sidSystem, sidAdministrators, service}},
		"a user where another is the service": {accounts{process: anna, administrator: false, service: service}, []string{sidSystem, anna, sidAdministrators, service}},
	} {
		assert.ElementsMatch(t, c.want, c.accounts.given(), name)
	}
	assert.Equal(t, "D:P(A;OICI;FA;;;S-1-5-18)(A;OICI;FA;;;S-1-5-32-544)",
		accessList([]string{sidSystem, sidAdministrators}, "OICI"))
}

// Each of these accounts trusts files that another of them has written.
func TestAFileIsTakenFromEverybodyWhoMayMakeIt(t *testing.T) {
	const full = 0x1f01ff // FILE_ALL_ACCESS
	all := map[string]accounts{
		"anna as administrator": {process: anna, administrator: true, service: service},
		"bert as administrator": {process: bert, administrator: true, service: service},
		"the service":           {process: service, administrator: false, service: service},
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
	a := accounts{process: service, administrator: false, service: service}
	for name, c := range map[string]struct {
		owner   string
		grants  []grant
		readers string
		fault   string
	}{
		"nobody else": {service, []grant{{sidSystem, genericAll}, {service, fileReadData}, {sidOwnerRights, writeDAC}}, "", ""},
		"readers":     {sidAdministrators, []grant{{anna, fileReadData}, {everyone, genericRead}}, "<" + anna + ">, <" + everyone + ">", ""},
		// execute, and read the access list
		"neither":           {sidAdministrators, []grant{{anna, 0x20 | 0x20000}}, "", ""},
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
	a := accounts{process: service, administrator: false, service: service}
	const modify, readAndRun = 0x1301bf, 0x1200a9
	for name, c := range map[string]struct {
		owner  string
		grants []grant
		want   string // expected in the error; empty if the file is trusted
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

// windowsErrors are errors of looking up an account: the account does not exist, no domain
// controller answers, or the trust is broken.
var windowsErrors = map[string]syscall.Errno{
	"ERROR_NONE_MAPPED": 1332, "RPC_S_SERVER_UNAVAILABLE": 1722, "ERROR_TRUSTED_RELATIONSHIP_FAILURE": 1789,
}

// lookedUp returns the lookups of a Windows computer on which the service's account cannot be looked up.
func lookedUp(process string, administrator bool, fault error) lookups {
	return lookups{
		process: func() (string, bool, error) { return process, administrator, nil },
		service: func(string) (Service, error) { return Service{Installed: true, Account: `CORP\gone$`}, nil },
		account: func(name string) (string, error) {
			switch name {
			case "LocalSystem":
				return sidSystem, nil
			case `CORP\new$`:
				return bert, nil
			}
			return "", fault
		},
	}
}

// gone is the SID of the service's account. Windows knows no name for it.
const gone = "S-1-5-21-1-2-3-1900"

// named returns a function that names all accounts except some.
func named(without ...string) func(sid string) string {
	return func(sid string) string {
		for _, one := range without {
			if sid == one {
				return nameless(sid)
			}
		}
		return "<" + sid + ">"
	}
}

// TestAnAdministratorReadsFilesOfAServiceWhoseAccountIsGone: an administrator reads files whose owners and
// writers are SYSTEM, the administrators, the administrator's own account and one unknown account. The
// unknown account is reported as a reader. Other accounts are trusted no more than usual.
func TestAnAdministratorReadsFilesOfAServiceWhoseAccountIsGone(t *testing.T) {
	const other = "S-1-5-21-1-2-3-1901" // has no name either
	for name, fault := range windowsErrors {
		a, err := lookedUp(anna, true, fault).accounts(Files{Service: "adgateway"})
		require.NoError(t, err, name)
		require.ErrorIs(t, a.doubt, fault, name)
		assert.ErrorContains(t, a.doubt, `the service's account CORP\gone$ cannot be looked up`, name)

		for file, c := range map[string]struct {
			owner, readers, fault string
			grants                []grant
		}{
			"as installed":       {sidAdministrators, "an unknown account (" + gone + "), perhaps the service's", "", []grant{{sidSystem, genericAll}, {sidAdministrators, genericAll}, {gone, genericAll}}},
			"the service's":      {gone, "an unknown account (" + gone + "), perhaps the service's", "", []grant{{gone, genericAll}}},
			"without it":         {anna, "", "", []grant{{sidAdministrators, genericAll}}},
			"also a reader's":    {sidAdministrators, "<" + bert + ">, an unknown account (" + gone + "), perhaps the service's", "", []grant{{bert, genericRead}, {gone, genericAll}}},
			"somebody's":         {bert, "", "belongs to <" + bert + ">", nil},
			"also a writer's":    {sidAdministrators, "", "<" + bert + "> may change", []grant{{bert, genericWrite}, {gone, genericAll}}},
			"of two unknown":     {sidAdministrators, "", "*" + gone + ", *" + other + " may change", []grant{{gone, genericAll}, {other, genericAll}}},
			"an unknown group's": {sidAdministrators, "", "may change", []grant{{"S-1-5-32-999", genericAll}}},
		} {
			about := name + ", " + file
			readers, err := a.exposed("f", c.owner, c.grants, named(gone, other, "S-1-5-32-999"))
			if c.fault == "" {
				require.NoError(t, err, about)
			} else {
				require.ErrorContains(t, err, c.fault, about)
			}
			assert.Equal(t, c.readers, readers, about)
		}
		assert.NoError(t, a.exposedFolder("d", sidAdministrators, []grant{{gone, genericAll}}, named(gone)), name)
		assert.Error(t, a.exposedFolder("d", sidAdministrators, []grant{{bert, genericAll}}, named(gone)), name)

		sids, err := a.kept(sidAdministrators, []grant{{gone, genericAll}}, named(gone))
		require.NoError(t, err, name)
		assert.ElementsMatch(t, []string{sidSystem, sidAdministrators, gone}, sids, "the service is not locked out")
		_, err = a.kept(sidAdministrators, []grant{{bert, genericRead}}, named(gone))
		assert.ErrorIs(t, err, fault, name)
	}
}

// TestOnlyAnAdministratorTrustsAnUnknownAccount: other users, and the service itself, treat files as if there
// were no service.
func TestOnlyAnAdministratorTrustsAnUnknownAccount(t *testing.T) {
	a, err := lookedUp(anna, false, errors.New("no answer")).accounts(Files{Service: "adgateway"})
	require.NoError(t, err)
	require.NoError(t, a.doubt)
	_, err = a.exposed("f", sidAdministrators, []grant{{gone, genericAll}}, named(gone))
	assert.ErrorContains(t, err, "may change the file")
}

// TestAServiceGetsAnotherAccount: the new account of the service is trusted, even if its
// current account no longer exists.
func TestAServiceGetsAnotherAccount(t *testing.T) {
	fault := windowsErrors["ERROR_NONE_MAPPED"]
	for account, sid := range map[string]string{"LocalSystem": sidSystem, `CORP\new$`: bert} {
		a, err := lookedUp(anna, true, fault).accounts(Files{Service: "adgateway", Account: account})
		require.NoError(t, err, account)
		assert.Equal(t, sid, a.service, account)
		assert.NoError(t, a.exposedFolder("d", sidTrustedInstaller, []grant{{sid, genericAll}}, named(gone)),
			account)
		_, err = a.exposed("f", sidAdministrators, []grant{{gone, genericAll}, {sid, genericAll}}, named(gone))
		assert.NoError(t, err, account)
	}
	_, err := lookedUp(anna, true, fault).accounts(Files{Service: "adgateway", Account: `CORP\mistyped$`})
	assert.EqualError(t, err, fmt.Sprintf(`the account CORP\mistyped$ cannot be looked up: %v`, fault))

	l := lookedUp(anna, true, fault)
	l.service = func(string) (Service, error) {
		return Service{Installed: true, Account: `CORP\old$`, AccountID: gone}, nil
	}
	a, err := l.accounts(Files{Service: "adgateway", Account: `CORP\new$`})
	require.NoError(t, err)
	_, err = a.exposed("f", gone, []grant{{gone, genericAll}}, named())
	assert.NoError(t, err, "files of the account that it has until then")
	assert.NotContains(t, a.given(), gone, "new files are the new account's")
}
