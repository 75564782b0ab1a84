package protocols_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// answer is an answer, as decoded by the generated client.
type answer struct {
	Status   int `json:"-"`
	Output   string
	Result   json.RawMessage
	Warnings []struct{ Code string }
	Error    *struct{ Code, Message string }
}

func call(s *systemtest.System, token, method, path string) answer {
	s.T.Helper()
	a := s.Do(systemtest.Call{Method: method, Path: path, Token: token})
	got := answer{Status: a.Status}
	require.NoError(s.T, json.Unmarshal(a.Body, &got), "%s", a.Body)
	return got
}

// everyInput returns the query that the provider sends for a user. It has the given values, and all other
// inputs are empty or false.
func everyInput(given map[string]string) string {
	query := url.Values{}
	for _, name := range []string{"Password", "FirstName", "Initials", "LastName", "DisplayName", "Description", "EmailAddress", "Department", "Office",
		"Company", "OUPath", "JobTitle", "Manager", "Street", "POBox", "City", "State", "ZipCode", "Country", "OfficePhone", "HomePhone", "MobilePhone",
		"ProfilePath", "ProfileLogonScript", "HomeFolderPath", "HomeFolderDrive", "HomeFolderDirectory", "RdsProfilePath", "RdsHomeFolderPath",
		"RdsHomeFolderDrive", "ShowFields"} {
		query.Set(name, "")
	}
	for _, name := range []string{"ChangePasswordNextLogon", "PasswordNeverExpired", "RdsConnectDrive", "RdsAllowLogon"} {
		query.Set(name, "false")
	}
	for name, value := range given {
		query.Set(name, value)
	}
	if query.Get("Password") == "" {
		query.Del("Password") // the provider does not send a secret that is not set
	}
	return "?" + query.Encode()
}

// TestCallsOfTheTerraformProvider replays calls of the family's provider that once failed, one in each row.
// The expected answer is 200 with one object, unless the row has a different one.
func TestCallsOfTheTerraformProvider(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const user = "/api/ADUser/tfuser"
	const cn = "CN=Users,DC=corp,DC=example"
	for _, c := range []struct {
		about, method, path string
		status              int            // 0 means 200
		fields              map[string]any // of the object
		says                string         // expected text of the output
	}{
		{about: "a user with chosen fields has its id and booleans all the same", method: "POST",
			path:   user + everyInput(map[string]string{"Password": systemtest.GoodPassword, "ShowFields": "firstName,lastName"}),
			fields: map[string]any{"firstName": nil, "enabled": true, "lockedOut": false, "rdsAllowLogon": false, "rdsConnectDrive": false}},
		{about: "disable with chosen fields", method: "PUT", path: user + "/Disable?ShowFields=firstName", fields: map[string]any{"enabled": false}},
		{about: "unlock with chosen fields", method: "PUT", path: user + "/Unlock?ShowFields=firstName", fields: map[string]any{"lockedOut": false}},
		{about: "a list with chosen fields is read", method: "GET", path: "/api/ADUser/ListUsers?OUPath=&Recursive=true&ShowFields=firstName"},
		{about: "a computer of name and OU only", method: "POST", path: "/api/Computers/BIG-MAC/Register?ADComputerDescription=&OUPath=" + url.QueryEscape(systemtest.StaffOU),
			fields: map[string]any{"description": nil, "path": systemtest.StaffOU}},
		{about: "a computer of a name only", method: "POST", path: "/api/Computers/KCMIN/Register?ADComputerDescription=&OUPath="},
		{about: "a password in the query", method: "PUT", path: user + "/ResetPassword?newPassword=N3w-Password!&ShowFields=guid", fields: map[string]any{"enabled": false}},
		{about: "never expires and change at next logon", method: "POST",
			path:   "/api/ADUser/tfnever" + everyInput(map[string]string{"Password": systemtest.GoodPassword, "ChangePasswordNextLogon": "true", "PasswordNeverExpired": "true"}),
			fields: map[string]any{"passwordNeverExpired": true, "changePasswordNextLogon": false}},
		{about: "a drive without a folder", method: "POST", path: "/api/ADUser/tfdrive" + everyInput(map[string]string{"HomeFolderDrive": "X:"}),
			fields: map[string]any{"homeFolderDrive": "X:", "homeFolderPath": nil, "homeFolderDirectory": nil}},
		{about: "folder and drive", method: "PUT", path: "/api/ADUser/tfdrive" + everyInput(map[string]string{"HomeFolderDrive": "X:", "HomeFolderDirectory": `\\fs1\h`}),
			fields: map[string]any{"homeFolderDrive": "X:", "homeFolderPath": nil, "homeFolderDirectory": `\\fs1\h`}},
		{about: "a path instead", method: "PUT", path: "/api/ADUser/tfdrive" + everyInput(map[string]string{"HomeFolderPath": `\\fs1\p`}),
			fields: map[string]any{"homeFolderDrive": nil, "homeFolderPath": `\\fs1\p`, "homeFolderDirectory": nil}},
		{about: "a group with an empty OU", method: "POST", path: "/api/ADGroups/kg-empty-ou/Security?GroupScope=&GroupDescription=&GroupEmail=&OUPath=",
			fields: map[string]any{"scope": "Global", "ouPath": cn}},
		{about: "is removed with an empty OU", method: "DELETE", path: "/api/ADGroups/kg-empty-ou/Remove?OUPath="},
		{about: "an OU with empty options", method: "POST", path: "/api/OU?OUName=tf&OUDescription=&IsProtected=&OUDestinationPath=" + url.QueryEscape(systemtest.StaffOU),
			fields: map[string]any{"protected": true}},
		{about: "an OU removed without force", method: "DELETE", path: "/api/OU/Path/Remove?Force=&OUPath=" + url.QueryEscape("OU=tf,"+systemtest.StaffOU), status: http.StatusConflict, says: "Force=true"},
		{about: "an OU removed by force", method: "DELETE", path: "/api/OU/Path/Remove?Force=true&OUPath=" + url.QueryEscape("OU=tf,"+systemtest.StaffOU)},
		{about: "an update of nothing", method: "PUT", path: user, says: "nothing was changed"},
		{about: "an update of all that is so already", method: "PUT", path: "/api/ADUser/tfnever" + everyInput(map[string]string{"PasswordNeverExpired": "true"}), says: "nothing was changed"},
		{about: "an empty new password", method: "PUT", path: user + "/ResetPassword?newPassword=&ShowFields=", status: http.StatusBadRequest, says: "newPassword must not be empty"},
		{about: "a country by code is shown by name", method: "PUT", path: user + everyInput(map[string]string{"Country": "DE"}), fields: map[string]any{"country": "Germany"}},
		{about: "a country by name is shown as given", method: "PUT", path: user + everyInput(map[string]string{"Country": "Portugal"}), fields: map[string]any{"country": "Portugal"}},
		{about: "a country by its common name", method: "PUT", path: user + everyInput(map[string]string{"Country": "USA"}), fields: map[string]any{"country": "United States"}},
		{about: "a manager by name is shown as a DN", method: "PUT", path: user + everyInput(map[string]string{"Manager": systemtest.SampleUser}), fields: map[string]any{"manager": systemtest.SampleUserDN}},
		{about: "a manager by DN is shown as given", method: "PUT", path: user + everyInput(map[string]string{"Manager": systemtest.SampleUserDN}), fields: map[string]any{"manager": systemtest.SampleUserDN}, says: "nothing was changed"},
		{about: "LDAP:// before a DN", method: "GET", path: "/api/ADUser/ListUsers?OUPath=" + url.QueryEscape("LDAP://"+systemtest.StaffOU)},
		{about: "LDAP:// with a server", method: "GET", path: "/api/ADUser/ListUsers?OUPath=" + url.QueryEscape("LDAP://dc1/"+systemtest.StaffOU), status: http.StatusBadRequest, says: "must not name a server"},
		{about: "an A record", method: "POST", path: "/api/DnsARecord?DNS_HostName=tfa&IP_Address=10.0.0.1&ZoneName=corp.example", fields: map[string]any{"name": "tfa", "type": "A", "data": "10.0.0.1", "zone": "corp.example", "timestamp": ""}},
		{about: "an A record is read", method: "GET", path: "/api/DnsARecord?DNS_HostName=tfa&IP_Address=10.0.0.1&ZoneName=corp.example", fields: map[string]any{"data": "10.0.0.1"}},
		{about: "an A record is removed", method: "DELETE", path: "/api/DnsARecord?DNS_HostName=tfa&IP_Address=10.0.0.1&ZoneName=corp.example", fields: map[string]any{"name": "tfa"}},
		{about: "an A record that is not there", method: "GET", path: "/api/DnsARecord?DNS_HostName=tfa&IP_Address=10.0.0.1&ZoneName=corp.example", status: http.StatusNotFound},
		{about: "an AAAA record", method: "POST", path: "/api/DnsAAAARecord?DNS_HostName=tfa&IPv6_Address=2001:DB8:0::1&ZoneName=corp.example", fields: map[string]any{"data": "2001:db8::1"}},
		{about: "an AAAA record in another spelling is removed", method: "DELETE", path: "/api/DnsAAAARecord?DNS_HostName=tfa&IPv6_Address=2001:db8::1&ZoneName=corp.example", fields: map[string]any{"type": "AAAA"}},
		{about: "logging in", method: "POST", path: "/api/Login?username=a&password=b", status: http.StatusNotFound, says: "There is no such route. All are described"},
		{about: "computers by a pattern and an empty OU", method: "DELETE", path: "/api/Computers/Remove?WildCard=zz*&OUPath=&Recursive=", status: http.StatusBadRequest, says: "OUPath must not be empty"},
		{about: "computers by a pattern", method: "DELETE", path: "/api/Computers/Remove?WildCard=BIG-*&Recursive=true", says: "1 computer removed"},
		{about: "a CNAME", method: "POST", path: "/api/DnsCNameRecord?DNS_HostName=tf&DNS_HostName_Alias=web1.corp.example&ZoneName=corp.example", fields: map[string]any{"name": "tf", "timestamp": ""}},
		{about: "a user that is not there", method: "GET", path: "/api/ADUser/nobody/Details?ShowFields=", status: http.StatusNotFound, says: "was not found"},
		{about: "a user is removed", method: "DELETE", path: user + "?ShowFields=firstName"},
	} {
		t.Run(c.about, func(t *testing.T) {
			got := call(s.In(t), systemtest.OlderToken, c.method, c.path)
			want := c.status
			if want == 0 {
				want = http.StatusOK
			}
			require.Equal(t, want, got.Status, "%s %s", got.Output, got.Result)
			assert.Contains(t, got.Output, c.says)
			if len(got.Result) > 0 && got.Result[0] == '{' {
				record := map[string]any{}
				require.NoError(t, json.Unmarshal(got.Result, &record))
				if _, isDNS := record["zone"]; !isDNS {
					assert.NotEmpty(t, record["guid"])
				}
				for name, value := range c.fields {
					shown, has := record[name]
					assert.True(t, has, "%s is not in the record", name)
					assert.Equal(t, value, shown, name)
				}
			} else {
				assert.Empty(t, c.fields)
			}
		})
	}
	assert.NotContains(t, s.Log.String(), systemtest.GoodPassword)
	assert.NotContains(t, s.Log.String(), "N3w-Password!")
	refused := call(s, systemtest.ClassicToken, "PUT", "/api/ADUser/tfnever/ResetPassword?newPassword=N3w-Password!")
	assert.Equal(t, http.StatusBadRequest, refused.Status)
	for _, way := range []string{"send it in the body", "http.allowSecretsInQuery", "--secrets-in-query"} {
		assert.Contains(t, refused.Output, way)
	}
}
