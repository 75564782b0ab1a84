package zones

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/miekg/dns"
)

// Source is a zone file with one zone in RFC 1035 form. Files that dnscmd /zoneexport has written, with
// [AGE:n] in front of the type, are also supported. Properties that the RFC does not cover are in comments of
// the form
//
//	; adgateway: type=Primary scope=Domain dynamic=Secure
//
// with the keys zone, type, scope, partition, file, dynamic, server, masters
// (comma-separated addresses), timeout and recursion of a forwarder, paused, shutdown,
// signed, aging, refresh and norefresh (hours). Without scope
// the zone is file-backed. The time stamp of a dynamic record is in a comment at
// the end of its line: "; stamp=2026-10-05T14:00:00Z".
//
// The name of the zone is the value of the key zone, else the owner of the SOA
// record, else the file name without .zone, .dns, .txt or .db.
type Source struct {
	Name string // file name, for error messages
	Text []byte
}

// Fault is an error in a zone file.
type Fault struct {
	File string
	Line int // starts at 1; 0 for the whole file
	Text string
}

// String returns "file:line: text".
func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// LoadError lists all faults of the files given to [Store.Load].
type LoadError struct{ Faults []Fault }

// Error lists one fault per line.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// reader reads one source.
type reader struct {
	src        Source
	text       string
	lines      []string
	faults     []Fault
	directives map[string]directive
	ages       map[int]time.Time // line of a record -> time of its [AGE:n]
	ttlLine    int               // of the first $TTL, or 0
	records    []fileRecord
	broken     bool // parsing ended with a syntax error
}

type directive struct {
	value string
	line  int
}

type fileRecord struct {
	rr    dns.RR
	stamp time.Time
	line  int
}

var (
	directiveLine = regexp.MustCompile(`^\s*;\s*adgateway:(.*)$`)
	ageMark       = regexp.MustCompile(`\[AGE:(\d+)\]`)
	stampComment  = regexp.MustCompile(`\bstamp=(\S+)`)
	ttlDirective  = regexp.MustCompile(`(?i)^\$TTL[ \t]`)
	originName    = regexp.MustCompile(`(?i)^\$ORIGIN[ \t]+(\S+)\.(?:\s|;|$)`)
	lineInError   = regexp.MustCompile(`at line: (\d+):\d+`)
	fileSuffix    = regexp.MustCompile(`(?i)\.(zone|dns|txt|db)$`)
)

func newReader(src Source) *reader {
	text := strings.ReplaceAll(decodeText(src.Text), "\r\n", "\n")
	r := &reader{src: src, lines: strings.Split(text, "\n"), directives: map[string]directive{},
		ages: map[int]time.Time{}}
	for i, line := range r.lines {
		if strings.Contains(line, "adgateway:") {
			if m := directiveLine.FindStringSubmatch(line); m != nil {
				r.readDirectives(m[1], i+1)
			}
		}
		if r.ttlLine == 0 && strings.HasPrefix(line, "$") && ttlDirective.MatchString(line) {
			r.ttlLine = i + 1
		}
		r.lines[i] = r.takeAge(line, i+1)
		r.takeWins(i)
	}
	if r.text = strings.Join(r.lines, "\n"); !strings.HasSuffix(r.text, "\n") {
		r.text += "\n"
	}
	return r
}

// decodeText removes byte order marks and decodes UTF-16, which some editors write.
func decodeText(b []byte) string {
	if len(b) < 2 || !(b[0] == 0xFF && b[1] == 0xFE || b[0] == 0xFE && b[1] == 0xFF) {
		return strings.TrimPrefix(string(b), "\uFEFF")
	}
	low, high := 0, 1
	if b[0] == 0xFE {
		low, high = 1, 0
	}
	units := make([]uint16, 0, len(b)/2)
	for b = b[2:]; len(b) >= 2; b = b[2:] {
		units = append(units, uint16(b[low])|uint16(b[high])<<8)
	}
	return string(utf16.Decode(units))
}

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, Fault{File: r.src.Name, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) readDirectives(text string, line int) {
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		key = strings.ToLower(key)
		switch old, there := r.directives[key]; {
		case !ok || value == "":
			r.fault(line, "%q is not of the form key=value", word)
		case !directiveKeys[key]:
			r.fault(line, "unknown key %q", key)
		case there && old.value != value:
			r.fault(line, "%s is already %s in line %d", key, old.value, old.line)
		default:
			r.directives[key] = directive{value, line}
		}
	}
}

var directiveKeys = map[string]bool{
	"zone": true, "type": true, "scope": true, "partition": true, "file": true, "dynamic": true, "server": true,
	"masters": true, "timeout": true, "recursion": true, "paused": true, "shutdown": true, "signed": true,
	"aging": true, "refresh": true, "norefresh": true,
}

// takeAge records the [AGE:n] mark of a line, in hours since 1601, and returns the line with
// the mark replaced by spaces.
func (r *reader) takeAge(line string, number int) string {
	if !strings.Contains(line, "[AGE:") {
		return line
	}
	m := ageMark.FindStringSubmatchIndex(line)
	if m == nil || strings.ContainsAny(line[:m[0]], `;"`) {
		return line
	}
	if hours, err := strconv.ParseInt(line[m[2]:m[3]], 10, 32); err != nil {
		r.fault(number, "the age %s is too large", line[m[2]:m[3]])
	} else if hours > 0 {
		r.ages[number] = ageTime(hours)
	}
	return line[:m[0]] + strings.Repeat(" ", m[1]-m[0]) + line[m[1]:]
}

// ageTime converts hours since 1601 to a time.
func ageTime(hours int64) time.Time {
	return time.Unix(hours*3600-epoch1601, 0).UTC()
}

// epoch1601 is the number of seconds from 1601 to 1970.
const epoch1601 = 11644473600

// parse reads the records up to the first syntax error.
func (r *reader) parse() {
	in := strings.NewReader(r.text)
	p := dns.NewZoneParser(in, r.origin(), "")
	p.SetDefaultTTL(3600)
	done, line := 0, 1 // offset reached by the parser, and its line
	ttl, last := uint32(3600), 1
	for {
		first := r.firstLine(line)
		rr, ok := p.Next()
		if read := len(r.text) - in.Len(); read > done {
			line += strings.Count(r.text[done:read], "\n")
			done = read
		} else {
			first = last // another record of a $GENERATE
		}
		if !ok {
			if err := p.Err(); err != nil {
				r.syntaxFault(err, first)
			}
			return
		}
		last = first
		r.take(rr, first, p.Comment())
		if soa, is := rr.(*dns.SOA); is {
			ttl = soa.Minttl
		}
		if !r.ttlStated(first) { // this server uses its default, whereas RFC 1035 uses the last explicit TTL
			p.SetDefaultTTL(ttl)
		}
	}
}

// firstLine returns the line of the next entry at or after a line.
func (r *reader) firstLine(line int) int {
	for ; line <= len(r.lines); line++ {
		text := strings.TrimSpace(r.lines[line-1])
		if text != "" && text[0] != ';' &&
			(text[0] != '$' || strings.HasPrefix(strings.ToUpper(text), "$GENERATE")) {
			break
		}
	}
	return line
}

// ttlStated reports whether there is a $TTL before the line.
func (r *reader) ttlStated(line int) bool { return r.ttlLine > 0 && r.ttlLine < line }

func (r *reader) syntaxFault(err error, line int) {
	r.broken = true
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), ": "), "dns: ")
	if m := lineInError.FindStringSubmatchIndex(text); m != nil {
		// the parser restarts at 1 inside a $GENERATE
		generated := line <= len(r.lines) && strings.HasPrefix(r.lines[line-1], "$")
		if n, e := strconv.Atoi(text[m[2]:m[3]]); e == nil && !generated {
			line = n
		}
		text = strings.TrimSpace(text[:m[0]])
	}
	r.fault(line, "%s", text)
}

func (r *reader) take(rr dns.RR, line int, comment string) {
	rec := fileRecord{rr: rr, line: line, stamp: r.ages[line]}
	if m := stampComment.FindStringSubmatch(comment); m != nil {
		at, err := time.Parse(time.RFC3339, m[1])
		if err != nil {
			r.fault(line, "%q is not a time of the form 2026-10-05T14:00:00Z", m[1])
		}
		rec.stamp = at.UTC().Truncate(time.Hour)
	}
	r.records = append(r.records, rec)
}

// origin returns the initial origin of relative names.
func (r *reader) origin() string {
	name := r.directives["zone"].value
	if name == "" {
		name = path.Base(strings.ReplaceAll(r.src.Name, `\`, "/"))
		name = strings.TrimPrefix(fileSuffix.ReplaceAllString(name, ""), "db.")
	}
	if _, ok := dns.IsDomainName(name); !ok || checkName(strings.TrimSuffix(name, ".")) != 0 {
		return "."
	}
	return dns.Fqdn(name)
}
