package dotnet

import "strings"

// Like is the wildcard match of -like, switch -Wildcard and cmdlet parameters:
// * ? [a-z] and the backtick as escape. It takes time proportional to the
// lengths of text and pattern, multiplied.
func Like(text, pattern string, caseSensitive bool) bool {
	return CompileWildcard(pattern, caseSensitive).Match(text)
}

// Wildcard is a compiled pattern; it is safe for concurrent use.
type Wildcard struct {
	items []wildcardItem
	fold  bool
	plain string // what stands before the first wildcard, when it is ASCII
	exact bool   // plain is the whole pattern
	bad   string // the pattern, when a class of it is none
}

type wildcardItem struct {
	kind   byte // 'c' one character, '?', '*', '[' a class
	char   rune
	ranges [][2]rune
}

// CompileWildcard reads a pattern. A class that is none, of which [Wildcard.Err]
// tells, matches its text literally.
func CompileWildcard(pattern string, caseSensitive bool) *Wildcard {
	w := &Wildcard{fold: !caseSensitive}
	if !strings.ContainsAny(pattern, "*?[`") {
		w.exact, w.plain = true, pattern
		return w
	}
	if head := pattern[:strings.IndexAny(pattern, "*?[`")]; isASCII(head) {
		w.plain = head
	}
	runes := make([]rune, 0, len(pattern))
	for s := pattern; len(s) > 0; {
		r, n := decode(s)
		runes, s = append(runes, r), s[n:]
	}
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '`':
			if i+1 < len(runes) {
				i++
			}
			w.items = append(w.items, wildcardItem{kind: 'c', char: w.norm(runes[i])})
		case '*':
			if n := len(w.items); n == 0 || w.items[n-1].kind != '*' {
				w.items = append(w.items, wildcardItem{kind: '*'})
			}
		case '?':
			w.items = append(w.items, wildcardItem{kind: '?'})
		case '[':
			item, next := w.class(runes, i)
			if w.items = append(w.items, item); item.kind != '[' {
				w.bad = pattern
			}
			i = next
		default:
			w.items = append(w.items, wildcardItem{kind: 'c', char: w.norm(r)})
		}
	}
	return w
}

// Err is the error of -like and switch -Wildcard for a pattern that is none.
func (w *Wildcard) Err() error {
	if w.bad == "" {
		return nil
	}
	return typedError(Lookup(automation+"WildcardPatternException"), "WildcardPattern_Invalid", InvalidArgument, nil,
		"The specified wildcard character pattern is not valid: %s", w.bad)
}

func (w *Wildcard) norm(r rune) rune {
	if w.fold {
		return upper(r)
	}
	return r
}

// class reads [...] at i and gives the index of its last character.
func (w *Wildcard) class(runes []rune, i int) (wildcardItem, int) {
	item := wildcardItem{kind: '['}
	var chars []rune
	var escaped []bool
	end := i + 1
	for ; end < len(runes) && (runes[end] != ']' || end == i+1); end++ {
		esc := runes[end] == '`' && end+1 < len(runes)
		if esc {
			end++
		}
		chars, escaped = append(chars, runes[end]), append(escaped, esc)
	}
	if end >= len(runes) {
		return wildcardItem{kind: 'c', char: '['}, i
	}
	for k := 0; k < len(chars); k++ {
		from, to := chars[k], chars[k]
		if k+2 < len(chars) && chars[k+1] == '-' && !escaped[k+1] {
			to = chars[k+2]
			k += 2
		}
		if from > to {
			return wildcardItem{kind: 'c', char: '['}, i
		}
		item.ranges = append(item.ranges, [2]rune{from, to})
	}
	return item, end
}

func (item *wildcardItem) matches(w *Wildcard, r rune) bool {
	switch item.kind {
	case '?':
		return true
	case 'c':
		return w.norm(r) == item.char
	default:
		for _, span := range item.ranges {
			if r >= span[0] && r <= span[1] {
				return true
			}
			if w.fold {
				if u, l := upper(r), lower(r); u >= span[0] && u <= span[1] || l >= span[0] && l <= span[1] {
					return true
				}
			}
		}
		return false
	}
}

// Match tells whether the whole text fits the pattern.
func (w *Wildcard) Match(text string) bool {
	if w.exact {
		if w.fold {
			return EqualFold(text, w.plain)
		}
		return text == w.plain
	}
	if !w.begins(text) {
		return false
	}
	at, item := 0, 0
	star, mark := -1, 0
	for at < len(text) {
		r, n := decode(text[at:])
		switch {
		case item < len(w.items) && w.items[item].kind == '*':
			star, mark = item, at
			item++
		case item < len(w.items) && w.items[item].matches(w, r):
			item++
			at += n
		case star >= 0:
			_, skip := decode(text[mark:])
			mark += skip
			at, item = mark, star+1
		default:
			return false
		}
	}
	for item < len(w.items) && w.items[item].kind == '*' {
		item++
	}
	return item == len(w.items)
}

// begins tells whether a text begins as the pattern does, before the first wildcard.
func (w *Wildcard) begins(text string) bool {
	if len(text) < len(w.plain) {
		return false
	}
	if text = text[:len(w.plain)]; w.fold {
		return EqualFold(text, w.plain)
	}
	return text == w.plain
}

// EscapeWildcard is [WildcardPattern]::Escape.
func EscapeWildcard(s string) string {
	return strings.NewReplacer("`", "``", "*", "`*", "?", "`?", "[", "`[", "]", "`]").Replace(s)
}

// HasWildcard tells whether the text has wildcard characters that are not escaped.
func HasWildcard(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '`':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

func likeOperator(cs, negate bool) BinaryFunc {
	return func(l, r any) (any, error) {
		w := CompileWildcard(ToText(r), cs)
		if err := w.Err(); err != nil {
			return nil, err
		}
		return filter(l, func(item any) (bool, error) { return w.Match(ToText(item)) != negate, nil })
	}
}
