// Package nearest suggests known names for an unknown one.
package nearest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is the maximum length of names that are compared, to limit the cost.
const longest = 64

// shortest is the minimum length of a name that counts as part of another one.
const shortest = 4

// Of returns the known name that was probably meant by another one, or "" if none is close. Of
// several equally close names it returns the first. Case and separators are ignored.
func Of(name string, known []string) string {
	best, least := "", 0
	given := read(name)
	for _, candidate := range known {
		if d, near := given.apart(read(candidate)); near && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	return best
}

// Apart returns the difference between a name and a known one, and whether the known name was probably meant.
// The steps are mistyped letters, or words that were left out, added or moved.
func Apart(name, known string) (steps int, near bool) { return read(name).apart(read(known)) }

// text is a name in the form for comparison.
type text struct {
	letters []rune   // in lower case, without separators
	words   []string // its parts, split at separators and upper-case letters
}

func read(name string) text {
	if len(name) > longest {
		name = name[:longest]
	}
	var t text
	word := ""
	end := func() {
		if word != "" {
			t.words = append(t.words, word)
			t.letters = append(t.letters, []rune(word)...)
		}
		word = ""
	}
	before := rune(0)
	for _, r := range strings.ToValidUTF8(name, "") {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(before):
			end()
			word = string(unicode.ToLower(r))
		default:
			word += string(unicode.ToLower(r))
		}
		before = r
	}
	end()
	return t
}

func (t text) apart(known text) (steps int, near bool) {
	consider := func(n int, ok bool) {
		if ok && (!near || n < steps) {
			steps, near = n, true
		}
	}
	consider(mistyped(t.letters, known.letters))
	consider(t.lacks(known))
	consider(known.lacks(t))
	consider(part(string(t.letters), string(known.letters)))
	consider(part(string(known.letters), string(t.letters)))
	return steps, near
}

// mistyped compares letters. One letter in four may be wrong, but at least one in total.
func mistyped(a, b []rune) (steps int, near bool) {
	d := distance(a, b)
	shorter := min(len(a), len(b))
	return d, d < shorter && d <= max(1, shorter/4)
}

// lacks compares words. All words of text must be in known, which may have further words.
func (t text) lacks(known text) (steps int, near bool) {
	left := append([]string(nil), known.words...)
	shared, moved := 0, false
	last := -1
	for _, word := range t.words {
		at := -1
		for i, other := range left {
			if other != "" && alike(word, other) {
				at = i
				break
			}
		}
		if at < 0 {
			return 0, false
		}
		moved = moved || at < last
		shared += utf8.RuneCountInString(left[at])
		left[at], last = "", at
	}
	steps = len(known.words) - len(t.words)
	if moved {
		steps++
	}
	return max(1, steps), shared >= shortest || len(t.words) == len(known.words) && len(t.words) > 0
}

// alike reports whether two words are the same except for a plural, or for one letter in a long
// word.
func alike(a, b string) bool {
	if strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") {
		return true
	}
	return min(len(a), len(b)) > shortest && distance([]rune(a), []rune(b)) <= 1
}

// part reports whether a name, or its singular, is a part of another one, of at least a quarter of its
// length, regardless of words.
func part(name, known string) (steps int, near bool) {
	if !strings.Contains(known, name) {
		name = strings.TrimSuffix(name, "s")
	}
	rest := len(known) - len(name)
	return 1 + rest/2, len(name) >= shortest && 4*len(name) >= len(known) && strings.Contains(known, name)
}

// distance returns the number of letters that must be added, removed, replaced or swapped with
// their neighbor to turn one name into the other.
func distance(a, b []rune) int {
	older, before, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range before {
		before[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(before[j+1]+1, row[j]+1, before[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, before, row = before, row, older
	}
	return before[len(b)]
}
