package call

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
)

// TestHiddenCursors: a page that ends with a hidden entry has a different cursor each time, and
// cursors of earlier versions are still accepted.
func TestHiddenCursors(t *testing.T) {
	c := Cursors{Sum: func(parts ...string) []byte {
		sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
		return sum[:]
	}}
	const last = "ch_0193f5a0-0000-7000-8000-000000000001"
	call := Accepted{Call: Call{
		Op:        ops.Find(ops.Table(), "change.list"),
		Principal: &identity.Principal{Kind: identity.KindToken, ID: "t1"},
	}}
	with := func(cursor string) Accepted {
		bound, faults := call.Op.Bind(ops.Given{ops.AfterName: cursor})
		require.Empty(t, faults)
		again := call
		again.Bound = bound
		return again
	}
	call.Bound = with("").Bound
	first, second := c.SealHidden(call, last), c.SealHidden(call, last)
	assert.NotEqual(t, first, second)
	sum := c.sum(call, last)
	earlier := base64.RawURLEncoding.EncodeToString(append(sum, c.cover(sum, []byte(last))...))
	for _, cursor := range []string{first, second, earlier, c.Seal(call, last)} {
		read, err := c.Open(with(cursor))
		require.NoError(t, err)
		assert.Equal(t, last, read)
	}
	raw, err := base64.RawURLEncoding.DecodeString(first)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), last)
	other := with(first)
	other.Principal = &identity.Principal{Kind: identity.KindToken, ID: "t2"}
	_, err = c.Open(other)
	assert.Error(t, err)
}
