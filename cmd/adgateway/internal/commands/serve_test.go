package commands

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

	"adgateway/gateway/auth"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standIn is the life of a process that `adgateway serve` takes for PowerShell:
// the sandbox's engine, with one of the keys that lie in a folder, because
// sessions inherit no variables of ours. It leaves its process id there.
func standIn(dir string, args []string) int {
	keys, _ := filepath.Glob(filepath.Join(dir, "*.key"))
	for _, key := range keys {
		mine := filepath.Join(dir, strconv.Itoa(os.Getpid())+".pid")
		if os.Rename(key, mine) != nil {
			continue // another process was faster
		}
		variables, err := os.ReadFile(mine)
		if err != nil {
			return 71
		}
		for variable := range strings.SplitSeq(string(variables), "\n") {
			name, value, _ := strings.Cut(variable, "=")
			if os.Setenv(name, value) != nil {
				return 71
			}
		}
		return Run(context.Background(), append([]string{"engine"}, args...), os.Stdout, os.Stderr)
	}
	return 70
}

// served is a running `adgateway serve` on stand-ins.
type served struct {
	t        *testing.T
	*server  // the command's
	settings string
	dir      string // of the stand-ins
	log      *lockedBuilder
	stop     func() error
}

func startServe(t *testing.T) *served {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else every process takes a second to end
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{})
	require.NoError(t, err)
	modules, culture := world.Modules()
	modulesServer, err := remote.NewServer(remote.Options{Modules: modules, Declared: sandbox.Declarations(), Culture: culture})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, modulesServer.Close()) })
	s := &served{t: t, dir: t.TempDir(), log: &lockedBuilder{}, settings: filepath.Join(t.TempDir(), settingsName)}
	for i := range 20 {
		s.write(filepath.Join(s.dir, fmt.Sprintf("%d.key", i)), strings.Join(modulesServer.Issue(), "\n"))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	s.change("")
	f := settingFlags{file: s.settings, set: []string{
		"http.listen=127.0.0.1:0", "powershell.path=" + strconv.Quote(self), "powershell.arguments=" + fmt.Sprintf("[standin, %q]", s.dir),
	}}
	f.amend = f.places
	ctx, cancel := context.WithCancel(t.Context())
	s.server, err = prepareServe(ctx, &f, s.log, world.Dial)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			return errors.New("it does not end")
		}
	})
	t.Cleanup(func() { assert.NoError(t, s.stop(), "%s", s.log) })
	return s
}

func (s *served) write(path, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

// change writes the settings file.
func (s *served) change(text string) { s.write(s.settings, text) }

func (s *served) get(path, token string) (status int, body string) {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url()+path, nil)
	require.NoError(s.t, err)
	if token != "" {
		request.Header.Set("Auth-Token", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(text)
}

// ready tells, by name, the checks of /readyz that fail and why.
func (s *served) ready(token string) map[string]string {
	_, body := s.get("/readyz", token)
	var answer struct {
		Result []struct {
			Name   string
			OK     bool
			Reason string
		}
	}
	require.NoError(s.t, json.Unmarshal([]byte(body), &answer), body)
	failing := map[string]string{}
	for _, check := range answer.Result {
		if !check.OK {
			failing[check.Name] = check.Reason
		}
	}
	return failing
}

func (s *served) eventually(what string, is func() bool) {
	s.t.Helper()
	require.Eventually(s.t, is, patience, 20*time.Millisecond, "%s: %s", what, s.log)
}

// token adds a token to the store, as another process does.
func (s *served) token() string {
	s.t.Helper()
	account := auth.NewAccount("test", time.Now(), auth.Rights{Scopes: []string{string(auth.All)}})
	token := account.AddToken(time.Now(), time.Time{})
	file := auth.File{Path: s.live.Now().Auth.Store}
	require.NoError(s.t, file.Edit(s.t.Context(), func(d *auth.Document) error {
		d.Tokens = append(d.Tokens, account)
		return nil
	}))
	s.eventually("the token is taken", func() bool {
		status, _ := s.get("/api/OU/All", token)
		return status != http.StatusUnauthorized
	})
	return token
}

func TestServeLetsInWhoHasATokenAndEndsItsProcesses(t *testing.T) {
	s := startServe(t)
	assert.Contains(t, s.ready(""), "credentials", "nobody can be let in yet")
	assert.Contains(t, s.log.String(), "adgateway token create")
	assert.Equal(t, filepath.Join(filepath.Dir(s.settings), "credentials.json"), s.live.Now().Auth.Store, "beside the settings")

	token := s.token()
	s.eventually("it is ready", func() bool { return len(s.ready(token)) == 0 })
	status, body := s.get("/api/ADUser/aschmidt/Details", token)
	assert.Equal(t, http.StatusOK, status, body)
	assert.Contains(t, body, `"username":"aschmidt"`)

	// Requests that run when it is told to stop are answered; what waits is refused.
	answers := make(chan int, 3)
	for range cap(answers) {
		go func() {
			status, _ := s.get("/api/ADUser/ListUsers", token)
			answers <- status
		}()
	}
	s.eventually("they run", func() bool { return s.stack.Pool.Stats()["directory"].Busy > 0 || len(answers) > 0 })
	began := time.Now()
	require.NoError(t, s.stop(), "%s", s.log)
	assert.Less(t, time.Since(began), 20*time.Second, "so long Windows waits")
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
		assert.Error(t, err, "process %d goes on", pid)
	}
}

func TestSettingsChangeWhileItServes(t *testing.T) {
	s := startServe(t)
	token := s.token()
	standard := func() bool {
		_, body := s.get("/api/ADUser/aschmidt/Details", token)
		return strings.Contains(body, `"result":[{`)
	}
	assert.True(t, standard())

	s.change("http:\n  dialect: classic\nlog:\n  format: json\npool:\n  dnsSessions: 3\n")
	s.eventually("the dialect is in force", func() bool { return !standard() })
	s.eventually("what waits is told", func() bool {
		return strings.Contains(s.log.String(), `"keys":"pool.dnsSessions"`) && strings.Contains(s.log.String(), "restart needed")
	})

	s.change("http:\n  dialect: [\n")
	s.eventually("the fault is told", func() bool { return strings.Contains(s.log.String(), "those before stay in force") })
	assert.Contains(t, s.ready(token)["settings"], settingsName)
	assert.False(t, standard(), "what was in force stays")

	s.change("http:\n  dialect: modern\nlog:\n  levle: debug\n")
	s.eventually("all faults are told", func() bool {
		reason := s.ready(token)["settings"]
		return strings.Contains(reason, "one of standard, classic") && strings.Contains(reason, "did you mean log.level?")
	})

	s.change("")
	s.eventually("it is whole again", standard)
	assert.NotContains(t, s.ready(token), "settings")
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
		path, err := findPowerShell(c.path, c.system, c.look)
		assert.Equal(t, c.want, path)
		if c.fault == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, c.fault)
		}
	}
}
