package session_test

import (
	"context"
	"os"
	"testing"

	"adgateway/ps/session/sessiontest"
)

// childVariable, when set, makes the test binary a PowerShell of sessiontest.
const childVariable = "SESSION_TEST_CHILD"

func childMain() int {
	process := &sessiontest.Process{Scripts: sessiontest.Faults}
	return process.Serve(context.Background(), os.Stdin, os.Stdout, os.Stderr)
}

var _ = testing.Short
