package dotnet

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// samples are one value or more of every kind scripts can hold.
func samples(t testing.TB) []any {
	var held any
	made := func(name string, args ...any) any {
		v, err := New(Lookup(name), args)
		require.NoError(t, err, name)
		return v
	}
	static := func(name, member string) any {
		v, found, err := GetStatic(Lookup(name), member, nil)
		require.NoError(t, err, name)
		require.True(t, found, name+member)
		return v
	}
	view, _, _ := GetMember(NewPSObject("a", int32(1)), "PSObject")
	set, _, _ := GetMember(view, "Properties")
	match, _ := CallStatic(TRegex, "Match", []any{"a1", `\d`})
	groups, _, _ := GetMember(match, "Groups")
	console := NewConsole(nil, &bytes.Buffer{}, nil)
	out, _, _ := GetStatic(console, "Out", nil)
	stream, _ := CallStatic(console, "OpenStandardOutput", nil)
	return []any{
		nil, AutomationNull, "", "abc", "😀é\xed\xa0\x80", "12", "0x", "-", true, Char('a'), Char(0xD800), int32(-1), int32(0), int32(1), int32(5), int32(100000), int64(-1 << 63), uint8(7),
		uint64(1 << 63), 1.5, -1e300, float32(2), dec("-7.9"), BigInteger("99999999999999999999"), date("2024-02-29"), DateTime{}, DateTime{maxDateTicks, Local}, TimeSpan(-1 << 63), TimeSpan(5), Guid{}, Version{1, 2, -1, -1},
		Enum{TStringComparison, 5}, Enum{TSplitOptions, 3}, arr(), arr("a", nil, int32(1)), arr(arr()), StringArray([]string{"x", ""}), &Bytes{}, &Bytes{B: []byte{1, 2, 255}}, &Bytes{B: make([]byte, 16)},
		NewHashtable(), ordered("a", int32(1), int32(2), nil), NewPSObject("a", int32(1)), NewInstance(TObject), NewList(int32(1), nil), TInt32, TListObject, TException, &DictionaryEntry{Key: "k"},
		ExceptionNamed("System.ArgumentException", "m"), NewError(nil, "id", InvalidData, nil), NewSecureString("s"), &PSCredential{UserName: "u", Password: NewSecureString("p")}, NewSwitch(true),
		&Ref{Get: func() any { return held }, Set: func(v any) error { held = v; return nil }}, view, set, match, groups, out, stream, console,
		made("System.Collections.ArrayList"), made("System.Collections.Generic.Stack[object]"), made("System.Collections.Generic.Queue[int]"), made("System.Collections.Generic.HashSet[string]"),
		made("System.Collections.Generic.Dictionary[string,int]"), made("System.Text.StringBuilder", "x"), made("System.Net.NetworkCredential", "u", "p"), made("System.Diagnostics.Stopwatch"),
		made("regex", "a+"), static("StringComparer", "Ordinal"), static("System.Text.Encoding", "UTF8"), static("System.Globalization.CultureInfo", "InvariantCulture"), newEnumerator(arr("a")),
	}
}

// A script can call every member with anything: the answer is a value, a record
// or a limit, never a panic.
func TestNoMemberPanics(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	limit, items := MaxStringLength, MaxArrayLength
	defer func() { MaxStringLength, MaxArrayLength = limit, items }()
	MaxStringLength, MaxArrayLength = 1<<16, 1<<12
	try := func(what string, call func() (any, error)) {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v", what, p)
			}
		}()
		v, err := call()
		if err != nil {
			_, isLimit := err.(*LimitError)
			if !isLimit && AsRecord(err) == nil {
				t.Errorf("%s: %T %v", what, err, err)
			}
			return
		}
		ToText(v)
		TypeOf(v)
	}
	pick := func(n int) []any {
		args := make([]any, n)
		pool := samples(t)
		for i := range args {
			args[i] = pool[random.Intn(len(pool))]
		}
		return args
	}
	rounds := 12
	for _, typ := range append(Types(), Lookup("System.Collections.Generic.List[int]"), Lookup("System.Collections.Generic.Dictionary[string,object]"), Lookup("System.Collections.Generic.HashSet[object]")) {
		typ.ready()
		slots := append([]*slot{}, typ.static.order...)
		if typ.constructor != nil {
			slots = append(slots, typ.constructor)
		}
		for _, s := range slots {
			for _, m := range s.methods {
				for range rounds {
					args := pick(len(m.params))
					try(fmt.Sprintf("[%s]::%s(%s)", typ.Name, s.name, shown(args)), func() (any, error) { return CallStatic(typ, s.name, args) })
				}
				try(typ.Name+s.name+" nulls", func() (any, error) { return CallStatic(typ, s.name, make([]any, len(m.params))) })
			}
			if s.property != nil {
				try(typ.Name+s.name, func() (any, error) { v, _, err := GetStatic(typ, s.name, nil); return v, err })
			}
		}
	}
	for i := range samples(t) {
		for u := TypeOf(samples(t)[i]); u != nil; u = u.Base {
			u.ready()
			for _, s := range u.instance.order {
				for _, m := range s.methods {
					for r := range rounds + 1 {
						self, args := samples(t)[i], pick(len(m.params))
						if r == 0 {
							args = make([]any, len(m.params))
						}
						try(fmt.Sprintf("%s.%s(%s)", u.Name, s.name, shown(args)), func() (any, error) { return CallMethod(self, s.name, args) })
					}
				}
				if s.property != nil {
					self := samples(t)[i]
					try(u.Name+"."+s.name, func() (any, error) { v, _, err := GetMember(self, s.name); return v, err })
					try(u.Name+"."+s.name+"=", func() (any, error) { return nil, SetMember(self, s.name, pick(1)[0]) })
				}
			}
		}
	}
}

func shown(args []any) (s string) {
	for _, a := range args {
		s += fmt.Sprintf("%T %.20s,", a, ToText(a))
	}
	return s
}

func TestNoOperatorOrConversionPanics(t *testing.T) {
	limit, items := MaxStringLength, MaxArrayLength
	defer func() { MaxStringLength, MaxArrayLength = limit, items }()
	MaxStringLength, MaxArrayLength = 1<<16, 1<<12
	pool := samples(t)
	check := func(what string, call func() error) {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v", what, p)
			}
		}()
		if err := call(); err != nil {
			if _, isLimit := err.(*LimitError); !isLimit && AsRecord(err) == nil {
				t.Errorf("%s: %T %v", what, err, err)
			}
		}
	}
	for name, f := range binaryOperators {
		for _, l := range pool {
			for _, r := range pool {
				check(fmt.Sprintf("%s %s %s", shown([]any{l}), name, shown([]any{r})), func() error { return second(f(l, r)) })
			}
		}
	}
	for _, v := range pool {
		for _, op := range []string{"-", "+", "!", "-bnot", "-split", "-join", ","} {
			check(op+shown([]any{v}), func() error { return second(Unary(op, v)) })
		}
		for _, typ := range Types() {
			check("["+typ.Name+"]"+shown([]any{v}), func() error { return second(Convert(v, typ)) })
			check("["+typ.Name+"[]]"+shown([]any{v}), func() error { return second(Convert(v, typ.Array())) })
		}
		for _, i := range pool {
			check("index "+shown([]any{v, i}), func() error { _, _, err := GetIndex(v, i); return err })
			check("compare "+shown([]any{v, i}), func() error { CompareSort(v, i, false); return nil })
		}
		check("json "+shown([]any{v}), func() error { _, _, err := ToJSON(v, JSONOptions{Depth: 3}); return err })
		check("props "+shown([]any{v}), func() error {
			for _, p := range Properties(v) {
				_ = p.Text()
			}
			return nil
		})
	}
}
