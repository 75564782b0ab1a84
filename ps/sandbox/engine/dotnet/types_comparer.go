package dotnet

// comparer is what a StringComparer instance carries.
type comparer struct {
	compare func(a, b string) int
	keys    Comparer
}

func declareComparers() {
	order := func(ignoreCase, culture bool) *comparer {
		c := &comparer{compare: func(a, b string) int { return CompareOrdinal(a, b, ignoreCase) }}
		if culture {
			c.compare = func(a, b string) int { return CompareCultureText(a, b, ignoreCase) }
		}
		if ignoreCase {
			c.keys = CompareIgnore
		}
		return c
	}
	t := Register(Class{
		Name: "System.StringComparer", Implements: []string{"System.Collections.IComparer", "System.Collections.IEqualityComparer"},
		Members: []Member{
			Method("Compare", "object,object", func(self any, a []any) (any, error) {
				if c, done := nullText(a[0], a[1]); done {
					return c, nil
				}
				return sign(self.(*Instance).Data.(*comparer).compare(Text(a[0]), Text(a[1]))), nil
			}),
			Method("Equals", "object,object", func(self any, a []any) (any, error) {
				if _, done := nullText(a[0], a[1]); done {
					return a[0] == a[1], nil
				}
				return self.(*Instance).Data.(*comparer).compare(Text(a[0]), Text(a[1])) == 0, nil
			}),
			Method("GetHashCode", "object", func(self any, a []any) (any, error) {
				return int32(self.(*Instance).Data.(*comparer).keys.hash(a[0])), nil
			}),
		},
		Static: []Member{
			comparerStatic("Ordinal", order(false, false)), comparerStatic("OrdinalIgnoreCase", order(true, false)),
			comparerStatic("InvariantCulture", order(false, true)), comparerStatic("InvariantCultureIgnoreCase", order(true, true)),
			comparerStatic("CurrentCulture", order(false, true)), comparerStatic("CurrentCultureIgnoreCase", order(true, true)),
		},
	})
	comparerType = t
}

var comparerType *Type

func comparerStatic(name string, c *comparer) Member {
	return Property(name, func(any) (any, error) { return &Instance{Type: comparerType, Data: c}, nil })
}

// keyComparer reads an IEqualityComparer argument; nil compares exactly.
func keyComparer(v any) Comparer {
	if i, ok := v.(*Instance); ok {
		if c, ok := i.Data.(*comparer); ok {
			return c.keys
		}
	}
	return CompareExact
}
