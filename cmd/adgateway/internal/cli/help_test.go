package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"adgateway/test/prose"
)

func helped(t *testing.T, args string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), append([]string{"help"}, strings.Fields(args)...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestHelpShowsCommandsPagesAndNames(t *testing.T) {
	for args, want := range map[string]string{
		"":                           "Begin here:",
		"token create":               "Creates a token",
		"help":                       "Topics: account, alerts",
		"start":                      "# First five minutes in the sandbox\n",
		"reference":                  "# Reference\n",
		"errors":                     "# Errors and what to do\n",
		"reference/errors":           "# Errors and what to do\n",
		"error drifted":              "HTTP: 412\n",
		"setting http.listen":        "default: `127.0.0.1:8080`\n",
		"setting ADGATEWAY_LOG_FILE": "`log.file`",
		"scope user:write":           "create and delete `user`",
		"metric adgateway_store_ok":  "meaning: ",
		"check dnsServer":            "fails when: ",
		"operation user.create":      "| Request | `POST /api/ADUser/{UserName}` |",
		"page audit":                 "# Audit\n",
		"audit":                      "\nThe manual has a page of this name: adgateway help page audit\n",
	} {
		code, stdout, stderr := helped(t, args)
		assert.Zero(t, code, args)
		assert.Empty(t, stderr, args)
		assert.Contains(t, stdout, want, args)
		assert.NotContains(t, stdout, "<!--", args)
	}
}

// A page can be printed even if it shares its name with a command.
func TestEveryTopicCanBePrinted(t *testing.T) {
	for _, name := range topics() {
		code, stdout, stderr := helped(t, "page "+name)
		assert.Zero(t, code, name)
		assert.Empty(t, stderr, name)
		assert.True(t, strings.HasPrefix(stdout, "# "), name)
		assert.NotContains(t, stdout, "<!--", name)
	}
}

func TestHelpNamesTheNearest(t *testing.T) {
	for args, want := range map[string]string{
		"strat":                 "did you mean start?",
		"tokens-users":          "no command and no topic",
		"token craete":          "did you mean create?",
		"error driftet":         `there is no error "driftet"; did you mean drifted?`,
		"error":                 "'help error' takes one name; 'adgateway help reference/errors' prints all",
		"setting a b":           "takes one name",
		"operation user.craete": "did you mean user.create?",
		"operation":             "takes one id",
		"../tokens":             "no command and no topic",
		"page audits":           `there is no page "audits"; did you mean audit?`,
		"page":                  "takes one name",
	} {
		code, stdout, stderr := helped(t, args)
		assert.Equal(t, int(codeMisuse), code, args)
		assert.Empty(t, stdout, args)
		assert.Contains(t, stderr, want, args)
	}
}

func TestEveryCommandHasAGroup(t *testing.T) {
	root, _ := rootCommand()
	for _, c := range root.Commands() {
		assert.True(t, c.Hidden || c.GroupID != "", c.Name())
	}
}

// TestHelpIsPlain: the short help of a command begins with a verb in the imperative, and its long help is
// made of sentences. Neither these nor the help of flags contain phrases of the list of [prose].
func TestHelpIsPlain(t *testing.T) {
	root, _ := rootCommand()
	seen := 0
	var see func(c *cobra.Command)
	see = func(c *cobra.Command) {
		seen++
		name := c.CommandPath()
		assert.Regexp(t, `^[A-Z][a-z]+,? .*[A-Za-z)]$`, c.Short, name)
		if c.Long != "" {
			assert.Regexp(t, `(?s)^[A-Z].*[.:]`, c.Long, name)
		}
		texts := map[string]string{"Short": c.Short, "Long": c.Long}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { texts["--"+f.Name] = f.Usage })
		for of, text := range texts {
			assert.Empty(t, prose.Text(strings.Join(strings.Fields(text), " ")), "%s %s", name, of)
		}
		for _, sub := range c.Commands() {
			see(sub)
		}
	}
	see(root)
	assert.Greater(t, seen, 50)
}
