package dotnet

import (
	"math"
	"strconv"
)

// asInt64 converts a whole number, character, enumeration value or bool.
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

// isNumber reports whether v has a number type.
func isNumber(v any) bool {
	switch v.(type) {
	case int32, int64, float64, uint8, int8, int16, uint16, uint32, uint64:
		return true
	}
	return false
}

// fitInt64 returns i as a number of type t. ok is false if it does not fit.
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

// numberTo converts a number, rounding half to even. ok is false on overflow.
func numberTo(v any, t *Type) (any, bool) {
	i, whole := asInt64(v)
	f, isFloat := v.(float64)
	switch {
	case isFloat && t == TDouble:
		return f, true
	case isFloat && math.Abs(f) < 1<<53:
		return fitInt64(int64(math.RoundToEven(f)), t)
	case whole && t == TDouble: // see formatFloat
		return float64(i), i > -1e15 && i < 1e15
	case whole:
		return fitInt64(i, t)
	default:
		return nil, false
	}
}

// formatFloat implements Double.ToString() for a number below 1E+15. There are no larger
// ones, because doubles come only from cmdlets and TotalSeconds.
func formatFloat(f float64) string {
	if f != 0 && math.Abs(f) < 1e-4 {
		return strconv.FormatFloat(f, 'E', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
