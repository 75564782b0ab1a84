package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Reasons why a user's own NATS cannot have a journal.
var (
	ErrOldServer = errors.New("its server is older than " + oldest +
		", and would let two gateways write the same place of the log")
	ErrNoJetStream = errors.New("it has no JetStream for this account")
	ErrOneServer   = errors.New("it is one server, which replicates nothing")
	ErrDenied      = errors.New("it does not permit its user what a gateway does")
)

// oldest is the first server version that compares sequences reliably.
const oldest = "2.12"

// Examined describes NATS servers that can hold a journal.
type Examined struct {
	Version  string
	Identity Identity // of its journal; zero if it has none
	Replicas int      // of the journal
}

// Examine checks that NATS servers can keep the journal of a cluster, and that this gateway may publish to
// the given subjects. It sends an empty message to each of them. It fails with one of the errors above, with
// an error of Options.Connect, or, if there is a stream that cannot be the journal, with an error of [Open].
func Examine(ctx context.Context, o Options, subjects ...string) (found Examined, err error) {
	ctx, deny := context.WithCancelCause(ctx)
	defer deny(nil)
	conn, err := o.Connect(nats.Name("adgateway "+o.Cluster), nats.Timeout(requestFor), nats.NoReconnect(),
		onDenial(deny))
	if err != nil {
		return found, err
	}
	defer conn.Close()
	if found.Version = conn.ConnectedServerVersion(); older(found.Version, oldest) {
		return found, fmt.Errorf("%w: it is %s", ErrOldServer, found.Version)
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(requestFor))
	if err != nil {
		return found, err
	}
	is := func(err error) error {
		if denied := context.Cause(ctx); errors.Is(denied, ErrDenied) {
			return denied
		}
		return err
	}
	s := &Stream{cluster: o.Cluster, conn: conn, js: js}
	stream, identity, err := s.find(ctx)
	switch {
	case errors.Is(err, ErrNoStream):
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return found, ErrNoJetStream
	case err != nil:
		return found, is(err)
	default:
		found.Identity, found.Replicas = identity, stream.CachedInfo().Config.Replicas
	}
	for _, subject := range subjects {
		if err := conn.Publish(subject, nil); err != nil {
			return found, err
		}
	}
	// The wrong stream name makes an existing stream refuse the message.
	_, err = js.Publish(ctx, Subject(o.Cluster), nil,
		jetstream.WithExpectStream("none"), jetstream.WithRetryAttempts(0))
	var refused *jetstream.APIError
	if !errors.As(err, &refused) && !errors.Is(err, jetstream.ErrNoStreamResponse) {
		return found, is(err)
	}
	if err := conn.FlushWithContext(ctx); err != nil {
		return found, is(err)
	}
	// A denial came before the answer to the flush, but its handler may be called later.
	if last := conn.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
		return found, fmt.Errorf("%w: %w", ErrDenied, last)
	}
	return found, nil
}

// onDenial calls deny with each permission violation of a connection.
func onDenial(deny context.CancelCauseFunc) nats.Option {
	return nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			deny(fmt.Errorf("%w: %w", ErrDenied, err))
		}
	})
}

// older reports whether a version is older than another one. A version that cannot be parsed counts as older.
func older(version, than string) bool {
	for {
		have, rest, _ := strings.Cut(version, ".")
		need, left, more := strings.Cut(than, ".")
		a, err := strconv.Atoi(have)
		b, _ := strconv.Atoi(need) // the digits of oldest
		if err != nil || a != b || !more {
			return err != nil || a < b
		}
		version, than = rest, left
	}
}
