package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"adgateway/gateway/atomicfile"
)

// Beside the file of a store is another one, its head: which store it is, and the highest
// revision that it has acknowledged. A file that has less was taken back, such
// as to a backup; it becomes another store, so that no revision and no position of what
// was lost is given again.

// ErrRewound means that a store does not have all that it acknowledged.
var ErrRewound = errors.New("the store is older than what it has acknowledged")

// AfterRewind is what to do about [ErrRewound].
const AfterRewind = "Stop the gateway, and put the newer file back, or run 'adgateway changes rebuild', " +
	"which reads the changes since then back from the audit log and ends this notice; what was sent since " +
	"then with an Idempotency-Key or a plan must not be repeated."

// head is what the head of a store says.
type head struct {
	Creation string     `json:"creation"`
	Revision Revision   `json:"revision"`
	Rewound  *time.Time `json:"rewound,omitempty"` // when it was noticed, until it is accepted
	Lost     uint64     `json:"lost,omitempty"`    // calls of Apply; 0 if it was another store
}

// headEvery is how often the head is written at most, so that changes need not wait for
// it. A file that is taken back by less is not noticed.
const headEvery = time.Second

// HeadOf returns the file beside a store that says what it has acknowledged.
func HeadOf(path string) string { return path + ".head" }

// readHead returns the head of the store in a file; nil if it has none, or none that can
// be read.
func readHead(path string) (*head, error) {
	text, err := os.ReadFile(HeadOf(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &head{}
	if json.Unmarshal(text, h) != nil {
		return nil, nil
	}
	return h, nil
}

func (h *head) text() ([]byte, error) {
	text, err := json.Marshal(h)
	return append(text, '\n'), err
}

// err returns what [State.Rewound] says.
func (h *head) err() error {
	switch {
	case h == nil || h.Rewound == nil:
		return nil
	case h.Lost == 0:
		return fmt.Errorf("%w: another file has taken its place, which was noticed at %s", ErrRewound,
			h.Rewound.UTC().Format(time.RFC3339))
	}
	return fmt.Errorf("%w: the last %d writes are missing, which was noticed at %s", ErrRewound, h.Lost,
		h.Rewound.UTC().Format(time.RFC3339))
}

// Rewound returns [ErrRewound] if the store in a file was taken back and nobody has
// accepted it. The store may be open.
func Rewound(path string) error {
	h, err := readHead(path)
	return errors.Join(h.err(), err)
}

// Accept ends the notice that the store in a file was taken back. The store must not be
// open.
func Accept(path string) error {
	h, err := readHead(path)
	if err != nil || h == nil || h.Rewound == nil {
		return err
	}
	h.Rewound, h.Lost = nil, 0
	text, err := h.text()
	if err != nil {
		return err
	}
	return atomicfile.Write(HeadOf(path), text, nil)
}

// compare compares a file that was opened with its head. A new file in the place of a
// damaged one is not compared.
func (f *File) compare(fresh bool) error {
	known, err := readHead(f.path)
	if err != nil {
		return err
	}
	own := head{Creation: f.creation}
	if own.Revision, err = f.Revision(); err != nil {
		return err
	}
	switch {
	case known == nil || fresh:
	case known.Creation == own.Creation && known.Revision <= own.Revision:
		own.Rewound, own.Lost = known.Rewound, known.Lost
	default:
		noticed := f.now()
		own.Rewound = &noticed
		if known.Creation == own.Creation {
			own.Lost = uint64(known.Revision - own.Revision)
		}
		own.Revision = max(own.Revision, known.Revision)
		if err = f.allPut(); err != nil { // what is in the commit log belongs to the store as it was
			return err
		}
		if own.Creation, err = recreate(f.db, own.Revision); err != nil {
			return err
		}
	}
	f.creation, f.head, f.state.Rewound = own.Creation, own, own.err()
	if f.unsaid = f.writeHead(); f.unsaid != nil {
		f.state.failed(f.unsaid)
	}
	return nil
}

// tell writes the head if it could not be when the file was opened. Nothing is changed
// before: a file that was taken back would be forgotten otherwise.
func (f *File) tell() error {
	if f.unsaid != nil {
		f.unsaid = f.writeHead()
	}
	return f.unsaid
}

func (f *File) writeHead() error {
	text, err := f.head.text()
	if err != nil {
		return err
	}
	return f.save(HeadOf(f.path), text)
}

// acknowledge notes a revision in the head, now and then.
func (f *File) acknowledge(revision Revision) {
	if f.head.Creation == "" {
		return // it has none
	}
	f.head.Revision = max(f.head.Revision, revision)
	if now := time.Now(); now.Sub(f.headAt) >= headEvery {
		f.headAt = now
		_ = f.writeHead() // the next one is tried again
	}
}
