package remote

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"adgateway/ps/sandbox/engine/dotnet"
)

// maxDepth limits the nesting of values. Cycles exceed it.
const maxDepth = 64

// An encoder encodes values as JSON.
type encoder struct {
	// keep stores the data of an instance, or the object itself if whole, and returns its id.
	keep func(v *dotnet.Instance) (id uint64, whole bool)
}

// node is an encoded value without a JSON equivalent.
type node struct {
	T  string `json:"t"`
	N  string `json:"n,omitempty"`
	V  any    `json:"v,omitempty"`
	X  string `json:"x,omitempty"`
	ID uint64 `json:"id,omitempty"`
}

// encode returns the JSON of a value.
func (e *encoder) encode(v any) (json.RawMessage, error) {
	n, err := e.node(v, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(n)
}

func (e *encoder) list(items []any, depth int) ([]any, error) {
	out := make([]any, len(items))
	for i, item := range items {
		n, err := e.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (e *encoder) props(p *dotnet.Props, depth int) ([]any, error) {
	items := make([]any, 0, 2*p.Len())
	for i := range p.Len() {
		name, value := p.At(i)
		items = append(items, name, value)
	}
	return e.list(items, depth)
}

func typeName(t *dotnet.Type) string {
	if t == nil {
		return ""
	}
	return t.Name
}

// node returns a value in a form that json.Marshal accepts.
func (e *encoder) node(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested deeper than %d", maxDepth)
	}
	if n, ok := scalar(v); ok {
		return n, nil
	}
	switch v := v.(type) {
	case *dotnet.Array:
		items, err := e.list(v.Items, depth)
		return node{T: "array", N: typeName(v.Elem), V: items}, err
	case *dotnet.List:
		items, err := e.list(v.Items, depth)
		return node{T: "list", N: typeName(v.Type), V: items}, err
	case *dotnet.Hashtable:
		pairs := make([]any, 0, 2*v.Len())
		for i := range v.Len() {
			key, value := v.At(i)
			pairs = append(pairs, key, value)
		}
		items, err := e.list(pairs, depth)
		return node{T: "table", N: typeName(v.Type), V: items}, err
	case *dotnet.Instance:
		return e.instance(v, depth)
	case *dotnet.Exception:
		return e.exception(v, depth)
	case *dotnet.ErrorRecord:
		return e.record(v, depth)
	}
	return nil, fmt.Errorf("a value of the type %s cannot be passed to another process",
		typeName(dotnet.TypeOf(v)))
}

func text(s string) any {
	if utf8.ValidString(s) {
		return mark(s)
	}
	return node{T: "units", V: dotnet.Units(s)}
}

// mark returns a text in a form that PowerShell's parser does not convert to a date.
func mark(s string) string { return "=" + s }

// scalar encodes values that contain no other values.
func scalar(v any) (any, bool) {
	switch v := v.(type) {
	case nil, dotnet.Nothing:
		return nil, true
	case bool:
		return v, true
	case string:
		return text(v), true
	case int32:
		return v, true
	case float64:
		return node{T: "double", V: strconv.FormatFloat(v, 'g', -1, 64)}, true
	case dotnet.DateTime:
		return node{T: "datetime", V: []any{strconv.FormatInt(v.Ticks, 10), v.Kind}}, true
	case dotnet.Guid:
		return node{T: "guid", V: v.String()}, true
	case dotnet.Version:
		return node{T: "version", V: v.String()}, true
	case *dotnet.Bytes:
		return node{T: "bytes", V: base64.StdEncoding.EncodeToString(v.B)}, true
	case dotnet.Enum:
		return node{T: "enum", N: v.Type.Name, V: strconv.FormatInt(v.Value, 10)}, true
	case *dotnet.SecureString:
		return node{T: "secret", V: base64.StdEncoding.EncodeToString([]byte(v.Reveal()))}, true
	}
	typ := reflect.TypeOf(v)
	for kind, t := range integers {
		if typ == t {
			return node{T: kind, V: fmt.Sprintf("%d", v)}, true
		}
	}
	return nil, false
}

// integers are the types that are written as whole numbers, by the name of their nodes.
var integers = map[string]reflect.Type{
	"long": reflect.TypeFor[int64](), "byte": reflect.TypeFor[uint8](), "sbyte": reflect.TypeFor[int8](),
	"short": reflect.TypeFor[int16](), "ushort": reflect.TypeFor[uint16](), "uint": reflect.TypeFor[uint32](),
	"ulong": reflect.TypeFor[uint64](), "timespan": reflect.TypeFor[dotnet.TimeSpan](),
}

// instance encodes an object of a module. An object that is fully determined by its text,
// such as a SID, is sent as that text.
func (e *encoder) instance(v *dotnet.Instance, depth int) (any, error) {
	if v.Props.Len() == 0 && v.Text != "" {
		if made, err := dotnet.New(v.Type, []any{v.Text}); err == nil && dotnet.ToText(made) == v.Text {
			return node{T: "parsed", N: v.Type.Name, V: mark(v.Text)}, nil
		}
	}
	n := node{T: "instance", N: v.Type.Name, X: mark(v.Text)}
	if v.Data != nil {
		whole := false
		if n.ID, whole = e.keep(v); whole {
			return node{T: "remote", N: v.Type.Name, ID: n.ID}, nil
		}
	}
	items, err := e.props(&v.Props, depth)
	n.V = items
	return n, err
}

func (e *encoder) exception(v *dotnet.Exception, depth int) (any, error) {
	if v == nil {
		return nil, nil
	}
	var inner any
	if v.Inner != nil {
		inner = v.Inner
	}
	out, err := e.list([]any{v.Message, v.HResult, inner}, depth)
	if err != nil {
		return nil, err
	}
	props, err := e.props(&v.Props, depth)
	return node{T: "exception", N: typeName(v.Type), V: append(out, props...)}, err
}

func (e *encoder) record(v *dotnet.ErrorRecord, depth int) (any, error) {
	var thrown any
	if v.Exception != nil {
		thrown = v.Exception
	}
	items, err := e.list([]any{thrown, v.ErrorID, int32(v.Category), nil, v.Reason, v.Details}, depth)
	if err != nil {
		return nil, err
	}
	// A target that cannot be encoded is sent as its text.
	target, err := e.node(v.Target, depth+1)
	if err != nil {
		target = text(dotnet.ToText(v.Target))
	}
	items[3] = target
	return node{T: "record", V: items}, nil
}
