package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// list is a setting with a list of strings. A single string is a list of one.
type list struct {
	words string
	fits  func(string) bool // if nil, any string is accepted
}

// listKinds are the kinds of lists. The gateway checks whether scopes and operations exist.
var listKinds = map[string]list{
	"":     {"a list of strings", nil},
	"path": {"a list of strings", nil},

	"dnsNames":   {"a list of full DNS names, such as [pki.corp.example]", isDNSName},
	"groups":     {"a list of groups by account name or DN, such as [GW-Operators, GW-Helpdesk]", isGroup},
	"hosts":      {"a list of host names, such as [dc1.corp.example, dc2.corp.example]", isHost},
	"networks":   {"a list of addresses and networks, such as 10.0.0.1 or 10.0.0.0/8", isNetwork},
	"operations": {"a list of operations, such as user.delete, user.* or *", operationPattern.MatchString},
	"origins":    {"a list of origins, such as https://portal.corp.example, without wildcards", isOrigin},
	"scopes":     {"a list of scopes, such as user:write, or *", scopePattern.MatchString},
	"servers":    {"a list of servers, such as tls://n1.corp.example:4222, or nats:// for one on this machine", isServer},
	"zones":      {"a list of DNS zones, such as corp.example", isZone},
}

var (
	scopePattern     = regexp.MustCompile(`^(?:\*|[a-z]+:[a-z-]+)$`)
	operationPattern = regexp.MustCompile(`^(?:\*|[a-zA-Z]+\.(?:\*|[a-zA-Z]+\*?))$`)
)

func isHost(item string) bool { return isAddress(item) || isZone(item) }

func isZone(item string) bool { return isName(strings.TrimSuffix(item, ".")) }

func isDNSName(item string) bool {
	return isZone(item) && strings.Contains(strings.TrimSuffix(item, "."), ".") &&
		!isAddress(strings.TrimSuffix(item, "."))
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func isGroup(item string) bool {
	isDN := strings.Contains(item, "=")
	return strings.TrimSpace(item) != "" && (isDN || !strings.ContainsAny(item, `"/[]:;|=,+*?<>`))
}

func isNetwork(item string) bool {
	_, err := netip.ParsePrefix(item)
	return err == nil || isAddress(item)
}

// isOrigin reports whether an item is a web site with scheme, host and port, as browsers send them.
func isOrigin(item string) bool {
	parsed, err := url.Parse(item)
	return err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && item == parsed.Scheme+"://"+
		parsed.Host && parsed.Hostname() != "" && !strings.Contains(item, "*")
}

// isServer reports whether an item is the URL of a NATS server.
func isServer(item string) bool {
	u, err := url.Parse(item)
	if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.User != nil || item != u.Scheme+"://"+u.Host {
		return false
	}
	return hostAndPort(u.Host)
}

func (v list) allowed() string { return v.words }

func (v list) get(field reflect.Value, _ bool) any {
	return append([]string{}, field.Interface().([]string)...)
}

func (v list) set(field reflect.Value, node *yaml.Node) error {
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
	field.Set(reflect.ValueOf(items))
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
			return nil, placed(item.Line, "takes a list of strings")
		}
		items = append(items, item.Value)
	}
	return items, nil
}

// namePattern matches a DNS name of letters, digits, hyphens and underscores.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*$`)

func isName(text string) bool { return len(text) <= 253 && namePattern.MatchString(text) }
