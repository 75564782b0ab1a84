package dotnet

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// show writes a value as "Type value", items of collections in brackets.
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

// result shows a value or the id and message of an error.
func result(v any, err error) string {
	if err == nil {
		return show(v)
	}
	if r := AsRecord(err); r != nil {
		return "!" + r.ErrorID + ": " + r.Exception.Message
	}
	return "!!" + err.Error()
}

func arr(items ...any) *Array { return NewArray(items...) }

func date(s string) DateTime {
	d, e := parseDateTime(s)
	if e != nil {
		panic(e)
	}
	return d
}

func dec(s string) Decimal {
	d, ok := ParseDecimal(s)
	if !ok {
		panic(s)
	}
	return d
}

func TestBinaryOperators(t *testing.T) {
	day := Lookup("DayOfWeek")
	for _, c := range []struct {
		op   string
		l, r any
		want string
	}{
		{"+", int32(1), "2", "Int32 3"},
		{"+", "a", int32(1), "String a1"},
		{"+", "a", nil, "String a"},
		{"+", nil, int32(5), "Int32 5"},
		{"+", int32(1), "x", `!InvalidCastFromStringToInteger: Cannot convert value "x" to type "System.Int32". Error: "The input string 'x' was not in a correct format."`},
		{"+", int32(math.MaxInt32), int32(1), "Double 2147483648"},
		{"+", int64(math.MaxInt64), int32(1), "Double 9.223372036854776E+18"},
		{"+", int32(1), "1kb", "Int32 1025"},
		{"+", uint8(200), uint8(100), "Int32 300"},
		{"+", uint32(5), int32(5), "UInt32 10"},
		{"-", int32(5), uint32(6), "Double -1"},
		{"+", uint64(1), int32(-5), "Double -4"},
		{"+", Char('a'), "b", "String ab"},
		{"+", Char('a'), int32(1), "Int32 98"},
		{"+", arr(int32(1)), arr(int32(2), int32(3)), "Object[Int32 1; Int32 2; Int32 3]"},
		{"+", arr(), nil, "Object[null]"},
		{"+", 1.5, dec("1"), "Double 2.5"},
		{"+", dec("0.1"), dec("0.2"), "Decimal 0.3"},
		{"+", date("2024-01-31"), TimeSpan(ticksPerDay), "DateTime 02/01/2024 00:00:00"},
		{"+", date("2024-01-31"), "1.00:00:00", "DateTime 02/01/2024 00:00:00"},
		{"-", date("2024-01-02"), date("2024-01-01"), "TimeSpan 1.00:00:00"},
		{"-", date("2024-01-02"), "2024-01-01", `!MethodCountCouldNotFindBest: Multiple ambiguous overloads found for "op_Subtraction" and the argument count: "2".`},
		{"-", date("0001-01-01"), TimeSpan(1), "!System.ArgumentOutOfRangeException: The added or subtracted value results in an un-representable DateTime. (Parameter 'value')"},
		{"+", TimeSpan(math.MaxInt64), TimeSpan(1), "!System.OverflowException: TimeSpan overflowed because the duration is too long."},
		{"-", TimeSpan(5), "1", "TimeSpan -23:59:59.9999995"},
		{"-", "10", int32(5), "Int32 5"},
		{"-", arr(), int32(1), "!MethodNotFound: Method invocation failed because [System.Object[]] does not contain a method named 'op_Subtraction'."},
		{"*", "ab", int32(3), "String ababab"},
		{"*", "5", "3", "String 555"},
		{"*", arr(int32(1)), int32(2), "Object[Int32 1; Int32 1]"},
		{"*", int32(65536), int32(65536), "Double 4294967296"},
		{"/", int32(7), int32(2), "Double 3.5"},
		{"/", int32(6), int32(2), "Int32 3"},
		{"/", int32(1), int32(3), "Double 0.3333333333333333"},
		{"/", dec("10"), int32(3), "Decimal 3.3333333333333333333333333333"},
		{"/", dec("10"), int32(4), "Decimal 2.5"},
		{"/", int32(1), int32(0), "!RuntimeException: Attempted to divide by zero."},
		{"/", int32(7), 0.0, "Double Infinity"},
		{"%", int32(-7), int32(3), "Int32 -1"},
		{"%", 7.5, int32(2), "Double 1.5"},
		{"-band", int32(0x202), int32(2), "Int32 2"},
		{"-band", int32(-2147483646), int32(2), "Int32 2"},
		{"-band", int64(2147483648), int64(2147483648), "Int64 2147483648"},
		{"-band", int64(0x90207000), int64(^int64(0x8000)), "Int64 2418044928"},
		{"-bor", int32(3), "4", "Int32 7"},
		{"-bxor", int32(6), int32(3), "Int32 5"},
		{"-bor", Enum{TSplitOptions, 1}, Enum{TSplitOptions, 2}, "SplitOptions SimpleMatch, RegexMatch"},
		{"-shl", int32(1), int32(33), "Int32 2"},
		{"-shl", int64(1), int32(33), "Int64 8589934592"},
		{"-shr", int32(-8), int32(1), "Int32 -4"},
		{"-eq", "a", "A", "Boolean True"},
		{"-ceq", "a", "A", "Boolean False"},
		{"-eq", int32(1), "01", "Boolean True"},
		{"-eq", "01", int32(1), "Boolean False"},
		{"-gt", "10", int32(9), "Boolean False"},
		{"-gt", int32(10), "9", "Boolean True"},
		{"-eq", nil, "", "Boolean False"},
		{"-eq", nil, nil, "Boolean True"},
		{"-lt", nil, int32(1), "Boolean True"},
		{"-gt", int32(-1), nil, "Boolean False"},
		{"-eq", false, nil, "Boolean False"},
		{"-eq", arr(int32(1), int32(2), int32(3), int32(2)), int32(2), "Object[Int32 2; Int32 2]"},
		{"-ne", arr(int32(1), int32(2)), int32(2), "Object[Int32 1]"},
		{"-eq", arr(int32(1), int32(2)), int32(5), "Object[]"},
		{"-eq", Guid{}, "00000000-0000-0000-0000-000000000000", "Boolean True"},
		{"-eq", Enum{day, 5}, "Friday", "Boolean True"},
		{"-lt", Enum{day, 1}, "Friday", "Boolean True"},
		{"-eq", "é", "é", "Boolean True"},
		{"-eq", "a\x00b", "ab", "Boolean True"},
		{"-eq", dec("1.0"), int32(1), "Boolean True"},
		{"-eq", int64(1), 1.0, "Boolean True"},
		{"-lt", math.NaN(), int32(1), "Boolean False"},
		{"-lt", int32(5), "abc", `!ComparisonFailure: Could not compare "5" to "abc". Error: "Cannot convert value "abc" to type "System.Int32". Error: "The input string 'abc' was not in a correct format.""`},
		{"-lt", NewHashtable(), NewHashtable(), `!NotIcomparable: Cannot compare "System.Collections.Hashtable" because it is not IComparable.`},
		{"-contains", arr(int32(1), int32(2)), "2", "Boolean True"},
		{"-in", "A", arr("a", "b"), "Boolean True"},
		{"-cin", "A", arr("a", "b"), "Boolean False"},
		{"-notcontains", arr(int32(1)), int32(5), "Boolean True"},
		{"-like", "abc", "A*", "Boolean True"},
		{"-clike", "abc", "A*", "Boolean False"},
		{"-like", arr("a", "b", "c"), "[ab]", "Object[String a; String b]"},
		{"-notlike", "abc", "x*", "Boolean True"},
		{"-replace", "a.b.c", arr(`\.`, "-"), "String a-b-c"},
		{"-replace", "John Smith", arr(`(\w+) (\w+)`, "$2 $1"), "String Smith John"},
		{"-replace", "abc", "B", "String ac"},
		{"-creplace", "abc", "B", "String abc"},
		{"-replace", arr("ab", "cb"), arr("b", "x"), "Object[String ax; String cx]"},
		{"-replace", "a", "(", "!InvalidRegularExpression: The regular expression pattern ( is not valid."},
		{"-split", "a  b", `\s+`, "String[String a; String b]"},
		{"-split", "a.b", arr(".", int32(0), "SimpleMatch"), "String[String a; String b]"},
		{"-split", "a,b,c", arr(",", int32(2)), "String[String a; String b,c]"},
		{"-split", "a b c", arr(" ", int32(-2)), "String[String a b; String c]"},
		{"-split", "a1b", `(\d)`, "String[String a; String 1; String b]"},
		{"-join", arr("a", int32(1), nil), ";", "String a;1;"},
		{"-f", "{0} is {1:D3} and {2:x}", arr("x", int32(7), int32(255)), "String x is 007 and ff"},
		{"-f", "{1}", "a", "!FormatError: Error formatting a string: Index (zero based) must be greater than or equal to zero and less than the size of the argument list.."},
		{"..", int32(3), int32(1), "Object[Int32 3; Int32 2; Int32 1]"},
		{"..", "a", "c", "Object[Char a; Char b; Char c]"},
		{"-is", int32(1), TInt32, "Boolean True"},
		{"-isnot", int32(1), TString, "Boolean True"},
		{"-is", nil, TString, "Boolean False"},
		{"-as", "5", TInt32, "Int32 5"},
		{"-as", "x", TInt32, "null"},
		{"-is", "x", "No.Such", "!TypeNotFound: Unable to find type [No.Such]."},
		{"-xor", true, true, "Boolean False"},
	} {
		op, ok := Operator(c.op)
		require.True(t, ok, c.op)
		v, err := op(c.l, c.r)
		assert.Equal(t, c.want, result(v, err), "%s %s %s", show(c.l), c.op, show(c.r))
	}
}

func TestUnaryOperators(t *testing.T) {
	for _, c := range []struct {
		op   string
		v    any
		want string
	}{
		{"-", int32(5), "Int32 -5"}, {"-", "3", "Int32 -3"}, {"+", "7", "Int32 7"}, {"-", int32(math.MinInt32), "Double 2147483648"},
		{"!", int32(1), "Boolean False"}, {"-not", "", "Boolean True"}, {"-bnot", int32(5), "Int32 -6"}, {"-bnot", int64(0x8000), "Int64 -32769"},
		{"-split", " a b ", "String[String a; String b]"}, {"-join", arr("a", "b"), "String ab"}, {",", int32(1), "Object[Int32 1]"},
	} {
		v, err := Unary(c.op, c.v)
		assert.Equal(t, c.want, result(v, err), "%s %s", c.op, show(c.v))
	}
	v, err := Increment(nil, 1)
	assert.Equal(t, "Int32 1", result(v, err))
	_, err = Increment("a", 1)
	assert.Equal(t, "OperatorRequiresNumber", AsRecord(err).ErrorID)
}

func TestMatchSetsMatches(t *testing.T) {
	v, m, err := Match("user42", `(\D+)(?<n>\d+)`, false, false)
	require.NoError(t, err)
	require.Equal(t, true, v)
	for key, want := range map[any]string{int32(0): "user42", int32(1): "user", "n": "42"} {
		got, ok := m.Get(key)
		assert.True(t, ok, key)
		assert.Equal(t, want, got, key)
	}
	v, m, err = Match("a", "b", false, false)
	require.NoError(t, err)
	assert.Equal(t, false, v)
	assert.Nil(t, m)
	v, m, err = Match(arr("ab", "cd", "ae"), "^a", false, false)
	require.NoError(t, err)
	assert.Equal(t, "Object[String ab; String ae]", show(v))
	assert.Nil(t, m)
}

func TestSortOrderIsTheInvariantCulture(t *testing.T) {
	// Recorded: 'b-a','ba','b_a','B','a','é','e','z' | Sort-Object
	order := []string{"a", "B", "b_a", "b-a", "ba", "e", "é", "z"}
	for i := range order {
		for j := range order {
			got := CompareSort(order[i], order[j], false)
			assert.Equal(t, i < j, got < 0, "%s %s", order[i], order[j])
		}
	}
	assert.Zero(t, CompareSort("a", "A", false))
	assert.Negative(t, CompareSort("a", "A", true))
	assert.Negative(t, CompareSort(nil, int32(-5), false))
	assert.Negative(t, CompareSort(int32(2), int32(10), false))
}

func TestFastCompareAgreesWithTheCollator(t *testing.T) {
	words := []string{"", "a", "A", "b", "B", "aB", "Ab", "ab", "a b", "a-b", "a_b", "a.b", "ab1", "1", "10", "2", "$x", "z~", "Z^", "a'b", "AB", "aa", "Aa"}
	for _, a := range words {
		for _, b := range words {
			for _, fold := range []bool{false, true} {
				fast, ok := compareASCII(a, b, fold)
				require.True(t, ok)
				pool := &collators
				if fold {
					pool = &foldedCollators
				}
				c := pool.New().(interface{ CompareString(a, b string) int })
				assert.Equal(t, c.CompareString(a, b), order(int64(fast), 0), fmt.Sprintf("%q %q %v", a, b, fold))
			}
		}
	}
}
