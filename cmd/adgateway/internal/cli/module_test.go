package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/modulecases"
)

// connect starts a session of the module with the sandbox.
const connect = `Import-Module -Name AdGateway
$null = Connect-AdGateway -Uri $env:ADGATEWAY_URI -Token (Read-Host -AsSecureString -Prompt 'Token')
`

// The module behaves as its cases describe. Only its transport is replaced.
func TestModuleCases(t *testing.T) {
	all, err := modulecases.All()
	require.NoError(t, err)
	s := startSandbox(t, "--token", pageToken)
	s.eventually("/readyz", "Bearer "+pageToken, http.StatusOK)
	c := startConsole(t, pageToken)
	c.run(t, strings.Replace(connect, "$env:ADGATEWAY_URI", "'"+s.url+"'", 1))
	var elsewhere []string
	for _, one := range all {
		if one.Real != "" {
			elsewhere = append(elsewhere, one.Name+": "+one.Real)
			continue
		}
		t.Run(one.Name, func(t *testing.T) {
			c.tolerant = true
			said := strings.TrimSpace(c.run(t, one.Script))
			assert.Equal(t, one.Want, said, "errors %v, warnings %v", c.errors, c.warnings)
		})
	}
	t.Logf("%d cases ran; only a real PowerShell runs %d:\n%s",
		len(all)-len(elsewhere), len(elsewhere), strings.Join(elsewhere, "\n"))
	assert.LessOrEqual(t, len(elsewhere), 12, "cases for a real PowerShell are few")
}

// The module retries a call to a busy gateway as long as the gateway did nothing. A user may call with a
// password.
func TestTheModuleWaitsForABusyGateway(t *testing.T) {
	calls := map[string][]string{}
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.Method + " " + r.URL.Path
		calls[call] = append(calls[call], r.Header.Get("Authorization"))
		status, code, outcome := http.StatusOK, "", ""
		switch n := len(calls[call]); {
		case call == "GET /api/ADUser/anna/Exists" && n < 4:
			status, code = http.StatusTooManyRequests, "rate_limited"
		case call == "PUT /api/ADUser/anna/Enable" && n < 2:
			status, code, outcome = http.StatusServiceUnavailable, "overloaded", `,"outcome":"none"`
		case call == "PUT /api/ADUser/anna/Disable":
			status, code, outcome = http.StatusServiceUnavailable, "unavailable", `,"outcome":"unknown"`
		case call == "PUT /api/ADUser/anna/Unlock":
			status, code, outcome = http.StatusTooManyRequests, "rate_limited", `,"outcome":"none"`
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		failure := ""
		if code != "" {
			failure = fmt.Sprintf(`,"error":{"code":"%s","message":"The gateway is busy."%s}`, code, outcome)
		}
		fmt.Fprintf(w, `{"output":"Done.","result":[{"exists":true,"kind":"user"}]%s}`, failure)
	}))
	t.Cleanup(gateway.Close)
	c := startConsole(t, "p:w")
	said := c.run(t, `Import-Module -Name AdGateway
$secret = [System.Net.NetworkCredential]::new('', $env:ADGATEWAY_TOKEN).SecurePassword
$credential = [System.Management.Automation.PSCredential]::new('oper', $secret)
(Connect-AdGateway -Uri '`+gateway.URL+`' -Credential $credential -RetrySec 10).kind
Test-AdgUser -Username 'anna'
(Enable-AdgUser -Username 'anna' -PassThru).kind
try { Disable-AdgUser -Username 'anna' -ErrorAction Stop } catch { $_.TargetObject.code }
try { Unlock-AdgUser -Username 'anna' -ErrorAction Stop } catch { $_.TargetObject.code }
`)
	assert.Equal(t, "user\nTrue\nuser\nunavailable\nrate_limited\n", said)
	assert.Equal(t, []int{1, 2, 4, 1, 1, 2, 4}, c.waits)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("oper:p:w"))
	assert.Equal(t, map[string][]string{
		"GET /api/WhoAmI":             {basic},
		"GET /api/ADUser/anna/Exists": slices.Repeat([]string{basic}, 4),
		"PUT /api/ADUser/anna/Enable": {basic, basic}, "PUT /api/ADUser/anna/Disable": {basic}, "PUT /api/ADUser/anna/Unlock": slices.Repeat([]string{basic}, 4),
	}, calls)
}

// The module completes words, OUs, zones, users and groups.
func TestTheModuleCompletes(t *testing.T) {
	s := startSandbox(t, "--token", pageToken)
	s.eventually("/readyz", "Bearer "+pageToken, http.StatusOK)
	c := startConsole(t, pageToken)
	c.run(t, strings.Replace(connect, "$env:ADGATEWAY_URI", "'"+s.url+"'", 1))
	for call, want := range map[string]string{
		"'New-AdgGroupSecurity' 'GroupScope' 'U'":        "Universal\n",
		"'Get-AdgUser' 'Username' 'aschm'":               "aschmidt\n",
		"'Get-AdgGroup' 'GroupName' 'VPN'":               "'VPN Users'\n",
		"'Get-AdgDnsZone' 'ZoneName' 'corp'":             "corp.example\n",
		"'Get-AdgUser' 'OUPath' \"'OU=Berlin,OU=Staff\"": "'OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example'\n",
		"'Get-AdgUser' 'ShowFields' 'jobT'":              "jobTitle\n",
		"'Get-AdgUser' 'ShowFields' 'nothing of these'":  "",
	} {
		assert.Equal(t, want, c.run(t, "& $script:completer "+call+"\n"), call)
	}
}

// An answer that no gateway would give is an error. The module then repeats a read, and it repeats a change
// only if the change has an idempotency key.
func TestTheModuleRefusesAnswersOfOtherServers(t *testing.T) {
	calls := map[string]int{}
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.Method + " " + r.URL.Path
		calls[call]++
		// cut the answer off instead of sending none, because the HTTP client may itself repeat a request without
		// an answer
		cut := func() {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
			assert.NoError(t, http.NewResponseController(w).Flush())
			panic(http.ErrAbortHandler)
		}
		page := func(status int) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			fmt.Fprint(w, "<html>a proxy</html>")
		}
		switch n := calls[call]; {
		case call == "GET /api/ADUser/anna/Exists" && n == 1, call == "PUT /api/ADUser/anna/Enable":
			cut()
		case call == "PUT /api/ADUser/anna/Unlock" && n == 1:
			cut()
		case call == "GET /api/ADUser/anna/Exists" && n == 2:
			w.Header().Set("Retry-After", "2.5")
			page(http.StatusServiceUnavailable)
		case call == "GET /api/ADUser/bob/Exists":
			page(http.StatusOK)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"output":"Done.","result":[{"exists":true,"kind":"user"}]}`)
		}
	}))
	t.Cleanup(gateway.Close)
	c := startConsole(t, "p:w")
	said := c.run(t, `Import-Module -Name AdGateway
$token = [System.Net.NetworkCredential]::new('', $env:ADGATEWAY_TOKEN).SecurePassword
$null = Connect-AdGateway -Uri '`+gateway.URL+`' -Token $token -RetrySec 10
Test-AdgUser -Username 'anna'
(Unlock-AdgUser -Username 'anna' -IdempotencyKey 'once' -PassThru).kind
try { Enable-AdgUser -Username 'anna' -ErrorAction Stop } catch { $_.TargetObject.code; $_.Exception.Message }
try { Test-AdgUser -Username 'bob' -ErrorAction Stop } catch { $_.TargetObject.code; $_.Exception.Message }
`)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	require.Len(t, lines, 6, said)
	assert.Equal(t, []string{"True", "user", "no_answer"}, lines[:3])
	assert.Contains(t, lines[3], "A change may have been made")
	assert.Equal(t, "no_answer", lines[4])
	assert.Contains(t, lines[5], "answered with status 200 and something that no gateway sends")
	assert.Equal(t, []int{1, 3, 1}, c.waits, "what the answer asks for, in whole seconds")
	assert.Equal(t, map[string]int{
		"GET /api/WhoAmI": 1, "GET /api/ADUser/anna/Exists": 3, "GET /api/ADUser/bob/Exists": 1,
		"PUT /api/ADUser/anna/Unlock": 2, "PUT /api/ADUser/anna/Enable": 1,
	}, calls)
}

// A warning names the columns that match no parameter. A former name causes one warning that names its
// replacement.
func TestTheModuleWarns(t *testing.T) {
	s := startSandbox(t, "--token", "p:w")
	s.eventually("/readyz", "Bearer p:w", http.StatusOK)
	c := startConsole(t, "p:w")
	c.run(t, strings.Replace(connect, "$env:ADGATEWAY_URI", "'"+s.url+"'", 1))
	c.run(t, "$null = [pscustomobject]@{ Username = 'lweber'; City = 'Bonn'; Shoesize = '38' } | Set-AdgUser\n")
	require.Len(t, c.warnings, 1)
	assert.Contains(t, c.warnings[0], "Shoesize")
	assert.NotContains(t, c.warnings[0], "City")
	c.run(t, "'Sales Staff', 'All Staff' | ForEach-Object { $null = Get-AdgGroupMembers -GroupName $_ }\n")
	assert.Equal(t, []string{
		"Get-AdgGroupMembers is now Get-AdgGroupMember; the next version will not have the old name.",
	}, c.warnings)
}

// Without a token, a credential or a certificate, the module calls as the signed-in account.
func TestTheModuleCallsAsTheAccountThatIsSignedIn(t *testing.T) {
	var asked []string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, strings.Join(r.Header.Values("Authorization"), ",")+" "+r.Header.Get("X-Signed-In"))
		w.Header().Set("Content-Type", "application/json")
		if len(asked) == 2 {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"result":[],"error":{"code":"unauthenticated","message":"The ticket has expired."}}`)
			return
		}
		fmt.Fprint(w, `{"result":[{"exists":true,"kind":"person"}]}`)
	}))
	t.Cleanup(gateway.Close)
	c := startConsole(t, "secret")
	said := c.run(t, `Import-Module -Name AdGateway
(Connect-AdGateway -Uri '`+gateway.URL+`').kind
try { Test-AdgUser -Username 'anna' -ErrorAction Stop } catch { $_.Exception.Message }
$token = [System.Net.NetworkCredential]::new('', $env:ADGATEWAY_TOKEN).SecurePassword
(Connect-AdGateway -Uri '`+gateway.URL+`' -Token $token).kind
(Connect-AdGateway -Uri '`+gateway.URL+`' -Token $token -UseDefaultCredentials).kind
`)
	assert.Equal(t, "person\n"+
		"The gateway does not accept the account that is signed in: The ticket has expired. "+
		"Otherwise call Connect-AdGateway with -Token or -Credential.\nperson\nperson\n", said)
	assert.Equal(t, []string{" yes", " yes", "Bearer secret ", "Bearer secret yes"}, asked)
}
