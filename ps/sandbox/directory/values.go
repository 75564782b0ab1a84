package directory

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The raw form of stored values: text and octets unchanged, numbers in decimal,
// Booleans as TRUE and FALSE, times as "20060102150405.0Z".

const timeLayout = "20060102150405.0Z"

// decode converts a raw value to its Go type, see Object.Values.
func (a *Attribute) decode(raw string) any {
	switch a.Syntax {
	case SyntaxBool:
		return raw == "TRUE"
	case SyntaxInteger:
		n, err := strconv.ParseInt(raw, 10, 32)
		if err != nil {
			return raw
		}
		return int32(n)
	case SyntaxLarge:
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return raw
		}
		return n
	case SyntaxTime:
		t, ok := parseTime(raw)
		if !ok {
			return raw
		}
		return t
	case SyntaxOctets, SyntaxSID, SyntaxGUID, SyntaxSecurity:
		return []byte(raw)
	}
	return raw
}

// text returns the text form of a raw value.
func (a *Attribute) text(raw string) string {
	switch a.Syntax {
	case SyntaxSID:
		if s, ok := SIDFromBytes([]byte(raw)); ok {
			return s.String()
		}
	case SyntaxGUID:
		if g, ok := GUIDFromBytes([]byte(raw)); ok {
			return g.String()
		}
	}
	return raw
}

// badValue returns the error of a value that does not match the syntax.
func (a *Attribute) badValue(v any) *Error {
	e := failAttr(CodeInvalidParameter, KindSyntax, "", a.Name, "a value does not match the attribute's syntax")
	if s, ok := v.(string); ok && utf16Len(s) <= 64 && a.key != "unicodepwd" && a.key != "userpassword" {
		e.Value = s
	}
	return e
}

// encode converts a caller's value to its raw form. It checks the syntax, but neither the
// range (see checkRange) nor whether the target of a reference exists.
func (a *Attribute) encode(v any) (string, *Error) {
	switch x := v.(type) {
	case string:
		return a.encodeText(x)
	case []byte:
		return a.encodeOctets(x)
	case bool:
		if a.Syntax == SyntaxBool || a.isText() {
			return rawBool(x), nil
		}
	case time.Time:
		switch a.Syntax {
		case SyntaxTime:
			return formatTime(x.UTC()), nil
		case SyntaxLarge:
			return strconv.FormatInt(ToFileTime(x), 10), nil
		}
	case GUID:
		if a.Syntax == SyntaxGUID || a.Syntax == SyntaxOctets {
			return string(x[:]), nil
		}
		return a.encodeText(x.String())
	case SID:
		if a.Syntax == SyntaxSID || a.Syntax == SyntaxOctets {
			return x.raw, nil
		}
		return a.encodeText(x.String())
	case fmt.Stringer:
		return a.encodeText(x.String())
	}
	if n, ok := integer(v); ok {
		switch a.Syntax {
		case SyntaxInteger:
			if n < math.MinInt32 || n > math.MaxUint32 {
				return "", a.badValue(v)
			}
			return strconv.FormatInt(int64(int32(n)), 10), nil
		case SyntaxBool, SyntaxTime, SyntaxDN, SyntaxSID, SyntaxGUID, SyntaxOctets, SyntaxSecurity:
			return "", a.badValue(v)
		}
		return strconv.FormatInt(n, 10), nil
	}
	return "", a.badValue(v)
}

func (a *Attribute) isText() bool {
	return a.Syntax <= SyntaxOID
}

func rawBool(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

func integer(v any) (int64, bool) {
	r := reflect.ValueOf(v)
	switch {
	case v == nil:
		return 0, false
	case r.CanInt():
		return r.Int(), true
	case r.CanUint():
		return int64(r.Uint()), r.Uint() <= math.MaxInt64
	}
	return 0, false
}

func (a *Attribute) encodeText(s string) (string, *Error) {
	if s == "" {
		return "", a.badValue(s) // empty values are not allowed (facts H22)
	}
	switch a.Syntax {
	case SyntaxBool:
		switch strings.ToUpper(s) {
		case "TRUE", "FALSE":
			return strings.ToUpper(s), nil
		}
		return "", a.badValue(s)
	case SyntaxInteger, SyntaxLarge:
		bits := 64
		if a.Syntax == SyntaxInteger {
			bits = 32
		}
		n, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return "", a.badValue(s)
		}
		return strconv.FormatInt(n, 10), nil
	case SyntaxTime:
		t, ok := parseTime(s)
		if !ok {
			return "", a.badValue(s)
		}
		return formatTime(t), nil
	case SyntaxSID:
		if sid, ok := ParseSID(s); ok {
			return sid.raw, nil
		}
		return a.encodeOctets([]byte(s))
	case SyntaxGUID:
		if g, ok := ParseGUID(s); ok {
			return string(g[:]), nil
		}
		return a.encodeOctets([]byte(s))
	case SyntaxOctets, SyntaxSecurity:
		return s, nil
	}
	return a.checkText(s)
}

func (a *Attribute) checkText(s string) (string, *Error) {
	switch a.Syntax {
	case SyntaxIA5:
		for i := 0; i < len(s); i++ {
			if s[i] >= 0x80 {
				return "", a.badValue(s)
			}
		}
	case SyntaxDNBinary:
		if !isRef(s) {
			return "", a.badValue(s)
		}
	case SyntaxNumeric:
		for i := 0; i < len(s); i++ {
			if s[i] != ' ' && (s[i] < '0' || s[i] > '9') {
				return "", a.badValue(s)
			}
		}
	default:
		// userParameters packs bytes into UTF-16 units and may contain lone surrogates (facts F.2).
		if !utf8.ValidString(s) && a.key != "userparameters" {
			return "", a.badValue(s)
		}
	}
	return s, nil
}

func (a *Attribute) encodeOctets(b []byte) (string, *Error) {
	switch a.Syntax {
	case SyntaxGUID:
		if _, ok := GUIDFromBytes(b); !ok {
			return "", a.badValue(b)
		}
		return string(b), nil
	case SyntaxSID:
		if _, ok := SIDFromBytes(b); !ok {
			return "", a.badValue(b)
		}
		return string(b), nil
	case SyntaxOctets, SyntaxSecurity:
		if len(b) == 0 {
			return "", a.badValue(b)
		}
		return string(b), nil
	}
	return a.encodeText(string(b))
}

// checkRange checks the range of a raw value: 8322.
func (a *Attribute) checkRange(raw string) *Error {
	if a.RangeUpper == 0 && a.RangeLower == 0 {
		return nil
	}
	var n int64
	switch a.Syntax {
	case SyntaxInteger, SyntaxLarge:
		n, _ = strconv.ParseInt(raw, 10, 64)
	case SyntaxOctets, SyntaxSecurity, SyntaxSID, SyntaxGUID:
		n = int64(len(raw))
	default:
		n = int64(utf16Len(raw))
	}
	if n < a.RangeLower || a.RangeUpper != 0 && n > a.RangeUpper {
		return failAttr(CodeRange, KindConstraint, "", a.Name, "%d is outside %d..%d", n, a.RangeLower,
			a.RangeUpper)
	}
	return nil
}

// matchKey returns the key by which raw values are compared for equality.
func (a *Attribute) matchKey(raw string) string {
	switch a.Syntax {
	case SyntaxUnicode, SyntaxIA5, SyntaxOID, SyntaxNumeric, SyntaxDNBinary:
		return fold(raw)
	case SyntaxDN:
		if d, err := ParseDN(raw); err == nil {
			return d.Key()
		}
		return fold(raw)
	}
	return raw
}

// hasKey reports whether a raw value has the key.
func (a *Attribute) hasKey(raw, key string) bool {
	switch a.Syntax {
	case SyntaxUnicode, SyntaxIA5, SyntaxOID, SyntaxNumeric:
		return sameName(raw, key)
	}
	return a.matchKey(raw) == key
}

// formatTime formats a time in UTC with timeLayout. It is faster than time.Format, because
// nearly every read needs it.
func formatTime(t time.Time) string {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 0 || year > 9999 {
		return t.Format(timeLayout)
	}
	var b [len(timeLayout)]byte
	for i, n := range [...]int{year / 100, year % 100, int(month), day, hour, minute, second} {
		b[2*i], b[2*i+1] = byte('0'+n/10), byte('0'+n%10)
	}
	copy(b[14:], ".0Z")
	return string(b[:])
}

// parsePlain parses only the format of formatTime.
func parsePlain(s string) (time.Time, bool) {
	if len(s) != len(timeLayout) || s[14:] != ".0Z" {
		return time.Time{}, false
	}
	var n [7]int
	for i := range n {
		tens, ones := s[2*i]-'0', s[2*i+1]-'0'
		if tens > 9 || ones > 9 {
			return time.Time{}, false
		}
		n[i] = int(tens)*10 + int(ones)
	}
	t := time.Date(n[0]*100+n[1], time.Month(n[2]), n[3], n[4], n[5], n[6], 0, time.UTC)
	// time.Date normalizes a day or an hour that does not exist, so the parts are compared.
	return t, t.Month() == time.Month(n[2]) && t.Day() == n[3] && t.Hour() == n[4] && t.Minute() == n[5] &&
		t.Second() == n[6]
}

func parseTime(s string) (time.Time, bool) {
	if t, ok := parsePlain(s); ok {
		return t, true
	}
	s = strings.TrimSuffix(s, "Z")
	if i := strings.IndexAny(s, ".,"); i >= 0 {
		s = s[:i]
	}
	if len(s) == len("060102150405") { // UTCTime has a two-digit year
		century := "20"
		if s >= "50" {
			century = "19"
		}
		s = century + s
	}
	t, err := time.ParseInLocation("20060102150405", s, time.UTC)
	return t, err == nil
}

// octetsFromText converts a binary value in any form that export tools write: the text form
// of a GUID or SID, hexadecimal digits, base64 or octets.
func (a *Attribute) octetsFromText(s string) (string, bool) {
	switch a.Syntax {
	case SyntaxGUID:
		// 32 digits without dashes are octets in byte order.
		if g, ok := ParseGUID(s); ok && len(s) != 32 {
			return string(g[:]), true
		}
	case SyntaxSID:
		if sid, ok := ParseSID(s); ok {
			return sid.raw, true
		}
	default:
		return s, true
	}
	valid := func(b []byte) bool {
		if a.Syntax == SyntaxGUID {
			return len(b) == 16
		}
		_, ok := SIDFromBytes(b)
		return ok
	}
	if valid([]byte(s)) {
		return s, true
	}
	if b, err := hex.DecodeString(s); err == nil && valid(b) {
		return string(b), true
	}
	if b, err := base64.StdEncoding.DecodeString(s); err == nil && valid(b) {
		return string(b), true
	}
	return "", false
}
