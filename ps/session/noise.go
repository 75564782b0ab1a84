package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// keepNoise is how much of what does not belong to an answer is kept for the log.
const keepNoise = 8 << 10

const masked = "***"

// A capture keeps the beginning of a stream for the log and counts the rest.
// It is safe for concurrent use.
type capture struct {
	mu      sync.Mutex
	kept    []byte
	total   int64
	secrets []string // in every spelling in which they were sent
	before  []string // those of the request before: stderr may come late
	longest int
}

// guard names the secrets that must not be in the log from now on. Those of the
// previous call are still looked for; older ones are forgotten.
func (c *capture) guard(secrets []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before, c.secrets, c.longest = c.secrets, secrets, 0
	const wraps = 2 // with line ends a secret is at most so many times as long
	for _, secret := range slices.Concat(c.before, c.secrets) {
		c.longest = max(c.longest, wraps*len(secret))
	}
}

func (c *capture) add(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(b))
	// So much more is kept that no secret is cut where the text will be cut.
	if room := keepNoise + c.longest - len(c.kept); room > 0 {
		c.kept = append(c.kept, b[:min(len(b), room)]...)
	}
}

// take returns the kept text, masked, and how many bytes there were, and
// empties the capture.
func (c *capture) take() (string, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, total := string(c.kept), c.total
	c.kept, c.total = c.kept[:0], 0
	text = mask(text, slices.Concat(c.secrets, c.before))
	if len(text) > keepNoise {
		text = text[:keepNoise]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), total
}

// between are the bytes that the console host puts into a text to fit its width:
// line ends, and the margin of messages in later versions. They are not looked
// at when secrets are looked for.
const between = "\r\n |"

// mask hides every place of every secret, also where lines were wrapped, and
// where one secret begins in another.
func mask(text string, secrets []string) string {
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
			continue // all of it are bytes that say nothing
		}
		for from := 0; ; from++ {
			found := bytes.Index(joined[from:], []byte(sought))
			if found < 0 {
				break
			}
			from += found
			for i := at[from]; i <= at[from+len(sought)-1]; i++ {
				hidden[i] = true
			}
		}
	}
	var shown strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			shown.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			shown.WriteString(masked)
		}
	}
	return shown.String()
}

func dropBetween(r rune) rune {
	if strings.ContainsRune(between, r) {
		return -1
	}
	return r
}

// lineSecrets returns the secrets of a data line as text and as sent.
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
