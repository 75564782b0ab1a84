package story

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
)

// describe returns a request that sets the description of a computer.
func describe(name, text string) systemtest.Call {
	return systemtest.Call{Method: http.MethodPut, Path: systemtest.ComputerPath(name) + "/Update", Params: map[string]any{"ComputerDescription": text}}
}

func TestTheLifeOfAComputer(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	made := s.OK(systemtest.RegisterComputer("Story-PC1", "ADComputerDescription", "Told; $(x)", "OUPath", strings.ToLower(systemtest.RetiredOU)), http.StatusCreated)
	assert.Equal(t, "Story-PC1", made["computerName"])
	assert.Equal(t, "Story-PC1$", made["samName"])
	assert.Equal(t, systemtest.RetiredOU, made["path"])
	assert.Equal(t, []any{"Told; $(x)", true, nil, nil}, []any{made["description"], made["enabled"], made["operatingSystem"], made["lastLogon"]})
	// The account is an enabled workstation account with a random password (facts E47, H18).
	o := s.Stored(made["distinguishedName"].(string), "userAccountControl", "primaryGroupID", "pwdLastSet")
	control, _ := o.Int("userAccountControl")
	group, _ := o.Int("primaryGroupID")
	set, _ := o.Int("pwdLastSet")
	assert.Equal(t, []int64{4096, 515}, []int64{control, group})
	assert.Positive(t, set)
	for _, name := range []string{"story-pc1", "Story-PC1$", made["guid"].(string), "{" + made["guid"].(string) + "}", made["distinguishedName"].(string)} {
		assert.Equal(t, made, s.OK(systemtest.ReadComputer(name), http.StatusOK), name)
		exists := s.Expect(http.StatusOK, http.MethodGet, systemtest.ComputerPath(name)+"/Exists", nil)
		assert.Equal(t, map[string]any{"exists": true, "guid": made["guid"], "distinguishedName": made["distinguishedName"]}, exists, name)
	}
	assert.Equal(t, []string{"OLD-PC1", "OLD-PC2", "Story-PC1"}, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.RetiredOU, "Recursive", "false")))
	assert.Empty(t, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.DevicesOU, "Recursive", "false")))
	assert.Contains(t, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.DevicesOU)), "Story-PC1")
	assert.Contains(t, s.Get("/api/Computers/All").Envelope.Result, made)
	assert.Equal(t, "ADComputerName", systemtest.FirstField(s.Rejects(systemtest.RegisterComputer("STORY-PC1"), http.StatusConflict, "conflict")), "taken in another container")
	s.Rejects(systemtest.RegisterComputer("OLD-PC1", "OUPath", systemtest.ServersOU), http.StatusConflict, "conflict")

	// The description is missing, unchanged, or empty.
	s.ChangesNothing(systemtest.Call{Method: http.MethodPut, Path: systemtest.ComputerPath("Story-PC1") + "/Update"})
	s.ChangesNothing(describe("Story-PC1", "Told; $(x)"))
	assert.Equal(t, "told", s.OK(describe("Story-PC1$", "told"), http.StatusOK)["description"])
	assert.Nil(t, s.OK(describe("Story-PC1", ""), http.StatusOK)["description"])
	s.ChangesNothing(describe("Story-PC1", ""))

	// The computer is renamed.
	a := s.Do(systemtest.RenameComputer("story-pc1$", "Story-PC2"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(t, a.Envelope.Output, "The machine itself is not renamed")
	now := s.Record(a)
	assert.Equal(t, []any{"Story-PC2", "Story-PC2$", "CN=Story-PC2," + systemtest.RetiredOU, made["guid"]}, []any{now["computerName"], now["samName"], now["distinguishedName"], now["guid"]})
	s.ChangesNothing(systemtest.RenameComputer("Story-PC2", "Story-PC2"))
	assert.Equal(t, "STORY-pc2$", s.OK(systemtest.RenameComputer("Story-PC2", "STORY-pc2"), http.StatusOK)["samName"])
	assert.Equal(t, "NewADComputerName", systemtest.FirstField(s.Rejects(systemtest.RenameComputer("Story-PC2", "FS1"), http.StatusConflict, "conflict")))
	s.Rejects(systemtest.ReadComputer("Story-PC1"), http.StatusNotFound, "not_found")

	assert.Equal(t, "The computer 'Story-PC2$' was removed.", s.Do(systemtest.RemoveComputer("Story-PC2$")).Envelope.Output)
	s.Rejects(systemtest.RemoveComputer("Story-PC2"), http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.Expect(http.StatusOK, http.MethodGet, systemtest.ComputerPath("Story-PC2")+"/Exists", nil)["exists"])
	assert.Empty(t, start.Compare(s.Snapshot()))

	// Without OUPath the domain decides where new computers are created.
	assert.Equal(t, computersDN, s.OK(systemtest.RegisterComputer("Story-PC3"), http.StatusCreated)["path"])
	assert.Equal(t, "OUPath", systemtest.FirstField(s.Rejects(systemtest.RegisterComputer("Story-PC4", "OUPath", "OU=None,"+domainDN), http.StatusUnprocessableEntity, "unprocessable")))
	assert.Equal(t, "OUPath", systemtest.FirstField(s.Rejects(systemtest.ListComputers("OUPath", "OU=None,"+domainDN), http.StatusNotFound, "not_found")))
	for _, name := range []string{"1234", "abcdefghijklmnop", "PC 1", "PC1$", "-PC", "PC.1", "PÄC", "a'b"} {
		assert.Equal(t, "ADComputerName", systemtest.FirstField(s.Rejects(systemtest.RegisterComputer(name), http.StatusBadRequest, "invalid_request")), name)
		assert.Equal(t, "NewADComputerName", systemtest.FirstField(s.Rejects(systemtest.RenameComputer("FS1", name), http.StatusBadRequest, "invalid_request")), name)
	}
}

func TestObjectsThatAreNotComputers(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, name := range []string{"gmsa-web", "gmsa-web$", systemtest.SampleUser, systemtest.SampleUserDN, "Domain Admins", "none", "*", "FS1)(cn=*"} {
				for _, c := range []systemtest.Call{systemtest.ReadComputer(name), systemtest.RenameComputer(name, "X1"), describe(name, "x"), systemtest.RemoveComputer(name)} {
					assert.Equal(t, "ADComputerName", systemtest.FirstField(s.Rejects(c, http.StatusNotFound, "not_found")), name)
				}
				assert.Equal(t, false, s.Expect(http.StatusOK, http.MethodGet, systemtest.ComputerPath(name)+"/Exists", nil)["exists"], name)
			}
			all := s.ComputerNames(systemtest.Call{Method: http.MethodGet, Path: "/api/Computers/All"})
			assert.NotContains(t, all, "gmsa-web", "managed service accounts derive from the class")
			assert.Contains(t, all, "DC1")
			assert.Len(t, all, 44)
		})
	}
}

// TestARenameChangesAllNames: renaming a computer changes its service principal
// names as well (facts E48).
func TestARenameChangesAllNames(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	dn := "CN=SQL1," + systemtest.ServersOU
	before := s.Stored(dn, "servicePrincipalName").Strings("servicePrincipalName")
	require.NotEmpty(t, before)
	s.SetAttribute(dn, "servicePrincipalName", "MSSQLSvc/sql1.corp.example:1499", "HOST/SQL1", "HOST/sql1.corp.example", "http/alias.corp.example", "ldap/SQL1.corp.example/corp.example")
	now := s.OK(systemtest.RenameComputer("SQL1", "DATA-9"), http.StatusOK)
	assert.Equal(t, "data-9.corp.example", now["dnsName"])
	o := s.Stored("CN=DATA-9,"+systemtest.ServersOU, "servicePrincipalName", "dNSHostName", "sAMAccountName")
	assert.Equal(t, "data-9.corp.example DATA-9$", o.String("dNSHostName")+" "+o.String("sAMAccountName"))
	assert.ElementsMatch(t, []string{
		"MSSQLSvc/data-9.corp.example:1499", "HOST/DATA-9", "HOST/data-9.corp.example", "http/alias.corp.example", "ldap/data-9.corp.example/corp.example",
	}, o.Strings("servicePrincipalName"))
}

func TestControllersAndPrivilegedComputers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, token := range []string{systemtest.AllToken, systemtest.PlainToken} {
		s.Rejects(systemtest.RenameComputer("DC1", "DC9").As(token), http.StatusConflict, "protected")
		s.Rejects(systemtest.RemoveComputer("DC2").As(token), http.StatusConflict, "protected")
	}
	s.Rejects(describe("DC1", "x").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	assert.Equal(t, "x", s.OK(describe("DC1", "x"), http.StatusOK)["description"])
	s.SetAttribute("CN=FS1,"+systemtest.ServersOU, "adminCount", "1")
	s.Rejects(describe("FS1", "x").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	s.Rejects(systemtest.RenameComputer("FS1", "FS9").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	s.Rejects(systemtest.RemoveComputer("FS1").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	a := s.Do(systemtest.RemoveComputers("OUPath", systemtest.ServersOU, "WildCard", "FS1").As(systemtest.PlainToken))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "No computer was removed.", a.Envelope.Output)
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "forbidden", a.Envelope.Warnings[0].Code)
	s.OK(systemtest.RemoveComputer("FS1"), http.StatusOK)
}

func TestObjectsBelowAComputer(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	queue := "CN=PRINT1-Colour,CN=PRINT1," + systemtest.ServersOU
	require.NoError(t, s.DC1().SetProtected(context.Background(), queue, true))
	a := s.Rejects(systemtest.RemoveComputer("PRINT1"), http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, queue)
	require.NoError(t, s.DC1().SetProtected(context.Background(), queue, false))
	a = s.Do(systemtest.RemoveComputer("PRINT1"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(t, a.Envelope.Output, "The computer 'PRINT1' was removed together with ")
	assert.Contains(t, a.Envelope.Output, "'CN=PRINT1-Laser 4,CN=PRINT1,"+systemtest.ServersOU+"'")
	assert.Contains(t, a.Envelope.Output, "'CN=PRINT1-Colour,CN=PRINT1,"+systemtest.ServersOU+"'")
	assert.Empty(t, a.Envelope.Warnings)
	a = s.Do(systemtest.RemoveComputer("APP3"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(t, a.Envelope.Output, "'CN=Microsoft Hyper-V,CN=APP3,")

	a = s.Rejects(systemtest.RemoveComputer("PC01"), http.StatusConflict, "not_empty")
	assert.Contains(t, a.Envelope.Output, "{7F6B1D5C-3A1E-4C0B-9E57-1C2D3E4F5A6B}", "what would be lost is named")
	s.AddObject("CN=Key,CN=WEB1,"+systemtest.ServersOU, "msFVE-RecoveryInformation", systemtest.RecoveryKey...)
	s.Rejects(systemtest.RemoveComputer("WEB1"), http.StatusConflict, "not_empty")
	require.NoError(t, s.DC1().SetProtected(context.Background(), "CN=WEB2,"+systemtest.ServersOU, true))
	s.Rejects(systemtest.RemoveComputer("WEB2"), http.StatusConflict, "protected")
	s.OK(systemtest.RenameComputer("WEB2", "WEB9"), http.StatusOK) // facts E40
}

func TestLimitsOfTokensOnComputers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.RegisterComputer("LIM-1", "OUPath", systemtest.LimitedOU).As(systemtest.LimitedToken), http.StatusCreated)
	assert.Equal(t, []string{"LIM-1"}, s.ComputerNames(systemtest.Call{Method: http.MethodGet, Path: "/api/Computers/All", Token: systemtest.LimitedToken}))
	for _, c := range []systemtest.Call{systemtest.ReadComputer("FS1"), describe("FS1", "x"), systemtest.RenameComputer("FS1", "LIM-2"), systemtest.RemoveComputer("FS1")} {
		assert.Equal(t, "ADComputerName", systemtest.FirstField(s.Rejects(c.As(systemtest.LimitedToken), http.StatusNotFound, "not_found")))
	}
	assert.Equal(t, false, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.ComputerPath("FS1") + "/Exists", Token: systemtest.LimitedToken}, http.StatusOK)["exists"])
	assert.Equal(t, "OUPath", systemtest.FirstField(s.Rejects(systemtest.RegisterComputer("LIM-2").As(systemtest.LimitedToken), http.StatusForbidden, "limit")))
	assert.Equal(t, "OUPath", systemtest.FirstField(s.Rejects(systemtest.RemoveComputers("OUPath", systemtest.RetiredOU).As(systemtest.LimitedToken), http.StatusForbidden, "limit")))
	s.OK(systemtest.RegisterComputer("LIM-3"), http.StatusCreated)
	a := s.Do(systemtest.RemoveComputers("WildCard", "LIM-*", "Recursive", "true").As(systemtest.LimitedToken))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, []string{"LIM-1"}, systemtest.NamesOfComputers(a), "what lies outside does not match")
	s.OK(systemtest.ReadComputer("LIM-3"), http.StatusOK)
}

func TestRemovingManyComputers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=6")
	root := systemtest.RemoveComputers("OUPath", domainDN)
	for _, c := range []systemtest.Call{
		systemtest.RemoveComputers(), systemtest.RemoveComputers("WildCard", "*"), systemtest.RemoveComputers("WildCard", "***"), systemtest.RemoveComputers("OUPath", ""), systemtest.RemoveComputers("WildCard", ""), root,
		systemtest.RemoveComputers("OUPath", strings.ToLower(domainDN), "WildCard", "**"), systemtest.RemoveComputers("WildCard", strings.Repeat("x", 300)),
	} {
		s.Rejects(c, http.StatusBadRequest, "invalid_request")
	}
	s.Rejects(systemtest.RemoveComputers("OUPath", "OU=None,"+domainDN), http.StatusNotFound, "not_found")

	// Only * is special. A pattern without * matches only the exact name. Without Recursive, no computer in a
	// lower OU is removed.
	for _, pattern := range []string{"BR-PC0?", "BR-PC0[1-6]", "BR-PC", "PC0", "br-pc01)(cn=*", `BR-PC\2a`} {
		a := s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU, "WildCard", pattern))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Empty(t, a.Envelope.Result, pattern)
		assert.Equal(t, "No computer was removed.", a.Envelope.Output)
	}
	assert.Empty(t, s.ComputerNames(systemtest.RemoveComputers("OUPath", systemtest.DevicesOU, "WildCard", "BR-PC*")))
	// The directory ignores diacritics, but a removal does not.
	s.AddObject("CN=B\u00dcR[1]-PC1,"+systemtest.DevicesOU, "computer", "sAMAccountName", "BUR-PC1$")
	assert.Empty(t, s.ComputerNames(systemtest.RemoveComputers("OUPath", systemtest.DevicesOU, "WildCard", "bur*")))
	assert.Equal(t, []string{"B\u00dcR[1]-PC1"}, s.ComputerNames(systemtest.RemoveComputers("OUPath", systemtest.DevicesOU, "WildCard", "b\u00fcr[1]*")))

	// Without OUPath only the root of the domain is searched, which contains hardly any computers.
	a := s.Do(systemtest.RemoveComputers("WildCard", "BR-PC*"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Empty(t, a.Envelope.Result)
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "not_searched", a.Envelope.Warnings[0].Code)
	assert.Equal(t, domainDN, a.Envelope.Warnings[0].Target)
	assert.Equal(t, "Only the domain's root itself was searched; of the computers that match, 6 lie below it. OUPath names where to search, Recursive=true searches below that, too.", a.Envelope.Warnings[0].Message)
	for _, c := range []systemtest.Call{systemtest.RemoveComputers("WildCard", "NONE*"), systemtest.RemoveComputers("WildCard", "NONE*", "Recursive", "true"), systemtest.RemoveComputers("WildCard", "BR-PC*").As(systemtest.LimitedToken)} {
		a = s.Do(c)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Empty(t, a.Envelope.Warnings, "nothing that the caller may remove was left out")
	}

	a = s.Rejects(systemtest.RemoveComputers("WildCard", "*PC0*", "Recursive", "true"), http.StatusConflict, "too_many")
	assert.Regexp(t, `^15 computers match; one request removes at most 6\.`, a.Envelope.Output)

	a = s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU, "WildCard", "br-*c01"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "1 computer removed.", a.Envelope.Output)
	assert.Equal(t, []string{"BR-PC01"}, systemtest.NamesOfComputers(a))
	assert.Equal(t, []string{"BR-PC02"}, s.ComputerNames(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU, "WildCard", "BR-PC02")))

	// A number is read as text.
	s.AddObject("CN=4711,"+systemtest.BranchesOU, "computer", "sAMAccountName", "4711$")
	a = s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/Computers/Remove", Raw: strings.NewReader(`{"WildCard": 4711, "OUPath": "` + systemtest.BranchesOU + `"}`), Headers: map[string]string{"Content-Type": "application/json"}})
	assert.Equal(t, []string{"4711"}, systemtest.NamesOfComputers(a), "%s", a.Body)

	// The whole OU is cleared, except for protected computers.
	require.NoError(t, s.DC1().SetProtected(context.Background(), "CN=BR-PC03,"+systemtest.BranchesOU, true))
	s.AddObject("CN=Key,CN=BR-PC04,"+systemtest.BranchesOU, "msFVE-RecoveryInformation", systemtest.RecoveryKey...)
	a = s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "2 computers removed.", a.Envelope.Output)
	assert.Equal(t, []string{"BR-PC05", "BR-PC06"}, systemtest.NamesOfComputers(a))
	require.Len(t, a.Envelope.Warnings, 2)
	assert.Equal(t, []string{"protected", "CN=BR-PC03," + systemtest.BranchesOU, "not_empty", "CN=BR-PC04," + systemtest.BranchesOU},
		[]string{a.Envelope.Warnings[0].Code, a.Envelope.Warnings[0].Target, a.Envelope.Warnings[1].Code, a.Envelope.Warnings[1].Target})
	assert.Equal(t, []string{"BR-PC03", "BR-PC04"}, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.BranchesOU)))

	// Domain controllers are never removed.
	a = s.Do(systemtest.RemoveComputers("WildCard", "DC*", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Empty(t, a.Envelope.Result)
	assert.Len(t, a.Envelope.Warnings, 2)
}

// TestRemovingManyComputersFailsInPart: the directory denies the removal of some
// computers that are not protected.
func TestRemovingManyComputersFailsInPart(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			s.DenyEveryone(systemtest.BranchesOU, directory.RightDeleteChild, false)
			for _, name := range []string{"BR-PC02", "BR-PC05"} {
				s.DenyEveryone("CN="+name+","+systemtest.BranchesOU, directory.RightDelete, false)
			}
			// If the only computer fails, nothing is done.
			a := s.Rejects(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU, "WildCard", "BR-PC02"), http.StatusForbidden, "directory_denied")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
			require.Len(t, a.Envelope.Error.Details, 1)

			start := s.Snapshot()
			a = s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU))
			require.Equal(t, http.StatusMultiStatus, a.Status, "%s", a.Body)
			assert.Equal(t, "partial", a.Envelope.Error.Code)
			assert.Equal(t, "partial", a.Envelope.Error.Outcome)
			assert.Equal(t, "4 computers removed. 2 objects failed; see details.", a.Envelope.Output)
			assert.Equal(t, a.Envelope.Output, a.Envelope.Error.Message)
			assert.Equal(t, []string{"BR-PC01", "BR-PC03", "BR-PC04", "BR-PC06"}, systemtest.NamesOfComputers(a))
			require.Len(t, a.Envelope.Error.Details, 2)
			for i, name := range []string{"BR-PC02", "BR-PC05"} {
				assert.Contains(t, a.Envelope.Error.Details[i].Message, "'CN="+name+","+systemtest.BranchesOU+"': ")
				assert.Contains(t, a.Envelope.Error.Details[i].Message, "access is denied")
			}
			assert.Equal(t, "dc1.corp.example", a.Header.Get("X-Directory-Server"))
			assert.Len(t, start.Compare(s.Snapshot()), 4)
			assert.Equal(t, []string{"BR-PC02", "BR-PC05"}, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.BranchesOU)))

			// The classic dialect has no other status for records.
			s.OK(systemtest.RegisterComputer("BR-PC01", "OUPath", systemtest.BranchesOU), http.StatusCreated)
			classic := s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU).As(systemtest.ClassicToken))
			assert.Equal(t, http.StatusOK, classic.Status)
			assert.Contains(t, string(classic.Body), `"warnings":[{"code":"directory_denied","target":"CN=BR-PC02,`)
		})
	}
}

// TestARenameIsAllOrNothing: if the last step fails, the earlier names are
// restored.
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
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture, LDIF: []string{file}})
			_, mark := sandboxtest.Since(s.World, sandboxtest.Mark{})
			a := s.Rejects(systemtest.RenameComputer("FIXED", "MOVED"), http.StatusUnprocessableEntity, "unprocessable")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
			writes, _ := sandboxtest.Since(s.World, mark)
			assert.Equal(t, 2, writes, "the names were set and set back")
			assert.Equal(t, "FIXED$", s.OK(systemtest.ReadComputer("FIXED"), http.StatusOK)["samName"])
		})
	}
}
