package accesslog_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/accesslog"
)

// odd are values that formatters write in special ways.
var odd = []string{
	"", "plain", "a b", `say "hi"`, `C:\logs`, "<b>&amp;</b>", "line\nnext\r\t", "\x00\x1f\x7f", "Jürgen Größe",
	"日本", "\u202eabc\u2028\u2029", "\xff\xfe", "a\xffb", "=", "key=value", "2026-01-02T03:04:05Z", "{}", "null",
	"a/b@c^d+e-f._", "\U0001f600", "'", "`", "\u00a0", "\ufeff",
}

func stockText() logrus.Formatter {
	return &logrus.TextFormatter{FullTimestamp: true, DisableColors: true, TimestampFormat: time.RFC3339}
}

// TestTheSameBytesAsLogrus: a line with an odd value is written with the same bytes that logrus writes for
// the same entry.
func TestTheSameBytesAsLogrus(t *testing.T) {
	durations := []time.Duration{
		0, time.Nanosecond, time.Microsecond, 999 * time.Microsecond, time.Millisecond, 1234567 * time.Microsecond,
		100 * time.Second, 999_999_999 * time.Microsecond, 1000 * time.Hour, -time.Millisecond,
	}
	for name, pair := range map[string]struct {
		own    logrus.Formatter
		theirs logrus.Formatter
	}{
		"text": {accesslog.Text(), stockText()},
		"JSON": {accesslog.JSON(), &logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano}},
	} {
		for i, value := range odd {
			for _, took := range durations {
				for _, level := range []logrus.Level{logrus.InfoLevel, logrus.ErrorLevel, logrus.WarnLevel} {
					at := time.Date(2026, 11, 28, 21, 4, 5, 120_000_000*i, time.FixedZone("x", 3600*(i%3)))
					line := accesslog.New()
					line.Text("route", value)
					line.Text("zone", value)
					line.Whole("status", i*1000-1)
					line.Milliseconds("duration_ms", took)
					line.True("client_left")
					line.Text("answered_by", value)
					own := written(t, pair.own, level, at, func(log *logrus.Logger) {
						line.Log(log, level, "request")
					})
					theirs := written(t, pair.theirs, level, at, func(log *logrus.Logger) {
						log.WithFields(logrus.Fields{
							"route": value, "zone": value, "status": i*1000 - 1,
							"duration_ms": float64(took.Microseconds()) / 1000,
							"client_left": true, "answered_by": value,
						}).Log(level, "request")
					})
					require.Equal(t, theirs, own, "%s of %q", name, value)
				}
			}
			at := time.Unix(0, 0)
			own := written(t, pair.own, logrus.InfoLevel, at, func(log *logrus.Logger) {
				accesslog.New().Log(log, logrus.InfoLevel, value)
			})
			theirs := written(t, pair.theirs, logrus.InfoLevel, at, func(log *logrus.Logger) { log.Info(value) })
			require.Equal(t, theirs, own, "%s: message %q", name, value)
		}
		at := time.Unix(0, 0)
		other := func(log *logrus.Logger) { log.WithField("a", 1).WithError(io.EOF).Warn("something else") }
		theirs := written(t, pair.theirs, logrus.WarnLevel, at, other)
		assert.Equal(t, theirs, written(t, pair.own, logrus.WarnLevel, at, other), name)
	}
}

// written returns the output of a logger with a formatter at a given time.
func written(
	t *testing.T, f logrus.Formatter, level logrus.Level, at time.Time, write func(*logrus.Logger),
) string {
	t.Helper()
	var b bytes.Buffer
	log := logrus.New()
	log.SetOutput(&b)
	log.SetLevel(logrus.TraceLevel)
	log.SetFormatter(f)
	log.AddHook(dated(at))
	write(log)
	require.NotEmpty(t, b.String())
	return b.String()
}

// dated is a hook that sets the time of an entry.
type dated time.Time

func (dated) Levels() []logrus.Level { return logrus.AllLevels }

func (a dated) Fire(entry *logrus.Entry) error {
	entry.Time = time.Time(a)
	return nil
}

// TestManyFields: a line with more fields than it has initial room for is written completely.
func TestManyFields(t *testing.T) {
	line, fields := accesslog.New(), logrus.Fields{}
	for c := 'a'; c <= 'z'; c++ {
		line.Text(string(c), "x")
		fields[string(c)] = "x"
	}
	for _, pair := range [][2]logrus.Formatter{
		{accesslog.JSON(), &logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano}},
		{accesslog.Text(), stockText()},
	} {
		at := time.Unix(1, 5)
		own := written(t, pair[0], logrus.InfoLevel, at, func(log *logrus.Logger) {
			line.Log(log, logrus.InfoLevel, "m")
		})
		theirs := written(t, pair[1], logrus.InfoLevel, at, func(log *logrus.Logger) {
			log.WithFields(fields).Info("m")
		})
		assert.Equal(t, theirs, own)
	}
}

// TestOtherFormattersStay: a logger with another formatter writes access lines in that format.
func TestOtherFormattersStay(t *testing.T) {
	for name, f := range map[string]logrus.Formatter{
		"colors": &logrus.TextFormatter{ForceColors: true}, "JSON": &logrus.JSONFormatter{DataKey: "data"},
	} {
		fields := logrus.Fields{"a": "b c", "n": 3, "t": true, "ms": 1.5}
		theirs := written(t, f, logrus.InfoLevel, time.Unix(9, 0), func(log *logrus.Logger) {
			log.WithFields(fields).Info("m")
		})
		own := written(t, f, logrus.InfoLevel, time.Unix(9, 0), func(log *logrus.Logger) {
			accesslog.Adopt(log)
			line := accesslog.New()
			line.Text("a", "b c")
			line.Whole("n", 3)
			line.True("t")
			line.Milliseconds("ms", 1500*time.Microsecond)
			line.Log(log, logrus.InfoLevel, "m")
		})
		assert.Equal(t, theirs, own, name)
	}
	log, f := logrus.New(), accesslog.JSON()
	log.SetFormatter(f)
	accesslog.Adopt(log)
	assert.Same(t, f, log.Formatter)
}

// TestWithoutABuffer: a line can be formatted outside a logger.
func TestWithoutABuffer(t *testing.T) {
	line := accesslog.New()
	line.Text("a", "b c")
	text, err := accesslog.Text().Format(&logrus.Entry{Context: line, Level: logrus.InfoLevel})
	require.NoError(t, err)
	assert.Equal(t, "time=\"0001-01-01T00:00:00Z\" level=info a=\"b c\"\n", string(text))
}

func TestALineMakesFewObjects(t *testing.T) {
	for name, f := range map[string]logrus.Formatter{"text": accesslog.Text(), "JSON": accesslog.JSON()} {
		log := logrus.New()
		log.SetOutput(io.Discard)
		log.SetFormatter(f)
		made := testing.AllocsPerRun(200, func() {
			line := accesslog.New()
			line.Text("request_id", "6f1c")
			line.Whole("status", 200)
			line.Milliseconds("duration_ms", 1234*time.Microsecond)
			line.Log(log, logrus.InfoLevel, "request")
		})
		assert.LessOrEqual(t, made, 6.0, name)
	}
}
