package protocols_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
)

// audited returns the lines of an audit file that concern operations.
func audited(t *testing.T, file string) []audit.Line {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var lines []audit.Line
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var line audit.Line
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line))
		if line.Operation != "" || line.Intent != 0 {
			lines = append(lines, line)
		}
	}
	require.NoError(t, scanner.Err())
	return lines
}
