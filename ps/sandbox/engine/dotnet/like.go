package dotnet

import "strings"

// Like reports whether text matches a wildcard pattern of * and ?, with the backtick as escape. The time is
// at most proportional to the product of both lengths.
func Like(text, pattern string, caseSensitive bool) bool {
	return CompileWildcard(pattern, caseSensitive).Match(text)
}

// Wildcard is a compiled pattern. It is safe for concurrent use.
type Wildcard struct {
	items []wildcardItem
	fold  bool
	plain string // text before the first wildcard, if it is ASCII
	exact bool   // plain is the whole pattern
	class bool   // the pattern contains a class
}

type wildcardItem struct {
	kind byte // 'c' one character, '?', '*'
	char rune
}

// CompileWildcard compiles a pattern; see [Wildcard.Err].
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
			w.class = true
		default:
			w.items = append(w.items, wildcardItem{kind: 'c', char: w.norm(r)})
		}
	}
	return w
}

// Err refuses a pattern with a class, which [Wildcard.Match] ignores.
func (w *Wildcard) Err() error {
	if !w.class {
		return nil
	}
	return Refuse("a wildcard pattern with [...]")
}

func (w *Wildcard) norm(r rune) rune {
	if w.fold {
		return upper(r)
	}
	return r
}

func (item *wildcardItem) matches(w *Wildcard, r rune) bool {
	return item.kind == '?' || w.norm(r) == item.char
}

// Match reports whether the pattern matches the whole text.
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

// begins reports whether a text starts with the part of the pattern before its first wildcard.
func (w *Wildcard) begins(text string) bool {
	if len(text) < len(w.plain) {
		return false
	}
	if text = text[:len(w.plain)]; w.fold {
		return EqualFold(text, w.plain)
	}
	return text == w.plain
}

func likeOperator(cs bool) BinaryFunc {
	return func(l, r any) (any, error) {
		w := CompileWildcard(ToText(r), cs)
		if err := w.Err(); err != nil {
			return nil, err
		}
		if l == AutomationNull {
			return NewArray(), nil
		}
		return filter(l, func(item any) (bool, error) { return w.Match(ToText(item)), nil })
	}
}
