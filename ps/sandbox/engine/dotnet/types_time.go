package dotnet

func declareTime() {
	TCulture = Register(Class{
		Name: "System.Globalization.CultureInfo", Aliases: []string{"cultureinfo"},
		Implements: []string{"System.IFormatProvider"},
		Static: []Member{
			Property("InvariantCulture", func(any) (any, error) { return NewCulture(""), nil }),
			// The evaluator itself returns the culture of its session.
			Property("CurrentUICulture", func(any) (any, error) { return NewCulture("en-US"), nil }),
		},
	})
	TDateTime = Register(Class{
		Name: "System.DateTime", Aliases: []string{"datetime"}, Kind: KindStruct,
		New: []Member{
			Constructor("long,DateTimeKind", func(_ any, a []any) (any, error) {
				return clampDate(DateTime{a[0].(int64), DateTimeKind(a[1].(Enum).Value)}), nil
			}),
		},
		Static: []Member{
			Method("FromFileTimeUtc", "long", func(_ any, a []any) (any, error) {
				d, ok := DateTimeFromFileTime(a[0].(int64))
				if !ok {
					return nil, argumentRange("fileTime", "Not a valid Win32 FileTime.")
				}
				return d, nil
			}),
		},
		Members: []Member{
			dateProperty("Kind", func(d DateTime) any { return Enum{TDateTimeKind, int64(d.Kind)} }),
			dateProperty("Ticks", func(d DateTime) any { return d.Ticks }),
			methodOf("ToUniversalTime", "", func(d DateTime, _ []any) (any, error) { return d.ToUTC(), nil }),
			methodOf("ToString", "string,System.IFormatProvider", func(d DateTime, a []any) (any, error) { return d.Format(a[0].(string)) }),
		},
	})
	TTimeSpan = Register(Class{
		Name: "System.TimeSpan", Aliases: []string{"timespan"}, Kind: KindStruct,
		New: []Member{Constructor("long",
			func(_ any, a []any) (any, error) { return TimeSpan(a[0].(int64)), nil })},
		Members: []Member{
			Property("TotalSeconds", func(self any) (any, error) { return float64(self.(TimeSpan)) / ticksPerSecond, nil }),
			Property("Ticks", func(self any) (any, error) { return int64(self.(TimeSpan)), nil }),
		},
	})
}

// NewCulture returns a CultureInfo with the name. Values are formatted in the invariant culture, regardless
// of the name.
func NewCulture(name string) any {
	i := NewInstance(TCulture, "Name", name)
	i.Text = name
	return i
}

func dateProperty(name string, get func(d DateTime) any) Member {
	return Property(name, func(self any) (any, error) { return get(self.(DateTime)), nil })
}
