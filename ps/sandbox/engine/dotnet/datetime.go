package dotnet

import (
	"math"
	"strings"
	"time"
)

// LocalZone is what DateTimeKind.Local means. Set it before the first evaluation.
var LocalZone = time.Local

// Clock is where [DateTime]::Now, UtcNow and Today have the time from; nil: time.Now.
type Clock func() time.Time

// now is what a static property is told by the clock it is given.
func now(clock any) time.Time {
	if c, ok := clock.(Clock); ok && c != nil {
		return c()
	}
	return time.Now()
}

// Ticks are units of 100 ns.
const (
	ticksPerSecond   = 10_000_000
	ticksPerDay      = 24 * 3600 * ticksPerSecond
	unixEpochTicks   = 621355968000000000
	fileTimeTicks    = 504911232000000000 // 1601-01-01
	maxDateTicks     = 3155378975999999999
	unixEpochSeconds = unixEpochTicks / ticksPerSecond
)

// DateTimeOf makes a DateTime of a Go time; kind Local shows it in LocalZone.
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

// Time gives the instant; Unspecified counts as local time.
func (d DateTime) Time() time.Time {
	if d.Kind == UTC {
		return d.clock()
	}
	c := d.clock()
	return time.Date(c.Year(), c.Month(), c.Day(), c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), LocalZone)
}

// clock gives the fields of the date as if they were UTC.
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

func (d DateTime) add(ticks int64) (any, error) {
	sum := d.Ticks + ticks
	if sum < 0 || sum > maxDateTicks || (ticks > 0) != (sum > d.Ticks) && ticks != 0 {
		return nil, argumentRange("value", "The added or subtracted value results in an un-representable DateTime.")
	}
	return DateTime{sum, d.Kind}, nil
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

func (d DateTime) addMonths(n int) (any, error) {
	c := d.clock()
	total := c.Year()*12 + int(c.Month()) - 1 + n
	year, month := total/12, total%12+1
	if year < 1 || year > 9999 {
		return nil, argumentRange("months", "The added or subtracted value results in an un-representable DateTime.")
	}
	day := min(c.Day(), daysIn(year, month))
	moved, e := makeDate([7]int{year, month, day}, d.Kind)
	if e != nil {
		return nil, e
	}
	moved.Ticks += d.Ticks % ticksPerDay
	return moved, nil
}

// addUnits adds a fraction of units of so many ticks each.
func (d DateTime) addUnits(value float64, unit int64) (any, error) {
	ticks := value * float64(unit)
	if math.IsNaN(ticks) || math.Abs(ticks) > maxDateTicks {
		return nil, argumentRange("value", "Value to add was out of range.")
	}
	return d.add(int64(ticks))
}

// FileTime is ToFileTimeUtc.
func (d DateTime) FileTime() int64 { return d.ToUTC().Ticks - fileTimeTicks }

// DateTimeFromFileTime is FromFileTimeUtc; ok is false out of range.
func DateTimeFromFileTime(n int64) (DateTime, bool) {
	if n < 0 || n > maxDateTicks-fileTimeTicks {
		return DateTime{}, false
	}
	return DateTime{n + fileTimeTicks, UTC}, true
}

// ---- reading ----

// parseDateTime is DateTime.Parse with the invariant culture: ISO 8601, the
// invariant forms with slashes, names of months, RFC 1123.
func parseDateTime(s string) (DateTime, *Exception) {
	d, zoned, ok := readDate(strings.TrimSpace(s))
	if !ok {
		return DateTime{}, ExceptionNamed("System.FormatException", "String '%s' was not recognized as a valid DateTime.", s)
	}
	if zoned {
		return d.ToLocal(), nil
	}
	return d, nil
}

// readDate gives a UTC value when the text names a zone.
func readDate(s string) (d DateTime, zoned, ok bool) {
	if len(s) > 64 {
		return d, false, false
	}
	if d, zoned, ok = parseISO(s, false); ok {
		return d, zoned, true
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			if strings.Contains(layout, "MST") {
				return DateTimeOf(t, UTC), true, true
			}
			return DateTime{DateTimeOf(t, UTC).Ticks, Unspecified}, false, true
		}
	}
	for _, layout := range []string{"15:04", "15:04:05", "3:04 PM", "3:04:05 PM"} {
		if t, err := time.Parse(layout, strings.ToUpper(s)); err == nil {
			today := DateTimeOf(time.Now(), Local)
			clock := int64(t.Hour()*3600+t.Minute()*60+t.Second()) * ticksPerSecond
			return DateTime{today.Ticks - today.Ticks%ticksPerDay + clock, Unspecified}, false, true
		}
	}
	return d, false, false
}

var dateLayouts = buildDateLayouts()

func buildDateLayouts() []string {
	layouts := []string{"Mon, 02 Jan 2006 15:04:05 MST"}
	for _, date := range []string{
		"1/2/2006", "1/2/06", "2006/1/2", "2006-1-2", "1-2-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006",
		"Jan 2 2006", "January 2 2006", "Monday, 2 January 2006", "Monday, January 2, 2006", "Jan 2006", "January 2006",
	} {
		for _, clock := range []string{"", " 15:04", " 15:04:05", " 15:04:05.999999999", " 3:04 PM", " 3:04:05 PM"} {
			layouts = append(layouts, date+clock)
		}
	}
	return layouts
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
	if strict && (rest == "z" || rest == "GMT") {
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
