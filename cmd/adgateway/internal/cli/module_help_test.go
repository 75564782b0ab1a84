package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// helpExamples returns the examples in the help of a function.
func helpExamples(t *testing.T, text, function string) []string {
	t.Helper()
	_, own, found := strings.Cut(text, "\nfunction "+function+" {\n")
	require.True(t, found, function)
	own, _, _ = strings.Cut(own, "\n    [CmdletBinding(")
	var out []string
	for _, match := range regexp.MustCompile(`(?m)^    # \.EXAMPLE\n    # (.*)$`).FindAllStringSubmatch(own, -1) {
		out = append(out, match[1])
	}
	return out
}

// Every example of the help works against the sandbox. Each example gets the objects that
// the sample of its operation needs, and its changes are undone afterwards. Examples that
// name a change, a plan or a job reach the gateway, which does not find it.
func TestExamplesOfTheModuleRun(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	text := moduleText(t)
	c := startConsole(t, systemtest.AllToken)
	c.run(t, strings.Replace(connect, "$env:ADGATEWAY_URI", "'"+s.URL+"'", 1))
	functions, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	ran := 0
	for _, f := range functions {
		all := helpExamples(t, text, f.Name())
		require.NotEmpty(t, all, f.Name())
		for i := range f.Sets {
			set := &f.Sets[i]
			own, err := f.Examples(set)
			require.NoError(t, err)
			t.Run(f.Name()+" "+set.Name, func(t *testing.T) {
				in := s.In(t)
				if set.Op.Sample != nil {
					in.Prepare(set.Op)
				}
				for k := range own { // the dry run comes first
					example := own[len(own)-1-k]
					assert.Contains(t, all, example)
					c.tolerant = set.Op.Sample == nil
					c.run(t, "$ConfirmPreference = 'None'\n$null = "+example+"\n")
					for _, failure := range c.errors {
						assert.Regexp(t, "^(not_found|not_undoable|not_supported|unavailable|forbidden)", failure, example)
					}
					ran++
				}
				if set.Op.Sample != nil {
					in.Undo(set.Op)
				}
			})
		}
	}
	t.Logf("%d examples of %d functions ran", ran, len(functions))
	assert.Greater(t, ran, 200)
}

// A token and a password are absent from everything that a session writes or keeps.
func TestTheModuleKeepsSecrets(t *testing.T) {
	const token, password = "canary-token-4711-beta", "Canary-Wort-0815-Gamma"
	s := startSandbox(t, "--token", token)
	s.eventually("/readyz", "Bearer "+token, 200)
	c := startConsole(t, token)
	c.tolerant = true
	written := []string{c.run(t, strings.Replace(connect, "$env:ADGATEWAY_URI", "'"+s.url+"'", 1))}
	for _, script := range []string{
		"$secret = [System.Net.NetworkCredential]::new('', '" + password + "').SecurePassword",
		"New-AdgUser -Username 'canary' -Password $secret -Verbose -Debug",
		"Reset-AdgUserPassword -Username 'canary' -NewPassword $secret -Confirm:$false -Verbose -Debug -Raw",
		"Reset-AdgUserPassword -Username 'canary' -NewPassword $secret -WhatIf -Verbose -Debug",
		"Reset-AdgUserPassword -Username 'nobody' -NewPassword $secret -Confirm:$false -Verbose -Debug -ErrorVariable ev",
		"Get-AdgUser -Username 'nobody' -Verbose -Debug -ErrorVariable ev",
		"try { Connect-AdGateway -Uri 'http://127.0.0.1:9' -Token (Read-Host -AsSecureString -Prompt 'Token') -RetrySec 0 } catch { $_.Exception.Message }",
		"Disconnect-AdGateway; Get-AdgUser -Username 'nobody' -ErrorAction SilentlyContinue",
	} {
		written = append(written, c.run(t, script+"\n"))
		written = append(written, c.errors...)
		written = append(written, c.warnings...)
		written = append(written, c.verbose...)
		written = append(written, c.host...)
	}
	written = append(written, c.run(t, `foreach ($record in @($Error) + @($ev)) {
    "$record"; "$($record.TargetObject)"; "$($record.Exception.Message)"; "$($record.ErrorDetails)"; "$($record.CategoryInfo)"; "$($record.TargetObject.message)"
}
`))
	for _, text := range written {
		assert.NotContains(t, text, token)
		assert.NotContains(t, text, password)
	}
	assert.Greater(t, len(strings.Join(written, "")), 500, fmt.Sprint(written))
}
