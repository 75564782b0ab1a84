package session_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(childMain())
	}
	goleak.VerifyTestMain(m)
}

// journal collects the log entries of a session.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func (j *journal) log(message string, fields map[string]any) {
	text, _ := json.Marshal(fields)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, message+" "+string(text))
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.entries, "\n")
}

func config(starter session.Starter) session.Config {
	return session.Config{
		Starter:      starter,
		StartTimeout: patience,
		Boot: session.Boot{
			Prelude: ps.Source{Name: "prelude", Text: "$x = 'O’Brien'\n"},
			Scripts: []ps.Source{{Name: "Get-GatewayEcho", Text: "param()\n'x'"}},
			Module:  "ActiveDirectory",
		},
	}
}

func start(t *testing.T, cfg session.Config) *session.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := session.Start(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

func TestASessionAnswersAndClosesCleanly(t *testing.T) {
	defer goleak.VerifyNone(t)
	process := &sessiontest.Process{Scripts: sessiontest.Faults}
	s := start(t, config(process))
	assert.Equal(t, "7.6.5", s.Ready().PowerShell)
	assert.Equal(t, []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text",
		"-ExecutionPolicy", "Bypass", "-Command", "-"}, process.Args())

	hostile := "O'Brien’s $(1) `x\" 日本 😀\r\n\x1e1 end 2\n{}\n'; exit 1; '"
	var batches []string
	result, err := s.Run(t.Context(), ps.Request{
		Script: "Get-GatewayEcho",
		Args: ps.Args{"Text": ps.Text(hostile), "List": ps.List([]string{"a", "=b"}), "Null": ps.Null(),
			"Yes": ps.Bool(true), "N": ps.Int(-7), "Secret": ps.Secret("pä ss")},
		Records: func(batch json.RawMessage) error { batches = append(batches, string(batch)); return nil },
	})
	require.NoError(t, err)
	assert.Equal(t, ps.EffectNone, result.Effect)
	require.Len(t, batches, 1)
	want, err := json.Marshal([]any{map[string]any{"Text": hostile, "List": []string{"a", "=b"}, "Null": nil,
		"Yes": true, "N": -7, "Secret": "pä ss"}})
	require.NoError(t, err)
	assert.JSONEq(t, string(want), batches[0])

	result, err = s.Run(t.Context(), ps.Request{Script: "New-GatewayThing", Write: true})
	require.NoError(t, err)
	assert.Equal(t, &ps.Result{
		Effect:   ps.EffectCreated,
		Warnings: []ps.Warning{{Code: "w", Target: "t", Message: "m"}},
		Changes: []ps.Change{{GUID: "g-1", DN: "CN=x", Before: map[string]json.RawMessage{},
			After: map[string]json.RawMessage{"name": json.RawMessage(`"x"`)}}},
		Counts: map[string]int{"created": 1},
		Steps:  []ps.Step{{Label: "create thing", GUID: "g-1", DN: "CN=x"}},
	}, result)

	require.NoError(t, s.Close(t.Context()))
	select {
	case <-s.Dead():
	default:
		t.Fatal("a closed session is not dead")
	}
	_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayEcho"})
	assert.Equal(t, ps.KindDied, ps.AsError(err).Kind)
	require.NoError(t, s.Close(t.Context()), "closing twice")
	s.Kill()
}

// faultCase is run both in this process and in a real one.
type faultCase struct {
	script  string
	write   bool
	limit   time.Duration
	kind    ps.Kind // empty if there is no error
	outcome ps.Outcome
	steps   int
	message string // part of the error's text
	alive   bool   // the session can still be used
}

var faultCases = []faultCase{
	{script: "Get-GatewayNothing", alive: true},
	{script: "Get-GatewayNoise", alive: true},
	{script: "Get-GatewayStderrFlood", alive: true},
	{script: "Get-GatewayDrip", alive: true},
	{script: "Get-GatewayMissing", kind: ps.KindScript, outcome: ps.OutcomeNone, message: "no such user", alive: true},
	{script: "New-GatewayHalf", write: true, kind: ps.KindScript, outcome: ps.OutcomePartial, steps: 1, alive: true},
	{script: "No-SuchScript", kind: ps.KindScript, outcome: ps.OutcomeNone, message: "CommandNotFoundException", alive: true},

	{script: "Stop-GatewayBefore", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "PowerShell ended"},
	{script: "Stop-GatewayBefore", write: true, kind: ps.KindDied, outcome: ps.OutcomeNone},
	{script: "Stop-GatewayAfterIntent", kind: ps.KindDied, outcome: ps.OutcomeNone},
	{script: "Stop-GatewayAfterIntent", write: true, kind: ps.KindDied, outcome: ps.OutcomeUnknown},
	{script: "Stop-GatewayAfterStep", write: true, kind: ps.KindDied, outcome: ps.OutcomeUnknown, steps: 1},
	{script: "Stop-GatewayInsideHeader", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "inside a frame"},
	{script: "Stop-GatewayInsideFrame", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "inside a frame"},
	{script: "Stop-GatewayBeforeLineFeed", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "inside a frame"},
	{script: "Stop-GatewayAfterEnd"},

	{script: "Wait-GatewayForever", limit: 50 * time.Millisecond, kind: ps.KindTimeout, outcome: ps.OutcomeNone, message: "did not end within 50ms"},
	{script: "Wait-GatewayForever", write: true, limit: 50 * time.Millisecond, kind: ps.KindTimeout, outcome: ps.OutcomeNone},
	{script: "Wait-GatewayAfterStep", write: true, limit: time.Second, kind: ps.KindTimeout, outcome: ps.OutcomeUnknown, steps: 1},
	{script: "Wait-GatewayInsideFrame", limit: 50 * time.Millisecond, kind: ps.KindTimeout, outcome: ps.OutcomeNone},

	{script: "Send-GatewayWrongId", kind: ps.KindDied, outcome: ps.OutcomeNone, message: `end frame with id "999"`},
	{script: "Send-GatewayWrongIdFirst", kind: ps.KindDied, outcome: ps.OutcomeNone, steps: 1, message: `records frame with id "999"`},
	{script: "Send-GatewayWrongIdFirst", write: true, kind: ps.KindDied, outcome: ps.OutcomeUnknown, steps: 1, message: `id "999"`},
	{script: "Send-GatewayQuestion", kind: ps.KindDied, outcome: ps.OutcomeNone, message: `id "?"`},
	{script: "Send-GatewayWrongKind", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "kind"},
	{script: "Send-GatewayReady", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "out of place"},
	{script: "Send-GatewayBadLength", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "length"},
	{script: "Send-GatewayNegative", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "length"},
	{script: "Send-GatewayLeadingZero", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "length"},
	{script: "Send-GatewayLongHeader", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "header"},
	{script: "Send-GatewayShort", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "line feed"},
	{script: "Send-GatewayHuge", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "output limit exceeded"},
	{script: "Send-GatewayNoJson", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "JSON array"},
	{script: "Send-GatewayObject", write: true, kind: ps.KindDied, outcome: ps.OutcomeUnknown, message: "JSON array"},
	{script: "Send-GatewayBadEnd", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "perhaps"},
	{script: "Send-GatewayArrayEnd", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "JSON object"},
	{script: "Send-GatewayBadStep", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "label"},
	{script: "Send-GatewayTwice"},
	{script: "Send-GatewayFlood", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "output limit exceeded"},
	{script: "Send-GatewayNoiseFlood", kind: ps.KindDied, outcome: ps.OutcomeNone, message: "output limit exceeded"},
}

func TestEveryFaultGivesATypedErrorAndLeavesNothing(t *testing.T) {
	// The clock of a synctest bubble stops while any goroutine runs, and at its end the bubble waits for all
	// goroutines.
	for _, c := range faultCases {
		t.Run(c.name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.run(t, &sessiontest.Process{Scripts: sessiontest.Faults})
			})
		})
	}
}

func (c faultCase) name() string {
	if c.write {
		return c.script + " as a write"
	}
	return c.script
}

func (c faultCase) run(t *testing.T, starter session.Starter) {
	cfg := config(starter)
	cfg.MaxOutput = 8 << 20
	s := start(t, cfg)
	limit := c.limit
	if limit == 0 {
		limit = patience
	}
	var records []json.RawMessage
	result, err := s.Run(t.Context(), ps.Request{Script: c.script, Write: c.write, Limit: limit,
		Records: ps.Collect(&records)})
	if strings.Contains(c.message, `id "`) {
		assert.Empty(t, records, "nothing after a frame of another request is handed on")
	}
	if c.kind == "" {
		require.NoError(t, err)
		require.NotNil(t, result)
	} else {
		require.Error(t, err)
		require.IsType(t, &ps.Error{}, err)
		e := ps.AsError(err)
		assert.Equal(t, c.kind, e.Kind)
		assert.Equal(t, c.outcome, e.Outcome)
		assert.Len(t, e.Steps, c.steps)
		assert.Contains(t, err.Error(), c.message)
	}
	if c.alive {
		_, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayNothing"})
		require.NoError(t, err)
		require.NoError(t, s.Close(t.Context()))
		return
	}
	select {
	case <-s.Dead():
	case <-time.After(patience):
		t.Fatal("the session lives on after a surprise")
	}
	_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayNothing"})
	assert.Equal(t, ps.KindDied, ps.AsError(err).Kind)
	s.Kill()
}
