package winsvc

import (
	"errors"
	"fmt"
	"syscall"
)

// Error codes of the Windows service manager (winerror.h).
const (
	errnoFileNotFound      syscall.Errno = 2
	errnoPathNotFound      syscall.Errno = 3
	errnoAccessDenied      syscall.Errno = 5
	errnoRequestTimeout    syscall.Errno = 1053
	errnoAlreadyRunning    syscall.Errno = 1056
	errnoInvalidAccount    syscall.Errno = 1057
	errnoDisabled          syscall.Errno = 1058
	errnoDoesNotExist      syscall.Errno = 1060
	errnoCannotAccept      syscall.Errno = 1061
	errnoNotActive         syscall.Errno = 1062
	errnoSpecific          syscall.Errno = 1066
	errnoLogonFailed       syscall.Errno = 1069
	errnoMarkedForDeletion syscall.Errno = 1072
	errnoProcessAborted    syscall.Errno = 1067
	errnoNoneMapped        syscall.Errno = 1332
)

// advice says what an error code means for the service, and what to do.
var advice = map[syscall.Errno]string{
	errnoFileNotFound:   "the service's executable is not where it was installed from; run 'adgateway service install' from where it is now",
	errnoPathNotFound:   "the service's executable is not where it was installed from; run 'adgateway service install' from where it is now",
	errnoAccessDenied:   notElevated,
	errnoRequestTimeout: "the service did not say in time that it has started; the event log (Application, source adgateway) and the log file say how far it came",
	errnoAlreadyRunning: "the service runs already",
	errnoInvalidAccount: "Windows does not know the account, or it may not run services: check its spelling; a group managed service account must be installed on this computer (Test-ADServiceAccount name)",
	errnoNoneMapped:     "Windows does not know the account: check its spelling and that this computer reaches the domain",
	errnoDisabled:       "the service is disabled; run 'adgateway service install' to set it to start automatically",
	errnoDoesNotExist:   "the service is not installed; run 'adgateway service install'",
	errnoCannotAccept:   "the service is starting or stopping and takes no requests: try again in a moment",
	errnoNotActive:      "the service does not run",
	errnoSpecific:       failedToStart,
	errnoProcessAborted: failedToStart,
	errnoLogonFailed: "Windows could not log the service's account on: it lacks the right 'Log on as a service' (grant it in secpol.msc, Local Policies, User Rights Assignment, " +
		"or in the group policy that sets it), or its password is wrong (run 'adgateway service install' with the account again)",
	errnoMarkedForDeletion: "the service is marked for deletion and goes away when the last program that looks at it closes: close services.msc, Task Manager and other consoles, then try again; a restart of the computer helps always",
}

const (
	notElevated   = "this needs the rights of an administrator: run it from a console that was opened with 'Run as administrator'"
	failedToStart = "the service ended while it started; the event log (Application, source adgateway) and the log file say why; 'adgateway config check' tells mistakes in the settings"
)

// explain puts what to do before an error of the service manager. It goes by
// the code, never by the message, which is in the language of Windows.
func explain(err error) error {
	var code syscall.Errno
	if err == nil || !errors.As(err, &code) {
		return err
	}
	text, known := advice[code]
	if !known {
		return err
	}
	return fmt.Errorf("%s (%w)", text, err)
}
