package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	// Piece is the size of the pieces in which a long answer is sent, in bytes.
	Piece = 64 << 10
	// StreamMemory is the part of a streamed list that is kept in memory, in bytes.
	StreamMemory = 1 << 20
)

// Collecting configures how the records of a run are collected.
type Collecting struct {
	To    Sink // sink of a long list; nil to hold everything in memory
	Above int  // size in bytes from which To takes the records while the script runs
	// Begun is called before To takes the first records. If it returns an error, the run ends.
	Begun func() error
	// Amend adds to a batch of records what only the gateway knows. It may be nil.
	Amend func(batch json.RawMessage) json.RawMessage
}

// A Collector collects the records of a run for the answer. Only one goroutine uses it at a time.
type Collector struct {
	Collecting
	call Accepted

	records   int
	warnings  []ps.Warning // about records, in addition to the script's warnings
	rendered  bytes.Buffer // records separated by commas; emptied once streaming begins
	streaming bool         // To has taken records
	err       error        // the first error of Take; further records are dropped
	page      page
	tag       string // entity tag of the record

	batches []json.RawMessage // records of a row for another protocol, unchanged
}

// newCollector returns a collector of the records of a call.
func newCollector(a Accepted, c Collecting) *Collector { return &Collector{Collecting: c, call: a} }

var (
	errManyRecords = errors.New("the script emitted several records where one is declared")
	errNoRecord    = errors.New("the script emitted no record where one is declared")
)

// Tag returns the entity tag of the record, or "" if there is none.
func (c *Collector) Tag() string { return c.tag }

// Finish determines where the next page begins. It fails if the records do not match the row's declaration.
// Even then, a change may have been made, see [Collector.WasMade].
func (c *Collector) Finish(result *ps.Result) error {
	if c.err != nil {
		return c.err
	}
	if c.records == 0 && c.call.Op.Reply.Mark != ops.List {
		return errNoRecord
	}
	var err error
	c.page, err = pageOf(c.call.Principal, c.call.Bound, result, c.records)
	return err
}

// Take renders a batch of records. The runner calls it from its own goroutine.
func (c *Collector) Take(batch json.RawMessage) error {
	if c.err != nil {
		return c.err
	}
	if c.call.Op.Protocol != nil {
		return c.takeRaw(batch)
	}
	if c.Amend != nil {
		batch = c.Amend(batch)
	}
	if c.call.Op.Reply.Shape.Variants != nil {
		return c.takeVariants(batch)
	}
	c.grow(len(batch) + 1) // rendered records are rarely longer
	to := c.rendered.AvailableBuffer()
	if c.records > 0 {
		to = append(to, ',')
	}
	rendered, n, err := c.call.Fields.Render(to, batch, c.style())
	if err == nil && n > 0 {
		err = c.add(rendered, n)
	}
	if !errors.Is(err, ps.ErrInvalidRecords) { // otherwise the run fails with its own error
		c.err = err
	}
	return err
}

// takeVariants renders records of several shapes. A member of each record names its shape.
func (c *Collector) takeVariants(batch json.RawMessage) error {
	shape := c.call.Op.Reply.Shape
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
		if c.records > 0 {
			to = append(to, ',')
		}
		style, fields := schema.Style{Classic: c.call.Classic, Warn: c.warn}, own.All()
		if !c.call.Reads() {
			fields = fields.Keys()
		}
		rendered, n, err := fields.Render(to, schema.JSON([]any{record}), style)
		if err == nil {
			err = c.add(rendered, n)
		}
		if c.err = err; err != nil {
			return err
		}
	}
	return nil
}

// takeRaw keeps the records of a row for another protocol unchanged.
func (c *Collector) takeRaw(batch json.RawMessage) error {
	if !json.Valid(batch) || len(batch) == 0 || batch[0] != '[' {
		return ps.ErrInvalidRecords
	}
	c.batches = append(c.batches, batch)
	return nil
}

// style returns how the records are written.
func (c *Collector) style() schema.Style {
	style := schema.Style{Classic: c.call.Classic, Warn: c.warn}
	switch {
	case !c.call.Tagged:
	case c.call.Op.Reply.Mark == ops.List:
		style.Tags = true
	default:
		style.Tagged = func(tag string) { c.tag = tag }
	}
	return style
}

// Replace replaces the records taken so far. It must not be called once To has taken records, which
// never happens with changes.
func (c *Collector) Replace(records []json.RawMessage) {
	c.records, c.warnings, c.err, c.batches = 0, nil, nil, nil
	c.rendered.Reset()
	for _, record := range records {
		_ = c.Take(slices.Concat(json.RawMessage("["), record, json.RawMessage("]"))) // see Finish
	}
}

// warn adds a warning about a record.
func (c *Collector) warn(w ps.Warning) {
	if len(c.warnings) < maxWarnings {
		c.warnings = append(c.warnings, w)
	}
}

// grow makes room for n more bytes, but only for slightly more than is ever held in memory.
func (c *Collector) grow(n int) {
	if c.rendered.Available() >= n {
		return
	}
	size := min(2*c.rendered.Cap(), max(c.Above, c.rendered.Len())) + n
	c.rendered = *bytes.NewBuffer(append(make([]byte, 0, size), c.rendered.Bytes()...))
}

// maxWarnings is the limit on warnings about records.
const maxWarnings = 1000

// add adds n rendered records, after a comma unless they are the first.
func (c *Collector) add(rendered []byte, n int) error {
	op := c.call.Op
	c.records += n
	if c.records > 1 && op.Reply.Mark != ops.List {
		return errManyRecords
	}
	c.rendered.Write(rendered)
	threshold := c.Above
	if c.streaming {
		threshold = Piece
	}
	if c.To == nil || c.rendered.Len() < threshold || op.Reply.Mark != ops.List || op.Effect.Writes() {
		return nil // the status of a change is unknown until it has ended
	}
	return c.flush()
}

// flush passes on the records held.
func (c *Collector) flush() error {
	if !c.streaming {
		if c.Begun != nil {
			if err := c.Begun(); err != nil {
				return err
			}
		}
		c.streaming = true
	}
	err := c.To.Take(c.call.Columns(), c.rendered.Bytes())
	if c.rendered.Cap() > StreamMemory {
		c.rendered = bytes.Buffer{} // release the memory
	}
	c.rendered.Reset()
	return err
}

// answer returns the answer after a successful run. If To has already taken records, it also gets the
// remaining ones. Only in this case can answer fail.
func (c *Collector) answer(result *ps.Result) (Answer, error) {
	answer := Answer{
		Output: c.sentence(result), Count: c.records, Effect: result.Effect, Server: result.Server,
		Page:     Page{Columns: c.call.Columns(), Next: c.page.next, Total: c.page.total},
		Warnings: slices.Concat(result.Warnings, c.warnings, c.call.Unread), Secret: c.call.Bound.Generated,
	}
	if c.streaming {
		return answer, c.flush()
	}
	answer.Records = c.rendered.Bytes()
	if a := &c.call; c.tag != "" && a.Op.Reply.Mark == ops.Single && a.Tagged {
		answer.Tag = c.tag
		answer.Same = a.Conditions.None != nil && a.Conditions.None.Same(c.tag) && !a.Op.Effect.Writes()
	}
	return answer, nil
}

// sentence returns the sentence that describes a success.
func (c *Collector) sentence(result *ps.Result) string {
	op, b := c.call.Op, c.call.Bound
	text := op.Success
	switch {
	case result.Effect == ps.EffectNone && b.Bare():
		text = "No values were given for the {subject}; nothing was changed."
	case text != "" && op.Unchanged != "" && result.Effect == ps.EffectNone:
		text = op.Unchanged
	case len(result.Failures) > 0 && op.Partly != "":
		text = op.Partly
	case text != "":
		text += b.Without()
	case op.Reply.Mark == ops.List:
		text = "{records} found"
	case op.Reply.Mark == ops.Exists && string(schema.Member(c.rendered.Bytes(), "exists")) == "true":
		text = "The {subject} exists."
	case op.Reply.Mark == ops.Exists:
		text = "The {subject} does not exist."
	default:
		text = "The {subject} was found."
	}
	return op.Sentence(text, b, c.records, result)
}
