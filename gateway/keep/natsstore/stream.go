package natsstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/keep"
)

// StreamOptions are those of the stream of a store.
type StreamOptions struct {
	Name     string // of the store: letters, digits, hyphens
	Replicas int    // 1, 3 or 5
	MaxBytes int64  // 0 is unbounded

	// Patience is how long [Create] tries while the nodes have no leader, as for a while
	// after their start; 0 is a minute. Waits is told why it tries again; nil is nobody.
	Patience time.Duration
	Waits    func(reason error)
}

// StreamName returns the name of the stream of a store.
func StreamName(store string) string { return "ADGW_" + store }

func prefixOf(store string) string { return "adgw." + store }

const (
	creationField = "adgateway.creation" // of the metadata of the stream
	formatField   = "adgateway.format"
)

// config returns how a stream must be. A new message takes the place of the
// one before of its subject, so that each value has one message, and each is removed by
// its time only.
func (o StreamOptions) config(creation string) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: StreamName(o.Name), Subjects: []string{prefixOf(o.Name) + ".>"},
		Storage: jetstream.FileStorage, Replicas: o.Replicas, MaxBytes: -1,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1,
		AllowMsgTTL: true, AllowAtomicPublish: true, DenyDelete: true, DenyPurge: true,
		Metadata: map[string]string{creationField: creation, formatField: fmt.Sprint(format)},
	}
	if o.MaxBytes > 0 {
		c.MaxBytes = o.MaxBytes
	}
	return c
}

// ErrNoStream means that the stream of a store has not been made.
var ErrNoStream = errors.New("the engine has no store of this name: make it with 'adgateway cluster init'")

// Create makes the stream of a store, with a new identity. It does nothing if there is
// one. While the nodes choose a leader they lose requests, or refuse them: these are sent
// again, until [StreamOptions.Patience] is over.
func Create(ctx context.Context, js jetstream.JetStream, o StreamOptions) error {
	patience := cmp.Or(o.Patience, time.Minute)
	until := time.Now().Add(patience)
	for {
		err := createOnce(ctx, js, o)
		switch {
		case err == nil || ctx.Err() != nil || !passes(err):
			return err
		case time.Now().After(until):
			return fmt.Errorf("%w for %s: see that most of its nodes run and reach each other ('adgateway-engine doctor' on each), and run this again: %w", errNoLeader, patience, unreachable(err))
		}
		if o.Waits != nil {
			o.Waits(err)
		}
		select {
		case <-time.After(createPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// CreateAt is Create by a connection of its own.
func CreateAt(ctx context.Context, e Endpoint, o StreamOptions) error {
	conn, err := e.Connect(nats.Name("adgateway cluster init"), nats.Timeout(requestTimeout))
	if err != nil {
		return unreachable(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	return Create(ctx, js, o)
}

// createPause is how soon a stream that could not be made is tried again.
const createPause = 250 * time.Millisecond

var errNoLeader = errors.New("the engine has made no stream, as its nodes had no leader")

// createOnce is one try of [Create].
func createOnce(ctx context.Context, js jetstream.JetStream, o StreamOptions) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err := js.Stream(ctx, StreamName(o.Name))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = js.CreateStream(ctx, o.config(uuid.Must(uuid.NewV7()).String()))
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", StreamName(o.Name), err)
	}
	return nil
}

// passes reports whether a stream that could not be made can be as soon as the nodes have
// a leader, or is there because only the answer was lost.
func passes(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code >= http.StatusInternalServerError || refused.ErrorCode == noPeers || refused.ErrorCode == jetstream.JSErrCodeStreamNameInUse
	}
	return errors.Is(Explain(err), keep.ErrUnreachable)
}

// noPeers is given while too few nodes are known to run.
const noPeers jetstream.ErrorCode = 10005

// leaderState returns the state of a stream as its leader has it.
func leaderState(ctx context.Context, stream jetstream.Stream) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	info, err := stream.Info(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	return info, nil
}

// requestTimeout is how long the answer to a request that changes nothing is waited for.
const requestTimeout = 2 * time.Second

// unreachable returns an error of the engine as one of package keep.
func unreachable(err error) error {
	return fmt.Errorf("%w: %w", keep.ErrUnreachable, err)
}

// Explain returns an error of a connection to the engine, which is a [keep.ErrUnreachable]
// if none of its nodes answered. Nil stays nil.
func Explain(err error) error {
	for _, away := range []error{nats.ErrNoServers, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrConnectionClosed, context.DeadlineExceeded} {
		if errors.Is(err, away) {
			return unreachable(err)
		}
	}
	return err
}

// different returns how a stream differs from what a store needs; empty: it does not.
func different(got jetstream.StreamConfig) string {
	for _, part := range []struct {
		name   string
		is     bool
		wanted bool
	}{
		{"storage: file", got.Storage == jetstream.FileStorage, true},
		{"retention: limits", got.Retention == jetstream.LimitsPolicy, true},
		{"discard: new", got.Discard == jetstream.DiscardNew, true},
		{"max_msgs_per_subject: 1", got.MaxMsgsPerSubject == 1, true},
		{"max_age: 0", got.MaxAge == 0, true},
		{"max_msgs: -1", got.MaxMsgs <= 0, true},
		{"allow_msg_ttl", got.AllowMsgTTL, true},
		{"allow_atomic", got.AllowAtomicPublish, true},
		{"allow_direct", got.AllowDirect, false},
		{"deny_delete", got.DenyDelete, true},
		{"deny_purge", got.DenyPurge, true},
		{"persist_mode: async", got.PersistMode == jetstream.AsyncPersistMode, false},
	} {
		if part.is != part.wanted {
			return fmt.Sprintf("%s must be %t", part.name, part.wanted)
		}
	}
	return ""
}
