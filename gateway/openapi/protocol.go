package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// foreign describes the bodies and answers of a row for a third-party protocol.
func (b *builder) foreign(op *ops.Operation, o *openapi3.Operation) {
	p := op.Protocol
	o.Extensions["x-protocol"] = p.Name
	var input *openapi3.Schema
	var example any
	switch {
	case p.Input != nil:
		input, example = schemaOf(p.Input)
	case len(op.Params) > 0:
		object, values := openapi3.NewObjectSchema(), map[string]any{}
		for i := range op.Params {
			param := &op.Params[i]
			value := b.input(op, param)
			value.Description = about(op, param)
			value.Example, value.Examples = nil, nil
			object.WithProperty(param.Name, value)
			if param.Required {
				object.Required = append(object.Required, param.Name)
				values[param.Name] = param.Sample()
			}
		}
		input, example = object, values
	}
	if input != nil {
		content := openapi3.NewContentWithSchema(input, []string{p.Media})
		content[p.Media].Extensions = map[string]any{xExample: example}
		o.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithContent(content).WithRequired(
			true)}
	}
	o.Responses = b.foreignResponses(op)
}

// foreignResponses returns the answers of a row for a third-party protocol.
func (b *builder) foreignResponses(op *ops.Operation) *openapi3.Responses {
	p, all := op.Protocol, openapi3.NewResponsesWithCapacity(16)
	done := answer("Done.", nil, headersOfSuccess(op, fmt.Sprint(p.Status))...)
	done.Value.Content = nil
	if p.Output != nil {
		output, example := schemaOf(p.Output)
		done.Value.Content = openapi3.NewContentWithSchema(output, []string{p.Media})
		done.Value.Content[p.Media].Example = example
	}
	all.Set(fmt.Sprint(p.Status), done)
	lines, bodies, waits := map[int][]string{}, map[int]any{}, map[int]bool{}
	for _, code := range append(codes(op), schema.NotAcceptable) {
		status := code.Status()
		if p.Refusal != nil {
			var form any
			status, form = p.Refusal(code, "")
			bodies[status] = form
		}
		waits[status] = waits[status] || code.Waits()
		lines[status] = append(lines[status], fmt.Sprintf("`%s`: %s", code, code.Doc()))
	}
	for _, status := range slices.Sorted(maps.Keys(lines)) {
		refused := answer(strings.Join(lines[status], "\n\n"), ref("Error"), headersOf(status, waits[status])...)
		if form := bodies[status]; form != nil {
			refusal, example := schemaOf(form)
			refused.Value.Content = openapi3.NewContentWithJSONSchema(refusal)
			refused.Value.Content["application/json"].Example = example
		}
		all.Set(fmt.Sprint(status), refused)
	}
	return all
}

// schemaOf returns the schema of an example, and the example as plain data. Members of objects are
// optional, and unknown ones are allowed.
func schemaOf(example any) (*openapi3.Schema, any) {
	text, _ := json.Marshal(example) // examples are plain data
	var value any
	_ = json.Unmarshal(text, &value)
	return inferred(value), value
}

func inferred(value any) *openapi3.Schema {
	switch value := value.(type) {
	case map[string]any:
		object := openapi3.NewObjectSchema()
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if value[name] != nil {
				object.WithProperty(name, inferred(value[name]))
			}
		}
		return object
	case []any:
		list := openapi3.NewArraySchema()
		list.Items = inferred(value[0]).NewRef()
		return list
	case float64:
		return openapi3.NewIntegerSchema()
	default:
		return openapi3.NewStringSchema()
	}
}
