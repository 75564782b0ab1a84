package dotnet

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// numeric orders the number types by the ladder of promotion.
type numeric uint8

const (
	notNumber numeric = iota
	numInt            // fits Int32: byte, sbyte, int16, uint16, int32, char and bool where allowed
	numUint
	numLong
	numUlong
	numDecimal
	numDouble // also Single
)

// rank tells where a value stands on the ladder.
func rank(v any) numeric {
	switch v.(type) {
	case int32, uint8, int8, int16, uint16:
		return numInt
	case uint32:
		return numUint
	case int64:
		return numLong
	case uint64:
		return numUlong
	case Decimal:
		return numDecimal
	case float64, float32:
		return numDouble
	default:
		return notNumber
	}
}

// asInt64 reads any whole number up to Int64.
func asInt64(v any) (int64, bool) {
	switch n := v.(type) {
	case int32:
		return int64(n), true
	case int64:
		return n, true
	case uint8:
		return int64(n), true
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case uint16:
		return int64(n), true
	case uint32:
		return int64(n), true
	case uint64:
		return int64(n), n <= math.MaxInt64
	case Char:
		return int64(n), true
	case Enum:
		return n.Value, true
	case bool:
		if n {
			return 1, true
		}
		return 0, true
	default:
		return 0, false
	}
}

// asFloat reads any number.
func asFloat(v any) float64 {
	switch n := v.(type) {
	case float64:
		return n
	case float32:
		return float64(n)
	case Decimal:
		return n.Float()
	case uint64:
		return float64(n)
	default:
		i, _ := asInt64(v)
		return float64(i)
	}
}

// asDecimal reads any number; ok is false for a double out of range.
func asDecimal(v any) (Decimal, bool) {
	switch n := v.(type) {
	case Decimal:
		return n, true
	case float64:
		return decimalFromFloat(n, 15)
	case float32:
		return decimalFromFloat(float64(n), 7)
	case uint64:
		return decimalFromUint(n), true
	default:
		i, ok := asInt64(v)
		return DecimalFromInt(i), ok
	}
}

// asBig reads any number as a whole one, half to even; ok is false for NaN and infinities.
func asBig(v any) (*big.Int, bool) {
	switch n := v.(type) {
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, false
		}
		i, _ := big.NewFloat(math.RoundToEven(n)).Int(nil)
		return i, true
	case float32:
		return asBig(float64(n))
	case Decimal:
		return n.integer(), true
	case uint64:
		return new(big.Int).SetUint64(n), true
	default:
		i, ok := asInt64(v)
		return big.NewInt(i), ok
	}
}

// fitInt makes a whole number of the type; ok is false when it does not fit.
func fitInt(n *big.Int, t *Type) (any, bool) {
	if !n.IsInt64() {
		if t == TUInt64 && n.IsUint64() {
			return n.Uint64(), true
		}
		return nil, false
	}
	return fitInt64(n.Int64(), t)
}

func fitInt64(i int64, t *Type) (any, bool) {
	switch t {
	case TInt32:
		return int32(i), i == int64(int32(i))
	case TInt64:
		return i, true
	case TByte:
		return uint8(i), i == int64(uint8(i))
	case TSByte:
		return int8(i), i == int64(int8(i))
	case TInt16:
		return int16(i), i == int64(int16(i))
	case TUInt16:
		return uint16(i), i == int64(uint16(i))
	case TUInt32:
		return uint32(i), i == int64(uint32(i))
	case TUInt64:
		return uint64(i), i >= 0
	case TChar:
		return Char(i), i == int64(Char(i))
	default:
		return nil, false
	}
}

func isIntegerType(t *Type) bool {
	switch t {
	case TInt32, TInt64, TByte, TSByte, TInt16, TUInt16, TUInt32, TUInt64:
		return true
	}
	return false
}

func isNumberType(t *Type) bool {
	return isIntegerType(t) || t == TDouble || t == TSingle || t == TDecimal
}

// narrow gives the first of int, long, decimal, double that holds n.
func narrow(n *big.Int) any {
	if n.IsInt64() {
		if i := n.Int64(); i == int64(int32(i)) {
			return int32(i)
		}
		return n.Int64()
	}
	if d, ok := newDecimal(n, 0); ok {
		return d
	}
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

var multipliers = map[string]int64{"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}

var suffixTypes = map[string]**Type{
	"l": &TInt64, "u": &TUInt32, "ul": &TUInt64, "y": &TSByte, "uy": &TByte, "s": &TInt16, "us": &TUInt16, "d": &TDecimal,
}

// ParseNumber reads a number as PowerShell does in a literal, or in a string in
// arithmetic: 12, 0x1F, 1kb, 1.5, 1e3, 5L, 10d, with an optional sign.
func ParseNumber(text string) (any, bool) {
	s := strings.ToLower(strings.TrimSpace(text))
	if s == "" || len(s) > 512 {
		return nil, false
	}
	negative := s[0] == '-'
	if s[0] == '-' || s[0] == '+' {
		s = strings.TrimLeft(s[1:], " ")
	}
	multiplier := int64(1)
	if len(s) > 2 {
		if m := multipliers[s[len(s)-2:]]; m != 0 {
			multiplier, s = m, s[:len(s)-2]
		}
	}
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		return parseHex(hex, negative, multiplier)
	}
	end := strings.TrimRight(s, "ulysd")
	suffix := s[len(end):]
	if end == "" || strings.Trim(end, "0123456789.e+-") != "" || end[0] == '+' || end[0] == '-' || end[0] == 'e' {
		return nil, false
	}
	if suffix != "" && suffixTypes[suffix] == nil {
		return nil, false
	}
	if strings.ContainsAny(end, ".e") {
		return parseReal(end, suffix, negative, multiplier)
	}
	n, ok := new(big.Int).SetString(end, 10)
	if !ok {
		return nil, false
	}
	return finishInt(n, suffix, negative, multiplier)
}

func parseHex(digits string, negative bool, multiplier int64) (any, bool) {
	end := strings.TrimRight(digits, "ulys")
	suffix := digits[len(end):]
	if suffix != "" && suffixTypes[suffix] == nil || end == "" || strings.Trim(end, "0123456789abcdef") != "" {
		return nil, false
	}
	n, _ := new(big.Int).SetString(end, 16) // hexadecimal digits only
	if suffix == "" {                       // the sign bit of the narrowest type counts
		switch {
		case len(end) == 8 && n.BitLen() == 32:
			n = big.NewInt(int64(int32(uint32(n.Uint64()))))
		case len(end) == 16 && n.BitLen() == 64:
			n = big.NewInt(int64(n.Uint64()))
		}
	}
	return finishInt(n, suffix, negative, multiplier)
}

func finishInt(n *big.Int, suffix string, negative bool, multiplier int64) (any, bool) {
	if negative {
		n.Neg(n)
	}
	n.Mul(n, big.NewInt(multiplier))
	switch suffix {
	case "":
		return narrow(n), true
	case "d":
		d, ok := newDecimal(n, 0)
		return d, ok
	case "u":
		if v, ok := fitInt(n, TUInt32); ok {
			return v, true
		}
		return fitInt(n, TUInt64)
	default:
		return fitInt(n, *suffixTypes[suffix])
	}
}

func parseReal(s, suffix string, negative bool, multiplier int64) (any, bool) {
	if negative {
		s = "-" + s
	}
	if suffix == "d" {
		d, ok := ParseDecimal(s)
		if ok && multiplier != 1 {
			d, ok = d.mul(DecimalFromInt(multiplier))
		}
		return d, ok
	}
	f, ok := parseFloat(s)
	if !ok {
		return nil, false
	}
	f *= float64(multiplier)
	if suffix != "" {
		n, ok := asBig(f)
		if !ok {
			return nil, false
		}
		return fitInt(n, *suffixTypes[suffix])
	}
	return f, true
}

// parseFloat reads decimal notation only: no hex, no underscores, no "inf" by accident.
func parseFloat(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "∞":
		return math.Inf(1), true
	case "-Infinity", "-∞":
		return math.Inf(-1), true
	}
	if s == "" || strings.Trim(s, "0123456789.eE+-") != "" || !strings.ContainsAny(s, "0123456789") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// formatFloat is Double.ToString(): the shortest digits that read back the same.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	precision := 15
	if bits == 32 {
		precision = 7
	}
	s := strconv.FormatFloat(f, 'e', -1, bits)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	if e >= precision || e < -4 {
		return mantissa + "E" + exponent
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}
