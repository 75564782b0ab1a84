package dotnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LocalZone is the time zone of DateTimeKind.Local. Set it before the first evaluation.
var LocalZone = time.Local

// Ticks are units of 100 ns.
const (
	ticksPerSecond   = 10_000_000
	ticksPerDay      = 24 * 3600 * ticksPerSecond
	unixEpochTicks   = 621355968000000000
	fileTimeTicks    = 504911232000000000 // 1601-01-01
	maxDateTicks     = 3155378975999999999
	unixEpochSeconds = unixEpochTicks / ticksPerSecond
)

// DateTimeOf converts a Go time. With the kind Local, the time is shown in LocalZone.
func DateTimeOf(t time.Time, kind DateTimeKind) DateTime {
	switch kind {
	case Local:
		t = t.In(LocalZone)
	case UTC:
		t = t.UTC()
	}
	_, offset := t.Zone()
	seconds := t.Unix() + int64(offset) + unixEpochSeconds
	return DateTime{seconds*ticksPerSecond + int64(t.Nanosecond()/100), kind}
}

// Time returns the instant. Unspecified counts as local time.
func (d DateTime) Time() time.Time {
	if d.Kind == UTC {
		return d.clock()
	}
	c := d.clock()
	return time.Date(c.Year(), c.Month(), c.Day(), c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), LocalZone)
}

// clock returns the fields of the date as if they were UTC.
func (d DateTime) clock() time.Time {
	seconds := d.Ticks/ticksPerSecond - unixEpochSeconds
	return time.Unix(seconds, d.Ticks%ticksPerSecond*100).UTC()
}

// ToUTC implements ToUniversalTime.
func (d DateTime) ToUTC() DateTime {
	if d.Kind == UTC {
		return d
	}
	return clampDate(DateTimeOf(d.Time(), UTC))
}

// ToLocal implements ToLocalTime. Unspecified counts as UTC.
func (d DateTime) ToLocal() DateTime {
	if d.Kind == Local {
		return d
	}
	return clampDate(DateTimeOf(d.clock(), Local))
}

func clampDate(d DateTime) DateTime {
	d.Ticks = min(max(d.Ticks, 0), maxDateTicks)
	return d
}

func argumentRange(param, message string) *Exception {
	return withParam(ExceptionNamed("System.ArgumentOutOfRangeException", "%s", message), param)
}

// withParam adds the name of the parameter at fault to the exception and to its message.
func withParam(e *Exception, param string) *Exception {
	if param != "" {
		e.Message += " (Parameter '" + param + "')"
		e.Props.Set("ParamName", param)
	}
	return e
}

// DateTimeFromFileTime implements FromFileTimeUtc. ok is false if the number is out of range.
func DateTimeFromFileTime(n int64) (DateTime, bool) {
	if n < 0 || n > maxDateTicks-fileTimeTicks {
		return DateTime{}, false
	}
	return DateTime{n + fileTimeTicks, UTC}, true
}

// ---- reading ----

// convertDateTime parses ISO 8601, as [datetime]$v does. Other texts are refused.
func convertDateTime(v any, t *Type) (any, error) {
	s, _ := v.(string)
	d, zoned, ok := parseISO(s)
	if !ok {
		return nil, refuseCast(v, t)
	}
	if zoned {
		return d.ToLocal(), nil
	}
	return d, nil
}

// parseISO parses yyyy-MM-dd[THH:mm[:ss]][Z]. With a zone the value is UTC.
func parseISO(s string) (d DateTime, zoned, ok bool) {
	text, zoned := strings.CutSuffix(s, "Z")
	if len(text) == len("2006-01-02") {
		text += "T00:00"
	}
	if len(text) == len("2006-01-02T15:04") {
		text += ":00"
	}
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil || len(text) != len("2006-01-02T15:04:05") {
		return d, false, false
	}
	kind := Unspecified
	if zoned {
		kind = UTC
	}
	return DateTimeOf(at, kind), zoned, true
}

// ---- writing ----

// Text implements ToString() in the invariant culture.
func (d DateTime) Text() string {
	return d.clock().Format("01/02/2006 15:04:05")
}

// dateFields maps the custom formats that ToString supports to Go layouts.
var dateFields = map[string]string{"yyyy": "2006", "MM": "01", "dd": "02", "HH": "15", "mm": "04", "ss": "05",
	"fff": "000"}

// Format implements ToString(spec) in the invariant culture, for formats that consist of the
// fields in dateFields, "T", "Z" and punctuation.
func (d DateTime) Format(spec string) (any, error) {
	var layout strings.Builder
	if spec == "" {
		return nil, Refuse("[datetime].ToString('')")
	}
	for i, n := 0, 0; i < len(spec); i += n {
		for n = 1; i+n < len(spec) && spec[i+n] == spec[i]; n++ {
		}
		run := spec[i : i+n]
		field, ok := dateFields[run]
		if !ok {
			field = run
		}
		if !ok && (len(spec) == 1 || strings.Trim(run, "-:. TZ") != "") {
			return nil, Refuse("[datetime].ToString('%s')", spec)
		}
		layout.WriteString(field)
	}
	return d.clock().Format(layout.String()), nil
}

// Text implements ToString(): [-][d.]hh:mm:ss[.fffffff].
func (t TimeSpan) Text() string {
	sign, n := "", uint64(t)
	if t < 0 {
		sign, n = "-", -n
	}
	if days := n / ticksPerDay; days > 0 {
		sign += strconv.FormatUint(days, 10) + "."
	}
	out := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/(3600*ticksPerSecond)%24, n/(60*ticksPerSecond)%60,
		n/ticksPerSecond%60)
	if f := n % ticksPerSecond; f != 0 {
		out += fmt.Sprintf(".%07d", f)
	}
	return out
}
