package app

import (
	"strings"
	"testing"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Apply passes on every setting that the table marks as live.
func TestEveryLiveSettingIsInThePolicy(t *testing.T) {
	other := map[string]string{
		"http.dialect": "classic", "http.allowSecretsInQuery": "true", "http.allowedOrigins": "[https://portal.corp.example]",
		"http.trustedProxies": "[10.0.0.1]", "http.readTimeout": "1s", "http.writeTimeout": "1s", "http.listTimeout": "1s",
		"http.shutdownTimeout": "1s", "http.settleTimeout": "2s", "http.settlePause": "2s", "limits.bulkDelete": "1", "limits.staleDays": "1", "limits.guardedGroups": "[Helpdesk]",
		"acme.ttl": "1", "acme.zones": "[acme.example]", "acme.accounts": "[{subdomain: a, credential: b, name: _acme-challenge.d}]", "externaldns.budget": "1s",
		"http.requireGuard": "[user:write]", "http.requireKey": "[user:write]",
		"plans.life": "2m", "plans.otherCaller": "true",
	}
	before := options.Policy(config.Default())
	for _, row := range config.Rows() {
		if !row.Live() || strings.HasPrefix(row.Key, "log.") { // applied by the command
			continue
		}
		require.Contains(t, other, row.Key, "add a value that differs from the default")
		settings, err := configtest.Load("", nil, []string{row.Key + "=" + other[row.Key]})
		require.NoError(t, err)
		assert.NotEqual(t, before, options.Policy(settings), row.Key)
	}
}
