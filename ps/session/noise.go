package session

import (
	"encoding/base64"
	"encoding/json"
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
	secrets []string // of the current request, in every encoding they were sent in
	before  []string // of the previous request: stderr may arrive late
	longest int      // bytes that one secret may take up in the output
}

// guard sets the secrets to mask from now on. Those of the previous call are
// still masked; older ones are forgotten.
func (c *capture) guard(secrets []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before, c.secrets, c.longest = c.secrets, secrets, 0
	const wraps = 2 // growth of a secret by inserted line breaks, at most
	for _, secret := range slices.Concat(c.before, c.secrets) {
		c.longest = max(c.longest, wraps*len(secret))
	}
}

func (c *capture) add(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(b))
	// Keep enough beyond the limit that truncation never splits a secret.
	if room := keepNoise + c.longest - len(c.kept); room > 0 {
		c.kept = append(c.kept, b[:min(len(b), room)]...)
	}
	c.tail = append(c.tail, b[max(0, len(b)-c.longest):]...)
	c.tail = slices.Delete(c.tail, 0, max(0, len(c.tail)-c.longest))
}

// take returns the kept text, masked, and the number of bytes written, and resets
// the capture. A secret may start in the text of the previous take and end in that
// of the next.
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

// between are the bytes that the console host inserts to wrap lines: line breaks,
// and in later versions the margin of messages. The search for secrets skips them.
const between = "\r\n |"

// mask replaces every occurrence of every secret in text, which follows lead. It
// finds secrets that are wrapped over lines, that overlap, or that are cut off at
// the end of text.
func mask(lead, text string, secrets []string) string {
	text = lead + text
	joined, at := make([]byte, 0, len(text)), make([]int, 0, len(text))
	for i := range len(text) {
		if strings.IndexByte(between, text[i]) < 0 {
			joined, at = append(joined, text[i]), append(at, i)
		}
	}
	hidden := make([]bool, len(text))
	for _, secret := range secrets {
		sought := strings.Map(dropBetween, secret)
		if sought == "" {
			continue // consists of skipped bytes only
		}
		done := 0 // end of the last hidden occurrence
		hide := func(from, to int) {
			for i := max(from, done); i < to; i++ {
				hidden[i] = true
			}
			done = to
		}
		begun := search(joined, sought, func(end int) { hide(at[end-len(sought)], at[end-1]+1) })
		if begun > 0 {
			hide(at[len(at)-begun], len(text))
		}
	}
	var shown strings.Builder
	for i := len(lead); i < len(text); i++ {
		switch {
		case !hidden[i]:
			shown.WriteByte(text[i])
		case i == len(lead) || !hidden[i-1]:
			shown.WriteString(masked)
		}
	}
	return shown.String()
}

// search calls found with the end of each occurrence of secret in text. It returns
// the length of the longest proper prefix of secret that text ends with. It is the
// Knuth-Morris-Pratt algorithm, so the time is linear for any secret.
func search(text []byte, secret string, found func(end int)) (begun int) {
	borders := make([]int, len(secret)) // KMP failure function
	step := func(matched int, next byte) int {
		for matched > 0 && (matched == len(secret) || secret[matched] != next) {
			matched = borders[matched-1]
		}
		if secret[matched] == next {
			matched++
		}
		return matched
	}
	for i := 1; i < len(secret); i++ {
		borders[i] = step(borders[i-1], secret[i])
	}
	for i, next := range text {
		if begun = step(begun, next); begun == len(secret) {
			found(i + 1)
		}
	}
	return begun % len(secret)
}

func dropBetween(r rune) rune {
	if strings.ContainsRune(between, r) {
		return -1
	}
	return r
}

// lineSecrets returns the secrets of a data line: as sent, as text and as JSON.
func lineSecrets(line string) []string {
	parts := strings.Split(line, " ")
	var secrets []string
	for _, part := range parts[1:] {
		secrets = append(secrets, part)
		if plain, err := base64.StdEncoding.DecodeString(part); err == nil {
			secrets = append(secrets, string(plain))
			if quoted, err := json.Marshal(string(plain)); err == nil {
				secrets = append(secrets, string(quoted[1:len(quoted)-1]))
			}
		}
	}
	return secrets
}
