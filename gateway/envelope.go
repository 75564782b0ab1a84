package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// encode returns JSON, as [call.JSON] does.
var encode = call.JSON

// streamAbove is the size up to which a result is held back until the script has
// succeeded.
const streamAbove = 8 << 20

// envelope collects the records of a run for the answer of a success.
type envelope struct {
	r           *request
	streamAbove int

	records   int
	warnings  []ps.Warning // about records, besides the script's
	result    bytes.Buffer // rendered records with commas; empty again once streaming
	streaming bool         // the caller has taken records
	err       error        // the first error of take; further records are dropped
	page      page
	tag       string // of the record

	batches []json.RawMessage // of a row that speaks a protocol of others, as they came
}

func newEnvelope(r *request, streamAbove int) *envelope {
	return &envelope{r: r, streamAbove: streamAbove}
}

var (
	errManyRecords = errors.New("the script emitted several records where one is declared")
	errNoRecord    = errors.New("the script emitted no record where one is declared")
)

// check reports whether the records of a successful run are those that the
// operation declares.
func (e *envelope) check() error {
	if e.err == nil && e.records == 0 && e.r.op.Reply.Mark != ops.List {
		return errNoRecord
	}
	return e.err
}

// take renders one batch of records behind those before. The runner calls it from its
// own goroutine.
func (e *envelope) take(batch json.RawMessage) error {
	if e.err != nil {
		return e.err
	}
	if e.r.op.Protocol != nil {
		return e.takeRaw(batch)
	}
	batch = e.r.gateway.removals.In(e.r.ctx, e.r.op.Reply.Shape, batch)
	if e.r.op.Reply.Shape.Variants != nil {
		return e.takeVariants(batch)
	}
	e.grow(len(batch) + 1) // the records are seldom longer than they came
	to := e.result.AvailableBuffer()
	if e.records > 0 {
		to = append(to, ',')
	}
	rendered, n, err := e.r.bound.Fields.Render(to, batch, e.style())
	if err == nil && n > 0 {
		err = e.add(rendered, n)
	}
	if !errors.Is(err, ps.ErrInvalidRecords) { // otherwise the run fails, and says so
		e.err = err
	}
	return err
}

// takeVariants renders records of several shapes, each as its own member says.
func (e *envelope) takeVariants(batch json.RawMessage) error {
	shape := e.r.op.Reply.Shape
	var records []map[string]json.RawMessage
	if json.Unmarshal(batch, &records) != nil {
		return ps.ErrInvalidRecords
	}
	for _, record := range records {
		own := shape
		if variant := shape.Variants[schema.TextIn(record, shape.VariantOf)]; variant != nil {
			own = variant
		}
		delete(record, shape.VariantOf)
		var to []byte
		if e.records > 0 {
			to = append(to, ',')
		}
		rendered, n, err := own.All().Render(to, encode([]any{record}), schema.Style{Classic: e.r.call.Classic, Warn: e.warn})
		if err == nil {
			err = e.add(rendered, n)
		}
		if e.err = err; err != nil {
			return err
		}
	}
	return nil
}

// style returns how the records are written.
func (e *envelope) style() schema.Style {
	style := schema.Style{Classic: e.r.call.Classic, Warn: e.warn}
	switch {
	case !e.r.guard.asked:
	case e.r.op.Reply.Mark == ops.List:
		style.Tags = true
	default:
		style.Tagged = func(tag string) { e.tag = tag }
	}
	return style
}

// replace drops the records taken so far and takes others. It must not be called
// once streaming has begun, which changes never do.
func (e *envelope) replace(records []json.RawMessage) {
	e.records, e.warnings, e.err, e.batches = 0, nil, nil, nil
	e.result.Reset()
	for _, record := range records {
		_ = e.take(slices.Concat(json.RawMessage("["), record, json.RawMessage("]"))) // see check
	}
}

// warn adds a warning about a record.
func (e *envelope) warn(w ps.Warning) {
	if len(e.warnings) < maxWarnings {
		e.warnings = append(e.warnings, w)
	}
}

// grow makes room for n bytes, without room for much more than is ever held back.
func (e *envelope) grow(n int) {
	if e.result.Available() >= n {
		return
	}
	size := min(2*e.result.Cap(), max(e.streamAbove, e.result.Len())) + n
	e.result = *bytes.NewBuffer(append(make([]byte, 0, size), e.result.Bytes()...))
}

// maxWarnings is the limit on warnings about records.
const maxWarnings = 1000

// add adds n rendered records, after a comma unless they are the first.
func (e *envelope) add(rendered []byte, n int) error {
	e.records += n
	if e.records > 1 && e.r.op.Reply.Mark != ops.List {
		return errManyRecords
	}
	e.result.Write(rendered)
	threshold := e.streamAbove
	if e.streaming {
		threshold = transport.Piece
	}
	if e.r.to == nil || e.result.Len() < threshold || e.r.op.Reply.Mark != ops.List || e.r.op.Effect.Writes() {
		return nil // the status of a change is not known before its end
	}
	return e.flush()
}

// flush passes on the records held.
func (e *envelope) flush() error {
	if !e.streaming {
		if err := e.r.gateway.recordIntent(e.r, nil); err != nil {
			return err
		}
		e.streaming = true
	}
	err := e.r.to.Take(e.result.Bytes())
	if e.result.Cap() > transport.StreamMemory {
		e.result = bytes.Buffer{} // release the memory of what was held back
	}
	e.result.Reset()
	return err
}

// answer returns the answer after a run that succeeded. If the caller has taken records, it has
// those that are left. It fails only then.
func (e *envelope) answer(result *ps.Result) (call.Answer, error) {
	answer := call.Answer{
		Output: e.sentence(result), Count: e.records, Effect: result.Effect, Server: result.Server, Next: e.page.next,
		Warnings: slices.Concat(result.Warnings, e.warnings, e.r.unread), Secret: e.r.bound.Generated,
	}
	if e.page.counted {
		answer.Total = &e.page.total
	}
	if e.streaming {
		return answer, e.flush()
	}
	answer.Records = e.result.Bytes()
	answer.Tag, answer.Same = e.tagged()
	return answer, nil
}

// sentence returns the sentence about a success.
func (e *envelope) sentence(result *ps.Result) string {
	text := e.r.op.Success
	switch {
	case text != "" && e.r.op.Unchanged != "" && result.Effect == ps.EffectNone:
		text = e.r.op.Unchanged
	case len(result.Failures) > 0 && e.r.op.Partly != "":
		text = e.r.op.Partly
	case text != "":
		text += e.r.bound.Without()
	case e.r.op.Reply.Mark == ops.List:
		text = "{records} found"
	case e.r.op.Reply.Mark == ops.Exists && string(schema.Member(e.result.Bytes(), "exists")) == "true":
		text = "The {subject} exists."
	case e.r.op.Reply.Mark == ops.Exists:
		text = "The {subject} does not exist."
	default:
		text = "The {subject} was found."
	}
	return e.r.op.Sentence(text, e.r.bound, e.records, result)
}
