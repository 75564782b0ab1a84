package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/store"
)

// addJournal adds the changes in a journal to the history, oldest first. Changes that were running
// when the gateway ended are open in the history, too.
func (m *migration) addJournal(ctx context.Context, j Journal, history *changes.History) error {
	if _, err := os.Stat(j.File); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := store.Rewound(j.File); err != nil {
		return fmt.Errorf("%s, the changes that a gateway made without the store: %w: put the newer file back, "+
			"or move this one away; what it has is in the audit log of that gateway as well", j.File, err)
	}
	records, err := m.readJournal(ctx, j)
	if err != nil {
		return err
	}
	for _, c := range slices.Backward(records) {
		m.step("journal")
		if err := m.adopt(ctx, c, history); err != nil {
			return fmt.Errorf("%s: the change %s: %w", j.File, c.ID, err)
		}
	}
	return nil
}

// readJournal returns the changes in a journal, newest first, from a copy of its file.
func (m *migration) readJournal(ctx context.Context, j Journal) (all []*changes.Record, err error) {
	secret, err := os.ReadFile(j.Key)
	if err != nil {
		return nil, fmt.Errorf("the key of %s: %w", j.File, err)
	}
	key, err := store.NewKey(secret)
	if err != nil {
		return nil, fmt.Errorf("%s, the key of %s: %w", j.Key, j.File, err)
	}
	copied, err := copyOf(ctx, j.File, m.newStore()+".journal")
	switch {
	case errors.Is(err, store.ErrInUse):
		return nil, fmt.Errorf("%w: stop the gateways of the cluster on all hosts, and run the command again", err)
	case err != nil:
		return nil, fmt.Errorf("%w: if the file cannot be restored, move it away; the changes in it are in the "+
			"audit log of that gateway as well", err)
	}
	file, _, err := store.Open(store.Options{Path: copied, Clock: m.clock(), Follows: true})
	if err != nil {
		return nil, errors.Join(err, os.Remove(copied))
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(copied)) }()
	db, err := store.Seal(file, key)
	if err != nil {
		return nil, err
	}
	found := 0
	err = file.Range(ctx, changeKind, "", func(store.Entry) bool { found++; return true })
	if err != nil {
		return nil, err
	}
	history := changes.New(db, m.Life, m.Most)
	err = history.Newest(ctx, time.Time{}, "", nil, func(c *changes.Record) bool {
		all = append(all, c)
		return true
	})
	if unread := found - len(all); err == nil && unread > 0 {
		err = fmt.Errorf("%s has %d changes that its key %s does not open: give the key file that the gateway "+
			"had when it wrote them", j.File, unread, j.Key)
	}
	return all, err
}

// adopt adds a change to the history, unless it is already there.
func (m *migration) adopt(ctx context.Context, c *changes.Record, history *changes.History) error {
	_, err := history.Get(ctx, c.ID)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, changes.ErrAbsent):
		return err
	}
	m.found.Added++
	if !c.Running {
		return history.Adopt(ctx, c, m.Now())
	}
	m.found.Open++
	fresh, err := unowned(c)
	if err == nil {
		err = history.Save(ctx, fresh)
	}
	return err
}

// unowned returns a copy of a record that does not belong to a store or a gateway.
func unowned(c *changes.Record) (*changes.Record, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	value := members{}
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	delete(value, "owner")
	if text, err = json.Marshal(value); err != nil {
		return nil, err
	}
	fresh := &changes.Record{}
	return fresh, json.Unmarshal(text, fresh)
}

// copyOf copies the store in a file that no process has open.
func copyOf(ctx context.Context, from, to string) (string, error) {
	out, in := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		err := store.CopyFile(ctx, from, in)
		_ = in.CloseWithError(err) // never fails
		copied <- err
	}()
	err := store.Install(to, out, store.Point{})
	_ = out.Close() // never fails
	if source := <-copied; source != nil {
		return "", source
	}
	return to, err
}
