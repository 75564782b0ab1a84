package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/store"
)

// logs are the logs that supply the messages of each type.
var logs = map[Type]store.Log{Change: changes.Log, Job: jobs.Log}

// message describes one entry of a log.
type message struct {
	kind     Type
	id       string // the same for all attempts
	at       time.Time
	body     []byte
	position store.Position
}

// event is the body of a message, as Standard Webhooks defines it.
type event struct {
	Type      Type            `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// changeData is the part of a message that describes a change. It contains no values. A receiver that needs
// the values can get the change with a credential that may see them.
type changeData struct {
	ChangeID  string    `json:"changeId"`
	RequestID string    `json:"requestId"`
	Time      time.Time `json:"time"`
	Caller    string    `json:"caller"`
	Kind      *string   `json:"callerKind"`
	Account   *string   `json:"callerId"`
	Operation string    `json:"operation"`
	Effect    string    `json:"effect"`
	Outcome   string    `json:"outcome"`
	Server    string    `json:"server"`
	Objects   []string  `json:"objects"` // GUIDs of the objects that have one
	More      int       `json:"moreObjects,omitempty"`
	Undoes    string    `json:"undoes,omitempty"`
	Reason    string    `json:"reason,omitempty"`
}

const (
	// mostObjects is the maximum number of objects that a message names.
	mostObjects = 1000
	// bodyLimit is the size limit of a message's data, in bytes.
	bodyLimit = 256 << 10
)

// orNull returns a pointer to a text, or nil for an empty one.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// ofChange returns the message about a change.
func ofChange(c *changes.Record, position store.Position) (*message, error) {
	data := changeData{
		ChangeID: c.ID, RequestID: c.RequestID, Time: c.Time.UTC(), Caller: c.Caller, Kind: orNull(c.By.Kind),
		Account: orNull(c.By.ID), Operation: c.Operation, Effect: string(c.Intent.Effect),
		Outcome: string(c.Outcome), Server: c.Server, Objects: []string{}, Undoes: c.Undoes,
		Reason: c.Parameters[ops.ReasonName],
	}
	for i := range c.Intent.Objects {
		switch guid := c.Intent.Objects[i].GUID; {
		case guid == "" || slices.Contains(data.Objects, guid):
		case len(data.Objects) == mostObjects:
			data.More++
		default:
			data.Objects = append(data.Objects, guid)
		}
	}
	return newMessage(Change, c.ID, c.Time, position, data)
}

// jobID matches ids that may identify a message. They contain no dot, because the signed text would be
// ambiguous.
var jobID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// ofJob returns the message about a job.
func ofJob(value []byte, position store.Position) (*message, error) {
	var entry struct {
		Type Type            `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(value, &entry); err != nil {
		return nil, err
	}
	var job struct {
		ID    string    `json:"id"`
		Ended time.Time `json:"ended"`
	}
	if err := json.Unmarshal(entry.Data, &job); err != nil {
		return nil, err
	}
	if entry.Type != Job || !jobID.MatchString(job.ID) {
		return nil, errors.New("it is not about a job")
	}
	data, err := bounded(entry.Data)
	if err != nil {
		return nil, err
	}
	// A job that runs again also ends again, so its id alone is not unique.
	return newMessage(Job, fmt.Sprintf("%s_%d", job.ID, position.Sequence), job.Ended, position, data)
}

// bounded removes the longest members of an object that is too large for a message, and lists them
// in the member leftOut.
func bounded(data json.RawMessage) (json.RawMessage, error) {
	if len(data) <= bodyLimit {
		return data, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	longest := slices.SortedFunc(maps.Keys(members),
		func(a, b string) int { return len(members[b]) - len(members[a]) })
	var leftOut []string
	for size := len(data); size > bodyLimit/2 && len(longest) > 0; longest = longest[1:] {
		size -= len(members[longest[0]])
		delete(members, longest[0])
		leftOut = append(leftOut, longest[0])
	}
	members["leftOut"], _ = json.Marshal(leftOut) // strings always encode
	return json.Marshal(members)
}

func newMessage(kind Type, id string, at time.Time, position store.Position, data any) (*message, error) {
	raw, err := encode(data)
	if err == nil {
		raw, err = encode(event{kind, at.UTC(), raw})
	}
	return &message{kind, id, at, raw, position}, err
}

// encode returns JSON without the escapes that only HTML needs.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// next returns the first message of a type after a position, or nil if there is none yet, and the
// position up to which the log has been searched.
func (t *target) next(
	ctx context.Context, kind Type, after store.Position,
) (*message, store.Position, error) {
	for {
		var entry *store.Appended
		err := t.o.Store.Log(ctx, logs[kind], after, func(a store.Appended) bool {
			entry = &a
			return false
		})
		if err != nil || entry == nil {
			return nil, after, err
		}
		m, err := t.messageOf(ctx, kind, *entry)
		if m != nil || ctx.Err() != nil {
			return m, after, err
		}
		if err != nil && !errors.Is(err, changes.ErrAbsent) {
			t.o.Log("an entry of the store that webhooks should tell cannot be read, and is left out",
				map[string]any{"webhook": t.settings.Name, "error": err.Error()})
		}
		t.drop()
		after = entry.Position
	}
}

func (t *target) messageOf(ctx context.Context, kind Type, entry store.Appended) (*message, error) {
	if kind == Job {
		return ofJob(entry.Value, entry.Position)
	}
	c, err := t.o.History.Get(ctx, string(entry.Value))
	if err != nil {
		return nil, err
	}
	return ofChange(c, entry.Position)
}
