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

// Each store's file has a head file next to it, with the identity of the store and the highest revision that
// the store has acknowledged. A store with a lower revision was restored from a backup. It gets a new
// identity, so that the lost revisions and positions are never used again.

// ErrRewound means that a store lacks changes that it has acknowledged.
var ErrRewound = errors.New("the store is older than what it has acknowledged")

// AfterRewind tells an administrator how to handle [ErrRewound].
const AfterRewind = "Stop the gateway, and put the newer file back, or run 'adgateway changes rebuild', " +
	"which reads the changes since then back from the audit log and ends this notice; what was sent since " +
	"then with an Idempotency-Key or a plan must not be repeated."

// head is the content of a head file.
type head struct {
	Creation string     `json:"creation"`
	Revision Revision   `json:"revision"`
	Rewound  *time.Time `json:"rewound,omitempty"` // when it was noticed, until it is accepted

	// acknowledged writes that are missing; 0 if the head belongs to another store
	Lost uint64 `json:"lost,omitempty"`
}

// headEvery is the minimum time between two writes of the head, so that changes need not wait for each write.
// A rewind by less than this time may go unnoticed.
const headEvery = time.Second

// HeadOf returns the path of a store's head file.
func HeadOf(path string) string { return path + ".head" }

// readHead returns the head of the store in a file, or nil if there is no readable one.
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

// err returns the error for [State.Rewound], or nil.
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

// Rewound returns [ErrRewound] if the store in a file was rewound and nobody has accepted that. The
// store may be open.
func Rewound(path string) error {
	h, err := readHead(path)
	return errors.Join(h.err(), err)
}

// Accept ends the notice that the store in a file was rewound. The store must not be open.
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

// compare compares the opened file with its head, unless fresh is set because the file is new and replaces a
// damaged one.
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
		if err = f.allPut(); err != nil { // the commit log belongs to the previous identity
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

// tell writes the head if that failed when the file was opened. Until it succeeds, nothing may be changed,
// because a rewind could go unnoticed.
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

// acknowledge records a revision, and writes the head from time to time.
func (f *File) acknowledge(revision Revision) {
	if f.head.Creation == "" {
		return // the store has no head
	}
	f.head.Revision = max(f.head.Revision, revision)
	if now := time.Now(); now.Sub(f.headAt) >= headEvery {
		f.headAt = now
		_ = f.writeHead() // best effort: the next write retries
	}
}
