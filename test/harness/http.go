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

// Existence is the name under which scripts announce that an object is created or removed.
const Existence = "exists"

// Kinds of values in a store. Later versions must be able to read them, too.
const (
	Keys  store.Kind = "key"  // calls with an Idempotency-Key
	Plans store.Kind = "plan" // of dry runs
	Due   store.Kind = "due"  // audit lines that are not written yet
)

// JSON encodes a value as scripts and clients do.
func JSON(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // tests encode only strings, numbers and lists of them
	}
	return bytes.TrimSpace(b.Bytes())
}

// Metric returns the value of a server's metric with the given name and labels, or 0 if there is none.
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
