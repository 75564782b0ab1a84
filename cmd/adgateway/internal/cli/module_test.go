package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A busy gateway is asked again, as long as it did nothing; a user may call with a password.
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
	said := startConsole(t, "p:w").run(t, `Import-Module -Name AdGateway
$secret = [System.Net.NetworkCredential]::new('', $env:ADGATEWAY_TOKEN).SecurePassword
$credential = [System.Management.Automation.PSCredential]::new('oper', $secret)
(Connect-AdGateway -Uri '`+gateway.URL+`' -Credential $credential -RetrySec 10).kind
Test-AdgUser -Username 'anna'
@(Enable-AdgUser -Username 'anna')[-1].kind
try { Disable-AdgUser -Username 'anna' -ErrorAction Stop } catch { $_.TargetObject.code }
try { Unlock-AdgUser -Username 'anna' -ErrorAction Stop } catch { $_.TargetObject.code }
`)
	assert.Equal(t, "user\nwaits 1 s\nwaits 2 s\nwaits 4 s\nTrue\nuser\nunavailable\nwaits 1 s\nwaits 2 s\nwaits 4 s\nrate_limited\n", said)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("oper:p:w"))
	assert.Equal(t, map[string][]string{
		"GET /api/WhoAmI":             {basic},
		"GET /api/ADUser/anna/Exists": slices.Repeat([]string{basic}, 4),
		"PUT /api/ADUser/anna/Enable": {basic, basic}, "PUT /api/ADUser/anna/Disable": {basic}, "PUT /api/ADUser/anna/Unlock": slices.Repeat([]string{basic}, 4),
	}, calls)
}
