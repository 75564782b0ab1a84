// Package accesslog writes the log lines of calls. A [Line] takes the fields of one call without a
// map, and a [Formatter] writes it as logrus's formatters would write an entry with these fields.
package accesslog

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

// A Line holds the fields of one call. It reaches the formatter as the context of its entry, because logrus
// copies the fields of an entry several times. A Line must not be changed after [Line.Log].
type Line struct {
	context.Context
	fields []field
	space  [most]field
}

// most is the number of fields that a call rarely exceeds.
const most = 18

// field is a field of a line. kind is the type of its value.
type field struct {
	name string
	kind kind
	text string
	n    int64 // the value of kind whole; 0 or 1 for truth; microseconds for milliseconds
}

type kind uint8

const (
	text kind = iota
	whole
	truth
	milliseconds
)

// New returns a line without fields.
func New() *Line {
	l := &Line{Context: context.Background()}
	l.fields = l.space[:0]
	return l
}

// Text adds a text field. No name may be added twice, and none may be "time", "level" or "msg".
func (l *Line) Text(name, value string) { l.fields = append(l.fields, field{name: name, text: value}) }

// Whole adds an integer field.
func (l *Line) Whole(name string, n int) {
	l.fields = append(l.fields, field{name: name, kind: whole, n: int64(n)})
}

// True adds a boolean field that is true.
func (l *Line) True(name string) { l.fields = append(l.fields, field{name: name, kind: truth, n: 1}) }

// Milliseconds adds a duration in milliseconds, with three decimals.
func (l *Line) Milliseconds(name string, took time.Duration) {
	l.fields = append(l.fields, field{name: name, kind: milliseconds, n: took.Microseconds()})
}

// data returns the fields in the form of logrus.
func (l *Line) data() logrus.Fields {
	all := make(logrus.Fields, len(l.fields))
	for _, f := range l.fields {
		switch f.kind {
		case whole:
			all[f.name] = f.n
		case truth:
			all[f.name] = f.n != 0
		case milliseconds:
			all[f.name] = float64(f.n) / 1000
		default:
			all[f.name] = f.text
		}
	}
	return all
}

// Log writes the line with a message.
func (l *Line) Log(log *logrus.Logger, level logrus.Level, message string) {
	slices.SortFunc(l.fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	entry := logrus.Entry{Logger: log, Context: l}
	entry.Log(level, message)
}
