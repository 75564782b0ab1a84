package ops

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	// mediaExternalDNS must match ExternalDNS's own spelling exactly: no space, no charset.
	mediaExternalDNS = "application/external.dns.webhook+json;version=1"
	// externalBody is the size limit that ExternalDNS itself has for bodies, in bytes.
	externalBody = 32 << 20
	// externalRead is the time limit of a read. ExternalDNS gives up after 15 s and exits.
	externalRead = 12 * time.Second
)

var externalDNSRows = []*Operation{
	{
		ID: "externaldns.negotiate", Summary: "Returns the zones of the credential to ExternalDNS.",
		Path: "/api/ExternalDns", Scope: identity.DNSRead, Effect: Read,
		Subject: "zones",
		Protocol: external(Protocol{
			Status: http.StatusOK, Complete: externalZones,
			Answer: func(_ *Bound, c Context, _ []json.RawMessage) (any, error) { return domainFilter{plainZones(c)}, nil },
			Output: domainFilter{[]string{"corp.example"}},
		}),
	},
	{
		ID: "externaldns.records", Summary: "Lists the record sets of the credential's zones for ExternalDNS.",
		Path: "/api/ExternalDns/records", Scope: identity.DNSRead, Effect: Read,
		Script: "Get-GatewayRecordList", Fixed: ps.Args{"Mixed": ps.Bool(true)},
		Reply:   Reply{schema.Record, List},
		Timeout: externalRead,
		Subject: "records",
		Protocol: external(Protocol{
			Status: http.StatusOK, Complete: externalZones, Whole: true,
			Answer: func(_ *Bound, _ Context, batches []json.RawMessage) (any, error) { return endpointsOf(batches) },
			Output: []*endpoint{exampleEndpoint},
		}),
	},
	{
		ID: "externaldns.adjust", Summary: "Returns record sets in the form that they will have after ExternalDNS creates them.",
		Method: http.MethodPost, Path: "/api/ExternalDns/adjustendpoints",
		Scope: identity.DNSRead, Effect: Read,
		Subject: "records",
		Protocol: external(Protocol{
			Status: http.StatusOK, BodyLimit: externalBody,
			Read: func(b *Bound, body []byte) *schema.FieldError {
				var wanted []*endpoint
				if problem := readJSON(body, &wanted); problem != nil {
					return problem
				}
				if slices.Contains(wanted, nil) {
					return nullEndpoint
				}
				b.document.body, b.document.notes = adjusted(wanted)
				return nil
			},
			Complete: externalZones,
			Answer:   func(b *Bound, _ Context, _ []json.RawMessage) (any, error) { return b.document.body, nil },
			Input:    []*endpoint{exampleEndpoint}, Output: []*endpoint{exampleEndpoint},
		}),
	},
	{
		ID: "externaldns.apply", Summary: "Changes record sets for ExternalDNS, each independently of the others.",
		Method: http.MethodPost, Path: "/api/ExternalDns/records",
		Scope: identity.DNSWrite, Effect: Update,
		Script:  "Update-GatewayRecordSets",
		Reply:   Reply{schema.Record, List},
		Settle:  Settle{Script: "Confirm-GatewayRecordSets"},
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable, schema.Partial},
		Subject: "records", Success: "{subject} were changed.",
		Protocol: external(Protocol{
			Status: http.StatusNoContent, BodyLimit: externalBody, PerSet: true,
			Read: readChanges, Complete: completeChanges, Supplies: map[string]string{"Change": "string[]", "Seconds": "int"},
			Input: endpointChanges{Create: []*endpoint{exampleEndpoint}},
		}),
	},
}

var exampleEndpoint = &endpoint{DNSName: "app.corp.example", Targets: []string{"10.0.1.80"}, RecordType: "A",
	RecordTTL: 300}

// external completes a row of the ExternalDNS webhook protocol.
func external(p Protocol) *Protocol {
	p.Name, p.Media, p.Refusal = "externaldns", mediaExternalDNS, refuseExternal
	return &p
}

// refuseExternal returns the status of a refusal. ExternalDNS exits on any 4xx, but retries in its
// next loop after a 5xx. A call is forbidden if its credential lacks a scope or has no access to
// the zone; a forbidden set counts as a failed one.
func refuseExternal(code schema.Code, _ string) (int, any) {
	switch status := code.Status(); {
	case code == schema.RateLimited || code == schema.Timeout:
		return http.StatusServiceUnavailable, nil
	case code == schema.Partial, code == schema.DirectoryDenied, status == http.StatusNotFound, status == http.StatusConflict, status == http.StatusUnprocessableEntity:
		return http.StatusInternalServerError, nil
	case code == schema.Backend:
		return http.StatusInternalServerError, nil
	default:
		return status, nil
	}
}

// domainFilter lists the names that ExternalDNS manages. An empty list would mean all names.
type domainFilter struct {
	Include []string `json:"include"`
}

// externalZones refuses a caller that is not limited to zones.
func externalZones(_ *Bound, c Context) *schema.FieldError {
	if len(c.Caller.Limits.Zones) == 0 {
		return &schema.FieldError{Code: schema.Limit,
			Message: "The credential must be limited to zones (--zone): ExternalDNS manages these. All zones of " +
				"the server are not offered."}
	}
	return nil
}

// plainZones returns the caller's zones in lower case without a trailing dot.
func plainZones(c Context) []string {
	var zones []string
	for _, zone := range c.Caller.Limits.Zones {
		zones = append(zones, strings.TrimSuffix(Fold(zone), "."))
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

var nullEndpoint = &schema.FieldError{Code: schema.InvalidRequest, Message: "A record of the body is null."}

// readJSON decodes a body. It ignores unknown members.
func readJSON(body []byte, into any) *schema.FieldError {
	if err := json.Unmarshal(body, into); err != nil {
		return &schema.FieldError{Code: schema.InvalidRequest,
			Message: "The body is not the JSON that the protocol requires."}
	}
	return nil
}

// readChanges reads the changes of one request. Removing a set needs the scope for removals and counts as a
// removal, even if the request describes it as an update.
func readChanges(b *Bound, body []byte) *schema.FieldError {
	var c endpointChanges
	if problem := readJSON(body, &c); problem != nil {
		return problem
	}
	for _, list := range [][]*endpoint{c.Create, c.UpdateOld, c.UpdateNew, c.Delete} {
		if slices.Contains(list, nil) {
			return nullEndpoint
		}
	}
	changes, problem := c.setChanges()
	if problem != nil {
		return problem
	}
	lines := []string{}
	sets := 0
	for number := range changes {
		of := changes[number].encoded(sets)
		if len(of) == 0 {
			continue
		}
		sets++
		if changes[number].removes {
			b.document.removals++
		}
		lines = append(lines, of...)
		b.document.names = append(b.document.names, changes[number].name)
	}
	if b.document.removals > 0 {
		b.Scopes = append(b.Scopes, identity.DNSDelete)
	}
	b.supply("Change", ps.List(lines))
	b.document.idle = len(lines) == 0
	return nil
}

// completeChanges passes its time limit to the script.
func completeChanges(b *Bound, c Context) *schema.FieldError {
	b.supply("Seconds", ps.Int(int64(c.Settings.Budget/time.Second)))
	return externalZones(b, c)
}
