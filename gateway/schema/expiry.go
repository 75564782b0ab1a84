package schema

import (
	"time"

	"adgateway/gateway/filter"
	"adgateway/ps"
)

// Expiry is the time when an account expires. It is a date, which means the end of that day, a date with a
// time and an offset, or "" for never. The script receives the time in UTC and as a file time. Days end in
// UTC, unless [InZone] sets another zone.
var Expiry Kind = expiryKind{base{"string"}, time.UTC}

type expiryKind struct {
	base
	zone *time.Location
}

// InZone returns a copy of a kind whose dates without a time are days in a zone. If the kind has no such
// dates, it returns the kind itself.
func InZone(k Kind, zone *time.Location) Kind {
	switch k.(type) {
	case expiryKind:
		return expiryKind{base{"string"}, zone}
	case expiresAtKind:
		return expiresAtKind{expiryKind{base{"string"}, zone}}
	}
	return k
}

// neverTicks is the file time for never.
const neverTicks = "9223372036854775807"

func (k expiryKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		if at, err = time.ParseInLocation(time.DateOnly, s, k.zone); err != nil {
			return nil, invalid("must be a date such as 2026-06-30, which means the end of that day, a date and " +
				"time with an offset such as 2026-06-30T18:00:00+02:00, or empty for never")
		}
		at = at.AddDate(0, 0, 1)
	}
	at = at.UTC().Truncate(time.Second)
	if at.Year() <= 1601 || at.Year() > 9998 {
		return nil, invalid("must be between the years 1602 and 9998")
	}
	shown := at.Format(time.RFC3339)
	return &Decoded{Values: []ps.Value{ps.Text(shown), ps.Text(filter.Moment(at)[0])}, Text: shown}, nil
}

func (expiryKind) Parts() []Part {
	return []Part{{Type: "string"}, {Suffix: "Ticks", Type: "string"}}
}

func (expiryKind) Clear() []ps.Value { return []ps.Value{ps.Text(""), ps.Text(neverTicks)} }

func (expiryKind) Doc() Doc {
	return Doc{Type: "string", Text: "Date, which means the end of that day in the time zone of the setting " +
		"`time.zone`; date and time with an offset; or empty for never.", Example: "2030-06-30"}
}
