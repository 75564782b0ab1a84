package history

import (
	"context"
	"sync"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// recent shares the data about the latest changes among the streams. Each change is decoded once, and encoded
// once for all readers with the same view of it. Whether a reader may see a change is decided for each
// reader. So that many changes in a row cost few wake-ups and writes, the streams read in turns: all that
// read in the same turn find the same changes. A recent is safe for concurrent use.
type recent struct {
	every time.Duration // minimum time between the beginnings of two turns

	mu    sync.Mutex
	until time.Time                // the turn lasts at least until then
	ends  <-chan struct{}          // closed when a change ends after the turn has begun
	next  chan struct{}            // closed at until; nil if nothing waits for it
	parts map[store.Position]*part // changes after each position
}

// turnEvery is the minimum time between turns. A change that ends after a while without changes is sent at
// once.
const turnEvery = 50 * time.Millisecond

// mostParts is the maximum number of shared positions. Streams that are further behind read by
// themselves.
const mostParts = 8

// part holds the changes after a position.
type part struct {
	more    <-chan struct{} // closed if a change has ended that may be missing
	once    sync.Once
	ended   []*seen
	reached store.Position
	full    bool // there may be more to read at once
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

// view is how a reader sees changes.
type view struct {
	reader *identity.Principal
	change.Sight
	digest string // equal for readers with the same limits
}

func viewOf(reader *identity.Principal) view {
	sight := change.SightOf(reader)
	return view{reader, sight, sight.Digest()}
}

// turn returns a channel that is closed as soon as another turn may begin.
func (r *recent) turn() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		next := make(chan struct{})
		r.next = next
		time.AfterFunc(time.Until(r.until), func() { close(next) })
	}
	return r.next
}

// after returns the changes after a position.
func (r *recent) after(ctx context.Context, s *Service, position store.Position) *part {
	p, shared := r.at(s.History.Ends(), position) // before reading, so nothing is missed
	if !shared {
		p.read(ctx, s, position)
		return p
	}
	// others wait for the result, too
	p.once.Do(func() { p.read(context.WithoutCancel(ctx), s, position) })
	if p.err != nil { // it may be temporary
		p = &part{more: p.more}
		p.read(ctx, s, position)
	}
	return p
}

// at returns the part after a position. shared reports whether all streams that read in the same turn get it;
// otherwise there are too many parts.
func (r *recent) at(ends <-chan struct{}, position store.Position) (p *part, shared bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); r.ends != ends && !now.Before(r.until) {
		r.until, r.ends, r.next = now.Add(r.every), ends, nil
		r.parts = map[store.Position]*part{}
	}
	p, shared = r.parts[position], true
	if p == nil {
		p = &part{more: r.ends}
		if shared = len(r.parts) < mostParts; shared {
			r.parts[position] = p
		}
	}
	return p, shared
}

// read reads the changes after a position.
func (p *part) read(ctx context.Context, s *Service, position store.Position) {
	var ended []changes.Ended
	ended, p.reached, p.err = s.History.After(ctx, position, feedBatch)
	p.full = p.reached.Sequence-position.Sequence == feedBatch
	for _, c := range ended {
		if past, known := s.pastOf(c.Record); known {
			p.ended = append(p.ended, &seen{position: c.Position, past: past})
		}
	}
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

// shownTo returns the change as a stream shows it to a reader that may see it. The result must not be
// modified. Because other readers share it, shownTo completes it even if this reader leaves.
func (c *seen) shownTo(ctx context.Context, s *Service, to view) []byte {
	key := to.digest
	if to.Reads(c.past.made.Op) {
		key += " reads"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	text, written := c.shown[key]
	if !written {
		text = schema.JSON(s.show(context.WithoutCancel(ctx), c.past, to.reader, false))
		if c.shown == nil {
			c.shown = map[string][]byte{}
		}
		c.shown[key] = text
	}
	return text
}
