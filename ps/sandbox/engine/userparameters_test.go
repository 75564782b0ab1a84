package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/engine/dotnet"
)

// hashOf is the SHA-256 of a string's UTF-16LE bytes, and how many there are.
func hashOf(text string) (string, int) {
	var raw []byte
	for _, u := range utf16.Encode([]rune(text)) {
		raw = append(raw, byte(u), byte(u>>8))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), len(raw)
}

// reserved is what the directory's own tool writes in front.
var reserved = "CtxCfgPresent" + strings.Repeat(" ", 35)

// vectorV3 is a value that the directory's own tool wrote, as LDAP's UTF-8 after the reserved part.
const vectorV3 = "50101a080143747843666750726573656e74e394b5e694b1e688b0e381a2200201437478574650726f66696c6550617468e380b0220401437478574650726f66696c655061746857e380b0e380b01802014374785746486f6d65446972e380b0" +
	"1a04014374785746486f6d6544697257e380b0e380b02202014374785746486f6d654469724472697665e380b02404014374785746486f6d65446972447269766557e380b0e380b0120801437478536861646f77e384b0e380b0e380b0e380b0" +
	"2e08014374784d6178446973636f6e6e656374696f6e54696d65e380b0e380b0e380b0e380b02808014374784d6178436f6e6e656374696f6e54696d65e380b0e380b0e380b0e380b01c08014374784d617849646c6554696d65e380b0e380b0" +
	"e380b0e380b0200201437478576f726b4469726563746f7279e380b0220401437478576f726b4469726563746f727957e380b0e380b0180801437478436667466c61677331e380b0e380b1e380b2e380b9220201437478496e697469616c5072" +
	"6f6772616de380b0240401437478496e697469616c50726f6772616d57e380b0e380b0"

func userParametersSession(t testing.TB) *Session {
	text, err := os.ReadFile("testdata/prototype/UserParameters.ps1")
	require.NoError(t, err)
	s := NewEngine(Options{}).NewSession(Console{})
	require.NoError(t, s.Run(t.Context(), "UserParameters.ps1", string(text), Streams{}))
	return s
}

// evaluate runs a text and gives its single output.
func evaluate(t testing.TB, s *Session, text string) any {
	var out []any
	err := s.Run(t.Context(), "", text, Streams{
		Output: func(v any) error { out = append(out, v); return nil },
		Error:  func(rec *dotnet.ErrorRecord) { assert.NoError(t, rec) },
	})
	require.NoError(t, err)
	require.Len(t, out, 1)
	return out[0]
}

// TestUserParameters runs the recorded script over the vectors of the format.
func TestUserParameters(t *testing.T) {
	s := userParametersSession(t)

	v1 := evaluate(t, s, `ConvertTo-GatewayUserParameters -Text 'CtxCfgPresent' -Changes @{connectDrive=$true;allowLogon=$false;profilePath='\\fs1\p\a'}`).(string)
	sum, size := hashOf(strings.Replace(v1, v1[:48], reserved, 1))
	assert.Equal(t, 316, size)
	assert.Equal(t, "5d1b2111829659327b3aa28aa7fbabbc0c956aa46b988e245eeb2bdfc87a9403", sum, "V1 from nothing")

	v2 := evaluate(t, s, `ConvertTo-GatewayUserParameters -Text $null -Changes @{homeFolderDrive='H:'}`).(string)
	sum, size = hashOf(v2)
	assert.Equal(t, 240, size)
	assert.Equal(t, "dabf293dfb69222ff9ae7be10c2cf25268b316d86c335cb5a155c9aeb745c1b7", sum, "V2 from nothing")

	tail, err := hex.DecodeString(vectorV3)
	require.NoError(t, err)
	v3 := reserved + string(tail)
	sum, size = hashOf(v3)
	require.Equal(t, 778, size)
	require.Equal(t, "b92744263608fad1057edb62f61ff1c5d54c7afd3d73f89a7978a723643b51fd", sum)
	s.SetVariable("v3", v3)
	assert.Equal(t, int32(16), evaluate(t, s, `(Get-GatewayTsProperty -Text $v3).items.Count`))
	assert.Equal(t, v3, evaluate(t, s, `ConvertTo-GatewayUserParameters -Text $v3 -Changes @{}`), "V3 rebuilt unchanged")
	assert.Equal(t, `{"rdsProfilePath":"","rdsHomeFolderPath":"","rdsHomeFolderDrive":"","rdsConnectDrive":false,"rdsAllowLogon":true}`,
		evaluate(t, s, `ConvertTo-Json -Compress -InputObject (ConvertFrom-GatewayUserParameters -Text $v3)`))
	changed := evaluate(t, s, `ConvertTo-GatewayUserParameters -Text $v3 -Changes @{homeFolderPath='\\fs1\h\a'}`).(string)
	s.SetVariable("changed", changed+"trailing data")
	assert.Equal(t, "\\\\fs1\\h\\a|trailing data|16",
		evaluate(t, s, `$d = Get-GatewayTsProperty -Text $changed; "$(Get-GatewayTsText -Data $d -Name 'CtxWFHomeDir')|$($d.trailing)|$($d.items.Count)"`))

	// V4 has other flags, and twins of two bytes where four belong: they are accepted, the narrow one is read.
	v4 := strings.NewReplacer("\x22\x04\x01CtxWFProfilePathW\u3030\u3030", "\x22\x02\x01CtxWFProfilePathW\u3030",
		"\x1a\x04\x01CtxWFHomeDirW\u3030\u3030", "\x1a\x02\x01CtxWFHomeDirW\u3030",
		"\x24\x04\x01CtxWFHomeDirDriveW\u3030\u3030", "\x24\x02\x01CtxWFHomeDirDriveW\u3030",
		"\x22\x04\x01CtxWorkDirectoryW\u3030\u3030", "\x22\x02\x01CtxWorkDirectoryW\u3030",
		"\x24\x04\x01CtxInitialProgramW\u3030\u3030", "\x24\x02\x01CtxInitialProgramW\u3030").Replace(v3)
	v4 = strings.Replace(v4, "\u3030\u3031\u3032\u3039", "\u3030\u3066\u3032\u3039", 1)
	sum, size = hashOf(v4)
	require.Equal(t, 768, size)
	require.Equal(t, "9d3f617680cec594de6ac4906e8218885463003188197aa2d06e11728ce4e50a", sum)
	s.SetVariable("v4", v4)
	assert.Equal(t, int32(16), evaluate(t, s, `(Get-GatewayTsProperty -Text $v4).items.Count`))
	assert.Equal(t, "", evaluate(t, s, `(ConvertFrom-GatewayUserParameters -Text $v4).rdsProfilePath`))

	s.SetVariable("cut", string([]rune(v3)[:60]))
	assert.Equal(t, "userParameters: property cut off", evaluate(t, s, `try { Get-GatewayTsProperty -Text $cut } catch { "$_" }`))
}
