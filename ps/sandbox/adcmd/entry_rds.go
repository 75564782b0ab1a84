package adcmd

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf16"

	"adgateway/ps/sandbox/engine/dotnet"
)

// This file reads userParameters in the same way as the Windows extension for Remote Desktop
// settings (facts F2, F9, F10, F11, F18). It is independent of the scripts that write the attribute.

// hresultUnknownName is DISP_E_UNKNOWNNAME: the directory entry does not have the property.
const hresultUnknownName = 0x80020006

const (
	flagAutoClientDrives = 0x8000
	flagLogonDisabled    = 0x10000
)

// extended are the properties of the extension that contain the gateway's fields.
var extended = map[string]func(items map[string][]byte) any{
	"terminalservicesprofilepath":   extendedText("ctxwfprofilepath"),
	"terminalserviceshomedirectory": extendedText("ctxwfhomedir"),
	"terminalserviceshomedrive":     extendedText("ctxwfhomedirdrive"),
	"allowlogon":                    extendedFlag(flagLogonDisabled, 0, 1),
	"connectclientdrivesatlogon":    extendedFlag(flagAutoClientDrives, 1, 0),
}

// invokeGet returns a property of the extension.
func (e *entry) invokeGet(name string) (any, error) {
	read, known := extended[fold(name)]
	if !known {
		return nil, comException("Unknown name. (Exception from HRESULT: 0x80020006 (DISP_E_UNKNOWNNAME))",
			hresultUnknownName)
	}
	if err := e.refresh([]any{"userParameters"}); err != nil {
		return nil, err
	}
	stored, _ := e.cache["userparameters"].get().(string)
	return read(splitUserParameters(stored)), nil
}

// extendedText returns a function that reads the wide form of a text, or else the narrow one.
func extendedText(name string) func(map[string][]byte) any {
	return func(items map[string][]byte) any {
		if wide, ok := items[name+"w"]; ok && len(wide)%2 == 0 {
			units := make([]uint16, len(wide)/2)
			for i := range units {
				units[i] = binary.LittleEndian.Uint16(wide[2*i:])
			}
			text, _, _ := strings.Cut(string(utf16.Decode(units)), "\x00")
			return text
		}
		text, _, _ := strings.Cut(string(items[name]), "\x00")
		return text
	}
}

// extendedFlag returns a function that returns set if the bit is set in the flags, otherwise unset.
func extendedFlag(bit uint32, set, unset int32) func(map[string][]byte) any {
	return func(items map[string][]byte) any {
		if raw := items["ctxcfgflags1"]; len(raw) == 4 && binary.LittleEndian.Uint32(raw)&bit != 0 {
			return set
		}
		return unset
	}
}

// splitUserParameters returns the properties by lower-case name. The result is empty unless
// the whole value is well-formed and CtxCfgPresent is set (facts F9).
func splitUserParameters(text string) map[string][]byte {
	const header, signature = 50, 'P'
	units := utf16.Encode([]rune(text))
	if len(units) < header || units[48] != signature {
		return nil
	}
	items, rest := map[string][]byte{}, units[header:]
	for range units[49] {
		if len(rest) < 3 {
			return nil
		}
		name, value := int(rest[0])/2, int(rest[1])/2
		rest = rest[3:]
		if len(rest) < name+value {
			return nil
		}
		var digits []byte
		for _, unit := range rest[name : name+value] {
			digits = binary.LittleEndian.AppendUint16(digits, unit)
		}
		raw, err := hex.DecodeString(string(digits))
		if err != nil {
			return nil
		}
		items[strings.ToLower(string(utf16.Decode(rest[:name])))] = raw
		rest = rest[name+value:]
	}
	if string(items["ctxcfgpresent"]) != "\x55\x1e\x0b\xb0" {
		return nil
	}
	return items
}

var memberInvokeGet = dotnet.Method("InvokeGet", "string", func(self any, args []any) (any, error) {
	return opened(self).invokeGet(dotnet.ToText(args[0]))
})
