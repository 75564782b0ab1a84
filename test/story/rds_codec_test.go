package story

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema/tsparams"
	"adgateway/ps"
	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/adcmd"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/scripts"
	"adgateway/test/systemtest"
)

// codec is a session of the engine with the preludes of the directory lane.
type codec struct {
	session *engine.Session
}

// newCodec returns a codec whose directory cmdlets do nothing.
func newCodec(t testing.TB) *codec {
	t.Helper()
	return newCodecWithin(t, engine.Limits{})
}

// newCodecWithin is newCodec with limits for each run.
func newCodecWithin(t testing.TB, limits engine.Limits) *codec {
	t.Helper()
	var stubs []*engine.Command
	for _, decl := range cmdlets.Module(cmdlets.ActiveDirectory) {
		stubs = append(stubs, &engine.Command{Decl: decl, Process: func(*engine.Call) error { return nil }})
	}
	eng := engine.NewEngine(engine.Options{
		Modules:  []*engine.Module{sandbox.HostModule(), {Name: "ActiveDirectory", Commands: stubs}},
		AutoLoad: true, Limits: limits,
	})
	c := &codec{session: eng.NewSession(engine.Console{})}
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	prelude := scripts.Prelude(ps.Directory)
	require.NoError(t, c.session.Run(ctx, prelude.Name, prelude.Text, engine.Streams{}))
	return c
}

// encode runs the prelude's encoder on UTF-16LE text. refused is true if the encoder ended with an error of
// the API.
func (c *codec) encode(t testing.TB, raw []byte, given string) (out []byte, refused bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	c.session.SetVariable("encoded", base64.StdEncoding.EncodeToString(raw))
	var texts []string
	err := c.session.Run(ctx, "codec", `
		$text = [System.Text.Encoding]::Unicode.GetString([Convert]::FromBase64String($encoded))
		try {
			[Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes((ConvertTo-GatewayUserParameters -Text $text -Given `+given+`)))
		} catch {
			$_.FullyQualifiedErrorId
		}`, engine.Streams{Output: func(v any) error { texts = append(texts, dotnet.ToText(v)); return nil }})
	require.NoError(t, err)
	require.Len(t, texts, 1)
	if strings.HasPrefix(texts[0], "Gateway.") {
		require.Equal(t, "Gateway.unprocessable", texts[0])
		return nil, true
	}
	out, err = base64.StdEncoding.DecodeString(texts[0])
	require.NoError(t, err, texts[0])
	return out, false
}

func utf16LE(text string) []byte {
	var raw []byte
	for _, unit := range dotnet.Units(text) {
		raw = append(raw, byte(unit), byte(unit>>8))
	}
	return raw
}

// TestTheEncoderProducesTheVectors: the encoder produces the recorded vectors, both from an
// empty value and from values written by ADUC.
func TestTheEncoderProducesTheVectors(t *testing.T) {
	c := newCodec(t)
	for _, v := range []struct {
		text, given, sum string
	}{
		{"", `@{ RdsConnectDrive = $true; RdsAllowLogon = $false; RdsProfilePath = '\\fs1\p\a' }`, "5d1b2111829659327b3aa28aa7fbabbc0c956aa46b988e245eeb2bdfc87a9403"},
		{"CtxCfgPresent", `@{ RdsConnectDrive = $true; RdsAllowLogon = $false; RdsProfilePath = '\\fs1\p\a' }`, "5d1b2111829659327b3aa28aa7fbabbc0c956aa46b988e245eeb2bdfc87a9403"},
		{"", `@{ RdsHomeFolderDrive = 'H:' }`, "dabf293dfb69222ff9ae7be10c2cf25268b316d86c335cb5a155c9aeb745c1b7"},
		{rdsVector(t, "v3.utf8"), `@{ RdsProfilePath = ''; RdsAllowLogon = $true; RdsConnectDrive = $false }`, "b92744263608fad1057edb62f61ff1c5d54c7afd3d73f89a7978a723643b51fd"},
		{rdsVector(t, "v3.utf8"), `@{}`, "b92744263608fad1057edb62f61ff1c5d54c7afd3d73f89a7978a723643b51fd"},
	} {
		out, refused := c.encode(t, utf16LE(v.text), v.given)
		require.False(t, refused, v.given)
		sum := sha256.Sum256(out)
		assert.Equal(t, v.sum, hex.EncodeToString(sum[:]), v.given)
	}
	// Only the two forms of the changed property are modified; the rest stays in place.
	v4 := rdsVector(t, "v4.utf8") + "trailing"
	out, _ := c.encode(t, utf16LE(v4), `@{ RdsHomeFolderPath = '\\h' }`)
	want := strings.Replace(v4, "\x18\x02\x01CtxWFHomeDir\u3030\x1a\x02\x01CtxWFHomeDirW\u3030",
		"\x18\x08\x01CtxWFHomeDir\u6335\u6335\u3836\u3030\x1a\x10\x01CtxWFHomeDirW\u6335\u3030\u6335\u3030\u3836\u3030\u3030\u3030", 1)
	require.NotEqual(t, v4, want)
	assert.Equal(t, utf16LE(want), out)
}

// FuzzRemoteDesktopCodecs: the gateway's decoder can read the output of the scripts' encoder, and other
// settings remain unchanged. The encoder refuses to change a value that the decoder cannot read.
func FuzzRemoteDesktopCodecs(f *testing.F) {
	for i, name := range []string{"v1.utf16", "v2.utf16", "v3.utf8", "v4.utf8"} {
		raw := utf16LE(rdsVector(f, name))
		f.Add(raw, `\\fs1\p`, "T:", byte(i*7+1))
		f.Add(raw[:len(raw)-16], "", "", byte(255))
		f.Add(append(raw, 'x', 0, 1, 0), "Ω😀'$(x)", "", byte(9))
	}
	f.Add([]byte{}, "", "", byte(0))
	f.Add([]byte("m\x00:\x00"), "x", "", byte(1))
	c := newCodec(f)
	f.Fuzz(func(t *testing.T, raw []byte, path, drive string, which byte) {
		path, drive = strings.ReplaceAll(strings.ToValidUTF8(path, "?"), "\x00", ""), strings.ReplaceAll(strings.ToValidUTF8(drive, "?"), "\x00", "")
		if len(path) > 1000 || len(drive) > 1000 || len(raw) > 20000 {
			return // longer than the API accepts
		}
		raw = wellFormed(raw[:len(raw)&^1])
		before, unreadable := tsparams.Decode(raw)
		want := before
		var given []string
		add := func(bit byte, format string, arg any, set func()) {
			if which&bit != 0 {
				given = append(given, fmt.Sprintf(format, arg))
				set()
			}
		}
		c.session.SetVariable("path", path)
		c.session.SetVariable("drive", drive)
		on := which&32 != 0
		add(1, "RdsProfilePath = $%s", "path", func() { want.ProfilePath = path })
		add(2, "RdsHomeFolderPath = $%s", "path", func() { want.HomeFolderPath = path })
		add(4, "RdsHomeFolderDrive = $%s", "drive", func() { want.HomeFolderDrive = drive })
		add(8, "RdsConnectDrive = $%v", on, func() { want.ConnectDrive = on })
		add(16, "RdsAllowLogon = $%v", !on, func() { want.AllowLogon = !on })
		out, refused := c.encode(t, raw, "@{ "+strings.Join(given, "; ")+" }")
		if len(given) == 0 {
			require.False(t, refused)
			require.Equal(t, raw, out)
			return
		}
		if refused {
			return // covered by other tests: too long, foreign, truncated
		}
		after, err := tsparams.Decode(out)
		if unreadable != nil && err != nil {
			return // an unreadable value was not overwritten
		}
		require.NoError(t, err)
		if unreadable != nil || !hasTSData(raw) {
			return // the decoded settings were defaults, not stored values
		}
		require.Equal(t, want, after)
		again, refused := c.encode(t, out, "@{ "+strings.Join(given, "; ")+" }")
		require.False(t, refused)
		require.Equal(t, out, again, "encoding twice must change nothing")
	})
}

// wellFormed replaces lone surrogates, which directory texts never contain.
func wellFormed(raw []byte) []byte {
	units := unitsOf(raw)
	for i := range units {
		if units[i] >= 0xd800 && units[i] < 0xe000 {
			units[i] = 'x'
		}
	}
	out := make([]byte, 0, len(raw))
	for _, unit := range units {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// hasTSData reports whether raw holds Remote Desktop settings.
func hasTSData(raw []byte) bool {
	return len(raw) >= 100 && raw[96] == 'P' && strings.Contains(strings.ToLower(string(raw[100:])), "c\x00t\x00x\x00c\x00f\x00g\x00p\x00r\x00e\x00s\x00e\x00n\x00t\x00")
}

// rdsProperty is one property in userParameters.
type rdsProperty struct {
	name, value string
	kind        rune
}

// stored returns the property in its stored form.
func (p rdsProperty) stored() string {
	return dotnet.FromUnits([]uint16{uint16(2 * len(dotnet.Units(p.name))), uint16(2 * len(dotnet.Units(p.value))), uint16(p.kind)}) + p.name + p.value
}

func rdsBlob(front string, properties []rdsProperty, behind string) string {
	text := front + "P" + string(rune(len(properties)))
	for _, p := range properties {
		text += p.stored()
	}
	return text + behind
}

// hexUnits encodes a value as UTF-16 units with two hexadecimal digits per byte.
func hexUnits(raw []byte) string {
	var units []uint16
	for _, b := range raw {
		digits := fmt.Sprintf("%02x", b)
		units = append(units, uint16(digits[0])|uint16(digits[1])<<8)
	}
	return dotnet.FromUnits(units)
}

// anyProperties generates properties: known ones in any case, at most once each,
// and foreign ones with any content.
func anyProperties(r *rand.Rand) []rdsProperty {
	text := func(wide bool) string {
		raw := []byte{}
		for range r.IntN(6) {
			raw = append(raw, byte(' '+r.IntN(90)))
			if wide {
				raw = append(raw, byte(r.IntN(4)))
			}
		}
		if wide {
			raw = append(raw, 0)
		}
		return hexUnits(append(raw, 0))
	}
	flags := make([]byte, 4)
	for i := range flags {
		flags[i] = byte(r.IntN(256))
	}
	known := []rdsProperty{
		{"CtxCfgPresent", hexUnits([]byte{0x55, 0x1e, 0x0b, 0xb0}), 1}, {"CtxCfgFlags1", hexUnits(flags), 1},
		{"CtxWFProfilePath", text(false), 1}, {"CtxWFProfilePathW", text(true), 1}, {"CtxWFHomeDir", text(false), 1}, {"CtxWFHomeDirW", text(true), 1},
		{"CtxWFHomeDirDrive", text(false), 1}, {"CtxWFHomeDirDriveW", text(true), 1},
	}
	properties := []rdsProperty{known[0]}
	for _, p := range known[1:] {
		if r.IntN(2) == 0 {
			continue
		}
		if r.IntN(4) == 0 {
			p.name = strings.ToUpper(p.name)
		}
		properties = append(properties, p)
	}
	for range r.IntN(5) {
		others := []rdsProperty{
			{"CtxShadow", hexUnits([]byte{1, 0, 0, 0}), 1}, {"CtxCallback", "", 7}, {"Ω\u3030\x01", "not hexadecimal", 0x1234}, {"", "x", 1},
			{"CtxWFHomeDirX", hexUnits([]byte{9}), 1}, {"CtxCfgFlags", "y", 1}, {"CtxWFProfilePat", "😀", 2},
		}
		properties = append(properties, others[r.IntN(len(others))])
	}
	r.Shuffle(len(properties), func(i, j int) { properties[i], properties[j] = properties[j], properties[i] })
	return properties
}

// TestForeignDataIsPreserved changes settings in attributes with arbitrary content. All other content must be
// preserved exactly and in order.
func TestForeignDataIsPreserved(t *testing.T) {
	c := newCodec(t)
	ours := map[string][]string{
		"RdsProfilePath": {"ctxwfprofilepath", "ctxwfprofilepathw"}, "RdsHomeFolderPath": {"ctxwfhomedir", "ctxwfhomedirw"},
		"RdsHomeFolderDrive": {"ctxwfhomedirdrive", "ctxwfhomedirdrivew"}, "RdsConnectDrive": {"ctxcfgflags1"}, "RdsAllowLogon": {"ctxcfgflags1"},
	}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		front := strings.Repeat("m:\u3030", 16)
		behind := []string{"", "G$RADIUSCHAP\x02", strings.Repeat("x", r.IntN(300))}[r.IntN(3)]
		properties := anyProperties(r)
		before := rdsBlob(front, properties, behind)
		settings, err := tsparams.Decode(utf16LE(before))
		require.NoError(t, err, "seed %d", seed)
		changes := map[string]string{}
		if r.IntN(2) == 0 {
			settings.ConnectDrive = r.IntN(2) == 0
			changes["RdsConnectDrive"] = fmt.Sprintf("$%v", settings.ConnectDrive)
		}
		if r.IntN(2) == 0 {
			settings.AllowLogon = r.IntN(2) == 0
			changes["RdsAllowLogon"] = fmt.Sprintf("$%v", settings.AllowLogon)
		}
		path := []string{"", `\\fs\x`, "Ωmega 😀"}[r.IntN(3)]
		for name, to := range map[string]*string{"RdsProfilePath": &settings.ProfilePath, "RdsHomeFolderPath": &settings.HomeFolderPath, "RdsHomeFolderDrive": &settings.HomeFolderDrive} {
			if r.IntN(3) == 0 {
				*to = path
				changes[name] = "'" + path + "'"
			}
		}
		changed := map[string]bool{"ctxcfgpresent": true}
		given := ""
		for name, value := range changes {
			given += name + " = " + value + "; "
			for _, property := range ours[name] {
				changed[property] = true
			}
		}
		out, refused := c.encode(t, utf16LE(before), "@{ "+given+"}")
		require.False(t, refused)
		after, err := tsparams.Decode(out)
		require.NoError(t, err)
		require.Equal(t, settings, after, "seed %d: %s", seed, given)

		rest := dotnet.FromUnits(unitsOf(out))
		for _, part := range append([]string{front + "P"}, keptParts(properties, changed)...) {
			at := strings.Index(rest, part)
			require.GreaterOrEqual(t, at, 0, "seed %d: %q is gone or has moved", seed, part)
			rest = rest[at+len(part):]
		}
		require.True(t, strings.HasSuffix(rest, behind) || behind == "", "seed %d", seed)
		if len(changes) == 0 {
			require.Equal(t, utf16LE(before), out, "seed %d", seed)
		}
	}
}

// keptParts returns the properties that must not change, in order.
func keptParts(properties []rdsProperty, changed map[string]bool) []string {
	var parts []string
	for _, p := range properties {
		if !changed[strings.ToLower(p.name)] {
			parts = append(parts, p.stored())
		}
	}
	return parts
}

func unitsOf(raw []byte) []uint16 {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
	}
	return units
}

// TestConcurrentChangesAreNotOverwritten: a write compares the attribute with the value read before.
func TestConcurrentChangesAreNotOverwritten(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	world, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	eng := engine.NewEngine(engine.Options{
		Modules: []*engine.Module{sandbox.HostModule(), adcmd.Module(adcmd.Options{Domain: world.Directory})}, AutoLoad: true,
	})
	session := eng.NewSession(engine.Console{})
	prelude := scripts.Prelude(ps.Directory)
	require.NoError(t, session.Run(ctx, prelude.Name, prelude.Text, engine.Streams{}))
	var said []string
	run := func(text string) {
		t.Helper()
		require.NoError(t, session.Run(ctx, "test", text, engine.Streams{Output: func(v any) error { said = append(said, dotnet.ToText(v)); return nil }}))
	}
	run(`Import-Module -Name ActiveDirectory
		$user = @{ Guid = '` + systemtest.SampleUserGUID + `'; Server = 'dc1.corp.example' }
		$first = Get-GatewayUserParameters @user
		Set-GatewayUserParameters @user -Old $first -New 'somebody else'
		try { Set-GatewayUserParameters @user -Old $first -New 'mine' } catch { $_.FullyQualifiedErrorId }
		Get-GatewayUserParameters @user
		Set-GatewayUserParameters @user -Old 'somebody else' -New ''
		[string](Get-GatewayUserParameters @user).Length`)
	assert.Equal(t, []string{"Gateway.conflict", "somebody else", "0"}, said)
}

// TestBigValuesStayFast: the time for a change does not grow quadratically with the length of the attribute,
// up to the longest possible one.
func TestBigValuesStayFast(t *testing.T) {
	c := newCodecWithin(t, engine.Limits{Steps: 100_000}) // the text has a billion pairs of characters
	text := rdsVector(t, "v3.utf8")
	text += strings.Repeat("x", 32767-len(dotnet.Units(text)))
	out, refused := c.encode(t, utf16LE(text), `@{ RdsAllowLogon = $false }`)
	require.False(t, refused)
	assert.Len(t, out, 2*32767)
	_, refused = c.encode(t, utf16LE(text), `@{ RdsProfilePath = 'longer' }`)
	assert.True(t, refused, "the attribute would become too long")
}
