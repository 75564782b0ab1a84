package authn

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// A token is TokenPrefix, 256 random bits and their checksum in base 62. Secret scanners recognize
// it, and a mistyped token is rejected without a look-up.
const (
	TokenPrefix = "adgw_"

	randomLength = 43 // 256 bits in base 62
	sumLength    = 6  // 32 bits in base 62
	tokenLength  = len(TokenPrefix) + randomLength + sumLength
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var isBase62 = func() (is [256]bool) {
	for i := range len(base62) {
		is[base62[i]] = true
	}
	return is
}()

// digest is the stored form of a token. With 256 random bits it needs no slow hash.
type digest [sha256.Size]byte

// NewToken returns a new random token.
func NewToken() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	random := inBase62(new(big.Int).SetBytes(bits[:]), randomLength)
	sum := checksum(random)
	return TokenPrefix + random + string(sum[:])
}

// digestOf returns the digest of a token, or false if the text is not a token.
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
	var text [tokenLength]byte // on the stack, because a conversion would allocate
	copy(text[:], token)
	return sha256.Sum256(text[:]), true
}

// checksum returns the CRC-32 (IEEE) of the random part. It repeats the library's
// loop because the library's argument would escape to the heap.
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

// inBase62 formats a number with leading zeros.
func inBase62(n *big.Int, length int) string {
	digits := make([]byte, length)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		digits[i] = base62[digit.Int64()]
	}
	return string(digits)
}

// newID returns a random account ID, so an account is never mistaken for an earlier one with the
// same name.
func newID() string {
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // never fails
	return inBase62(new(big.Int).SetBytes(bits[:]), 11)
}
