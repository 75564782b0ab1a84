package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"
	"adgateway/test/prose"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDefaultsMatchTheTable(t *testing.T) {
	s := config.Default()
	assert.Equal(t, "127.0.0.1:8080", s.HTTP.Listen)
	assert.Equal(t, 4, s.Pool.DirectorySessions)
	assert.Equal(t, 4*time.Hour, s.Pool.MaxAge)
	assert.Equal(t, 50, s.Limits.BulkDelete)
	assert.Empty(t, s.Sandbox.Tokens)

	seen, variables := map[string]bool{}, map[string]bool{}
	for _, row := range config.Rows() {
		assert.False(t, seen[row.Key], "%s stands twice in the table", row.Key)
		seen[row.Key] = true
		assert.Regexp(t, `^[A-Z].*\.$`, row.Doc, row.Key)
		assert.NotRegexp(t, `^(?:The|An?) `, row.Doc, row.Key)
		for _, text := range []string{row.Doc, row.Allowed()} {
			assert.Empty(t, prose.Text(text), "%s: %s", row.Key, text)
		}
		assert.NotEmpty(t, row.Allowed(), row.Key)
		assert.False(t, variables[row.Variable()], "%s stands for two settings", row.Variable())
		variables[row.Variable()] = true
	}
}

func TestLoadReadsEverySetting(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	require.NoError(t, err)
	s, err := configtest.Load("full.yaml", text, []string{"limits.bulkDelete=7", "sandbox.ldif=[c.ldif]"})
	require.NoError(t, err)

	assert.Equal(t, "0.0.0.0:8443", s.HTTP.Listen)
	assert.Equal(t, "classic", s.HTTP.Dialect)
	assert.True(t, s.HTTP.AllowSecretsInQuery)
	assert.Equal(t, []string{"https://portal.corp.example"}, s.HTTP.AllowedOrigins)
	assert.Equal(t, 90*time.Second, s.HTTP.WriteTimeout)
	assert.Equal(t, 7, s.Limits.BulkDelete, "a flag takes precedence over the file")
	assert.Equal(t, []string{"c.ldif"}, s.Sandbox.LDIF)
	assert.Equal(t, []string{"only.zone"}, s.Sandbox.Zones, "a single string is a list of one")
	require.Len(t, s.Sandbox.Tokens, 2)
	assert.Equal(t, config.Token{
		Value: "t1", Scopes: []string{"user:read", "ou:read"}, Dialect: "classic",
		Limits: config.TokenLimits{OUs: []string{"OU=Sales,DC=corp,DC=example"}, Zones: []string{"corp.example"}},
	}, s.Sandbox.Tokens[0])
	assert.Equal(t, "t2", s.Sandbox.Tokens[1].Value)
	assert.Equal(t, []config.User{{Name: "anna", Password: "p: w", Scopes: []string{"*"}}}, s.Sandbox.Users)
}

func TestLoadReportsEveryFaultWithItsLine(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "faults.yaml"))
	require.NoError(t, err)
	_, err = configtest.Load("faults.yaml", text, []string{"http.listen", "no.such=1", "limits.bulkDelete=none"})
	require.Error(t, err)
	golden := filepath.Join("testdata", "faults.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644))
	}
	want, readErr := os.ReadFile(golden)
	require.NoError(t, readErr)
	assert.Equal(t, strings.TrimSpace(string(want)), err.Error())
}

func TestLoadRejectsWhatIsNotOneMapping(t *testing.T) {
	for name, text := range map[string]string{
		"a list":          "- http",
		"a text":          "hello",
		"two documents":   "http:\n  dialect: classic\n---\nlog:\n  level: info\n",
		"broken YAML":     "http: [",
		"tab indentation": "http:\n\tlisten: x",
	} {
		_, err := configtest.Load("x.yaml", []byte(text), nil)
		assert.ErrorContains(t, err, "x.yaml", name)
	}
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "null": "~\n"} {
		_, err := configtest.Load("x.yaml", []byte(text), nil)
		assert.NoError(t, err, name)
	}
}

func TestLimitsMayBeNone(t *testing.T) {
	s, err := configtest.Load("x.yaml",
		[]byte("auth:\n  rate: 600/m\n  deletionsPerHour: 0\n  concurrency: none\n"), nil)
	require.NoError(t, err)
	assert.Equal(t, "600/m", s.Auth.Rate)
	require.NotNil(t, s.Auth.DeletionsPerHour)
	assert.Zero(t, *s.Auth.DeletionsPerHour)
	assert.Nil(t, s.Auth.Concurrency)
	assert.Nil(t, s.Auth.PasswordResetsPerHour)
	_, err = configtest.Load("x.yaml", []byte("auth:\n  rate: 10\n  deletionsPerHour: -1\n  concurrency: ~\n"),
		nil)
	for _, fault := range []string{
		`x.yaml:2: auth.rate: "10" is not allowed here: it takes requests per second`,
		`x.yaml:3: auth.deletionsPerHour: "-1" is not allowed here: it takes a whole number from 0 to 1000000, or none`,
		`x.yaml:4: auth.concurrency: takes a whole number`,
	} {
		assert.ErrorContains(t, err, fault)
	}
}

// TestNamesInOneText: several names in a single string are refused, and the error shows how to write them as
// a list.
func TestNamesInOneText(t *testing.T) {
	for set, want := range map[string]string{
		"servers.controllers=dc1.corp.example, dc2.corp.example":   `"dc1.corp.example, dc2.corp.example" is not one value: write [dc1.corp.example, dc2.corp.example]`,
		"servers.controllers=dc1 dc2":                              `"dc1 dc2" is not one value: write [dc1, dc2]`,
		"servers.controllers=[dc1, 'dc2;dc3']":                     `"dc2;dc3" is not one value: write [dc2, dc3]`,
		"servers.controllers=dc 1!":                                `"dc 1!" is not allowed here: it takes a list of host names, such as [dc1.corp.example, dc2.corp.example]`,
		"servers.dnsServer=dc1, dc2":                               `"dc1, dc2" is not allowed here: it takes the name of one host, such as dc1.corp.example`,
		"limits.guardedGroups=VPN Users, Helpdesk":                 `"VPN Users, Helpdesk" is not one value: write [VPN Users, Helpdesk]`,
		"limits.guardedGroups=a:b":                                 `"a:b" is not allowed here: it takes a list of groups`,
		"acme.zones=a.example,b.example":                           `"a.example,b.example" is not one value: write [a.example, b.example]`,
		"http.trustedProxies=10.0.0.1,10.0.0.0/8":                  `is not one value: write [10.0.0.1, 10.0.0.0/8]`,
		"cluster.servers='tls://n1:4222,tls://n2:4222'":            `is not one value: write [tls://n1:4222, tls://n2:4222]`,
		"servers.controllers=[dc1.corp.example., 10.0.0.1, '::1']": "",
		"servers.controllers=":                                     "",
		"servers.dnsServer=":                                       "",
		"servers.dnsServer=dns1":                                   "",
		`limits.guardedGroups=['CN=A\, b,OU=c,DC=d', VPN Users]`:   "",
		"limits.guardedNames=[pki]":                                `"pki" is not allowed here: it takes a list of full DNS names`,
		"limits.guardedNames=[10.0.0.1]":                           `"10.0.0.1" is not allowed here: it takes a list of full DNS names`,
		"limits.guardedNames=[pki.corp.example.]":                  "",
	} {
		s, err := configtest.Load("x.yaml", nil, []string{set})
		if want == "" {
			if assert.NoError(t, err, set) && set == "servers.controllers=" {
				assert.Empty(t, s.Servers.Controllers)
			}
			continue
		}
		assert.ErrorContains(t, err, want, set)
	}
}

// TestSettingsFitTogether: contradictory settings are refused with the place where one of them is set.
func TestSettingsFitTogether(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // empty if they fit together
	}{
		"the pause":             {"http:\n  settlePause: 5s\n", []string{"x.yaml:2: http.settlePause: http.settlePause (5s) is not shorter than http.settleTimeout (5s)"}},
		"its limit":             {"http:\n  settleTimeout: 1s\n", []string{"x.yaml:2: http.settleTimeout: http.settlePause (1s) is not shorter"}},
		"just shorter":          {"http:\n  settlePause: 4999ms\n", nil},
		"header and body":       {"http:\n  bodyTimeout: 9s\n", []string{"x.yaml:2: http.bodyTimeout: http.headerTimeout (10s) is longer than"}},
		"header as body":        {"http:\n  bodyTimeout: 10s\n", nil},
		"clients without CA":    {"tls:\n  clientCertificates: required\n", []string{"x.yaml:2: tls.clientCertificates: client certificates are required, but"}},
		"clients with CA":       {"tls:\n  clientCertificates: required\n  clientCAFile: ca.pem\n", nil},
		"memory":                {"memory:\n  limit: 64\n", []string{"x.yaml:2: memory.limit: http.maxBodyMemory (64 MiB) is not less than"}},
		"memory without limit":  {"memory:\n  limit: 0\nhttp:\n  maxBodyMemory: 9000\n", nil},
		"one file for two":      {"audit:\n  file: a/b.jsonl\nlog:\n  file: a/../a/b.jsonl\n", []string{"x.yaml:2: audit.file: audit.file and log.file are the same file"}},
		"the store's key":       {"store:\n  file: s\nlog:\n  file: s.key\n", []string{": log.file and store.file (its key) are the same file, s.key"}},
		"read twice":            {"tls:\n  certificateFile: both.pem\n  keyFile: both.pem\n", nil},
		"switched off twice":    {"audit:\n  file: off\nstore:\n  file: off\n", nil},
		"written and read":      {"audit:\n  file: k\n  keyFile: k\n", []string{"audit.file and audit.keyFile are the same file"}},
		"accounts without zone": {"acme:\n  accounts:\n  - {subdomain: a, credential: c, name: www.x.example}\n", []string{"x.yaml:2: acme.accounts: the name www.x.example neither"}},
		"accounts in the zone":  {"acme:\n  zones: [X.example]\n  accounts:\n  - {subdomain: a, credential: c, name: www.x.example}\n", nil},
		"accounts twice": {"acme:\n  accounts:\n  - {subdomain: a, credential: c, name: _acme-challenge.x}\n  - {subdomain: a, credential: C, name: _acme-challenge.y}\n",
			[]string{"x.yaml:2: acme.accounts: the credential 'C' has the subdomain a twice"}},
		"accounts of two":       {"acme:\n  accounts:\n  - {subdomain: a, credential: c, name: _acme-challenge.x}\n  - {subdomain: a, credential: d, name: _acme-challenge.y}\n", nil},
		"passwords without TLS": {"signIn:\n  mode: form\n  roles:\n  - {group: G, scopes: [user:read]}\n", []string{"x.yaml:2: signIn.mode: passwords and tickets are sent over HTTPS only"}},
		"people without a role": {"signIn:\n  mode: form\ntls:\n  pfxFile: x.pfx\n", []string{"x.yaml:2: signIn.mode: people could sign in but do nothing"}},
		"people with a role":    {"signIn:\n  mode: form\n  roles:\n  - {group: G, scopes: [user:read]}\ntls:\n  pfxFile: x.pfx\n", nil},
		"a role without scopes": {"signIn:\n  roles:\n  - {group: G}\n", []string{"signIn.roles"}},
		"Kerberos without TLS":  {"signIn:\n  mode: kerberos\n", []string{"x.yaml:2: signIn.mode"}},
		"a mode that is none":   {"signIn:\n  mode: ntlm\n", []string{"x.yaml:2: signIn.mode"}},
		"a keytab for nothing":  {"signIn:\n  keytab: gw.keytab\n", []string{"x.yaml:2: signIn.keytab"}},
		"Kerberos with a role":  {"signIn:\n  mode: form+kerberos\n  keytab: gw.keytab\n  roles:\n  - {group: G, scopes: [user:read]}\ntls:\n  pfxFile: x.pfx\n", nil},
		"all of them":           {"http:\n  settlePause: 1h\n  headerTimeout: 1h\n", []string{"x.yaml:2: http.settlePause", "x.yaml:3: http.headerTimeout"}},
	} {
		_, err := configtest.Load("x.yaml", []byte(c.text), nil)
		if len(c.want) == 0 {
			assert.NoError(t, err, name)
		}
		for _, want := range c.want {
			assert.ErrorContains(t, err, want, name)
		}
	}
}

// TestPeopleOfTheSandbox: the sandbox accepts its well-known passwords without TLS on this machine,
// and has roles of its own.
func TestPeopleOfTheSandbox(t *testing.T) {
	const form = "signIn:\n  mode: form\n"
	for text, want := range map[string]string{
		form:                                     "",
		form + "http:\n  listen: '[::1]:8080'\n": "",
		form + "http:\n  listen: 0.0.0.0:8080\n": "signIn.mode: passwords and tickets are sent over HTTPS only",
		form + "http:\n  listen: 0.0.0.0:8080\ntls:\n  pfxFile: x.pfx\n": "",
		form + "  roles:\n  - {group: G, scopes: [user:read]}\n":         "",
	} {
		_, _, err := config.Sources{Name: "x.yaml", Text: []byte(text), Sandbox: true}.Load()
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}

// TestZeroTimes: a limit of 0 means the default, except where the documentation gives 0 a meaning
// of its own.
func TestZeroTimes(t *testing.T) {
	kept := []string{"audit.maxAge", "audit.keepFor", "audit.checkpoint", "sandbox.replicationLag",
		"sandbox.clock"}
	refused := []string{"http.settleTimeout", "http.bodyTimeout"} // other limits must be shorter than these
	byDefault, times := config.Default(), 0
	for _, row := range config.Rows() {
		if _, isText := row.Value(byDefault).(string); !isText ||
			!strings.HasPrefix(row.Allowed(), "a time such as") {
			continue
		}
		s, err := configtest.Load("", nil, []string{row.Key + "=0s"})
		if strings.Contains(row.Allowed(), "at least") || slices.Contains(refused, row.Key) {
			assert.Error(t, err, row.Key)
			continue
		}
		require.NoError(t, err, row.Key)
		times++
		want := row.Value(byDefault)
		if slices.Contains(kept, row.Key) {
			want = "0s"
		}
		assert.Equal(t, want, row.Value(s), row.Key)
	}
	assert.Greater(t, times, len(kept))
}

func TestAdvice(t *testing.T) {
	for text, want := range map[string]string{
		"tls:\n  pfxPasswordFile: p.txt\n":          "tls.pfxPasswordFile has no effect without tls.pfxFile",
		"http:\n  maxConnections: 100\n":            "one address can use all connections",
		"audit:\n  maxTotal: 50\n":                  "the space is used up before the first file is rotated",
		"audit:\n  file: off\n  reads: true\n":      "audit.reads has no effect, because audit.file is off",
		"store:\n  file: off\nplans:\n  life: 1h\n": "plans.life has no effect, because store.file is off",
		"acme:\n  accounts:\n  - {subdomain: 7b5c3d2e-0f1a-4b6c-8d9e-1f2a3b4c5d6e, credential: site, name: _acme-challenge.www.corp.example}\n": "the credential 'site' of _acme-challenge.www.corp.example is a name",
		"pool:\n  directorySessions: 6\n":                               "MaxConnectionsPerUser",
		"audit:\n  file: off\n  maxTotal: 50\nstore:\n  file: off.db\n": "audit.maxTotal has no effect",
	} {
		s, from, err := config.Sources{Name: "x.yaml", Text: []byte(text)}.Load()
		require.NoError(t, err, text)
		advice := s.Advice(from)
		require.Len(t, advice, 1, text)
		assert.Contains(t, advice[0], want)
	}
	assert.Empty(t, config.Default().Advice(map[string]config.Origin{}))
}

func FuzzLoad(f *testing.F) {
	f.Add("http:\n  listen: 127.0.0.1:1\n")
	f.Add("sandbox:\n  tokens:\n  - {value: a, limits: {ous: [x]}}\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := configtest.Load("f.yaml", []byte(text), nil)
		if (s == nil) == (err == nil) {
			t.Fatalf("settings %v together with error %v", s, err)
		}
	})
}

// TestTimeZonesComeFromTheDatabase: names that are not time zones, or that differ between machines,
// are refused.
func TestTimeZonesComeFromTheDatabase(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"} {
		s, err := configtest.Load("zone.yaml", []byte("time:\n  zone: "+name+"\n"), nil)
		require.NoError(t, err, name)
		assert.Equal(t, name, s.Time.Location().String())
	}
	for _, wrong := range []string{"Local", `""`, "Berlin", "+02:00", "../UTC", "/etc/localtime"} {
		_, err := configtest.Load("zone.yaml", []byte("time:\n  zone: "+wrong+"\n"), nil)
		assert.ErrorContains(t, err, "time.zone", wrong)
	}
}

// TestASizeWithAUnitIsRefusedWithTheNumber: a size with a unit, in a setting that is a number of MiB, is
// refused with the number to write.
func TestASizeWithAUnitIsRefusedWithTheNumber(t *testing.T) {
	const number, size = "it takes a whole number from 0 to 1048576", "such as 500MiB or 20GiB"
	for flag, want := range map[string]string{
		"http.maxSpool=2GB":        number + ". The unit is MiB: write 2048",
		"http.maxSpool=512 MiB":    number + ". The unit is MiB: write 512",
		"http.maxSpool=1t":         number + ". The unit is MiB: write 1048576",
		"http.maxSpool=2TB":        number + ". The unit is MiB",
		"http.maxSpool=2000000":    number + ". The unit is MiB",
		"http.maxConnections=2GB":  "it takes a whole number from 1 to 100000",
		"engine.maxStore=2GB":      size + ". Write 2GiB",
		"engine.maxStore=512mb":    size + ". Write 512MiB",
		"engine.maxStore=12mb":     size,
		"engine.maxStore=unlikely": size,
	} {
		_, err := configtest.Load("", nil, []string{flag})
		require.Error(t, err, flag)
		assert.True(t, strings.HasSuffix(err.Error(), want), "%s: %v", flag, err)
	}
}
