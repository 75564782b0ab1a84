package dotnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format is ToString(spec) with the invariant culture; a spec that is not valid
// gives the general form.
func (d DateTime) Format(spec string) string {
	s, err := d.format(spec)
	if err != nil {
		s, _ = d.format("MM/dd/yyyy HH:mm:ss")
	}
	return s
}

var standardDates = map[byte]string{
	'd': "MM/dd/yyyy", 'D': "dddd, dd MMMM yyyy", 'f': "dddd, dd MMMM yyyy HH:mm", 'F': "dddd, dd MMMM yyyy HH:mm:ss",
	'g': "MM/dd/yyyy HH:mm", 'G': "MM/dd/yyyy HH:mm:ss", 'm': "MMMM dd", 'M': "MMMM dd",
	'o': "yyyy-MM-dd'T'HH:mm:ss.fffffffK", 'O': "yyyy-MM-dd'T'HH:mm:ss.fffffffK",
	'r': "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'", 'R': "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
	's': "yyyy-MM-dd'T'HH:mm:ss", 't': "HH:mm", 'T': "HH:mm:ss", 'u': "yyyy-MM-dd HH:mm:ss'Z'", 'y': "yyyy MMMM", 'Y': "yyyy MMMM",
}

func badDateFormat() *Exception {
	return ExceptionNamed("System.FormatException", "Input string was not in a correct format.")
}

func (d DateTime) format(spec string) (string, error) {
	if len(spec) == 1 {
		if spec == "U" {
			return d.ToUTC().format(standardDates['F'])
		}
		full, ok := standardDates[spec[0]]
		if !ok {
			return "", badDateFormat()
		}
		spec = full
	}
	var b strings.Builder
	b.Grow(len(spec) + 8)
	clock := d.clock()
	for i := 0; i < len(spec); {
		c := spec[i]
		n := 1
		for i+n < len(spec) && spec[i+n] == c {
			n++
		}
		switch c {
		case '\'', '"':
			end := strings.IndexByte(spec[i+1:], c)
			if end < 0 {
				return "", badDateFormat()
			}
			b.WriteString(spec[i+1 : i+1+end])
			i += end + 2
			continue
		case '\\', '%':
			if i+1 >= len(spec) {
				return "", badDateFormat()
			}
			if c == '\\' {
				b.WriteByte(spec[i+1])
				i += 2
			} else {
				i++
			}
			continue
		}
		if !d.field(&b, clock, c, n) {
			b.WriteString(spec[i : i+n])
		}
		i += n
	}
	return b.String(), nil
}

// field writes one run of a format letter; false: it is not a format letter.
func (d DateTime) field(b *strings.Builder, t time.Time, c byte, n int) bool {
	number := func(v, most int) { writePadded(b, v, min(n, most)) }
	switch c {
	case 'y':
		switch n {
		case 1, 2:
			number(t.Year()%100, 2)
		default:
			writePadded(b, t.Year(), n)
		}
	case 'M', 'd':
		dateField(b, t, c, n)
	case 'H':
		number(t.Hour(), 2)
	case 'h':
		number((t.Hour()+11)%12+1, 2)
	case 'm':
		number(t.Minute(), 2)
	case 's':
		number(t.Second(), 2)
	case 'f', 'F':
		d.fraction(b, c, n)
	case 't':
		half := "AM"
		if t.Hour() >= 12 {
			half = "PM"
		}
		b.WriteString(half[:min(n, 2)])
	case 'K', 'z':
		d.zone(b, c, n)
	case 'g':
		b.WriteString("A.D.")
	default:
		return false
	}
	return true
}

// writePadded writes a number of at least n digits.
func writePadded(b *strings.Builder, v, n int) {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], int64(v), 10)
	for range n - len(digits) {
		b.WriteByte('0')
	}
	b.Write(digits)
}

func dateField(b *strings.Builder, t time.Time, c byte, n int) {
	name, value := t.Month().String(), int(t.Month())
	if c == 'd' {
		name, value = t.Weekday().String(), t.Day()
	}
	switch n {
	case 1, 2:
		writePadded(b, value, n)
	case 3:
		b.WriteString(name[:3])
	default:
		b.WriteString(name)
	}
}

func (d DateTime) fraction(b *strings.Builder, c byte, n int) {
	digits := fmt.Sprintf("%07d", d.Ticks%ticksPerSecond)[:min(n, 7)]
	if c == 'f' {
		b.WriteString(digits)
		return
	}
	digits = strings.TrimRight(digits, "0")
	if digits == "" && strings.HasSuffix(b.String(), ".") { // the point goes with its digits
		s := b.String()
		b.Reset()
		b.WriteString(s[:len(s)-1])
	}
	b.WriteString(digits)
}

func (d DateTime) zone(b *strings.Builder, c byte, n int) {
	if c == 'K' {
		if d.Kind == Unspecified {
			return
		}
		if d.Kind == UTC {
			b.WriteByte('Z')
			return
		}
		n = 3
	}
	_, seconds := d.Time().Zone()
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	hours, minutes := seconds/3600, seconds/60%60
	switch n {
	case 1:
		fmt.Fprintf(b, "%c%d", sign, hours)
	case 2:
		fmt.Fprintf(b, "%c%02d", sign, hours)
	default:
		fmt.Fprintf(b, "%c%02d:%02d", sign, hours, minutes)
	}
}

// ---- TimeSpan ----

// parts splits the length: days, hours, minutes, seconds, ticks below a second.
func (t TimeSpan) parts() (days, hours, minutes, seconds, ticks int64) {
	n := int64(t)
	return n / ticksPerDay, n / (3600 * ticksPerSecond) % 24, n / (60 * ticksPerSecond) % 60, n / ticksPerSecond % 60, n % ticksPerSecond
}

// String is the constant form [-][d.]hh:mm:ss[.fffffff].
func (t TimeSpan) String() string {
	d, h, m, s, f := t.parts()
	sign := ""
	if t < 0 {
		sign, d, h, m, s, f = "-", -d, -h, -m, -s, -f
	}
	out := fmt.Sprintf("%02d:%02d:%02d", h, m, s)
	if d != 0 {
		out = strconv.FormatInt(d, 10) + "." + out
	}
	if f != 0 {
		out += fmt.Sprintf(".%07d", f)
	}
	return sign + out
}

func (t TimeSpan) format(spec string) (string, error) {
	d, h, m, s, f := t.parts()
	sign := ""
	if t < 0 {
		sign, d, h, m, s, f = "-", -d, -h, -m, -s, -f
	}
	switch spec {
	case "c", "t", "T":
		return t.String(), nil
	case "g":
		out := fmt.Sprintf("%d:%02d:%02d", h, m, s)
		if d != 0 {
			out = fmt.Sprintf("%d:%s", d, out)
		}
		if f != 0 {
			out += "." + strings.TrimRight(fmt.Sprintf("%07d", f), "0")
		}
		return sign + out, nil
	case "G":
		return sign + fmt.Sprintf("%d:%02d:%02d:%02d.%07d", d, h, m, s, f), nil
	}
	if len(spec) == 1 {
		return "", badDateFormat()
	}
	values := map[byte]int64{'d': d, 'h': h, 'm': m, 's': s}
	var b strings.Builder
	for i := 0; i < len(spec); {
		c, n := spec[i], 1
		for i+n < len(spec) && spec[i+n] == c {
			n++
		}
		switch c {
		case 'd', 'h', 'm', 's':
			fmt.Fprintf(&b, "%0*d", n, values[c])
		case 'f':
			b.WriteString(fmt.Sprintf("%07d", f)[:min(n, 7)])
		case 'F':
			b.WriteString(strings.TrimRight(fmt.Sprintf("%07d", f)[:min(n, 7)], "0"))
		case '\\', '%':
			n = 1
			if c == '\\' && i+1 < len(spec) {
				b.WriteByte(spec[i+1])
				n = 2
			}
		case '\'', '"':
			end := strings.IndexByte(spec[i+1:], c)
			if end < 0 {
				return "", badDateFormat()
			}
			b.WriteString(spec[i+1 : i+1+end])
			n = end + 2
		default:
			return "", badDateFormat()
		}
		i += n
	}
	return b.String(), nil
}

// parseTimeSpan reads [-][d.]hh:mm[:ss[.fffffff]], or whole days.
func parseTimeSpan(s string) (TimeSpan, *Exception) {
	bad := ExceptionNamed("System.FormatException", "String '%s' was not recognized as a valid TimeSpan.", s)
	text := strings.TrimSpace(s)
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	fields := strings.Split(text, ":")
	var days, ticks int64
	failed := false
	clock := [3]int64{}
	read := func(s string, most int64) int64 {
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil || len(s) > 8 || int64(n) > most {
			failed = true
			return 0
		}
		return int64(n)
	}
	if len(fields) == 1 {
		days = read(text, 10675199)
	} else {
		if day, hour, ok := strings.Cut(fields[0], "."); ok {
			days = read(day, 10675199)
			fields[0] = hour
		} else if len(fields) == 4 {
			days = read(fields[0], 10675199)
			fields = fields[1:]
		}
		last := len(fields) - 1
		if second, fraction, ok := strings.Cut(fields[last], "."); ok && last == 2 {
			fields[last] = second
			ticks = read((fraction + "0000000")[:7], ticksPerSecond)
		}
		if len(fields) > 3 {
			return 0, bad
		}
		for i, most := range []int64{23, 59, 59}[:len(fields)] {
			clock[i] = read(fields[i], most)
		}
	}
	if failed {
		return 0, bad
	}
	total := days*ticksPerDay + (clock[0]*3600+clock[1]*60+clock[2])*ticksPerSecond + ticks
	if negative {
		total = -total
	}
	return TimeSpan(total), nil
}
