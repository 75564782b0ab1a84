package authn

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/singleflight"

	"adgateway/gateway/schema"
)

// Cost is the cost of hashing one password with argon2id.
type Cost struct {
	Memory  uint32 // KiB
	Time    uint32 // passes
	Threads uint8
}

// StandardCost is the OWASP recommendation for a single thread. Two concurrent verifications take
// at most two cores and 38 MiB.
var StandardCost = Cost{Memory: 19 << 10, Time: 2, Threads: 1}

// Bounds of the parameters in stored hashes, so an edited hash cannot exhaust memory.
const (
	maxMemory  = 1 << 20 // KiB
	maxTime    = 64
	saltLength = 16
	hashLength = 32
)

// Bounds of the length of passwords. A longer one would not fit into a header.
const (
	minPassword = 12
	maxPassword = 1024
)

// CheckPassword returns an error if a new password is not acceptable.
func CheckPassword(password string) error {
	length := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password) ||
		strings.ContainsFunc(password, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("a password must be text without control characters")
	case length < minPassword || len(password) > maxPassword:
		return fmt.Errorf("a password must have at least %d characters and at most %d bytes", minPassword,
			maxPassword)
	}
	return nil
}

// passwordHash is an argon2id hash with its parameters.
type passwordHash struct {
	cost      Cost
	salt, sum []byte
}

// HashPassword returns the salted hash of a password in PHC format.
func HashPassword(password string, cost Cost) string {
	h := passwordHash{cost: cost, salt: make([]byte, saltLength)}
	_, _ = rand.Read(h.salt) // never fails
	h.sum = h.of(password, hashLength)
	text := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.Memory, cost.Time,
		cost.Threads,
		text.EncodeToString(h.salt), text.EncodeToString(h.sum))
}

// noPassword returns a hash that matches no password. Checking it takes as long as checking any
// hash of the same cost. Creating it costs nothing.
func noPassword(cost Cost) *passwordHash {
	h := &passwordHash{cost: cost, salt: make([]byte, saltLength), sum: make([]byte, hashLength)}
	_, _ = rand.Read(h.salt) // never fails
	_, _ = rand.Read(h.sum)
	return h
}

func (h *passwordHash) of(password string, length int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.cost.Time, h.cost.Memory, h.cost.Threads, uint32(length))
}

func (h *passwordHash) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.of(password, len(h.sum)), h.sum) == 1
}

// below reports whether the hash is cheaper than cost.
func (h *passwordHash) below(cost Cost) bool {
	return h.cost.Memory < cost.Memory || h.cost.Time < cost.Time
}

func parseHash(phc string) (*passwordHash, error) {
	bad := errors.New("password is not an argon2id hash as written by 'adgateway user passwd'")
	parts := strings.Split(phc, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" ||
		parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, bad
	}
	var h passwordHash
	n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.cost.Memory, &h.cost.Time, &h.cost.Threads)
	if err != nil || n != 3 || parts[3] != fmt.Sprintf("m=%d,t=%d,p=%d", h.cost.Memory, h.cost.Time,
		h.cost.Threads) {
		return nil, bad
	}
	var saltErr, sumErr error
	h.salt, saltErr = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	h.sum, sumErr = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	c := h.cost
	switch {
	case saltErr != nil || sumErr != nil || len(h.salt) < 8 || len(h.salt) > 64 || len(h.sum) < 16 ||
		len(h.sum) > 64,
		c.Memory < 8*uint32(c.Threads) || c.Memory > maxMemory || c.Time < 1 || c.Time > maxTime || c.Threads < 1:
		return nil, bad
	}
	return &h, nil
}

// verifier checks passwords. It limits concurrent checks, because each one takes memory and a core
// that other callers need, and it caches correct passwords for a while.
type verifier struct {
	now   func() time.Time
	dummy *passwordHash // checked for unknown users, so that they take as long as known users
	turns Turns
	group singleflight.Group

	key   [32]byte
	mu    sync.Mutex
	known *simplelru.LRU[digest, verified]
}

// verified is a correct credential in the cache.
type verified struct {
	hash  string // the user's hash at that time
	until time.Time
}

const (
	atOnce      = 2               // number of concurrent verifications
	waiting     = 32              // number of running or waiting verifications
	maxWait     = 2 * time.Second // longest wait for a verification
	remember    = 5 * time.Minute
	rememberMax = 1024 // number of credentials
)

func newVerifier(now func() time.Time, cost Cost) *verifier {
	v := &verifier{now: now, turns: NewTurns(atOnce, waiting, maxWait)}
	_, _ = rand.Read(v.key[:]) // never fails
	v.dummy = noPassword(cost)
	v.known, _ = simplelru.NewLRU[digest, verified](rememberMax, nil) // fails only for size < 1
	return v
}

// keyOf returns a cache key that does not reveal the credential. The key includes the address, so
// guessing from elsewhere is slowed down whether or not the user is active.
func (v *verifier) keyOf(user, password string, client netip.Addr) (key digest) {
	mac := hmac.New(sha256.New, v.key[:])
	// only a password can contain NUL
	mac.Write([]byte(user + "\x00" + Host(client).String() + "\x00" + password))
	mac.Sum(key[:0])
	return key
}

// remembered reports whether the credential was correct recently and the user's hash is unchanged.
func (v *verifier) remembered(key digest, hash string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.known.Get(key)
	return ok && found.hash == hash && v.now().Before(found.until)
}

func (v *verifier) remember(key digest, hash string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known.Add(key, verified{hash, v.now().Add(remember)})
}

// errBusy rejects a password that could not be checked in time.
var errBusy = &Refusal{
	Code: schema.Overloaded, Message: "Too many passwords are being checked. Try again later, or use a token.",
	RetryAfter: 2 * time.Second,
}

// verify checks a password against a user's hash, which is nil for an unknown user. It waits a limited time
// for its turn, and then returns errBusy.
func (v *verifier) verify(ctx context.Context, hash *passwordHash, password string) (bool, error) {
	end, has := v.turns.Take(ctx)
	if !has {
		return false, errBusy
	}
	defer end()
	if hash == nil {
		v.dummy.matches(password)
		return false, nil
	}
	return hash.matches(password), nil
}
