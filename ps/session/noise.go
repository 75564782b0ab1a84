package session

import (
	"slices"
	"strings"
	"sync"
)

// keepNoise bounds the bytes of stray output that are kept for the log.
const keepNoise = 8 << 10

const masked = "***"

// A capture keeps the beginning of a stream for the log and counts its bytes.
// It is safe for concurrent use.
type capture struct {
	mu      sync.Mutex
	kept    []byte
	total   int64
	lead    []byte   // output just before kept
	tail    []byte   // end of all output so far
	secrets []string // secrets of the current request, in every encoding they were sent in
	before  []string // secrets of the previous request, because stderr may arrive late
	longest int      // maximum number of bytes that a secret may occupy in the output
}

// guard sets the secrets to mask in later output. The secrets of the previous call are still masked, and
// older ones are forgotten.
func (c *capture) guard(secrets []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before, c.secrets, c.longest = c.secrets, secrets, 0
	for _, secret := range slices.Concat(c.before, c.secrets) {
		c.longest = max(c.longest, growth(len(secret))*len(secret))
	}
}

// growth returns the factor by which a secret may grow because of inserted line breaks and, unless it is very
// long, inserted escape sequences.
func growth(size int) int {
	if size > 4<<10 {
		return 2
	}
	return 12
}

func (c *capture) add(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(b))
	// Keep more than the limit, so that truncation never splits a secret.
	if room := keepNoise + c.longest - len(c.kept); room > 0 {
		c.kept = append(c.kept, b[:min(len(b), room)]...)
	}
	c.tail = append(c.tail, b[max(0, len(b)-c.longest):]...)
	c.tail = slices.Delete(c.tail, 0, max(0, len(c.tail)-c.longest))
}

// take returns the kept text, masked, and the number of bytes written, and resets the
// capture. It also masks a secret that is split between this text and the next.
func (c *capture) take() (string, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := c.total
	text := mask(string(c.lead), string(c.kept), slices.Concat(c.secrets, c.before))
	c.kept, c.total, c.lead = c.kept[:0], 0, slices.Clone(c.tail)
	if len(text) > keepNoise {
		text = text[:keepNoise]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), total
}
