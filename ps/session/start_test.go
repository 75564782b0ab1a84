package session_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
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

func TestAFailedStartReturnsTheReasonAndLeavesNothing(t *testing.T) {
	hang := func(c *sessiontest.Call) bool { <-c.Context.Done(); panic(sessiontest.ErrExit) }
	ready := func(payload string) func(*sessiontest.Call) bool {
		return func(c *sessiontest.Call) bool { c.Frame("ready", payload); return true }
	}
	cases := []struct {
		name    string
		process *sessiontest.Process
		timeout time.Duration
		kind    ps.Kind
		message string
	}{
		{name: "no such program", process: &sessiontest.Process{StartErr: errors.New("file not found")}, kind: ps.KindUnavailable, message: "file not found"},
		{name: "program is taken for a virus", process: &sessiontest.Process{StartErr: fmt.Errorf("fork/exec: %w", syscall.Errno(225))}, kind: ps.KindUnavailable, message: "blocked the gateway's PowerShell (error 225)"},
		{name: "dies at once", process: &sessiontest.Process{Boot: func(*sessiontest.Call) bool { panic(sessiontest.ErrExit) }}, kind: ps.KindUnavailable, message: "PowerShell ended"},
		{name: "dies with words", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
			_, _ = io.WriteString(c.Stderr, "The term 'x' is not recognized\n")
			panic(sessiontest.ErrExit)
		}}, kind: ps.KindUnavailable, message: "it wrote: The term 'x' is not recognized"},
		{name: "dies with many words", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
			_, _ = io.WriteString(c.Stderr, strings.Repeat("ä word. ", 1000))
			panic(sessiontest.ErrExit)
		}}, kind: ps.KindUnavailable, message: "..."},
		{name: "blocked by antivirus software", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
			_, _ = io.WriteString(c.Stderr, "In Zeile:1 Zeichen:1\r\n+ . ([scriptblock]::Create(...\r\nDieses Skript enth\xe4lt sch\xe4dliche Inhalte.\r\n"+
				"    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException\r\n    + FullyQualifiedErrorId : ScriptContainedMaliciousContent\r\n")
			panic(sessiontest.ErrExit)
		}}, kind: ps.KindUnavailable, message: "endpoint protection or a policy blocked the gateway's PowerShell (ScriptContainedMaliciousContent)"},
		{name: "blocked by a policy", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
			c.Frame("error", `{"step":"import module","type":"System.Management.Automation.ParseException","id":"ScriptHasAdminBlockedContent,Microsoft.PowerShell.Commands.ImportModuleCommand","category":"ParserError","message":"Richtlinie"}`)
			return false
		}}, kind: ps.KindUnavailable, message: "blocked the gateway's PowerShell (ScriptHasAdminBlockedContent,"},
		{name: "says nothing", process: &sessiontest.Process{Boot: hang}, timeout: 50 * time.Millisecond, kind: ps.KindUnavailable, message: "overlapped pipes"},
		{name: "boot line ends without ready", process: &sessiontest.Process{Boot: func(*sessiontest.Call) bool { return false }}, kind: ps.KindUnavailable, message: "the request loop ended by itself"},
		{name: "module is missing", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
			c.Frame("error", `{"step":"import","type":"System.IO.FileNotFoundException","id":"Modules_ModuleNotFound,Microsoft.PowerShell.Commands.ImportModuleCommand","category":"ResourceUnavailable","message":"The specified module was not loaded"}`)
			return false
		}}, kind: ps.KindUnavailable, message: "Modules_ModuleNotFound"},
		{name: "constrained language", process: &sessiontest.Process{Boot: ready(strings.Replace(sessiontest.ReadyPayload, "FullLanguage", "ConstrainedLanguage", 1))}, kind: ps.KindUnavailable, message: "language mode ConstrainedLanguage"},
		{name: "module of another process", process: &sessiontest.Process{Boot: ready(strings.Replace(sessiontest.ReadyPayload, "{", `{"proxied":true,`, 1))}, kind: ps.KindUnavailable, message: "PowerShell 7.6.5 runs the module ActiveDirectory in a Windows PowerShell behind it"},
		{name: "ready without language mode", process: &sessiontest.Process{Boot: ready(`{}`)}, kind: ps.KindUnavailable, message: "language mode"},
		{name: "ready is no object", process: &sessiontest.Process{Boot: ready(`[]`)}, kind: ps.KindUnavailable, message: "JSON object"},
		{name: "end instead of ready", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool { c.End(); return true }}, kind: ps.KindUnavailable, message: "out of place"},
		{name: "broken frame", process: &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
			_, _ = io.WriteString(c.Stdout, "\x1eboot ready x\n")
			return true
		}}, kind: ps.KindUnavailable, message: "length"},
		{name: "data line never arrives", process: &sessiontest.Process{Line: func(string) bool { return false }}, timeout: 300 * time.Millisecond, kind: ps.KindUnavailable, message: "data line did not arrive"},
		{name: "data line arrives changed", process: &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){"Test-GatewayLine": func(c *sessiontest.Call) {
			c.Frame("records", `[{"text":"O'Brien?s","length":5}]`)
			c.End()
		}}}, kind: ps.KindUnavailable, message: "does not arrive whole"},
		{name: "data line cannot be decoded", process: &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){"Test-GatewayLine": sessiontest.Faults["Send-GatewayQuestion"]}}, kind: ps.KindUnavailable, message: "first request"},
		{name: "first request fails", process: &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){"Test-GatewayLine": sessiontest.Faults["Get-GatewayMissing"]}}, kind: ps.KindUnavailable, message: "first request"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config(c.process)
				logged := &journal{}
				cfg.Log, cfg.Meter = logged.log, &session.Meter{}
				if c.timeout > 0 {
					cfg.StartTimeout = c.timeout
				}
				s, err := session.Start(t.Context(), cfg)
				require.Error(t, err)
				require.Nil(t, s)
				require.IsType(t, &ps.Error{}, err)
				assert.Equal(t, c.kind, ps.AsError(err).Kind)
				assert.Contains(t, err.Error(), c.message)
				assert.NotContains(t, err.Error(), "FromBase64String", "the boot line must not be quoted")
				assert.Less(t, len(err.Error()), 1000)
				assert.NotContains(t, logged.text(), "session ended", "the error tells it, once")
				if strings.Contains(err.Error(), "ImportModuleCommand") {
					assert.Equal(t, map[session.Cause]int64{session.CauseStart: 1}, cfg.Meter.Stats().Killed)
				}
			})
		})
	}
}

func TestCancellingAStartEndsTheProcess(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	process := &sessiontest.Process{Boot: func(c *sessiontest.Call) bool {
		cancel()
		<-c.Context.Done()
		panic(sessiontest.ErrExit)
	}}
	_, err := session.Start(ctx, config(process))
	require.Error(t, err)
	assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind)
}

func TestAnInvalidBootIsRejected(t *testing.T) {
	good := session.Boot{Prelude: ps.Source{Name: "prelude", Text: "x"}, Module: "DnsServer"}
	cases := []struct {
		name    string
		change  func(*session.Boot)
		message string
	}{
		{"no prelude", func(b *session.Boot) { b.Prelude.Text = " \n" }, "empty prelude"},
		{"module with a quote", func(b *session.Boot) { b.Module = "Dns'; exit; '" }, "module name"},
		{"script with a quote", func(b *session.Boot) { b.Scripts = []ps.Source{{Name: "Get-X'", Text: "x"}} }, "Verb-Noun"},
		{"script that an alias may hide", func(b *session.Boot) { b.Scripts = []ps.Source{{Name: "rd", Text: "x"}} }, "Verb-Noun"},
		{"name in lower case", func(b *session.Boot) { b.Scripts = []ps.Source{{Name: "Get-X", Text: "x"}, {Name: "Get-x", Text: "x"}} }, "Verb-Noun"},
		{"duplicate script", func(b *session.Boot) {
			b.Scripts = []ps.Source{{Name: "Get-XY", Text: "x"}, {Name: "Get-XY", Text: "x"}}
		}, "duplicate script"},
		{"reserved name", func(b *session.Boot) { b.Scripts = []ps.Source{{Name: "Test-GatewayLine", Text: "x"}} }, "duplicate script"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			process := &sessiontest.Process{}
			cfg := session.Config{Starter: process, Boot: good}
			c.change(&cfg.Boot)
			_, err := session.Start(t.Context(), cfg)
			require.Error(t, err)
			assert.Equal(t, ps.KindInternal, ps.AsError(err).Kind)
			assert.Contains(t, err.Error(), c.message)
			assert.Zero(t, process.Started())
		})
	}
}

func TestTheBootLineIsOneLineOfASCII(t *testing.T) {
	process := &sessiontest.Process{}
	cfg := config(process)
	s := start(t, cfg)
	require.NoError(t, s.Close(t.Context()))
	line := process.BootLine()
	require.True(t, strings.HasSuffix(line, "\n"))
	for i, c := range []byte(line[:len(line)-1]) {
		require.True(t, c >= ' ' && c <= '~', "byte %d is 0x%02x", i, c)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(cfg.Boot.Prelude.Text))
	assert.True(t, strings.HasPrefix(line, ". ([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('"+encoded+"')))); "))
	assert.Contains(t, line, "Set-Item -LiteralPath 'function:global:Get-GatewayEcho' -Value ([scriptblock]::Create(")
	assert.Regexp(t, `; Start-GatewaySession -Module 'ActiveDirectory'; echo '[^']+'; \[Console\]::Error\.WriteLine\('[^']+'\)\n$`, line)
}

// strangeStarter starts processes that lack something a session requires.
type strangeStarter struct{ *sessiontest.Process }

type onlyWait struct{ session.Waiter }

func (s strangeStarter) StartProcess(cmd string, args ...string) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	w, in, out, errs, err := s.Process.StartProcess(cmd, args...)
	_ = in.(io.Closer).Close() // ends the process
	return onlyWait{w}, in, out, errs, err
}

func TestAStarterWithoutKillIsRejected(t *testing.T) {
	defer goleak.VerifyNone(t)
	_, err := session.Start(t.Context(), config(strangeStarter{&sessiontest.Process{}}))
	require.Error(t, err)
	assert.Equal(t, ps.KindUnavailable, ps.AsError(err).Kind)
	assert.Contains(t, err.Error(), "cannot be killed")
}

func TestASecondRequestIsRejectedWhileBusy(t *testing.T) {
	process := &sessiontest.Process{Scripts: sessiontest.Faults}
	s := start(t, config(process))
	done := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		_, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayMany", Args: ps.Args{"Batches": ps.Int(1), "Size": ps.Int(1)},
			Records: func(json.RawMessage) error { started <- struct{}{}; <-started; return nil }})
		done <- err
	}()
	<-started
	_, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayNothing"})
	require.Error(t, err)
	assert.Equal(t, ps.KindInternal, ps.AsError(err).Kind)
	started <- struct{}{}
	require.NoError(t, <-done)
}

func TestCancellationEndsAReadButNotAWrite(t *testing.T) {
	defer goleak.VerifyNone(t)
	release := make(chan struct{})
	running := make(chan struct{}, 1)
	process := &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
		"Wait-GatewayRelease": func(c *sessiontest.Call) {
			running <- struct{}{}
			select {
			case <-release:
				c.Frame("end", `{"effect":"changed"}`)
			case <-c.Context.Done():
				panic(sessiontest.ErrExit)
			}
		},
	}}
	run := func(write bool) (*ps.Result, error) {
		s := start(t, config(process))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-running
			cancel()
			if write {
				release <- struct{}{}
			}
		}()
		result, err := s.Run(ctx, ps.Request{Script: "Wait-GatewayRelease", Write: write, Limit: patience})
		s.Kill()
		return result, err
	}
	_, err := run(false)
	require.Error(t, err)
	assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind)
	assert.ErrorIs(t, err, context.Canceled)

	result, err := run(true)
	require.NoError(t, err)
	assert.Equal(t, ps.EffectChanged, result.Effect)

	s := start(t, config(process))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Run(ctx, ps.Request{Script: "Wait-GatewayRelease", Write: true})
	assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind, "a write that has not begun")
	_, err = s.Run(t.Context(), ps.Request{Script: "No-Script"})
	assert.Equal(t, ps.KindScript, ps.AsError(err).Kind, "the session was not touched")
	s.Kill()
}

func TestAFailingRecordsCallbackEndsAReadButNotAWrite(t *testing.T) {
	defer goleak.VerifyNone(t)
	refuse := errors.New("shape")
	typed := &ps.Error{Kind: ps.KindInternal, Message: "shape"}
	many := ps.Args{"Batches": ps.Int(100), "Size": ps.Int(100_000)}
	process := &sessiontest.Process{Scripts: sessiontest.Faults}

	s := start(t, config(process))
	calls := 0
	_, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayMany", Args: many, Records: func(json.RawMessage) error { calls++; return refuse }})
	assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind)
	assert.ErrorIs(t, err, refuse)
	assert.Equal(t, 1, calls)
	s.Kill()

	s = start(t, config(process))
	_, err = s.Run(t.Context(), ps.Request{Script: "New-GatewayThing", Write: true, Records: func(json.RawMessage) error { return typed }})
	e := ps.AsError(err)
	assert.Equal(t, ps.KindInternal, e.Kind)
	assert.Equal(t, ps.OutcomeDone, e.Outcome)
	assert.Len(t, e.Steps, 1)
	assert.Empty(t, typed.Steps, "the caller's error is not touched")
	_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayNothing"})
	require.NoError(t, err)
	s.Kill()
}

func TestAProcessThatDoesNotExitIsKilled(t *testing.T) {
	defer goleak.VerifyNone(t)
	process := &sessiontest.Process{NoLeave: true}
	s := start(t, config(process))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Close(ctx)
	require.Error(t, err)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestCloseCutsOffARunningRequest(t *testing.T) {
	defer goleak.VerifyNone(t)
	running := make(chan struct{})
	process := &sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){"Wait-X": func(c *sessiontest.Call) {
		close(running)
		<-c.Context.Done()
		panic(sessiontest.ErrExit)
	}}}
	s := start(t, config(process))
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), ps.Request{Script: "Wait-X", Write: true})
		done <- err
	}()
	<-running
	require.Error(t, s.Close(t.Context()))
	err := <-done
	assert.Equal(t, ps.KindDied, ps.AsError(err).Kind)
	assert.Equal(t, ps.OutcomeNone, ps.AsError(err).Outcome)
}

func TestNoiseIsLoggedWithoutSecrets(t *testing.T) {
	var log journal
	cfg := config(&sessiontest.Process{Scripts: sessiontest.Faults})
	cfg.Log = log.log
	s := start(t, cfg)
	const secret = `Tr0ub"4dor`
	_, err := s.Run(t.Context(), ps.Request{ID: "req-7", Script: "Get-GatewayNoise", Args: ps.Args{"Password": ps.Secret(secret)}})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	assert.Contains(t, log.text(), "WARNING: something")
	assert.Contains(t, log.text(), "At line:1 char:1 ***")
	assert.Contains(t, log.text(), "req-7")
	assert.NotContains(t, log.text(), "Tr0ub")
	assert.NotContains(t, log.text(), base64.StdEncoding.EncodeToString([]byte(secret)))
}

func TestNoiseKeptForTheLogIsBounded(t *testing.T) {
	var log journal
	cfg := config(&sessiontest.Process{Scripts: sessiontest.Faults})
	cfg.Log = log.log
	s := start(t, cfg)
	_, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayStderrFlood"})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	assert.Less(t, len(log.text()), 40_000)
	assert.Contains(t, log.text(), `"bytes":`)
}
