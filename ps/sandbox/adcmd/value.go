package adcmd

import (
	"math"
	"strconv"
	"time"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

func itoa(n int) string { return strconv.Itoa(n) }

// text is a string value, nil for the empty one.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ticksPerSecond and the ticks of 1970-01-01 and 1601-01-01.
const (
	ticksPerSecond = int64(10_000_000)
	unixTicks      = int64(621355968000000000)
	fileTimeTicks  = int64(504911232000000000)
)

// local is a moment as the module shows it: local time (facts B26).
func (h *host) local(t time.Time) dotnet.DateTime {
	_, offset := t.In(h.Location).Zone()
	ticks := (t.Unix()+int64(offset))*ticksPerSecond + int64(t.Nanosecond()/100) + unixTicks
	return dotnet.DateTime{Ticks: ticks, Kind: dotnet.Local}
}

// moment is the time a DateTime means: what is not UTC is local.
func (h *host) moment(d dotnet.DateTime) time.Time {
	ticks := d.Ticks - unixTicks
	seconds, rest := ticks/ticksPerSecond, ticks%ticksPerSecond
	t := time.Unix(seconds, rest*100).UTC()
	if d.Kind == dotnet.UTC {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), h.Location)
}

// fileTime is a DateTime as accountExpires stores it; ok is false for times
// before 1601, which cannot be stored.
func (h *host) fileTime(d dotnet.DateTime) (n int64, ok bool) {
	n = directory.ToFileTime(h.moment(d))
	return n, n > 0
}

// fromFileTime is an attribute that counts from 1601: nil for 0 and never.
func (h *host) fromFileTime(v any) any {
	n, ok := v.(int64)
	if !ok {
		return nil
	}
	t, ok := directory.FromFileTime(n)
	if !ok || n > math.MaxInt64-fileTimeTicks {
		return nil
	}
	return h.local(t)
}

// collection is an ADPropertyValueCollection: the form of every multi-valued
// property, also with one value or none.
func collection(items []any) *dotnet.List { return &dotnet.List{Type: tCollection, Items: items} }

// raw is one stored value as the module shows it.
func (h *host) raw(a *directory.Attribute, v any) any {
	switch v := v.(type) {
	case time.Time:
		return h.local(v)
	case []byte:
		switch a.Syntax {
		case directory.SyntaxSID:
			if sid, ok := directory.SIDFromBytes(v); ok {
				return sidValue(sid)
			}
		case directory.SyntaxGUID:
			if g, ok := directory.GUIDFromBytes(v); ok {
				return dotnet.Guid(g)
			}
		case directory.SyntaxSecurity:
			return dotnet.NewInstance(tSecurity)
		}
		return &dotnet.Bytes{B: v}
	}
	return v
}

// tSecurity is what a security descriptor is shown as; its entries are not.
var tSecurity = dotnet.Define(dotnet.Class{Name: "System.DirectoryServices.ActiveDirectorySecurity"})

func (h *host) raws(o *directory.Object, a *directory.Attribute) []any {
	values := o.ValuesOf(a)
	for i, v := range values {
		values[i] = h.raw(a, v)
	}
	return values
}
