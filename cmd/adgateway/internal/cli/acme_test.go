package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"adgateway/gateway/config"
)

// An account is added to settings with any content, and the output is the account in the form in which
// clients of acme-dns store it.
func TestAcmeAccountAdd(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "adgateway.yaml")
	command(t, "config", "init", "--config", file)
	command(t, "token", "create", "site", "--scope", "dns:acme", "--name", "www.corp.example", "--config", file)
	add := func(name string) (subdomain string) {
		t.Helper()
		var stored map[string]map[string]any
		require.NoError(t, json.Unmarshal(
			[]byte(command(t, "acme", "account", "add", "--config", file, "--credential", "Site", "--name", name+".")),
			&stored))
		host := stored["www.corp.example"]
		assert.Equal(t, "site", host["username"], "the name as it is")
		assert.Equal(t, "<the secret of site>", host["password"])
		assert.Equal(t, name, host["fulldomain"])
		return host["subdomain"].(string)
	}
	const name = "_acme-challenge.www.corp.example"
	subdomains := []string{add(name), add(name)}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "# ", "the comments of the file stay")
	var saved struct {
		ACME struct{ Accounts []map[string]string }
	}
	require.NoError(t, yaml.Unmarshal(text, &saved))
	require.Len(t, saved.ACME.Accounts, len(subdomains))
	for i, subdomain := range subdomains {
		a := saved.ACME.Accounts[i]
		assert.Equal(t, []string{subdomain, name}, []string{a["subdomain"], a["name"]})
		assert.Regexp(t, "^token:.{8,}$", a["credential"], "a later token of the name is not meant")
	}

	for _, wrong := range [][]string{
		{"--credential", "nobody", "--name", name}, {"--credential", "site", "--name", "www.corp.example"}, {"--credential", "site", "--name", "_acme-challenge.a..b"},
	} {
		code, _, stderr := runCommand(t, append([]string{"acme", "account", "add", "--config", file}, wrong...)...)
		assert.NotZero(t, code, wrong)
		assert.Contains(t, stderr, "no account was added")
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(after), "the file stays as it was")
	}
}

func TestAppendAccount(t *testing.T) {
	account := config.ACMEAccount{Subdomain: "s", Credential: "c", Name: "_acme-challenge.a.b"}
	const item = "- credential: c\n      name: _acme-challenge.a.b\n      subdomain: s\n"
	for before, after := range map[string]string{
		"":                                  "acme:\n    accounts:\n        - credential: c\n          name: _acme-challenge.a.b\n          subdomain: s\n",
		"# a\nhttp:\n  listen: x":           "# a\nhttp:\n  listen: x\nacme:\n    accounts:\n        - credential: c\n          name: _acme-challenge.a.b\n          subdomain: s\n",
		"# a\nacme:\n  ttl: 5 # b\nlog: {}": "# a\nacme:\n  ttl: 5 # b\n  accounts:\n    " + item + "log: {}\n",
		"acme:\n  accounts: []\n":           "acme:\n  accounts:\n    " + item,
	} {
		got, err := config.AppendAccount([]byte(before), account)
		require.NoError(t, err)
		assert.Equal(t, after, string(got))
	}
	for _, wrong := range []string{"[", "acme: 5", "acme:\n  accounts: 5", "[]"} {
		_, err := config.AppendAccount([]byte(wrong), account)
		assert.Error(t, err, wrong)
	}
}
