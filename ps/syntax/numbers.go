package syntax

import (
	"math"
	"strconv"
	"strings"
)

// number reads a decimal or hexadecimal whole number. Its first character, which may be a minus sign, has
// already been consumed. In an argument, text that only starts like a number, such as 30d, is a word.
func (l *lexer) number(first rune) token {
	negative := isDash(first)
	from, digits, base := l.start, isDigit, 10
	if negative {
		from = l.at
		first = l.next()
	}
	if first == '0' && (l.peek() == 'x' || l.peek() == 'X') {
		l.at++
		from, digits, base = l.at, isHexDigit, 16
	}
	for digits(l.peek()) {
		l.next()
	}
	end := l.at
	if c := l.peek(); end == from || !endsToken(c) &&
		!(l.mode == modeExpression && endsNumber(c) && (c != '.' || strings.HasPrefix(l.text[l.at:], ".."))) {
		if l.mode == modeCommand {
			return l.wordFromStart()
		}
		for c := l.peek(); isIdentPart(c) || c == '.' && digits(rune(l.text[l.at-1])); c = l.peek() {
			l.next()
		}
		l.p.outsideStop(l.start, "the number "+l.raw(), "write a whole number, decimal or with 0x")
	}
	t := l.token(tNumber)
	if t.num = wholeNumber(l.text[from:end], base, negative); t.num == nil {
		l.p.outsideStop(l.start, "the number "+l.raw(), "write one that fits an Int64")
	}
	return t
}

// wholeNumber returns an int32 or, if the number does not fit, an int64. It returns nil if the number does
// not fit into an int64 either. Eight hexadecimal digits are an Int32 including its sign bit.
func wholeNumber(digits string, base int, negative bool) any {
	v, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		return nil
	}
	if base == 16 && len(digits) == 8 {
		v = int64(int32(v))
	}
	if negative {
		v = -v
	}
	if v < math.MinInt32 || v > math.MaxInt32 {
		return v
	}
	return int32(v)
}
