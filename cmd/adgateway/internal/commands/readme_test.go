package commands

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite what is derived in the README")

var readmeFile = filepath.Join("..", "..", "..", "..", "README.md")

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(readmeFile)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// What the README repeats from tables of the code is made from them.
func TestReadmeHasTheTablesOfTheCode(t *testing.T) {
	text := readme(t)
	for name, want := range map[string]string{"settings": settingsTable(), "endpoints": endpointsTable()} {
		from := "<!-- " + name + ", made by 'go test ./cmd/adgateway -run Readme -update' -->\n"
		to := "<!-- " + name + " end -->"
		before, rest, ok := strings.Cut(text, from)
		require.True(t, ok, "%s", from)
		got, after, ok := strings.Cut(rest, to)
		require.True(t, ok, "%s", to)
		if text = before + from + want + to + after; !*update {
			assert.Equal(t, want, got, "go test ./cmd/adgateway -run Readme -update")
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(readmeFile, []byte(text), 0o600))
	}
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| setting, variable | default | in force | meaning |\n|---|---|---|---|\n")
	for _, row := range config.Rows() {
		effect := "restart"
		if row.Live() {
			effect = "at once"
		}
		fmt.Fprintf(&b, "| `%s`<br>`%s` | `%s` | %s | %s Takes %s. |\n", row.Key, row.Variable(), row.Default, effect, cell(row.Doc), cell(row.Allowed()))
	}
	return b.String()
}

func endpointsTable() string {
	var b strings.Builder
	b.WriteString("\n| call | scope | |\n|---|---|---|\n")
	for _, op := range ops.Table() {
		fmt.Fprintf(&b, "| `%s %s` | `%s` | %s |\n", op.Method, op.Path, op.Scope, cell(op.Summary))
	}
	return b.String() + "\n"
}

var cell = strings.NewReplacer("|", `\|`, "<", "&lt;", `LocalMachine\My`, "`LocalMachine\\My`").Replace

// tableAfter gives the first cells of the rows of the table behind a heading,
// each with its whole row.
func tableAfter(t *testing.T, text, heading string) (keys []string, rows map[string]string) {
	t.Helper()
	_, section, ok := strings.Cut(text, "\n"+heading+"\n")
	require.True(t, ok, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	rows = map[string]string{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*$").FindAllStringSubmatch(section, -1) {
		keys = append(keys, match[1])
		rows[match[1]] = match[0]
	}
	return keys, rows
}

func TestReadmeHelpsWithEveryErrorCode(t *testing.T) {
	keys, rows := tableAfter(t, readme(t), "## Errors and what to do")
	var want []string
	for _, code := range schema.Codes() {
		want = append(want, string(code))
		assert.Contains(t, rows[string(code)], fmt.Sprintf("| %d | %s |", code.Status(), code.Doc()), code)
	}
	assert.Equal(t, want, keys, "every code, in the order of the table in package schema")
}

func TestReadmeHasTheRightsForEveryScope(t *testing.T) {
	keys, _ := tableAfter(t, readme(t), "### Rights for each scope")
	var want []string
	for _, scope := range auth.Scopes() {
		if scope != auth.All {
			want = append(want, string(scope))
		}
	}
	assert.Equal(t, want, keys)
}

// The rights for user:write are those for the attributes that the scripts write.
func TestReadmeGrantsEveryAttributeThatIsWritten(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "scripts", "ad", "prelude.users.ps1"))
	require.NoError(t, err)
	_, list, ok := strings.Cut(string(script), "$GatewayUserWritten = @(")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, ")")
	written := quoted.FindAllString(list, -1)
	require.Greater(t, len(written), 20)

	_, granted, ok := strings.Cut(readme(t), "$attributes = @(")
	require.True(t, ok, "the list of attributes in the README")
	granted, _, _ = strings.Cut(granted, ")")
	for _, attribute := range append(written, "'userParameters'", "'userAccountControl'", "'pwdLastSet'", "'lockoutTime'", "'name'", "'cn'", "'sAMAccountName'", "'userPrincipalName'") {
		assert.Contains(t, quoted.FindAllString(granted, -1), attribute)
	}
}

// Each right is written as dsacls takes it: ACCOUNT:BITS[;object or property[;inherited by]].
func TestReadmeGrantsAreWrittenAsDsaclsTakesThem(t *testing.T) {
	calls := regexp.MustCompile(`(?m)\bdsacls (\S+|'[^']+') (?:/I:(\w) )?/G (.*?)(?: }| +#.*)?$`).FindAllStringSubmatch(readme(t), -1)
	require.Greater(t, len(calls), 12)
	for _, call := range calls {
		assert.Contains(t, []string{"", "T", "S"}, call[2], call[0])
		for _, grant := range strings.Split(strings.Trim(call[3], `"`), `" "`) {
			assert.Regexp(t, `^\$\{who\}:(GR|GW|CC|DC|RP|WP|CA|SD|DT|RC|WD)+(;[a-zA-Z $]*(;(user|group|computer|organizationalUnit))?)?$`, grant, call[0])
		}
	}
}

var quoted = regexp.MustCompile(`'[^']+'`)

// Every heading is in the list of contents, and every link inside the page leads
// to a heading.
func TestReadmeIsNavigable(t *testing.T) {
	text := fences.ReplaceAllString(readme(t), "")
	anchors := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchors[anchor(match[1])] = true
	}
	linked := map[string]bool{}
	for _, match := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		linked[match[1]] = true
		assert.True(t, anchors[match[1]], "#%s leads nowhere", match[1])
	}
	for _, match := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(text, -1) {
		if match[1] != "Contents" {
			assert.True(t, linked[anchor(match[1])], "%s is not in the contents", match[1])
		}
	}
}

var fences = regexp.MustCompile("(?ms)^```.*?^```$")

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// What the README tells to run exists: commands, flags, goals of make, files.
func TestReadmeNamesWhatExists(t *testing.T) {
	text := readme(t)
	makefile, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "Makefile"))
	require.NoError(t, err)
	for _, match := range regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		assert.Regexp(t, `(?m)^`+match[1]+`:`, string(makefile), "make %s", match[1])
	}
	known := map[string]bool{}
	for _, row := range config.Rows() {
		known[row.Key] = true
	}
	sections := regexp.MustCompile("`((?:http|tls|auth|powershell|pool|servers|limits|audit|metrics|docs|log|sandbox)\\.[a-zA-Z]+)[`=: ]")
	for _, match := range sections.FindAllStringSubmatch(text, -1) {
		assert.True(t, known[match[1]] || match[1] == "audit.jsonl", "setting %s", match[1])
	}
	commands := regexp.MustCompile("(?m)(?:^|\\| | )(?:\\.\\\\)?adgateway((?: [a-z]+)+)((?: .*)?)$|`adgateway((?: [a-z]+)+)([^`]*)`")
	found := commands.FindAllStringSubmatch(text, -1)
	require.Greater(t, len(found), 20)
	for _, match := range found {
		words := strings.Fields(match[1] + match[3])
		code, help, stderr := runCommand(t, append(slices.Clone(words), "--help")...)
		assert.Zero(t, code, "adgateway %s: %s", strings.Join(words, " "), stderr)
		if usage := "adgateway " + strings.Join(words, " "); !strings.Contains(help, usage) && len(words) > 1 {
			assert.Contains(t, help, "adgateway "+strings.Join(words[:2], " "), usage)
		}
		for _, flagName := range regexp.MustCompile(`--[a-z-]+`).FindAllString(strings.Split(match[2]+match[4], " #")[0], -1) {
			assert.Contains(t, help, flagName, "adgateway %s %s", strings.Join(words, " "), flagName)
		}
	}
}

// Every block of PowerShell parses, and calls cmdlets of Microsoft's reference
// with parameters that they have.
func TestReadmePowerShellHolds(t *testing.T) {
	elsewhere := []string{ // of other modules and programs
		"Install-WindowsFeature", "Get-FileHash", "Expand-Archive", "Set-Location", "Copy-Item", "Add-KdsRootKey",
		"New-NetFirewallRule", "Remove-NetFirewallRule", "Invoke-RestMethod", "Read-Host", "dsacls", `.\adgateway`,
	}
	options := engine.CheckOptions{
		Cmdlets:   append(slices.Clone(cmdlets.Module(cmdlets.ActiveDirectory)), cmdlets.Module(cmdlets.DnsServer)...),
		Functions: elsewhere,
	}
	blocks := regexp.MustCompile("(?ms)^ *```powershell\n(.*?)^ *```$").FindAllStringSubmatch(readme(t), -1)
	require.Greater(t, len(blocks), 8)
	for _, block := range blocks {
		assert.Empty(t, engine.Check(engine.Source{Name: "README.md", Text: block[1]}, options), "%s", block[1])
	}
}

// Settings that the README shows are taken as they stand, and every one that
// stands there as a comment in place of the others.
func TestReadmeSettingsAreTaken(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^\n```yaml\n(.*?)^```$").FindAllStringSubmatch(readme(t), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		_, err := config.Load("README.md", []byte(block[1]), nil)
		assert.NoError(t, err, "%s", block[1])
		for _, other := range regexp.MustCompile(`(?m)^  # (\w+: .*)$`).FindAllStringSubmatch(block[1], -1) {
			_, err := config.Load("README.md", []byte("tls:\n  "+other[1]+"\n"), nil)
			assert.NoError(t, err, "%s", other[1])
		}
	}
}
