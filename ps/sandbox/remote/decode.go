package remote

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// A decoder decodes the values of parameters from JSON.
type decoder struct {
	types map[string]*dotnet.Type // types of the modules, by lower-case name
	kept  map[uint64]any          // data of instances, by id
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

// typeNamed returns a type. An unknown type has only a name.
func (d *decoder) typeNamed(name string) *dotnet.Type {
	if t := d.types[strings.ToLower(name)]; t != nil {
		return t
	}
	if t := dotnet.Lookup(name); t != nil {
		return t
	}
	return dotnet.Define(dotnet.Class{Name: name})
}

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
	case "array", "table", "instance", "credential":
		return d.composite(&n, depth)
	case "datetime":
		return dateTime(n.V)
	case "units":
		var list []uint16
		err := json.Unmarshal(n.V, &list)
		return dotnet.FromUnits(list), err
	}
	var text string
	if err := json.Unmarshal(n.V, &text); err != nil {
		return nil, fmt.Errorf("%s: %w", n.T, err)
	}
	switch n.T {
	case "parsed":
		t := d.typeNamed(n.N)
		if t == dotnet.TIPAddress { // the type has no constructor that takes text
			return dotnet.Convert(text, t)
		}
		return dotnet.New(t, []any{text})
	case "bytes":
		b, err := base64.StdEncoding.DecodeString(text)
		return &dotnet.Bytes{B: b}, err
	case "secret":
		b, err := base64.StdEncoding.DecodeString(text)
		return dotnet.NewSecureString(string(b)), err
	}
	return number(n.T, text)
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
		if v == math.Trunc(v) && v >= math.MinInt32 && v <= math.MaxInt32 {
			return int32(v), nil
		}
	}
	return nil, fmt.Errorf("%.40s is no value", raw)
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
func number(kind, text string) (any, error) {
	switch kind {
	case "double":
		return strconv.ParseFloat(text, 64)
	case "guid":
		return dotnet.Convert(text, dotnet.TGuid)
	}
	t := integers[kind]
	if t == nil {
		return nil, fmt.Errorf("a value of the unknown kind %.20q", kind)
	}
	v := reflect.New(t).Elem()
	if v.CanInt() {
		n, err := strconv.ParseInt(text, 10, t.Bits())
		v.SetInt(n)
		return v.Interface(), err
	}
	n, err := strconv.ParseUint(text, 10, t.Bits())
	v.SetUint(n)
	return v.Interface(), err
}

// composite decodes values that contain other values.
func (d *decoder) composite(n *rawNode, depth int) (any, error) {
	items, err := d.list(n.V, depth)
	if err != nil {
		return nil, err
	}
	switch n.T {
	case "array":
		return &dotnet.Array{Elem: d.typeNamed(n.N), Items: items}, nil
	case "table":
		h := &dotnet.Hashtable{Type: d.typeNamed(n.N)}
		for i := 0; i+1 < len(items); i += 2 {
			if items[i] == nil {
				return nil, errors.New("table: a key that is null")
			}
			h.Set(items[i], items[i+1])
		}
		return h, nil
	case "instance":
		o := &dotnet.Instance{Type: d.typeNamed(n.N), Text: n.X, Data: d.kept[n.ID]}
		for i := 0; i+1 < len(items); i += 2 {
			name, ok := items[i].(string)
			if !ok {
				return nil, errors.New("instance: a name that is no text")
			}
			o.Props.Set(name, items[i+1])
		}
		return o, nil
	}
	if len(items) != 2 {
		return nil, errors.New("credential: malformed")
	}
	password, _ := items[1].(*dotnet.SecureString)
	return &dotnet.PSCredential{UserName: dotnet.ToText(items[0]), Password: password}, nil
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
