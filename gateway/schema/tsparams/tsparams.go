// Package tsparams reads the Remote Desktop settings that are packed in the
// attribute userParameters of a user (MS-TSTS 2.3; facts F.2).
//
// The attribute is a row of UTF-16 code units: 48 of other programs, the letter
// P, the number of properties, the properties, and after them what is not ours
// again. [Decode] gives the five settings that the API knows. Writing is done by
// the scripts' prelude, in the same request that reads; the two are held
// together by the same vectors and by fuzzing.
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

// Settings are the five of them, with the defaults of the API where nothing is
// stored: no paths, no drives connected, logon allowed.
type Settings struct {
	ProfilePath     string
	HomeFolderPath  string
	HomeFolderDrive string
	ConnectDrive    bool
	AllowLogon      bool
}

// The places of the format, in code units.
const (
	reserved  = 48
	signature = 'P'
	header    = 50
)

// Bits of CtxCfgFlags1.
const (
	autoClientDrives = 0x8000
	logonDisabled    = 0x10000
)

// ErrUnreadable is all errors of [Decode]: they say where, not what.
var ErrUnreadable = errors.New("userParameters cannot be read")

func unreadable(why string) error { return errors.Join(ErrUnreadable, errors.New(why)) }

// Decode reads the attribute's code units, little-endian. Without any data of
// Remote Desktop in them the settings are the defaults. The error, which is
// [ErrUnreadable], says that there are such data, but not in their form.
func Decode(raw []byte) (Settings, error) {
	settings := Settings{AllowLogon: true}
	if len(raw)%2 != 0 {
		return settings, unreadable("half a code unit")
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
	}{{"ctxwfprofilepath", &settings.ProfilePath}, {"ctxwfhomedir", &settings.HomeFolderPath}, {"ctxwfhomedirdrive", &settings.HomeFolderDrive}} {
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

// table has the first property of each name, in lower case, with its value as
// it is stored.
type table map[string][]uint16

// split takes the properties apart; nil when there are none.
func split(units []uint16) (table, error) {
	if len(units) < header || units[reserved] != signature {
		return nil, nil
	}
	properties := table{}
	rest := units[header:]
	for range units[header-1] {
		if len(rest) < 3 {
			return nil, unreadable("the head of a property is cut off")
		}
		nameBytes, valueBytes := int(rest[0]), int(rest[1])
		if nameBytes%2 != 0 || valueBytes%2 != 0 {
			return nil, unreadable("the length of a property is odd")
		}
		rest = rest[3:]
		name, value := nameBytes/2, valueBytes/2
		if len(rest) < name+value {
			return nil, unreadable("a property is cut off")
		}
		key := lower(rest[:name])
		if _, twice := properties[key]; !twice {
			properties[key] = rest[name : name+value]
		}
		rest = rest[name+value:]
	}
	return properties, nil
}

// lower is a name for comparing: ours are ASCII only, so nothing else is folded.
func lower(name []uint16) string {
	var b strings.Builder
	for _, unit := range name {
		switch {
		case unit > 0x7f:
			b.WriteString("\x00") // no name of ours
		case 'A' <= unit && unit <= 'Z':
			b.WriteByte(byte(unit) + 'a' - 'A')
		default:
			b.WriteByte(byte(unit))
		}
	}
	return b.String()
}

// octets decodes a value: each code unit is two characters of hexadecimal.
func octets(value []uint16) ([]byte, bool) {
	text := make([]byte, 0, 2*len(value))
	for _, unit := range value {
		text = append(text, byte(unit), byte(unit>>8))
	}
	decoded, err := hex.DecodeString(string(text))
	return decoded, err == nil
}

// text reads a string: the wide twin when it is well-formed, else the narrow
// one, which is in the Western code page (facts F10-F12).
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

// flags reads CtxCfgFlags1. Where it is absent no bit is set.
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
