package jetstream

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/store"
)

// Settings are the settings of a new stream.
type Settings struct {
	Replicas int        // 1 with one node, else 3; never changed
	MaxBytes int64      // if the stream is larger, its oldest messages are dropped
	Origin   store.Hash // hash of the content of the file that the journal continues; zero if none
}

// StreamName returns the name of a cluster's stream.
func StreamName(cluster string) string { return "ADGW_" + cluster + "_log" }

// Subject returns the only subject of a cluster's stream.
func Subject(cluster string) string { return "adgw." + cluster + ".log" }

const (
	journalField = "adgateway.journal" // metadata field with the identity of the stream
	originField  = "adgateway.origin"

	// messageMost limits the size of messages in bytes, even if nodes accept larger ones. It must be possible to
	// send a message, and to read it in base64 (facts J25), within the time limit of an attempt.
	messageMost = 1 << 20
)

// config returns the configuration of a stream with a new identity. Messages are only dropped because of the
// stream's size and never because of their age, so the clocks of nodes do not matter.
func config(cluster string, s Settings, messageMost int32) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamName(cluster), Subjects: []string{Subject(cluster)},
		Storage: jetstream.FileStorage, Replicas: s.Replicas, MaxBytes: s.MaxBytes, MaxMsgSize: messageMost,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		MaxMsgs: -1, MaxMsgsPerSubject: -1, MaxConsumers: -1, DenyDelete: true, DenyPurge: true,
		Metadata: map[string]string{
			journalField: uuid.Must(uuid.NewV7()).String(), originField: s.Origin.String(),
		},
	}
}

var (
	// ErrExists means that the cluster already has a stream, which continues another file.
	ErrExists = errors.New("there is a log of this cluster already, which goes on with another file")
	// ErrUnfit means that there is a stream with the name of a log that cannot be used as a log.
	ErrUnfit = errors.New("there is a stream that cannot be the log of this cluster")
)

// createPause is the pause before another attempt to create the stream.
const createPause = 250 * time.Millisecond

// Create creates the stream of a cluster with a new identity. It does nothing if there is a stream with the
// same origin. While the nodes have no leader it retries until ctx ends. It fails with [ErrDenied] if the
// nodes' user may not create streams, and with [ErrOneServer] if a single server cannot have that many
// replicas.
func Create(ctx context.Context, o Options, s Settings) error {
	ctx, deny := context.WithCancelCause(ctx)
	defer deny(nil)
	conn, err := o.connect(onDenial(deny))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	for {
		err := createOnce(ctx, js, o.Cluster, s)
		var refused *jetstream.APIError
		switch denied := context.Cause(ctx); {
		case errors.Is(denied, ErrDenied):
			return denied
		case errors.As(err, &refused) && refused.ErrorCode == oneServer:
			return ErrOneServer
		case err == nil || !passes(err):
			return err
		}
		select {
		case <-time.After(createPause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func createOnce(ctx context.Context, js jetstream.JetStream, cluster string, s Settings) error {
	ctx, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	found, err := js.Stream(ctx, StreamName(cluster))
	if err == nil {
		if found.CachedInfo().Config.Metadata[originField] != s.Origin.String() {
			return ErrExists
		}
		return nil
	}
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	_, err = js.CreateStream(ctx, config(cluster, s, int32(min(messageMost, js.Conn().MaxPayload()))))
	return err
}

// Document returns the configuration of the stream that [Create] makes, as JSON for 'nats stream
// add --config'.
func Document(cluster string, s Settings) ([]byte, error) {
	return json.MarshalIndent(config(cluster, s, messageMost), "", "  ")
}

const (
	noPeers   jetstream.ErrorCode = 10005 // too few running nodes are known
	oneServer jetstream.ErrorCode = 10074 // a server outside of a cluster has no replicas
)

// passes reports whether creating a stream may succeed once the nodes have a leader.
func passes(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code >= http.StatusInternalServerError || refused.ErrorCode == noPeers ||
			refused.ErrorCode == jetstream.JSErrCodeStreamNameInUse
	}
	return !errors.Is(err, ErrExists)
}

// free lists the settings that may differ from those of a new stream.
var free = []string{
	"name", "description", "metadata", "placement", "duplicate_window", "compression", "max_bytes", "max_msg_size",
	"num_replicas",
}

// different returns the names of the settings in which a stream differs from the needs of a
// journal, or nil.
func different(cluster string, got jetstream.StreamConfig) ([]string, error) {
	has, err := fields(got)
	if err != nil {
		return nil, err
	}
	needs, err := fields(config(cluster, Settings{}, 0))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if slices.Contains(free, name) {
			continue
		}
		if is, should := cmp.Or(has[name], "not set"), cmp.Or(needs[name], "not set"); is != should {
			all = append(all, fmt.Sprintf("%s is %s and must be %s", name, is, should))
		}
		delete(has, name)
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if !slices.Contains(free, name) && !slices.Contains(unset, has[name]) {
			all = append(all, fmt.Sprintf("%s is %s and must not be set", name, has[name]))
		}
	}
	if got.MaxBytes <= 0 {
		all = append(all, "max_bytes is not set")
	}
	if got.MaxMsgSize < messageLeast {
		all = append(all, fmt.Sprintf("max_msg_size is %d and must be %d or more", got.MaxMsgSize, messageLeast))
	}
	return all, nil
}

// messageLeast is the minimum that a stream's size limit for messages must have.
const messageLeast = 64 << 10

// unset lists the values that equal a missing setting.
var unset = []string{"null", "false", "0", `""`, "{}", "[]"}

// fields returns the settings of a stream as JSON, by name.
func fields(c jetstream.StreamConfig) (map[string]string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	all := make(map[string]string, len(raw))
	for name, value := range raw {
		all[name] = string(value)
	}
	return all, nil
}

// described returns the identity and the origin in a stream's metadata.
func described(cluster string, c jetstream.StreamConfig) (id string, origin store.Hash, err error) {
	all, err := different(cluster, c)
	if err != nil {
		return "", origin, err
	}
	if len(all) > 0 {
		text := strings.Join(all, "; ")
		return "", origin, fmt.Errorf("%w: the stream %s has other settings than a log needs: %s", ErrUnfit, c.Name,
			text)
	}
	text, err := hex.DecodeString(c.Metadata[originField])
	if id = c.Metadata[journalField]; err != nil || len(text) != len(origin) || id == "" {
		return "", origin, fmt.Errorf("%w: the stream %s was not made by adgateway", ErrUnfit, c.Name)
	}
	copy(origin[:], text)
	return id, origin, nil
}
