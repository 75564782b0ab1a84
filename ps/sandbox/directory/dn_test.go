package directory

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseDN(t *testing.T) {
	tests := []struct{ in, out string }{
		{"", ""},
		{"  ", ""},
		{"CN=a,DC=b", "CN=a,DC=b"},
		{"cn=a, ou = b ;dc=c", "CN=a,OU=b,DC=c"},
		{`CN=a\,b,DC=c`, `CN=a\,b,DC=c`},
		{`CN=a\2Cb,DC=c`, `CN=a\,b,DC=c`}, // facts C22: escape style differs
		{`CN="a,b",DC=c`, `CN=a\,b,DC=c`},
		{`CN=a\3Db`, `CN=a\3Db`},
		{`CN=a=b`, `CN=a\3Db`},
		{`CN=a\=b`, `CN=a\3Db`},
		{`CN=\ a\ `, `CN=\ a\ `},
		{`CN=a   ,DC=c`, `CN=a,DC=c`},
		{`CN=a \  ,DC=c`, `CN=a \ ,DC=c`},
		{`CN=\#a`, `CN=\#a`},
		{`CN=a#b`, `CN=a\#b`},
		{`CN=#0c0161`, `CN=a`},
		{`CN=J\C3\BCrgen`, `CN=Jürgen`},
		{`CN=a\/b`, `CN=a/b`}, // facts C25: ADsPath spelling
		{`CN=x\0ACNF:4b98b030-c66a-4474-a63a-a26f4cebc7af`, `CN=x\0ACNF:4b98b030-c66a-4474-a63a-a26f4cebc7af`}, // facts C23
		{`OID.2.5.4.3=a,2.5.4.11=b`, `CN=a,OU=b`},
		{`CN=a\\b\"c\+d\;e\<f\>g`, `CN=a\\b\"c\+d\;e\<f\>g`},
		{`CN=営業😀,DC=c`, `CN=営業😀,DC=c`},
	}
	for _, tt := range tests {
		d, err := ParseDN(tt.in)
		require.NoError(t, err, tt.in)
		assert.Equal(t, tt.out, d.String(), tt.in)
		again, err := ParseDN(d.String())
		require.NoError(t, err)
		assert.True(t, d.Equal(again), tt.in)
	}
}

func TestParseDNRefuses(t *testing.T) {
	for _, in := range []string{
		"a", "CN", "=a", "CN=", "CN=,DC=c", "CN=a,", "CN=a,,DC=c", ",CN=a", `CN=a\`, `CN=a\q`, `CN=a\4`, "CN=a+OU=b",
		`CN=a"b`, "CN=a<b", "CN=a>b", `CN="a`, `CN="a"b`, "CN=#", "CN=#1", "CN=#zz", "CN=#0cff61", "1CN=a", "1.2.3.4=a",
		"CN=\xff", `CN=\FF`, "CN=a\x00", "C N=a", "CN=a,DC=", "Käse=a", "OID.=a", "oid.=a,DC=b",
	} {
		_, err := ParseDN(in)
		requireCode(t, CodeInvalidDN, KindSyntax, err)
	}
}

func TestDNCompare(t *testing.T) {
	parse := func(s string) DN {
		d, err := ParseDN(s)
		require.NoError(t, err)
		return d
	}
	// facts C22: for each name, case and spelling do not matter
	assert.True(t, parse(`cn=O'Brien\2C Patrick, ou=X,dc=CORP`).Equal(parse(`CN=o'brien\, patrick,OU=x,DC=corp`)))
	assert.True(t, parse("CN=ΣΑΣ").Equal(parse("cn=σας")))
	assert.False(t, parse("CN=a,DC=b").Equal(parse("OU=a,DC=b")))
	assert.False(t, parse(`CN=a\,CN=b`).Equal(parse("CN=a,CN=b")))
	root := parse("DC=corp,DC=example")
	assert.True(t, parse("CN=a,DC=Corp,DC=example").Under(root))
	assert.False(t, root.Under(root))
	assert.False(t, parse("CN=a,DC=xcorp,DC=example").Under(root))
	assert.Equal(t, `CN=a\,b,DC=corp,DC=example`, root.Child("cn", "a,b").String())
	assert.Equal(t, root.String(), root.Child("cn", "x").Parent().String())
	assert.Equal(t, RDN{"DC", "corp"}, root.RDN())
	assert.Equal(t, 2, root.Len())
	assert.True(t, DN{}.IsZero())
	assert.True(t, DN{}.Parent().IsZero())
	assert.Equal(t, RDN{}, DN{}.RDN())
	assert.Len(t, root.RDNs(), 2)
}

// Facts C20, C31
func TestEscapeRDN(t *testing.T) {
	for in, out := range map[string]string{
		"plain": "plain", " lead": `\ lead`, "trail ": `trail\ `, " ": `\ `, "#a": `\#a`, "C# Devs": `C\# Devs`,
		`"+,;<>\`: `\"\+\,\;\<\>\\`, "a=b": `a\3Db`, "a\nb\rc\x00d": `a\0Ab\0Dc\00d`, "a/b": "a/b", "": "",
	} {
		assert.Equal(t, out, EscapeRDN(in))
	}
}

func FuzzDN(f *testing.F) {
	for _, s := range []string{"CN=a,DC=b", `CN=a\,b\2C\ ,OU="x,y";DC=#0c0161`, `CN=\C3\BC`, "CN=\xff", "CN=a+b=c", `cn=x\0ADEL:1`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDN(s)
		if err != nil {
			return
		}
		again, err := ParseDN(d.String())
		require.NoError(t, err, "%q of %q", d.String(), s)
		require.Equal(t, d, again)
		require.True(t, d.Equal(again))
		require.Equal(t, d.Key(), again.Key())
	})
}

func FuzzEscapeRDN(f *testing.F) {
	for _, s := range []string{"a", " a ", "#", "a,b=c\\", "\x00\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || !utf8.ValidString(s) {
			return
		}
		d, err := ParseDN("CN=" + EscapeRDN(s) + ",DC=x")
		require.NoError(t, err)
		require.Equal(t, s, d.RDN().Value)
		require.Equal(t, 2, d.Len())
	})
}

func TestIDs(t *testing.T) {
	g, ok := ParseGUID("{4B98B030-c66a-4474-a63a-a26f4cebc7af}")
	require.True(t, ok)
	assert.Equal(t, "4b98b030-c66a-4474-a63a-a26f4cebc7af", g.String())
	assert.Equal(t, byte(0x30), g[0], "the first group is little-endian")
	assert.Equal(t, "<GUID=4b98b030-c66a-4474-a63a-a26f4cebc7af>", g.Ref())
	h, ok := ParseGUID("4b98b030c66a4474a63aa26f4cebc7af")
	require.True(t, ok)
	assert.Equal(t, g, h)
	b, ok := GUIDFromBytes(g[:])
	require.True(t, ok)
	assert.Equal(t, g, b)
	assert.True(t, GUID{}.IsZero())
	for _, bad := range []string{"", "x", "{4b98b030-c66a-4474-a63a-a26f4cebc7af",
		"4b98b030-c66a-4474-a63a-a26f4cebc7ag", "4b98b030-c66a-4474-a63aa26f4cebc7af-"} {
		_, ok := ParseGUID(bad)
		assert.False(t, ok, bad)
	}
	_, ok = GUIDFromBytes([]byte{1})
	assert.False(t, ok)

	s, ok := ParseSID("s-1-5-21-1-2-3-500")
	require.True(t, ok)
	assert.Equal(t, "S-1-5-21-1-2-3-500", s.String())
	assert.EqualValues(t, 500, s.RID())
	assert.Equal(t, "S-1-5-21-1-2-3", s.Domain().String())
	assert.Equal(t, s, s.Domain().WithRID(500))
	back, ok := SIDFromBytes(s.Bytes())
	require.True(t, ok)
	assert.Equal(t, s, back)
	assert.Equal(t, "<SID=S-1-5-21-1-2-3-500>", s.Ref())
	assert.Equal(t, "S-1-1-0", Everyone.String())
	assert.True(t, SID{}.IsZero())
	assert.Empty(t, SID{}.String())
	assert.Nil(t, SID{}.Bytes())
	assert.Zero(t, SID{}.RID())
	for _, bad := range []string{"", "S-1", "S-2-5-1", "S-1-5-x", "S-1-5-4294967296", "S-1-281474976710656-1",
		"S-1-5--1"} {
		_, ok := ParseSID(bad)
		assert.False(t, ok, bad)
	}
	for _, bad := range [][]byte{nil, {1}, {1, 2, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0},
		{2, 1, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0}} {
		_, ok := SIDFromBytes(bad)
		assert.False(t, ok)
	}
}

func FuzzSID(f *testing.F) {
	f.Add("S-1-5-21-1-2-3-500")
	f.Add("s-1-0-0")
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseSID(text)
		if !ok {
			return
		}
		again, ok := ParseSID(s.String())
		require.True(t, ok)
		require.Equal(t, s, again)
		raw, ok := SIDFromBytes(s.Bytes())
		require.True(t, ok)
		require.Equal(t, s, raw)
	})
}

// Facts H21, KB 938447: names that differ only in diacritics are equal.
func TestFoldIgnoresDiacritics(t *testing.T) {
	for _, same := range [][2]string{
		{"Müller", "muller"}, {"Mu\u0308ller", "MÜLLER"}, {"Meißner", "MEISSNER"}, {"ååå", "aaa"}, {"Søren", "soren"}, {"Ærø", "aero"}, {"José", "JOSE"}, {"ẞ", "ß"},
	} {
		assert.Equal(t, fold(same[0]), fold(same[1]), same)
		assert.True(t, sameName(same[0], same[1]), same)
	}
	for _, other := range [][2]string{{"Müller", "Mueller"}, {"a", "b"}, {"\u0308", ""}, {"дом", "dom"},
		{"日", "本"}} {
		assert.NotEqual(t, fold(other[0]), fold(other[1]), other)
		assert.False(t, sameName(other[0], other[1]), other)
	}
}

// Facts H25: half and full width, and Hiragana and Katakana, are the same name.
func TestFoldIgnoresWidthAndKana(t *testing.T) {
	for _, same := range [][2]string{
		{"ｗａｂｃ１", "WABC1"}, {"Ｖertrieb", "vertrieb"}, {"やまだ", "ヤマダ"}, {"ﾔﾏﾀﾞ", "やまだ"}, {"ｱ", "あ"}, {"a\u3000b", "a b"}, {"Ｍüller", "muller"}, {"ヾ", "ゞ"},
	} {
		assert.Equal(t, fold(same[0]), fold(same[1]), same)
		assert.True(t, sameName(same[0], same[1]), same)
	}
	for _, other := range [][2]string{{"やまだ", "やまた゜"}, {"ー", "-"}, {"日本", "にほん"}} {
		assert.False(t, sameName(other[0], other[1]), other)
	}
}

// Facts H21: case folding agrees with simple folding of Unicode.
func FuzzFold(f *testing.F) {
	f.Add("Straße", "STRASSE")
	f.Add("ΣΑΣ", "σας")
	f.Add("K", "k")
	f.Fuzz(func(t *testing.T, a, b string) {
		if utf8.ValidString(a) && utf8.ValidString(b) {
			require.Equal(t, sameName(a, b), fold(a) == fold(b))
			if equalFold(a, b) {
				require.Equal(t, fold(a), fold(b))
			}
		}
		require.Equal(t, fold(a), fold(fold(a)))
	})
}
