package spec

import "encoding/json"

// Schema describes a value. A zero field is not encoded and restricts nothing.
type Schema struct {
	Ref                  string    `json:"$ref,omitempty"` // refers to another schema
	AdditionalProperties *bool     `json:"additionalProperties,omitempty"`
	AllOf                []*Schema `json:"allOf,omitempty"`
	AnyOf                []*Schema `json:"anyOf,omitempty"`
	Default              any       `json:"default,omitempty"`
	Description          string    `json:"description,omitempty"`
	Enum                 []any     `json:"enum,omitempty"`
	Example              any       `json:"example,omitempty"` // only in 3.0
	Examples             []any     `json:"examples,omitempty"`
	Format               string    `json:"format,omitempty"`
	Items                *Schema   `json:"items,omitempty"`
	Bounds
	Nullable   bool               `json:"nullable,omitempty"` // only in 3.0
	OneOf      []*Schema          `json:"oneOf,omitempty"`
	Pattern    string             `json:"pattern,omitempty"`
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Type       Types              `json:"type,omitempty"`
	WriteOnly  bool               `json:"writeOnly,omitempty"`
	Extensions
}

// Bounds limit a value. They are encoded as members of the schema itself.
type Bounds struct {
	MaxItems  *int64 `json:"maxItems,omitempty"`
	MaxLength int    `json:"maxLength,omitempty"`
	Maximum   *int64 `json:"maximum,omitempty"`
	MinItems  int64  `json:"minItems,omitempty"`
	MinLength int    `json:"minLength,omitempty"`
	Minimum   *int64 `json:"minimum,omitempty"`
}

// Extensions are members that the specification does not define. They are encoded after the others.
type Extensions struct {
	EventData string `json:"x-event-data,omitempty"` // refers to the schema of an event's data
	Scope     any    `json:"x-scope,omitempty"`      // nil if there is none
}

// Types lists the types that a value may have.
type Types []string

// MarshalJSON encodes a single type as a string, and several types as an array.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Text returns the schema of any string.
func Text() *Schema { return &Schema{Type: Types{"string"}} }

// Bool returns the schema of a boolean.
func Bool() *Schema { return &Schema{Type: Types{"boolean"}} }

// Integer returns the schema of any integer.
func Integer() *Schema { return &Schema{Type: Types{"integer"}} }

// List returns the schema of a list of items.
func List(items *Schema) *Schema { return &Schema{Type: Types{"array"}, Items: items} }

// Open returns the schema of an object whose members are not described.
func Open() *Schema { return &Schema{Type: Types{"object"}} }

// Closed returns the schema of an object that has no members other than its properties.
func Closed() *Schema { return &Schema{Type: Types{"object"}, AdditionalProperties: new(bool)} }

// With adds a property to the schema of an object, and returns that schema.
func (s *Schema) With(name string, property *Schema) *Schema {
	if s.Properties == nil {
		s.Properties = map[string]*Schema{}
	}
	s.Properties[name] = property
	return s
}
