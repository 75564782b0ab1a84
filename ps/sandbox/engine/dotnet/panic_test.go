package dotnet

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// samples returns at least one value of every kind that scripts can use.
func samples(t testing.TB) []any {
	created := func(name string, args ...any) any {
		v, err := New(Lookup(name), args)
		require.NoError(t, err, name)
		return v
	}
	view, _, err := GetMember(NewPSObject("a", int32(1)), "PSObject")
	require.NoError(t, err)
	set, _, err := GetMember(view, "Properties")
	require.NoError(t, err)
	console := NewConsole(nil, &bytes.Buffer{}, nil)
	stream, err := callStatic(console, "OpenStandardOutput")
	require.NoError(t, err)
	keys, _, err := GetMember(ordered("a", nil), "Keys")
	require.NoError(t, err)
	return []any{
		nil, AutomationNull, "", "abc", "😀é\xed\xa0\x80", "12", "0x", "-", true, Char('a'), Char(0xD800), int32(-1 << 31), int32(-1), int32(0), int32(1), int32(5), int32(100000), int64(-1 << 63), uint8(7),
		uint16(7), uint32(1 << 31), uint64(1 << 63), 1.5, -1e300, date(t, "2024-02-29"), DateTime{}, DateTime{maxDateTicks, Local}, TimeSpan(-1 << 63), TimeSpan(5), Guid{}, Version{1, 2, -1, -1},
		EnumOf(Lookup("StringComparison"), "Ordinal"), Enum{TDateTimeKind, 99}, arr(), arr("a", nil, int32(1)), arr(arr()), &Array{Elem: TString, Items: []any{"x", ""}}, charArray("a😀"), &Bytes{}, &Bytes{B: []byte{1, 2, 255}},
		NewHashtable(), ordered("a", int32(1), int32(2), nil), NewPSObject("a", int32(1)), NewInstance(TObject), &List{Type: TListObject, Items: []any{int32(1), nil}}, TInt32, TListObject, TException, keys,
		ExceptionNamed("System.ArgumentException", "m"), NewError(nil, "id", InvalidData, nil), NewSecureString("s"), &PSCredential{UserName: "u", Password: NewSecureString("p")}, NewSwitch(true), view, set, stream, console,
		&List{Type: TArrayList}, created("System.Text.StringBuilder"), created("System.Net.NetworkCredential", "u", "p"), static(t, "StringComparer", "Ordinal"), static(t, "System.Text.Encoding", "UTF8"),
		static(t, "System.Text.Encoding", "Unicode"), static(t, "System.Globalization.CultureInfo", "InvariantCulture"),
		&Hashtable{Type: Lookup("System.Collections.Generic.Dictionary[string,object]")}, NewIPAddress("10.0.0.1"),
	}
}

// attempt calls f. The result must be a value, a record, a limit or a refusal, never a panic.
func attempt(t *testing.T, what string, f func() (any, error)) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", what, p)
		}
	}()
	v, err := f()
	switch err.(type) {
	case nil:
		ToText(v)
		TypeOf(v)
	case *LimitError, *Refused:
	default:
		if AsRecord(err) == nil {
			t.Errorf("%s: %T %v", what, err, err)
		}
	}
}

func shown(args []any) (s string) {
	for _, a := range args {
		s += fmt.Sprintf("%T %.20s,", a, ToText(a))
	}
	return s
}

func TestNoMemberPanics(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	limits(t, 1<<16, 1<<12)
	pool := samples(t)
	pick := func(n int) []any {
		args := make([]any, n)
		for i := range args {
			args[i] = pool[random.Intn(len(pool))]
		}
		return args
	}
	const rounds = 40
	for _, typ := range append(Types(), Lookup("System.Collections.Generic.List[int]"),
		Lookup("System.Collections.Generic.Dictionary[string,object]")) {
		typ.ready()
		slots := append([]*slot{}, typ.static.order...)
		if typ.constructor != nil {
			slots = append(slots, typ.constructor)
		}
		for _, s := range slots {
			for _, m := range s.methods {
				for range rounds {
					args := pick(len(m.params))
					attempt(t, fmt.Sprintf("[%s]::%s(%s)", typ.Name, s.name, shown(args)),
						func() (any, error) { return callStatic(typ, s.name, args...) })
				}
				attempt(t, typ.Name+s.name+" nulls",
					func() (any, error) { return callStatic(typ, s.name, make([]any, len(m.params))...) })
			}
			n := MakeName(s.name)
			attempt(t, typ.Name+s.name, func() (any, error) { return n.GetStatic(typ) })
		}
	}
	for i := range pool {
		for u := TypeOf(pool[i]); u != nil; u = u.Base {
			u.ready()
			for _, s := range u.instance.order {
				for _, m := range s.methods {
					for range rounds {
						self, args := samples(t)[i], pick(len(m.params))
						attempt(t, fmt.Sprintf("%s.%s(%s)", u.Name, s.name, shown(args)),
							func() (any, error) { return CallMethod(self, s.name, args) })
					}
				}
				self := samples(t)[i]
				attempt(t, u.Name+"."+s.name, func() (any, error) { v, _, err := GetMember(self, s.name); return v, err })
				attempt(t, u.Name+"."+s.name+"=", func() (any, error) { return nil, SetMember(self, s.name, pick(1)[0]) })
			}
		}
	}
}

func TestNoOperatorOrConversionPanics(t *testing.T) {
	limits(t, 1<<16, 1<<12)
	pool := samples(t)
	for _, l := range pool {
		for _, r := range pool {
			pair := shown([]any{l, r})
			for name, f := range binaryOperators {
				attempt(t, name+pair, func() (any, error) { return f(l, r) })
			}
			attempt(t, "match"+pair, func() (any, error) { v, err := Match(l, r, false, false); return v, err })
			attempt(t, "replace"+pair, func() (any, error) { return Replace(l, arr(r, l), false) })
			attempt(t, "index"+pair, func() (any, error) { v, _, err := GetIndex(l, r); return v, err })
			attempt(t, "set index"+pair,
				func() (any, error) { return nil, SetIndex(&Array{Items: make([]any, 2)}, l, r) })
		}
	}
	for _, v := range pool {
		attempt(t, "-bnot"+shown([]any{v}), func() (any, error) { return BitNot(v) })
		for _, typ := range Types() {
			attempt(t, "["+typ.Name+"]"+shown([]any{v}), func() (any, error) { return Convert(v, typ) })
			attempt(t, "["+typ.Name+"[]]"+shown([]any{v}), func() (any, error) { return Convert(v, typ.Array()) })
		}
		attempt(t, "json "+shown([]any{v}), func() (any, error) { return ToJSON(v, JSONOptions{Depth: 3}) })
		for _, p := range Properties(v) {
			attempt(t, "property "+p.Name, func() (any, error) { return p.Value(), nil })
		}
	}
}
