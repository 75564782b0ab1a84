package options_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway"
	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"
	"adgateway/test/harness"
)

// others are values for the settings that options are derived from. Each differs from the default.
var others = map[string]string{
	"http.dialect": "classic", "http.allowSecretsInQuery": "true", "http.allowedOrigins": "[https://portal.corp.example]",
	"http.trustedProxies": "[10.0.0.1]", "http.readTimeout": "1s", "http.writeTimeout": "1s", "http.listTimeout": "1s",
	"http.shutdownTimeout": "1s", "http.settleTimeout": "2s", "http.settlePause": "2s",
	"http.headerTimeout": "1s", "http.bodyTimeout": "11s", "http.sendTimeout": "1s", "http.idleTimeout": "1s",
	"http.maxConnections": "1", "http.maxConnectionsPerAddress": "1", "http.maxBodyMemory": "8", "http.maxSpool": "0",
	"http.spoolFolder": "elsewhere", "http.requireGuard": "[user:write]", "http.requireKey": "[user:write]",
	"limits.bulkDelete": "1", "limits.staleDays": "1", "limits.guardedGroups": "[Helpdesk]", "limits.guardedNames": "[pki.corp.example]",
	"directory.userAttributes": "[{attribute: roomNumber}]",
	"acme.ttl":                 "1", "acme.zones": "[acme.example]", "acme.accounts": "[{subdomain: a, credential: b, name: _acme-challenge.d}]",
	"externaldns.budget": "1s", "plans.life": "2m", "plans.otherCaller": "true",
	"auth.rate": "1/s", "auth.concurrency": "1", "auth.deletionsPerHour": "1", "auth.passwordResetsPerHour": "1", "auth.changesPerHour": "1",
	"auth.revealsPerHour": "1",
	"signIn.idle":         "1m", "signIn.max": "1m", "signIn.recheck": "1s", "signIn.tries": "1",
	"pool.maxWait": "1s", "pool.directorySessions": "1", "pool.dnsSessions": "1",
	"jobs.maxItems": "1", "jobs.maxBytes": "1", "jobs.running": "1", "jobs.perCaller": "1", "jobs.share": "1", "jobs.rate": "0",
	"jobs.keep": "1h", "jobs.maxStored": "1", "plans.maxSize": "1", "idempotency.maxSize": "1", "jobs.secrets": config.SecretsSealed,
	"idempotency.keep": "1m", "names.hold": "1m", "events.sse": "1", "metrics.openOnLoopback": "false", "docs.enabled": "false", "time.zone": "Europe/Berlin", "reason.required": "[user.delete]",
}

// elsewhere are the settings that do not reach their users through options.
var elsewhere = []string{
	"http.listen", "http.allowUnencrypted", "tls.", "auth.allowQueryToken", "auth.store", "auth.staleMax", "auth.failures",
	"signIn.mode", "signIn.roles", "signIn.domains", "signIn.tokens", "signIn.keytab", "signIn.bindings",
	"powershell.", "pool.maxQueue", "pool.maxRequests", "pool.maxAge",
	"pool.maxMemory", "pool.startTimeout", "pool.maxList", "servers.", "audit.", "store.file", "store.minFree", "changes.", "memory.", "log.",
	"events.webhooks", "console.", "cluster.", "engine.", "sandbox.",
}

func all(s *config.Settings) []any {
	return []any{options.Gateway(s), options.Quota(s.Auth), options.SignIn(s.SignIn)}
}

// TestEverySettingIsInTheOptions: a changed setting changes
// the options, and a live one also changes the policy.
func TestEverySettingIsInTheOptions(t *testing.T) {
	left := maps.Clone(others)
	byDefault, policy := all(config.Default()), options.Policy(config.Default())
	for _, row := range config.Rows() {
		if within(elsewhere, row.Key) {
			assert.NotContains(t, others, row.Key)
			continue
		}
		require.Contains(t, others, row.Key,
			"add a value that differs from the default, or to what is used elsewhere")
		delete(left, row.Key)
		settings, err := configtest.Load("", nil, []string{row.Key + "=" + others[row.Key]})
		require.NoError(t, err)
		assert.NotEqual(t, byDefault, all(settings), row.Key)
		assert.Equal(t, row.Live(), !reflect.DeepEqual(policy, options.Policy(settings)),
			"%s is in the policy if it is live", row.Key)
	}
	assert.Empty(t, left, "there are no such settings")
}

// TestOptionsHaveNoDefaults: the server uses the values of the settings and supplies no default. It either
// uses a zero value or refuses it with an error that names the option.
func TestOptionsHaveNoDefaults(t *testing.T) {
	for _, part := range []struct {
		prefix string
		of     func(*gateway.Options) any // returns a pointer to the part
		zeroes []string
	}{
		{"option ", func(o *gateway.Options) any { return o }, nil},
		{"option ", func(o *gateway.Options) any { return &o.HTTP }, nil},
		{"option ", func(o *gateway.Options) any { return &o.HTTP.Web }, []string{"HideDocs", "OpenMetrics"}},
		{"option Bodies.", func(o *gateway.Options) any { return &o.Bodies }, nil},
		{"option Spool.", func(o *gateway.Options) any { return &o.Spool }, []string{"Folder", "Most"}},
		{"option ", func(o *gateway.Options) any { return &o.Storage }, nil},
		{"option ", func(o *gateway.Options) any { return &o.Work }, nil},
		{"option ", func(o *gateway.Options) any { return &o.Cluster }, nil},
		{"option Bounds.", func(o *gateway.Options) any { return &o.Bounds }, nil},
		{"option Policy.", func(o *gateway.Options) any { return &o.Policy.Policy }, nil},
		{"option Policy.", func(o *gateway.Options) any { return &o.Policy.WebPolicy }, []string{"AllowSecretsInQuery"}},
		{"option Policy.Protocols.", func(o *gateway.Options) any { return &o.Policy.Protocols }, nil},
		{"option Lists.", func(o *gateway.Options) any { return &o.Lists }, []string{"Secrets"}},
		{"option Jobs.", func(o *gateway.Options) any { return &o.Work.Jobs }, []string{"Rate"}},
		{"option Connections.", func(o *gateway.Options) any { return &o.Connections }, nil},
	} {
		settings := options.Gateway(config.Default())
		in := func(o *gateway.Options) reflect.Value { return reflect.ValueOf(part.of(o)).Elem() }
		given := in(&settings)
		for i := range given.NumField() {
			name := given.Type().Field(i).Name
			if kind := given.Field(i).Kind(); kind == reflect.Struct || given.Field(i).IsZero() &&
				!slices.Contains(part.zeroes, name) || kind == reflect.Slice {
				continue
			}
			o := harness.Options(t, harness.Answering(harness.OK))
			in(&o).Field(i).SetZero()
			s, err := gateway.New(o)
			if !slices.Contains(part.zeroes, name) {
				assert.ErrorContains(t, err, part.prefix+name, "a default of the server's own")
				continue
			}
			require.NoError(t, err, name)
			assert.True(t, in(&s.Options).Field(i).IsZero(), "%s%s: a default of the server's own", part.prefix, name)
		}
	}
}

// TestTheServerUsesTheSettings: a server reports every declared default as the value that it uses.
func TestTheServerUsesTheSettings(t *testing.T) {
	o := harness.Options(t, harness.Answering(harness.OK))
	s, err := gateway.New(o)
	require.NoError(t, err)
	given, used := reflect.ValueOf(o), reflect.ValueOf(s.Options)
	for _, field := range reflect.VisibleFields(given.Type()) {
		value := given.FieldByIndex(field.Index)
		if !field.Anonymous && value.Kind() != reflect.Func && !value.IsZero() {
			assert.Equal(t, value.Interface(), used.FieldByIndex(field.Index).Interface(), field.Name)
		}
	}
}

// within reports whether a key is one of the keys, or below one that ends in a dot.
func within(keys []string, key string) bool {
	return slices.ContainsFunc(keys,
		func(k string) bool { return k == key || strings.HasSuffix(k, ".") && strings.HasPrefix(key, k) })
}
