package adcmd

import (
	"math"
	"strconv"
	"time"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

func itoa(n int) string { return strconv.Itoa(n) }

// text returns s, or nil if it is empty.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Ticks of 100 ns: per second, and at 1970-01-01 and 1601-01-01.
const (
	ticksPerSecond = int64(10_000_000)
	unixTicks      = int64(621355968000000000)
	fileTimeTicks  = int64(504911232000000000)
)

// local returns t as a DateTime in local time, as the module does (facts B26).
func (h *host) local(t time.Time) dotnet.DateTime {
	_, offset := t.In(h.Location).Zone()
	ticks := (t.Unix()+int64(offset))*ticksPerSecond + int64(t.Nanosecond()/100) + unixTicks
	return dotnet.DateTime{Ticks: ticks, Kind: dotnet.Local}
}

// moment returns the time of a DateTime. Any kind but UTC means local time.
func (h *host) moment(d dotnet.DateTime) time.Time {
	ticks := d.Ticks - unixTicks
	seconds, rest := ticks/ticksPerSecond, ticks%ticksPerSecond
	t := time.Unix(seconds, rest*100).UTC()
	if d.Kind == dotnet.UTC {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), h.Location)
}

// fileTime converts a DateTime to a FILETIME. ok is false for times before 1601, for which
// there is no FILETIME.
func (h *host) fileTime(d dotnet.DateTime) (n int64, ok bool) {
	n = directory.ToFileTime(h.moment(d))
	return n, n > 0
}

// fromFileTime converts a FILETIME to a DateTime. 0 and never become nil.
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

// collection returns an ADPropertyValueCollection, which is the type of every multi-valued property, even
// with one value or none.
func collection(items []any) *dotnet.List { return &dotnet.List{Type: tCollection, Items: items} }

// raw converts a directory value to the type that the module returns.
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
			return &dotnet.Instance{Type: tSecurity, Data: descriptor(v)}
		}
		return &dotnet.Bytes{B: v}
	}
	return v
}

// descriptor is the content of a security descriptor.
type descriptor []byte

// tSecurity stands for security descriptors. Scripts cannot read their entries, but may give
// the descriptor of one object to another.
var tSecurity = dotnet.Define(dotnet.Class{Name: "System.DirectoryServices.ActiveDirectorySecurity"})

func (h *host) raws(o *directory.Object, a *directory.Attribute) []any {
	values := o.ValuesOf(a)
	for i, v := range values {
		values[i] = h.raw(a, v)
	}
	return values
}
