package openapi

import (
	"encoding/json"

	"github.com/getkin/kin-openapi/openapi3"

	"adgateway/gateway/ops"
)

// exampleItem is an item of a list.
var exampleItem = json.RawMessage(`{"id":"1","operation":"user.update","parameters":{"UserName":"jdoe","Department":"Sales"}}`)

// listBody describes a body that is a list of calls.
func listBody(op *ops.Operation) *openapi3.RequestBodyRef {
	texts := func() *openapi3.Schema { return openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema()) }
	parameters := openapi3.NewObjectSchema().WithAnyAdditionalProperties()
	parameters.Description = "The parameters of the operation, by name."
	item := openapi3.NewObjectSchema().WithoutAdditionalProperties().
		WithProperty("id", openapi3.NewStringSchema()).
		WithProperty("operation", openapi3.NewStringSchema()).
		WithProperty("parameters", parameters).
		WithProperty("ifMatch", openapi3.NewStringSchema()).
		WithProperty("after", texts())
	item.Properties["id"].Value.Description = "A name of the item, for after and for the result."
	item.Properties["operation"].Value.Description = "The operationId of the call, unless Operation names it " +
		"for all."
	item.Properties["ifMatch"].Value.Description = "The call is made only if the object has this entity tag."
	item.Properties["after"].Value.Description = "The ids of items that must have been done before."
	content := openapi3.Content{}
	for _, media := range op.Takes {
		list, example := openapi3.NewStringSchema(), any("UserName,Department\r\njdoe,Sales\r\n")
		switch media {
		case ops.MediaJSON:
			list = openapi3.NewObjectSchema().WithoutAdditionalProperties().WithProperty("items",
				openapi3.NewArraySchema().WithItems(item))
			list.Required = []string{"items"}
			example = map[string]any{"items": []any{exampleItem}}
		case ops.MediaNDJSON:
			example = string(exampleItem) + "\n"
			list.Description = "One item a line: an object like the items in application/json."
		default:
			list.Description = "The first row has the names of the parameters, and may have Id, Operation, After " +
				"and IfMatch; separated by commas, semicolons or tabs. An empty cell is not given, <clear> is an " +
				"empty text."
		}
		content[media] = openapi3.NewMediaType().WithSchema(list)
		content[media].Extensions = map[string]any{xExample: example}
	}
	return &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithContent(content).WithRequired(true)}
}

// formNames are the names of the schemas of lists that are not in an envelope, by media type.
var formNames = map[string]string{ops.MediaCSV: "ListAsCsv", ops.MediaNDJSON: "ListAsNdjson"}

// formDocs describe these schemas.
var formDocs = map[string]string{
	ops.MediaCSV: "A row with the names of the fields, and a row for each record. Null is an empty cell; lists and " +
		"objects are JSON. A cell that a spreadsheet would take for a formula gets a leading apostrophe.",
	ops.MediaNDJSON: "One record a line, as an object.",
}

// addForms adds the other forms of a list to an answer.
func addForms(b *builder, to *openapi3.Response, op *ops.Operation) {
	for _, media := range op.Forms() {
		if media == ops.MediaJSON {
			continue
		}
		list := b.define(formNames[media], func() *openapi3.Schema {
			return described(openapi3.NewStringSchema(), formDocs[media])
		})
		to.Content[media] = openapi3.NewMediaType().WithSchemaRef(list)
		for _, name := range []string{link, totalCount, warningCount, warnings} {
			to.Headers[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
		}
	}
}

// file describes an answer that is a file.
func file(op *ops.Operation) *openapi3.ResponseRef {
	r := answer("The file.", nil)
	r.Value.Content = openapi3.NewContentWithSchema(openapi3.NewStringSchema(), op.Answers)
	return r
}
