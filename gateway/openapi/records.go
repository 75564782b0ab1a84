package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

func ref(name string) *openapi3.SchemaRef {
	return openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
}

// define stores a schema under a name, unless it is already defined, and returns a reference to it.
func (b *builder) define(name string, build func() *openapi3.Schema) *openapi3.SchemaRef {
	if b.schemas[name] == nil {
		b.schemas[name] = build().NewRef()
	}
	return ref(name)
}

// record returns the schema of a row's records, including the secret that the row may generate.
func (b *builder) record(op *ops.Operation) *openapi3.SchemaRef {
	shape, name, generated := op.Reply.Shape, op.Reply.Shape.Name, ""
	for i := range op.Params {
		if generated = op.Params[i].Generated; generated != "" {
			name += "With" + strings.ToUpper(generated[:1]) + generated[1:]
			break
		}
	}
	if shape.Variants != nil {
		return b.define(name, func() *openapi3.Schema { return b.variants(shape) })
	}
	return b.define(name, func() *openapi3.Schema {
		s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
		for i := range shape.Fields {
			f := &shape.Fields[i]
			s.WithProperty(f.Name, b.output(f))
			always := f.Type == schema.GUIDField || f.Type == schema.BoolField
			if f.Extra == nil && (!b.partial[shape] || b.Classic && always) {
				s.Required = append(s.Required, f.Name)
			}
		}
		if shape.Tag != nil {
			s.WithProperty(schema.TagMember, &openapi3.Schema{
				Type:        &openapi3.Types{"string"},
				Description: "The entity tag, with its quotes; in lists, with " + ops.WithETag + ".",
			})
		}
		if generated != "" {
			s.WithProperty(generated, &openapi3.Schema{
				Type: &openapi3.Types{"string"}, Format: "password",
				Description: "The one that the gateway made because none was given. It is shown this one time.",
			})
		}
		return s
	})
}

// variants returns the schema of records that have one of several shapes.
func (b *builder) variants(shape *schema.Shape) *openapi3.Schema {
	s := openapi3.NewOneOfSchema()
	for _, name := range slices.Sorted(maps.Keys(shape.Variants)) {
		of := shape.Variants[name]
		s.OneOf = append(s.OneOf, b.record(&ops.Operation{Reply: ops.Reply{Shape: of}}))
	}
	own := b.object(shape.Fields)
	s.OneOf = append(s.OneOf, own.NewRef())
	return s
}

// output returns the schema of a field.
func (b *builder) output(f *schema.Field) *openapi3.Schema {
	s := &openapi3.Schema{Type: &openapi3.Types{"string"}, Description: f.Doc}
	switch f.Type {
	case schema.BoolField:
		s.Type = &openapi3.Types{"boolean"}
	case schema.GUIDField:
		s.Format = "uuid"
	case schema.TimeField:
		s.Format = "date-time"
	case schema.CountryField:
		s.Pattern = "^[A-Z]{2}$"
		s.Description = "ISO 3166-1 alpha-2 code"
		if b.Classic {
			s.Pattern, s.Description = "", "English name of the country"
		}
	case schema.TextListField:
		s.Type = &openapi3.Types{"array"}
		s.Items = openapi3.NewStringSchema().NewRef()
	case schema.NumberField:
		s.Type = &openapi3.Types{"integer"}
	case schema.DecimalField:
		s.Type = &openapi3.Types{"number"}
	case schema.ObjectField:
		s = described(b.object(f.Of), f.Doc)
	case schema.ObjectListField:
		s.Type = &openapi3.Types{"array"}
		s.Items = b.object(f.Of).NewRef()
	case schema.ValueField:
		return described(&openapi3.Schema{Nullable: b.V30}, f.Doc) // in 3.1 a schema without a type allows null
	}
	for _, value := range b.words(f) {
		s.Enum = append(s.Enum, value)
	}
	if f.Null {
		if len(s.Enum) > 0 {
			s.Enum = append(s.Enum, nil) // otherwise null would not be an allowed value
		}
		b.nullable(s)
	}
	return s
}

// object returns the schema of an object in a record.
func (b *builder) object(fields []schema.Field) *openapi3.Schema {
	s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	for i := range fields {
		s.WithProperty(fields[i].Name, b.output(&fields[i]))
		if !fields[i].Optional {
			s.Required = append(s.Required, fields[i].Name)
		}
	}
	return s
}

// words returns the possible values of a field in the dialect, or nil for any.
func (b *builder) words(f *schema.Field) []string {
	if !b.Classic || f.Words == nil {
		return f.Enum
	}
	var words []string
	if f.Words.From == f.Name {
		for _, value := range f.Enum {
			words = append(words, cmp.Or(f.Words.Word[value], value))
		}
		return words
	}
	return slices.Sorted(maps.Values(f.Words.Word))
}

// nullable makes a schema also accept null.
func (b *builder) nullable(s *openapi3.Schema) {
	if b.V30 {
		s.Nullable = true
		return
	}
	*s.Type = append(*s.Type, "null")
}

// envelope returns the schema of a successful answer.
func (b *builder) envelope(op *ops.Operation) *openapi3.SchemaRef {
	record := b.record(op)
	name := strings.TrimPrefix(record.Ref, "#/components/schemas/")
	if op.Local && op.Reply.Mark == ops.List {
		return b.local(op, name, record)
	}
	if op.Reply.Mark == ops.List && op.Effect.Writes() {
		return b.define(name+"ListChange", func() *openapi3.Schema {
			s := b.envelopeOf(record, 0, -1)
			if b.Classic {
				b.nullable(s.Properties["result"].Value) // null in a dry run
			}
			s.Properties["plan"] = b.define("Plan", b.plan)
			return s
		})
	}
	if op.Reply.Mark == ops.List {
		if op.Param(ops.LimitName) != nil {
			return b.define(name+"Page", func() *openapi3.Schema { return b.page(record) })
		}
		return b.define(name+"List", func() *openapi3.Schema { return b.envelopeOf(record, 0, -1) })
	}
	if op.Effect.Writes() {
		return b.define(name+"Change", func() *openapi3.Schema {
			s := b.envelopeOf(record, 0, 1)
			if b.Classic {
				s.Properties["result"] = b.orNull(b.single(op, record))
			}
			s.Properties["plan"] = b.define("Plan", b.plan)
			return s
		})
	}
	return b.define(name+"Answer", func() *openapi3.Schema {
		s := b.envelopeOf(record, 1, 1)
		if b.Classic {
			s.Properties["result"] = b.single(op, record)
		}
		return s
	})
}

// events returns the answer that is a stream of events. The schema of a stream cannot describe the
// data of each event, so the data has a separate schema.
func (b *builder) events(op *ops.Operation) *openapi3.ResponseRef {
	b.record(op)
	name := op.Reply.Shape.Name
	r := answer("A stream of server-sent events (text/event-stream), which does not end by itself. The data "+
		"of each is a `"+name+"`, as JSON in one line; its id is for "+ops.LastEventHeader+
		". A comment comes each 15 seconds when there is nothing else.", nil)
	stream := openapi3.NewStringSchema()
	stream.Extensions = map[string]any{"x-event-data": "#/components/schemas/" + name}
	r.Value.Content = openapi3.NewContentWithSchema(stream, []string{"text/event-stream"})
	return r
}

// local returns the schema of a list that the gateway itself answers with, such as a page, or
// changes.
func (b *builder) local(op *ops.Operation, name string, record *openapi3.SchemaRef) *openapi3.SchemaRef {
	if op.Effect.Writes() {
		return b.define(name+"Undo", func() *openapi3.Schema {
			s := b.envelopeOf(record, 0, -1)
			s.Properties["plan"] = b.define("Plan", b.plan)
			return s
		})
	}
	return b.define(name+"Page", func() *openapi3.Schema {
		s := b.envelopeOf(record, 0, -1)
		s.WithProperty("next", described(openapi3.NewStringSchema(), nextDoc))
		return s
	})
}

// orNull returns a schema that also allows null.
func (b *builder) orNull(s *openapi3.SchemaRef) *openapi3.SchemaRef {
	if b.V30 {
		return (&openapi3.Schema{AllOf: openapi3.SchemaRefs{s}, Nullable: true}).NewRef()
	}
	return (&openapi3.Schema{AnyOf: openapi3.SchemaRefs{s,
		(&openapi3.Schema{Type: &openapi3.Types{"null"}}).NewRef()}}).NewRef()
}

// plan returns the schema of the plan in the answer to a dry run.
func (b *builder) plan() *openapi3.Schema {
	return described(b.object(schema.Plan.Fields), "What a dry run would have done")
}

// single returns the schema of a single result in the classic dialect, if the row has one.
func (b *builder) single(op *ops.Operation, record *openapi3.SchemaRef) *openapi3.SchemaRef {
	switch op.Reply.Mark {
	case ops.Exists:
		return openapi3.NewBoolSchema().NewRef()
	case ops.Moment:
		s := openapi3.NewDateTimeSchema()
		b.nullable(s)
		return s.NewRef()
	default:
		return record
	}
}

// envelopeOf returns an envelope of min to max records. A negative max means no limit.
func (b *builder) envelopeOf(record *openapi3.SchemaRef, min, max int64) *openapi3.Schema {
	result := openapi3.NewArraySchema()
	result.Items = record
	if min > 0 {
		result.WithMinItems(min)
	}
	if max >= 0 {
		result.WithMaxItems(max)
	}
	s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	s.WithProperty("output", described(openapi3.NewStringSchema(), "What happened, for people"))
	s.WithProperty("result", result)
	warnings := openapi3.NewArraySchema()
	warnings.Items = b.define("Warning", func() *openapi3.Schema {
		return texts("code", "target", "message")
	})
	s.WithProperty("warnings", described(warnings, "What was left out or skipped"))
	s.Required = []string{"output", "result"}
	return s
}

const nextDoc = "After for the next page; absent if nothing follows"

// page returns the envelope of a list that can be read in pages.
func (b *builder) page(record *openapi3.SchemaRef) *openapi3.Schema {
	s := b.envelopeOf(record, 0, -1)
	s.WithProperty("next", described(openapi3.NewStringSchema(), nextDoc))
	s.WithProperty("total", described(openapi3.NewIntegerSchema(), "How many there are in all; only with Count"))
	return s
}

// texts returns an object of required strings.
func texts(names ...string) *openapi3.Schema {
	s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	for _, name := range names {
		s.WithProperty(name, openapi3.NewStringSchema())
	}
	s.Required = names
	return s
}

func described(s *openapi3.Schema, text string) *openapi3.Schema {
	s.Description = text
	return s
}

// failure returns an envelope with an error. It has no results if record is nil.
func (b *builder) failure(record *openapi3.SchemaRef) *openapi3.SchemaRef {
	maxRecords := int64(-1)
	if record == nil {
		record, maxRecords = openapi3.NewObjectSchema().NewRef(), 0
	}
	s := b.envelopeOf(record, 0, maxRecords)
	s.Properties["error"] = b.define("ErrorBody", errorBody)
	s.Required = append(s.Required, "error")
	return s.NewRef()
}

func errorBody() *openapi3.Schema {
	code := openapi3.NewStringSchema()
	for _, c := range schema.Codes() {
		code.Enum = append(code.Enum, string(c))
	}
	outcome := described(openapi3.NewStringSchema(), "Of a changing call: what it left behind")
	for _, o := range []ps.Outcome{ps.OutcomeNone, ps.OutcomePartial, ps.OutcomeDone, ps.OutcomeUnknown} {
		outcome.Enum = append(outcome.Enum, string(o))
	}
	details := described(openapi3.NewArraySchema(), "Every problem of the request, or what remains of a change")
	details.Items = texts("field", "message").NewRef()
	s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	s.WithProperty("code", described(code, "For programs"))
	s.WithProperty("message", openapi3.NewStringSchema())
	s.WithProperty("outcome", outcome)
	s.WithProperty("directoryCode",
		described(openapi3.NewStringSchema(),
			"The directory's or DNS server's own code, such as AD:8305 or WIN32 9711"))
	s.WithProperty("details", details)
	s.WithProperty("requestId", openapi3.NewStringSchema())
	s.Required = []string{"code", "message", "details", "requestId"}
	return s
}

// partialEnvelope returns the answer for a change of only some of the objects.
func (b *builder) partialEnvelope(op *ops.Operation) *openapi3.SchemaRef {
	record := b.record(op)
	return b.define(op.Reply.Shape.Name+"Partial", func() *openapi3.Schema { return b.failure(record).Value })
}
