package dotnet

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

func declareSystem() {
	declareGuid()
	declareVersion()
	Register(Class{Name: "System.Convert", Static: convertStatics()})
	Register(Class{Name: "System.BitConverter", Static: bitStatics()})
	Register(Class{Name: "System.Math", Static: mathStatics()})
	Register(Class{Name: "System.Environment", Static: []Member{
		Property("NewLine", func(any) (any, error) { return NewLine, nil }),
		Constant("MachineName", "SANDBOX"), Constant("UserName", "sandbox"), Constant("UserDomainName", "SANDBOX"),
		Constant("ProcessorCount", int32(1)), Constant("Is64BitProcess", true), Constant("Is64BitOperatingSystem", true),
		Property("ProcessId", func(any) (any, error) { return int32(os.Getpid()), nil }),
		Property("TickCount", func(any) (any, error) { return int32(time.Now().UnixMilli()), nil }),
		Property("TickCount64", func(any) (any, error) { return time.Now().UnixMilli(), nil }),
		Property("Version", func(any) (any, error) { return Version{10, 0, 0, -1}, nil }),
	}})
	Register(Class{Name: "System.GC", Static: []Member{
		Method("Collect", "", func(any, []any) (any, error) { return Void, nil }),
		Method("WaitForPendingFinalizers", "", func(any, []any) (any, error) { return Void, nil }),
		Method("GetTotalMemory", "bool", func(any, []any) (any, error) { return int64(0), nil }),
	}})
	declareStopwatch()
	declareNet()
	tBigInteger = Register(Class{Name: "System.Numerics.BigInteger", Aliases: []string{"bigint"}, Kind: KindStruct})
}

var tBigInteger *Type

func declareGuid() {
	guid := func(s any) (any, error) {
		if s == nil {
			return nil, argumentNull("input")
		}
		g, ok := ParseGuid(Text(s))
		if !ok {
			return nil, ExceptionNamed("System.FormatException", "Unrecognized Guid format.")
		}
		return g, nil
	}
	TGuid = Register(Class{
		Name: "System.Guid", Aliases: []string{"guid"}, Kind: KindStruct, Implements: []string{"System.IComparable", "System.IFormattable", "System.IEquatable"},
		New: []Member{
			Constructor("", func(any, []any) (any, error) { return Guid{}, nil }),
			Constructor("string", func(_ any, a []any) (any, error) { return guid(a[0]) }),
			Constructor("byte[]", func(_ any, a []any) (any, error) {
				if a[0] == nil {
					return nil, argumentNull("b")
				}
				b := a[0].(*Bytes).B
				if len(b) != 16 {
					return nil, withParam(ExceptionNamed("System.ArgumentException", "Byte array for Guid must be exactly 16 bytes long."), "b")
				}
				return Guid(b), nil
			}),
		},
		Static: []Member{
			Constant("Empty", Guid{}),
			Method("NewGuid", "", func(any, []any) (any, error) { return NewGuid(), nil }),
			Method("Parse", "string", func(_ any, a []any) (any, error) { return guid(a[0]) }),
			Method("Parse", "string,System.IFormatProvider", func(_ any, a []any) (any, error) { return guid(a[0]) }),
			Method("TryParse", "string,ref guid", func(_ any, a []any) (any, error) {
				g, ok := ParseGuid(Text(a[0]))
				return ok, a[1].(*Ref).Set(g)
			}),
		},
		Members: []Member{
			Property("Guid", func(self any) (any, error) { return self.(Guid).String(), nil }),
			Method("ToByteArray", "", func(self any, _ []any) (any, error) {
				g := self.(Guid)
				return &Bytes{B: append([]byte(nil), g[:]...)}, nil
			}),
			Method("ToString", "", func(self any, _ []any) (any, error) { return self.(Guid).String(), nil }),
			Method("ToString", "string", func(self any, a []any) (any, error) { return FormatValue(self, Text(a[0])) }),
			Method("CompareTo", "guid", func(self any, a []any) (any, error) {
				return sign(strings.Compare(self.(Guid).String(), a[0].(Guid).String())), nil
			}),
		},
	})
}

func declareVersion() {
	part := func(name string, get func(v Version) int32) Member {
		return Property(name, func(self any) (any, error) { return get(self.(Version)), nil })
	}
	version := func(_ any, a []any) (any, error) {
		s := Text(a[0])
		v, ok := ParseVersion(s)
		if !ok {
			if n := strings.Count(s, "."); n < 1 || n > 3 {
				return nil, withParam(ExceptionNamed("System.ArgumentException", "Version string portion was too short or too long."), "input")
			}
			return nil, badFormat(s)
		}
		return v, nil
	}
	numbers := func(_ any, a []any) (any, error) {
		v := [4]int32{0, 0, -1, -1}
		for i, item := range a {
			if v[i] = item.(int32); v[i] < 0 {
				return nil, argumentRange("", "Version's parameters must be greater than or equal to zero.")
			}
		}
		return Version{v[0], v[1], v[2], v[3]}, nil
	}
	TVersion = Register(Class{
		Name: "System.Version", Aliases: []string{"version"}, Implements: []string{"System.IComparable", "System.IEquatable"},
		New: []Member{
			Constructor("string", version), Constructor("int,int", numbers), Constructor("int,int,int", numbers),
			Constructor("int,int,int,int", numbers),
			Constructor("", func(any, []any) (any, error) { return Version{0, 0, -1, -1}, nil }),
		},
		Static: []Member{
			Method("Parse", "string", version),
			Method("TryParse", "string,ref version", func(_ any, a []any) (any, error) {
				v, ok := ParseVersion(Text(a[0]))
				if !ok {
					return false, a[1].(*Ref).Set(nil)
				}
				return true, a[1].(*Ref).Set(v)
			}),
		},
		Members: []Member{
			part("Major", func(v Version) int32 { return v.Major }), part("Minor", func(v Version) int32 { return v.Minor }),
			part("Build", func(v Version) int32 { return v.Build }), part("Revision", func(v Version) int32 { return v.Revision }),
			part("MajorRevision", func(v Version) int32 { return v.Revision >> 16 }),
			part("MinorRevision", func(v Version) int32 { return int32(int16(v.Revision)) }),
			Method("CompareTo", "version", func(self any, a []any) (any, error) {
				return int32(self.(Version).compare(a[0].(Version))), nil
			}),
		},
	})
}

// NewGuid makes a random GUID, version 4.
func NewGuid() Guid {
	var g Guid
	rand.Read(g[:]) // never fails
	g[7] = g[7]&0x0F | 0x40
	g[8] = g[8]&0x3F | 0x80
	return g
}

func convertStatics() []Member {
	rows := []Member{
		Method("ToBase64String", "byte[]", func(_ any, a []any) (any, error) {
			if a[0] == nil {
				return nil, argumentNull("inArray")
			}
			return base64.StdEncoding.EncodeToString(a[0].(*Bytes).B), nil
		}),
		Method("ToBase64String", "byte[],int,int", func(_ any, a []any) (any, error) {
			b, err := bytesRange(a[0], a[1].(int32), a[2].(int32))
			return base64.StdEncoding.EncodeToString(b), err
		}),
		Method("FromBase64String", "string", func(_ any, a []any) (any, error) {
			if a[0] == nil {
				return nil, argumentNull("s")
			}
			return decodeBase64(a[0].(string))
		}),
		Method("ToHexString", "byte[]", func(_ any, a []any) (any, error) {
			return strings.ToUpper(hex.EncodeToString(a[0].(*Bytes).B)), nil
		}),
		Method("FromHexString", "string", func(_ any, a []any) (any, error) {
			b, err := hex.DecodeString(Text(a[0]))
			if err != nil {
				return nil, ExceptionNamed("System.FormatException", "The input is not a valid hex string as it contains a non-hex character.")
			}
			return &Bytes{B: b}, nil
		}),
		Method("ToBoolean", "string", func(_ any, a []any) (any, error) {
			if a[0] == nil {
				return false, nil
			}
			return parseBool(a[0].(string))
		}),
		Method("ToBoolean", "object", func(_ any, a []any) (any, error) { return Truthy(a[0]), nil }),
		Method("ToString", "object", func(_ any, a []any) (any, error) { return Text(a[0]), nil }),
		Method("ToString", "object,System.IFormatProvider", func(_ any, a []any) (any, error) { return Text(a[0]), nil }),
		Method("ToString", "long,int", func(_ any, a []any) (any, error) { return toBase(a[0].(int64), a[1].(int32), 64) }),
		Method("ToString", "int,int", func(_ any, a []any) (any, error) { return toBase(int64(a[0].(int32)), a[1].(int32), 32) }),
		Method("ToString", "byte,int", func(_ any, a []any) (any, error) { return toBase(int64(a[0].(uint8)), a[1].(int32), 32) }),
		Method("ToChar", "int", func(_ any, a []any) (any, error) {
			c, ok := fitInt64(int64(a[0].(int32)), TChar)
			if !ok {
				return nil, overflow(TChar)
			}
			return c, nil
		}),
		Method("ToDateTime", "string", func(_ any, a []any) (any, error) { return dateParse(a[0], 0) }),
		Method("ChangeType", "object,type", func(_ any, a []any) (any, error) { return Convert(a[0], a[1].(*Type)) }),
		Method("ChangeType", "object,type,System.IFormatProvider", func(_ any, a []any) (any, error) { return Convert(a[0], a[1].(*Type)) }),
	}
	for name, t := range map[string]*Type{"ToByte": TByte, "ToSByte": TSByte, "ToInt16": TInt16, "ToInt32": TInt32, "ToInt64": TInt64,
		"ToUInt16": TUInt16, "ToUInt32": TUInt32, "ToUInt64": TUInt64, "ToDouble": TDouble, "ToSingle": TSingle, "ToDecimal": TDecimal} {
		rows = append(rows, convertTo(name, t)...)
	}
	return rows
}

// convertTo are the overloads of Convert.ToT.
func convertTo(name string, t *Type) []Member {
	text := func(_ any, a []any) (any, error) {
		if a[0] == nil {
			return numberOrOverflow(int32(0), t)
		}
		return parseNumberText(a[0].(string), t)
	}
	rows := []Member{
		Method(name, "string", text), Method(name, "string,System.IFormatProvider", text),
		Method(name, "char", func(_ any, a []any) (any, error) { return numberOrOverflow(int32(a[0].(Char)), t) }),
		Method(name, "object", func(_ any, a []any) (any, error) {
			if a[0] == nil {
				return numberOrOverflow(int32(0), t)
			}
			return numberOrOverflow(a[0], t)
		}),
	}
	if isIntegerType(t) {
		rows = append(rows, Method(name, "string,int", func(_ any, a []any) (any, error) { return fromBase(Text(a[0]), a[1].(int32), t) }))
	}
	return rows
}

func numberOrOverflow(v any, t *Type) (any, error) {
	if _, isBool := v.(bool); rank(v) == notNumber && !isBool {
		if _, isEnum := v.(Enum); !isEnum {
			return nil, ExceptionNamed("System.InvalidCastException", "Unable to cast object of type '%s' to type 'System.IConvertible'.", TypeOf(v).Text())
		}
	}
	n, ok := numberTo(v, t)
	if !ok {
		return nil, overflow(t)
	}
	return n, nil
}

func fromBase(s string, numberBase int32, t *Type) (any, error) {
	switch numberBase {
	case 10:
		return parseNumberText(s, t)
	case 2, 8, 16:
	default:
		return nil, withParam(ExceptionNamed("System.ArgumentException", "Invalid Base."), "toBase")
	}
	digits := s
	if numberBase == 16 && len(s) > 1 && (s[:2] == "0x" || s[:2] == "0X") {
		digits = s[2:]
	}
	if digits == "" {
		return nil, argumentRange("startIndex", "Index was out of range. Must be non-negative and less than the size of the collection.")
	}
	n, err := strconv.ParseUint(digits, int(numberBase), 64)
	if err != nil {
		if strings.Trim(strings.ToLower(digits), "0123456789abcdef"[:min(numberBase, 16)]) == "" {
			return nil, overflow(t)
		}
		return nil, ExceptionNamed("System.FormatException", "Could not find any recognizable digits.")
	}
	return fitBits(n, t)
}

// fitBits lets the sign bit of the type through: Convert.ToInt32("FFFFFFFF", 16) is -1.
func fitBits(n uint64, t *Type) (any, error) {
	switch {
	case t == TInt32 && n <= math.MaxUint32:
		return int32(n), nil
	case t == TInt16 && n <= math.MaxUint16:
		return int16(n), nil
	case t == TSByte && n <= math.MaxUint8:
		return int8(n), nil
	case t == TInt64:
		return int64(n), nil
	}
	if v, ok := numberTo(n, t); ok {
		return v, nil
	}
	return nil, overflow(t)
}

func toBase(n int64, numberBase int32, bits int) (any, error) {
	switch numberBase {
	case 10:
		return strconv.FormatInt(n, 10), nil
	case 2, 8, 16:
		if bits == 32 {
			return strconv.FormatUint(uint64(uint32(n)), int(numberBase)), nil
		}
		return strconv.FormatUint(uint64(n), int(numberBase)), nil
	default:
		return nil, withParam(ExceptionNamed("System.ArgumentException", "Invalid Base."), "toBase")
	}
}

// decodeBase64 is FromBase64String: white space is skipped, padding is needed.
func decodeBase64(s string) (any, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil && strings.ContainsAny(s, " \t") { // it passes over line ends itself
		b, err = base64.StdEncoding.DecodeString(strings.NewReplacer(" ", "", "\t", "").Replace(s))
	}
	if err != nil {
		return nil, ExceptionNamed("System.FormatException",
			"The input is not a valid Base-64 string as it contains a non-base 64 character, more than two padding characters, or an illegal character among the padding characters.")
	}
	return &Bytes{B: b}, nil
}

func bitStatics() []Member {
	bytesOf := func(size int, put func(b []byte, v any)) Func {
		return func(_ any, a []any) (any, error) {
			b := make([]byte, size)
			put(b, a[0])
			return &Bytes{B: b}, nil
		}
	}
	u := func(v any) uint64 {
		if n, ok := v.(uint64); ok {
			return n
		}
		n, _ := asInt64(v)
		return uint64(n)
	}
	put := func(size int) func(b []byte, v any) {
		return func(b []byte, v any) {
			var all [8]byte
			binary.LittleEndian.PutUint64(all[:], u(v))
			copy(b, all[:size])
		}
	}
	read := func(name string, size int, get func(b []byte) any) Member {
		return Method(name, "byte[],int", func(_ any, a []any) (any, error) {
			if a[0] == nil {
				return nil, argumentNull("value")
			}
			b, at := a[0].(*Bytes).B, int(a[1].(int32))
			if at < 0 || at >= len(b) {
				return nil, argumentRange("startIndex", "Index was out of range. Must be non-negative and less than the size of the collection.")
			}
			if at+size > len(b) {
				return nil, withParam(ExceptionNamed("System.ArgumentException", "Destination array is not long enough to copy all the items in the collection. Check array index and length."), "value")
			}
			return get(b[at : at+size]), nil
		})
	}
	le := binary.LittleEndian
	rows := []Member{
		Constant("IsLittleEndian", true),
		Method("ToString", "byte[]", func(_ any, a []any) (any, error) { return hyphenHex(a[0].(*Bytes).B), nil }),
		Method("ToString", "byte[],int", func(_ any, a []any) (any, error) {
			b, err := bytesRange(a[0], a[1].(int32), int32(len(a[0].(*Bytes).B))-a[1].(int32))
			return hyphenHex(b), err
		}),
		Method("ToString", "byte[],int,int", func(_ any, a []any) (any, error) {
			b, err := bytesRange(a[0], a[1].(int32), a[2].(int32))
			return hyphenHex(b), err
		}),
		Method("GetBytes", "bool", bytesOf(1, func(b []byte, v any) { b[0] = byte(boolNumber(v.(bool))) })),
		Method("GetBytes", "double", bytesOf(8, func(b []byte, v any) { le.PutUint64(b, math.Float64bits(asFloat(v))) })),
		Method("GetBytes", "single", bytesOf(4, func(b []byte, v any) { le.PutUint32(b, math.Float32bits(v.(float32))) })),
		read("ToInt16", 2, func(b []byte) any { return int16(le.Uint16(b)) }), read("ToUInt16", 2, func(b []byte) any { return le.Uint16(b) }),
		read("ToInt32", 4, func(b []byte) any { return int32(le.Uint32(b)) }), read("ToUInt32", 4, func(b []byte) any { return le.Uint32(b) }),
		read("ToInt64", 8, func(b []byte) any { return int64(le.Uint64(b)) }), read("ToUInt64", 8, func(b []byte) any { return le.Uint64(b) }),
		read("ToDouble", 8, func(b []byte) any { return math.Float64frombits(le.Uint64(b)) }),
		read("ToBoolean", 1, func(b []byte) any { return b[0] != 0 }), read("ToChar", 2, func(b []byte) any { return Char(le.Uint16(b)) }),
	}
	for _, row := range []struct {
		name string
		size int
	}{{"char", 2}, {"int16", 2}, {"uint16", 2}, {"int", 4}, {"uint32", 4}, {"long", 8}, {"uint64", 8}} {
		rows = append(rows, Method("GetBytes", row.name, bytesOf(row.size, put(row.size))))
	}
	return rows
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

// stopwatch is what a Stopwatch instance carries.
type stopwatch struct {
	started time.Time
	passed  time.Duration
	running bool
}

func (s *stopwatch) elapsed() time.Duration {
	if s.running {
		return s.passed + time.Since(s.started)
	}
	return s.passed
}

func declareStopwatch() {
	of := func(v any) *stopwatch { return v.(*Instance).Data.(*stopwatch) }
	var t *Type
	act := func(name string, f func(s *stopwatch)) Member {
		return Method(name, "", func(self any, _ []any) (any, error) { f(of(self)); return Void, nil })
	}
	start := func(s *stopwatch) {
		if !s.running {
			s.started, s.running = time.Now(), true
		}
	}
	t = Register(Class{
		Name: "System.Diagnostics.Stopwatch",
		New:  []Member{Constructor("", func(any, []any) (any, error) { return &Instance{Type: t, Data: &stopwatch{}}, nil })},
		Static: []Member{
			Constant("Frequency", int64(1_000_000_000)), Constant("IsHighResolution", true),
			Method("StartNew", "", func(any, []any) (any, error) {
				s := &stopwatch{}
				start(s)
				return &Instance{Type: t, Data: s}, nil
			}),
			Method("GetTimestamp", "", func(any, []any) (any, error) { return time.Now().UnixNano(), nil }),
		},
		Members: []Member{
			Property("IsRunning", func(self any) (any, error) { return of(self).running, nil }),
			Property("Elapsed", func(self any) (any, error) { return TimeSpan(of(self).elapsed() / 100), nil }),
			Property("ElapsedMilliseconds", func(self any) (any, error) { return of(self).elapsed().Milliseconds(), nil }),
			Property("ElapsedTicks", func(self any) (any, error) { return of(self).elapsed().Nanoseconds(), nil }),
			act("Start", start),
			act("Stop", func(s *stopwatch) { s.passed, s.running = s.elapsed(), false }),
			act("Reset", func(s *stopwatch) { *s = stopwatch{} }),
			act("Restart", func(s *stopwatch) { *s = stopwatch{started: time.Now(), running: true} }),
		},
	})
}

func declareNet() {
	var ip, uri *Type
	parse := func(_ any, a []any) (any, error) {
		addr, err := netip.ParseAddr(Text(a[0]))
		if err != nil {
			return nil, ExceptionNamed("System.FormatException", "An invalid IP address was specified.")
		}
		family := "InterNetwork"
		if addr.Is6() {
			family = "InterNetworkV6"
		}
		i := NewInstance(ip, "AddressFamily", family, "IPAddressToString", addr.String())
		i.Text = addr.String()
		return i, nil
	}
	ip = Register(Class{
		Name: "System.Net.IPAddress", Aliases: []string{"ipaddress"}, Implements: []string{"System.IEquatable"},
		Static: []Member{
			Method("Parse", "string", parse),
			Method("TryParse", "string,ref ipaddress", func(_ any, a []any) (any, error) {
				v, err := parse(nil, a[:1])
				if err != nil {
					return false, a[1].(*Ref).Set(nil)
				}
				return true, a[1].(*Ref).Set(v)
			}),
		},
		Members: []Member{Method("GetAddressBytes", "", func(self any, _ []any) (any, error) {
			addr, _ := netip.ParseAddr(self.(*Instance).Text) // it was made of one
			return &Bytes{B: addr.AsSlice()}, nil
		})},
	})
	escape := func(_ any, a []any) (any, error) {
		return strings.ReplaceAll(url.QueryEscape(Text(a[0])), "+", "%20"), nil
	}
	uri = Register(Class{
		Name: "System.Uri", Aliases: []string{"uri"}, Implements: []string{"System.IEquatable"},
		New: []Member{Constructor("string", func(_ any, a []any) (any, error) {
			u, err := url.Parse(Text(a[0]))
			if err != nil || u.Scheme == "" {
				return nil, ExceptionNamed("System.UriFormatException", "Invalid URI: The format of the URI could not be determined.")
			}
			return newURI(uri, u, Text(a[0])), nil
		})},
		Static: []Member{Method("EscapeDataString", "string", escape), Method("UnescapeDataString", "string", func(_ any, a []any) (any, error) {
			s, err := url.PathUnescape(Text(a[0]))
			if err != nil {
				return Text(a[0]), nil
			}
			return s, nil
		})},
	})
}

// defaultPorts are those of schemes that .NET knows.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ftp": "21", "ldap": "389"}

func newURI(t *Type, u *url.URL, written string) *Instance {
	path, query, fragment := u.EscapedPath(), "", ""
	if path == "" && u.Host != "" {
		path, u.Path = "/", "/"
	}
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	if u.Fragment != "" {
		fragment = "#" + u.EscapedFragment()
	}
	port := u.Port()
	if port == "" {
		port = defaultPorts[u.Scheme]
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		number = -1
	}
	i := NewInstance(t, "OriginalString", written, "AbsoluteUri", u.String(), "Scheme", u.Scheme, "Host", strings.ToLower(u.Hostname()),
		"Port", int32(number), "AbsolutePath", path, "Query", query, "PathAndQuery", path+query, "Fragment", fragment, "IsAbsoluteUri", true)
	i.Text = u.String()
	return i
}
