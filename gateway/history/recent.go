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

// recent shares among the streams what was read of the changes that ended last: each change is decoded
// once, and written once for all readers that may see the same of it. Whether a reader may see it is not
// shared. It is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	ends  <-chan struct{}          // when another change ends, none of parts is up to date
	parts map[store.Position]*part // what follows a position
}

// mostParts is how many positions are shared at a time. Streams that are not up to date read by themselves.
const mostParts = 8

// part is what follows a position.
type part struct {
	once    sync.Once
	ended   []*seen
	reached store.Position
	err     error
}

// seen is a change that has ended, as streams show it.
type seen struct {
	position store.Position
	past     *past

	mu     sync.Mutex
	cursor string
	shown  map[string][]byte // by what a reader may see of it
}

// after returns what follows a position.
func (r *recent) after(ctx context.Context, s *Service, position store.Position) *part {
	p := r.at(s.History.Ends(), position) // taken before reading, so that nothing is missed
	if p == nil {
		return readPart(ctx, s, position)
	}
	p.once.Do(func() {
		read := readPart(context.WithoutCancel(ctx), s, position) // others wait for it, too
		p.ended, p.reached, p.err = read.ended, read.reached, read.err
	})
	if p.err != nil { // it may have passed
		return readPart(ctx, s, position)
	}
	return p
}

// at returns the shared part that follows a position, which may have to be read; nil: there are too many.
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

// readPart reads what follows a position.
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

// id returns the cursor that a client has with the change.
func (c *seen) id(h *changes.History) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cursor == "" {
		c.cursor = h.Cursor(c.position)
	}
	return c.cursor
}

// shownTo returns the change as the streams of a caller that may see it show it. It must not be
// changed. It is kept for other callers, so it is written to its end even if this caller leaves.
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
