package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// A token is TokenPrefix, 256 random bits and their checksum, in letters and
// digits: a scanner for secrets can tell one from other text, and a mistyped
// one is refused without a look-up.
const (
	TokenPrefix = "adgw_"

	randomLength = 43 // of 256 bits in base 62
	sumLength    = 6  // of 32 bits in base 62
	tokenLength  = len(TokenPrefix) + randomLength + sumLength
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var isBase62 = func() (is [256]bool) {
	for i := range len(base62) {
		is[base62[i]] = true
	}
	return is
}()

// digest is what is kept of a token. Its 256 random bits need no slow hash.
type digest [sha256.Size]byte

// NewToken makes a token. It is shown once and kept nowhere.
func NewToken() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails (crypto/rand)
	random := inBase62(new(big.Int).SetBytes(bits[:]), randomLength)
	sum := checksum(random)
	return TokenPrefix + random + string(sum[:])
}

// digestOf takes a token's digest; false when the text is not a token.
func digestOf(token string) (digest, bool) {
	random, ok := strings.CutPrefix(token, TokenPrefix)
	if !ok || len(token) != tokenLength {
		return digest{}, false
	}
	random, sum := random[:randomLength], random[randomLength:]
	for i := range len(random) {
		if !isBase62[random[i]] {
			return digest{}, false
		}
	}
	if want := checksum(random); sum != string(want[:]) {
		return digest{}, false
	}
	var text [tokenLength]byte // on the stack: a conversion would allocate
	copy(text[:], token)
	return sha256.Sum256(text[:]), true
}

// checksum is the CRC-32 (IEEE) of the random part. The loop is the library's,
// without the slice that would escape to the heap.
func checksum(random string) (digits [sumLength]byte) {
	sum := ^uint32(0)
	for i := range len(random) {
		sum = crc32.IEEETable[byte(sum)^random[i]] ^ sum>>8
	}
	sum = ^sum
	for i := sumLength - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return digits
}

// inBase62 writes a number with leading zeros.
func inBase62(n *big.Int, length int) string {
	digits := make([]byte, length)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		digits[i] = base62[digit.Int64()]
	}
	return string(digits)
}

// newID makes the id of an entry: random, so that the entry of a name is never
// taken for an earlier one.
func newID() string {
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // never fails (crypto/rand)
	return inBase62(new(big.Int).SetBytes(bits[:]), 11)
}
