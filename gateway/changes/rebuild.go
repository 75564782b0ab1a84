package changes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/audit"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Rebuilding counts the changes found in an audit log.
type Rebuilding struct {
	Added   int `json:"added"`
	Present int `json:"present"` // already in the history
	Expired int `json:"expired"` // older than the lifetime of changes
}

// Rebuild adds the changes in an audit log that are missing in the history. The log contains no images of
// removed objects, so rebuilt changes cannot be undone.
func (h *History) Rebuild(
	ctx context.Context, file string, files []string, now time.Time,
) (Rebuilding, error) {
	var found Rebuilding
	err := audit.Read(file, files, audit.Filter{}, func(line *audit.Record) error {
		r := fromAudit(line)
		switch {
		case r == nil:
			return nil
		case now.Sub(r.Time) >= h.life:
			found.Expired++
			return nil
		}
		r.expires = r.Time.Add(h.life)
		err := h.Save(ctx, r)
		switch {
		case err == nil:
			found.Added++
		case errors.Is(err, store.ErrConflict):
			found.Present++
		default:
			return err
		}
		return nil
	})
	return found, err
}

// fromAudit returns the change made by an audited call, or nil if it made none.
func fromAudit(line *audit.Record) *Record {
	call, outcome := line.Call(), line.Outcome
	if outcome == nil || len(outcome.Changes) == 0 {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, call.Time)
	if err != nil {
		return nil // the log was modified, see audit verify
	}
	r := &Record{
		ID: call.Change, RequestID: call.RequestID, Time: at.UTC(), Operation: call.Operation,
		Parameters: call.Parameters,
		Server:     outcome.Server, Outcome: ps.Outcome(outcome.Outcome), Rebuilt: true,
	}
	if call.Who != nil {
		r.Author = AuthorOf(*call.Who)
	}
	if !pattern.MatchString(r.ID) {
		r.ID = idOf(at, call.Seq)
	}
	for _, failed := range outcome.Failed {
		r.Failed = append(r.Failed, failed.GUID)
	}
	r.Intent = ps.Intent{Effect: ps.EffectChanged, Server: outcome.Server}
	for _, c := range outcome.Changes {
		object := ps.Intended{GUID: c.GUID, DN: c.DN, Names: append(NamesIn(c.Before), NamesIn(c.After)...)}
		switch {
		case len(c.Before) == 0:
			r.Intent.Effect = ps.EffectCreated
			object.Changes = []ps.IntendedChange{{Name: existence, Before: "False", After: "True"}}
		case len(c.After) == 0:
			r.Intent.Effect = ps.EffectRemoved
			object.Changes = []ps.IntendedChange{{Name: existence, Before: "True", After: "False"}}
		default:
			object.Changes = valuesOf(c)
		}
		r.Intent.Objects = append(r.Intent.Objects, object)
	}
	return r
}

// existence is the name of the announced change for the creation or removal of an object.
const existence = "exists"

// valuesOf returns the values that differ before and after.
func valuesOf(c ps.Change) []ps.IntendedChange {
	names := map[string]bool{}
	for name := range c.Before {
		names[name] = true
	}
	for name := range c.After {
		names[name] = true
	}
	var all []ps.IntendedChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before, after := textOf(c.Before[name]), textOf(c.After[name]); before != after {
			all = append(all, ps.IntendedChange{Name: name, Before: before, After: after})
		}
	}
	return all
}

// textOf converts a value of a record to the form of announcements.
func textOf(value json.RawMessage) string {
	var list []string
	var text string
	switch {
	case len(value) == 0 || bytes.Equal(value, []byte("null")):
		return ""
	case bytes.Equal(value, []byte("true")):
		return "True"
	case bytes.Equal(value, []byte("false")):
		return "False"
	case json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &list) == nil:
		return strings.Join(list, ",")
	}
	return string(value)
}

// idOf returns an id for a change whose audit lines contain none. The id is the same each time.
func idOf(at time.Time, seq uint64) string {
	var line [16]byte
	binary.BigEndian.PutUint64(line[:8], uint64(at.UnixNano()))
	binary.BigEndian.PutUint64(line[8:], seq)
	sum := sha256.Sum256(line[:])
	id := uuid.UUID(sum[:16])
	millis := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(millis >> (40 - 8*i))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80 // version 7
	return prefix + id.String()
}
