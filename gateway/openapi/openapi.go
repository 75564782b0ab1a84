// Package openapi describes the API for programs and people: OpenAPI documents generated from the
// operation table, and a page that shows them.
//
// [Document] derives everything from the rows and from the kinds and shapes that they refer to, in version
// 3.1 or 3.0, and for the standard or the classic dialect. In any request, the gateway accepts a parameter
// outside the path in the query, in a form or in a JSON body. The document lists it where a client would
// usually put it, which is the query for GET and DELETE, and the body for POST and PUT. [Page] serves an
// embedded Swagger UI, so it works offline. Package spec has the objects that documents consist of.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// ContentType is the content type of the document.
const ContentType = "application/json; charset=utf-8"

// Options select a document.
type Options struct {
	Version string // version of the program
	V30     bool   // OpenAPI 3.0 instead of 3.1, for older generators
	Classic bool   // describe answers of the classic dialect
	Sandbox bool   // the server simulates its domain
	Tickets bool   // people are also known by their Kerberos tickets
}

// Document describes the operations of a table. The same input yields the same bytes.
func Document(table []*ops.Operation, o Options) ([]byte, error) {
	b := &builder{Options: o, schemas: map[string]*spec.Schema{}, answers: map[string]*spec.Response{},
		partial: map[*schema.Shape]bool{}}
	for _, op := range table {
		for i := range op.Params {
			if schema.ChoosesFields(op.Params[i].Kind) {
				b.partial[op.Reply.Shape] = true
			}
		}
	}
	document := &spec.Document{
		OpenAPI: "3.1.0",
		Info:    b.info(),
		Servers: []spec.Server{{URL: "/", Description: "This gateway"}},
		Paths:   map[string]*spec.PathItem{},
		Security: []spec.SecurityRequirement{
			{tokenHeader: {}}, {bearer: {}}, {basic: {}},
		},
	}
	if b.Tickets {
		document.Security = append(document.Security, spec.SecurityRequirement{ticket: {}})
	}
	if b.V30 {
		document.OpenAPI = "3.0.3"
	}
	b.schemas["Error"] = b.failure(nil)
	b.paths = pathNames(table)
	tagged := map[string]bool{}
	for _, op := range table {
		name := b.paths[op.Path]
		path := document.Paths[name]
		if path == nil {
			path = &spec.PathItem{}
			document.Paths[name] = path
		}
		path.Set(op.Method, b.operation(op))
		if tag := resource(op); !tagged[tag] {
			tagged[tag] = true
			document.Tags = append(document.Tags, spec.Tag{Name: tag, Description: ops.Resources[tag]})
		}
	}
	b.operational(document)
	document.Components = spec.Components{Schemas: b.schemas, Responses: b.answers,
		SecuritySchemes: b.securitySchemes(), Headers: headers()}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return text, nil
}

const introduction = `HTTP API for users, groups, memberships, OUs, and computers in Active Directory, and for Windows DNS.

**Parameters** outside the path can be sent in the query, in a form, or in a JSON object with every method; this document lists each parameter in one place. Parameter names are not case-sensitive. Unknown parameters are rejected, and so are secrets in the query.

**Empty values**: an empty optional parameter counts as absent. In an update, an empty text clears the attribute. A secret, or a parameter that narrows a bulk removal, must not be empty. An update does not change what is absent; default values of attributes apply to new objects only.

**Answers** have a common envelope: ` + "`output`" + ` is a sentence for people; ` + "`result`" + ` is always an array of records; ` + "`warnings`" + ` lists what was left out; ` + "`error`" + ` describes a failure and contains a code for programs. Missing values are null. Times are in UTC and in the format of RFC 3339.

**Permissions**: each operation requires one scope, given as x-scope. Changes to guarded objects also require the scope ` + "`privileged`" + `. Guarded objects are those that lead to control of the domain: protected accounts, built-in groups, DnsAdmins and the gateway's own groups, with their direct and nested members; domain controllers and their names in DNS; and the OUs that contain any of these.

`

const (
	standardDialect = "This document describes the standard dialect. For a credential of the classic dialect, " +
		"every success has the status 200, and `result` is an object, a boolean, or a date-time if there is " +
		"one record; see `?dialect=classic`."
	classicDialect = "This document describes the classic dialect, which requires a credential of that " +
		"dialect. Every success has the status 200, and `result` is an object, a boolean, or a date-time if " +
		"there is one record. For the standard dialect, see `?dialect=standard`."
	simulated = "**This is a sandbox** with a simulated domain. It reads and changes no real objects.\n\n"
)

func (b *builder) info() spec.Info {
	info := spec.Info{Title: "adgateway", Version: b.Version,
		License: spec.License{Name: "MIT", Identifier: "MIT"}}
	info.Description = introduction + standardDialect
	if b.Classic {
		info.Description = introduction + classicDialect
	}
	if b.Sandbox {
		info.Title, info.Description = "adgateway (sandbox)", simulated+info.Description
	}
	if b.V30 {
		info.License.Identifier = "" // only in 3.1
	}
	return info
}

// pathNames maps the table's paths to the document's paths. Placeholders get the names of the
// parameters, unless several rows share the path and their names differ.
func pathNames(table []*ops.Operation) map[string]string {
	names := map[string]string{}
	for _, op := range table {
		name := op.Path
		for _, p := range op.Params {
			if p.Path != "" {
				name = strings.Replace(name, "{"+p.Path+"}", "{"+p.Name+"}", 1)
			}
		}
		if other, taken := names[op.Path]; taken && other != name {
			name = op.Path
		}
		names[op.Path] = name
	}
	return names
}

// resource returns the part of an operation's id before the dot.
func resource(op *ops.Operation) string {
	name, _, _ := strings.Cut(op.ID, ".")
	return name
}

// builder collects the schemas that operations share.
type builder struct {
	Options
	schemas map[string]*spec.Schema
	answers map[string]*spec.Response // answers with errors, by code
	partial map[*schema.Shape]bool    // shapes whose fields clients may select
	paths   map[string]string         // document paths by table path
}

func (b *builder) operation(op *ops.Operation) *spec.Operation {
	o := &spec.Operation{
		OperationID: op.ID,
		Summary:     op.Summary,
		Description: description(op),
		Tags:        []string{resource(op)},
		Scope:       op.Scope,
		Effect:      op.Effect.String(),
	}
	if op.Protocol != nil {
		b.foreign(op, o)
		return o
	}
	o.Responses = b.responses(op)
	body, example := spec.Closed(), map[string]any{}
	for i := range op.Params {
		p := &op.Params[i]
		value := b.input(op, p)
		switch {
		case p.Path != "":
			o.Parameters = append(o.Parameters, b.parameter(op, p, spec.InPath, b.placeholder(op, p), value))
		case inBody(op):
			body.With(p.Name, value)
			value.Description = about(op, p)
			value.Example, value.Examples = nil, nil // pages would fill them in
			if p.Required {
				body.Required = append(body.Required, p.Name)
			}
			if p.Required || p.Example != "" {
				example[p.Name] = typed(p.Kind.Doc(), p.Sample())
			}
		default:
			o.Parameters = append(o.Parameters, b.parameter(op, p, spec.InQuery, p.Name, value))
		}
	}
	if op.Reply.Mark == ops.Events {
		o.Parameters = append(o.Parameters, header(ops.LastEventHeader,
			"ID of the last event received, after which the stream continues. Event clients send it "+
				"automatically when they reconnect."))
	}
	if op.Effect.Writes() {
		key := header(ops.KeyHeader,
			"Unique key of your choice for this call, such as a UUID. If you repeat the call with the same key, "+
				"it is not run again and returns the same answer.")
		key.Schema.Pattern = "^" + ops.KeyPattern + "$"
		o.Parameters = append(o.Parameters, key)
	}
	guards(op, o)
	if op.Takes != nil {
		o.RequestBody = listBody(op)
	}
	if len(body.Properties) > 0 {
		content := spec.Of(body, "application/json", "application/x-www-form-urlencoded")
		for _, media := range content {
			// Pages fill in examples, and people quickly send them.
			media.Shown = example
			if len(body.Required) == 0 {
				media.Example = map[string]any{}
			}
		}
		if p := op.PhotoParam(); p != nil {
			addImages(content, schema.PhotoTypes(p.Kind))
		}
		o.RequestBody = &spec.RequestBody{Content: content, Required: len(body.Required) > 0}
	}
	return o
}

// placeholder returns the name of a parameter in the document's path.
func (b *builder) placeholder(op *ops.Operation, p *ops.Param) string {
	if strings.Contains(b.paths[op.Path], "{"+p.Name+"}") {
		return p.Name
	}
	return p.Path
}

// parameter completes a parameter. It moves the example from the schema to where pages look for
// values to fill in, except for parameters of changes.
func (b *builder) parameter(
	op *ops.Operation, p *ops.Param, in, name string, value *spec.Schema,
) *spec.Parameter {
	o := &spec.Parameter{In: in, Name: name, Description: about(op, p), Required: p.Required, Schema: value}
	example := value.Example
	if len(value.Examples) > 0 {
		example = value.Examples[0]
	}
	value.Example, value.Examples = nil, nil
	switch {
	case example == nil:
	case op.Effect.Writes():
		o.Shown = example
	default:
		o.Example = example
	}
	return o
}

// header describes a header of a request.
func header(name, text string) *spec.Parameter {
	return &spec.Parameter{In: spec.InHeader, Name: name, Description: text, Schema: spec.Text()}
}

// inBody reports whether the document lists an operation's parameters in the body.
func inBody(op *ops.Operation) bool {
	return (op.Method == http.MethodPost || op.Method == http.MethodPut) && op.Takes == nil
}

// description describes the scope and the rules of an operation.
func description(op *ops.Operation) string {
	lines := []string{"Requires the scope `" + string(op.Scope) + "`."}
	if op.Scope == "" {
		lines[0] = "Any credential can call this operation."
	}
	for _, other := range op.Or {
		lines[0] = strings.TrimSuffix(lines[0], ".") + " or `" + string(other) + "`."
	}
	for _, rule := range op.Rules {
		lines = append(lines, "- "+strings.ToUpper(rule.Doc[:1])+rule.Doc[1:]+".")
	}
	if op.Timeout > 0 {
		lines = append(lines, "- The call can take up to "+op.Timeout.String()+".")
	}
	if len(lines) > 1 {
		lines[0] += "\n"
	}
	return strings.Join(lines, "\n")
}

// about describes a parameter in words.
func about(op *ops.Operation, p *ops.Param) string {
	parts := []string{p.Doc}
	if kind := p.Kind.Doc().Text; kind != p.Doc {
		parts = append(parts, kind)
	}
	if p.Scope != "" {
		parts = append(parts, "Also requires the scope `"+string(p.Scope)+"`.")
	}
	if !p.Required && op.Effect == ops.Update && p.Default == "" && p.Generated == "" && !p.Unsent &&
		len(p.Kind.Parts()) > 0 && !strings.Contains(strings.ToLower(p.Doc), "if absent") {
		parts = append(parts, "If absent, the value does not change.")
	}
	switch {
	case p.Required: // kinds that can be cleared say so themselves
	case op.EmptyMeans(p) == ops.Cleared:
		parts = append(parts, "If empty, the value is cleared.")
	case op.EmptyMeans(p) == ops.Refused:
		parts = append(parts, "Must not be empty.")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// input returns the schema of a parameter.
func (b *builder) input(op *ops.Operation, p *ops.Param) *spec.Schema {
	doc := p.Kind.Doc()
	s := &spec.Schema{Type: spec.Types{doc.Type}, Format: doc.Format, Pattern: doc.Pattern,
		WriteOnly: p.Kind.Secret(), Bounds: spec.Bounds{MaxLength: doc.MaxLength}}
	for _, word := range doc.Enum {
		s.Enum = append(s.Enum, word)
	}
	if doc.Type == "integer" {
		s.Minimum, s.Maximum = &doc.Min, &doc.Max
	}
	switch {
	case doc.Type != "string":
	case p.Clears:
	case p.Required || op.EmptyMeans(p) == ops.Refused:
		s.MinLength = 1
	case doc.Pattern != "":
		s.Pattern = "^$|" + doc.Pattern
	}
	byDefault := cmp.Or(p.Default, p.Implied)
	if b.Classic {
		byDefault = cmp.Or(p.Classic, byDefault)
	}
	if byDefault != "" {
		s.Default = typed(doc, byDefault)
	}
	switch example := p.Sample(); {
	case example == "":
	case b.V30:
		s.Example = typed(doc, example)
	default:
		s.Examples = []any{typed(doc, example)}
	}
	if p.Scope != "" {
		s.Scope = p.Scope
	}
	return s
}

// typed returns a value from a row with its JSON type.
func typed(doc schema.Doc, text string) any {
	switch doc.Type {
	case "boolean":
		return text == "true"
	case "integer":
		return json.Number(text)
	default:
		return text
	}
}

// addImages adds bodies that are images of some types.
func addImages(to map[string]*spec.MediaType, types []string) {
	for _, media := range types {
		to[media] = &spec.MediaType{Schema: &spec.Schema{Type: spec.Types{"string"}, Format: "binary"}}
	}
}

// responses returns the possible answers of a row by status.
func (b *builder) responses(op *ops.Operation) map[string]*spec.Response {
	all := map[string]*spec.Response{}
	switch {
	case op.Reply.Mark == ops.Events:
		all["200"] = b.events(op)
	case op.Answers != nil:
		all["200"] = file(op)
	default:
		for status, text := range b.successes(op) {
			success := answer(text, b.envelope(op), headersOfSuccess(op, status)...)
			addImages(success.Content, op.Images)
			addForms(b, success, op)
			all[status] = success
		}
	}
	if honors(op, ops.IfNoneMatch) && !op.Effect.Writes() {
		all["304"] = unchanged()
	}
	byStatus, names, waits := map[int][]string{}, map[int][]string{}, map[int]bool{}
	for _, code := range codes(op) {
		waits[code.Status()] = waits[code.Status()] || code.Waits()
		names[code.Status()] = append(names[code.Status()], string(code))
		byStatus[code.Status()] = append(byStatus[code.Status()], fmt.Sprintf("`%s`: %s", code, code.Doc()))
	}
	for status, lines := range byStatus {
		if status == schema.Partial.Status() && b.Classic {
			continue // it is a success with warnings
		}
		if status == schema.Partial.Status() {
			all[fmt.Sprint(status)] = answer(strings.Join(lines, "\n\n"), b.partialEnvelope(op),
				headersOfSuccess(op, "207")...)
			continue
		}
		name := strings.Join(names[status], ".")
		if b.answers[name] == nil {
			b.answers[name] = answer(strings.Join(lines, "\n\n"), ref("Error"), headersOf(status, waits[status])...)
		}
		all[fmt.Sprint(status)] = &spec.Response{Ref: "#/components/responses/" + name}
	}
	// This response lets generated clients parse errors that the row does not list, such as those that a
	// different version of Windows adds.
	const other = "other"
	if b.answers[other] == nil {
		b.answers[other] = answer("Any other failure; see `code`.", ref("Error"))
	}
	all["default"] = &spec.Response{Ref: "#/components/responses/" + other}
	return all
}

// successes returns the descriptions of successful answers, by status.
func (b *builder) successes(op *ops.Operation) map[string]string {
	switch {
	case b.Classic && !op.Accepted:
		return map[string]string{"200": "Done."}
	case op.Accepted:
		return map[string]string{"202": "Accepted. The work continues in the background; see the header Location."}
	case !op.Creates():
		return map[string]string{"200": "Done."}
	case op.Makes:
		return map[string]string{"201": "Created.", "200": "Changed, or so already; or a dry run."}
	case op.Unchanged != "":
		return map[string]string{"201": "Created.",
			"200": "It was so already, and nothing was changed; or a dry run."}
	default:
		return map[string]string{"201": "Created.", "200": "A dry run."}
	}
}

// codes returns the errors that a row can answer with, in the order of the API.
func codes(op *ops.Operation) []schema.Code {
	common := []schema.Code{
		schema.InvalidRequest, schema.Unauthenticated, schema.Forbidden, schema.Limit, schema.DirectoryDenied,
		schema.RateLimited, schema.Internal, schema.Backend, schema.Overloaded, schema.Unavailable, schema.Timeout,
	}
	if op.Effect.Writes() {
		common = append(common, schema.NotSupported, schema.InProgress, schema.OutcomeUnknown, schema.KeyReused,
			schema.PreconditionRequired)
		if op.Lane == ps.Directory && slices.Contains(op.Fails, schema.Conflict) { // it may assign a name
			common = append(common, schema.NamePending)
		}
		if honors(op, ops.IfMatch) || honors(op, ops.IfNoneMatch) {
			common = append(common, schema.PreconditionFailed)
		}
	}
	if op.Takes != nil {
		common = append(common, schema.UnsupportedMediaType)
	}
	if inBody(op) {
		common = append(common, schema.TooLarge, schema.UnsupportedMediaType)
	}
	if op.Forms() != nil {
		common = append(common, schema.NotAcceptable)
	}
	return slices.DeleteFunc(schema.Codes(), func(code schema.Code) bool {
		return !slices.Contains(common, code) && !slices.Contains(op.Fails, code)
	})
}

func answer(text string, body *spec.Schema, more ...string) *spec.Response {
	r := &spec.Response{Description: text, Content: spec.JSON(body), Headers: map[string]*spec.Header{}}
	for _, name := range append([]string{requestID, xEngine, directoryServer}, more...) {
		r.Headers[name] = &spec.Header{Ref: "#/components/headers/" + name}
	}
	return r
}

const (
	requestID       = "X-Request-Id"
	xEngine         = "X-Engine"
	directoryServer = "X-Directory-Server"
	retryAfter      = "Retry-After"
	challenge       = "WWW-Authenticate"
	entityTag       = "ETag"
	changeID        = ops.ChangeHeader
	dryRun          = "X-Dry-Run"
	location        = "Location"
	replayed        = "Idempotency-Replayed"
	replayedCall    = "Idempotency-Request"
	link            = "Link"
	totalCount      = "X-Total-Count"
	warningCount    = "X-Warning-Count"
	warnings        = "X-Warnings"
)

// headersOf returns the headers of error answers with a status. If waits is set, they include the time of a
// retry.
func headersOf(status int, waits bool) []string {
	names := []string{link}
	switch status {
	case http.StatusUnauthorized:
		names = append(names, challenge)
	case http.StatusPreconditionFailed:
		names = append(names, entityTag)
	}
	if waits {
		names = append(names, retryAfter)
	}
	return names
}

// headersOfSuccess returns the headers that a row's successful answer can have.
func headersOfSuccess(op *ops.Operation, status string) []string {
	names := tagOf(op)
	if !op.Effect.Writes() {
		return names
	}
	names = append(names, replayed, replayedCall)
	if op.Accepted {
		return append(names, location)
	}
	if op.Reply.Shape == schema.Job {
		return names // the history contains the job's changes, but not the job
	}
	names = append(names, changeID)
	if status == "200" && op.Protocol == nil {
		names = append(names, dryRun)
	}
	return names
}

func headers() map[string]*spec.Header {
	all := map[string]*spec.Header{}
	for name, text := range map[string]string{
		requestID:       "ID of the request, which identifies its lines in the log and the audit log. If the client sent an ID, it is used.",
		xEngine:         "Engine that answered: powershell, or sandbox for the simulated domain.",
		directoryServer: "Domain controller or DNS server that was queried, if any.",
		retryAfter:      "Number of seconds to wait before the call is repeated.",
		challenge:       "Authentication challenge.",
		changeID:        "ID of the change in the history, if the call changed something and the gateway keeps a history.",
		dryRun:          "Set to true if the call was a dry run and changed nothing.",
		location:        "Address of the created job, which shows its progress and outcome.",
		replayed:        "Set to true if this is the answer to an earlier call with the same Idempotency-Key. The call was not run again.",
		replayedCall:    "ID of the earlier request whose answer is replayed.",
		link:            "Links of the answer. rel=\"help\" is the page of the manual that explains the error; rel=\"next\" is the next page of a list in CSV or NDJSON.",
		totalCount:      "Total number of records of a list in CSV or NDJSON; only with Count.",
		warningCount:    "Number of warnings about a list in CSV or NDJSON from which something was left out.",
		warnings:        "Warnings about a list in CSV or NDJSON, as JSON of at most 4,096 bytes; later warnings are left out.",
		entityTag:       "Entity tag of the record's current state, for If-Match and If-None-Match.",
	} {
		value := spec.Text()
		if name == retryAfter || name == totalCount || name == warningCount {
			value = spec.Integer()
		}
		all[name] = &spec.Header{Description: text, Schema: value}
	}
	return all
}

// Names of the security schemes.
const (
	tokenHeader = "AuthToken"
	bearer      = "Bearer"
	basic       = "Basic"
	ticket      = "Negotiate"
)

func (b *builder) securitySchemes() map[string]*spec.SecurityScheme {
	all := map[string]*spec.SecurityScheme{
		tokenHeader: {Type: "apiKey", In: "header", Name: "Auth-Token", Description: "`Bearer <token>`, or `Basic ` " +
			"followed by `user:password` in base64. The word before the space is part of the value."},
		bearer: {Type: "http", Scheme: "bearer", Description: "Token of the gateway."},
		basic:  {Type: "http", Scheme: "basic", Description: "User name and password of a user of the gateway."},
	}
	if b.Tickets {
		all[ticket] = &spec.SecurityScheme{Type: "http", Scheme: "negotiate",
			Description: "Kerberos ticket of a person; NTLM is rejected. A call that can change something " +
				"is answered with 403 if a browser sends it from a page of another site."}
	}
	return all
}
