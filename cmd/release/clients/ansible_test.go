package clients_test

import (
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
)

// modules returns the texts of the collection's modules by name.
func modules(t *testing.T) map[string]string {
	t.Helper()
	files, err := clients.Collection(ops.Table())
	require.NoError(t, err)
	out := map[string]string{}
	for name, text := range files {
		if path.Dir(name) == "plugins/modules" && len(text) > 0 {
			out[strings.TrimSuffix(path.Base(name), ".py")] = string(text)
		}
	}
	return out
}

func TestTheCollectionHasItsModules(t *testing.T) {
	all := modules(t)
	names := slices.Sorted(maps.Keys(all))
	assert.Equal(t, []string{"change", "computer", "dns_record_set", "dns_reverse_zone", "dns_zone", "group",
		"group_members", "membership", "nested_group", "ou", "query", "user"}, names)
	files, err := clients.Collection(ops.Table())
	require.NoError(t, err)
	for _, name := range []string{"URL", "TOKEN", "CA_PATH"} {
		assert.Contains(t, string(files["plugins/module_utils/gateway.py"]),
			"['ADGATEWAY_"+name+"', 'GATEWAY_"+name+"']", "the earlier name is read, too")
	}
	for _, name := range names {
		assert.Contains(t, string(files["meta/runtime.yml"]), "\n    - "+name+"\n")
		assert.Contains(t, string(files["README.md"]), "`"+name+"`")
		assert.Equal(t, 6, strings.Count(all[name], "'''"), "%s: a text ends where it should not", name)
	}
}

var (
	operation = regexp.MustCompile(`'id': '([\w.]+)'`)
	optioned  = regexp.MustCompile(`(?m)^        '(\w+)': \{.*'type': '`)
)

// Every option of a module is documented and sets a parameter, and every parameter of the
// operations that the module calls is set by an option.
func TestModulesHaveTheParametersOfTheirRows(t *testing.T) {
	rows := map[string]*ops.Operation{}
	for _, op := range ops.Table() {
		rows[op.ID] = op
	}
	gatewaysOwn := []string{ops.DryRun, ops.PlanID, "WithETag", "ShowFields", "HomeFolderPath"}
	for name, text := range modules(t) {
		_, spec, _ := strings.Cut(text, "\nSPEC = ")
		for _, match := range operation.FindAllStringSubmatch(spec, -1) {
			op := rows[match[1]]
			require.NotNil(t, op, match[1])
			for _, p := range op.Params {
				if slices.Contains(gatewaysOwn, p.Name) || name == "membership" && p.Name == "Recursive" {
					continue
				}
				assert.Regexp(t, `'`+p.Name+`': '\w+'`, spec, "%s %s", name, op.ID)
				if p.Kind.Secret() {
					assert.Contains(t, spec, "'"+strings.ToLower(p.Name)+"': {'no_log': True, 'type': 'str'}", name)
				}
			}
		}
		found := optioned.FindAllStringSubmatch(spec, -1)
		if name != "query" && name != "change" {
			assert.NotEmpty(t, found, name)
		}
		for _, match := range found {
			assert.Contains(t, text, "\n  "+match[1]+":\n    description:\n", name)
		}
	}
}

var taskOfChange = regexp.MustCompile(`(?m)^    operation: (\S+)\n    parameters:\n((?:      \w+: .*\n)+)`)

// The module change offers every operation of our own that changes something or reveals a
// secret, unless it takes a secret. Its examples name operations and parameters that exist.
func TestTheModuleThatChanges(t *testing.T) {
	text := modules(t)["change"]
	_, spec, _ := strings.Cut(text, "\nOPERATIONS = ")
	rows := map[string]*ops.Operation{}
	for _, op := range ops.Table() {
		rows[op.ID] = op
		takesSecret := slices.ContainsFunc(op.Params, func(p ops.Param) bool { return p.Kind.Secret() })
		offered := op.Protocol == nil && op.Takes == nil && (op.Effect.Writes() || op.Reveals) && !takesSecret
		assert.Equal(t, offered, strings.Contains(spec, "'id': '"+op.ID+"'"), op.ID)
		assert.Equal(t, offered, strings.Contains(text, "\n      - "+op.ID+"\n"), op.ID)
		if op.Reveals {
			assert.Regexp(t, `(?s)'id': '`+op.ID+`'.{0,300}?'reveals': True,\s*'secret': True`, spec)
		}
	}
	for _, id := range []string{
		"job.submitStaleComputers", "job.submitStaleUsers", "record.deleteHost", "record.deleteController",
		"nameServer.create", "nameServer.delete", "computer.revealLocalAdmin", "computer.revealRecoveryKey",
		"computer.expireLocalAdmin", "user.setPhoto", "user.removePhoto", "membership.copy",
	} {
		assert.Contains(t, text, "\n      - "+id+"\n")
	}
	examples := taskOfChange.FindAllStringSubmatch(text, -1)
	require.Len(t, examples, 3)
	for _, example := range examples {
		op := rows[example[1]]
		require.NotNil(t, op, example[1])
		for _, line := range strings.Split(strings.TrimSuffix(example[2], "\n"), "\n") {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			named := func(p ops.Param) bool { return p.Name == name }
			assert.True(t, slices.ContainsFunc(op.Params, named), "%s of %s", name, op.ID)
		}
	}
}

// The golden file contains a complete module.
func TestModulesAreGeneratedAsShown(t *testing.T) {
	const golden = "testdata/computer.py"
	got := modules(t)["computer"]
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
