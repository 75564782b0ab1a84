package schema

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"adgateway/gateway/visible"
	"adgateway/ps"
)

// ranges holds the rangeUpper of attributes in the directory's schema, in UTF-16 code units.
// Attributes without one get [noRange].
var ranges = map[string]int{
	"givenName": 64, "sn": 64, "company": 64, "department": 64,
	"telephoneNumber": 64, "homePhone": 64, "mobile": 64, "cn": 64,
	"title": 128, "l": 128, "st": 128, "physicalDeliveryOfficeName": 128,
	"postalCode": 40, "postOfficeBox": 40,
	"displayName": 256, "mail": 256,
	"description": 1024, "streetAddress": 1024,
	"initials": 6, "ou": 64,
}

const noRange = 1024

// Range returns the maximum length of an attribute, in UTF-16 code units.
func Range(attribute string) int {
	if limit, known := ranges[attribute]; known {
		return limit
	}
	return noRange
}

// Text returns the kind of free text for an attribute, given its LDAP name.
func Text(attribute string) Kind {
	return textKind{base: base{"string"}, attribute: attribute, limit: Range(attribute),
		lines: attribute == "description" || attribute == "streetAddress"}
}

type textKind struct {
	base
	attribute string
	limit     int
	lines     bool
}

func (k textKind) Decode(raw any) (*Decoded, *FieldError) {
	if before, is := raw.(Stored); is {
		return textValue(string(before)), nil
	}
	s, problem := text(raw, k.limit, k.lines)
	if problem == nil {
		problem = undirected(s)
	}
	if problem != nil {
		return nil, problem
	}
	return textValue(s), nil
}

// undirected refuses characters that make a text look like a different one.
func undirected(s string) *FieldError {
	return without(s, visible.Directs,
		"must not contain characters that change the direction of text or begin a line unseen")
}

// seen refuses characters that people who read a text do not see, or that make it read as another one.
func seen(s string) *FieldError {
	return without(s, visible.Unseen,
		"must not contain characters that are invisible or change the direction of text")
}

func (textKind) Clear() []ps.Value { return []ps.Value{ps.Text("")} }

func (k textKind) Doc() Doc {
	doc := Doc{Type: "string", MaxLength: k.limit, Lines: k.lines,
		Text: "Text for the LDAP attribute " + k.attribute + "."}
	if k.lines {
		doc.Text = "Text for the LDAP attribute " + k.attribute + "; line breaks are allowed."
	}
	return doc
}

// Password is a secret of at most 256 characters.
var Password Kind = passwordKind{base{"securestring"}}

type passwordKind struct{ base }

const passwordLimit = 256

func (passwordKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, passwordLimit, false)
	if problem != nil {
		return nil, problem
	}
	return &Decoded{Values: []ps.Value{ps.Secret(s)}}, nil
}

func (passwordKind) Secret() bool { return true }

func (passwordKind) Doc() Doc {
	return Doc{Type: "string", Format: "password", MaxLength: passwordLimit,
		Text: "Secret text, which is never shown again."}
}

// patternKind is text that matches a regular expression.
type patternKind struct {
	base
	limit   int
	pattern *regexp.Regexp
	must    string // problem: "must ..."
	example string
	clears  bool
	refuses *regexp.Regexp // rejected although pattern matches; may be nil
	meant   []misuse       // likely intentions behind refused texts, checked first
	plain   bool           // whether hidden characters and spaces other than U+0020 are refused, as in new names
}

// without refuses a text that contains a character of some class, and names the first one.
func without(s string, kind func(rune) bool, must string) *FieldError {
	at := 0
	for _, r := range s {
		if at++; kind(r) {
			return invalid("%s: character %d is U+%04X", must, at, r)
		}
	}
	return nil
}

// deceptive reports whether a character can make different names look alike.
func deceptive(r rune) bool { return visible.Hidden(r) || visible.Blank(r) }

// misuse is a pattern of texts that callers send although a different kind of name is required. Such a text
// is refused although it may be valid, and the error names the right form.
type misuse struct {
	looks *regexp.Regexp
	must  string // problem; $1 is the first group of looks
}

// misused returns the problem with a text that is a different kind of name, or nil.
func (k patternKind) misused(s string) *FieldError {
	for _, form := range k.meant {
		found := form.looks.FindStringSubmatchIndex(s)
		if found == nil {
			continue
		}
		message := string(form.looks.ExpandString(nil, form.must, s, found))
		if k.pattern.MatchString(s) {
			return unprocessable("%s", message)
		}
		return invalid("%s", message)
	}
	return nil
}

// Forms in which people write account names although only the account name itself is accepted.
var (
	downLevel = misuse{
		regexp.MustCompile(`^[^\\/]+[\\/]([^\\/]+)$`),
		`must be the account name alone, "$1", without the domain before it`,
	}
	principal = misuse{
		regexp.MustCompile(`^([^@]*)@.*$`),
		`must be the account name alone, "$1", without "@" and a domain: the domain is added for the UPN`,
	}
	mailAddress = misuse{
		regexp.MustCompile(`^([^@]*)@[^@.]+(?:\.[^@.]+)+$`),
		`must be the account name, such as "$1", not a mail address: GroupEmail takes that`,
	}
	distinguished = misuse{
		regexp.MustCompile(`(?i)^(?:CN|OU)=((?:[^,\\]|\\.)*),.*DC=`),
		`must be a name alone, "$1", not a distinguished name: OUPath says where the account lies`,
	}
	hostName = misuse{
		regexp.MustCompile(`^([^.@]+)\.[^@]+$`),
		`must be the computer's name alone, "$1", without a DNS domain`,
	}
	accountOfComputer = misuse{
		regexp.MustCompile(`^(.*)\$$`),
		`must be the computer's name, "$1", without the "$$" of its account`,
	}
)

// Stored is a text that the directory had before a change and that the undo restores. Text kinds
// accept it without checking whether it may be set.
type Stored string

// Back returns a former value in the form in which an undo passes it to a parameter of kind k.
func Back(k Kind, before string) any {
	switch k.(type) {
	case keptKind: // "" means that there was none
		return Stored(before)
	case patternKind, textKind:
		if before != "" {
			return Stored(before)
		}
	}
	return before
}

func (k patternKind) Decode(raw any) (*Decoded, *FieldError) {
	if before, is := raw.(Stored); is {
		return textValue(string(before)), nil
	}
	s, problem := text(raw, 0, false)
	if problem == nil {
		problem = k.misused(s)
	}
	if problem == nil {
		s, problem = text(raw, k.limit, false)
	}
	if problem == nil && k.plain {
		problem = without(s, deceptive, "must not contain hidden characters, or blanks other than the space")
	}
	if problem != nil {
		return nil, problem
	}
	if !k.pattern.MatchString(s) || k.refuses != nil && k.refuses.MatchString(s) {
		return nil, invalid("%s", k.must)
	}
	return textValue(s), nil
}

func (k patternKind) Clear() []ps.Value {
	if !k.clears {
		return nil
	}
	return []ps.Value{ps.Text("")}
}

func (k patternKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: k.limit, Pattern: k.pattern.String(), Example: k.example,
		Text: described(strings.TrimPrefix(k.must, "must be ") + k.seen())}
}

// idKind is the kind of ids that the gateway gives: a prefix and a version 7 UUID.
func idKind(prefix, must, example string) Kind {
	return patternKind{
		base: base{"string"}, limit: len(prefix) + 36, must: must, example: example, pattern: regexp.MustCompile(
			`^` + prefix + `[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`),
	}
}

// described returns a description of what a value must be: "A name." without the article.
func described(what string) string {
	for _, article := range []string{"a ", "an ", "the "} {
		what = strings.TrimPrefix(what, article)
	}
	return strings.ToUpper(what[:1]) + what[1:] + "."
}

func (k patternKind) seen() string {
	if !k.plain {
		return ""
	}
	return "; hidden characters and blanks other than the space are not allowed"
}

// UserName is a new user's sAMAccountName (facts C24). It also becomes the CN.
var UserName Kind = patternKind{
	base: base{"string"}, limit: 20,
	pattern: regexp.MustCompile(`^[^"/\\\[\]:;|=,+*?<>]*[^"/\\\[\]:;|=,+*?<>. ](?:[^"/\\\[\]:;|=,+*?<>]*[^"/\\\[\]:;|=,+*?<>.])?$`),
	must:    `must be a user name without any of " / \ [ ] : ; | = , + * ? < >, not blank, and without a trailing dot`,
	example: "jdoe",
	meant:   []misuse{distinguished, downLevel, principal},
	plain:   true,
}

// CommonName is the CN of an account.
var CommonName Kind = patternKind{
	base: base{"string"}, limit: Range("cn"),
	pattern: regexp.MustCompile(`^[^ ](?:.*[^ ])?$`),
	must:    "must be a name without leading or trailing blanks",
	example: "Jane Doe",
}

// PrincipalName is a UPN.
var PrincipalName Kind = patternKind{
	base: base{"string"}, limit: 1024,
	pattern: regexp.MustCompile(`^[^@"/\\\[\]:;|=,+*?<> ]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$`),
	must:    "must be a UPN such as jane.doe@corp.example: a name, @, and a UPN suffix of the forest",
	example: "jane.doe@corp.example",
}

// Plain returns a name in the usual width, without spaces and invisible characters, or "" if that
// is the name itself.
func Plain(name string) string {
	looks := strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.In(c, unicode.Cf, unicode.Zs, unicode.Variation_Selector) {
			return -1
		}
		return c
	}, norm.NFKC.String(name))
	if looks == name {
		return ""
	}
	return looks
}

// Drive is a drive letter with its colon.
var Drive Kind = patternKind{
	base: base{"string"}, limit: 2, clears: true,
	pattern: regexp.MustCompile(`^[A-Za-z]:$`),
	must:    "must be a drive letter with a colon, such as H:",
	example: "H:",
}

// OUName is the unescaped name of an OU.
var OUName Kind = patternKind{
	base: base{"string"}, limit: Range("ou"),
	pattern: regexp.MustCompile(`[^ ]`),
	must:    "must be a name that is not blank",
	example: "Sales",
	plain:   true,
}
