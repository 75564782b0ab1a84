package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// list is a setting with a list of strings. A single string is a list of one.
type list struct {
	field func(*Settings) *[]string
	fits  func(string) bool // if nil, any string is accepted
	words string
}

// texts returns a list of paths or arguments, which may contain anything.
func texts(field func(*Settings) *[]string) value { return list{field, nil, "a list of texts"} }

// hosts returns a list of servers, by name or address.
func hosts(field func(*Settings) *[]string) value {
	return list{field, isHost, "a list of host names, such as [dc1.corp.example, dc2.corp.example]"}
}

// host returns a setting with one server, by name or address. It may be empty.
func host(field func(*Settings) *string) value {
	return scalar[string]{field, func(t string) (string, error) {
		if t != "" && !isHost(t) {
			return "", errNotAllowed
		}
		return t, nil
	}, "the name of one host, such as dc1.corp.example"}
}

func isHost(text string) bool {
	return isAddress(text) || isName(strings.TrimSuffix(text, "."))
}

// dnsNames returns a list of full host names.
func dnsNames(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool {
		name := strings.TrimSuffix(item, ".")
		return isName(name) && strings.Contains(name, ".") && !isAddress(name)
	}, "a list of DNS names in full, such as [pki.corp.example]"}
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

// groups returns a list of directory groups.
func groups(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool {
		isDN := strings.Contains(item, "=")
		return strings.TrimSpace(item) != "" && (isDN || !strings.ContainsAny(item, `"/[]:;|=,+*?<>`))
	}, "a list of groups by account name or DN, such as [GW-Operators, GW-Helpdesk]"}
}

// scopes returns a list of scope names. The server checks whether they exist.
func scopes(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool { return scopePattern.MatchString(item) },
		"a list of scopes, such as user:write, or *"}
}

var scopePattern = regexp.MustCompile(`^(?:\*|[a-z]+:[a-z-]+)$`)

// operations returns a list of operation ids or patterns. The gateway checks whether they exist.
func operations(field func(*Settings) *[]string) value {
	matches := operationPattern.MatchString
	return list{field, matches, "a list of operations, such as user.delete, user.* or *"}
}

var operationPattern = regexp.MustCompile(`^(?:\*|[a-zA-Z]+\.(?:\*|[a-zA-Z]+\*?))$`)

// networks returns a list of addresses and networks: 10.0.0.1, 10.0.0.0/8, 2001:db8::/32.
func networks(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool {
		_, address := netip.ParseAddr(item)
		_, network := netip.ParsePrefix(item)
		return address == nil || network == nil
	}, "a list of addresses and networks, such as 10.0.0.1 or 10.0.0.0/8"}
}

// origins returns a list of web sites, each with scheme, host and port, as browsers send them.
func origins(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool {
		parsed, err := url.Parse(item)
		return err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && item == parsed.Scheme+"://"+
			parsed.Host && parsed.Hostname() != "" && !strings.Contains(item, "*")
	}, "a list of origins, such as https://portal.corp.example, without wildcards"}
}

func (v list) allowed() string { return v.words }

func (v list) get(s *Settings, _ bool) any { return append([]string{}, *v.field(s)...) }

func (v list) take(to, from *Settings) { *v.field(to) = *v.field(from) }

func (v list) set(s *Settings, node *yaml.Node) error {
	items, err := stringList(node)
	if err != nil {
		return err
	}
	for _, item := range items {
		if v.fits == nil || v.fits(item) {
			continue
		}
		if parts := v.several(item); len(parts) > 1 {
			return fmt.Errorf("%q is not one value: write [%s]", item, strings.Join(parts, ", "))
		}
		return fmt.Errorf("%q is not allowed here: it takes %s", item, v.words)
	}
	*v.field(s) = items
	return nil
}

// several returns the items that a string was probably meant to list, or nil if some of them are
// invalid.
func (v list) several(text string) []string {
	for _, separators := range []string{",;", ",; \t"} {
		var parts []string
		for _, part := range strings.FieldsFunc(text,
			func(c rune) bool { return strings.ContainsRune(separators, c) }) {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
		if len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { return !v.fits(part) }) {
			return parts
		}
	}
	return nil
}

// stringList reads a list. An empty string, for example in a variable, is an empty list.
func stringList(node *yaml.Node) ([]string, error) {
	if node.Kind == yaml.ScalarNode && node.Tag != "!!null" {
		if node.Value == "" {
			return nil, nil
		}
		return []string{node.Value}, nil
	}
	if node.Kind != yaml.SequenceNode {
		return nil, errors.New("takes a list of strings")
	}
	var items []string
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return nil, placed(item.Line, "takes a list of texts")
		}
		items = append(items, item.Value)
	}
	return items, nil
}

// zones returns a list of DNS zone names.
func zones(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool { return isName(strings.TrimSuffix(item, ".")) },
		"a list of DNS zones, such as corp.example"}
}

// namePattern matches a DNS name of letters, digits, hyphens and underscores.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*$`)

func isName(text string) bool { return len(text) <= 253 && namePattern.MatchString(text) }
