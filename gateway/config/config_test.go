package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"

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
		assert.NotEmpty(t, row.Doc, row.Key)
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
	s, err := configtest.Load("x.yaml", []byte("auth:\n  rate: 600/m\n  deletionsPerHour: 0\n  concurrency: none\n"), nil)
	require.NoError(t, err)
	assert.Equal(t, "600/m", s.Auth.Rate)
	require.NotNil(t, s.Auth.DeletionsPerHour)
	assert.Zero(t, *s.Auth.DeletionsPerHour)
	assert.Nil(t, s.Auth.Concurrency)
	assert.Nil(t, s.Auth.PasswordResetsPerHour)
	_, err = configtest.Load("x.yaml", []byte("auth:\n  rate: 10\n  deletionsPerHour: -1\n  concurrency: ~\n"), nil)
	for _, fault := range []string{
		`x.yaml:2: auth.rate: "10" is not allowed here: it takes requests by second`,
		`x.yaml:3: auth.deletionsPerHour: "-1" is not allowed here: it takes a whole number from 0 to 1000000, or none`,
		`x.yaml:4: auth.concurrency: takes a whole number`,
	} {
		assert.ErrorContains(t, err, fault)
	}
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
