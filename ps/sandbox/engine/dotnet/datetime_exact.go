package dotnet

import (
	"strings"
	"time"
)

// dateParseExact is DateTime.ParseExact with the invariant culture.
func dateParseExact(s string, formats []string, styles int64) (any, error) {
	for _, format := range formats {
		if len(format) == 1 {
			if full, ok := standardDates[format[0]]; ok {
				format = full
			}
		}
		p := exactDate{text: s, fields: [7]int{1, 1, 1}}
		if d, ok := p.parse(format, styles); ok {
			return d, nil
		}
	}
	return nil, ExceptionNamed("System.FormatException", "String '%s' was not recognized as a valid DateTime.", s)
}

// exactDate reads a date field by field.
type exactDate struct {
	text   string
	fields [7]int // year, month, day, hour, minute, second, ticks
	half   int    // 1 AM, 2 PM
	zoned  bool
	z      bool
	offset int // minutes east
}

func (p *exactDate) parse(format string, styles int64) (DateTime, bool) {
	for i := 0; i < len(format); {
		c, n := format[i], 1
		for i+n < len(format) && format[i+n] == c {
			n++
		}
		switch c {
		case '\'', '"':
			end := strings.IndexByte(format[i+1:], c)
			if end < 0 || !p.literal(format[i+1:i+1+end]) {
				return DateTime{}, false
			}
			i += end + 2
			continue
		case '\\':
			if i+1 >= len(format) || !p.literal(format[i+1:i+2]) {
				return DateTime{}, false
			}
			i += 2
			continue
		case '%':
			i++
			continue
		}
		if !p.field(c, n) && (strings.IndexByte("yMdHhmsfFtKz", c) >= 0 || !p.literal(format[i:i+n])) {
			return DateTime{}, false
		}
		i += n
	}
	if p.text != "" {
		return DateTime{}, false
	}
	switch {
	case p.half == 2 && p.fields[3] < 12:
		p.fields[3] += 12
	case p.half == 1 && p.fields[3] == 12:
		p.fields[3] = 0
	}
	d, e := makeDate(p.fields, Unspecified)
	if e != nil {
		return d, false
	}
	if p.zoned {
		d = clampDate(DateTime{d.Ticks - int64(p.offset)*60*ticksPerSecond, UTC})
	}
	return styledDate(d, p.zoned, p.z, styles), true
}

func (p *exactDate) literal(s string) bool {
	rest, ok := strings.CutPrefix(p.text, s)
	p.text = rest
	return ok
}

// digits reads at least low and at most high digits.
func (p *exactDate) digits(low, high int, out *int) bool {
	n := 0
	for n < high && n < len(p.text) && p.text[n] >= '0' && p.text[n] <= '9' {
		n++
	}
	if n < low {
		return false
	}
	digitsAt(p.text, 0, n, out)
	p.text = p.text[n:]
	return true
}

func (p *exactDate) field(c byte, n int) bool {
	low := min(n, 2)
	switch c {
	case 'y':
		if n < 3 {
			ok := p.digits(low, 2, &p.fields[0])
			p.fields[0] += 2000
			if p.fields[0] > 2049 {
				p.fields[0] -= 100
			}
			return ok
		}
		return p.digits(n, n, &p.fields[0])
	case 'M':
		if n > 2 {
			return p.name(n, 1, func(i int) string { return time.Month(i).String() }, 12, &p.fields[1])
		}
		return p.digits(low, 2, &p.fields[1])
	case 'd':
		if n > 2 {
			var weekday int
			return p.name(n, 0, func(i int) string { return time.Weekday(i).String() }, 6, &weekday)
		}
		return p.digits(low, 2, &p.fields[2])
	case 'H', 'h':
		return p.digits(low, 2, &p.fields[3])
	case 'm':
		return p.digits(low, 2, &p.fields[4])
	case 's':
		return p.digits(low, 2, &p.fields[5])
	case 'f', 'F':
		return p.fraction(c, n)
	case 't':
		return p.meridiem(n)
	case 'K', 'z':
		return p.zone(c)
	}
	return false
}

func (p *exactDate) name(n, first int, name func(int) string, last int, out *int) bool {
	for i := first; i <= last; i++ {
		text := name(i)
		if n == 3 {
			text = text[:3]
		}
		if len(p.text) >= len(text) && EqualFold(p.text[:len(text)], text) {
			p.text = p.text[len(text):]
			*out = i
			return true
		}
	}
	return false
}

func (p *exactDate) fraction(c byte, n int) bool {
	if n > 7 {
		return false
	}
	before := len(p.text)
	low := n
	if c == 'F' {
		low = 0
	}
	v := 0
	if !p.digits(low, n, &v) {
		return false
	}
	for range 7 - (before - len(p.text)) {
		v *= 10
	}
	p.fields[6] = v
	return true
}

func (p *exactDate) meridiem(n int) bool {
	for half, text := range []string{"AM", "PM"} {
		text = text[:min(n, 2)]
		if len(p.text) >= len(text) && EqualFold(p.text[:len(text)], text) {
			p.text, p.half = p.text[len(text):], half+1
			return true
		}
	}
	return false
}

func (p *exactDate) zone(c byte) bool {
	if c == 'K' && (p.text == "" || p.text[0] == 'Z') {
		p.zoned = p.text != ""
		p.z = p.zoned
		p.text = strings.TrimPrefix(p.text, "Z")
		return true
	}
	for _, n := range []int{6, 3} {
		if len(p.text) >= n {
			if minutes, ok, good := readZone(p.text[:n]); ok && good {
				p.offset, p.zoned, p.text = minutes, true, p.text[n:]
				return true
			}
		}
	}
	return false
}
