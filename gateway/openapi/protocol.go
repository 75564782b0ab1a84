package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// foreign describes the bodies and answers of a row for a third-party protocol.
func (b *builder) foreign(op *ops.Operation, o *spec.Operation) {
	p := op.Protocol
	o.Protocol = p.Name
	var input *spec.Schema
	var example any
	switch {
	case p.Input != nil:
		input, example = schemaOf(p.Input)
	case len(op.Params) > 0:
		object, values := spec.Open(), map[string]any{}
		for i := range op.Params {
			param := &op.Params[i]
			value := b.input(op, param)
			value.Description = about(op, param)
			value.Example, value.Examples = nil, nil
			object.With(param.Name, value)
			if param.Required {
				object.Required = append(object.Required, param.Name)
				values[param.Name] = param.Sample()
			}
		}
		input, example = object, values
	}
	if input != nil {
		content := spec.Of(input, p.Media)
		content[p.Media].Shown = example
		o.RequestBody = &spec.RequestBody{Content: content, Required: true}
	}
	o.Responses = b.foreignResponses(op)
}

// foreignResponses returns the answers of a row for a third-party protocol.
func (b *builder) foreignResponses(op *ops.Operation) map[string]*spec.Response {
	p, all := op.Protocol, map[string]*spec.Response{}
	done := answer("Done.", nil, headersOfSuccess(op, fmt.Sprint(p.Status))...)
	done.Content = nil
	if p.Output != nil {
		output, example := schemaOf(p.Output)
		done.Content = spec.Of(output, p.Media)
		done.Content[p.Media].Example = example
	}
	all[fmt.Sprint(p.Status)] = done
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
			refused.Content = spec.JSON(refusal)
			refused.Content["application/json"].Example = example
		}
		all[fmt.Sprint(status)] = refused
	}
	return all
}

// schemaOf returns the schema of an example, and the example as plain data. Members of objects are
// optional, and unknown ones are allowed.
func schemaOf(example any) (*spec.Schema, any) {
	text, _ := json.Marshal(example) // examples are plain data
	var value any
	_ = json.Unmarshal(text, &value)
	return inferred(value), value
}

func inferred(value any) *spec.Schema {
	switch value := value.(type) {
	case map[string]any:
		object := spec.Open()
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if value[name] != nil {
				object.With(name, inferred(value[name]))
			}
		}
		return object
	case []any:
		return spec.List(inferred(value[0]))
	case float64:
		return spec.Integer()
	default:
		return spec.Text()
	}
}
