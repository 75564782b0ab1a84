package openapi

import (
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
)

// monitoring is the tag of the endpoints for operators of the gateway.
const monitoring = "monitoring"

// operational adds the endpoints that are not rows of the table.
func (b *builder) operational(document *openapi3.T) {
	document.Tags = append(document.Tags,
		&openapi3.Tag{Name: monitoring, Description: "State and figures of the gateway itself"})
	check := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	check.WithProperty("name", openapi3.NewStringSchema())
	check.WithProperty("ok", openapi3.NewBoolSchema())
	check.WithProperty("degraded",
		described(openapi3.NewBoolSchema(), "Something is wrong that does not hinder"))
	check.WithProperty("reason", described(openapi3.NewStringSchema(), "Only with the scope ops:read"))
	check.Required = []string{"name", "ok"}
	checks := b.plainList("Check", check)
	version := texts("version", "commit", "built", "go", "engine")
	version.WithProperty("features",
		described(openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema()),
			"What an older gateway would not honour"))
	version.Required = []string{"version", "engine", "features"} // unknown callers only get these
	for _, e := range []struct {
		path, id, summary string
		answers           map[int]*openapi3.SchemaRef
		media             string
		open              bool // does not need a credential
	}{
		{"/healthz", "health", "Reports that the process runs.", map[int]*openapi3.SchemaRef{http.StatusOK: b.plainList("Health", texts("status"))}, "", true},
		{"/readyz", "ready", "Reports whether requests would be served, check by check.",
			map[int]*openapi3.SchemaRef{http.StatusOK: checks, http.StatusServiceUnavailable: checks}, "", true},
		{"/version", "version", "Tells the version of the program, and callers with a credential of what it was built.",
			map[int]*openapi3.SchemaRef{http.StatusOK: b.plainList("Version", version)}, "", true},
		{"/metrics", "metrics", "Figures for Prometheus.", map[int]*openapi3.SchemaRef{http.StatusOK: openapi3.NewStringSchema().NewRef()}, "text/plain", false},
	} {
		o := &openapi3.Operation{OperationID: "monitoring." + e.id, Summary: e.summary, Tags: []string{monitoring},
			Responses: openapi3.NewResponsesWithCapacity(2)}
		for status, body := range e.answers {
			r := openapi3.NewResponse().WithDescription(http.StatusText(status))
			r.Headers = openapi3.Headers{}
			for _, name := range []string{requestID, xEngine} {
				r.Headers[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
			}
			if e.media != "" {
				r.Content = openapi3.NewContentWithSchemaRef(body, []string{e.media})
			} else {
				r.Content = openapi3.NewContentWithJSONSchemaRef(body)
			}
			o.AddResponse(status, r)
		}
		if e.id == "ready" {
			lane := openapi3.NewQueryParameter("lane").WithDescription(
				"Report only what concerns calls of the directory or of DNS, or, with changes, not ready when only " +
					"reads are served.")
			lane.Schema = openapi3.NewStringSchema().WithEnum("directory", "dns", "changes").NewRef()
			o.Parameters = openapi3.Parameters{{Value: lane}}
		}
		if e.open {
			o.Security = &openapi3.SecurityRequirements{{}}
		} else {
			o.Description = "Asks for the scope `ops:read`, or for a client on the gateway's own machine."
			o.AddResponse(http.StatusForbidden,
				openapi3.NewResponse().WithDescription("The credential lacks the scope.").WithContent(
					openapi3.NewContentWithJSONSchemaRef(ref("Error"))))
		}
		document.Paths.Set(e.path, &openapi3.PathItem{Get: o})
	}
}

// plainList returns the envelope of an operational endpoint.
func (b *builder) plainList(name string, record *openapi3.Schema) *openapi3.SchemaRef {
	return b.define(name+"List", func() *openapi3.Schema {
		items := openapi3.NewArraySchema()
		items.Items = record.NewRef()
		s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
		s.WithProperty("output", openapi3.NewStringSchema())
		s.WithProperty("result", items)
		s.Required = []string{"output", "result"}
		return s
	})
}
