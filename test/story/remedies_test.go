package story

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// A remedy is an error that advises a remedy, and the API calls that carry it out.
type remedy struct {
	says    string // a part of the message in the script
	prepare func(s *systemtest.System)
	call    systemtest.Call
	code    string
	remedy  []systemtest.Call // calls that the error names; if empty, the same call with other parameters
	then    map[string]any    // parameters advised by the error
	instead systemtest.Call   // the call with the name advised by the error
	ldif    string
	zone    string                                // a zone file for dyn.example
	set     string                                // a setting of the gateway
	found   func(s *systemtest.System) (r remedy) // returns call and remedy, depending on what prepare created
}

// advice matches script messages that advise a remedy.
var advice = regexp.MustCompile(`(?i)\bfirst[.:]|\bfirst, or\b|(Force|Recursive|MakeStatic|IsProtected)=true|` +
	`\b(Give|Restore|Use|Set) (an?|another|it|one|the|that)\b|\bSay with\b`)

// adviceOf returns the script messages that advise a remedy.
func adviceOf(t *testing.T) (all []string) {
	files, err := filepath.Glob("../../scripts/*/*.ps1")
	require.NoError(t, err)
	quoted := regexp.MustCompile(`"(?:[^"` + "`" + `]|` + "`" + `.)*"|'(?:[^']|'')*'`)
	for _, file := range files {
		if strings.Contains(file, "doctor") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, found := range quoted.FindAllString(line, -1) {
				if advice.MatchString(found) {
					all = append(all, strings.Trim(found, `"'`))
				}
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

func withAlso(c systemtest.Call, more map[string]any) systemtest.Call {
	c.Params = systemtest.Merge(c.Params, more)
	return c
}

// record returns a call about an address record.
func record(method, zone, host string) systemtest.Call {
	return ask(method, "/api/DnsARecord", "ZoneName", zone, "DNS_HostName", host, "IP_Address", "10.9.8.7")
}

// dns returns a call about records of corp.example.
func dns(method, path string, pairs ...string) systemtest.Call {
	return withParams(method, path, append([]string{"ZoneName", "corp.example"}, pairs...))
}

var remedies = []remedy{
	{
		says:    "is protected from accidental deletion. Force=true lifts the protection.",
		prepare: func(s *systemtest.System) { protect(s.T, s, systemtest.SampleUserDN) },
		call:    removeUser(systemtest.SampleUser), code: "protected", then: map[string]any{"Force": "true"},
	},
	{
		says:    "$What is not empty. Recursive=true removes what is below it, too.",
		prepare: withDevices,
		call:    removeUser(systemtest.SampleUser), code: "not_empty", then: map[string]any{"Recursive": "true"},
	},
	{
		says: "Force=true lifts all protections below the $Noun.",
		prepare: func(s *systemtest.System) {
			withDevices(s)
			protect(s.T, s, devicesOfAnna)
		},
		call: removeUser(systemtest.SampleUser, "Recursive", "true"), code: "protected", then: map[string]any{"Force": "true"},
	},
	{
		says: "lies below the $Noun and is the primary group of $account. Set another one for that first: $GatewayPrimaryCall.",
		prepare: func(s *systemtest.System) {
			s.OK(post(systemtest.GroupPath("First", "/Security"), "OUPath", systemtest.EmptyOU), http.StatusCreated)
			s.OK(post(systemtest.GroupPath("First", "/Members"), "Members", "aschmidt"), http.StatusCreated)
			s.OK(put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "First"), http.StatusOK)
		},
		call: systemtest.RemoveOU(systemtest.EmptyOU, "Recursive", "true"), code: "conflict",
		remedy: []systemtest.Call{put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "Domain Users")},
	},
	{
		says:    "The group '$dn' is the primary group of accounts. Set another one for those first: $GatewayPrimaryCall.",
		prepare: firstIsPrimary,
		call:    removeGroup("First"), code: "conflict",
		remedy: []systemtest.Call{put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "Domain Users")},
	},
	{
		says:    "is the primary group of '$memberDn'. Nobody leaves a primary group. Set another one first: $GatewayPrimaryCall.",
		prepare: firstIsPrimary,
		call:    systemtest.Call{Method: http.MethodDelete, Path: systemtest.UserInGroupPath("aschmidt", "First")}, code: "conflict",
		remedy: []systemtest.Call{put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "Domain Users")},
	},
	{
		says:    "is the primary group of '$([string]$item.DistinguishedName)'. Nobody leaves a primary group. Set another one first",
		prepare: firstIsPrimary,
		call:    withParams(http.MethodDelete, systemtest.GroupPath("First", "/Members"), []string{"Members", "aschmidt"}), code: "conflict",
		remedy: []systemtest.Call{put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "Domain Users")},
	},
	{
		says: "'$dn' is no direct member of '$groupDn'. Add it first: POST /api/ADGroups/{GroupName}/Members.",
		call: put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "Help Desk"), code: "unprocessable",
		remedy: []systemtest.Call{post(systemtest.GroupPath("Help Desk", "/Members"), "Members", "aschmidt")},
	},
	{
		says:    "The computer '$dn' is protected from accidental deletion. Force=true$By lifts the protection.",
		prepare: func(s *systemtest.System) { protect(s.T, s, "CN=WEB2,"+systemtest.ServersOU) },
		call:    removeComputer("WEB2"), code: "protected", then: map[string]any{"Force": "true"},
	},
	{
		says: "has objects below it that would be lost: $names. Recursive=true$By removes them, too.",
		prepare: func(s *systemtest.System) {
			s.AddObject("CN=Key,CN=WEB2,"+systemtest.ServersOU, "msFVE-RecoveryInformation", systemtest.RecoveryKey...)
		},
		call: removeComputer("WEB2"), code: "not_empty", then: map[string]any{"Recursive": "true"},
	},
	{
		says: "that are protected from accidental deletion: $names. Force=true$By lifts the protections.",
		prepare: func(s *systemtest.System) {
			s.AddObject("CN=Point,CN=WEB2,"+systemtest.ServersOU, "serviceConnectionPoint")
			protect(s.T, s, "CN=Point,CN=WEB2,"+systemtest.ServersOU)
		},
		call: removeComputer("WEB2"), code: "protected", then: map[string]any{"Force": "true"},
	},
	{
		says:    "and cannot be moved. Lift the protection first: $how.",
		prepare: func(s *systemtest.System) { protect(s.T, s, systemtest.SampleUserDN) },
		call:    put("/api/ADUser/aschmidt", "OUPath", systemtest.EmptyOU), code: "protected",
		remedy: []systemtest.Call{put("/api/ADUser/aschmidt/Protection", "IsProtected", "false")},
	},
	{
		says:    "has no password that the policy of the domain allows. Set one first.",
		prepare: func(s *systemtest.System) { s.OK(post("/api/ADUser/bare"), http.StatusCreated) },
		call:    put("/api/ADUser/bare/Enable"), code: "policy",
		remedy: []systemtest.Call{put("/api/ADUser/bare/ResetPassword", "newPassword", systemtest.GoodPassword)},
	},
	{
		says: "have $some that a delegation would hide. Move them first.",
		prepare: func(s *systemtest.System) {
			s.OK(record(http.MethodPost, "corp.example", "www.branch"), http.StatusCreated)
		},
		call:   dns(http.MethodPost, "/api/DnsDelegation", "ChildName", "branch", "NameServer", "ns1.branch.corp.example", "IP_Address", "10.9.1.1"),
		code:   "not_empty",
		remedy: []systemtest.Call{record(http.MethodDelete, "corp.example", "www.branch")},
	},
	{
		says: "Give an OUPath, or have an administrator of the domain name another default container with $tool.",
		ldif: redirected, call: post("/api/ADUser/newcomer"), code: "unprocessable",
		then: map[string]any{"OUPath": systemtest.EmptyOU},
	},
	{
		says: "The directory takes it for '$account': use that account name to change it.",
		ldif: "dn: CN=andré,OU=Empty,OU=Corp,DC=corp,DC=example\nobjectClass: user\nsAMAccountName: andré\n",
		call: put("/api/ADUser/andre", "City", "Bonn"), code: "not_found", instead: put("/api/ADUser/andr%C3%A9", "City", "Bonn"),
	},
	{
		says: "Several objects have the name '$Identity'. Use one of the account names: $names.",
		ldif: "dn: CN=Twin,OU=Empty,OU=Corp,DC=corp,DC=example\nobjectClass: user\nsAMAccountName: one\n\n" +
			"dn: CN=Twin,CN=Users,DC=corp,DC=example\nobjectClass: user\nsAMAccountName: two\n",
		call: systemtest.Call{Method: http.MethodGet, Path: userNamed("Twin")}, code: "ambiguous",
		instead: systemtest.Call{Method: http.MethodGet, Path: userNamed("two")},
	},
	{
		says: "begin with '$KeyId': give the whole id.", ldif: similarKey,
		call: revealingKey("PC01", "7f6b1d5c"), code: "ambiguous", instead: revealingKey("PC01", recoveryID),
	},
	{
		says: "It is the common name of: $names. Use that account name to change it.",
		call: put("/api/ADUser/Anna%20Schmidt/Disable"), code: "not_found", instead: put("/api/ADUser/aschmidt/Disable"),
	},
	{
		says: "restore the object with the GUID '$guid' first, or say with OUPath where it shall come back.",
		code: "parent_deleted", found: deletedTree,
	},
	{
		says: "Where the object lay is not known any more. Say with OUPath where it shall come back.",
		code: "parent_deleted", then: map[string]any{"OUPath": systemtest.CorpOU}, found: deletedTree,
	},
	{
		says: "one request restores at most $Most. Restore it without Recursive, then what lay in it.",
		set:  "limits.bulkDelete=2", code: "too_many", then: map[string]any{"Recursive": "false"},
		found: func(s *systemtest.System) (r remedy) {
			top, _ := treeOf(s)
			s.OK(systemtest.RemoveOU("OU=Below,OU=Top,"+systemtest.CorpOU), http.StatusOK)
			s.OK(systemtest.RemoveOU("OU=Other,OU=Top,"+systemtest.CorpOU), http.StatusOK)
			s.OK(systemtest.RemoveOU("OU=Top,"+systemtest.CorpOU), http.StatusOK)
			r.call = put("/api/RecycleBin/"+top+"/Restore", "Recursive", "true")
			return r
		},
	},
	{
		says: "Allow that with MakeStatic=true.",
		zone: "@ IN SOA ns.dyn.example. admin.dyn.example. 1 900 600 86400 3600\n@ NS dc1.corp.example.\nhost [AGE:3700000] A 10.0.0.1\n",
		call: put("/api/DnsARecord", "ZoneName", "dyn.example", "DNS_HostName", "host", "IP_Address", "10.0.0.1", "NewIP_Address", "10.0.0.2"),
		code: "conflict", then: map[string]any{"MakeStatic": "true"},
	},
	{
		says: "is delegated in $where. Remove the delegation first.",
		call: ask(http.MethodPost, lookupPath+"lab.corp.example"), code: "conflict",
		remedy: []systemtest.Call{dns(http.MethodDelete, delegationPath, "ChildName", "lab")},
	},
	{
		says: "would hide $some that $where has at and below this name. Move them first.",
		prepare: func(s *systemtest.System) {
			s.OK(record(http.MethodPost, "corp.example", "hidden"), http.StatusCreated)
		},
		call: ask(http.MethodPost, lookupPath+"hidden.corp.example"), code: "not_empty",
		remedy: []systemtest.Call{record(http.MethodDelete, "corp.example", "hidden")},
	},
	{
		says: "besides its SOA and name servers. Force=true removes it all the same.",
		prepare: func(s *systemtest.System) {
			s.OK(ask(http.MethodPost, lookupPath+"filled.example"), http.StatusCreated)
			s.OK(record(http.MethodPost, "filled.example", "a"), http.StatusCreated)
		},
		call: ask(http.MethodDelete, lookupPath+"filled.example"), code: "not_empty", then: map[string]any{"Force": "true"},
	},
}

// treeOf creates an OU that contains two OUs, and returns the GUIDs of the top OU and of a lower one.
func treeOf(s *systemtest.System) (top, below string) {
	made := func(name, parent string) string {
		return s.OK(systemtest.CreateOU(name, parent, "IsProtected", "false"), http.StatusCreated)["guid"].(string)
	}
	top = made("Top", systemtest.CorpOU)
	below = made("Below", "OU=Top,"+systemtest.CorpOU)
	made("Other", "OU=Top,"+systemtest.CorpOU)
	return top, below
}

// deletedTree removes a tree. The other objects in the tree can be restored only after its top.
func deletedTree(s *systemtest.System) (r remedy) {
	top, below := treeOf(s)
	s.OK(systemtest.RemoveOU("OU=Top,"+systemtest.CorpOU, "Recursive", "true"), http.StatusOK)
	r.call = put("/api/RecycleBin/" + below + "/Restore")
	r.remedy = []systemtest.Call{put("/api/RecycleBin/" + top + "/Restore")}
	return r
}

// firstIsPrimary makes a group Anna's primary group.
func firstIsPrimary(s *systemtest.System) {
	s.OK(post(systemtest.GroupPath("First", "/Security")), http.StatusCreated)
	s.OK(post(systemtest.GroupPath("First", "/Members"), "Members", "aschmidt"), http.StatusCreated)
	s.OK(put("/api/ADUser/aschmidt/PrimaryGroup", "GroupName", "First"), http.StatusOK)
}

// TestAdviceCanBeFollowed: the advice of an error can be followed through the API, and the
// call then succeeds.
func TestAdviceCanBeFollowed(t *testing.T) {
	for _, r := range remedies {
		t.Run(r.says, func(t *testing.T) {
			s := systemtest.New(t, worldOf(t, r), r.settings()...)
			if r.prepare != nil {
				r.prepare(s)
			}
			if r.found != nil {
				found := r.found(s)
				r.call, r.remedy, r.instead = found.call, found.remedy, found.instead
			}
			a := s.Do(r.call)
			require.NotNil(t, a.Envelope.Error, "%s", a.Body)
			assert.Equal(t, r.code, a.Envelope.Error.Code, "%s", a.Body)
			for _, call := range r.remedy {
				a = s.Do(call)
				require.Less(t, a.Status, 300, "%s", a.Body)
			}
			again := withAlso(r.call, r.then)
			if r.instead.Path != "" {
				again = r.instead
			}
			a = s.Do(again)
			assert.Less(t, a.Status, 300, "%s", a.Body)
		})
	}
}

// TestEveryAdviceIsTried: each script message that advises a remedy has a case above, or a reason for having
// none.
func TestEveryAdviceIsTried(t *testing.T) {
	for _, text := range adviceOf(t) {
		tried := slices.ContainsFunc(remedies, func(r remedy) bool {
			return strings.Contains(text, r.says) || strings.Contains(r.says, text)
		})
		_, told := notTried[text]
		assert.True(t, tried != told, "%s", text)
	}
}

// similarKey is a BitLocker key of PC01 whose id has the same beginning as another key's id.
const similarKey = "dn: CN=2026-02-05T09:12:44-00:00{7F6B1D5C-0000-4000-8000-000000000001},CN=PC01," +
	berlin + "\nobjectClass: msFVE-RecoveryInformation\n" +
	"msFVE-RecoveryGuid:: XB1rfwAAAECAAAAAAAAAAQ==\nmsFVE-RecoveryPassword: 1\n"

var notTried = map[string]string{
	"The member '$name' may be several objects. Use one of the distinguished names: '$choice'.": "the directory keeps account names unique",
	"OUPath names where to search, Recursive=true searches below that, too.":                    "a warning of a call that succeeds",
	"$Name' is a domain controller that exists. Demote it, or remove its account, first.":       "only tools of Windows demote a controller",
	"An administrator of the domain names another one with $tool first.":                        "only tools of Windows change default containers",
}

// worldOf returns the world of a case.
func worldOf(t *testing.T, r remedy) sandbox.Options {
	o := sandbox.Options{Seed: 1}
	write := func(name, text string) []string {
		if text == "" {
			return nil
		}
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return []string{file}
	}
	o.LDIF, o.Zones = write("case.ldif", r.ldif), write("dyn.example.dns", r.zone)
	return o
}

func (r remedy) settings() []string {
	if r.set == "" {
		return nil
	}
	return []string{r.set}
}
