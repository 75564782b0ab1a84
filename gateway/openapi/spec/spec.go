// Package spec has the objects of an OpenAPI document, as far as the API needs them.
//
// Each type is encoded as the specification names its members. The members of an object are in the order
// of their names, so the same document yields the same bytes. A member that is empty is left out unless its
// comment says otherwise. Programs that check or read documents need a complete library; this package only
// writes them.
package spec

import (
	"encoding/json"
	"net/http"
)

// Document is a whole document.
type Document struct {
	Components Components            `json:"components"`
	Info       Info                  `json:"info"`
	OpenAPI    string                `json:"openapi"`
	Paths      map[string]*PathItem  `json:"paths"`
	Security   []SecurityRequirement `json:"security"`
	Servers    []Server              `json:"servers"`
	Tags       []Tag                 `json:"tags"`
}

// Info says what the document is about.
type Info struct {
	Description string  `json:"description"`
	License     License `json:"license"`
	Title       string  `json:"title"`
	Version     string  `json:"version"`
}

// License is the license of the program. Only version 3.1 has identifiers.
type License struct {
	Identifier string `json:"identifier,omitempty"`
	Name       string `json:"name"`
}

// Server is an address of the API.
type Server struct {
	Description string `json:"description"`
	URL         string `json:"url"`
}

// Tag is a group of operations.
type Tag struct {
	Description string `json:"description,omitempty"`
	Name        string `json:"name"`
}

// SecurityRequirement has the scopes that each of some security schemes asks for. All schemes of one
// requirement are needed; of several requirements, one is.
type SecurityRequirement map[string][]string

// SecurityScheme is a way in which callers say who they are.
type SecurityScheme struct {
	Description string `json:"description"`
	In          string `json:"in,omitempty"`
	Name        string `json:"name,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Type        string `json:"type"`
}

// Components are what the operations refer to, by name.
type Components struct {
	Headers         map[string]*Header         `json:"headers"`
	Responses       map[string]*Response       `json:"responses"`
	Schemas         map[string]*Schema         `json:"schemas"`
	SecuritySchemes map[string]*SecurityScheme `json:"securitySchemes"`
}

// PathItem has the operations of a path.
type PathItem struct {
	Delete *Operation `json:"delete,omitempty"`
	Get    *Operation `json:"get,omitempty"`
	Patch  *Operation `json:"patch,omitempty"`
	Post   *Operation `json:"post,omitempty"`
	Put    *Operation `json:"put,omitempty"`
}

// Set sets the operation of a method. It panics if the API has no such method.
func (p *PathItem) Set(method string, o *Operation) {
	switch method {
	case http.MethodDelete:
		p.Delete = o
	case http.MethodGet:
		p.Get = o
	case http.MethodPatch:
		p.Patch = o
	case http.MethodPost:
		p.Post = o
	case http.MethodPut:
		p.Put = o
	default:
		panic("spec: no member for " + method)
	}
}

// Operation is what a method of a path does. The extensions may be nil.
type Operation struct {
	Description string                `json:"description,omitempty"`
	OperationID string                `json:"operationId"`
	Parameters  []*Parameter          `json:"parameters,omitempty"`
	RequestBody *RequestBody          `json:"requestBody,omitempty"`
	Responses   map[string]*Response  `json:"responses"`
	Security    []SecurityRequirement `json:"security,omitempty"`
	Summary     string                `json:"summary"`
	Tags        []string              `json:"tags"`
	Effect      any                   `json:"x-effect,omitempty"`
	Protocol    any                   `json:"x-protocol,omitempty"`
	Scope       any                   `json:"x-scope,omitempty"`
}

// Places of parameters.
const (
	InHeader = "header"
	InPath   = "path"
	InQuery  = "query"
)

// Parameter is a parameter outside the body. Its examples are nil for none.
type Parameter struct {
	Description string  `json:"description,omitempty"`
	Example     any     `json:"example,omitempty"`
	In          string  `json:"in"`
	Name        string  `json:"name"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema"`
	Shown       any     `json:"x-example,omitempty"` // an example that pages do not fill in
}

// RequestBody is the body of a request, by media type.
type RequestBody struct {
	Content  map[string]*MediaType `json:"content"`
	Required bool                  `json:"required,omitempty"`
}

// MediaType is a body of one media type. Its examples are nil for none.
type MediaType struct {
	Example any     `json:"example,omitempty"`
	Schema  *Schema `json:"schema"`
	Shown   any     `json:"x-example,omitempty"` // an example that pages do not fill in
}

// Of returns content with a schema for each of some media types.
func Of(s *Schema, media ...string) map[string]*MediaType {
	content := make(map[string]*MediaType, len(media))
	for _, one := range media {
		content[one] = &MediaType{Schema: s}
	}
	return content
}

// JSON returns content with a schema for JSON.
func JSON(s *Schema) map[string]*MediaType { return Of(s, "application/json") }

// Response is an answer. If Ref is set, it refers to another one, and all else is left out.
type Response struct {
	Ref         string
	Content     map[string]*MediaType
	Description string
	Headers     map[string]*Header
}

// MarshalJSON encodes the answer or the reference.
func (r *Response) MarshalJSON() ([]byte, error) {
	if r.Ref != "" {
		return json.Marshal(reference{r.Ref})
	}
	return json.Marshal(struct {
		Content     map[string]*MediaType `json:"content,omitempty"`
		Description string                `json:"description"`
		Headers     map[string]*Header    `json:"headers,omitempty"`
	}{r.Content, r.Description, r.Headers})
}

// Header is a header of an answer. Ref refers to another one.
type Header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// reference is encoded in place of an object that is elsewhere in the document.
type reference struct {
	Ref string `json:"$ref"`
}
