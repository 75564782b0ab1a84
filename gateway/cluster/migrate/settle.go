package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"adgateway/gateway/store"
)

// The kinds of values that name a gateway of the old cluster as their owner. That gateway will not return, so
// its unfinished work is settled like the work of a gateway that was killed.
var owned = []store.Kind{changeKind, "key", "name"}

const (
	changeKind  store.Kind = "change"
	webhookKind store.Kind = "webhook"
)

// settle converts the values that the new cluster reads differently.
func (m *migration) settle(ctx context.Context, db *store.Sealed) error {
	for _, kind := range owned {
		if err := m.rewrite(ctx, db, kind, `"owner":`, m.disown); err != nil {
			return err
		}
	}
	return m.rewrite(ctx, db, webhookKind, `"after":`, m.moveWebhook)
}

// members are the members of a JSON object.
type members map[string]json.RawMessage

// rewrite calls change for each value of a kind that contains a text, and stores the values that
// change has modified.
func (m *migration) rewrite(
	ctx context.Context, db *store.Sealed, kind store.Kind, having string,
	change func(store.Kind, members) (bool, error),
) error {
	var all []store.Change
	var failed error
	// A value that cannot be decrypted is left unchanged.
	err := db.RangeBack(ctx, kind, "", func(e store.Entry) bool {
		if !bytes.Contains(e.Value, []byte(having)) {
			return true
		}
		value := members{}
		if failed = json.Unmarshal(e.Value, &value); failed != nil {
			return false
		}
		changed, err := change(kind, value)
		if failed = err; err != nil || !changed {
			return err == nil
		}
		c := store.Change{Kind: kind, Key: e.Key, Expect: e.Revision, Expires: e.Expires}
		if c.Value, failed = json.Marshal(value); failed == nil {
			all = append(all, c)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("values of the kind %s: %w", kind, err)
	}
	for some := range slices.Chunk(all, store.MostChanges) {
		m.step("rewrite")
		if _, err := db.Apply(ctx, some...); err != nil {
			return err
		}
	}
	return nil
}

// disown removes the owner from a value, and counts running changes.
func (m *migration) disown(kind store.Kind, value members) (bool, error) {
	if value["owner"] == nil {
		return false, nil
	}
	delete(value, "owner")
	delete(value, "settling")
	if kind == changeKind && string(value["running"]) == "true" {
		m.found.Open++
	}
	return true, nil
}

// moveWebhook rewrites the positions of a webhook for the new store, so it continues where it
// stopped. The logs of both stores have the same sequences.
func (m *migration) moveWebhook(_ store.Kind, value members) (bool, error) {
	after := map[string]store.Position{}
	if err := json.Unmarshal(value["after"], &after); err != nil {
		return false, err
	}
	for name, at := range after {
		if at.Creation == m.known.Creation {
			at.Creation = m.creation
			after[name] = at
		}
	}
	text, err := json.Marshal(after)
	value["after"] = text
	delete(value, "turn")
	return true, err
}
