// Package etag creates and compares entity tags (RFC 9110, 8.8 and 13.1).
//
// A tag identifies the state of a record. It is a hash of the values that the gateway reads ([New],
// [Hash.Tag]). So it is the same on every server and every gateway, and a record whose value is changed and
// changed back gets its old tag again. [Parse] reads the headers If-Match and If-None-Match.
package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// Hash collects the values that a tag covers.
type Hash struct {
	kind   string
	values []byte // each preceded by its length
}

// New returns a hash for records of a kind, which is also the prefix of their tags. The kind
// includes the version of the list of values: "u1".
func New(kind string) *Hash {
	const usual = 2048 // bytes; most records stay below
	h := &Hash{kind, make([]byte, 0, usual)}
	h.Add([]byte(kind))
	return h
}

// Add adds a value, including its length, so different lists have different sums.
func (h *Hash) Add(value []byte) {
	h.values = append(binary.BigEndian.AppendUint64(h.values, uint64(len(value))), value...)
}

// Tag returns the strong tag, including its quotes: 128 bits of the hash.
func (h *Hash) Tag() string {
	const bytes = 16
	sum := sha256.Sum256(h.values)
	tag := append(make([]byte, 0, 64), '"')
	tag = append(append(tag, h.kind...), '-')
	return string(append(base64.RawURLEncoding.AppendEncode(tag, sum[:bytes]), '"'))
}

// Condition is the value of If-Match or If-None-Match.
type Condition struct {
	Any  bool // "*"
	Tags []Tag
}

// Tag is one tag of a condition.
type Tag struct {
	Weak bool
	Text string // including its quotes
}

// MaxTags is the maximum number of tags in a condition.
const MaxTags = 100

// The errors of Parse.
var (
	ErrMalformed = errors.New(`must be * or entity tags such as "u1-b3Jp", in double quotes and separated by commas`)
	ErrTooMany   = errors.New("has more than 100 entity tags")
)

// Parse reads the lines of one header.
func Parse(lines []string) (Condition, error) {
	rest := strings.Trim(strings.Join(lines, ","), " \t")
	if rest == "*" {
		return Condition{Any: true}, nil
	}
	var c Condition
	for {
		rest = strings.TrimLeft(rest, " \t,") // empty list members are ignored
		if rest == "" {
			break
		}
		tag, after, ok := cut(rest)
		if !ok {
			return Condition{}, ErrMalformed
		}
		rest = strings.TrimLeft(after, " \t")
		if rest != "" && rest[0] != ',' {
			return Condition{}, ErrMalformed
		}
		if len(c.Tags) == MaxTags {
			return Condition{}, ErrTooMany
		}
		c.Tags = append(c.Tags, tag)
	}
	if len(c.Tags) == 0 {
		return Condition{}, ErrMalformed
	}
	return c, nil
}

// cut removes a tag from the beginning of a text.
func cut(text string) (tag Tag, rest string, ok bool) {
	text, tag.Weak = strings.CutPrefix(text, "W/")
	if text == "" || text[0] != '"' {
		return Tag{}, "", false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			tag.Text = text[:i+1]
			return tag, text[i+1:], true
		case c <= ' ' || c == 0x7f:
			return Tag{}, "", false
		}
	}
	return Tag{}, "", false
}

// Match reports whether the condition allows a change of an object with the given tag. It uses strong
// comparison, which a weak tag never passes. tag is empty for an object that does not exist.
func (c Condition) Match(tag string) bool {
	return tag != "" && (c.Any ||
		slices.ContainsFunc(c.Tags, func(t Tag) bool { return !t.Weak && t.Text == tag }))
}

// Same reports whether the condition names the given tag, by weak comparison.
func (c Condition) Same(tag string) bool {
	return tag != "" && (c.Any || slices.ContainsFunc(c.Tags, func(t Tag) bool { return t.Text == tag }))
}

// String returns the condition in a single spelling.
func (c Condition) String() string {
	if c.Any {
		return "*"
	}
	texts := make([]string, len(c.Tags))
	for i, t := range c.Tags {
		texts[i] = t.Text
		if t.Weak {
			texts[i] = "W/" + t.Text
		}
	}
	return strings.Join(texts, ", ")
}
