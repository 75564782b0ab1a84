package winsvc

import "syscall"

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

// advice maps error codes to their meaning for the service and the remedy. {name} and {check} are
// placeholders for the service's name and its check command.
var advice = map[syscall.Errno]string{
	errnoFileNotFound:   "the service's executable has moved; run '{name} service install' from its current location",
	errnoPathNotFound:   "the service's executable has moved; run '{name} service install' from its current location",
	errnoAccessDenied:   notElevated,
	errnoRequestTimeout: "the service did not start in time; see the event log (Application, source {name}) and the log file",
	errnoAlreadyRunning: "the service is already running",
	errnoInvalidAccount: "the account does not exist, or may not run services: check its spelling; a group managed service account must be installed on this computer (Test-ADServiceAccount name)",
	errnoNoneMapped:     "the account does not exist: check its spelling, and that this computer can reach the domain",
	errnoDisabled:       "the service is disabled; '{name} service install --reset' sets it to start automatically",
	errnoDoesNotExist:   "the service is not installed; run '{name} service install'",
	errnoCannotAccept:   "the service is starting or stopping and cannot be controlled: try again in a moment",
	errnoNotActive:      "the service is not running",
	errnoSpecific:       failedToStart,
	errnoProcessAborted: failedToStart,
	errnoLogonFailed: "the service's account could not log on: it lacks the right 'Log on as a service' (grant it in secpol.msc, Local Policies, User Rights Assignment, " +
		"or in the group policy that sets it), or its password is wrong (run '{name} service install' with the account again)",
	errnoMarkedForDeletion: "the service is marked for deletion and disappears when the last program that has it open is closed: close services.msc, Task Manager and other consoles, then try again, or restart the computer",
}

const (
	notElevated = "administrator rights are required: use a console that was opened with 'Run as " +
		"administrator'"
	failedToStart = "the service stopped while it was starting; see the event log (Application, source " +
		"{name}) and the log file; '{check}' reports mistakes in the settings"
)
