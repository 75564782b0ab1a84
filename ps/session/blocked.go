package session

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"syscall"

	"adgateway/ps"
)

// blockedText is the format of the message about a blocked start. It is followed by the id of the error.
const blockedText = "endpoint protection or a policy blocked the gateway's PowerShell (%s): allow " +
	"adgateway.exe and the PowerShell that it starts, " +
	"as 'gateway/manual/network.md' says"

// blockedIDs matches the error id of a block in PowerShell's output. No frame can report a block, because the
// boot line is not run at all. Windows PowerShell writes the id of each error, but the concise view of
// PowerShell 7 does not.
var blockedIDs = regexp.MustCompile(`\b(?:` + ps.BlockedByProtection + `|` + ps.BlockedByPolicy + `)\b`)

// refused returns the error of a process that cannot be started.
func refused(err error) *ps.Error {
	e := &ps.Error{Kind: ps.KindUnavailable, Step: "start", Message: "PowerShell cannot be started", Cause: err}
	var number syscall.Errno
	if errors.As(err, &number) {
		e.Code = strconv.Itoa(int(number))
	}
	nameBlock(e, "")
	return e
}

// nameBlock identifies a block in the error of a start.
func nameBlock(e *ps.Error, words string) {
	if e.ID == "" {
		e.ID = blockedIDs.FindString(words)
	}
	if e.Blocked() {
		e.Message = fmt.Sprintf(blockedText, cmp.Or(e.ID, "error "+e.Code)) + "; " + e.Message
	}
}
