package openapi

import (
	"fmt"
	"net/http"

	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
)

// monitoring is the tag of the endpoints for operators of the gateway.
const monitoring = "monitoring"

// operational adds the endpoints that are not rows of the table.
func (b *builder) operational(document *spec.Document) {
	document.Tags = append(document.Tags,
		spec.Tag{Name: monitoring, Description: "Status and metrics of the gateway"})
	check := spec.Closed()
	check.With("name", spec.Text())
	check.With("ok", spec.Bool())
	check.With("degraded",
		described(spec.Bool(), "Whether the check found a problem that does not prevent operation."))
	check.With("reason", described(spec.Text(), "Reason for the result; only with the scope ops:read."))
	check.Required = []string{"name", "ok"}
	checks := b.plainList("Check", check)
	version := texts("version", "commit", "built", "go", "engine")
	version.With("features",
		described(spec.List(spec.Text()),
			"Features that earlier versions do not support."))
	version.Required = []string{"version", "engine", "features"} // unknown callers only get these
	for _, e := range []struct {
		path, id, summary string
		answers           map[int]*spec.Schema
		media             string
		open              bool // does not need a credential
	}{
		{"/healthz", "health", "Reports that the process is running.", map[int]*spec.Schema{http.StatusOK: b.plainList("Health", texts("status"))}, ops.MediaJSON, true},
		{"/readyz", "ready", "Reports whether the gateway is ready to serve requests, with the result of each check.",
			map[int]*spec.Schema{http.StatusOK: checks, http.StatusServiceUnavailable: checks}, ops.MediaJSON, true},
		{"/version", "version", "Shows the version of the program and, to callers with a credential, its build details.",
			map[int]*spec.Schema{http.StatusOK: b.plainList("Version", version)}, ops.MediaJSON, true},
		{"/metrics", "metrics", "Shows metrics for Prometheus.", map[int]*spec.Schema{http.StatusOK: spec.Text()}, "text/plain", false},
	} {
		o := &spec.Operation{OperationID: "monitoring." + e.id, Summary: e.summary, Tags: []string{monitoring},
			Responses: map[string]*spec.Response{}}
		for status, body := range e.answers {
			r := &spec.Response{Description: http.StatusText(status), Content: spec.Of(body, e.media),
				Headers: map[string]*spec.Header{}}
			for _, name := range []string{requestID, xEngine} {
				r.Headers[name] = &spec.Header{Ref: "#/components/headers/" + name}
			}
			o.Responses[fmt.Sprint(status)] = r
		}
		if e.id == "ready" {
			lane := &spec.Parameter{In: spec.InQuery, Name: "lane", Schema: spec.Text(),
				Description: "Limits the report to directory or DNS calls. With changes, the gateway is not ready if " +
					"it can only serve reads."}
			lane.Schema.Enum = []any{"directory", "dns", "changes"}
			o.Parameters = []*spec.Parameter{lane}
		}
		if e.open {
			o.Security = []spec.SecurityRequirement{{}}
		} else {
			o.Description = "Requires the scope `ops:read`, unless the client runs on the same computer as the " +
				"gateway."
			o.Responses[fmt.Sprint(http.StatusForbidden)] = &spec.Response{
				Description: "The credential lacks the scope.", Content: spec.JSON(ref("Error"))}
		}
		document.Paths[e.path] = &spec.PathItem{Get: o}
	}
}

// plainList returns the envelope of an operational endpoint.
func (b *builder) plainList(name string, record *spec.Schema) *spec.Schema {
	return b.define(name+"List", func() *spec.Schema {
		s := spec.Closed().With("output", spec.Text()).With("result", spec.List(record))
		s.Required = []string{"output", "result"}
		return s
	})
}
