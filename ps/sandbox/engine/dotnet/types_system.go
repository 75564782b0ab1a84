package dotnet

import (
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

func declareSystem() {
	TGuid = Register(Class{
		Name: "System.Guid", Aliases: []string{"guid"}, Kind: KindStruct,
		Members: []Member{
			Method("ToByteArray", "", func(self any, _ []any) (any, error) {
				g := self.(Guid)
				return &Bytes{B: g[:]}, nil
			}),
			Method("ToString", "", func(self any, _ []any) (any, error) { return self.(Guid).String(), nil }),
		},
	})
	TVersion = Register(Class{Name: "System.Version", Aliases: []string{"version"}})
	TIPAddress = Register(Class{
		Name: "System.Net.IPAddress", Aliases: []string{"ipaddress"},
		Members: []Member{Method("GetAddressBytes", "", func(self any, _ []any) (any, error) {
			return &Bytes{B: netip.MustParseAddr(self.(*Instance).Text).AsSlice()}, nil
		})},
	})
	TCim = Register(Class{
		Name: "Microsoft.Management.Infrastructure.CimInstance", Aliases: []string{"ciminstance"},
		New: []Member{Constructor("Microsoft.Management.Infrastructure.CimInstance",
			func(_ any, a []any) (any, error) {
				return cloneCim(a[0].(*Instance)), nil
			})},
	})
	Register(Class{Name: "System.Convert", Static: convertStatics})
	Register(Class{Name: "System.Uri", Aliases: []string{"uri"}, Static: []Member{
		Method("EscapeDataString", "string", func(_ any, a []any) (any, error) { return escapeData(a[0].(string)), nil }),
	}})
	Register(Class{Name: "System.BitConverter", Static: []Member{
		Method("GetBytes", "uint32", func(_ any, a []any) (any, error) {
			return &Bytes{B: binary.LittleEndian.AppendUint32(nil, a[0].(uint32))}, nil
		}),
		Method("ToString", "byte[]", func(_ any, a []any) (any, error) { return hyphenHex(a[0].(*Bytes).B), nil }),
	}})
	Register(Class{Name: "System.Environment", Static: []Member{
		Constant("MachineName", "SANDBOX"), Constant("UserName", "sandbox"), Constant("UserDomainName", "SANDBOX"),
	}})
	declareStopwatch()
}

// escapeData implements Uri.EscapeDataString, which escapes all characters except ASCII
// letters, digits and -_.~.
func escapeData(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(strings.ToValidUTF8(text, "\uFFFD")) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

var convertStatics = []Member{
	Method("ToBase64String", "byte[]", func(_ any, a []any) (any, error) {
		return base64.StdEncoding.EncodeToString(a[0].(*Bytes).B), nil
	}),
	Method("FromBase64String", "string", func(_ any, a []any) (any, error) { return decodeBase64(a[0].(string)) }),
	Method("ToString", "object,System.IFormatProvider", func(_ any, a []any) (any, error) {
		if !isNumber(a[0]) {
			return nil, Refuse("[Convert]::ToString() of what is not a number")
		}
		return Text(a[0]), nil
	}),
	Method("ToDouble", "string,System.IFormatProvider", func(_ any, a []any) (any, error) {
		f, err := strconv.ParseFloat(a[0].(string), 64)
		if err != nil {
			return nil, Refuse("[Convert]::ToDouble() of this text")
		}
		return f, nil
	}),
	Method("ToInt32", "string,int", func(_ any, a []any) (any, error) {
		n, err := strconv.ParseUint(a[0].(string), 16, 32)
		if err != nil || a[1] != int32(16) {
			return nil, Refuse("[Convert]::ToInt32() of this text and base")
		}
		return int32(uint32(n)), nil
	}),
}

// decodeBase64 implements FromBase64String, which skips white space and requires padding.
func decodeBase64(s string) (any, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil && strings.ContainsAny(s, " \t") { // the package itself skips line endings
		b, err = base64.StdEncoding.DecodeString(strings.NewReplacer(" ", "", "\t", "").Replace(s))
	}
	if err != nil {
		return nil, ExceptionNamed("System.FormatException",
			"The input is not a valid Base-64 string as it contains a non-base 64 character, more than two padding "+
				"characters, or an illegal character among the padding characters.")
	}
	return &Bytes{B: b}, nil
}

func hyphenHex(b []byte) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 3*len(b))
	for i, c := range b {
		if i > 0 {
			out = append(out, '-')
		}
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

func declareStopwatch() {
	var t *Type
	t = Register(Class{
		Name: "System.Diagnostics.Stopwatch",
		Static: []Member{Method("StartNew", "", func(any, []any) (any, error) {
			return &Instance{Type: t, Data: time.Now()}, nil
		})},
		Members: []Member{Property("ElapsedMilliseconds", func(self any) (any, error) {
			return time.Since(self.(*Instance).Data.(time.Time)).Milliseconds(), nil
		})},
	})
}

// convertGuid parses a GUID in the same way as [guid]$v.
func convertGuid(v any, t *Type) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, refuseCast(v, t)
	}
	if g, ok := ParseGuid(s); ok {
		return g, nil
	}
	if strings.ContainsAny(s, "xX+") {
		return nil, refuseCast(v, t)
	}
	return nil, castErrorCause("InvalidCastParseTargetInvocationWithFormatProvider", v, t,
		ExceptionNamed("System.FormatException", "Unrecognized Guid format."))
}

func convertVersion(v any, t *Type) (any, error) {
	if s, ok := v.(string); ok {
		if version, ok := ParseVersion(s); ok {
			return version, nil
		}
	}
	return nil, refuseCast(v, t)
}

func convertIPAddress(v any, t *Type) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, refuseCast(v, t)
	}
	addr, err := netip.ParseAddr(s)
	if err != nil || addr.Zone() != "" {
		return nil, castErrorCause("InvalidCastParseTargetInvocation", v, t,
			ExceptionNamed("System.FormatException", "An invalid IP address was specified."))
	}
	return NewIPAddress(addr.String()), nil
}

// cloneCim copies an instance and the instances in its properties.
func cloneCim(old *Instance) *Instance {
	clone := &Instance{Type: old.Type, Props: old.Props.Clone(), Text: old.Text, Data: old.Data}
	for i := range clone.Props.Len() {
		if _, value := clone.Props.At(i); value != nil {
			if inner, ok := value.(*Instance); ok && inner.Type.AssignableTo(TCim) {
				clone.Props.SetAt(i, cloneCim(inner))
			}
		}
	}
	return clone
}

// NewIPAddress returns an IPAddress with the given text.
func NewIPAddress(text string) *Instance {
	i := NewInstance(TIPAddress, "IPAddressToString", text)
	i.Text = text
	return i
}
