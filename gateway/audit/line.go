package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"adgateway/ps"
)

// Event is the type of a line.
type Event string

// Events. Those after EventCounted concern the log itself.
const (
	EventIntent  Event = "intent"  // a call is about to run
	EventOutcome Event = "outcome" // the result of a call; without an intent if it announced no change
	EventRefused Event = "refused" // a call that was rejected before it ran
	EventCounted Event = "counted" // several calls of one caller that had no effect

	EventOpen    Event = "open"    // the log was opened; earlier intents without an outcome were interrupted
	EventClose   Event = "close"   // the log was closed cleanly
	EventTorn    Event = "torn"    // the previous line is unfinished because of a crash
	EventAltered Event = "altered" // another program changed the file
	EventGap     Event = "gap"     // lines could not be written for a while
	EventExpired Event = "expired" // an old file is about to be removed

	EventWitness Event = "witness" // the end of another gateway's chain
	EventAlone   Event = "alone"   // no other gateway witnesses the end of this chain from this line on
)

const outcomeRefused = "refused"

// Line is one line of the log. Members that do not apply to its event are absent.
type Line struct {
	Seq   uint64 `json:"seq"`
	Time  string `json:"time"` // UTC, RFC 3339 with nanoseconds
	Event Event  `json:"event"`

	RequestID  string            `json:"requestId,omitempty"`
	Who        *Who              `json:"who,omitempty"`
	From       string            `json:"from,omitempty"`
	Operation  string            `json:"operation,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	PlanCaller string            `json:"planCaller,omitempty"` // who made the plan that is applied
	Change     string            `json:"change,omitempty"`     // id of the change in the history
	// whether an earlier version made the change without the store that the gateways shared
	Degraded bool `json:"degraded,omitempty"`

	Intent   uint64      `json:"intent,omitempty"` // sequence number of the intent
	Outcome  string      `json:"outcome,omitempty"`
	Code     string      `json:"code,omitempty"`
	Status   int         `json:"status,omitempty"`
	Server   string      `json:"server,omitempty"`
	PinEpoch uint64      `json:"pinEpoch,omitempty"` // epoch of the gateways' choice of the server
	Duration float64     `json:"durationMs,omitempty"`
	Changes  []ps.Change `json:"changes,omitempty"`
	Steps    []ps.Step   `json:"steps,omitempty"`
	Remains  []ps.Object `json:"remains,omitempty"`
	Failed   []ps.Object `json:"failed,omitempty"`

	SettledBy string `json:"settledBy,omitempty"` // as in [Result]

	Host    string            `json:"host,omitempty"`
	Process int               `json:"process,omitempty"`
	Chain   string            `json:"chain,omitempty"`   // hash algorithm from here on
	Reason  string            `json:"reason,omitempty"`  // for people
	Since   string            `json:"since,omitempty"`   // start of the period; for owed lines, their own time
	Count   uint64            `json:"count,omitempty"`   // lines, calls or bytes, depending on the event
	Codes   map[string]uint64 `json:"codes,omitempty"`   // counted calls by code
	SHA256  string            `json:"sha256,omitempty"`  // of a torn line
	Through uint64            `json:"through,omitempty"` // number of the last line of the file that expires
	File    string            `json:"file,omitempty"`
	Gateway string            `json:"gateway,omitempty"` // the witnessed gateway
	Witness *Witnessed        `json:"witness,omitempty"`

	Previous string `json:"previous"`

	createdAt time.Time
	raw       []byte // as read from the file
}

// Raw returns the line as read from the file, including its hash, or nil if it was not read from a
// file.
func (l *Line) Raw() []byte { return l.raw }

// timeFormat always has nine digits, so that lines sort by time as text.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

func stamp(t time.Time) string { return t.UTC().Format(timeFormat) }

func (c Call) line(event Event) *Line {
	return &Line{Event: event, RequestID: c.RequestID, Who: c.Who, From: c.From, Operation: c.Operation,
		Parameters: c.Parameters, PlanCaller: c.PlanCaller, Change: c.Change, Degraded: c.Degraded,
		Server: c.Server, PinEpoch: c.PinEpoch}
}

func (l *Line) add(r Result) {
	l.Outcome, l.Code, l.Status, l.Server, l.PinEpoch = r.Outcome, r.Code, r.Status, r.Server, r.PinEpoch
	l.Duration = float64(r.Duration.Microseconds()) / 1000
	l.SettledBy = r.SettledBy
	l.Changes, l.Steps, l.Remains, l.Failed = r.Changes, r.Steps, r.Remains, r.Failed
}

// maxBrief limits a value in a line about a call without effect, in encoded bytes.
const maxBrief = 256

// brief shortens the values of parameters. The result still identifies a call.
func brief(parameters map[string]string) map[string]string {
	short := make(map[string]string, len(parameters))
	for name, value := range parameters {
		short[name] = cut(value, maxBrief)
	}
	return short
}

// cut returns the beginning of a text that takes at most limit bytes as JSON, with an ellipsis if
// the text was cut.
func cut(text string, limit int) string {
	size := 0
	for at, r := range text {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
			size += 2
		case r < ' ' || r == 0x7f || r == utf8.RuneError || r == '\u2028' || r == '\u2029':
			size += 6
		default:
			size += utf8.RuneLen(r)
		}
		if size > limit {
			return text[:at] + "…"
		}
	}
	return text
}

// Targets returns the objects of a line, without duplicates.
func (l *Line) Targets() []ps.Object {
	var all []ps.Object
	seen := map[ps.Object]bool{}
	add := func(guid, dn string) {
		o := ps.Object{GUID: guid, DN: dn}
		if o != (ps.Object{}) && !seen[o] {
			seen[o] = true
			all = append(all, o)
		}
	}
	for _, c := range l.Changes {
		add(c.GUID, c.DN)
	}
	for _, s := range l.Steps {
		add(s.GUID, s.DN)
	}
	for _, o := range append(l.Remains[:len(l.Remains):len(l.Remains)], l.Failed...) {
		add(o.GUID, o.DN)
	}
	return all
}

// noHash is the member "previous" of the very first line.
var noHash = strings.Repeat("0", hashLength)

const (
	hashLength = 64
	hashMember = `,"hash":"`
	hashEnd    = `"}`
	hashTail   = len(hashMember) + hashLength + len(hashEnd)
)

// encode writes the line with its hash and a line feed, and returns the hash.
func (l *Line) encode(out *bytes.Buffer, key []byte) string {
	start := out.Len()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(l); err != nil {
		// Only the value of an attribute can fail to encode, so the line is written without attributes.
		out.Truncate(start)
		l.Changes, l.Reason = nil, "the changes cannot be written: "+err.Error()
		_ = encoder.Encode(l) // text and numbers only
	}
	out.Truncate(out.Len() - 1) // the line feed
	sum := digest(key, out.Bytes()[start:])
	out.Truncate(out.Len() - 1) // the brace
	out.WriteString(hashMember + sum + hashEnd + "\n")
	return sum
}

var errNoLine = errors.New("is not a line of an audit log")

// parse parses a line without its line feed. It returns the line, the bytes that its
// hash covers, and the hash that it carries, without checking the hash.
func parse(raw []byte) (line *Line, hashed []byte, sum string, err error) {
	if len(raw) < hashTail || !bytes.HasSuffix(raw, []byte(hashEnd)) {
		return nil, nil, "", errNoLine
	}
	body, tail := raw[:len(raw)-hashTail], string(raw[len(raw)-hashTail:])
	sum = tail[len(hashMember) : len(hashMember)+hashLength]
	if !strings.HasPrefix(tail, hashMember) || strings.Trim(sum, "0123456789abcdef") != "" {
		return nil, nil, "", errNoLine
	}
	hashed = append(append(make([]byte, 0, len(body)+1), body...), '}')
	line = &Line{raw: raw}
	decoder := json.NewDecoder(bytes.NewReader(hashed))
	if err := decoder.Decode(line); err != nil || decoder.InputOffset() != int64(len(hashed)) || line.Seq == 0 {
		return nil, nil, "", errNoLine
	}
	return line, hashed, sum, nil
}
