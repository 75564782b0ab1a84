package dotnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LocalZone is what DateTimeKind.Local means. Set it before the first evaluation.
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

// DateTimeOf converts a Go time; kind Local shows it in LocalZone.
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

// Time returns the instant; Unspecified counts as local time.
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

// ToUTC is ToUniversalTime.
func (d DateTime) ToUTC() DateTime {
	if d.Kind == UTC {
		return d
	}
	return clampDate(DateTimeOf(d.Time(), UTC))
}

// ToLocal is ToLocalTime; Unspecified counts as UTC.
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

// withParam names the parameter at fault, in the message too.
func withParam(e *Exception, param string) *Exception {
	if param != "" {
		e.Message += " (Parameter '" + param + "')"
		e.Props.Set("ParamName", param)
	}
	return e
}

// makeDate builds a date from its fields, strictly.
func makeDate(f [7]int, kind DateTimeKind) (DateTime, *Exception) {
	year, month, day := f[0], f[1], f[2]
	if year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return DateTime{}, ExceptionNamed("System.ArgumentOutOfRangeException", "Year, Month, and Day parameters describe an un-representable DateTime.")
	}
	if f[3] < 0 || f[3] > 23 || f[4] < 0 || f[4] > 59 || f[5] < 0 || f[5] > 59 {
		return DateTime{}, ExceptionNamed("System.ArgumentOutOfRangeException", "Hour, Minute, and Second parameters describe an un-representable DateTime.")
	}
	t := time.Date(year, time.Month(month), day, f[3], f[4], f[5], 0, time.UTC)
	d := DateTimeOf(t, UTC)
	return DateTime{d.Ticks + int64(f[6]), kind}, nil
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// DateTimeFromFileTime is FromFileTimeUtc; ok is false out of range.
func DateTimeFromFileTime(n int64) (DateTime, bool) {
	if n < 0 || n > maxDateTicks-fileTimeTicks {
		return DateTime{}, false
	}
	return DateTime{n + fileTimeTicks, UTC}, true
}

// ---- reading ----

// convertDateTime reads ISO 8601, as [datetime]$v does; other texts are refused.
func convertDateTime(v any, t *Type) (any, error) {
	s, _ := v.(string)
	d, zoned, ok := parseISO(s, false)
	if !ok {
		return nil, refuseCast(v, t)
	}
	if zoned {
		return d.ToLocal(), nil
	}
	return d, nil
}

// parseISO reads yyyy-MM-dd[(T| )HH:mm[:ss[.fffffff]]][Z|+hh:mm]. strict asks for
// "T", seconds and nothing left out, as JSON dates have. With a zone the value is UTC.
func parseISO(s string, strict bool) (d DateTime, zoned, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return d, false, false
	}
	var f [7]int
	if !digitsAt(s, 0, 4, &f[0]) || !digitsAt(s, 5, 2, &f[1]) || !digitsAt(s, 8, 2, &f[2]) {
		return d, false, false
	}
	rest := s[10:]
	if rest == "" {
		d, e := makeDate(f, Unspecified)
		return d, false, e == nil && !strict
	}
	if rest[0] != 'T' && (strict || rest[0] != ' ' && rest[0] != 't') || len(rest) < 6 || rest[3] != ':' {
		return d, false, false
	}
	if !digitsAt(rest, 1, 2, &f[3]) || !digitsAt(rest, 4, 2, &f[4]) {
		return d, false, false
	}
	rest = rest[6:]
	if len(rest) >= 3 && rest[0] == ':' && digitsAt(rest, 1, 2, &f[5]) {
		rest = rest[3:]
		rest = readFraction(rest, &f[6])
	} else if strict {
		return d, false, false
	}
	if strict && (rest == "GMT" || strings.HasPrefix(rest, " ")) {
		return d, false, false
	}
	offset, zoned, ok := readZone(strings.TrimLeft(rest, " "))
	if !ok {
		return d, false, false
	}
	d, e := makeDate(f, Unspecified)
	if e != nil {
		return d, false, false
	}
	if zoned {
		d = clampDate(DateTime{d.Ticks - int64(offset)*60*ticksPerSecond, UTC})
	}
	return d, zoned, true
}

func digitsAt(s string, at, n int, out *int) bool {
	if at+n > len(s) {
		return false
	}
	v := 0
	for _, c := range []byte(s[at : at+n]) {
		if c < '0' || c > '9' {
			return false
		}
		v = v*10 + int(c-'0')
	}
	*out = v
	return true
}

// readFraction reads ".ddd" as ticks; digits beyond seven round.
func readFraction(s string, ticks *int) string {
	if len(s) < 2 || s[0] != '.' || s[1] < '0' || s[1] > '9' {
		return s
	}
	i, unit := 1, 1_000_000
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if unit == 0 {
			if i == 8 && s[i] >= '5' {
				*ticks++
			}
			continue
		}
		*ticks += int(s[i]-'0') * unit
		unit /= 10
	}
	return s[i:]
}

// readZone reads Z, +hh:mm, +hhmm, +hh or nothing; minutes east.
func readZone(s string) (minutes int, zoned, ok bool) {
	if s == "" {
		return 0, false, true
	}
	if s == "Z" || s == "z" || s == "GMT" {
		return 0, true, true
	}
	var h, m int
	if s[0] != '+' && s[0] != '-' || !digitsAt(s, 1, 2, &h) {
		return 0, false, false
	}
	switch len(s) {
	case 3:
	case 5:
		ok = digitsAt(s, 3, 2, &m)
	case 6:
		ok = s[3] == ':' && digitsAt(s, 4, 2, &m)
	}
	if len(s) != 3 && !ok || h > 14 || m > 59 {
		return 0, false, false
	}
	minutes = h*60 + m
	if s[0] == '-' {
		minutes = -minutes
	}
	return minutes, true, true
}

// ---- writing ----

// Text is ToString() with the invariant culture.
func (d DateTime) Text() string {
	return d.clock().Format("01/02/2006 15:04:05")
}

// dateFields are the custom formats that ToString takes, as layouts of Go.
var dateFields = map[string]string{"yyyy": "2006", "MM": "01", "dd": "02", "HH": "15", "mm": "04", "ss": "05", "fff": "000"}

// Format is ToString(spec) with the invariant culture, for formats of the
// fields of dateFields, "T", "Z" and punctuation.
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

// Text is ToString(): [-][d.]hh:mm:ss[.fffffff].
func (t TimeSpan) Text() string {
	sign, n := "", uint64(t)
	if t < 0 {
		sign, n = "-", -n
	}
	if days := n / ticksPerDay; days > 0 {
		sign += strconv.FormatUint(days, 10) + "."
	}
	out := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/(3600*ticksPerSecond)%24, n/(60*ticksPerSecond)%60, n/ticksPerSecond%60)
	if f := n % ticksPerSecond; f != 0 {
		out += fmt.Sprintf(".%07d", f)
	}
	return out
}
