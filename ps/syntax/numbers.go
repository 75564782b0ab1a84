package syntax

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// number reads a number; its first character, maybe a sign, has been taken. What
// looks like one at first, 7zip say, is a word.
func (l *lexer) number(first rune) token {
	n, ok := l.numberParts(first)
	if !ok {
		return l.wordFromStart()
	}
	if n.only7 {
		l.p.outsideStop(l.source(l.start), "the number "+l.raw(), "write a cast, [byte]5 or [uint32]5, or quotes for text: Windows PowerShell knows only the suffixes L and D")
	}
	value := n.value()
	if value == nil {
		if l.mode != modeExpression {
			return l.wordFromStart()
		}
		l.p.lexError(l.source(l.at), false, "BadNumericConstant", l.raw())
	}
	t := l.token(tNumber)
	t.num = value
	return t
}

// numeral is a number literal taken apart.
type numeral struct {
	negative bool
	digits   string // without sign and 0x
	hex      bool
	real     bool // has a point or an exponent
	suffix   byte // 'l', 'd' or 0
	only7    bool // a form Windows PowerShell does not know
	times    int64
}

func (l *lexer) numberParts(c rune) (numeral, bool) {
	n := numeral{times: 1}
	if isDash(c) || c == '+' {
		n.negative = c != '+'
		c = l.next()
	}
	from := l.at - 1
	ok := true
	switch next := l.peek(); {
	case c == '.':
		n.real = true
		ok = l.afterPoint()
	case c == '0' && (next == 'x' || next == 'X'):
		l.at++
		from = l.at
		l.skip(isHexDigit)
		n.hex, ok = true, l.at > from
	case c == '0' && (next == 'b' || next == 'B'):
		l.at++
		from = l.at
		l.skip(func(c rune) bool { return c == '0' || c == '1' })
		n.only7, ok = true, l.at > from
	default:
		n.real, ok = l.afterDigits()
	}
	n.digits = l.text[from:l.at]
	return n, l.numberEnd(&n) && ok
}

func (l *lexer) skip(is func(rune) bool) int {
	n := 0
	for is(l.peek()) {
		l.next()
		n++
	}
	return n
}

// afterDigits reads on behind the first digit.
func (l *lexer) afterDigits() (real, ok bool) {
	l.skip(isDigit)
	switch l.peek() {
	case '.':
		if strings.HasPrefix(l.text[l.at:], "..") {
			return false, true // a range
		}
		l.at++
		return true, l.afterPoint()
	case 'e', 'E':
		l.at++
		return true, l.exponent()
	}
	return false, true
}

func (l *lexer) afterPoint() bool {
	l.skip(isDigit)
	if c := l.peek(); c == 'e' || c == 'E' {
		l.at++
		return l.exponent()
	}
	return true
}

func (l *lexer) exponent() bool {
	if c := l.peek(); c == '+' || isDash(c) {
		l.next()
	}
	return l.skip(isDigit) > 0
}

// numberEnd reads suffix and multiplier and tells whether the number ends there.
func (l *lexer) numberEnd(n *numeral) bool {
	ok := true
	from := l.at
	l.skip(func(c rune) bool { return c >= 'A' && c <= 'z' && strings.ContainsRune("usldyn", c|0x20) })
	switch suffix := strings.ToLower(l.text[from:l.at]); suffix {
	case "":
	case "l", "d":
		n.suffix = suffix[0]
	case "u", "s", "y", "n", "ul", "us", "uy":
		n.only7 = true
	default:
		ok = false
	}
	if i := strings.IndexRune("kmgtp", l.peek()|0x20); l.peek() > 0 && i >= 0 {
		l.at++
		n.times = 1 << (10 * (i + 1))
		if c := l.peek(); c == 'b' || c == 'B' {
			l.at++
		} else {
			ok = false
		}
	}
	c := l.peek()
	return ok && (endsToken(c) || l.mode == modeExpression && endsNumber(c))
}

// value computes the number; nil when it fits no type.
func (n numeral) value() any {
	digits := n.digits
	if !n.hex { // an odd dash in the exponent counts as a minus
		digits = strings.Map(func(c rune) rune {
			if isDash(c) {
				return '-'
			}
			return c
		}, digits)
	}
	switch {
	case n.suffix == 'd' && !n.hex:
		return n.decimal(digits)
	case n.real:
		return n.float(digits)
	}
	base := 10
	if n.hex {
		base = 16
	}
	if len(digits) > 400 {
		if n.hex {
			return nil
		}
		return n.float(digits)
	}
	v, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil
	}
	long := n.suffix == 'l'
	if n.hex {
		// Eight digits are an Int32 with its sign bit, sixteen an Int64.
		switch {
		case len(digits) == 8 && !long:
			v.SetInt64(int64(int32(v.Uint64())))
		case len(digits) == 16:
			v.SetInt64(int64(v.Uint64()))
			long = true
		}
	}
	if n.negative {
		v.Neg(v)
	}
	v.Mul(v, big.NewInt(n.times))
	switch {
	case !v.IsInt64() && (n.hex || long):
		return nil
	case !v.IsInt64():
		if d := decimalOf(v, 0); d != nil {
			return d
		}
		return n.float(digits)
	case long || int64(int32(v.Int64())) != v.Int64():
		return v.Int64()
	}
	return int32(v.Int64())
}

func (n numeral) float(digits string) any {
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil
	}
	if n.negative {
		f = -f
	}
	f *= float64(n.times)
	if n.suffix != 'l' {
		return f
	}
	if r := math.RoundToEven(f); r >= -1<<63 && r < 1<<63 {
		return int64(r)
	}
	return nil
}

// decimal reads digits with a point and an exponent as a System.Decimal.
func (n numeral) decimal(digits string) any {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e := 0
	if exponent != "" {
		var err error
		if e, err = strconv.Atoi(strings.TrimPrefix(exponent, "+")); err != nil || e < -1000 || e > 1000 {
			return nil
		}
	}
	if len(whole)+len(fraction) > 1000 {
		return nil
	}
	v, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil
	}
	if n.negative {
		v.Neg(v)
	}
	v.Mul(v, big.NewInt(n.times))
	return decimalOf(v, len(fraction)-e)
}

// maxDecimal is the first whole number beyond System.Decimal.
var maxDecimal = new(big.Int).Lsh(big.NewInt(1), 96)

// decimalOf makes a Decimal of v with scale digits after the point, rounded to
// even where that is more than the type holds; nil when it does not fit.
func decimalOf(v *big.Int, scale int) any {
	ten := big.NewInt(10)
	v = new(big.Int).Set(v)
	for ; scale < 0; scale++ {
		v.Mul(v, ten)
	}
	for drop := 1; ; drop++ {
		r := v
		if drop > 1 {
			r = roundedQuotient(v, new(big.Int).Exp(ten, big.NewInt(int64(drop-1)), nil))
		}
		left := scale - drop + 1
		if left < 0 {
			return nil
		}
		if left <= 28 && r.CmpAbs(maxDecimal) < 0 {
			return plainDecimal(r, left)
		}
	}
}

// roundedQuotient divides and rounds half to even.
func roundedQuotient(v, by *big.Int) *big.Int {
	q, rest := new(big.Int).QuoRem(v, by, new(big.Int))
	twice := new(big.Int).Lsh(new(big.Int).Abs(rest), 1)
	if c := twice.Cmp(by); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(v.Sign())))
	}
	return q
}

func plainDecimal(v *big.Int, scale int) Decimal {
	text := new(big.Int).Abs(v).String()
	if len(text) <= scale {
		text = strings.Repeat("0", scale-len(text)+1) + text
	}
	if scale > 0 {
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	if v.Sign() < 0 {
		text = "-" + text
	}
	return Decimal(text)
}
