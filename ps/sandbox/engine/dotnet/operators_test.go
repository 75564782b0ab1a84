package dotnet

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// show formats a value as "Type value", with the items of collections in brackets.
func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case *Array:
		s := x.ElemType().ShortName() + "["
		for i, item := range x.Items {
			if i > 0 {
				s += "; "
			}
			s += show(item)
		}
		return s + "]"
	default:
		return TypeOf(v).ShortName() + " " + ToText(v)
	}
}

// result formats a value, the id and message of an error, or "refused".
func result(v any, err error) string {
	if err == nil {
		return show(v)
	}
	if _, ok := err.(*Refused); ok {
		return "refused"
	}
	if r := AsRecord(err); r != nil {
		return "!" + r.ErrorID + ": " + r.Exception.Message
	}
	return "!!" + err.Error()
}

func arr(items ...any) *Array { return NewArray(items...) }

func ordered(pairs ...any) *Hashtable {
	h := NewOrdered()
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func date(t testing.TB, s string) DateTime {
	d, _, ok := parseISO(s)
	require.True(t, ok, s)
	return d
}

func TestBinaryOperators(t *testing.T) {
	for _, c := range []struct {
		op   string
		l, r any
		want string
	}{
		{"+", int32(1), int32(2), "Int32 3"},
		{"+", int32(1), "2", "refused"},
		{"+", "a", int32(1), "String a1"},
		{"+", "a", nil, "String a"},
		{"+", nil, int32(5), "Int32 5"},
		{"+", int32(math.MaxInt32), int32(1), "refused"},
		{"+", int64(math.MaxInt64), int32(1), "refused"},
		{"-", int64(math.MinInt64), int32(1), "refused"},
		{"*", int64(math.MaxInt64), int32(2), "refused"},
		{"*", int64(-1), int64(math.MinInt64), "refused"},
		{"+", int32(1), int64(2), "Int64 3"},
		{"+", 1.5, int32(1), "refused"},
		{"+", arr(int32(1)), arr(int32(2), int32(3)), "Object[Int32 1; Int32 2; Int32 3]"},
		{"+", arr(), nil, "Object[null]"},
		{"-", date(t, "2024-01-02"), date(t, "2024-01-01"), "TimeSpan 1.00:00:00"},
		{"*", int32(65536), int32(65536), "refused"},
		{"*", "ab", int32(3), "refused"},
		{"/", int32(7), int32(2), "refused"},
		{"/", int32(6), int32(2), "Int32 3"},
		{"/", int32(1), int32(0), "!RuntimeException: Attempted to divide by zero."},
		{"/", int64(math.MinInt64), int64(-1), "refused"},
		{"%", int64(math.MinInt64), int64(-1), "Int64 0"},
		{"%", int32(-7), int32(3), "Int32 -1"},
		{"-band", int32(0x202), int32(2), "Int32 2"},
		{"-band", int64(0x90207000), int64(^int64(0x8000)), "Int64 2418044928"},
		{"-bor", int32(3), int64(4), "Int64 7"},
		{"-bor", int32(3), "4", "refused"},
		{"-shr", int32(-8), int32(1), "Int32 -4"},
		{"-eq", "a", "A", "Boolean True"},
		{"-ceq", "a", "A", "Boolean False"},
		{"-eq", "straße", "STRAßE", "Boolean True"},
		{"-eq", "a\u00e9", "ae\u0301", "Boolean True"},
		{"-eq", "\xed\xa0\x80", "\xed\xb0\x80", "Boolean False"},
		{"-eq", int32(1), "1", "refused"},
		{"-eq", nil, "", "Boolean False"},
		{"-eq", nil, nil, "Boolean True"},
		{"-eq", false, nil, "Boolean False"},
		{"-eq", Char('a'), "A", "Boolean True"},
		{"-eq", arr(int32(1), int32(2), int32(3), int32(2)), int32(2), "Object[Int32 2; Int32 2]"},
		{"-ne", arr(int32(1), int32(2)), int32(2), "Object[Int32 1]"},
		{"-eq", Enum{Lookup("DateTimeKind"), 1}, "utc", "Boolean True"},
		{"-eq", Enum{Lookup("DateTimeKind"), 1}, "1", "refused"},
		{"-eq", Guid{}, Guid{}, "Boolean True"},
		{"-gt", int32(10), int64(9), "Boolean True"},
		{"-gt", "b", "a", "refused"},
		{"-lt", nil, int32(1), "refused"},
		{"-contains", arr("x", "b"), "B", "Boolean True"},
		{"-notcontains", arr(int32(1)), int32(5), "Boolean True"},
		{"-like", "abc", "A*", "Boolean True"},
		{"-clike", "abc", "A*", "Boolean False"},
		{"-like", "a", "[ab]", "refused"},
		{"-join", arr("a", int32(1), nil, arr(int32(1))), ";", "String a;1;;System.Object[]"},
	} {
		op, ok := Operator(c.op)
		require.True(t, ok, c.op)
		v, err := op(c.l, c.r)
		assert.Equal(t, c.want, result(v, err), "%s %s %s", show(c.l), c.op, show(c.r))
	}
	for _, name := range []string{"..", "-f", "-split", "-xor", "-bxor", "-shl", "-is", "-as"} {
		_, ok := Operator(name)
		assert.False(t, ok, name)
	}
}

func TestUnaryOperators(t *testing.T) {
	assert.Equal(t, "Int32 -6", result(BitNot(int32(5))))
	assert.Equal(t, "Int64 -32769", result(BitNot(int64(0x8000))))
	assert.Equal(t, "refused", result(BitNot("x")))
	v, err := Increment(nil, 1)
	assert.Equal(t, "Int32 1", result(v, err))
	assert.Equal(t, "refused", result(Increment("a", 1)))
}
