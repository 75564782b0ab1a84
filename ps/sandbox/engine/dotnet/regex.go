package dotnet

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
)

// regex is a compiled expression of the supported dialect. There is no backtracking: the
// matching time is proportional to the product of the text's length and size.
type regex struct {
	re       *regexp.Regexp
	size     int  // instructions of the program
	eol      int  // number of the group that represents '$'; 0 without one
	anchored bool // matches once, at the start
	nullable bool // can match the empty text
}

const (
	maxCachedRegexes = 256
	maxPattern       = 1000    // bytes
	maxRegexWork     = 1 << 28 // instructions of the program times bytes of the text
)

// regexCache caches compiled expressions. It is emptied when it is full.
var regexCache = struct {
	sync.Mutex
	m map[regexKey]*regex
}{m: map[regexKey]*regex{}}

type regexKey struct {
	pattern       string
	caseSensitive bool
}

func compileRegex(pattern string, caseSensitive bool) (*regex, error) {
	key := regexKey{pattern, caseSensitive}
	regexCache.Lock()
	defer regexCache.Unlock()
	if re := regexCache.m[key]; re != nil {
		return re, nil
	}
	re, ok := newRegex(pattern, caseSensitive)
	if !ok {
		return nil, Refuse("the regular expression '%s'", pattern)
	}
	if len(regexCache.m) >= maxCachedRegexes {
		clear(regexCache.m)
	}
	regexCache.m[key] = re
	return re, nil
}

func newRegex(pattern string, caseSensitive bool) (*regex, bool) {
	text, ok := translate(pattern)
	if !ok {
		return nil, false
	}
	flags := syntax.Perl
	if !caseSensitive {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, false
	}
	nullable, ok := canBeEmpty(tree)
	if !ok {
		return nil, false
	}
	foldAsDotNet(tree)
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, false
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, false
	}
	return &regex{
		re: re, size: len(prog.Inst), eol: max(re.SubexpIndex(eolGroup), 0), nullable: nullable,
		anchored: strings.HasPrefix(pattern, "^") && !strings.Contains(pattern, "|"),
	}, true
}

// eolGroup captures the line feed that '$' allows at the end of a text.
const eolGroup = "eol"

// translate converts a .NET pattern to an equivalent one for package regexp. The dialect:
// characters, '.', '^' at the start of an alternative, '$' at the end of the pattern,
// groups, classes, quantifiers, and escapes of punctuation, \t \r \n \xHH \uHHHH and \z.
func translate(pattern string) (string, bool) {
	var out strings.Builder
	inClass, depth := false, 0
	if len(pattern) > maxPattern {
		return "", false
	}
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch c := pattern[i]; {
		case c < ' ', c == 0xED, c >= 0xF0: // a surrogate, or a character outside the basic plane
			return "", false
		case c == '\\':
			text, n := translateEscape(rest, inClass)
			if n == 0 {
				return "", false
			}
			out.WriteString(text)
			i += n - 1
			continue
		case inClass:
			if c == '[' || strings.HasPrefix(rest, "-[") || strings.HasPrefix(rest, "&&") {
				return "", false
			}
			inClass = c != ']'
		case c == '[':
			inClass = true
			if strings.HasPrefix(rest, "[]") || strings.HasPrefix(rest, "[^]") {
				return "", false
			}
		case c == '(':
			if depth++; strings.HasPrefix(rest, "(?") && !strings.HasPrefix(rest, "(?:") {
				return "", false
			}
		case c == ')':
			depth--
		case c == '$':
			out.WriteString(`(?P<` + eolGroup + `>\n?)\z`)
			return out.String(), rest == "$" && depth == 0
		case c == '^' && i > 0 && pattern[i-1] != '|':
			return "", false
		}
		out.WriteByte(pattern[i])
	}
	return out.String(), !inClass
}

// translateEscape translates the escape at the start of s and returns its length, or 0 if it
// is not supported.
func translateEscape(s string, inClass bool) (text string, n int) {
	if len(s) < 2 {
		return "", 0
	}
	c, digits := s[1], 0
	switch c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	}
	switch {
	case digits > 0:
		u, err := strconv.ParseUint(s[2:min(2+digits, len(s))], 16, 16)
		if err != nil || len(s) < 2+digits {
			return "", 0
		}
		return `\x{` + strconv.FormatInt(int64(unitRune(uint16(u))), 16) + `}`, 2 + digits
	case strings.IndexByte(`\.[]{}()*+?^$|-/#@,:;"'=!&%~`+"`", c) >= 0:
		return `\` + s[1:2], 2
	case strings.IndexByte("trn", c) >= 0, c == 'z' && !inClass:
		return s[:2], 2
	}
	return "", 0
}

// canBeEmpty reports whether an expression can match the empty text. ok is false if such an expression is
// repeated, because dialects differ in what its groups capture.
func canBeEmpty(re *syntax.Regexp) (empty, ok bool) {
	all, any := true, false
	for _, sub := range re.Sub {
		e, ok := canBeEmpty(sub)
		if !ok {
			return false, false
		}
		all, any = all && e, any || e
	}
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return re.Op == syntax.OpStar || re.Op == syntax.OpRepeat && re.Min == 0, !any
	case syntax.OpQuest:
		return true, true
	case syntax.OpAlternate:
		return any, true
	case syntax.OpConcat, syntax.OpCapture:
		return all, true
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false, true
	default: // the empty text and assertions
		return true, true
	}
}

// foldAsDotNet removes the long s from expressions that ignore case, because .NET does not treat it as an s.
func foldAsDotNet(re *syntax.Regexp) {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0:
		for _, r := range re.Rune {
			sub := &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: []rune{r}}
			if r == 's' || r == 'S' {
				sub = &syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{'S', 'S', 's', 's'}}
			}
			re.Sub = append(re.Sub, sub)
		}
		re.Op, re.Rune = syntax.OpConcat, nil
	case re.Op == syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] == 'ſ' && re.Rune[i+1] == 'ſ' {
				re.Rune = append(re.Rune[:i:i], re.Rune[i+2:]...)
				return
			}
		}
	default:
		for _, sub := range re.Sub {
			foldAsDotNet(sub)
		}
	}
}

// ---- texts ----

// A .NET regular expression matches UTF-16 units. Surrogates are passed to package regexp as
// characters from halfPlane on. They cannot be confused with characters of the text, because
// characters outside the basic plane are also passed as surrogates.
const halfPlane = 0xF0000

func unitRune(u uint16) rune {
	if u >= 0xD800 && u <= 0xDFFF {
		return halfPlane + rune(u)
	}
	return rune(u)
}

// toUnits returns s with each surrogate as a separate character.
func toUnits(s string) string {
	if !hasPairs(s) {
		return s
	}
	var out strings.Builder
	for _, u := range Units(s) {
		out.WriteRune(unitRune(u))
	}
	return out.String()
}

// fromUnits reverses toUnits.
func fromUnits(s string) string {
	if !hasPairs(s) {
		return s
	}
	var out []byte
	for _, r := range s {
		if r >= halfPlane {
			r -= halfPlane
		}
		out = appendUnit(out, r)
	}
	return string(out)
}

func hasPairs(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == 0xED || s[i] >= 0xF0 {
			return true
		}
	}
	return false
}

// checkWork returns an error if matching s would take too long.
func (re *regex) checkWork(s string) error {
	if re.size*len(s) > maxRegexWork {
		return &LimitError{"work of a regular expression", maxRegexWork}
	}
	return nil
}

// find returns the offsets of up to n matches and their groups in s, which toUnits returned.
// The final line feed that '$' allows is not part of a match.
func (re *regex) find(s string, n int) ([][]int, error) {
	if err := re.checkWork(s); err != nil {
		return nil, err
	}
	matches := re.re.FindAllStringSubmatchIndex(s, n)
	for i, m := range matches {
		if re.eol > 0 && m[2*re.eol] >= 0 {
			m[1] = m[2*re.eol]
		}
		if re.eol > 0 { // the last group
			matches[i] = m[:2*re.eol]
		}
	}
	return matches, nil
}

// ---- operators ----

// Match implements -match, or -notmatch if negate is set. For a text it returns a Boolean, and for a
// collection the items that match. If the left side is no output, so is the result.
func Match(l, r any, caseSensitive, negate bool) (any, error) {
	re, err := compileRegex(ToText(r), caseSensitive)
	if err != nil {
		return nil, err
	}
	if l == AutomationNull {
		return NewArray(), nil
	}
	return filter(l, func(item any) (bool, error) {
		s := toUnits(ToText(item))
		if err := re.checkWork(s); err != nil {
			return false, err
		}
		return re.re.MatchString(s) != negate, nil
	})
}

// Replace implements -replace for a text or the items of a collection. r is a pattern, or a
// pattern and a replacement with $0, $1, ...
func Replace(l, r any, caseSensitive bool) (any, error) {
	if isCollection(l) || l == AutomationNull {
		return nil, Refuse("-replace of anything but one value")
	}
	operands, ok := Enumerate(r)
	if !ok {
		operands = []any{r, ""}
	}
	if len(operands) != 2 {
		return nil, Refuse("-replace with %d operands", len(operands))
	}
	re, err := compileRegex(ToText(operands[0]), caseSensitive)
	if err != nil {
		return nil, err
	}
	if isBlock(operands[1]) || re.nullable {
		return nil, Refuse("-replace of what may be empty, or with a script block")
	}
	with := ToText(operands[1])
	if !isCollection(l) {
		return re.replace(ToText(l), with)
	}
	items, _ := Enumerate(l)
	out := make([]any, len(items))
	for i, item := range items {
		if out[i], err = re.replace(ToText(item), with); err != nil {
			return nil, err
		}
	}
	return &Array{Items: out}, nil
}

func (re *regex) replace(text, with string) (any, error) {
	s := toUnits(text)
	n := -1
	if re.anchored {
		n = 1
	}
	matches, err := re.find(s, n)
	if err != nil || len(matches) == 0 {
		return text, err
	}
	if re.eol > 0 && !re.anchored && strings.HasSuffix(s, "\n") {
		return nil, Refuse("-replace at the end of a text with a line feed there")
	}
	var out strings.Builder
	done := 0
	for _, m := range matches {
		out.WriteString(s[done:m[0]])
		if !expand(&out, with, s, m) {
			return nil, Refuse("the replacement '%s'", with)
		}
		if done = m[1]; out.Len() > MaxStringLength {
			return nil, &LimitError{"string length", MaxStringLength}
		}
	}
	out.WriteString(s[done:])
	return fromUnits(out.String()), nil
}

// expand writes a replacement. $ followed by one digit is a group; other uses of $ are not supported.
func expand(out *strings.Builder, with, s string, m []int) bool {
	for {
		plain, rest, found := strings.Cut(with, "$")
		out.WriteString(toUnits(plain))
		if !found {
			return true
		}
		if rest == "" || rest[0] < '0' || rest[0] > '9' || len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9' {
			return false
		}
		group := 2 * int(rest[0]-'0')
		if group >= len(m) {
			return false
		}
		if m[group] >= 0 {
			out.WriteString(s[m[group]:m[group+1]])
		}
		with = rest[1:]
	}
}
