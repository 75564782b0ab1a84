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

// Settings describe a new stream.
type Settings struct {
	Replicas int        // 1 with one node, else 3; it is never changed
	MaxBytes int64      // the oldest messages are dropped beyond it
	Origin   store.Hash // of what is in the file that the journal goes on with; zero: nothing
}

// StreamName returns the name of the stream of a cluster.
func StreamName(cluster string) string { return "ADGW_" + cluster + "_log" }

// Subject returns the one subject of the stream of a cluster.
func Subject(cluster string) string { return "adgw." + cluster + ".log" }

const (
	journalField = "adgateway.journal" // of the metadata of a stream: its identity
	originField  = "adgateway.origin"

	// messageMost is the most bytes of a message, even if nodes take larger ones: it must be
	// sent and read, in base64 (facts J25), within the time of a try.
	messageMost = 1 << 20
)

// config returns a stream with a new identity. Its messages go away by its size only, so that no
// clock of a node decides.
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
	// ErrExists means that there is a stream already, which continues another file.
	ErrExists = errors.New("there is a log of this cluster already, which goes on with another file")
	// ErrUnfit means that there is a stream of the name of a log, which cannot be one.
	ErrUnfit = errors.New("there is a stream that cannot be the log of this cluster")
)

// createPause is how soon a stream that could not be made is tried again.
const createPause = 250 * time.Millisecond

// Create makes the stream of a cluster, with a new identity. It does nothing if there is one
// with this origin. While the nodes have no leader it tries again, until ctx ends. It fails with
// [ErrDenied] if the user of the nodes may not make it, and with [ErrOneServer] if it would have
// more replicas than one server can.
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

// Document returns the stream that [Create] makes, in the JSON that 'nats stream add --config'
// reads.
func Document(cluster string, s Settings) ([]byte, error) {
	return json.MarshalIndent(config(cluster, s, messageMost), "", "  ")
}

const (
	noPeers   jetstream.ErrorCode = 10005 // too few nodes are known to run
	oneServer jetstream.ErrorCode = 10074 // a server that is no cluster has no replicas
)

// passes reports whether a stream that could not be made can be as soon as the nodes have a
// leader.
func passes(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code >= http.StatusInternalServerError || refused.ErrorCode == noPeers ||
			refused.ErrorCode == jetstream.JSErrCodeStreamNameInUse
	}
	return !errors.Is(err, ErrExists)
}

// free are the settings of a stream that may be others than those it was made with.
var free = []string{
	"name", "description", "metadata", "placement", "duplicate_window", "compression", "max_bytes", "max_msg_size",
	"num_replicas",
}

// different returns how a stream differs from what a journal needs, by the names of the
// settings; nil: it does not.
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

// messageLeast is what a message must be able to have.
const messageLeast = 64 << 10

// unset are the values of a setting that is as if it was not there.
var unset = []string{"null", "false", "0", `""`, "{}", "[]"}

// fields returns the settings of a stream as JSON, by their names.
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

// described returns what a stream says about itself.
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
