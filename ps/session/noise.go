package session

import (
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
	lead    []byte   // what was written just before kept
	tail    []byte   // the end of all that was written
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
	c.tail = append(c.tail, b[max(0, len(b)-c.longest):]...)
	c.tail = slices.Delete(c.tail, 0, max(0, len(c.tail)-c.longest))
}

// take returns the kept text, masked, and how many bytes there were, and
// empties the capture. A secret may have begun in what was taken before, and
// may end in what comes next.
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

// between are the bytes that the console host puts into a text to fit its width:
// line ends, and the margin of messages in later versions. They are not looked
// at when secrets are looked for.
const between = "\r\n |"

// mask hides every place of every secret in a text that follows on lead, also
// where lines were wrapped, where one secret begins in another, and where the
// text ends in the middle of one.
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
			continue // all of it are bytes that say nothing
		}
		done := 0 // what is hidden of this one
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

// search tells found of the end of every place of a secret in a text, and
// returns how much of the beginning of another one the text ends with (Knuth,
// Morris and Pratt: the time is linear, whatever the secret).
func search(text []byte, secret string, found func(end int)) (begun int) {
	borders := make([]int, len(secret)) // how much of its beginning each beginning of the secret ends with
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
