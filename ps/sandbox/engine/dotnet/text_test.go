package dotnet

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUTF16Semantics(t *testing.T) {
	assert.Equal(t, 3, Length("a😀"))
	assert.Equal(t, Char(0xD83D), UnitAt("a😀b", 1))
	assert.Equal(t, Char(0xDE00), UnitAt("a😀b", 2))
	assert.Equal(t, Char('b'), UnitAt("a😀b", 3))
	half := Slice("😀", 0, 1)
	assert.Equal(t, "\xed\xa0\xbd", half)
	assert.Equal(t, 1, Length(half))
	assert.Equal(t, "😀", Concat(half, Slice("😀", 1, 1)))
	assert.Equal(t, "😀", Concat(CharString(0xD83D), CharString(0xDE00)))
	assert.Equal(t, "STRAßE ÄÖ", ToUpper("straße äö"))
	assert.Equal(t, "i̇", ToLower("i̇"))
	assert.False(t, EqualFold("\u212A", "k"), "the Kelvin sign is not k")
	assert.True(t, EqualFold("ÄÖÜ", "äöü"))
	assert.Equal(t, "�", string(ToUTF8(half)))
}

// Slice agrees with the same operation on []uint16.
func FuzzSlice(f *testing.F) {
	f.Add("a😀b\xed\xa0\xbd", 1, 2)
	f.Add("", 0, 0)
	f.Add("ASCII only", 3, 4)
	f.Fuzz(func(t *testing.T, raw string, start, count int) {
		s := FromUnits(utf16.Encode([]rune(raw)))
		units := Units(s)
		require.Equal(t, len(units), Length(s))
		require.Equal(t, s, FromUnits(units))
		if start < 0 || count < 0 || start > len(units) || count > len(units)-start {
			return
		}
		part := Slice(s, start, count)
		require.Equal(t, FromUnits(units[start:start+count]), part)
		require.Equal(t, s, Concat(Slice(s, 0, start), part, Slice(s, start+count, len(units)-start-count)))
		if start < len(units) {
			require.Equal(t, Char(units[start]), UnitAt(s, start))
		}
	})
}

func TestFromUTF8ReplacesLikeTheFramework(t *testing.T) {
	for in, want := range map[string]string{
		"ok": "ok", "\xff": "�", "\xe2\x82": "�", "\xe2\x82x": "�x", "\xed\xa0\x80": "���", "\xf0\x9f\x98": "�", "\xc0\xaf": "��", "a\x80b": "a�b",
	} {
		assert.Equal(t, want, FromUTF8([]byte(in)), "%q", in)
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		want          bool
	}{
		{"abc", "A*", true}, {"abc", "a?c", true}, {"a[b", "a`[b", true}, {"abc", "", false}, {"", "*", true}, {"a*c", "a`*c", true},
		{"abc", "a`*c", false}, {"[x]", "`[x`]", true}, {"ÄB", "ä*", true},
		{"😀", "?", true}, {"abcabc", "*abc", true}, {"ab", "a*b*c", false}, {"a`b", "a``b", true},
	} {
		assert.Equal(t, c.want, Like(c.text, c.pattern, false), "%s -like %s", c.text, c.pattern)
	}
	assert.False(t, Like("abc", "A*", true))
	assert.False(t, Like(strings.Repeat("a", 20000), strings.Repeat("*a", 200)+"b", false),
		"and it does not go on for ever")
}

func FuzzLike(f *testing.F) {
	f.Add("abc", "a*c")
	f.Add("[x", "`[?")
	f.Add("a😀", "a[!-~]")
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if len(text)*len(pattern) > 1<<16 {
			return
		}
		text, pattern = FromUTF8([]byte(text)), FromUTF8([]byte(pattern))
		Like(text, pattern, false)
		escaped := strings.NewReplacer("`", "``", "*", "`*", "?", "`?", "[", "`[").Replace(text)
		require.True(t, Like(text, escaped, true), "escaped text matches itself")
		require.True(t, Like(text, escaped+"*", false))
		require.True(t, Like(text, "*", true))
	})
}

func FuzzConvertText(f *testing.F) {
	for _, seed := range []string{"12", "0x10", "1kb", "1,000.5", "2024-01-02T03:04:05Z", "1.02:03:04",
		"{A1B2C3D4-0000-1111-2222-333344445555}", "Monday", "1.2.3", "", "-", "1e400"} {
		f.Add(seed)
	}
	targets := []string{"int", "long", "byte", "double", "bool", "char", "datetime", "timespan", "guid",
		"version", "DateTimeKind",
		"string[]", "int[]", "hashtable", "switch", "ipaddress", "System.Exception", "Nullable[int]"}
	f.Fuzz(func(t *testing.T, text string) {
		text = FromUTF8([]byte(text))
		for _, name := range targets {
			to := Lookup(name)
			v, err := Convert(text, to)
			if err != nil {
				if _, refused := err.(*Refused); !refused {
					require.NotNil(t, AsRecord(err), name)
				}
				continue
			}
			if v != nil {
				require.True(t, Is(v, to), "[%s]%q is %s", name, text, TypeOf(v).Name)
				back, err := Convert(ToText(v), to)
				if to.Kind == KindStruct && to != TChar && to != TBool && to != TDateTime && to != TSwitch {
					require.NoError(t, err)
					require.Equal(t, v, back, "%s %q", name, text)
				}
			}
		}
	})
}

func TestCompareOrdinalIsByUnits(t *testing.T) {
	words := []string{"", "a", "A", "é", "z", "日", "\uE000", "\uFFFD", "😀", "😀a", "\xed\xa0\xbd", "a\u0000",
		"a\uFF01", "a😀", "\ued00"}
	for _, a := range words {
		for _, b := range words {
			x, y := Units(a), Units(b)
			want := 0
			for i := 0; want == 0 && i < len(x) && i < len(y); i++ {
				want = order(int64(x[i]), int64(y[i]))
			}
			if want == 0 {
				want = order(int64(len(x)), int64(len(y)))
			}
			assert.Equal(t, want, order(int64(CompareOrdinal(a, b)), 0), "%q %q", a, b)
		}
	}
}
