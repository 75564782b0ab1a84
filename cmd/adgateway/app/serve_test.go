package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
)

const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "blocked" {
		fmt.Fprint(os.Stderr, "Inhalt blockiert.\r\n    + FullyQualifiedErrorId : "+
			"ScriptContainedMaliciousContent\r\n")
		os.Exit(1)
	}
	if len(os.Args) > 2 && os.Args[1] == "standin" {
		os.Exit(standIn(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// standIn is the main function of a process that stands in for PowerShell with the
// sandbox's engine. Sessions do not inherit our environment variables, so it reads
// them from one of the key files in dir, which it renames to its process ID.
func standIn(dir string, args []string) int {
	keys, _ := filepath.Glob(filepath.Join(dir, "*.key"))
	for _, key := range keys {
		own := filepath.Join(dir, strconv.Itoa(os.Getpid())+".pid")
		if os.Rename(key, own) != nil {
			continue // taken by another process
		}
		variables, err := os.ReadFile(own)
		if err != nil {
			return 71
		}
		for variable := range strings.SplitSeq(string(variables), "\n") {
			name, value, _ := strings.Cut(variable, "=")
			if os.Setenv(name, value) != nil {
				return 71
			}
		}
		return remote.Engine(context.Background(), args, os.Stdin, os.Stdout, os.Stderr)
	}
	return 70
}

// served is a running server whose sessions are stand-ins.
type served struct {
	t *testing.T
	*Server
	settings string // the settings file
	dir      string // the folder of the stand-ins
	output   *lockedBuilder
	stop     func() error
}

func startServe(t *testing.T) *served {
	t.Helper()
	return startServeIn(t, "standin")
}

// startServeIn is startServe with another argument for the stand-ins, see TestMain.
func startServeIn(t *testing.T, standIn string) *served {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise every process takes a second to end
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{})
	require.NoError(t, err)
	modulesServer, err := remote.NewServer(world)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, modulesServer.Close()) })
	s := &served{t: t, dir: t.TempDir(), output: &lockedBuilder{},
		settings: filepath.Join(t.TempDir(), program.FileName)}
	for i := range 20 {
		s.write(filepath.Join(s.dir, fmt.Sprintf("%d.key", i)), strings.Join(modulesServer.Issue(), "\n"))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	s.change("")
	f := &program.Flags{File: s.settings, Beside: true, Set: []string{
		"http.listen=127.0.0.1:0", "powershell.path=" + strconv.Quote(self), "powershell.arguments=" + fmt.Sprintf("[%s, %q]", standIn, s.dir),
	}}
	ctx, cancel := context.WithCancel(t.Context())
	s.Server, err = Prepare(ctx, ServerOptions{Flags: f, Version: "test", Stderr: s.output, Dial: world.Dial})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			return errors.New("the server did not stop")
		}
	})
	t.Cleanup(func() { assert.NoError(t, s.stop(), "%s", s.output) })
	return s
}

func (s *served) write(path, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

// change writes the settings file.
func (s *served) change(text string) { s.write(s.settings, text) }

func (s *served) get(path, token string) (status int, body string) {
	s.t.Helper()
	status, body, err := s.try(path, token)
	require.NoError(s.t, err)
	return status, body
}

// try is get for goroutines, which must not fail the test.
func (s *served) try(path, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL()+path, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Auth-Token", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// failing returns the checks of /readyz that fail or are degraded, and their reasons.
func (s *served) failing(token string) map[string]string {
	_, body := s.get("/readyz", token)
	var answer struct {
		Result []struct {
			Name     string
			OK       bool
			Degraded bool
			Reason   string
		}
	}
	require.NoError(s.t, json.Unmarshal([]byte(body), &answer), body)
	failing := map[string]string{}
	for _, check := range answer.Result {
		if !check.OK || check.Degraded {
			failing[check.Name] = check.Reason
		}
	}
	return failing
}

func (s *served) eventually(what string, condition func() bool) {
	s.t.Helper()
	require.Eventually(s.t, condition, patience, 20*time.Millisecond, "%s: %s", what, s.output)
}

// token adds a token to the credential file, as another process would.
func (s *served) token() string {
	s.t.Helper()
	account := authn.NewAccount("test", time.Now(), authn.Rights{Scopes: []string{string(identity.All)}})
	token := account.AddToken(time.Now(), time.Time{})
	file := authn.File{Path: s.live.Now().Auth.Store}
	require.NoError(s.t, file.Edit(s.t.Context(), func(d *authn.Document) error {
		d.Tokens = append(d.Tokens, account)
		return nil
	}))
	s.eventually("the token is accepted", func() bool {
		status, _ := s.get("/api/OU/All", token)
		return status != http.StatusUnauthorized
	})
	return token
}

func TestServeAcceptsTokensAndStopsItsProcesses(t *testing.T) {
	s := startServe(t)
	assert.Contains(t, s.failing(""), "credentials", "there are no credentials yet")
	assert.Contains(t, s.output.String(), "adgateway token create")
	assert.Equal(t, filepath.Join(filepath.Dir(s.settings), "credentials.json"), s.live.Now().Auth.Store,
		"next to the settings file")

	token := s.token()
	s.eventually("it is ready", func() bool { return len(s.failing(token)) == 0 })
	status, body := s.get("/api/ADUser/aschmidt/Details", token)
	assert.Equal(t, http.StatusOK, status, body)
	assert.Contains(t, body, `"username":"aschmidt"`)
	assert.NotContains(t, s.output.String(), "rehearsal")

	// When the server stops, running requests are answered and waiting ones rejected.
	answers := make(chan int, 3)
	for range cap(answers) {
		go func() {
			status, _, err := s.try("/api/ADUser/ListUsers", token)
			assert.NoError(t, err)
			answers <- status
		}()
	}
	s.eventually("all requests have reached the pool", func() bool {
		lane := s.stack.Pool.Stats()["directory"]
		return lane.Busy+lane.Waiting+len(answers) >= cap(answers)
	})
	require.NoError(t, s.stop(), "%s", s.output)
	assert.Less(t, s.live.Now().HTTP.ShutdownTimeout, 20*time.Second, "Windows waits no longer")
	counted := map[int]int{}
	for range cap(answers) {
		counted[<-answers]++
	}
	assert.Positive(t, counted[http.StatusOK])
	assert.Equal(t, cap(answers), counted[http.StatusOK]+counted[http.StatusServiceUnavailable], "%v", counted)
	pids, err := filepath.Glob(filepath.Join(s.dir, "*.pid"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(pids), 2, "a process for each lane")
	for _, path := range pids {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".pid"))
		require.NoError(t, err)
		process, err := os.FindProcess(pid)
		if err == nil {
			err = process.Signal(syscall.Signal(0))
		}
		assert.Error(t, err, "process %d is still running", pid)
	}
}

func TestSettingsChangeWhileServing(t *testing.T) {
	s := startServe(t)
	token := s.token()
	standard := func() bool {
		_, body := s.get("/api/ADUser/aschmidt/Details", token)
		return strings.Contains(body, `"result":[{`)
	}
	assert.True(t, standard())

	s.change("http:\n  dialect: classic\nlog:\n  format: json\npool:\n  dnsSessions: 3\n")
	s.eventually("the dialect is in effect", func() bool { return !standard() })
	s.eventually("settings that need a restart are logged", func() bool {
		return strings.Contains(s.output.String(), `"keys":"pool.dnsSessions"`) && strings.Contains(s.output.String(), "restart needed")
	})

	s.change("http:\n  dialect: [\n")
	s.eventually("the gateway still serves", func() bool {
		status, body := s.get("/readyz", token)
		return status == http.StatusOK && strings.Contains(body, `{"name":"settings","ok":true,"degraded":true,"reason":"The settings have mistakes`)
	})
	s.eventually("the mistake is logged",
		func() bool { return strings.Contains(s.output.String(), "the previous settings remain in effect") })
	assert.Contains(t, s.failing(token)["settings"], program.FileName)
	assert.False(t, standard(), "the previous settings remain in effect")

	s.change("http:\n  dialect: modern\nlog:\n  levle: debug\n")
	s.eventually("all mistakes are reported", func() bool {
		reason := s.failing(token)["settings"]
		return strings.Contains(reason, "one of standard, classic") &&
			strings.Contains(reason, "did you mean log.level?")
	})

	s.change("")
	s.eventually("the mistakes are gone", standard)
	assert.NotContains(t, s.failing(token), "settings")
}

func TestFindPowerShell(t *testing.T) {
	here := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			for _, known := range names {
				if name == known {
					return "/bin/" + name, nil
				}
			}
			return "", os.ErrNotExist
		}
	}
	for _, c := range []struct {
		path, system string
		look         func(string) (string, error)
		want, fault  string
	}{
		{"", "windows", here(), "", ""},
		{"", "linux", here("pwsh"), "/bin/pwsh", ""},
		{"", "linux", here(), "", "adgateway sandbox"},
		{"mine", "linux", here("mine"), "/bin/mine", ""},
		{"mine", "windows", here(), "", "powershell.path: mine cannot be run"},
	} {
		path, err := FindPowerShell(c.path, c.system, c.look)
		assert.Equal(t, c.want, path)
		if c.fault == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, c.fault)
		}
	}
}

// lockedBuilder is a strings.Builder for concurrent use.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
	full bool // further writes fail
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return 0, errors.New("the disk is full")
	}
	return b.text.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprint(b.text.String())
}

func TestWhatDoesNotHinderIsDegraded(t *testing.T) {
	s := startServe(t)
	token := s.token()
	soon := authn.NewAccount("soon", time.Now(), authn.Rights{Scopes: []string{string(identity.All)}})
	later := time.Now().Add(3 * 24 * time.Hour)
	soon.Expires = &later
	soon.AddToken(time.Now(), time.Time{})
	file := authn.File{Path: s.live.Now().Auth.Store}
	require.NoError(t, file.Edit(t.Context(), func(d *authn.Document) error {
		d.Tokens = append(d.Tokens, soon)
		return nil
	}))
	s.eventually("the credential is reported", func() bool {
		return strings.Contains(s.failing(token)["credentials"], "soon")
	})
	s.eventually("requests are served", func() bool {
		status, _ := s.get("/readyz", "")
		return status == http.StatusOK
	})
	s.eventually("it is logged", func() bool { return strings.Contains(s.output.String(), "check=credentials") })

	s.output.mu.Lock()
	s.output.full = true
	s.output.mu.Unlock()
	s.log.Info("lost")
	s.eventually("lost entries are reported",
		func() bool { return strings.Contains(s.failing(token)["log"], "could not be written") })
	_, body := s.get("/metrics", token)
	assert.Contains(t, body, `adgateway_check_degraded{check="log"} 1`)
	assert.Contains(t, body, `adgateway_check_ok{check="credentials"} 1`)
	assert.Regexp(t, `\nadgateway_log_lost_entries_total [1-9]`, body)
}
