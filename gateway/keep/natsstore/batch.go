package natsstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/keep"
)

// batch is what is sent as one decision.
type batch struct {
	store    *Store
	token    token
	writes   []*write
	parts    []part
	ends     map[keep.Log]*end
	touched  map[string]bool // keys of values
	messages []*nats.Msg
	last     []int // index of the last message of each call; -1: it has none
}

// part is a message with the sequence that its subject must have.
type part struct {
	message
	expect uint64
	ttl    time.Duration
}

// msg returns the message as it is sent to the stream of a store.
func (p *part) msg(store string) *nats.Msg {
	m := nats.NewMsg(p.subject(prefixOf(store)))
	m.Data = p.encode()
	m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(p.expect, 10))
	if p.ttl > 0 {
		m.Header.Set(jetstream.MsgTTLHeader, fmt.Sprintf("%ds", int64(p.ttl/time.Second)))
	}
	return m
}

// errLater means that a call cannot share the batch.
var errLater = errors.New("the call is for the next batch")

// compose makes a batch of as many calls as it can, answers those that conflict, and
// returns the others. With strict, what the mirror does not have is looked up.
func (s *Store) compose(all []*write, strict bool) (b *batch, rest []*write, err error) {
	b = &batch{store: s, token: newToken(), ends: map[keep.Log]*end{}, touched: map[string]bool{}}
	caught := strict && s.catchUp(s.ctx) == nil
	for i, w := range all {
		if revision := s.sawAny(w); revision > 0 {
			s.end(w, revision, nil)
			continue
		}
		err := b.add(w, strict)
		if errors.Is(err, keep.ErrConflict) && !caught {
			if err = s.catchUp(s.ctx); err == nil {
				caught = true
				if revision := s.sawAny(w); revision > 0 {
					s.end(w, revision, nil)
					continue
				}
				err = b.add(w, strict)
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, errLater):
			rest = append(rest, w)
		case errors.Is(err, keep.ErrUnreachable):
			return b, append(append(b.writes, rest...), all[i:]...), err
		default:
			s.end(w, 0, w.failure(err)) // what is in doubt may conflict with itself
		}
	}
	if len(b.writes) == 0 {
		return b, rest, nil
	}
	if !s.knowsAll(b) {
		return &batch{}, append(b.writes, rest...), nil
	}
	b.finish()
	return b, rest, nil
}

// knowsAll reports whether the calls of a batch that are in doubt were certainly not made: else
// they are composed anew. The mirror shows what was made a moment before that is known, so
// that all up to what the batch expects must be known.
func (s *Store) knowsAll(b *batch) bool {
	if !slices.ContainsFunc(b.writes, func(w *write) bool { return w.doubt != nil }) {
		return true
	}
	expected := uint64(0)
	for i := range b.parts {
		expected = max(expected, b.parts[i].expect)
	}
	for _, e := range b.ends {
		expected = max(expected, e.sequence)
	}
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	return s.reached(ctx, expected) == nil && !slices.ContainsFunc(b.writes, func(w *write) bool { return s.sawAny(w) > 0 })
}

// sawAny returns the revision of a call that was made by a batch of which the answer was
// lost; 0 if none is known of.
func (s *Store) sawAny(w *write) keep.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range w.sent {
		if revision := s.seen[one.token]; revision > 0 {
			return revision - keep.Revision(one.after)
		}
	}
	return 0
}

// add adds a call, all of it or nothing.
func (b *batch) add(w *write, strict bool) error {
	var parts []part
	expects := map[string]uint64{}
	ends := map[keep.Log]end{}
	logs := len(b.ends)
	for i := range w.changes {
		c := &w.changes[i]
		if c.Log == "" {
			name := hashed(string(c.Kind), c.Key)
			if b.touched[name] {
				return errLater
			}
			p, err := b.value(c, strict)
			if err != nil {
				return err
			}
			if w.doubt != nil && p.expect != w.expects[name] { // it may have been made, and removed since
				return fmt.Errorf("%w: %s %q", keep.ErrConflict, c.Kind, c.Key)
			}
			parts, expects[name] = append(parts, p), p.expect
			continue
		}
		e, known := ends[c.Log]
		if !known {
			var err error
			if e, err = b.end(c.Log, strict); err != nil {
				return err
			}
			if b.ends[c.Log] == nil {
				logs++
			}
		}
		if c.Value == nil {
			e.cut = max(e.cut, min(c.Through, e.last))
		} else {
			parts = append(parts, b.entry(c, &e))
		}
		ends[c.Log] = e
	}
	if len(b.parts)+len(parts)+logs > mostMessages {
		return errLater
	}
	for log, e := range ends {
		b.ends[log] = &e
	}
	for name := range expects {
		b.touched[name] = true
	}
	w.expects = expects
	for i := range parts {
		parts[i].Own = uint16(len(parts) - 1 - i)
	}
	b.parts = append(b.parts, parts...)
	b.writes = append(b.writes, w)
	b.last = append(b.last, len(b.parts)-1)
	return nil
}

// value returns the message of a change of a value, or [keep.ErrConflict] if it is not the
// expected one as far as the mirror knows.
func (b *batch) value(c *keep.Change, strict bool) (p part, err error) {
	now := b.store.o.Now()
	p.message = message{What: isValue, Name: string(c.Kind), Key: c.Key, Expires: nanoseconds(c.Expires), Value: c.Value}
	switch {
	case c.Value == nil:
		p.What, p.Value = isRemoved, []byte{}
		p.Expires, p.ttl = nanoseconds(now.Add(removalsKept)), removalsKept+slack
	case !c.Expires.IsZero():
		p.ttl = max(0, c.Expires.Sub(now)) + slack
	}
	found, err := b.store.copy(c.Kind, c.Key)
	present := err == nil && found.valid(now)
	switch {
	case err != nil && !errors.Is(err, keep.ErrAbsent):
		return p, err
	case present != (c.Expect != keep.Absent), present && found.Revision != c.Expect:
		return p, fmt.Errorf("%w: %s %q", keep.ErrConflict, c.Kind, c.Key)
	case err == nil:
		p.expect = found.sequence()
	}
	if strict && !present {
		if p.expect, err = b.store.lookUp(p.subject(prefixOf(b.store.o.Name))); err != nil {
			return p, err
		}
	}
	return p, nil
}

// valid reports whether a value is there for a reader.
func (c *copied) valid(now time.Time) bool {
	return c.what != isRemoved && (c.Expires.IsZero() || now.Before(c.Expires))
}

// copy returns a value of the mirror, also one that has expired.
func (s *Store) copy(kind keep.Kind, key string) (copied, error) {
	e, err := s.mirror.Raw(kind, key)
	if err != nil {
		return copied{}, err
	}
	return unmirror(e)
}

// lookUp returns the sequence of the last message of a subject, of a value that has expired
// or was removed. It fails with [keep.ErrConflict] if the value is there.
func (s *Store) lookUp(subject string) (uint64, error) {
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	stream := s.followed()
	if stream == nil {
		return 0, keep.ErrUnreachable
	}
	last, err := stream.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, nil
	case err != nil:
		return 0, unreachable(err)
	}
	m, foreign := decodeMessage(last.Data)
	if foreign == nil && m.What == isValue && (m.Expires == 0 || s.o.Now().Before(m.expires())) {
		err = fmt.Errorf("%w: %s %q", keep.ErrConflict, m.Name, m.Key)
	}
	return last.Sequence, err
}

// end returns where a log ends, with what the batch has appended.
func (b *batch) end(log keep.Log, strict bool) (e end, err error) {
	if known := b.ends[log]; known != nil {
		return *known, nil
	}
	found, err := b.store.copy(endKind, string(log))
	switch {
	case errors.Is(err, keep.ErrAbsent):
		if strict {
			m := message{What: isEnd, Name: string(log)}
			if e.sequence, err = b.store.lookUp(m.subject(prefixOf(b.store.o.Name))); err != nil {
				return e, err
			}
		}
		return e, nil
	case err != nil:
		return e, err
	}
	return readEnd(found)
}

// entry returns the message of an entry, and appends it to a log. The engine must not
// remove it before those that precede it.
func (b *batch) entry(c *keep.Change, e *end) (p part) {
	e.last++
	p.message = message{What: isEntry, Name: string(c.Log), Number: e.last, Expires: nanoseconds(c.Expires), Value: c.Value}
	if c.Expires.IsZero() {
		e.latest = 0
		return p
	}
	if e.last == 1 || e.latest != 0 {
		e.latest = max(e.latest, nanoseconds(c.Expires))
		p.ttl = max(0, time.Unix(0, e.latest).Sub(b.store.o.Now())) + slack
	}
	return p
}

// finish makes the messages of the batch, and lets it be recognized.
func (b *batch) finish() {
	for log, e := range b.ends {
		b.parts = append(b.parts, part{message: message{What: isEnd, Name: string(log), Number: e.last, Cut: e.cut, Expires: e.latest, Value: []byte{}}, expect: e.sequence})
	}
	for i := range b.parts {
		p := &b.parts[i]
		p.Token, p.Left = b.token, uint16(len(b.parts)-1-i)
		b.messages = append(b.messages, p.msg(b.store.o.Name))
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.seen[b.token] = 0
	for i, w := range b.writes {
		w.sent = append(w.sent, sending{b.token, uint64(len(b.messages) - 1 - b.last[i])})
	}
}
