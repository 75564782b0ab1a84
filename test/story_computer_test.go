package test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	devicesOU  = "OU=Devices,OU=Corp,DC=corp,DC=example"
	serversOU  = "OU=Servers," + devicesOU
	branchesOU = "OU=Branches,OU=Workstations," + devicesOU
	retiredOU  = "OU=Retired," + devicesOU
)

// recoveryKey are the attributes of one.
var recoveryKey = []string{"msFVE-RecoveryGuid", "0123456789abcdef", "msFVE-RecoveryPassword", "111111-222222"}

// Requests about computers.
func computer(name string) string { return "/api/Computers/" + url.PathEscape(name) }

func register(name string, more ...string) call {
	return call{method: http.MethodPost, path: computer(name) + "/Register", params: params("", "", "", "", more)}
}

func renameComputer(name, to string) call {
	return call{method: http.MethodPut, path: computer(name) + "/Rename/" + url.PathEscape(to)}
}

func describe(name, text string) call {
	return call{method: http.MethodPut, path: computer(name) + "/Update", params: map[string]any{"ComputerDescription": text}}
}

func removeComputer(name string) call {
	return call{method: http.MethodDelete, path: computer(name) + "/Remove"}
}

func removeComputers(more ...string) call {
	return call{method: http.MethodDelete, path: "/api/Computers/Remove", params: params("", "", "", "", more)}
}

func readComputer(name string) call { return call{method: http.MethodGet, path: computer(name)} }

// names are the names of the computers in an answer.
func (s *system) names(c call) []string {
	s.t.Helper()
	a := s.do(c)
	require.Equal(s.t, http.StatusOK, a.status, "%s", a.body)
	return computerNames(a)
}

func computerNames(a answer) []string {
	names := []string{}
	for _, record := range a.envelope.Result {
		names = append(names, record["computerName"].(string))
	}
	return names
}

func listComputers(more ...string) call {
	return call{method: http.MethodGet, path: "/api/Computers", params: params("", "", "", "", more)}
}

func TestTheLifeOfAComputer(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	start := s.snapshot()
	made := s.ok(register("Story-PC1", "ADComputerDescription", "Told; $(x)", "OUPath", strings.ToLower(retiredOU)), http.StatusCreated)
	assert.Equal(t, "Story-PC1", made["computerName"])
	assert.Equal(t, "Story-PC1$", made["samName"])
	assert.Equal(t, retiredOU, made["path"])
	assert.Equal(t, []any{"Told; $(x)", true, nil, nil}, []any{made["description"], made["enabled"], made["operatingSystem"], made["lastLogon"]})
	// An enabled workstation account with a password nobody knows (facts E47, H18).
	o := s.stored(made["distinguishedName"].(string), "userAccountControl", "primaryGroupID", "pwdLastSet")
	control, _ := o.Int("userAccountControl")
	group, _ := o.Int("primaryGroupID")
	set, _ := o.Int("pwdLastSet")
	assert.Equal(t, []int64{4096, 515}, []int64{control, group})
	assert.Positive(t, set)
	for _, name := range []string{"story-pc1", "Story-PC1$", made["guid"].(string), "{" + made["guid"].(string) + "}", made["distinguishedName"].(string)} {
		assert.Equal(t, made, s.ok(readComputer(name), http.StatusOK), name)
		exists := s.done(http.StatusOK, http.MethodGet, computer(name)+"/Exists", nil)
		assert.Equal(t, map[string]any{"exists": true, "guid": made["guid"], "distinguishedName": made["distinguishedName"]}, exists, name)
	}
	assert.Equal(t, []string{"OLD-PC1", "OLD-PC2", "Story-PC1"}, s.names(listComputers("OUPath", retiredOU, "Recursive", "false")))
	assert.Empty(t, s.names(listComputers("OUPath", devicesOU, "Recursive", "false")))
	assert.Contains(t, s.names(listComputers("OUPath", devicesOU)), "Story-PC1")
	assert.Contains(t, s.get("/api/Computers/All").envelope.Result, made)
	assert.Equal(t, "ADComputerName", field(s.refused(register("STORY-PC1"), http.StatusConflict, "conflict")), "taken in another container")
	s.refused(register("OLD-PC1", "OUPath", serversOU), http.StatusConflict, "conflict")

	// The description: absent, equal, empty.
	assert.Equal(t, "ComputerDescription", field(s.refused(call{method: http.MethodPut, path: computer("Story-PC1") + "/Update"}, http.StatusBadRequest, "invalid_request")))
	s.same(describe("Story-PC1", "Told; $(x)"))
	assert.Equal(t, "told", s.ok(describe("Story-PC1$", "told"), http.StatusOK)["description"])
	assert.Nil(t, s.ok(describe("Story-PC1", ""), http.StatusOK)["description"])
	s.same(describe("Story-PC1", ""))

	// Renamed.
	a := s.do(renameComputer("story-pc1$", "Story-PC2"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Contains(t, a.envelope.Output, "The machine itself is not renamed")
	now := s.record(a)
	assert.Equal(t, []any{"Story-PC2", "Story-PC2$", "CN=Story-PC2," + retiredOU, made["guid"]}, []any{now["computerName"], now["samName"], now["distinguishedName"], now["guid"]})
	s.same(renameComputer("Story-PC2", "Story-PC2"))
	assert.Equal(t, "STORY-pc2$", s.ok(renameComputer("Story-PC2", "STORY-pc2"), http.StatusOK)["samName"])
	assert.Equal(t, "NewADComputerName", field(s.refused(renameComputer("Story-PC2", "FS1"), http.StatusConflict, "conflict")))
	s.refused(readComputer("Story-PC1"), http.StatusNotFound, "not_found")

	assert.Equal(t, "The computer 'Story-PC2$' was removed.", s.do(removeComputer("Story-PC2$")).envelope.Output)
	s.refused(removeComputer("Story-PC2"), http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.done(http.StatusOK, http.MethodGet, computer("Story-PC2")+"/Exists", nil)["exists"])
	assert.Empty(t, start.Compare(s.snapshot()))

	// Without an OU it lies where the domain puts new computers.
	assert.Equal(t, computersDN, s.ok(register("Story-PC3"), http.StatusCreated)["path"])
	assert.Equal(t, "OUPath", field(s.refused(register("Story-PC4", "OUPath", "OU=None,"+domainDN), http.StatusUnprocessableEntity, "unprocessable")))
	assert.Equal(t, "OUPath", field(s.refused(listComputers("OUPath", "OU=None,"+domainDN), http.StatusNotFound, "not_found")))
	for _, name := range []string{"1234", "abcdefghijklmnop", "PC 1", "PC1$", "-PC", "PC.1", "PÄC", "a'b"} {
		assert.Equal(t, "ADComputerName", field(s.refused(register(name), http.StatusBadRequest, "invalid_request")), name)
		assert.Equal(t, "NewADComputerName", field(s.refused(renameComputer("FS1", name), http.StatusBadRequest, "invalid_request")), name)
	}
	for _, c := range []call{register("Story-PC5", "OUPath", ""), register("Story-PC5", "ADComputerDescription", "")} {
		s.refused(c, http.StatusBadRequest, "invalid_request")
	}
}

func TestWhatIsNoComputer(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, name := range []string{"gmsa-web", "gmsa-web$", sampleUser, sampleUserDN, "Domain Admins", "none", "*", "FS1)(cn=*"} {
				for _, c := range []call{readComputer(name), renameComputer(name, "X1"), describe(name, "x"), removeComputer(name)} {
					assert.Equal(t, "ADComputerName", field(s.refused(c, http.StatusNotFound, "not_found")), name)
				}
				assert.Equal(t, false, s.done(http.StatusOK, http.MethodGet, computer(name)+"/Exists", nil)["exists"], name)
			}
			all := s.names(call{method: http.MethodGet, path: "/api/Computers/All"})
			assert.NotContains(t, all, "gmsa-web", "managed service accounts derive from the class")
			assert.Contains(t, all, "DC1")
			assert.Len(t, all, 44)
		})
	}
}

// TestARenameCarriesAllNames follows the names of a computer into its service
// principal names (facts E48).
func TestARenameCarriesAllNames(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	dn := "CN=SQL1," + serversOU
	before := s.stored(dn, "servicePrincipalName").Strings("servicePrincipalName")
	require.NotEmpty(t, before)
	s.set(dn, "servicePrincipalName", "MSSQLSvc/sql1.corp.example:1499", "HOST/SQL1", "HOST/sql1.corp.example", "http/alias.corp.example", "ldap/SQL1.corp.example/corp.example")
	now := s.ok(renameComputer("SQL1", "DATA-9"), http.StatusOK)
	assert.Equal(t, "data-9.corp.example", now["dnsName"])
	o := s.stored("CN=DATA-9,"+serversOU, "servicePrincipalName", "dNSHostName", "sAMAccountName")
	assert.Equal(t, "data-9.corp.example DATA-9$", o.String("dNSHostName")+" "+o.String("sAMAccountName"))
	assert.ElementsMatch(t, []string{
		"MSSQLSvc/data-9.corp.example:1499", "HOST/DATA-9", "HOST/data-9.corp.example", "http/alias.corp.example", "ldap/data-9.corp.example/corp.example",
	}, o.Strings("servicePrincipalName"))
}

func TestControllersAndPrivilegedComputers(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for _, token := range []string{allToken, plainToken} {
		s.refused(renameComputer("DC1", "DC9").as(token), http.StatusConflict, "protected")
		s.refused(removeComputer("DC2").as(token), http.StatusConflict, "protected")
	}
	s.refused(describe("DC1", "x").as(plainToken), http.StatusForbidden, "forbidden")
	assert.Equal(t, "x", s.ok(describe("DC1", "x"), http.StatusOK)["description"])
	s.set("CN=FS1,"+serversOU, "adminCount", "1")
	s.refused(describe("FS1", "x").as(plainToken), http.StatusForbidden, "forbidden")
	s.refused(renameComputer("FS1", "FS9").as(plainToken), http.StatusForbidden, "forbidden")
	s.refused(removeComputer("FS1").as(plainToken), http.StatusForbidden, "forbidden")
	a := s.do(removeComputers("OUPath", serversOU, "WildCard", "FS1").as(plainToken))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, "No computer was removed.", a.envelope.Output)
	require.Len(t, a.envelope.Warnings, 1)
	assert.Equal(t, "forbidden", a.envelope.Warnings[0].Code)
	s.ok(removeComputer("FS1"), http.StatusOK)
}

func TestWhatLiesBelowAComputer(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	queue := "CN=PRINT1-Colour,CN=PRINT1," + serversOU
	require.NoError(t, s.dc1().SetProtected(context.Background(), queue, true))
	a := s.refused(removeComputer("PRINT1"), http.StatusConflict, "protected")
	assert.Contains(t, a.envelope.Output, queue)
	require.NoError(t, s.dc1().SetProtected(context.Background(), queue, false))
	a = s.do(removeComputer("PRINT1"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Contains(t, a.envelope.Output, "The computer 'PRINT1' was removed together with ")
	assert.Contains(t, a.envelope.Output, "'CN=PRINT1-Laser 4,CN=PRINT1,"+serversOU+"'")
	assert.Contains(t, a.envelope.Output, "'CN=PRINT1-Colour,CN=PRINT1,"+serversOU+"'")
	assert.Empty(t, a.envelope.Warnings)
	a = s.do(removeComputer("APP3"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Contains(t, a.envelope.Output, "'CN=Microsoft Hyper-V,CN=APP3,")

	a = s.refused(removeComputer("PC01"), http.StatusConflict, "not_empty")
	assert.Contains(t, a.envelope.Output, "{7F6B1D5C-3A1E-4C0B-9E57-1C2D3E4F5A6B}", "what would be lost is named")
	s.add("CN=Key,CN=WEB1,"+serversOU, "msFVE-RecoveryInformation", recoveryKey...)
	s.refused(removeComputer("WEB1"), http.StatusConflict, "not_empty")
	require.NoError(t, s.dc1().SetProtected(context.Background(), "CN=WEB2,"+serversOU, true))
	s.refused(removeComputer("WEB2"), http.StatusConflict, "protected")
	s.ok(renameComputer("WEB2", "WEB9"), http.StatusOK) // facts E40
}

func TestLimitsOfTokensOnComputers(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.ok(register("LIM-1", "OUPath", limitedOU).as(limitedToken), http.StatusCreated)
	assert.Equal(t, []string{"LIM-1"}, s.names(call{method: http.MethodGet, path: "/api/Computers/All", token: limitedToken}))
	for _, c := range []call{readComputer("FS1"), describe("FS1", "x"), renameComputer("FS1", "LIM-2"), removeComputer("FS1")} {
		assert.Equal(t, "ADComputerName", field(s.refused(c.as(limitedToken), http.StatusForbidden, "limit")))
	}
	s.refused(call{method: http.MethodGet, path: computer("FS1") + "/Exists", token: limitedToken}, http.StatusForbidden, "limit")
	assert.Equal(t, "OUPath", field(s.refused(register("LIM-2").as(limitedToken), http.StatusForbidden, "limit")))
	assert.Equal(t, "OUPath", field(s.refused(removeComputers("OUPath", retiredOU).as(limitedToken), http.StatusForbidden, "limit")))
	s.ok(register("LIM-3"), http.StatusCreated)
	a := s.do(removeComputers("WildCard", "LIM-*", "Recursive", "true").as(limitedToken))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, []string{"LIM-1"}, computerNames(a), "what lies outside does not match")
	s.ok(readComputer("LIM-3"), http.StatusOK)
}

func TestRemovingManyComputers(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=6")
	root := removeComputers("OUPath", domainDN)
	for _, c := range []call{
		removeComputers(), removeComputers("WildCard", "*"), removeComputers("WildCard", "***"), removeComputers("OUPath", ""), removeComputers("WildCard", ""), root,
		removeComputers("OUPath", strings.ToLower(domainDN), "WildCard", "**"), removeComputers("WildCard", "PC*", "Recursive", ""), removeComputers("WildCard", strings.Repeat("x", 300)),
	} {
		s.refused(c, http.StatusBadRequest, "invalid_request")
	}
	s.refused(removeComputers("OUPath", "OU=None,"+domainDN), http.StatusNotFound, "not_found")

	// Only * is special; without it the name is exact; without Recursive nothing below.
	for _, pattern := range []string{"BR-PC0?", "BR-PC0[1-6]", "BR-PC", "PC0", "br-pc01)(cn=*", `BR-PC\2a`} {
		a := s.do(removeComputers("OUPath", branchesOU, "WildCard", pattern))
		require.Equal(t, http.StatusOK, a.status, "%s", a.body)
		assert.Empty(t, a.envelope.Result, pattern)
		assert.Equal(t, "No computer was removed.", a.envelope.Output)
	}
	assert.Empty(t, s.names(removeComputers("OUPath", devicesOU, "WildCard", "BR-PC*")))
	// For the directory marks on letters make no difference, for a removal they do.
	s.add("CN=B\u00dcR[1]-PC1,"+devicesOU, "computer", "sAMAccountName", "BUR-PC1$")
	assert.Empty(t, s.names(removeComputers("OUPath", devicesOU, "WildCard", "bur*")))
	assert.Equal(t, []string{"B\u00dcR[1]-PC1"}, s.names(removeComputers("OUPath", devicesOU, "WildCard", "b\u00fcr[1]*")))

	// Without an OU the domain's root itself is searched, where hardly any computer is.
	a := s.do(removeComputers("WildCard", "BR-PC*"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Empty(t, a.envelope.Result)
	require.Len(t, a.envelope.Warnings, 1)
	assert.Equal(t, "not_searched", a.envelope.Warnings[0].Code)
	assert.Equal(t, domainDN, a.envelope.Warnings[0].Target)
	assert.Equal(t, "Only the domain's root itself was searched; of the computers that match, 6 lie below it. OUPath names where to search, Recursive=true searches below that, too.", a.envelope.Warnings[0].Message)
	for _, c := range []call{removeComputers("WildCard", "NONE*"), removeComputers("WildCard", "NONE*", "Recursive", "true"), removeComputers("WildCard", "BR-PC*").as(limitedToken)} {
		a = s.do(c)
		require.Equal(t, http.StatusOK, a.status, "%s", a.body)
		assert.Empty(t, a.envelope.Warnings, "nothing that the caller may remove was left out")
	}

	a = s.refused(removeComputers("WildCard", "*PC0*", "Recursive", "true"), http.StatusConflict, "too_many")
	assert.Regexp(t, `^15 computers match; one request removes at most 6\.`, a.envelope.Output)

	a = s.do(removeComputers("OUPath", branchesOU, "WildCard", "br-*c01"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, "1 computer removed.", a.envelope.Output)
	assert.Equal(t, []string{"BR-PC01"}, computerNames(a))
	assert.Equal(t, []string{"BR-PC02"}, s.names(removeComputers("OUPath", branchesOU, "WildCard", "BR-PC02")))

	// A number is taken as its text.
	s.add("CN=4711,"+branchesOU, "computer", "sAMAccountName", "4711$")
	a = s.do(call{method: http.MethodDelete, path: "/api/Computers/Remove", raw: strings.NewReader(`{"WildCard": 4711, "OUPath": "` + branchesOU + `"}`), headers: map[string]string{"Content-Type": "application/json"}})
	assert.Equal(t, []string{"4711"}, computerNames(a), "%s", a.body)

	// A whole OU, but for what may not go.
	require.NoError(t, s.dc1().SetProtected(context.Background(), "CN=BR-PC03,"+branchesOU, true))
	s.add("CN=Key,CN=BR-PC04,"+branchesOU, "msFVE-RecoveryInformation", recoveryKey...)
	a = s.do(removeComputers("OUPath", branchesOU))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, "2 computers removed.", a.envelope.Output)
	assert.Equal(t, []string{"BR-PC05", "BR-PC06"}, computerNames(a))
	require.Len(t, a.envelope.Warnings, 2)
	assert.Equal(t, []string{"protected", "CN=BR-PC03," + branchesOU, "not_empty", "CN=BR-PC04," + branchesOU},
		[]string{a.envelope.Warnings[0].Code, a.envelope.Warnings[0].Target, a.envelope.Warnings[1].Code, a.envelope.Warnings[1].Target})
	assert.Equal(t, []string{"BR-PC03", "BR-PC04"}, s.names(listComputers("OUPath", branchesOU)))

	// Controllers stay.
	a = s.do(removeComputers("WildCard", "DC*", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Empty(t, a.envelope.Result)
	assert.Len(t, a.envelope.Warnings, 2)
}

// TestRemovingManyFailsHalfWay denies the removal of some computers in a way
// that is no protection.
func TestRemovingManyFailsHalfWay(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			s.denyTo(branchesOU, directory.RightDeleteChild, false)
			for _, name := range []string{"BR-PC02", "BR-PC05"} {
				s.denyTo("CN="+name+","+branchesOU, directory.RightDelete, false)
			}
			// The first that fails is the only one: nothing is done.
			a := s.refused(removeComputers("OUPath", branchesOU, "WildCard", "BR-PC02"), http.StatusForbidden, "directory_denied")
			assert.Equal(t, "none", a.envelope.Error.Outcome)
			require.Len(t, a.envelope.Error.Details, 1)

			start := s.snapshot()
			a = s.do(removeComputers("OUPath", branchesOU))
			require.Equal(t, http.StatusMultiStatus, a.status, "%s", a.body)
			assert.Equal(t, "partial", a.envelope.Error.Code)
			assert.Equal(t, "partial", a.envelope.Error.Outcome)
			assert.Equal(t, "4 computers removed. 2 objects failed; see details.", a.envelope.Output)
			assert.Equal(t, a.envelope.Output, a.envelope.Error.Message)
			assert.Equal(t, []string{"BR-PC01", "BR-PC03", "BR-PC04", "BR-PC06"}, computerNames(a))
			require.Len(t, a.envelope.Error.Details, 2)
			for i, name := range []string{"BR-PC02", "BR-PC05"} {
				assert.Contains(t, a.envelope.Error.Details[i].Message, "'CN="+name+","+branchesOU+"': ")
				assert.Contains(t, a.envelope.Error.Details[i].Message, "access is denied")
			}
			assert.Equal(t, "dc1.corp.example", a.header.Get("X-Directory-Server"))
			assert.Len(t, start.Compare(s.snapshot()), 4)
			assert.Equal(t, []string{"BR-PC02", "BR-PC05"}, s.names(listComputers("OUPath", branchesOU)))

			// The classic dialect answers a failure likewise.
			s.ok(register("BR-PC01", "OUPath", branchesOU), http.StatusCreated)
			assert.Equal(t, http.StatusMultiStatus, s.do(removeComputers("OUPath", branchesOU).as(classicToken)).status)
		})
	}
}

// TestARenameIsAllOrNothing makes the last step fail: the names that were set
// are set back.
func TestARenameIsAllOrNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fixed.ldif")
	require.NoError(t, os.WriteFile(file, []byte(`dn: CN=FIXED,CN=Builtin,DC=corp,DC=example
objectClass: computer
sAMAccountName: FIXED$
userAccountControl: 4096
dNSHostName: fixed.corp.example
servicePrincipalName: HOST/FIXED
servicePrincipalName: HOST/fixed.corp.example
`), 0o600))
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture, LDIF: []string{file}})
			_, mark := s.world.Since(sandbox.Mark{})
			a := s.refused(renameComputer("FIXED", "MOVED"), http.StatusUnprocessableEntity, "unprocessable")
			assert.Equal(t, "none", a.envelope.Error.Outcome)
			writes, _ := s.world.Since(mark)
			assert.Equal(t, 2, writes, "the names were set and set back")
			assert.Equal(t, "FIXED$", s.ok(readComputer("FIXED"), http.StatusOK)["samName"])
		})
	}
}
