package identity

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/nearest"
)

// ParseScopes parses scope names. The error names all unknown ones, each with the nearest known
// one, and lists all known scopes.
func ParseScopes(names []string) ([]Scope, error) {
	var scopes []Scope
	var unknown []string
	for _, name := range names {
		scope := Scope(strings.TrimSpace(name))
		if !slices.Contains(Scopes(), scope) {
			unknown = append(unknown, fmt.Sprintf("%q%s", name, meant(name)))
			continue
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unknown scope %s; known are %s", strings.Join(unknown, ", "),
			JoinScopes(Scopes()))
	}
	return scopes, nil
}

// meant suggests the scope nearest to a misspelled one.
func meant(name string) string {
	known := make([]string, len(Scopes()))
	for i, scope := range Scopes() {
		known[i] = string(scope)
	}
	best := nearest.Of(name, known)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// JoinScopes returns the names of scopes, separated by blanks.
func JoinScopes(scopes []Scope) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}
