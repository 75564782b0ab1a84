package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/openapi/spec"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

func ref(name string) *spec.Schema {
	return &spec.Schema{Ref: "#/components/schemas/" + name}
}

// define stores a schema under a name, unless it is already defined, and returns a reference to it.
func (b *builder) define(name string, build func() *spec.Schema) *spec.Schema {
	if b.schemas[name] == nil {
		b.schemas[name] = build()
	}
	return ref(name)
}

// record returns the schema of a row's records, including the secret that the row may generate.
func (b *builder) record(op *ops.Operation) *spec.Schema {
	shape, name, generated := op.Reply.Shape, op.Reply.Shape.Name, ""
	for i := range op.Params {
		if generated = op.Params[i].Generated; generated != "" {
			name += "With" + strings.ToUpper(generated[:1]) + generated[1:]
			break
		}
	}
	if shape.Variants != nil {
		return b.define(name, func() *spec.Schema { return b.variants(shape) })
	}
	return b.define(name, func() *spec.Schema {
		s := spec.Closed()
		for i := range shape.Fields {
			f := &shape.Fields[i]
			s.With(f.Name, b.output(f))
			always := f.Type == schema.GUIDField || f.Type == schema.BoolField
			if f.Extra == nil && (!b.partial[shape] || b.Classic && always) {
				s.Required = append(s.Required, f.Name)
			}
		}
		if shape.Tag != nil {
			s.With(schema.TagMember, &spec.Schema{
				Type:        spec.Types{"string"},
				Description: "Entity tag of the record, including the quotes. In lists, only with " + ops.WithETag + ".",
			})
		}
		if generated != "" {
			s.With(generated, &spec.Schema{
				Type: spec.Types{"string"}, Format: "password",
				Description: "Value that the gateway generated because the request contained none. It is shown only " +
					"once.",
			})
		}
		return s
	})
}

// variants returns the schema of records that have one of several shapes.
func (b *builder) variants(shape *schema.Shape) *spec.Schema {
	s := &spec.Schema{}
	for _, name := range slices.Sorted(maps.Keys(shape.Variants)) {
		of := shape.Variants[name]
		s.OneOf = append(s.OneOf, b.record(&ops.Operation{Reply: ops.Reply{Shape: of}}))
	}
	own := b.object(shape.Fields)
	s.OneOf = append(s.OneOf, own)
	return s
}

// output returns the schema of a field.
func (b *builder) output(f *schema.Field) *spec.Schema {
	s := &spec.Schema{Type: spec.Types{"string"}, Description: f.Doc}
	switch f.Type {
	case schema.BoolField:
		s.Type = spec.Types{"boolean"}
	case schema.GUIDField:
		s.Format = "uuid"
	case schema.TimeField:
		s.Format = "date-time"
	case schema.CountryField:
		s.Pattern = "^[A-Z]{2}$"
		s.Description = "ISO 3166-1 alpha-2 code of the country."
		if b.Classic {
			s.Pattern, s.Description = "", "English name of the country."
		}
	case schema.TextListField:
		s.Type = spec.Types{"array"}
		s.Items = spec.Text()
	case schema.NumberField:
		s.Type = spec.Types{"integer"}
	case schema.DecimalField:
		s.Type = spec.Types{"number"}
	case schema.ObjectField:
		s = described(b.object(f.Of), f.Doc)
	case schema.ObjectListField:
		s.Type = spec.Types{"array"}
		s.Items = b.object(f.Of)
	case schema.ValueField:
		return described(&spec.Schema{Nullable: b.V30}, f.Doc) // in 3.1 a schema without a type allows null
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
func (b *builder) object(fields []schema.Field) *spec.Schema {
	s := spec.Closed()
	for i := range fields {
		s.With(fields[i].Name, b.output(&fields[i]))
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
func (b *builder) nullable(s *spec.Schema) {
	if b.V30 {
		s.Nullable = true
		return
	}
	s.Type = append(s.Type, "null")
}

// envelope returns the schema of a successful answer.
func (b *builder) envelope(op *ops.Operation) *spec.Schema {
	record := b.record(op)
	name := strings.TrimPrefix(record.Ref, "#/components/schemas/")
	if op.Local && op.Reply.Mark == ops.List {
		return b.local(op, name, record)
	}
	if op.Reply.Mark == ops.List && op.Effect.Writes() {
		return b.define(name+"ListChange", func() *spec.Schema {
			s := b.envelopeOf(record, 0, -1)
			if b.Classic {
				b.nullable(s.Properties["result"]) // null in a dry run
			}
			s.Properties["plan"] = b.define("Plan", b.plan)
			return s
		})
	}
	if op.Reply.Mark == ops.List {
		if op.Param(ops.LimitName) != nil {
			return b.define(name+"Page", func() *spec.Schema { return b.page(record) })
		}
		return b.define(name+"List", func() *spec.Schema { return b.envelopeOf(record, 0, -1) })
	}
	if op.Effect.Writes() {
		return b.define(name+"Change", func() *spec.Schema {
			s := b.envelopeOf(record, 0, 1)
			if b.Classic {
				s.Properties["result"] = b.orNull(b.single(op, record))
			}
			s.Properties["plan"] = b.define("Plan", b.plan)
			return s
		})
	}
	return b.define(name+"Answer", func() *spec.Schema {
		s := b.envelopeOf(record, 1, 1)
		if b.Classic {
			s.Properties["result"] = b.single(op, record)
		}
		return s
	})
}

// events returns the answer that is a stream of events. The schema of a stream cannot describe the
// data of each event, so the data has a separate schema.
func (b *builder) events(op *ops.Operation) *spec.Response {
	b.record(op)
	name := op.Reply.Shape.Name
	r := answer("Stream of server-sent events (text/event-stream), which stays open. The data of each event "+
		"is a `"+name+"` as JSON in one line; the event ID is for "+ops.LastEventHeader+
		". If there are no events, the gateway sends a comment every 15 seconds.", nil)
	stream := spec.Text()
	stream.EventData = "#/components/schemas/" + name
	r.Content = spec.Of(stream, "text/event-stream")
	return r
}

// local returns the schema of a list that the gateway itself answers with, such as a page, or
// changes.
func (b *builder) local(op *ops.Operation, name string, record *spec.Schema) *spec.Schema {
	if op.Effect.Writes() {
		return b.define(name+"Undo", func() *spec.Schema {
			s := b.envelopeOf(record, 0, -1)
			s.Properties["plan"] = b.define("Plan", b.plan)
			return s
		})
	}
	return b.define(name+"Page", func() *spec.Schema {
		s := b.envelopeOf(record, 0, -1)
		s.With("next", described(spec.Text(), nextDoc))
		return s
	})
}

// orNull returns a schema that also allows null.
func (b *builder) orNull(s *spec.Schema) *spec.Schema {
	if b.V30 {
		return (&spec.Schema{AllOf: []*spec.Schema{s}, Nullable: true})
	}
	return (&spec.Schema{AnyOf: []*spec.Schema{s,
		(&spec.Schema{Type: spec.Types{"null"}})}})
}

// plan returns the schema of the plan in the answer to a dry run.
func (b *builder) plan() *spec.Schema {
	return described(b.object(schema.Plan.Fields), "Plan of the change, which a dry run returns instead of "+
		"making the change.")
}

// single returns the schema of a single result in the classic dialect, if the row has one.
func (b *builder) single(op *ops.Operation, record *spec.Schema) *spec.Schema {
	switch op.Reply.Mark {
	case ops.Exists:
		return spec.Bool()
	case ops.Moment:
		s := spec.Text()
		s.Format = "date-time"
		b.nullable(s)
		return s
	default:
		return record
	}
}

// envelopeOf returns an envelope of min to max records. A negative max means no limit.
func (b *builder) envelopeOf(record *spec.Schema, min, max int64) *spec.Schema {
	result := spec.List(record)
	result.MinItems = min
	if max >= 0 {
		result.MaxItems = &max
	}
	s := spec.Closed()
	s.With("output", described(spec.Text(), "Sentence for people that describes the outcome."))
	s.With("result", result)
	warnings := spec.List(b.define("Warning", func() *spec.Schema {
		return texts("code", "target", "message")
	}))
	s.With("warnings", described(warnings, "Warnings about what was left out or skipped."))
	s.Required = []string{"output", "result"}
	return s
}

const nextDoc = "Cursor of the next page, for the parameter After; absent on the last page."

// page returns the envelope of a list that can be read in pages.
func (b *builder) page(record *spec.Schema) *spec.Schema {
	s := b.envelopeOf(record, 0, -1)
	s.With("next", described(spec.Text(), nextDoc))
	s.With("total", described(spec.Integer(), "Total number of records; only with Count."))
	return s
}

// texts returns an object of required strings.
func texts(names ...string) *spec.Schema {
	s := spec.Closed()
	for _, name := range names {
		s.With(name, spec.Text())
	}
	s.Required = names
	return s
}

func described(s *spec.Schema, text string) *spec.Schema {
	s.Description = text
	return s
}

// failure returns an envelope with an error. It has no results if record is nil.
func (b *builder) failure(record *spec.Schema) *spec.Schema {
	maxRecords := int64(-1)
	if record == nil {
		record, maxRecords = spec.Open(), 0
	}
	s := b.envelopeOf(record, 0, maxRecords)
	s.Properties["error"] = b.define("ErrorBody", errorBody)
	s.Required = append(s.Required, "error")
	return s
}

func errorBody() *spec.Schema {
	code := spec.Text()
	for _, c := range schema.Codes() {
		code.Enum = append(code.Enum, string(c))
	}
	outcome := described(spec.Text(), "Outcome of a call that makes changes.")
	for _, o := range []ps.Outcome{ps.OutcomeNone, ps.OutcomePartial, ps.OutcomeDone, ps.OutcomeUnknown} {
		outcome.Enum = append(outcome.Enum, string(o))
	}
	details := described(spec.List(texts("field", "message")),
		"All problems of the request, or the parts of a change that were made or remain.")
	s := spec.Closed()
	s.With("code", described(code, "Error code for programs."))
	s.With("message", described(spec.Text(), "Sentence for people that describes the error."))
	s.With("outcome", outcome)
	s.With("directoryCode",
		described(spec.Text(),
			"Original code of the directory or DNS server, such as AD:8305 or WIN32 9711."))
	s.With("details", details)
	s.With("requestId", described(spec.Text(), "ID of the request, as in X-Request-Id."))
	s.Required = []string{"code", "message", "details", "requestId"}
	return s
}

// partialEnvelope returns the answer for a change of only some of the objects.
func (b *builder) partialEnvelope(op *ops.Operation) *spec.Schema {
	record := b.record(op)
	return b.define(op.Reply.Shape.Name+"Partial", func() *spec.Schema { return b.failure(record) })
}
