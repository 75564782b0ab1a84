package config_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTemplateMatchesTheTable(t *testing.T) {
	for _, newline := range []string{"\n", "\r\n"} {
		text := string(config.Template(newline))
		_, from, err := config.Sources{Name: "t", Text: []byte(text)}.Load()
		require.NoError(t, err)
		for key, origin := range from {
			assert.Equal(t, config.FromDefault, origin, key)
		}
		assert.Equal(t, strings.Count(text, "\n"), strings.Count(text, newline))

		// With the comment marks removed, the lines set every setting to its default.
		var lines []string
		for line := range strings.SplitSeq(text, newline) {
			if rest, setting := strings.CutPrefix(line, "  #"); setting && !strings.HasPrefix(rest, " ") {
				line = "  " + rest
			}
			lines = append(lines, line)
		}
		settings, from, err := config.Sources{Name: "t", Text: []byte(strings.Join(lines, newline))}.Load()
		require.NoError(t, err)
		assert.Equal(t, config.Default(), settings)
		for key, origin := range from {
			assert.Equal(t, config.FromFile, origin, key)
		}
	}
}

func TestShownValuesCanBeParsed(t *testing.T) {
	full, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	require.NoError(t, err)
	given, err := configtest.Load("full.yaml", full, nil)
	require.NoError(t, err)
	for _, want := range []*config.Settings{config.Default(), given} {
		var flags []string
		for _, row := range config.Rows() {
			if strings.HasPrefix(row.Key, "sandbox.tokens") || strings.HasPrefix(row.Key, "sandbox.users") {
				continue // their secrets are masked
			}
			shown, err := json.Marshal(row.Value(want)) // JSON is YAML
			require.NoError(t, err)
			flags = append(flags, row.Key+"="+string(shown))
		}
		got, err := configtest.Load("", nil, flags)
		require.NoError(t, err)
		for _, row := range config.Rows() {
			if !strings.HasPrefix(row.Key, "sandbox.tokens") && !strings.HasPrefix(row.Key, "sandbox.users") {
				assert.Equal(t, row.Value(want), row.Value(got), row.Key)
			}
		}
	}
}

func TestPrecedenceAndOrigins(t *testing.T) {
	src := config.Sources{
		Name: "f", Text: []byte("http:\n  listen: 127.0.0.1:1\nlog:\n  level: warn\nlimits:\n  bulkDelete: 3\n"),
		Environment: []string{"PATH=/bin", "ADGATEWAY_HTTP_LISTEN=127.0.0.1:2", "adgateway_log_level=error",
			"ADGATEWAY_SANDBOX_LDIF=[a, b]",
			"ADGATEWAY_ENGINE_KEY=internal", "ADGATEWAY_URL=http://x", "adgateway_token=x", "ADGATEWAY_CA_PATH=/x"},
		Flags: []string{"http.listen=127.0.0.1:3"},
		Amend: func(s *config.Settings, _ map[string]config.Origin) error {
			s.Sandbox.Zones = append(s.Sandbox.Zones, "z")
			return nil
		},
	}
	s, from, err := src.Load()
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:3", s.HTTP.Listen)
	assert.Equal(t, "error", s.Log.Level)
	assert.Equal(t, 3, s.Limits.BulkDelete)
	assert.Equal(t, []string{"a", "b"}, s.Sandbox.LDIF)
	assert.Equal(t, []string{"z"}, s.Sandbox.Zones)
	assert.Equal(t, config.FromFlag, from["http.listen"])
	assert.Equal(t, config.FromEnvironment, from["log.level"])
	assert.Equal(t, config.FromFile, from["limits.bulkDelete"])
	assert.Equal(t, config.FromDefault, from["http.dialect"])

	src = config.Sources{Environment: []string{"ADGATEWAY_HTTP_LISTN=x", "ADGATEWAY_LIMITS_BULK_DELETE=none"},
		Amend: func(*config.Settings, map[string]config.Origin) error { return errors.New("amended") }}
	_, _, err = src.Load()
	assert.EqualError(t, err, "environment: ADGATEWAY_HTTP_LISTN does not set any setting; did you mean "+
		"ADGATEWAY_HTTP_LISTEN?\n"+
		"environment: ADGATEWAY_LIMITS_BULK_DELETE: \"none\" is not allowed here: it takes a whole number from "+
		"1 to 100000\namended")
}

func TestShownSecretsAreMasked(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	require.NoError(t, err)
	s, err := configtest.Load("full.yaml", text, nil)
	require.NoError(t, err)
	var all []any
	for _, row := range config.Rows() {
		all = append(all, row.Value(s))
	}
	shown, err := json.Marshal(all)
	require.NoError(t, err)
	for _, token := range s.Sandbox.Tokens {
		assert.NotContains(t, string(shown), `"`+token.Value+`"`)
	}
	for _, user := range s.Sandbox.Users {
		assert.NotContains(t, string(shown), user.Password)
		assert.Contains(t, string(shown), user.Name)
	}
	assert.Contains(t, string(shown), `"value":"********"`)
}

// source is a source of settings that a test can change.
type source struct {
	text string
	err  error
}

func (s *source) read() (config.Sources, error) {
	return config.Sources{Name: "f", Text: []byte(s.text)}, s.err
}

func TestReload(t *testing.T) {
	src := &source{text: "http:\n  dialect: classic\n"}
	live, err := config.NewLive(src.read)
	require.NoError(t, err)
	first := live.Now()
	for _, c := range []struct {
		name, text       string
		err              error
		applied, waiting []string
		fault            string
		level            string
	}{
		{name: "the same", text: src.text, level: "info"},
		{name: "live and not", text: "log:\n  level: debug\npool:\n  dnsSessions: 9\n", applied: []string{"http.dialect", "log.level"}, waiting: []string{"pool.dnsSessions"}, level: "debug"},
		{name: "broken", text: "log:\n  level: loud\nhttp:\n  listen: x\n", fault: "f:2: log.level: \"loud\" is not allowed here: it takes one of debug, info, warn, error\nf:4: http.listen: \"x\" is not allowed here: it takes HOST:PORT, such as 127.0.0.1:8080", level: "debug"},
		{name: "away", err: os.ErrNotExist, fault: "file does not exist", level: "debug"},
		{name: "whole again", text: "log:\n  level: warn\n", applied: []string{"log.level"}, level: "warn"},
	} {
		src.text, src.err = c.text, c.err
		change, err := live.Reload()
		if c.fault == "" {
			assert.NoError(t, err, c.name)
		} else {
			assert.EqualError(t, err, c.fault, c.name)
		}
		assert.Equal(t, err, live.Fault(), c.name)
		assert.Equal(t, config.Change{Applied: c.applied, Waiting: c.waiting}, change, c.name)
		assert.Equal(t, c.level, live.Now().Log.Level, c.name)
		assert.Equal(t, 2, live.Now().Pool.DNSSessions, "%s: only a start changes it", c.name)
	}
	assert.Equal(t, "info", first.Log.Level, "settings that were returned do not change")
}

func TestNewLiveFailsWithMistakes(t *testing.T) {
	for name, src := range map[string]*source{"broken": {text: "x: y"}, "away": {err: os.ErrNotExist}} {
		_, err := config.NewLive(src.read)
		assert.Error(t, err, name)
	}
}

func TestWatchReloadsTheFile(t *testing.T) {
	const wait = 20 * time.Second
	file := filepath.Join(t.TempDir(), "f.yaml")
	write := func(text string) { // atomically, because Watch is faster than a write in two steps
		require.NoError(t, os.WriteFile(file+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(file+".new", file))
	}
	write("")
	live, err := config.NewLive(func() (config.Sources, error) {
		text, err := os.ReadFile(file)
		return config.Sources{Name: "f", Text: text}, err
	})
	require.NoError(t, err)
	type report struct {
		change config.Change
		err    error
	}
	reports := make(chan report, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		live.Watch(ctx, 2*time.Millisecond, func(c config.Change, err error) { reports <- report{c, err} })
	}()
	next := func() report {
		select {
		case r := <-reports:
			return r
		case <-time.After(wait):
			t.Fatal("nothing was noticed")
			return report{}
		}
	}
	write("log:\n  level: debug\n")
	assert.Equal(t, report{change: config.Change{Applied: []string{"log.level"}}}, next())
	write("log: [\n")
	assert.ErrorContains(t, next().err, "f:1: this line or the one before is not YAML")
	require.NoError(t, os.Remove(file))
	assert.ErrorIs(t, next().err, os.ErrNotExist)
	write("log:\n  level: warn\n")
	assert.Equal(t, report{change: config.Change{Applied: []string{"log.level"}}}, next())
	cancel()
	select {
	case <-ended:
	case <-time.After(wait):
		t.Fatal("it does not end")
	}
	assert.Empty(t, reports, "every change is reported once")
}

// TestWatchIgnoresATextSeenOnce: only a text that was read twice is loaded, no matter what an editor writes
// meanwhile.
func TestWatchIgnoresATextSeenOnce(t *testing.T) {
	reads := 0
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	live, err := config.NewLive(func() (config.Sources, error) {
		texts := []string{"", "log:\n  level: debug\n", "log:\n  level: debug\n", "log: [\n"}
		text := texts[min(reads, len(texts)-1)]
		reads++
		return config.Sources{Name: "f", Text: []byte(text)}, nil
	})
	require.NoError(t, err)
	live.Watch(ctx, time.Millisecond, func(change config.Change, err error) {
		assert.NoError(t, err)
		assert.Equal(t, []string{"log.level"}, change.Applied)
		cancel()
	})
	assert.Equal(t, "debug", live.Now().Log.Level)
	assert.Equal(t, 3, reads)
}
