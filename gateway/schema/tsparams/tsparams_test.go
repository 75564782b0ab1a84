package tsparams

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bytesOf encodes a text as UTF-16LE.
func bytesOf(text string) []byte {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = append(raw, byte(unit), byte(unit>>8))
	}
	return raw
}

var front = bytesOf("CtxCfgPresent" + strings.Repeat(" ", 35))

// vector reads a file with the units that follow the reserved part.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	raw, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	require.NoError(t, err)
	if strings.HasSuffix(name, ".utf8") {
		raw = bytesOf(string(raw))
	}
	return append(append([]byte{}, front...), raw...)
}

// TestVectors checks the vectors of facts F.3.
func TestVectors(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		sum  string
		want Settings
	}{
		"v1.utf16": {316, "5d1b2111829659327b3aa28aa7fbabbc0c956aa46b988e245eeb2bdfc87a9403", Settings{ProfilePath: `\\fs1\p\a`, ConnectDrive: true}},
		"v2.utf16": {240, "dabf293dfb69222ff9ae7be10c2cf25268b316d86c335cb5a155c9aeb745c1b7", Settings{HomeFolderDrive: "H:", AllowLogon: true}},
		"v3.utf8":  {778, "b92744263608fad1057edb62f61ff1c5d54c7afd3d73f89a7978a723643b51fd", Settings{AllowLogon: true}},
		"v4.utf8":  {768, "9d3f617680cec594de6ac4906e8218885463003188197aa2d06e11728ce4e50a", Settings{ConnectDrive: true, AllowLogon: true}},
	} {
		raw := vector(t, name)
		sum := sha256.Sum256(raw)
		require.Equal(t, c.size, len(raw), name)
		require.Equal(t, c.sum, hex.EncodeToString(sum[:]), name)
		got, err := Decode(raw)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}

// property encodes a property from the raw bytes of its value.
func property(name string, value []byte) string {
	text := hex.EncodeToString(value)
	units := make([]rune, 0, len(value))
	for i := 0; i < len(text); i += 2 {
		units = append(units, rune(text[i])|rune(text[i+1])<<8)
	}
	return string(rune(2*len(name))) + string(rune(2*len(units))) + "\x01" + name + string(units)
}

func blob(properties ...string) string {
	return strings.Repeat(" ", 48) + "P" + string(rune(len(properties))) + strings.Join(properties, "")
}

func TestDecode(t *testing.T) {
	present := property("CtxCfgPresent", []byte{0x55, 0x1e, 0x0b, 0xb0})
	nothing := Settings{AllowLogon: true}
	for name, c := range map[string]struct {
		text string
		want Settings
		fail string
	}{
		"nothing":                    {"", nothing, ""},
		"too short":                  {strings.Repeat("P", 49), nothing, ""},
		"foreign data only":          {"m:" + strings.Repeat("x", 100), nothing, ""},
		"no properties":              {blob(), nothing, ""},
		"without CtxCfgPresent":      {blob(property("CtxCfgFlags1", []byte{0, 0, 1, 0})), nothing, ""},
		"flags":                      {blob(present, property("CtxCfgFlags1", []byte{0, 0x80, 1, 0})), Settings{ConnectDrive: true}, ""},
		"names in other case":        {blob(strings.ToUpper(present[3:16]), present)[:50], nothing, "truncated"},
		"any case":                   {blob(present, property("CTXCFGFLAGS1", []byte{0, 0, 1, 0})), Settings{}, ""},
		"first of two":               {blob(present, property("CtxCfgFlags1", []byte{0, 0, 1, 0}), property("ctxcfgflags1", []byte{0, 0, 0, 0})), Settings{}, ""},
		"narrow form":                {blob(present, property("CtxWFHomeDir", []byte{'C', ':', '\\', 0xe9, 0})), Settings{HomeFolderPath: `C:\é`, AllowLogon: true}, ""},
		"wide form preferred":        {blob(present, property("CtxWFHomeDir", []byte{'?', 0}), property("CtxWFHomeDirW", []byte{0xa9, 3, 0, 0})), Settings{HomeFolderPath: "Ω", AllowLogon: true}, ""},
		"malformed wide form":        {blob(present, property("CtxWFHomeDir", []byte{'x', 0}), property("CtxWFHomeDirW", []byte{0})), Settings{HomeFolderPath: "x", AllowLogon: true}, ""},
		"only a malformed wide form": {blob(present, property("CtxWFHomeDirW", []byte{0})), nothing, "not well-formed"},
		"trailing data":              {blob(present) + "G$RADIUS", nothing, ""},
		"truncated header":           {blob(present)[:48] + "P\x02" + present + "\x02", nothing, "header"},
		"truncated property":         {blob(present)[:49] + "\x01" + present[:10], nothing, "truncated"},
		"count too high":             {blob(present)[:49] + "\x09" + present, nothing, "header"},
		"an odd length":              {blob("\x03\x02\x01abc"), nothing, "odd"},
		"flags of two bytes":         {blob(present, property("CtxCfgFlags1", []byte{0, 0})), nothing, "four bytes"},
		"flags not hexadecimal":      {blob(present, "\x18\x08\x01CtxCfgFlags1zzzz"), nothing, "four bytes"},
		"a text not hexadecimal":     {blob(present, "\x18\x02\x01CtxWFHomeDirz"), nothing, "hexadecimal"},
		"malformed unknown property": {blob(present, "\x08\x02\x01Namez"), nothing, ""},
		"a name outside of ASCII":    {blob(present, "\x18\x10\x01CtxCfgFlagſ1"+property("", []byte{0, 0, 1, 0})[3:]+"xxxx"), nothing, ""},
		"maximum length":             {blob(present) + strings.Repeat("x", 32767-90), nothing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(bytesOf(c.text))
			if c.fail != "" {
				require.ErrorIs(t, err, ErrUnreadable)
				assert.Contains(t, err.Error(), c.fail)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, c.want, got)
		})
	}
	_, err := Decode([]byte{1})
	assert.ErrorIs(t, err, ErrUnreadable)
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"v1.utf16", "v2.utf16", "v3.utf8", "v4.utf8"} {
		raw := vector(f, name)
		f.Add(raw)
		f.Add(raw[:len(raw)-20])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Decode(raw)
		if err != nil {
			assert.ErrorIs(t, err, ErrUnreadable)
			assert.Equal(t, Settings{AllowLogon: true}, got)
		}
	})
}
