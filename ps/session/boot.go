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

// decoded is a PowerShell expression for a script block given in base64.
const decoded = `[scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('%s')))`

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
	var line strings.Builder
	fmt.Fprintf(&line, ". ("+decoded+"); ", encode(b.Prelude.Text))
	seen := map[string]bool{}
	for _, script := range append([]ps.Source{handshake}, b.Scripts...) {
		if !functionName.MatchString(script.Name) {
			return "", fmt.Errorf("script name %q is not Verb-Noun", script.Name)
		}
		if seen[strings.ToLower(script.Name)] {
			return "", fmt.Errorf("duplicate script %q", script.Name)
		}
		seen[strings.ToLower(script.Name)] = true
		fmt.Fprintf(&line, "Set-Item -LiteralPath 'function:global:%s' -Value ("+decoded+"); ", script.Name,
			encode(script.Text))
	}
	line.WriteString("Start-GatewaySession -Module '" + b.Module + "'")
	return line.String(), nil
}

func encode(text string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(text, "\ufeff")))
}
