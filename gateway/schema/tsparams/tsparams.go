// Package tsparams reads the Remote Desktop settings that are packed in the
// attribute userParameters of a user (MS-TSTS 2.3; facts F.2).
//
// The attribute is a sequence of UTF-16 code units: 48 reserved ones, the letter P, the number of properties,
// the properties, then foreign trailing data. [Decode] returns the five settings that the API has. The
// prelude of the scripts has a second implementation, which writes the settings in the same request that
// reads them. Shared vectors and fuzzing keep the two consistent.
package tsparams

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// Settings are the settings of one user. If nothing is stored, the defaults apply: there are no paths, no
// drives are connected, and logon is allowed.
type Settings struct {
	ProfilePath     string
	HomeFolderPath  string
	HomeFolderDrive string
	ConnectDrive    bool
	AllowLogon      bool
}

// Layout, in UTF-16 code units.
const (
	reserved  = 48 // before the signature
	signature = 'P'
	header    = 50 // before the properties
)

// Bits of CtxCfgFlags1.
const (
	autoClientDrives = 0x8000
	logonDisabled    = 0x10000
)

// ErrUnreadable is wrapped by every error of [Decode]. The errors describe the position, never the
// content.
var ErrUnreadable = errors.New("userParameters cannot be read")

func unreadable(why string) error { return errors.Join(ErrUnreadable, errors.New(why)) }

// Decode reads the attribute's code units, little-endian. It returns the defaults if they contain
// no Remote Desktop data, and an error if that data is malformed.
func Decode(raw []byte) (Settings, error) {
	settings := Settings{AllowLogon: true}
	if len(raw)%2 != 0 {
		return settings, unreadable("it ends within a code unit")
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	properties, err := split(units)
	if err != nil {
		return settings, err
	}
	if _, present := properties["ctxcfgpresent"]; !present {
		return settings, nil // without it the rest is ignored (facts F9)
	}
	for _, text := range []struct {
		name string
		to   *string
	}{{"ctxwfprofilepath", &settings.ProfilePath}, {"ctxwfhomedir", &settings.HomeFolderPath},
		{"ctxwfhomedirdrive", &settings.HomeFolderDrive}} {
		if *text.to, err = properties.text(text.name); err != nil {
			return Settings{AllowLogon: true}, err
		}
	}
	flags, err := properties.flags()
	if err != nil {
		return Settings{AllowLogon: true}, err
	}
	settings.ConnectDrive, settings.AllowLogon = flags&autoClientDrives != 0, flags&logonDisabled == 0
	return settings, nil
}

// table maps each property name, in lower case, to its first stored value.
type table map[string][]uint16

// split returns the properties, or nil if there are none.
func split(units []uint16) (table, error) {
	if len(units) < header || units[reserved] != signature {
		return nil, nil
	}
	properties := table{}
	rest := units[header:]
	for range units[header-1] {
		if len(rest) < 3 {
			return nil, unreadable("the header of a property is truncated")
		}
		nameBytes, valueBytes := int(rest[0]), int(rest[1])
		if nameBytes%2 != 0 || valueBytes%2 != 0 {
			return nil, unreadable("the length of a property is odd")
		}
		rest = rest[3:]
		name, value := nameBytes/2, valueBytes/2
		if len(rest) < name+value {
			return nil, unreadable("a property is truncated")
		}
		key := lower(rest[:name])
		if _, twice := properties[key]; !twice {
			properties[key] = rest[name : name+value]
		}
		rest = rest[name+value:]
	}
	return properties, nil
}

// lower returns a name in lower case for comparison. All known names are ASCII, so it folds nothing
// else.
func lower(name []uint16) string {
	var b strings.Builder
	for _, unit := range name {
		switch {
		case unit > 0x7f:
			b.WriteString("\x00") // not a known name
		case 'A' <= unit && unit <= 'Z':
			b.WriteByte(byte(unit) + 'a' - 'A')
		default:
			b.WriteByte(byte(unit))
		}
	}
	return b.String()
}

// octets decodes a value. Each code unit holds two hexadecimal digits.
func octets(value []uint16) ([]byte, bool) {
	text := make([]byte, 0, 2*len(value))
	for _, unit := range value {
		text = append(text, byte(unit), byte(unit>>8))
	}
	decoded, err := hex.DecodeString(string(text))
	return decoded, err == nil
}

// text reads a string: the wide form if it is well-formed, otherwise the narrow form, which is in
// the Western code page (facts F10-F12).
func (t table) text(name string) (string, error) {
	wide, has := t[name+"w"]
	if has {
		if raw, ok := octets(wide); ok && len(raw)%2 == 0 && bytes.HasSuffix(raw, []byte{0, 0}) {
			units := make([]uint16, len(raw)/2)
			for i := range units {
				units[i] = binary.LittleEndian.Uint16(raw[2*i:])
			}
			return strings.TrimRight(string(utf16.Decode(units)), "\x00"), nil
		}
	}
	narrow, hasNarrow := t[name]
	if !hasNarrow {
		if has {
			return "", unreadable("a text is not well-formed")
		}
		return "", nil
	}
	raw, ok := octets(narrow)
	if !ok {
		return "", unreadable("a value is not hexadecimal")
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(bytes.TrimRight(raw, "\x00"))
	if err != nil {
		return "", unreadable("a text is not in the code page")
	}
	return string(text), nil
}

// flags reads CtxCfgFlags1, or 0 if it is absent.
func (t table) flags() (uint32, error) {
	value, has := t["ctxcfgflags1"]
	if !has {
		return 0, nil
	}
	raw, ok := octets(value)
	if !ok || len(raw) != 4 {
		return 0, unreadable("the flags are not four bytes")
	}
	return binary.LittleEndian.Uint32(raw), nil
}
