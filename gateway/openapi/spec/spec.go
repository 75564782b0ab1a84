// Package spec contains the objects of an OpenAPI document, as far as the API needs them.
//
// Each object is encoded with the member names of the specification. The members are sorted by name, so the
// same document results in the same bytes. Empty members are omitted unless their comment says otherwise. The
// package only writes documents. Programs that check or read documents need a complete library.
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

// Info describes the document.
type Info struct {
	Description string  `json:"description"`
	License     License `json:"license"`
	Title       string  `json:"title"`
	Version     string  `json:"version"`
}

// License is the license of the program. Identifiers exist only in version 3.1.
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

// SecurityRequirement maps the name of each required security scheme to the required scopes. All schemes of
// one requirement are needed. If there are several requirements, one is enough.
type SecurityRequirement map[string][]string

// SecurityScheme is a way in which callers identify themselves.
type SecurityScheme struct {
	Description string `json:"description"`
	In          string `json:"in,omitempty"`
	Name        string `json:"name,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Type        string `json:"type"`
}

// Components contains the objects to which operations refer, by name.
type Components struct {
	Headers         map[string]*Header         `json:"headers"`
	Responses       map[string]*Response       `json:"responses"`
	Schemas         map[string]*Schema         `json:"schemas"`
	SecuritySchemes map[string]*SecurityScheme `json:"securitySchemes"`
}

// PathItem contains the operations of a path.
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

// Operation describes the call of a path with a method. The extensions may be nil.
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

// Parameter is a parameter outside the body. Examples is nil if there are none.
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

// MediaType describes a body in one media type. Examples is nil if there are none.
type MediaType struct {
	Example any     `json:"example,omitempty"`
	Schema  *Schema `json:"schema"`
	Shown   any     `json:"x-example,omitempty"` // an example that pages do not fill in
}

// Of returns content with one schema for each of the given media types.
func Of(s *Schema, media ...string) map[string]*MediaType {
	content := make(map[string]*MediaType, len(media))
	for _, one := range media {
		content[one] = &MediaType{Schema: s}
	}
	return content
}

// JSON returns content in JSON with a schema.
func JSON(s *Schema) map[string]*MediaType { return Of(s, "application/json") }

// Response is an answer. If Ref is set, it refers to another answer, and the other fields are ignored.
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

// Header is a header of an answer. If Ref is set, it refers to another header.
type Header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// reference is encoded in place of an object that is elsewhere in the document.
type reference struct {
	Ref string `json:"$ref"`
}
