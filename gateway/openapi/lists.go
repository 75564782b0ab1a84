package openapi

import (
	"encoding/json"

	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
)

// exampleItem is an item of a list.
var exampleItem = json.RawMessage(`{"id":"1","operation":"user.update","parameters":{"UserName":"jdoe","Department":"Sales"}}`)

// listBody describes a body that is a list of calls.
func listBody(op *ops.Operation) *spec.RequestBody {
	texts := func() *spec.Schema { return spec.List(spec.Text()) }
	open := true
	parameters := &spec.Schema{Type: spec.Types{"object"}, AdditionalProperties: &open,
		Description: "Parameters of the operation, by name."}
	item := spec.Closed().
		With("id", spec.Text()).
		With("operation", spec.Text()).
		With("parameters", parameters).
		With("ifMatch", spec.Text()).
		With("after", texts())
	item.Properties["id"].Description = "Name of the item, for the member after of other items and for the " +
		"result."
	item.Properties["operation"].Description = "operationId of the call; required unless the parameter " +
		"Operation names it for all items."
	item.Properties["ifMatch"].Description = "Entity tag that the object must have; otherwise, the call is " +
		"not made."
	item.Properties["after"].Description = "IDs of items that must be done before this item."
	content := map[string]*spec.MediaType{}
	for _, media := range op.Takes {
		list, example := spec.Text(), any("UserName,Department\r\njdoe,Sales\r\n")
		switch media {
		case ops.MediaJSON:
			list = spec.Closed().With("items",
				spec.List(item))
			list.Required = []string{"items"}
			example = map[string]any{"items": []any{exampleItem}}
		case ops.MediaNDJSON:
			example = string(exampleItem) + "\n"
			list.Description = "One item per line: an object like the items in application/json."
		default:
			list.Description = "Columns separated by commas, semicolons, or tabs. The first row contains the " +
				"names of the parameters, and optionally Id, Operation, After, and IfMatch. An empty cell counts as " +
				"absent; <clear> means an empty value."
		}
		content[media] = &spec.MediaType{Schema: list, Shown: example}
	}
	return &spec.RequestBody{Content: content, Required: true}
}

// formNames are the names of the schemas of lists that are not in an envelope, by media type.
var formNames = map[string]string{ops.MediaCSV: "ListAsCsv", ops.MediaNDJSON: "ListAsNdjson"}

// formDocs describe these schemas.
var formDocs = map[string]string{
	ops.MediaCSV: "Row with the names of the fields, followed by a row for each record. Null is an empty " +
		"cell; lists and objects are in JSON. A cell that a spreadsheet would interpret as a formula begins with " +
		"an apostrophe.",
	ops.MediaNDJSON: "One record per line, as an object.",
}

// addForms adds the other forms of a list to an answer.
func addForms(b *builder, to *spec.Response, op *ops.Operation) {
	for _, media := range op.Forms() {
		if media == ops.MediaJSON {
			continue
		}
		list := b.define(formNames[media], func() *spec.Schema {
			return described(spec.Text(), formDocs[media])
		})
		to.Content[media] = &spec.MediaType{Schema: list}
		for _, name := range []string{link, totalCount, warningCount, warnings} {
			to.Headers[name] = &spec.Header{Ref: "#/components/headers/" + name}
		}
	}
}

// file describes an answer that is a file.
func file(op *ops.Operation) *spec.Response {
	r := answer("Result as a file.", nil)
	r.Content = spec.Of(spec.Text(), op.Answers...)
	return r
}
