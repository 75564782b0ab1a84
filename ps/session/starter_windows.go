package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func defaultPath() string {
	return filepath.Join(systemRoot(os.Environ()), `System32\WindowsPowerShell\v1.0\powershell.exe`)
}

// A group is a job object that ends when its last handle is closed. Only the gateway has a handle, so no
// process outlives a gateway that crashed (facts A51).
type group struct{ job windows.Handle }

// startInGroup starts the process and assigns it to its job. No child can escape in between, because
// PowerShell starts nothing before it receives a line.
func startInGroup(cmd *exec.Cmd) (group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return group{}, fmt.Errorf("job object: %w", err)
	}
	g := group{job}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return group{}, fmt.Errorf("job object limits: %w", err)
	}
	// The console must exist without a window. DETACHED_PROCESS must never be used, because
	// warnings need a console (facts-5.1 K12).
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return group{}, err
	}
	var assignErr error
	if err := cmd.Process.WithHandle(func(handle uintptr) {
		assignErr = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	}); err != nil {
		assignErr = err
	}
	if assignErr != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return group{}, fmt.Errorf("job object: %w", assignErr)
	}
	return g, nil
}

func (g group) kill(*os.Process) error { return windows.TerminateJobObject(g.job, 1) }

// end closes the job, which kills the processes that remain in it.
func (g group) end(*os.Process) { _ = windows.CloseHandle(g.job) }

// notInherited are the variables that children do not inherit, in upper case. If the gateway was started from
// PowerShell 7, Windows PowerShell would find the modules of version 7 first and fail to load them. Without
// PSModulePath, each version builds its own path.
var notInherited = []string{"PSMODULEPATH"}

// platformEnvironment sets SystemRoot, without which protected event logging
// crashes PowerShell (facts A20).
func platformEnvironment(ours []string) []string {
	return []string{"SystemRoot=" + systemRoot(ours)}
}

// alive reports whether a process exists.
func alive(pid int) bool {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(handle, &code) != nil || code == stillActive
}

func systemRoot(env []string) string {
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if strings.EqualFold(name, "SystemRoot") && value != "" {
			return value
		}
	}
	return `C:\Windows`
}

// memoryCounters is PROCESS_MEMORY_COUNTERS_EX.
type memoryCounters struct {
	size              uint32
	pageFaults        uint32
	peakWorkingSet    uintptr
	workingSet        uintptr
	quotaPeakPaged    uintptr
	quotaPaged        uintptr
	quotaPeakNonPaged uintptr
	quotaNonPaged     uintptr
	pagefileUsage     uintptr
	peakPagefileUsage uintptr
	privateUsage      uintptr
}

var getMemoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// privateBytes returns the committed private memory of a process.
func privateBytes(process *os.Process) (int64, error) {
	counters := memoryCounters{}
	counters.size = uint32(unsafe.Sizeof(counters))
	var callErr error
	err := process.WithHandle(func(handle uintptr) {
		ok, _, err := getMemoryInfo.Call(handle, uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
		if ok == 0 {
			callErr = err
		}
	})
	if err == nil {
		err = callErr
	}
	return int64(counters.privateUsage), err
}
