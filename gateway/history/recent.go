package history

import (
	"context"
	"sync"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// recent shares the data about the latest changes among the streams. Each change is decoded once, and encoded
// once for all readers with the same view of it. Whether a reader may see a change is decided for each
// reader. A recent is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	ends  <-chan struct{}          // once another change ends, all parts are outdated
	parts map[store.Position]*part // changes after each position
}

// mostParts is the maximum number of shared positions. Streams that are further behind read by
// themselves.
const mostParts = 8

// part holds the changes after a position.
type part struct {
	once    sync.Once
	ended   []*seen
	reached store.Position
	err     error
}

// seen is a change that has ended, as shown in streams.
type seen struct {
	position store.Position
	past     *past

	mu     sync.Mutex
	cursor string
	shown  map[string][]byte // keyed by the reader's view of the change
}

// after returns the changes after a position.
func (r *recent) after(ctx context.Context, s *Service, position store.Position) *part {
	p := r.at(s.History.Ends(), position) // before reading, so nothing is missed
	if p == nil {
		return readPart(ctx, s, position)
	}
	p.once.Do(func() {
		read := readPart(context.WithoutCancel(ctx), s, position) // others wait for the result, too
		p.ended, p.reached, p.err = read.ended, read.reached, read.err
	})
	if p.err != nil { // the error may be temporary
		return readPart(ctx, s, position)
	}
	return p
}

// at returns the shared part after a position, reading it first if necessary, or nil if there are too many
// parts.
func (r *recent) at(ends <-chan struct{}, position store.Position) *part {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends != ends {
		r.ends, r.parts = ends, map[store.Position]*part{}
	}
	p := r.parts[position]
	if p == nil && len(r.parts) < mostParts {
		p = &part{}
		r.parts[position] = p
	}
	return p
}

// readPart reads the changes after a position.
func readPart(ctx context.Context, s *Service, position store.Position) *part {
	ended, reached, err := s.History.After(ctx, position, feedBatch)
	p := &part{reached: reached, err: err}
	for _, c := range ended {
		if past, known := s.pastOf(c.Record); known {
			p.ended = append(p.ended, &seen{position: c.Position, past: past})
		}
	}
	return p
}

// id returns the cursor of a client that has received the change.
func (c *seen) id(h *changes.History) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cursor == "" {
		c.cursor = h.Cursor(c.position)
	}
	return c.cursor
}

// shownTo returns the change as a stream shows it to a caller that may see it. The result must not be
// modified. Because other callers share it, shownTo completes it even if this caller leaves.
func (c *seen) shownTo(ctx context.Context, s *Service, to *identity.Principal) []byte {
	sight := change.SightOf(to)
	view := sight.Digest()
	if sight.Reads(c.past.made.Op) {
		view += " reads"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	text, written := c.shown[view]
	if !written {
		text = schema.JSON(s.show(context.WithoutCancel(ctx), c.past, to, false))
		if c.shown == nil {
			c.shown = map[string][]byte{}
		}
		c.shown[view] = text
	}
	return text
}
