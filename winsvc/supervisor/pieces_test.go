package supervisor

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", longestLine)
	for name, c := range map[string]struct{ written, lines []string }{
		"nothing":             {nil, nil},
		"lines at once":       {[]string{"a\nb\n\n"}, []string{"a\n", "b\n", "\n"}},
		"a line in parts":     {[]string{"a", "b", "", "c\nd", "\n"}, []string{"abc\n", "d\n"}},
		"a last one, no end":  {[]string{"a\nb"}, []string{"a\n", "b\n"}},
		"a line that is long": {[]string{long + "y\nz\n"}, []string{long + "y\n", "z\n"}},
		"one without an end":  {[]string{long[1:], "xy", "z\n"}, []string{long + "y", "z\n"}},
	} {
		var got []string
		l := &lines{each: func(line []byte) { got = append(got, string(line)) }}
		for _, text := range c.written {
			n, err := l.Write([]byte(text))
			require.NoError(t, err, name)
			assert.Equal(t, len(text), n, name)
		}
		l.flush()
		assert.Equal(t, c.lines, got, name)
	}
}

func TestMessagesAreToldFromOutput(t *testing.T) {
	for line, want := range map[string]bool{
		`{"adgateway":"process started","text":"It listens."}` + "\n": true,
		`{"adgateway":"node_trouble"}`:                                true,
		`{"adgateway":"","text":"x"}`:                                 false,
		`{"level":"info","msg":"an entry of a log"}`:                  false,
		`{"adgateway":"process started","text":"x","level":"info"}`:   false,
		"{\n":         false,
		"":            false,
		"null\n":      false,
		`"text"`:      false,
		"panic: x\n ": false,
	} {
		_, ok := parse([]byte(line))
		assert.Equal(t, want, ok, line)
	}
}

func TestEndsCountUntilAProcessRunsSteadily(t *testing.T) {
	begun := time.Now()
	assert.Equal(t, 4, endsInARow(3, time.Time{}, begun), "it never started")
	assert.Equal(t, 4, endsInARow(3, begun, begun.Add(steady-1)))
	assert.Equal(t, 1, endsInARow(3, begun, begun.Add(steady)))
}
