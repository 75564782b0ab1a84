package remote

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// A decoder decodes values from JSON.
type decoder struct {
	types map[string]*dotnet.Type // types of the modules, by lower-case name
	// data returns the data of the instance with the given id, and object the object with the given id.
	data   func(id uint64) any
	object func(t string, id uint64) (any, error)
}

// rawNode is a node before its members are decoded.
type rawNode struct {
	T  string          `json:"t"`
	N  string          `json:"n"`
	V  json.RawMessage `json:"v"`
	X  string          `json:"x"`
	ID uint64          `json:"id"`
}

func (d *decoder) decode(raw json.RawMessage) (any, error) { return d.value(raw, 0) }

// typeNamed returns a type. An undeclared type has only a name.
func (d *decoder) typeNamed(name string) *dotnet.Type {
	if name == "" {
		return nil
	}
	if inner, ok := strings.CutSuffix(name, "[]"); ok {
		if t := d.typeNamed(inner); t != nil {
			return t.Array()
		}
		return nil
	}
	if t := d.types[strings.ToLower(name)]; t != nil {
		return t
	}
	if t := dotnet.Lookup(name); t != nil {
		return t
	}
	t := dotnet.Define(dotnet.Class{Name: name})
	if len(d.types) < maxTypes {
		d.types[strings.ToLower(name)] = t
	}
	return t
}

// maxTypes limits the number of undeclared types that a decoder keeps.
const maxTypes = 4096

func (d *decoder) value(raw json.RawMessage, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested deeper than %d", maxDepth)
	}
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return nil, nil
	}
	if raw[0] != '{' {
		return plain(raw)
	}
	var n rawNode
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, err
	}
	switch n.T {
	case "array", "list", "set", "table", "object", "instance", "exception", "record", "credential":
		return d.composite(&n, depth)
	case "remote":
		if d.object == nil {
			return nil, fmt.Errorf("there are no objects here")
		}
		return d.object(n.N, n.ID)
	case "type", "parsed", "enum":
		return d.typed(&n)
	}
	var text string
	switch n.T {
	case "datetime":
		return dateTime(n.V)
	case "units":
		return units(n.V)
	}
	if err := json.Unmarshal(n.V, &text); err != nil {
		return nil, fmt.Errorf("%s: %w", n.T, err)
	}
	switch n.T {
	case "text", "bytes", "secret":
		return octets(n.T, text)
	}
	return number(n.T, text)
}

// typed decodes nodes that contain their type.
func (d *decoder) typed(n *rawNode) (any, error) {
	t := d.typeNamed(n.N)
	if t == nil {
		return nil, fmt.Errorf("%s: without a type", n.T)
	}
	if n.T == "type" {
		return t, nil
	}
	var text string
	if err := json.Unmarshal(n.V, &text); err != nil {
		return nil, fmt.Errorf("%s: %w", n.T, err)
	}
	if n.T == "parsed" && t == dotnet.TIPAddress { // the type has no constructor that takes text
		return dotnet.Convert(text, t)
	}
	if n.T == "parsed" {
		return dotnet.New(t, []any{text})
	}
	if t.Kind != dotnet.KindEnum {
		return nil, fmt.Errorf("%q is no enumeration", n.N)
	}
	number, err := strconv.ParseInt(text, 10, 64)
	return dotnet.Enum{Type: t, Value: number}, err
}

// plain decodes JSON values that are not nodes.
func plain(raw json.RawMessage) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case float64:
		if isWhole(v) {
			return int32(v), nil
		}
	}
	return nil, fmt.Errorf("%.40s is no value", raw)
}

func octets(kind, text string) (any, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "bytes":
		return &dotnet.Bytes{B: b}, nil
	case "secret":
		return dotnet.NewSecureString(string(b)), nil
	}
	return string(b), nil
}

// units decodes a text that is given as UTF-16 units.
func units(raw json.RawMessage) (any, error) {
	var list []uint16
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	return dotnet.FromUnits(list), nil
}

func dateTime(raw json.RawMessage) (any, error) {
	var ticks string
	var kind dotnet.DateTimeKind
	parts := []any{&ticks, &kind}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(ticks, 10, 64)
	if err != nil || kind > dotnet.Local || n < 0 || n > maxTicks {
		return nil, fmt.Errorf("datetime: %.60s", raw)
	}
	return dotnet.DateTime{Ticks: n, Kind: kind}, nil
}

// maxTicks is DateTime.MaxValue in ticks.
const maxTicks = 3155378975999999999

// number decodes numbers, and values that are written as numbers.
func number(kind, text string) (v any, err error) {
	integer := func(bits int) int64 {
		var n int64
		n, err = strconv.ParseInt(text, 10, bits)
		return n
	}
	natural := func(bits int) uint64 {
		var n uint64
		n, err = strconv.ParseUint(text, 10, bits)
		return n
	}
	switch kind {
	case "long":
		v = integer(64)
	case "sbyte":
		v = int8(integer(8))
	case "short":
		v = int16(integer(16))
	case "byte":
		v = uint8(natural(8))
	case "ushort":
		v = uint16(natural(16))
	case "uint":
		v = uint32(natural(32))
	case "ulong":
		v = natural(64)
	case "char":
		v = dotnet.Char(natural(16))
	case "timespan":
		v = dotnet.TimeSpan(integer(64))
	case "double":
		v, err = strconv.ParseFloat(text, 64)
	case "guid":
		v, err = dotnet.Convert(text, dotnet.TGuid)
	case "version":
		v, err = dotnet.Convert(text, dotnet.TVersion)
	default:
		err = fmt.Errorf("a value of the unknown kind %.20q", kind)
	}
	return v, err
}

// composite decodes values that contain other values.
func (d *decoder) composite(n *rawNode, depth int) (any, error) {
	items, err := d.list(n.V, depth)
	if err != nil {
		return nil, err
	}
	pairs := func(p *dotnet.Props, items []any) error {
		for i := 0; i+1 < len(items); i += 2 {
			name, ok := items[i].(string)
			if !ok {
				return fmt.Errorf("%s: a name that is no text", n.T)
			}
			p.Set(name, items[i+1])
		}
		return nil
	}
	t := d.typeNamed(n.N)
	if t == nil && (n.T == "list" || n.T == "instance" || n.T == "exception") {
		return nil, fmt.Errorf("%s: without a type", n.T)
	}
	switch n.T {
	case "array":
		return &dotnet.Array{Elem: t, Items: items}, nil
	case "list":
		return &dotnet.List{Type: t, Items: items}, nil
	case "table":
		h := &dotnet.Hashtable{Type: t}
		for i := 0; i+1 < len(items); i += 2 {
			if items[i] == nil {
				return nil, fmt.Errorf("table: a key that is null")
			}
			h.Set(items[i], items[i+1])
		}
		return h, nil
	case "object":
		o := &dotnet.PSObject{}
		if n.N != "" {
			o.TypeNames = strings.Split(n.N, "\n")
		}
		return o, pairs(&o.Props, items)
	case "instance":
		o := &dotnet.Instance{Type: t, Text: n.X}
		if n.ID != 0 && d.data != nil {
			o.Data = d.data(n.ID)
		}
		return o, pairs(&o.Props, items)
	case "credential":
		if len(items) == 2 {
			password, _ := items[1].(*dotnet.SecureString)
			return &dotnet.PSCredential{UserName: dotnet.ToText(items[0]), Password: password}, nil
		}
	case "exception":
		if len(items) >= 3 {
			e := &dotnet.Exception{Type: t, Message: dotnet.ToText(items[0])}
			e.HResult, _ = items[1].(int32)
			e.Inner, _ = items[2].(*dotnet.Exception)
			return e, pairs(&e.Props, items[3:])
		}
	case "record":
		return record(items)
	}
	return nil, fmt.Errorf("%s: malformed", n.T)
}

func record(items []any) (any, error) {
	if len(items) != 6 {
		return nil, fmt.Errorf("record: malformed")
	}
	thrown, _ := items[0].(*dotnet.Exception)
	category, _ := items[2].(int32)
	r := dotnet.NewError(thrown, dotnet.ToText(items[1]), dotnet.Category(category), items[3])
	r.Reason, r.Details = dotnet.ToText(items[4]), dotnet.ToText(items[5])
	return r, nil
}

func (d *decoder) list(raw json.RawMessage, depth int) ([]any, error) {
	var parts []json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return nil, err
		}
	}
	items := make([]any, len(parts))
	for i, part := range parts {
		v, err := d.value(part, depth+1)
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, nil
}
