package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/ps"

	"golang.org/x/text/unicode/norm"
)

// inserted matches characters that the console host may insert anywhere in a text. These are line breaks and,
// in later versions, the margin of messages and escape sequences for colors and titles. The search for
// secrets skips them.
var inserted = regexp.MustCompile(`[\r\n |]+|\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|$)|\][^\x07\x1b]*(?:\x07|\x1b\\|\x1b?$)|[ -/]*(?:[0-Z\\^-~]|$))`)

// mask replaces every occurrence of every secret in text. lead is the output before text. mask also finds
// secrets that are wrapped over lines, contain escape sequences, are encoded in another code page, overlap,
// or are cut off at the end of text.
func mask(lead, text string, secrets []string) string {
	text = lead + text
	joined, at := make([]byte, 0, len(text)), make([]int, 0, len(text))
	keep := func(from, to int) {
		for i := from; i < to; i++ {
			joined, at = append(joined, text[i]), append(at, i)
		}
	}
	done := 0
	for _, skipped := range inserted.FindAllStringIndex(text, -1) {
		keep(done, skipped[0])
		done = skipped[1]
	}
	keep(done, len(text))
	hidden := make([]bool, len(text))
	for _, secret := range secrets {
		sought := inserted.ReplaceAllString(secret, "")
		if sought == "" {
			continue // the secret consists only of skipped bytes
		}
		done := 0 // end of the last hidden occurrence
		hide := func(from, to int) {
			for i := max(from, done); i < to; i++ {
				hidden[i] = true
			}
			done = max(done, to)
		}
		begun := search(joined, sought, func(end int) { hide(at[end-len(sought)], at[end-1]+1) })
		if begun > 0 {
			hide(at[len(at)-begun], len(text))
		}
		done = 0 // an apparent escape sequence may end within a secret
		if begun = search([]byte(text), secret, func(end int) { hide(end-len(secret), end) }); begun > 0 {
			hide(len(text)-begun, len(text))
		}
		for _, pattern := range otherCodePages(sought) {
			done = 0
			for start := range joined {
				switch n := pattern.matches(joined[start:]); {
				case n == len(pattern):
					hide(at[start], at[start+n-1]+1)
				case start+n == len(joined) && pattern[:n].certain(joined[start:]):
					hide(at[start], len(text))
				}
			}
		}
	}
	return shown(text, len(lead), hidden)
}

// shown returns text from a position on, with *** in place of hidden bytes.
func shown(text string, from int, hidden []bool) string {
	var shown strings.Builder
	for i := from; i < len(text); i++ {
		switch {
		case !hidden[i]:
			shown.WriteByte(text[i])
		case i == from || !hidden[i-1]:
			shown.WriteString(masked)
		}
	}
	return shown.String()
}

// A codePage is a pattern that matches a secret in any single-byte code page. Windows writes text to a pipe
// in the OEM code page, and replaces characters that the page lacks with '?' or a similar character.
type codePage []character

type character struct {
	ascii byte // the character itself, or the base of its decomposition
	other bool // the character is not ASCII; any byte of the upper half or '?' may represent it
	any   bool // any byte at all may stand for it
}

const (
	longestPattern = 1024 // in characters; longer secrets are found only in the encoding in which they were sent
	// number of ASCII characters that make a match certain, regardless of the characters between them
	telling = 4
)

// otherCodePages returns the patterns of a secret that is not ASCII. A character outside the
// basic plane becomes one byte or, if each of its surrogates is replaced, two.
func otherCodePages(secret string) []codePage {
	ascii := 0
	for i := range len(secret) {
		if secret[i] < utf8.RuneSelf {
			ascii++
		}
	}
	if ascii == len(secret) || utf8.RuneCountInString(secret) > longestPattern {
		return nil
	}
	var halves, whole codePage
	for _, r := range secret {
		if r < utf8.RuneSelf {
			halves, whole = append(halves, character{ascii: byte(r)}), append(whole, character{ascii: byte(r)})
			continue
		}
		c := character{other: true, any: ascii >= telling}
		if base := norm.NFKD.String(string(r))[0]; base < utf8.RuneSelf {
			c.ascii = base
		}
		halves, whole = append(halves, c), append(whole, c)
		if r > 0xFFFF {
			halves = append(halves, c)
		}
	}
	if len(halves) == len(whole) {
		return []codePage{whole}
	}
	return []codePage{whole, halves}
}

// matches returns the number of characters of the pattern that match the beginning of text.
func (p codePage) matches(text []byte) int {
	for i, c := range p {
		if i == len(text) || (!c.any && !c.likely(text[i])) {
			return i
		}
	}
	return len(p)
}

// certain reports whether a match of p, the beginning of a pattern, is specific enough not to be accidental.
func (p codePage) certain(text []byte) bool {
	for i, c := range p {
		switch {
		case !c.other:
			return true
		case !c.likely(text[i]):
			return false
		}
	}
	return true
}

// likely reports whether b is the character, or a byte that represents it in most code pages.
func (c character) likely(b byte) bool {
	return b == c.ascii && (b != 0 || !c.other) || c.other && (b >= utf8.RuneSelf || b == '?')
}

// search calls found with the end of each occurrence of secret in text. It returns the
// length of the longest proper prefix of secret at the end of text. It is the
// Knuth-Morris-Pratt algorithm, so the time is linear for any secret.
func search(text []byte, secret string, found func(end int)) (begun int) {
	borders := make([]int, len(secret)) // KMP failure function
	step := func(matched int, next byte) int {
		for matched > 0 && (matched == len(secret) || secret[matched] != next) {
			matched = borders[matched-1]
		}
		if secret[matched] == next {
			matched++
		}
		return matched
	}
	for i := 1; i < len(secret); i++ {
		borders[i] = step(borders[i-1], secret[i])
	}
	for i, next := range text {
		if begun = step(begun, next); begun == len(secret) {
			found(i + 1)
		}
	}
	return begun % len(secret)
}

// lineSecrets returns the secrets of a data line in several encodings: as sent, as text, as JSON (both ours
// and that of Windows PowerShell), and as XML.
func lineSecrets(line string) []string {
	parts := strings.Split(line, " ")
	var secrets []string
	for _, part := range parts[1:] {
		secrets = append(secrets, part)
		plain, err := base64.StdEncoding.DecodeString(part)
		if err != nil {
			continue
		}
		secrets = append(secrets, string(plain))
		if quoted, err := json.Marshal(string(plain)); err == nil {
			text := string(quoted[1 : len(quoted)-1])
			secrets = append(secrets, text, strings.ReplaceAll(text, "'", `\u0027`))
		}
		var escaped bytes.Buffer
		if xml.EscapeText(&escaped, plain) == nil {
			secrets = append(secrets, escaped.String())
		}
	}
	slices.Sort(secrets)
	return slices.Compact(secrets)
}

// maskError masks secrets in the texts of an error that come from Windows. Errors raised by
// scripts contain only names.
func maskError(e *ps.Error, secrets []string) {
	if e.Gateway != "" || len(secrets) == 0 {
		return
	}
	e.Message = mask("", e.Message, secrets)
	e.Detail = mask("", e.Detail, secrets)
}

// maskAnswer masks secrets in the messages of an answer.
func maskAnswer(a *answer, secrets []string) {
	if a.failure != nil {
		maskError(a.failure, secrets)
	}
	if a.result != nil {
		for i := range a.result.Failures {
			maskError(&a.result.Failures[i].Error, secrets)
		}
	}
}
