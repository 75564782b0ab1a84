package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"adgateway/ps"
)

// Note is the reason why a caller changes something.
var Note = reasonKind(1, "must not be blank", Doc{
	Example: "INC-4711", Text: fmt.Sprintf("Text of at most %d characters.", reasonLongest),
})

// Reason is the reason why a caller wants to see a secret.
var Reason = reasonKind(reasonShortest,
	fmt.Sprintf("must give a reason of at least %d characters, for the audit log", reasonShortest), Doc{
		Example: "INC-4711: no network at this computer",
		Text:    fmt.Sprintf("Text of %d to %d characters.", reasonShortest, reasonLongest),
	})

const reasonShortest, reasonLongest = 8, 200

// reasonKind is the kind of a reason with a least length, not counting blanks around it. People read reasons
// in plans, histories and audits, so they have no characters that people do not see.
func reasonKind(least int, must string, doc Doc) Kind {
	doc.Type, doc.MaxLength = "string", reasonLongest
	return &checkedKind{base: base{"string"}, limit: reasonLongest, doc: doc,
		check: func(s string) (string, *FieldError) {
			problem := seen(s)
			if problem == nil && utf16Length(strings.TrimSpace(s)) < least {
				problem = invalid("%s", must)
			}
			return s, problem
		}}
}

// RecoveryKeyID is the id of a BitLocker key, or its first eight digits, which the screen that asks for
// the key shows. The script gets it in lower case.
var RecoveryKeyID Kind = patternKind{
	base: base{"string"}, limit: 36,
	pattern: regexp.MustCompile(`^[0-9A-Fa-f]{8}(?:-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})?$`),
	must:    "must be a key ID or its first eight hexadecimal digits",
	example: "7f6b1d5c",
}

// ExpiresAt is the time when a password expires: an [Expiry] that is never empty.
var ExpiresAt Kind = expiresAtKind{expiryKind{base{"string"}, time.UTC}}

type expiresAtKind struct{ expiryKind }

func (expiresAtKind) Clear() []ps.Value { return nil }

func (expiresAtKind) Doc() Doc {
	const text = "Date, which means the end of that day in the time zone of the setting " +
		"`time.zone`; or date and time with an offset."
	return Doc{Type: "string", Text: text, Example: "2030-06-30"}
}

// Secrets returns the names of a shape's fields that hold secrets, including those in nested
// objects.
func Secrets(s *Shape) []string { return secretsIn(s.Fields) }

func secretsIn(fields []Field) (names []string) {
	for i := range fields {
		if fields[i].Secret {
			names = append(names, fields[i].Name)
		}
		names = append(names, secretsIn(fields[i].Of)...)
	}
	return names
}

// Reveal returns records of a shape with their sealed fields opened. A sealed value is "=" and a text, "!"
// and the number of a secret, or "!", such a number, a dot and a member of the JSON that Windows LAPS stores,
// as in "!0.p". Null and "" become null. No error contains a value.
func Reveal(s *Shape, batch json.RawMessage, secrets []ps.Value) (json.RawMessage, error) {
	var records []map[string]json.RawMessage
	if json.Unmarshal(batch, &records) != nil {
		return nil, ps.ErrInvalidRecords
	}
	out := []byte{'['}
	for i, record := range records {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = unsealed(out, s.Name, s.Fields, record, secrets); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// unsealed appends one record, or an object in it, in the order of its fields. It keeps unknown members,
// which the check of the record reports.
func unsealed(
	to []byte, shape string, fields []Field, record map[string]json.RawMessage, secrets []ps.Value,
) ([]byte, error) {
	first := true
	member := func(name string, value []byte) {
		if !first {
			to = append(to, ',')
		}
		first = false
		to = append(append(append(to, JSON(name)...), ':'), value...)
	}
	to = append(to, '{')
	for i := range fields {
		f := &fields[i]
		value, has := record[f.Name]
		if !has {
			continue
		}
		delete(record, f.Name)
		switch {
		case f.Sealed && (string(value) == string(null) || string(value) == `""`):
			value = null
		case f.Sealed:
			opened, ok := open(value, secrets)
			if !ok {
				return nil, errShape("%s of %s is not sealed", f.Name, shape)
			}
			value = opened
		case f.Type == ObjectListField:
			var items []map[string]json.RawMessage
			if json.Unmarshal(value, &items) != nil {
				return nil, errShape("%s of %s is not a list of objects", f.Name, shape)
			}
			list := []byte{'['}
			for n, item := range items {
				if n > 0 {
					list = append(list, ',')
				}
				var err error
				if list, err = unsealed(list, shape, f.Of, item, secrets); err != nil {
					return nil, err
				}
			}
			value = append(list, ']')
		}
		member(f.Name, value)
	}
	for name, value := range record {
		member(name, value)
	}
	return append(to, '}'), nil
}

// open returns the value that a sealed value stands for.
func open(value json.RawMessage, secrets []ps.Value) (json.RawMessage, bool) {
	var sealed string
	if json.Unmarshal(value, &sealed) != nil || sealed == "" {
		return nil, false
	}
	if plain, isPlain := strings.CutPrefix(sealed, "="); isPlain {
		return textOrNull(plain), true
	}
	number, part, _ := strings.Cut(strings.TrimPrefix(sealed, "!"), ".")
	n, err := strconv.Atoi(number)
	if err != nil || sealed[0] != '!' || n < 0 || n >= len(secrets) || !secrets[n].IsSecret() {
		return nil, false
	}
	if part == "" {
		return textOrNull(secrets[n].Reveal()), true
	}
	return stored(secrets[n].Reveal(), part)
}

func textOrNull(text string) json.RawMessage {
	if text == "" {
		return null
	}
	return JSON(text)
}

// stored returns a member of the JSON that Windows LAPS stores in clear text: the account n, the
// password p, or the time t at which the password was set, as a file time in hexadecimal digits.
func stored(text, part string) (json.RawMessage, bool) {
	var kept struct {
		N, T, P *string
	}
	decoder := json.NewDecoder(bytes.NewBufferString(strings.TrimRight(text, "\x00")))
	if decoder.Decode(&kept) != nil || kept.P == nil {
		return nil, false
	}
	switch {
	case part == "p":
		return textOrNull(*kept.P), true
	case part == "n" && kept.N != nil:
		return textOrNull(*kept.N), true
	case part == "t" && kept.T != nil:
		ticks, err := strconv.ParseInt(*kept.T, 16, 64)
		if err != nil || ticks <= 0 {
			return null, true
		}
		return JSON(fileTime(ticks).Format(time.RFC3339)), true
	}
	return null, part == "n" || part == "t"
}

// fileTime converts a file time to a time in whole seconds.
func fileTime(ticks int64) time.Time {
	const perSecond, since1601 = 10_000_000, 11_644_473_600
	return time.Unix(ticks/perSecond-since1601, 0).UTC()
}
