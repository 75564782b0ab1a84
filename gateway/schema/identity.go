package schema

import (
	"encoding/hex"
	"regexp"
	"strings"
	"unicode/utf8"

	"adgateway/ps"
)

const (
	identityLimit = 2048
	dnLimit       = 4096
)

// Identity names an existing object: GUID, SID, DN, sAMAccountName or, for reads, CN. It
// is any text without control characters, passed on unchanged.
var Identity Kind = identityKind{base: base{"string"}}

// Reference is an Identity that can be cleared: the manager of a user.
var Reference Kind = identityKind{base: base{"string"}, clears: true}

type identityKind struct {
	base
	clears bool
}

func (identityKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, identityLimit, false)
	if problem != nil {
		return nil, problem
	}
	return textValue(s), nil
}

func (k identityKind) Clear() []ps.Value {
	if !k.clears {
		return nil
	}
	return []ps.Value{ps.Text("")}
}

func (identityKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: identityLimit,
		Text: "GUID, SID, distinguished name, or sAMAccountName.", Example: "aschmidt"}
}

// DN is a well-formed distinguished name (RFC 4514, facts C20). It is passed on unchanged, except
// that a leading LDAP://, as in ADSI paths, is removed.
var DN Kind = dnKind{base{"string"}}

type dnKind struct{ base }

var dnPattern = func() *regexp.Regexp {
	const (
		escaped = `\\(?:[ "#+,;<=>\\/]|[0-9A-Fa-f]{2})`
		value   = `(?:[^\\"+,;<>#]|` + escaped + `)(?:[^\\"+,;<>]|` + escaped + `)*`
		pair    = ` *(?:[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+)*) *=` + value
		rdn     = pair + `(?:\+` + pair + `)*`
	)
	return regexp.MustCompile(`^` + rdn + `(?:,` + rdn + `)*$`)
}()

func (dnKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, dnLimit, false)
	if problem != nil {
		return nil, problem
	}
	s, hasServer := cutADsPath(s)
	switch {
	case hasServer:
		return nil, invalid("must not name a server: write LDAP://OU=Sales,DC=corp,DC=example, or the name alone")
	case !dnPattern.MatchString(s) || !validPairs(s):
		return nil, invalid("must be a distinguished name such as OU=Sales,DC=corp,DC=example")
	}
	return textValue(s), nil
}

func (dnKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: dnLimit, Text: "Distinguished name; a leading LDAP:// is ignored.",
		Example: "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"}
}

// domainPart matches a domain component, which is part of every object's distinguished name.
var domainPart = regexp.MustCompile(`(?i)(?:^|,) *DC *=`)

// NamesDomain reports whether a DN contains a domain component.
func NamesDomain(dn string) bool { return domainPart.MatchString(dn) }

// cutADsPath removes a leading LDAP:// from a DN and reports whether a server name follows it.
func cutADsPath(path string) (dn string, hasServer bool) {
	const scheme = "LDAP://"
	if len(path) < len(scheme) || !strings.EqualFold(path[:len(scheme)], scheme) {
		return path, false
	}
	dn = path[len(scheme):]
	server, _, slash := strings.Cut(dn, "/")
	return dn, slash && !strings.Contains(server, "=")
}

// validPairs reports whether no value of a DN is blank and the unescaped DN is valid
// UTF-8 without NUL.
func validPairs(dn string) bool {
	var plain strings.Builder
	inValue, blank := false, false // blank is true while the value has only had spaces
	for i := 0; i < len(dn); i++ {
		c := dn[i]
		switch {
		case c == '\\':
			blank = false
			i++
			if octet, err := hex.DecodeString(dn[i:min(i+2, len(dn))]); err == nil && len(octet) == 1 {
				plain.WriteByte(octet[0])
				i++
				continue
			}
			c = dn[i]
		case c == '=' && !inValue:
			inValue, blank = true, true
		case c == ',' || c == '+':
			if blank {
				return false
			}
			inValue = false
		case c != ' ':
			blank = false
		}
		plain.WriteByte(c)
	}
	return !blank && utf8.ValidString(plain.String()) && !strings.Contains(plain.String(), "\x00")
}
