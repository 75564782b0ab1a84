package winsvc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kardianos/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeWindows is a service manager for both kardianos/service and native.
type fakeWindows struct {
	service.Service // other methods are not called

	elevated   bool
	controller bool
	granted    []string // accounts that may log on as a service
	warnings   []string // returned by Change
	installed  bool
	found      registered
	password   string
	delays     []time.Duration
	reset      time.Duration
	source     bool
	calls      []string
	states     []State // results of the next Finds, after Start and Stop

	fails map[string]error // errors by call
}

func (f *fakeWindows) call(name string) error {
	f.calls = append(f.calls, name)
	return f.fails[name]
}

func (f *fakeWindows) Create(line, account, password string) error {
	if err := f.call("Create"); err != nil {
		return err
	}
	f.installed = true
	f.found = registered{CommandLine: line, Account: account, Start: Manual, State: Stopped}
	f.password = password
	return nil
}

func (f *fakeWindows) DomainController() bool { return f.controller }

func (f *fakeWindows) GrantLogon(account string) error {
	f.granted = append(f.granted, account)
	return f.fails["GrantLogon"]
}

func (f *fakeWindows) Uninstall() error {
	if err := f.call("Uninstall"); err != nil {
		return err
	}
	f.installed, f.source = false, false
	return f.fails["Source"]
}

func (f *fakeWindows) Start() error {
	if err := f.call("Start"); err != nil {
		return err
	}
	f.next(Starting, Running)
	return nil
}

// next sets the states to report, unless the test has set them.
func (f *fakeWindows) next(states ...State) {
	if f.states == nil {
		f.states = states
	}
}

func (f *fakeWindows) Elevated() bool { return f.elevated }

func (f *fakeWindows) Find() (registered, error) {
	if f.fails["Find"] != nil {
		return registered{}, f.fails["Find"]
	}
	if !f.installed {
		return registered{}, ErrNotInstalled
	}
	if len(f.states) > 0 {
		f.found.State, f.states = f.states[0], f.states[1:]
	}
	return f.found, nil
}

func (f *fakeWindows) Change(c change) ([]string, error) {
	if err := f.call("Change"); err != nil {
		return nil, err
	}
	if !f.installed {
		return nil, service.ErrNotInstalled
	}
	f.found.CommandLine = c.CommandLine
	if c.Start != "" {
		f.found.Start = c.Start
	}
	if c.Account != "" {
		f.found.Account, f.password = c.Account, c.Password
	}
	return f.warnings, nil
}

func (f *fakeWindows) Recover(delays []time.Duration, reset time.Duration) ([]string, error) {
	f.delays, f.reset, f.found.Recovers = delays, reset, true
	return nil, f.call("Recover")
}

func (f *fakeWindows) AddEventSource() error {
	f.source = true
	return f.call("AddEventSource")
}

// Stop is a method of both interfaces. On Windows, only the Stop of native is called.
func (f *fakeWindows) Stop() error {
	if err := f.call("Stop"); err != nil {
		return err
	}
	f.next(Running, Stopping, Stopped)
	return nil
}

const exe = `C:\Program Files\adgateway\adgateway.exe`

func newFake(t *testing.T) (*fakeWindows, *Manager) {
	t.Helper()
	f := &fakeWindows{elevated: true, fails: map[string]error{}}
	return f, &Manager{
		of:     Gateway,
		open:   func(*service.Config) (service.Service, error) { return f, nil },
		native: f, poll: time.Millisecond,
		exists: func(path string) bool { return path == exe },
	}
}

func TestInstallRegistersEverything(t *testing.T) {
	f, m := newFake(t)
	done, err := m.Install(Registration{Executable: exe, Arguments: []string{"service", "run", "--config", `C:\Program Data\a.yaml`}})
	require.NoError(t, err)
	assert.Equal(t, registered{
		CommandLine: `"C:\Program Files\adgateway\adgateway.exe" service run --config "C:\Program Data\a.yaml"`,
		Account:     `NT SERVICE\adgateway`, Start: Delayed, Recovers: true, State: Stopped,
	}, f.found)
	assert.Equal(t, []time.Duration{5 * time.Second, 30 * time.Second, time.Minute}, f.delays)
	assert.Equal(t, 24*time.Hour, f.reset)
	assert.True(t, f.source)
	assert.Equal(t, []string{
		`service adgateway was installed; it runs as NT SERVICE\adgateway (virtual account), start type: automatic, delayed`,
		"Windows restarts it after a failure, waiting 5 s, 30 s, 60 s",
	}, done)
	assert.Empty(t, f.granted, "a virtual account has the right")
}

func TestInstallTwiceUpdates(t *testing.T) {
	f, m := newFake(t)
	f.installed = true
	f.found = registered{CommandLine: `C:\old\adgateway.exe service run`, Account: `CORP\web`, Start: Disabled, State: Running}
	done, err := m.Install(Registration{Executable: exe})
	require.NoError(t, err)
	assert.Equal(t, registered{CommandLine: `"` + exe + `"`, Account: `CORP\web`, Start: Disabled,
		Recovers: true, State: Running}, f.found, "account and start type are kept")
	assert.Equal(t, []string{"Change", "AddEventSource", "Recover"}, f.calls)
	assert.Equal(t, []string{
		"service adgateway was already installed and has been updated",
		`it runs "C:\Program Files\adgateway\adgateway.exe"; previously: C:\old\adgateway.exe service run`,
		"the running service is unchanged: apply this with 'adgateway service restart'",
		"Windows restarts it after a failure, waiting 5 s, 30 s, 60 s",
	}, done)

	done, err = m.Install(Registration{Executable: exe, Account: `CORP\gw$`})
	require.NoError(t, err)
	assert.Equal(t, `CORP\gw$`, f.found.Account)
	assert.Contains(t, done, `it runs as CORP\gw$; previously: CORP\web`)
	assert.Equal(t, []string{`CORP\gw$`}, f.granted)
	_, err = m.Install(Registration{Executable: exe, Account: `CORP\web`})
	assert.EqualError(t, err, `CORP\web is a user account: its password is required`)
	_, err = m.Install(Registration{Executable: exe, Account: `CORP\web`, Password: "s3cret"})
	require.NoError(t, err)
	assert.Equal(t, "s3cret", f.password)
	_, err = m.Install(Registration{Executable: exe, Account: `corp\WEB`})
	require.NoError(t, err, "the same account needs no password")
	assert.Equal(t, "s3cret", f.password)
}

func TestAnUpdateKeepsRecoveryActionsAndStartType(t *testing.T) {
	f, m := newFake(t)
	f.installed, f.found = true, registered{CommandLine: exe, Account: `CORP\gw$`, Start: Manual, Recovers: true,
		State: Stopped}
	done, err := m.Install(Registration{Executable: exe, Account: `CORP\gw$`})
	require.NoError(t, err)
	assert.Equal(t, []string{"Change", "AddEventSource"}, f.calls)
	assert.Equal(t, Manual, f.found.Start)
	assert.Contains(t, done, "what Windows does after a failure is unchanged")

	done, err = m.Install(Registration{Executable: exe, Reset: true})
	require.NoError(t, err)
	assert.Equal(t, Delayed, f.found.Start)
	assert.Equal(t, recovery, f.delays)
	assert.Contains(t, done, "start type: automatic, delayed; previously: manual")
}

func TestARemovedServiceComesBackAsItWas(t *testing.T) {
	f, m := newFake(t)
	none, err := m.Keep()
	require.NoError(t, err)
	assert.Nil(t, none)
	f.installed, f.found = true, registered{CommandLine: exe, Account: `CORP\gw$`, Start: Automatic, State: Running}
	kept, err := m.Keep()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "service.json")
	missing, err := ReadKept(path)
	require.NoError(t, err)
	assert.Nil(t, missing)
	require.NoError(t, kept.Write(path))
	read, err := ReadKept(path)
	require.NoError(t, err)
	assert.Equal(t, &Kept{CommandLine: exe, Account: `CORP\gw$`, Start: Automatic, Running: true}, read)

	f.found.CommandLine = "other"
	restore := func(kept *Kept, want bool) {
		t.Helper()
		done, err := m.Restore(t.Context(), kept)
		require.NoError(t, err)
		assert.Equal(t, want, done)
	}
	restore(read, true)
	assert.Equal(t, exe, f.found.CommandLine)
	f.states = []State{Stopped}
	restore(nil, true)
	assert.False(t, f.installed, "a failed installation leaves no service behind")
	restore(nil, true)
	restore(read, false)
	assert.False(t, f.installed, "a service that is gone is not made anew")
	f.warnings = []string{"no delayed start"}
	done, err := m.Install(Registration{Executable: exe, Kept: read})
	require.NoError(t, err)
	assert.Equal(t, `CORP\gw$`, f.found.Account)
	assert.Equal(t, Automatic, f.found.Start)
	assert.Contains(t, done, "no delayed start", "what Windows does not support is no error")

	require.NoError(t, os.WriteFile(path, []byte(`{"start":"soon"}`), 0o600))
	_, err = ReadKept(path)
	assert.ErrorContains(t, err, `"soon" is no start type`)
	assert.ErrorContains(t, err, path)
}

func TestTheRightToLogOnMayBeGivenByAPolicy(t *testing.T) {
	f, m := newFake(t)
	f.fails["GrantLogon"] = errnoAccessDenied
	done, err := m.Install(Registration{Executable: exe, Account: `CORP\gw$`})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(done, "\n"), `CORP\gw$ could not be given the right 'Log on as a service'`)
}

func TestInstallRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*fakeWindows)
		r       Registration
		says    string
	}{
		"not elevated":           {func(f *fakeWindows) { f.elevated = false }, Registration{Executable: exe}, "Run as administrator"},
		"wrong account":          {nil, Registration{Executable: exe, Account: "gw$"}, `DOMAIN\name$`},
		"password of a gMSA":     {nil, Registration{Executable: exe, Account: `CORP\gw$`, Password: "x"}, "which has no password"},
		"user without password":  {nil, Registration{Executable: exe, Account: `CORP\web`}, "its password is required"},
		"missing executable":     {nil, Registration{Executable: `D:\adgateway.exe`}, `D:\adgateway.exe does not exist`},
		"unknown account":        {failing("Create", errnoInvalidAccount), Registration{Executable: exe, Account: `CORP\gw$`}, "Test-ADServiceAccount"},
		"marked for deletion":    {failing("Create", errnoMarkedForDeletion), Registration{Executable: exe}, "close services.msc"},
		"marked, when updating":  {func(f *fakeWindows) { f.installed = true; f.fails["Change"] = errnoMarkedForDeletion }, Registration{Executable: exe}, "close services.msc"},
		"denied":                 {failing("Create", errnoAccessDenied), Registration{Executable: exe}, "Run as administrator"},
		"domain controller":      {func(f *fakeWindows) { f.controller = true }, Registration{Executable: exe}, "--on-domain-controller"},
		"no password any more":   {nil, Registration{Executable: exe, Kept: &Kept{Account: `CORP\web`}}, "its password is required"},
		"recovery cannot be set": {failing("Recover", errnoAccessDenied), Registration{Executable: exe}, "recovery actions"},
	} {
		t.Run(name, func(t *testing.T) {
			f, m := newFake(t)
			if c.prepare != nil {
				c.prepare(f)
			}
			_, err := m.Install(c.r)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func failing(call string, code syscall.Errno) func(*fakeWindows) {
	return func(f *fakeWindows) { f.fails[call] = fmt.Errorf("deep inside: %w", code) }
}

func TestControl(t *testing.T) {
	start := func(m *Manager) error { return m.Start(context.Background()) }
	stop := func(m *Manager) error { return m.Stop(context.Background()) }
	restart := func(m *Manager) error { return m.Restart(context.Background()) }
	uninstall := func(m *Manager) error { return m.Uninstall(context.Background()) }
	in := func(state State, more ...func(*fakeWindows)) func(*fakeWindows) {
		return func(f *fakeWindows) {
			f.installed, f.found = true, registered{CommandLine: exe, State: state}
			for _, prepare := range more {
				prepare(f)
			}
		}
	}
	for name, c := range map[string]struct {
		prepare func(*fakeWindows)
		do      func(*Manager) error
		calls   []string
		says    string // in the error; empty if there is none
	}{
		"start":                  {in(Stopped), start, []string{"Start"}, ""},
		"start, running":         {in(Running), start, nil, ""},
		"start while it starts":  {in(Starting, func(f *fakeWindows) { f.states = []State{Starting, Starting, Running} }), start, nil, ""},
		"start while it stops":   {in(Stopping, func(f *fakeWindows) { f.states = []State{Stopping, Stopping, Stopped, Starting, Running} }), start, []string{"Start"}, ""},
		"start, not installed":   {func(*fakeWindows) {}, start, nil, "run 'adgateway service install'"},
		"start without right":    {in(Stopped, failing("Start", errnoLogonFailed)), start, []string{"Start"}, "Log on as a service"},
		"start, executable gone": {in(Stopped, failing("Start", errnoFileNotFound)), start, []string{"Start"}, "from its current location"},
		"it ends while starting": {in(Stopped, func(f *fakeWindows) { f.states = []State{Stopped, Starting, Stopped} }), start, []string{"Start"}, "adgateway config check"},
		"stop":                   {in(Running), stop, []string{"Stop"}, ""},
		"stop, stopped":          {in(Stopped), stop, nil, ""},
		"stop while it stops":    {in(Stopping, func(f *fakeWindows) { f.states = []State{Stopping, Stopping, Stopped} }), stop, nil, ""},
		"stop while it starts":   {in(Starting, func(f *fakeWindows) { f.states = []State{Starting, Starting, Running, Stopping, Stopped} }), stop, []string{"Stop"}, ""},
		"somebody stopped it":    {in(Running, failing("Stop", errnoCannotAccept), func(f *fakeWindows) { f.states = []State{Running, Stopping, Stopped} }), stop, []string{"Stop"}, ""},
		"stop denied":            {in(Running, failing("Stop", errnoAccessDenied)), stop, []string{"Stop"}, "Run as administrator"},
		"restart":                {in(Running, func(f *fakeWindows) { f.states = []State{Running, Stopping, Stopped, Stopped, Starting, Running} }), restart, []string{"Stop", "Start"}, ""},
		"uninstall":              {in(Running), uninstall, []string{"Stop", "Uninstall"}, ""},
		"uninstall, stopped":     {in(Stopped), uninstall, []string{"Uninstall"}, ""},
		"uninstall, no source":   {in(Stopped, failing("Source", errnoFileNotFound)), uninstall, []string{"Uninstall"}, ""},
		"uninstall denied":       {in(Stopped, failing("Uninstall", errnoAccessDenied)), uninstall, []string{"Uninstall"}, "Run as administrator"},
		"uninstall, nothing":     {func(*fakeWindows) {}, uninstall, nil, "not installed"},
		"no answer":              {failing("Find", errnoAccessDenied), start, nil, "does not respond"},
	} {
		t.Run(name, func(t *testing.T) {
			f, m := newFake(t)
			c.prepare(f)
			err := c.do(m)
			assert.Equal(t, c.calls, f.calls)
			if c.says == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.says)
			}
		})
	}
}

func TestStopGivesUpWithItsContext(t *testing.T) {
	f, m := newFake(t)
	f.installed, f.found = true, registered{CommandLine: exe, State: Stopping}
	f.states = []State{Stopping}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	assert.ErrorContains(t, m.Stop(ctx), "still stopping")
}

func TestTheArgumentsOfTheServiceAreKnown(t *testing.T) {
	f, m := newFake(t)
	arguments, err := m.Arguments()
	require.NoError(t, err)
	assert.Empty(t, arguments)
	f.installed, f.found.Arguments = true, []string{"service", "run"}
	arguments, err = m.Arguments()
	require.NoError(t, err)
	assert.Equal(t, []string{"service", "run"}, arguments)
	f.fails["Find"] = errnoAccessDenied
	_, err = m.Arguments()
	assert.ErrorContains(t, err, "Run as administrator")
}

func TestStatusTellsWhatKeepsItFromRunning(t *testing.T) {
	f, m := newFake(t)
	state, problems, err := m.Status()
	require.NoError(t, err)
	assert.Equal(t, NotInstalled, state)
	assert.Empty(t, problems)

	f.installed, f.found = true, registered{CommandLine: `"` + exe + `" service run`, Start: Automatic, State: Starting}
	state, problems, err = m.Status()
	require.NoError(t, err)
	assert.Equal(t, Starting, state)
	assert.Empty(t, problems)

	f.found.CommandLine, f.found.Start = `D:\gone.exe service run`, Disabled
	_, problems, err = m.Status()
	require.NoError(t, err)
	require.Len(t, problems, 2)
	assert.Contains(t, problems[0], `D:\gone.exe no longer exists`)
	assert.Contains(t, problems[1], "start type: disabled")
}

func TestAccounts(t *testing.T) {
	for _, c := range []struct {
		text, account string
		kind          AccountKind
		fault         string
	}{
		{"", Gateway.Account(), VirtualAccount, ""},
		{`nt service\ADGATEWAY`, Gateway.Account(), VirtualAccount, ""},
		{`NT SERVICE\other`, "", "", "another service"},
		{`CORP\gw$`, `CORP\gw$`, ManagedAccount, ""},
		{`corp.example\gw$`, `corp.example\gw$`, ManagedAccount, ""},
		{`gw$`, "", "", "has no domain"},
		{`gw$@corp.example`, "", "", "as DOMAIN"},
		{`.\gw$`, "", "", "has no domain"},
		{`CORP\$`, "", "", "has no domain"},
		{`CORP\web`, `CORP\web`, UserAccount, ""},
		{`.\web`, `.\web`, UserAccount, ""},
		{`web@corp.example`, `web@corp.example`, UserAccount, ""},
		{`web`, "", "", "has no domain or computer"},
		{`\web`, "", "", "has no domain or computer"},
		{`CORP\`, "", "", "has no domain or computer"},
		{`web@`, "", "", "has no domain or computer"},
		{`CORP/web`, "", "", "not an account"},
		{`'CORP\gw$'`, "", "", "only PowerShell supports"},
		{`CORP\o'neill`, `CORP\o'neill`, UserAccount, ""},
		{`A\B\C`, "", "", "not an account"},
		{`LocalSystem`, "LocalSystem", BuiltInAccount, ""},
		{`NT AUTHORITY\Network Service`, `NT AUTHORITY\NetworkService`, BuiltInAccount, ""},
	} {
		account, kind, err := Gateway.ParseAccount(c.text)
		if c.fault != "" {
			assert.ErrorContains(t, err, c.fault, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		assert.Equal(t, c.account, account)
		assert.Equal(t, c.kind, kind)
	}
}

func TestCommandLines(t *testing.T) {
	for want, arguments := range map[string][]string{
		`"` + exe + `"`:                    nil,
		`"` + exe + `" a "b c" "" "d e\\"`: {"a", "b c", "", `d e\`},
	} {
		line := commandLine(Registration{Executable: exe, Arguments: arguments})
		assert.Equal(t, want, line)
		assert.Equal(t, exe, executableOf(line))
	}
	assert.Equal(t, `C:\a.exe`, executableOf(`C:\a.exe service run`))
}
