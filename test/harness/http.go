package harness

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/store"
)

// Headers of answers.
const (
	ChangeHeader   = "X-Change-Id"
	ReplayedHeader = "Idempotency-Replayed"
)

// Existence is the name under which scripts announce that an object is made or removed.
const Existence = "exists"

// Kinds of values in a store, which later versions read too.
const (
	Keys  store.Kind = "key"  // calls with an Idempotency-Key
	Plans store.Kind = "plan" // of dry runs
	Due   store.Kind = "due"  // lines of the audit that have yet to be written
)

// JSON returns a value as scripts and clients send it.
func JSON(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // tests encode texts, numbers and lists of them
	}
	return bytes.TrimSpace(b.Bytes())
}

// Metric returns a number of a server's metrics by its name and labels; 0 if there is none.
func Metric(t testing.TB, s *gateway.Server, name string) float64 {
	t.Helper()
	w := Call(s, http.MethodGet, "/metrics", "")
	require.Equal(t, http.StatusOK, w.Code)
	for line := range strings.Lines(w.Body.String()) {
		if text, has := strings.CutPrefix(strings.TrimSpace(line), name+" "); has {
			number, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err, line)
			return number
		}
	}
	return 0
}
