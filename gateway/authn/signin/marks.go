package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A browser in which somebody signed in keeps a mark. The mark is not a secret from that person, and does not
// sign anybody in. It prevents wrong passwords of others behind the same address, such as a NAT, from keeping
// the person out: a few tries of that name count for the mark, and not for the address. The answers do not
// depend on marks that other browsers have, so nobody can find out who signs in from an address.

const (
	// MarkLife is how long after a sign-in its mark is accepted.
	MarkLife  = trustPlace
	markTries = 3 // wrong passwords per mark within the window
	markIDs   = 16
)

// marks creates marks and counts the wrong passwords of each mark.
type marks struct {
	key [32]byte
	now func() time.Time

	mu    sync.Mutex
	tries *simplelru.LRU[[markIDs]byte, []time.Time]
}

func newMarks(key [32]byte, now func() time.Time) *marks {
	m := &marks{key: key, now: now}
	m.tries, _ = simplelru.NewLRU[[markIDs]byte, []time.Time](remembered, nil) // fails only for size < 1
	return m
}

// Mark returns the mark for a browser in which somebody has signed in under a name, or "" if no
// account can have the name.
func (g *Gate) Mark(typed string) string {
	name, domain, err := account(typed, g.o.Domains)
	if err != nil {
		return ""
	}
	var id [markIDs]byte
	_, _ = rand.Read(id[:]) // never fails
	head := binary.BigEndian.AppendUint64(id[:], uint64(g.o.Now().Unix()))
	return base64.RawURLEncoding.EncodeToString(append(head, g.marks.sum(head, domain, name)...))
}

func (m *marks) sum(head []byte, domain, name string) []byte {
	mac := hmac.New(sha256.New, m.key[:])
	mac.Write(head)
	mac.Write([]byte(fold(domain) + "\\" + fold(name)))
	return mac.Sum(nil)
}

// take counts a try under a name as a wrong password of the mark. It fails if the mark belongs to a
// different name, is too old, or has no tries left.
func (m *marks) take(mark, domain, name string) (id [markIDs]byte, ok bool) {
	const head = markIDs + 8
	raw, err := base64.RawURLEncoding.DecodeString(mark)
	if err != nil || len(raw) != head+sha256.Size || !hmac.Equal(raw[head:], m.sum(raw[:head], domain, name)) {
		return id, false
	}
	issued, now := time.Unix(int64(binary.BigEndian.Uint64(raw[markIDs:head])), 0), m.now()
	if age := now.Sub(issued); age >= MarkLife || age < -time.Minute {
		return id, false
	}
	copy(id[:], raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	times, _ := m.tries.Get(id)
	times = since(times, now.Add(-StandardWindow))
	if len(times) >= markTries {
		return id, false
	}
	m.tries.Add(id, append(times, now))
	return id, true
}

// giveBack uncounts the last try of a mark. It is called if the password was correct or was not tried.
func (m *marks) giveBack(id [markIDs]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if times, ok := m.tries.Get(id); ok && len(times) > 0 {
		m.tries.Add(id, slices.Clone(times[:len(times)-1]))
	}
}
