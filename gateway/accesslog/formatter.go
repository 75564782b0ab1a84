package accesslog

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sirupsen/logrus"
)

// Formatter writes a [Line] itself, and all other entries with one of logrus's formatters. It is
// safe for concurrent use.
type Formatter struct {
	others logrus.Formatter
	// line appends a line. If it returns nil, the other formatter writes the line.
	line func(b []byte, entry *logrus.Entry, fields []field) []byte
}

var adopting sync.Mutex // several gateways may share a logger

// Adopt prepares a new logger to write lines. The logger keeps its formatter, unless that cannot
// write them.
func Adopt(log *logrus.Logger) {
	adopting.Lock()
	defer adopting.Unlock()
	if _, can := log.Formatter.(*Formatter); !can {
		log.SetFormatter(&Formatter{others: log.Formatter})
	}
}

// JSON returns a formatter that writes one JSON object per line.
func JSON() *Formatter {
	return &Formatter{&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano}, appendJSON}
}

// Text returns a formatter that writes names and values.
func Text() *Formatter {
	others := &logrus.TextFormatter{FullTimestamp: true, DisableColors: true, TimestampFormat: time.RFC3339}
	return &Formatter{others, appendText}
}

// Format returns an entry in the form for the log.
func (f *Formatter) Format(entry *logrus.Entry) ([]byte, error) {
	l, ok := entry.Context.(*Line)
	switch {
	case !ok:
		return f.others.Format(entry)
	case f.line == nil:
		whole := *entry
		whole.Data = l.data()
		return f.others.Format(&whole)
	case entry.Buffer == nil:
		return f.line(nil, entry, l.fields), nil
	}
	entry.Buffer.Write(f.line(entry.Buffer.AvailableBuffer(), entry, l.fields))
	return entry.Buffer.Bytes(), nil
}

// appendText appends a text line: time, level, message, then the fields ordered by name.
func appendText(b []byte, entry *logrus.Entry, fields []field) []byte {
	b = append(b, `time="`...)
	b = entry.Time.AppendFormat(b, time.RFC3339)
	b = append(b, `" level=`...)
	b = append(b, entry.Level.String()...)
	if entry.Message != "" {
		b = append(b, " msg="...)
		b = appendWord(b, entry.Message)
	}
	for i := range fields {
		f := &fields[i]
		b = append(b, ' ')
		b = append(b, f.name...)
		b = append(b, '=')
		switch f.kind {
		case whole:
			b = strconv.AppendInt(b, f.n, 10)
		case truth:
			b = strconv.AppendBool(b, f.n != 0)
		case milliseconds:
			b = strconv.AppendFloat(b, float64(f.n)/1000, 'g', -1, 64)
		default:
			b = appendWord(b, f.text)
		}
	}
	return append(b, '\n')
}

// appendWord appends a value, in quotes unless all its characters are safe without them.
func appendWord(b []byte, s string) []byte {
	for i := range len(s) {
		if !bare[s[i]] {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(b, s...)
}

// bare reports which bytes need no quotes in a text line, and plain reports which bytes need no escape in
// JSON.
var bare, plain = tables()

func tables() (bare, plain [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/@^+" {
		bare[c] = true
	}
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return bare, plain
}

// appendJSON appends a JSON object with level, message, time and the fields, ordered by name.
func appendJSON(b []byte, entry *logrus.Entry, fields []field) []byte {
	b = append(b, '{')
	level, message, stamp := false, false, false
	own := func(before string) {
		if !level && before > "level" {
			level = true
			b = appendString(appendName(b, "level"), entry.Level.String())
		}
		if !message && before > "msg" {
			message = true
			b = appendString(appendName(b, "msg"), entry.Message)
		}
		if !stamp && before > "time" {
			stamp = true
			b = append(appendName(b, "time"), '"')
			b = append(entry.Time.AppendFormat(b, time.RFC3339Nano), '"')
		}
	}
	for i := range fields {
		f := &fields[i]
		own(f.name)
		b = appendName(b, f.name)
		switch f.kind {
		case whole:
			b = strconv.AppendInt(b, f.n, 10)
		case truth:
			b = strconv.AppendBool(b, f.n != 0)
		case milliseconds:
			b = strconv.AppendFloat(b, float64(f.n)/1000, 'f', -1, 64)
		default:
			b = appendString(b, f.text)
		}
	}
	own("\xff")
	return append(b, "}\n"...)
}

// appendName appends the name of a field, preceded by a comma unless it is the first.
func appendName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(appendString(b, name), ':')
}

// appendString appends a text as a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if !plain[s[i]] {
			quoted, _ := json.Marshal(s) // a string always encodes
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
