package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// formatTime and parseTime agree with package time.
func TestGeneralizedTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	first, last := time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(10001, 1, 1, 0, 0, 0, 0,
		time.UTC).Unix()
	for range 2000 {
		at := unixTime(first + rng.Int64N(last-first))
		text := formatTime(at)
		require.Equal(t, at.Format(timeLayout), text)
		if y := at.Year(); y >= 0 && y <= 9999 {
			back, ok := parsePlain(text)
			require.True(t, ok, text)
			require.Equal(t, at, back)
		}
	}
	for _, text := range []string{
		"20240229000000.0Z", "20230229000000.0Z", "20240431120000.0Z", "20241301000000.0Z", "20240001000000.0Z", "20240100000000.0Z",
		"20240132000000.0Z", "20240101240000.0Z", "20240101236000.0Z", "20240101235960.0Z", "00000101000000.0Z", "99991231235959.0Z",
		"20240101000000Z", "2024010100000x.0Z", "2024010100000/.0Z", "", "20240101000000.0z",
	} {
		want, err := time.ParseInLocation(timeLayout, text, time.UTC)
		got, ok := parsePlain(text)
		if assert.Equal(t, err == nil, ok, text) && ok {
			assert.Equal(t, want, got, text)
		}
	}
}
