package natsstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/keep"
)

// beforeField is, in the metadata of a stream, the identity that it had before it was
// recovered.
const beforeField = "adgateway.before"

// Recovered is what [Recover] has done.
type Recovered struct {
	Values     int `json:"values"`     // sent again
	Entries    int `json:"entries"`    // of logs, sent again
	Superseded int `json:"superseded"` // values that another gateway has changed since the loss, and that stay so
}

// Recover sends the stream what it has lost and the mirror of a gateway still has. The
// gateway must not run. It may be called again, and for each gateway of the store: what is
// there is not sent again. The store is another one afterwards, so that positions of logs
// from before are known to be: those who follow a log read it anew. The mirror follows it
// from the beginning.
func Recover(ctx context.Context, o Options) (done Recovered, err error) {
	mirror, err := keep.OpenMirror(o.Mirror, o.Now)
	if err != nil {
		return done, fmt.Errorf("mirror of the store %s: %w", o.Mirror, err)
	}
	defer func() { err = errors.Join(err, mirror.Close()) }()
	if mirror.Known().Creation == "" {
		return done, fmt.Errorf("the mirror %s is empty: there is nothing to send", o.Mirror)
	}
	conn, err := o.Connect(nats.Name("adgateway recover "+o.Gateway), nats.Timeout(requestTimeout))
	if err != nil {
		return done, unreachable(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		return done, err
	}
	stream, err := js.Stream(ctx, StreamName(o.Name))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return done, ErrNoStream
	}
	if err != nil {
		return done, unreachable(err)
	}
	r := &recovery{ctx: ctx, o: o, js: js, stream: stream, mirror: mirror, known: mirror.Known()}
	if err = r.values(); err != nil {
		return r.done, err
	}
	if err = r.logs(); err != nil {
		return r.done, err
	}
	creation, err := r.identify()
	if err != nil {
		return r.done, err
	}
	return r.done, mirror.Restart(creation)
}

// recovery is a call of Recover.
type recovery struct {
	ctx    context.Context
	o      Options
	js     jetstream.JetStream
	stream jetstream.Stream
	mirror *keep.Mirror
	known  keep.Known
	done   Recovered
}

// there is what the stream has of a subject.
type there struct {
	message
	sequence uint64 // 0: nothing
	at       time.Time
}

func (r *recovery) look(subject string) (found there, err error) {
	last, err := r.stream.GetLastMsgForSubject(r.ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return found, nil
	}
	if err != nil {
		return found, unreachable(err)
	}
	found.sequence = last.Sequence
	if m, foreign := decodeMessage(last.Data); foreign == nil { // else anything takes its place
		found.message, found.at = m, last.Time
	}
	return found, nil
}

// send sends a message whose subject must have a sequence. It reports false if that is not
// so any more.
func (r *recovery) send(p part) (bool, error) {
	p.Token = newToken()
	_, err := publishOnce(r.ctx, r.js, p.msg(r.o.Name), p.Token)
	if conflicts(err) {
		return false, nil
	}
	if err != nil {
		return false, unreachable(err)
	}
	return true, nil
}

// values sends the values that the stream has not, or only as they were before.
func (r *recovery) values() error {
	kinds, err := r.mirror.Kinds()
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if kind == endKind || kind == tickKind {
			continue
		}
		var failed error
		err := r.mirror.Range(r.ctx, kind, "", func(e keep.Entry) bool {
			failed = r.value(kind, e)
			return failed == nil
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) value(kind keep.Kind, e keep.Entry) error {
	c, err := unmirror(e)
	if err != nil {
		return err
	}
	p := part{message: message{What: c.what, Name: string(kind), Key: c.Key, Expires: nanoseconds(c.Expires), Value: c.Value}}
	if !c.Expires.IsZero() {
		p.ttl = max(0, time.Until(c.Expires)) + slack
	}
	found, err := r.look(p.subject(prefixOf(r.o.Name)))
	switch {
	case err != nil:
		return err
	case found.sequence == 0 && c.what == isRemoved, found.sequence > 0 && found.Token == c.token:
		return nil
	case found.sequence > 0 && found.at.After(r.known.At):
		if string(found.Value) != string(c.Value) { // else it is what was sent again
			r.done.Superseded++
		}
		return nil
	}
	p.expect = found.sequence
	sent, err := r.send(p)
	switch {
	case err != nil:
		return err
	case sent:
		r.done.Values++
	default:
		r.done.Superseded++
	}
	return nil
}

// logs sends the entries that the stream has not. One whose number another entry has got
// since is appended.
func (r *recovery) logs() error {
	logs, err := r.mirror.Logs()
	if err != nil {
		return err
	}
	for _, log := range logs {
		if err := r.log(log); err != nil {
			return fmt.Errorf("log %s: %w", log, err)
		}
	}
	return nil
}

func (r *recovery) log(log keep.Log) error {
	last := message{What: isEnd, Name: string(log)}
	found, err := r.look(last.subject(prefixOf(r.o.Name)))
	if err != nil {
		return err
	}
	e := end{last: found.Number, cut: found.Cut, latest: found.Expires, sequence: found.sequence}
	from, err := r.mirror.End(r.ctx, log)
	if err != nil {
		return err
	}
	var failed error
	err = r.mirror.Log(r.ctx, log, keep.Position{}, func(a keep.Appended) bool {
		failed = r.entry(log, a, &e)
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if e.last = max(e.last, from.Sequence); e.last == found.Number {
		return nil
	}
	sent, err := r.send(part{message: message{What: isEnd, Name: string(log), Number: e.last, Cut: e.cut, Value: []byte{}}, expect: e.sequence})
	if err == nil && !sent {
		err = errors.New("another gateway appends to it: stop all gateways, and recover again")
	}
	return err
}

func (r *recovery) entry(log keep.Log, a keep.Appended, e *end) error {
	p := part{message: message{What: isEntry, Name: string(log), Number: a.Position.Sequence, Value: a.Value[mirrored:]}}
	for {
		found, err := r.look(p.subject(prefixOf(r.o.Name)))
		if err != nil {
			return err
		}
		if found.sequence > 0 && string(found.Value) == string(p.Value) {
			e.last = max(e.last, p.Number)
			return nil
		}
		if found.sequence > 0 {
			e.last = max(e.last, p.Number) + 1
			p.Number = e.last
			continue
		}
		sent, err := r.send(p)
		if err != nil || sent {
			e.last = max(e.last, p.Number)
			r.done.Entries++
			return err
		}
	}
}

// identify makes the stream another store, unless another gateway has recovered it before,
// or it was made anew.
func (r *recovery) identify() (creation string, err error) {
	config := r.stream.CachedInfo().Config
	if config.Metadata[creationField] != r.known.Creation {
		return config.Metadata[creationField], nil
	}
	config.Metadata = maps.Clone(config.Metadata)
	config.Metadata[beforeField] = r.known.Creation
	config.Metadata[creationField] = uuid.Must(uuid.NewV7()).String()
	if _, err = r.js.UpdateStream(r.ctx, config); err != nil {
		return "", unreachable(err)
	}
	return config.Metadata[creationField], nil
}
