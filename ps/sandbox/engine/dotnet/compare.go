package dotnet

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// The collators compare in the same way as the invariant culture. A collator is not safe for
// concurrent use, hence the pools.
var (
	collators       = sync.Pool{New: func() any { return collate.New(language.Und) }}
	foldedCollators = sync.Pool{New: func() any { return collate.New(language.Und, collate.IgnoreCase) }}
)

// hasWidth reports whether a character has a counterpart of another width, or is
// kana.
func hasWidth(r rune) bool { return r >= 0x3040 && r <= 0x30FF || r >= 0xFF00 && r <= 0xFFEF }

// equalText implements -eq for strings, which compares them in the invariant culture.
func equalText(a, b string, caseSensitive bool) bool {
	if a == b {
		return true
	}
	if plainText(a) && plainText(b) {
		return !caseSensitive && EqualFold(a, b)
	}
	if !utf8.ValidString(a) || !utf8.ValidString(b) { // lone surrogates
		return !caseSensitive && EqualFold(a, b)
	}
	pool := &collators
	switch {
	case caseSensitive:
	case strings.ContainsFunc(a+b, hasWidth): // IgnoreCase would also ignore width
		a, b = ToUpper(a), ToUpper(b)
	default:
		pool = &foldedCollators
	}
	c := pool.Get().(*collate.Collator)
	defer pool.Put(c)
	return c.CompareString(a, b) == 0
}

// Equal implements -eq for scalars. The left operand decides to which type the right one is converted.
func Equal(l, r any, caseSensitive bool) (bool, error) {
	l, r = base(l), base(r)
	if l == nil || r == nil {
		return l == nil && r == nil, nil
	}
	switch x := l.(type) {
	case string:
		return equalText(x, ToText(r), caseSensitive), nil
	case bool:
		return x == Truthy(r), nil
	case Enum:
		if y, ok := r.(string); ok {
			n, found := x.Type.valueOf(y)
			if !found {
				return false, refuseOperands("-eq", l, r)
			}
			return n == x.Value, nil
		}
	case Char:
		if y, ok := r.(string); ok {
			return equalText(CharString(x), y, caseSensitive), nil
		}
	}
	if isNumber(l) {
		return equalNumber(l, r)
	}
	if TypeOf(l) == TypeOf(r) && TypeOf(l).IsValue() && TypeOf(l) != TDateTime || l == r {
		return l == r, nil
	}
	return false, refuseOperands("-eq", l, r)
}

// equalNumber compares a whole number with another.
func equalNumber(l, r any) (bool, error) {
	a, ok1 := asInt64(l)
	b, ok2 := asInt64(r)
	if ok1 && ok2 {
		return a == b, nil
	}
	return false, refuseOperands("-eq", l, r)
}

func order(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// Compare implements -lt and similar operators for scalars. The result is negative, zero or
// positive. Only whole numbers are compared.
func Compare(l, r any) (int, error) {
	l, r = base(l), base(r)
	if isNumber(l) && isNumber(r) {
		a, ok1 := asInt64(l)
		b, ok2 := asInt64(r)
		if ok1 && ok2 {
			return order(a, b), nil
		}
	}
	return 0, refuseOperands("-lt or -gt", l, r)
}

// ---- operators ----

// filter applies a test to a scalar, or returns the items of a collection that pass it.
func filter(l any, test func(item any) (bool, error)) (any, error) {
	if !isCollection(l) {
		return test(l)
	}
	items, _ := Enumerate(l)
	kept := make([]any, 0, min(len(items), 8))
	for _, item := range items {
		ok, err := test(item)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, item)
		}
	}
	return &Array{Items: kept}, nil
}

func equality(cs, negate bool) BinaryFunc {
	return func(l, r any) (any, error) {
		if x, ok := l.(string); ok {
			if y, ok := r.(string); ok {
				return equalText(x, y, cs) != negate, nil
			}
		}
		return filter(l, func(item any) (bool, error) {
			same, err := Equal(item, r, cs)
			return same != negate, err
		})
	}
}

func ordering(test func(int) bool) BinaryFunc {
	return func(l, r any) (any, error) {
		return filter(l, func(item any) (bool, error) {
			c, err := Compare(item, r)
			return err == nil && test(c), err
		})
	}
}

func contains(cs, negate bool) BinaryFunc {
	return func(l, r any) (any, error) {
		items, ok := Enumerate(l)
		if !ok {
			items = []any{l}
		}
		for _, item := range items {
			same, err := Equal(item, r, cs)
			if err != nil {
				return nil, err
			}
			if same {
				return !negate, nil
			}
		}
		return negate, nil
	}
}
