package session

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"adgateway/ps"
)

//go:embed handshake.ps1
var handshakeText string

// handshake is the function that checks the data line at every start.
var handshake = ps.Source{Name: "Test-GatewayLine", Text: handshakeText}

var (
	functionName = regexp.MustCompile(`^[A-Z][A-Za-z]*-[A-Z][A-Za-z0-9]*$`)
	moduleName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]*$`)
)

// opens and closes surround a base64 text, to form an expression that creates a script block from it.
const (
	opens  = `([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('`
	closes = `')))); `
)

// line returns the line that turns a PowerShell process into a session. It is
// ASCII without line breaks and contains only validated names and base64
// (facts-5.1 K14). The Shell appends its markers and sends everything in one write.
func (b Boot) line() (string, error) {
	if strings.TrimSpace(b.Prelude.Text) == "" {
		return "", fmt.Errorf("empty prelude")
	}
	if !moduleName.MatchString(b.Module) {
		return "", fmt.Errorf("invalid module name %q", b.Module)
	}
	const sets, value = "Set-Item -LiteralPath 'function:global:", "' -Value "
	all := append([]ps.Source{handshake}, b.Scripts...)
	size := 2*len(sets) + len(opens) + base64.StdEncoding.EncodedLen(len(b.Prelude.Text)) + len(closes)
	for _, script := range all {
		size += len(sets) + len(script.Name) + len(value) + len(opens) +
			base64.StdEncoding.EncodedLen(len(script.Text)) + len(closes)
	}
	var line strings.Builder
	line.Grow(size)
	write := func(texts ...string) {
		for _, text := range texts {
			line.WriteString(text)
		}
	}
	write(". ", opens, encode(b.Prelude.Text), closes)
	seen := map[string]bool{}
	for _, script := range all {
		if !functionName.MatchString(script.Name) {
			return "", fmt.Errorf("script name %q is not Verb-Noun", script.Name)
		}
		if seen[strings.ToLower(script.Name)] {
			return "", fmt.Errorf("duplicate script %q", script.Name)
		}
		seen[strings.ToLower(script.Name)] = true
		write(sets, script.Name, value, opens, encode(script.Text), closes)
	}
	write("Start-GatewaySession -Module '", b.Module, "'")
	return line.String(), nil
}

func encode(text string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(text, "\ufeff")))
}
