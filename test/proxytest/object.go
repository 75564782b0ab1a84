package proxytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"adgateway/ps/sandbox/engine/dotnet"
)

// object is an object that lives in the sandbox, like the class Remote in sandbox.cs.
type object struct {
	kit  *kit
	link *link
	t    *dotnet.Type
	id   uint64
}

var _ dotnet.Object = (*object)(nil)

// call is a frame that creates such an object or accesses a member of one.
type call struct {
	F     string   `json:"f"`
	Type  string   `json:"type,omitempty"`
	ID    uint64   `json:"id,omitempty"`
	Name  string   `json:"name,omitempty"`
	Bound []member `json:"bound"`
}

type member struct {
	Value any `json:"value"`
}

// Type returns the type of the object.
func (o *object) Type() *dotnet.Type { return o.t }

// Member reads a property. ok is false if it cannot be read.
func (o *object) Member(name string) (v any, ok bool) {
	v, err := o.call(call{F: "get", ID: o.id, Name: name}, nil)
	return v, err == nil
}

// SetMember writes a property.
func (o *object) SetMember(name string, value any) error {
	_, err := o.call(call{F: "set", ID: o.id, Name: name}, []any{value})
	return err
}

// Invoke calls a method.
func (o *object) Invoke(name string, args []any) (any, error) {
	return o.call(call{F: "invoke", ID: o.id, Name: name}, args)
}

func (o *object) call(c call, args []any) (any, error) {
	c.Bound = []member{}
	for _, arg := range args {
		c.Bound = append(c.Bound, member{encode(arg)})
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	conn, err := o.link.open()
	if err == nil {
		err = send(conn, string(text))
	}
	if err != nil {
		return nil, err
	}
	said, err := receive(conn)
	if err != nil {
		return nil, err
	}
	var answer struct {
		F      string
		Values []any
		Record struct{ V []any }
		Text   string
	}
	if err := json.Unmarshal([]byte(said), &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.F == "throw":
		thrown, ok := o.decode(answer.Record.V[0]).(*dotnet.Exception)
		if !ok {
			return nil, errors.New("a throw frame without an exception")
		}
		if thrown.Inner != nil { // the caller wraps it again
			return nil, thrown.Inner
		}
		return nil, thrown
	case answer.Text == "no such member":
		return nil, dotnet.ErrNoMethod
	case answer.F != "end":
		return nil, errors.New(answer.Text)
	case len(answer.Values) == 0:
		return dotnet.Void, nil
	}
	return o.decode(answer.Values[0]), nil
}

// encode returns a text, a list of them or null in the form of the protocol.
func encode(v any) any {
	if v == nil {
		return nil
	}
	if items, many := dotnet.Enumerate(v); many {
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = encode(item)
		}
		return map[string]any{"t": "array", "n": "System.String", "v": list}
	}
	text := dotnet.ToText(v)
	if utf8.ValidString(text) {
		return text
	}
	return map[string]any{"t": "units", "v": dotnet.Units(text)}
}

// decode returns a value of the protocol. It panics if no directory entry has such a value.
func (o *object) decode(v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return v[1:]
	case float64:
		return int32(v)
	}
	node := v.(map[string]any)
	name, _ := node["n"].(string)
	items, _ := node["v"].([]any)
	switch node["t"] {
	case "remote":
		t := dotnet.Define(dotnet.Class{Name: name, Members: []dotnet.Member{ // for an index
			dotnet.Method("Item", "string", func(self any, args []any) (any, error) {
				return self.(*object).Invoke("Item", args)
			}),
		}})
		return &object{kit: o.kit, link: o.link, t: t, id: uint64(node["id"].(float64))}
	case "units":
		units := make([]uint16, len(items))
		for i, unit := range items {
			units[i] = uint16(unit.(float64))
		}
		return dotnet.FromUnits(units)
	}
	values := make([]any, len(items))
	for i, item := range items {
		values[i] = o.decode(item)
	}
	switch node["t"] {
	case "array":
		return dotnet.NewArray(values...)
	case "exception":
		return o.kit.failure([]any{name, values[0], values[1], values[2], dotnet.NewArray(values[3:]...)})
	}
	panic(fmt.Sprintf("a value of the kind %v", node["t"]))
}
