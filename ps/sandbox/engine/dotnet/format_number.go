package dotnet

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// formatNumber is ToString(format) of a number: a standard format (D3, N2, X) or
// a picture (0.00, #,##0).
func formatNumber(v any, spec string) (string, error) {
	letter, precision, standard := standardFormat(spec)
	if !standard {
		return formatPicture(v, spec)
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return formatFloat(f, 64), nil
	}
	if precision > 1_000_000 {
		return "", &LimitError{"string length", MaxStringLength}
	}
	isWhole := rank(v) < numDecimal
	switch letter {
	case 'D':
		if !isWhole {
			return "", badSpecifier()
		}
		return formatD(v, precision), nil
	case 'X', 'B':
		if !isWhole {
			return "", badSpecifier()
		}
		return formatX(v, precision, spec[0]), nil
	case 'F', 'N', 'C', 'P':
		return formatFixed(v, letter, precision), nil
	case 'E':
		if precision < 0 {
			precision = 6
		}
		return formatE(v, precision, spec[0]), nil
	case 'R':
		return Text(v), nil
	default: // G
		return formatG(v, precision, spec[0]), nil
	}
}

// standardFormat reads a letter with an optional precision; -1: none given.
func standardFormat(spec string) (letter byte, precision int, ok bool) {
	letter = spec[0] &^ 0x20
	if !strings.ContainsRune("DXBFNCPEGR", rune(letter)) || spec[0] < 'A' {
		return 0, 0, false
	}
	if len(spec) == 1 {
		return letter, -1, true
	}
	if strings.Trim(spec[1:], "0123456789") != "" || len(spec) > 10 {
		return 0, 0, false
	}
	precision, _ = strconv.Atoi(spec[1:]) // digits only
	return letter, precision, true
}

func formatD(v any, precision int) string {
	s := Text(v)
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	if len(s) < precision {
		s = strings.Repeat("0", precision-len(s)) + s
	}
	return sign + s
}

func formatX(v any, precision int, letter byte) string {
	bits := map[*Type]uint{TByte: 8, TSByte: 8, TInt16: 16, TUInt16: 16, TInt32: 32, TUInt32: 32}[TypeOf(v)]
	n, _ := asBig(v)
	if n.Sign() < 0 {
		if bits == 0 {
			bits = 64
		}
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), bits))
	}
	numberBase := 16
	if letter&^0x20 == 'B' {
		numberBase = 2
	}
	s := n.Text(numberBase)
	if letter == 'X' {
		s = strings.ToUpper(s)
	}
	if len(s) < precision {
		s = strings.Repeat("0", precision-len(s)) + s
	}
	return s
}

// digitsOf writes a number with a fixed count of decimals, rounding half away
// from zero as .NET formats do, without sign.
func digitsOf(v any, decimals int) (negative bool, whole, fraction string) {
	var s string
	switch x := v.(type) {
	case float64:
		s = floatDigits(x, decimals)
	case float32:
		s = floatDigits(float64(x), decimals)
	case Decimal:
		s = x.round(decimals, true).String()
	default:
		s = Text(v)
	}
	s, negative = strings.TrimPrefix(s, "-"), strings.HasPrefix(s, "-")
	whole, fraction, _ = strings.Cut(s, ".")
	if len(fraction) < decimals {
		fraction += strings.Repeat("0", decimals-len(fraction))
	}
	if strings.Trim(whole+fraction, "0") == "" {
		negative = negative && isFloat(v)
	}
	return negative, whole, fraction
}

func isFloat(v any) bool { return rank(v) == numDouble }

// floatDigits rounds the exact value half away from zero.
func floatDigits(f float64, decimals int) string {
	if decimals > 1100 {
		return strconv.FormatFloat(f, 'f', 1100, 64)
	}
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(math.Abs(f), 'f', -1, 64))
	if r == nil {
		r = new(big.Rat)
	}
	// .NET rounds the exact binary value; a tie goes away from zero.
	exact := new(big.Rat).SetFloat64(math.Abs(f))
	if exact != nil {
		r = exact
	}
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(pow10(decimals)))
	scaled.Add(scaled, big.NewRat(1, 2))
	n := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	digits := n.String()
	if len(digits) <= decimals {
		digits = strings.Repeat("0", decimals-len(digits)+1) + digits
	}
	if decimals > 0 {
		digits = digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
	}
	if math.Signbit(f) {
		return "-" + digits
	}
	return digits
}

func formatFixed(v any, letter byte, precision int) string {
	if precision < 0 {
		precision = 2
	}
	if letter == 'P' {
		v = timesHundred(v)
	}
	negative, whole, fraction := digitsOf(v, precision)
	if letter != 'F' {
		whole = group(whole)
	}
	s := whole
	if precision > 0 {
		s += "." + fraction
	}
	switch letter {
	case 'C':
		s = "¤" + s
		if negative {
			return "(" + s + ")"
		}
	case 'P':
		s += " %"
	}
	if negative {
		return "-" + s
	}
	return s
}

func timesHundred(v any) any {
	if isFloat(v) {
		return asFloat(v) * 100
	}
	d, _ := asDecimal(v)
	r, _ := d.mul(DecimalFromInt(100))
	return r
}

func group(digits string) string {
	if len(digits) <= 3 {
		return digits
	}
	var b strings.Builder
	head := len(digits) % 3
	b.WriteString(digits[:head])
	for i := head; i < len(digits); i += 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(digits[i : i+3])
	}
	return b.String()
}

func formatE(v any, precision int, letter byte) string {
	s := strconv.FormatFloat(asFloat(v), 'e', precision, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	return fmt.Sprintf("%s%c%+04d", mantissa, letter, n)
}

func formatG(v any, precision int, letter byte) string {
	if precision <= 0 {
		s := Text(v)
		if letter == 'g' {
			s = strings.ToLower(s)
		}
		return s
	}
	s := strconv.FormatFloat(asFloat(v), 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	if n >= precision || n < -4 {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return fmt.Sprintf("%s%c%+03d", mantissa, letter-'G'+'E', n)
	}
	fixed := strconv.FormatFloat(asFloat(v), 'f', max(precision-1-n, 0), 64)
	if strings.Contains(fixed, ".") {
		fixed = strings.TrimRight(strings.TrimRight(fixed, "0"), ".")
	}
	return fixed
}

// picture is one section of a custom format.
type picture struct {
	prefix, suffix      string
	wholeMin, wholeMax  int // zeros, and all places, before the point
	fractionMin, places int
	grouped             bool
	scale               int // powers of ten: percent adds, commas at the end take away
}

func formatPicture(v any, spec string) (string, error) {
	sections := splitSections(spec)
	negative := asFloat(v) < 0
	section := sections[0]
	switch {
	case negative && len(sections) > 1 && sections[1] != "":
		section, negative = sections[1], false
		v = absolute(v)
	case asFloat(v) == 0 && len(sections) > 2:
		section = sections[2]
	default:
		v = absolute(v)
	}
	p := readPicture(section)
	if p.scale != 0 {
		d, ok := asDecimal(v)
		if ok {
			d, ok = newDecimal(d.mantissa(), int(d.scale)-p.scale)
		}
		if ok {
			v = d
		} else {
			v = asFloat(v) * math.Pow10(p.scale)
		}
	}
	_, whole, fraction := digitsOf(v, p.places)
	whole = strings.TrimLeft(whole, "0")
	if p.wholeMin == 0 && p.wholeMax == 0 && p.places == 0 && p.prefix+p.suffix != "" && !strings.ContainsAny(section, "0#") {
		whole, fraction = "", ""
	}
	if len(whole) < p.wholeMin {
		whole = strings.Repeat("0", p.wholeMin-len(whole)) + whole
	}
	if p.grouped {
		whole = group(whole)
	}
	end := len(fraction)
	for end > p.fractionMin && fraction[end-1] == '0' {
		end--
	}
	s := whole
	if end > 0 {
		s += "." + fraction[:end]
	}
	s = p.prefix + s + p.suffix
	if negative && strings.Trim(whole+fraction, "0,") != "" {
		s = "-" + s
	}
	return s, nil
}

func absolute(v any) any {
	if asFloat(v) >= 0 {
		return v
	}
	if isFloat(v) {
		return math.Abs(asFloat(v))
	}
	d, _ := asDecimal(v)
	return d.neg()
}

func splitSections(spec string) []string {
	var out []string
	quote, start := byte(0), 0
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case c == ';':
			out = append(out, spec[start:i])
			start = i + 1
		}
	}
	return append(out, spec[start:])
}

func readPicture(section string) picture {
	var p picture
	var literal strings.Builder
	seenDigit, afterPoint := false, false
	zeroSeen := false
	commas := 0
	digit := func(zero bool) {
		if !seenDigit {
			p.prefix = literal.String()
			literal.Reset()
			seenDigit = true
		}
		if commas > 0 && !afterPoint {
			p.grouped = true
		}
		commas = 0
		if afterPoint {
			p.places++
			if zero {
				p.fractionMin = p.places
			}
			return
		}
		p.wholeMax++
		if zero {
			zeroSeen = true
		}
		if zeroSeen {
			p.wholeMin++
		}
	}
	for i := 0; i < len(section); i++ {
		switch c := section[i]; c {
		case '0', '#':
			digit(c == '0')
		case '.':
			p.scale -= 3 * commas
			commas = 0
			afterPoint = true
			if !seenDigit {
				p.prefix = literal.String()
				literal.Reset()
				seenDigit = true
			}
		case ',':
			commas++
		case '%':
			p.scale += 2
			literal.WriteByte(c)
		case '\\':
			if i+1 < len(section) {
				i++
				literal.WriteByte(section[i])
			}
		case '\'', '"':
			end := strings.IndexByte(section[i+1:], c)
			if end < 0 {
				end = len(section) - i - 1
			}
			literal.WriteString(section[i+1 : i+1+end])
			i += end + 1
		default:
			literal.WriteByte(c)
		}
	}
	if !afterPoint {
		p.scale -= 3 * commas
	}
	if seenDigit {
		p.suffix = literal.String()
	} else {
		p.prefix = literal.String()
	}
	return p
}
