package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/node"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/test/manual"
)

// span is a piece of text in code font in a page's prose or tables.
type span struct{ page, text string }

func spans(t *testing.T) []span {
	t.Helper()
	var all []span
	for _, page := range manual.Pages(t) {
		prose := regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(page.Text, "")
		for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(prose, -1) {
			text := strings.ReplaceAll(match[1], `\|`, "|")
			all = append(all, span{page.Path, strings.Join(strings.Fields(text), " ")})
		}
	}
	require.Greater(t, len(all), 2000)
	return all
}

// call is the command line of a program.
type call struct {
	words    []string
	complete bool // false if only the beginning of the line is shown
}

var (
	callText = regexp.MustCompile(`^(?:\.\\)?(adgateway(?:-engine)?)(?:\.exe)?( .*)?$`)
	// routeText matches a route and the method in front of it, if any.
	routeText = regexp.MustCompile("((?:GET|HEAD|POST|PUT|DELETE) )?(?:\\$api|/api)(/[^\\s\"?'`,]*)")
	quoted    = regexp.MustCompile(`'(adgateway(?:-engine)?(?: [^']+)?)'`)
)

// callsOf returns the program calls in a block of commands.
func callsOf(text string) []call {
	var all []call
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		for _, words := range simpleCommands(line) {
			if match := callText.FindStringSubmatch(words[0]); match != nil {
				all = append(all, call{append([]string{match[1]}, words[1:]...), true})
			}
		}
	}
	return all
}

// simpleCommands returns the words of each command in a line, without the line's comment.
func simpleCommands(line string) [][]string {
	var all [][]string
	var words []string
	word, open := "", false
	var quote rune
	finish := func() {
		if open {
			words = append(words, word)
		}
		word, open = "", false
	}
	next := func() {
		finish()
		if len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
scan:
	for _, r := range strings.ReplaceAll(strings.TrimRight(line, "\n"), "$(", ";") {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '#' && !open:
			break scan
		case strings.ContainsRune("|;&()<>{}", r):
			next()
			if r == '<' || r == '>' {
				words = []string{"redirection"}
			}
		case r == ' ' || r == '\t':
			finish()
		default:
			word, open = word+string(r), true
		}
	}
	next()
	return all
}

// calls returns the program calls in the manual, in the help of every command and in the doctor's advice,
// keyed by where they stand.
func calls(t *testing.T) map[string][]call {
	t.Helper()
	all := map[string][]call{}
	for _, b := range allBlocks(t) {
		if b.language == "sh" || b.language == "powershell" {
			all[b.String()] = append(all[b.String()], callsOf(b.text)...)
		}
	}
	for _, s := range spans(t) {
		if match := callText.FindStringSubmatch(s.text); match != nil {
			all[s.page] = append(all[s.page], call{append([]string{match[1]}, strings.Fields(match[2])...), false})
		}
	}
	quotedIn := func(place, text string) {
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			all[place] = append(all[place], call{strings.Fields(match[1]), false})
		}
	}
	root, _ := rootCommand()
	everyCommand(root, func(c *cobra.Command) {
		place := "the help of " + c.CommandPath()
		all[place] = append(all[place], callsOf(c.Example)...)
		quotedIn(place, strings.Join(strings.Fields(c.Long), " "))
		c.Flags().VisitAll(func(f *pflag.Flag) { quotedIn(place, f.Usage) })
	})
	code, advice, _ := runCommand(t, "doctor", "--list")
	require.Zero(t, code)
	quotedIn("doctor --list", advice)
	require.Greater(t, len(all), 60)
	return all
}

func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		everyCommand(below, do)
	}
}

// wrongIn returns the part of a call that does not exist, or "".
func (c call) wrongIn(root *cobra.Command, settings map[string]bool) string {
	command, rest, err := root.Find(c.words[1:])
	if err != nil {
		return err.Error()
	}
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	var arguments []string
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		name, isFlag := strings.CutPrefix(word, "--")
		if !isFlag {
			arguments = append(arguments, word)
			continue
		}
		name, value, hasValue := strings.Cut(name, "=")
		f := command.Flag(name)
		if f == nil {
			return fmt.Sprintf("%s has no flag --%s", command.CommandPath(), name)
		}
		if !hasValue && f.NoOptDefVal == "" && len(rest) > 0 {
			value, rest = rest[0], rest[1:]
		}
		if key, _, _ := strings.Cut(value, "="); name == "set" && !settings[key] && key != "KEY" {
			return fmt.Sprintf("there is no setting %q", key)
		}
	}
	if command.HasSubCommands() && len(arguments) > 0 && !regexp.MustCompile(`^[A-Z.]+$`).MatchString(arguments[0]) {
		return fmt.Sprintf("%s has no command %q", command.CommandPath(), arguments[0])
	}
	if c.complete {
		if err := command.ValidateArgs(arguments); err != nil {
			return err.Error()
		}
	}
	return ""
}

// wrongInNode returns the part of a call of the node's program that does not exist, or "".
func (c call) wrongInNode(t *testing.T) string {
	var words, flags []string
	for _, word := range c.words[1:] {
		name, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(name, "--") {
			flags = append(flags, name)
		} else if len(flags) == 0 {
			words = append(words, word)
		}
	}
	var help, stderr bytes.Buffer
	code := node.Run(t.Context(), "v1.0.0", append(slices.Clone(words), "--help"), &help, &stderr)
	if code != 0 || !strings.Contains(help.String(), strings.Join(append(c.words[:1], words...), " ")) {
		return stderr.String() + help.String()
	}
	for _, name := range flags {
		if !regexp.MustCompile(`(?m)^ +(?:-\w, )?` + name + `\b`).MatchString(help.String()) {
			return "there is no flag " + name
		}
	}
	return ""
}

// Commands and flags that the manual, the help or the doctor mention exist.
func TestCommandsThatAreNamedExist(t *testing.T) {
	settings := map[string]bool{}
	for _, row := range config.Rows() {
		settings[row.Key] = true
	}
	count := 0
	for place, all := range calls(t) {
		for _, c := range all {
			count++
			root, _ := rootCommand()
			wrong := ""
			if c.words[0] == "adgateway" {
				wrong = c.wrongIn(root, settings)
			} else {
				wrong = c.wrongInNode(t)
			}
			assert.Empty(t, wrong, "%s: %s", place, strings.Join(c.words, " "))
		}
	}
	assert.Greater(t, count, 200)

	known := map[string]bool{ // commands of other programs
		"--install-arguments": true, "--override": true, "--policy": true, "--check": true, "--diff": true,
	}
	root, _ := rootCommand()
	everyCommand(root, func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	})
	for _, s := range spans(t) {
		if name := regexp.MustCompile(`^--[a-z-]+`).FindString(s.text); name != "" {
			assert.True(t, known[name], "%s: no command has the flag %s", s.page, name)
		}
	}
}

// The check finds the faults in a call.
func TestWrongCallsAreFound(t *testing.T) {
	settings := map[string]bool{"http.listen": true}
	for text, want := range map[string]string{
		"adgateway bench --users 1000":                      "adgateway bench has no flag --users",
		`.\adgateway token create x --max-resets=2`:         "adgateway token create has no flag --max-resets",
		"adgateway tokn list":                               `adgateway has no command "tokn"`,
		"adgateway token lst":                               `adgateway token has no command "lst"`,
		"adgateway sandbox --set http.lisen=x":              `there is no setting "http.lisen"`,
		"x=$(adgateway job list --limit 1 --jsn | sed p)":   "adgateway job list has no flag --jsn",
		"echo a | adgateway user add a b --password-stdin":  `unexpected argument "b"; usage: adgateway user add NAME --scope SCOPE,... [flags]`,
		"adgateway sandbox --set http.listen=x --token t=*": "",
		"adgateway token create 'a b' > token # --no-flag":  "",
		"curl x; A=b": "none",
	} {
		wrong := "none"
		for _, c := range callsOf(text) {
			root, _ := rootCommand()
			wrong = c.wrongIn(root, settings)
		}
		assert.Equal(t, want, wrong, "%s", text)
	}
}

// Settings, variables, scopes, metrics, routes and make targets that the manual mentions exist.
func TestManualNamesWhatExists(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(manual.Root(t), "Makefile"))
	require.NoError(t, err)
	metrics := ""
	for _, pattern := range []string{"gateway/meters/*.go", "gateway/transport/*.go", "cmd/adgateway/app/*.go"} {
		files, err := filepath.Glob(filepath.Join(manual.Root(t), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			metrics += string(text)
		}
	}
	settings, sections := map[string]bool{}, map[string]bool{}
	variables := map[string]bool{config.URLVariable: true, config.TokenVariable: true,
		config.CAPathVariable: true}
	for _, row := range config.Rows() {
		settings[row.Key] = true
		variables[row.Variable()] = true
		section, _, _ := strings.Cut(row.Key, ".")
		sections[section] = true
	}
	scopes := map[string]bool{}
	for _, scope := range identity.Scopes() {
		scopes[string(scope)] = true
	}
	// former lists the pages that mention settings of an earlier version.
	former := []string{manual.Folder + "/cluster-migrate.md", manual.Folder + "/changes.md"}
	files := []string{"audit.jsonl", "audit.jsonl.head", "cluster.key"}
	found := map[string]int{}
	check := func(kind string, ok bool, place, name string) {
		found[kind]++
		assert.True(t, ok, "%s: there is no %s %s", place, kind, name)
	}
	word := func(place, text string) {
		for _, match := range regexp.MustCompile(`(?:^|[^-\w/.])make ([a-z][a-z-]+)`).FindAllStringSubmatch(text, -1) {
			target := regexp.MustCompile(`(?m)^` + match[1] + `:`)
			check("target of make", target.Match(makefile), place, match[1])
		}
		for _, name := range regexp.MustCompile(`\bADGATEWAY_[A-Z_]+`).FindAllString(text, -1) {
			check("variable", variables[name], place, name)
		}
		for _, match := range routeText.FindAllStringSubmatch(text, -1) {
			check("route", isRoute(strings.TrimSpace(match[1]), "/api"+match[2]), place, match[0])
		}
	}
	for _, b := range allBlocks(t) {
		if b.language != "text" && b.language != "json" {
			word(b.String(), b.text)
		}
	}
	for _, s := range spans(t) {
		word(s.page, s.text)
		// otherwise it is a name in Go
		name := regexp.MustCompile(`^[a-zA-Z]+(?:\.[a-z][a-zA-Z]*)+`).FindString(s.text)
		if section, _, _ := strings.Cut(name, "."); sections[section] && !slices.Contains(files, name) &&
			!slices.Contains(former, s.page) {
			check("setting", settings[name], s.page, name)
		}
		if regexp.MustCompile(`^[a-z]+:[a-z-]+$`).MatchString(s.text) {
			check("scope", scopes[s.text], s.page, s.text)
		}
		if metric := regexp.MustCompile(`^adgateway_\w+`).FindString(s.text); metric != "" {
			check("metric", strings.Contains(metrics, `"`+metric+`"`), s.page, metric)
		}
	}
	for kind, least := range map[string]int{"target of make": 20, "variable": 150, "route": 250, "setting": 250,
		"scope": 250, "metric": 50} {
		assert.Greater(t, found[kind], least, kind)
	}
}

// isRoute reports whether an operation has the path or a path below it. An empty method matches any method.
func isRoute(method, path string) bool {
	if path == "/api/Login" { // the manual states that it does not exist
		return true
	}
	network := regexp.MustCompile(`/[0-9.]+/\d+$`) // a caller may write a network without escapes
	want := strings.Split(strings.Trim(network.ReplaceAllString(path, "/x"), "/"), "/")
	for _, op := range ops.Table() {
		have := strings.Split(strings.Trim(op.Path, "/"), "/")
		if len(have) < len(want) || method != "" && len(have) > len(want) {
			continue
		}
		same := method == "" || op.Method == method || method == "HEAD" && op.Method == "GET"
		for i, segment := range want {
			variable := strings.HasPrefix(have[i], "{")
			same = same && (variable || segment == have[i] || strings.HasPrefix(segment, "$"))
		}
		if same {
			return true
		}
	}
	return false
}
