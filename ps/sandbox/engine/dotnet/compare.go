package dotnet

import (
	"sort"
	"strings"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// Collators compare as the invariant culture does. They are not safe for
// concurrent use, hence the pools.
var (
	collators       = sync.Pool{New: func() any { return collate.New(language.Und) }}
	foldedCollators = sync.Pool{New: func() any { return collate.New(language.Und, collate.IgnoreCase) }}
)

// CompareCultureText orders two strings as the invariant culture does.
func CompareCultureText(a, b string, ignoreCase bool) int {
	if a == b {
		return 0
	}
	if c, ok := compareASCII(a, b, ignoreCase); ok {
		return c
	}
	pool := &collators
	if ignoreCase {
		pool = &foldedCollators
	}
	c := pool.Get().(*collate.Collator)
	defer pool.Put(c)
	return c.CompareString(a, b)
}

// asciiWeights are the primary weights of printable ASCII, 0 for characters the
// fast path leaves to the collator. They are read off the collator once.
var asciiWeights = sync.OnceValue(func() *[128]uint8 {
	var weights [128]uint8
	printable := make([]string, 0, 96)
	for c := byte(' '); c < 127; c++ {
		if c < 'A' || c > 'Z' {
			printable = append(printable, string(rune(c)))
		}
	}
	c := collate.New(language.Und)
	sort.Slice(printable, func(i, j int) bool { return c.CompareString(printable[i], printable[j]) < 0 })
	for i, s := range printable {
		weights[s[0]] = uint8(i + 1)
	}
	for c := 'A'; c <= 'Z'; c++ {
		weights[c] = weights[c+32]
	}
	return &weights
})

// compareASCII compares printable ASCII without the collator: by letters, then,
// when case counts, small before capital at the first difference.
func compareASCII(a, b string, ignoreCase bool) (int, bool) {
	weights := asciiWeights()
	for i := 0; i < len(a); i++ {
		if a[i] >= 128 || weights[a[i]] == 0 {
			return 0, false
		}
	}
	for i := 0; i < len(b); i++ {
		if b[i] >= 128 || weights[b[i]] == 0 {
			return 0, false
		}
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := weights[a[i]], weights[b[i]]; x != y {
			return int(x) - int(y), true
		}
	}
	if len(a) != len(b) || ignoreCase {
		return len(a) - len(b), true
	}
	return strings.Compare(b, a), true // only case differs: small letters first
}

// equalText is -eq of strings: the same for the invariant culture.
func equalText(a, b string, caseSensitive bool) bool {
	if a == b {
		return true
	}
	plain := true
	for i := 0; i < len(a) && plain; i++ {
		plain = a[i] >= ' ' && a[i] < 127
	}
	for i := 0; i < len(b) && plain; i++ {
		plain = b[i] >= ' ' && b[i] < 127
	}
	if plain {
		return !caseSensitive && EqualFold(a, b)
	}
	return CompareCultureText(a, b, !caseSensitive) == 0
}

// Equal is -eq between scalars (no array filtering): the left operand decides
// what the right one is converted to.
func Equal(l, r any, caseSensitive bool) bool {
	l, r = base(l), base(r)
	if l == nil || r == nil {
		return l == nil && r == nil
	}
	switch x := l.(type) {
	case string:
		return equalText(x, ToText(r), caseSensitive)
	case bool:
		return x == Truthy(r)
	case int32:
		if y, ok := r.(int32); ok {
			return x == y
		}
	case Char:
		return equalChar(x, r, caseSensitive)
	case Enum:
		return equalEnum(x, r)
	}
	if rank(l) != notNumber {
		n, ok := numberOperand(r)
		return ok && compareNumbers(l, n) == 0
	}
	if l == r || equalObjects(l, r) {
		return true
	}
	t := TypeOf(l)
	if TypeOf(r) == t {
		return false
	}
	converted, err := Convert(r, t)
	return err == nil && converted != nil && TypeOf(converted) == t && (l == converted || equalObjects(l, converted))
}

func equalChar(c Char, r any, caseSensitive bool) bool {
	if s, ok := r.(string); ok {
		return equalText(CharString(c), s, caseSensitive)
	}
	if d, ok := r.(Char); ok {
		return c == d || !caseSensitive && upper(rune(c)) == upper(rune(d))
	}
	n, ok := numberOperand(r)
	return ok && compareNumbers(int32(c), n) == 0
}

func equalEnum(e Enum, r any) bool {
	if other, ok := r.(Enum); ok {
		return other == e
	}
	converted, err := Convert(r, e.Type)
	return err == nil && converted == e
}

func equalObjects(l, r any) bool {
	switch x := l.(type) {
	case DateTime:
		y, ok := r.(DateTime)
		return ok && x.Ticks == y.Ticks
	case *DictionaryEntry:
		y, ok := r.(*DictionaryEntry)
		return ok && CompareExact.equal(x.Key, y.Key) && CompareExact.equal(x.Value, y.Value)
	case *Instance:
		y, ok := r.(*Instance)
		return ok && x.Type == y.Type && x.Type.comparesByText() && x.text() == y.text()
	default:
		return false
	}
}

// comparesByText tells whether instances are values: equal when their text is.
func (t *Type) comparesByText() bool { return t.AssignableTo(TIEquatable) }

// numberOperand reads what is compared with a number.
func numberOperand(v any) (any, bool) {
	switch x := v.(type) {
	case string:
		if n, ok := ParseNumber(x); ok {
			return n, true
		}
		if strings.TrimSpace(x) == "" {
			return int32(0), x == ""
		}
		return nil, false
	case bool:
		if x {
			return int32(1), true
		}
		return int32(0), true
	case Char:
		return int32(x), true
	case Enum:
		return x.Value, true
	case *Instance:
		if x.Type == TSwitch {
			return numberOperand(Truthy(x))
		}
		return nil, false
	default:
		return v, rank(v) != notNumber
	}
}

func compareNumbers(l, r any) int {
	a, ok1 := asInt64(l)
	b, ok2 := asInt64(r)
	if ok1 && ok2 {
		return order(a, b)
	}
	if max(rank(l), rank(r)) == numDouble {
		x, y := asFloat(l), asFloat(r)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		case x == y:
			return 0
		default: // NaN is unlike all
			return -2
		}
	}
	x, _ := asDecimal(l)
	y, _ := asDecimal(r)
	return x.Cmp(y)
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

// Compare is -lt and its kind between scalars: negative, zero, positive.
func Compare(l, r any, caseSensitive bool) (int, error) {
	l, r = base(l), base(r)
	if l == nil || r == nil {
		return compareNull(l, r), nil
	}
	switch x := l.(type) {
	case string:
		return CompareCultureText(x, ToText(r), !caseSensitive), nil
	case Char:
		if s, ok := r.(string); ok {
			return CompareCultureText(CharString(x), s, !caseSensitive), nil
		}
		l = int32(x)
	case bool:
		return Compare(boolNumber(x), boolNumber(Truthy(r)), caseSensitive)
	}
	t := TypeOf(l)
	if rank(l) != notNumber {
		n, ok := numberOperand(r)
		if !ok {
			_, err := Convert(r, t)
			if err == nil {
				err = finalCastError(r, t)
			}
			return 0, compareFailure(l, r, err)
		}
		return compareNumbers(l, n), nil
	}
	converted, err := Convert(r, t)
	if err != nil {
		return 0, compareFailure(l, r, err)
	}
	if c, ok := compareSame(l, converted); ok {
		return c, nil
	}
	return 0, RuntimeError("NotIcomparable", InvalidOperation, l, `Cannot compare "%s" because it is not IComparable.`, ToText(l))
}

func boolNumber(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// compareNull: null is less than anything but a negative number.
func compareNull(l, r any) int {
	switch {
	case l == nil && r == nil:
		return 0
	case l == nil:
		if rank(r) != notNumber && asFloat(r) < 0 {
			return 1
		}
		return -1
	default:
		return -compareNull(r, l)
	}
}

func compareFailure(l, r any, cause error) error {
	rec := AsRecord(cause)
	if rec == nil {
		return cause
	}
	return RuntimeError("ComparisonFailure", InvalidOperation, l, `Could not compare "%s" to "%s". Error: "%s"`,
		ToText(l), ToText(r), rec.Exception.Message)
}

// compareSame orders two values of one type.
func compareSame(l, r any) (int, bool) {
	switch x := l.(type) {
	case DateTime:
		if y, ok := r.(DateTime); ok {
			return order(x.Ticks, y.Ticks), true
		}
	case TimeSpan:
		if y, ok := r.(TimeSpan); ok {
			return order(int64(x), int64(y)), true
		}
	case Enum:
		if y, ok := r.(Enum); ok {
			return order(x.Value, y.Value), true
		}
	case Guid:
		if y, ok := r.(Guid); ok {
			return strings.Compare(x.String(), y.String()), true
		}
	case Version:
		if y, ok := r.(Version); ok {
			return x.compare(y), true
		}
	}
	if m := TypeOf(l).find(nameCompareTo); m != nil && len(m.methods) > 0 {
		if c, err := m.methods[0].Call(l, []any{r}); err == nil {
			if n, ok := c.(int32); ok {
				return int(n), true
			}
		}
	}
	return 0, false
}

// CompareSort orders as Sort-Object does: culture-aware, nulls first, values of
// different or unordered types by their text.
func CompareSort(l, r any, caseSensitive bool) int {
	l, r = base(l), base(r)
	if l == nil || r == nil {
		switch {
		case l == nil && r == nil:
			return 0
		case l == nil:
			return -1
		default:
			return 1
		}
	}
	if _, ok := l.(string); !ok {
		if c, err := Compare(l, r, caseSensitive); err == nil {
			return c
		}
	}
	return CompareCultureText(ToText(l), ToText(r), !caseSensitive)
}

// ---- operators ----

// filter applies a test to a scalar, or keeps the items of a collection that pass it.
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
		switch x := l.(type) {
		case string:
			if y, ok := r.(string); ok {
				return equalText(x, y, cs) != negate, nil
			}
		case *Array, *List, *Bytes, *Set, Enumerable:
			return filter(l, func(item any) (bool, error) { return Equal(item, r, cs) != negate, nil })
		}
		return Equal(l, r, cs) != negate, nil
	}
}

func ordering(cs bool, test func(int) bool) BinaryFunc {
	return func(l, r any) (any, error) {
		if x, ok := l.(int32); ok {
			if y, ok := r.(int32); ok {
				return test(order(int64(x), int64(y))), nil
			}
		}
		return filter(l, func(item any) (bool, error) {
			c, err := Compare(item, r, cs)
			return err == nil && c != -2 && test(c), err
		})
	}
}

func contains(cs, negate bool) BinaryFunc {
	return func(l, r any) (any, error) {
		for _, item := range listOperand(l) {
			if Equal(item, r, cs) {
				return !negate, nil
			}
		}
		return negate, nil
	}
}

func within(cs, negate bool) BinaryFunc {
	test := contains(cs, negate)
	return func(l, r any) (any, error) { return test(r, l) }
}

// listOperand: a scalar, $null included, is a list of itself.
func listOperand(v any) []any {
	if items, ok := Enumerate(v); ok {
		return items
	}
	return []any{v}
}
