package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReport: a package that passes gets one line. If a package fails, its failed tests are printed. If it
// panics, its unfinished tests are printed, too.
func TestReport(t *testing.T) {
	events := `{"Action":"build-output","ImportPath":"m/c","Output":"c.go:1: broken\n"}
not an event
{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:1: a note\n"}
{"Action":"output","Package":"m/b","Test":"TestB","Output":"    b_test.go:2: wrong\n"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/b","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestB"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
{"Action":"output","Package":"m/b","Test":"TestHangs","Output":"panic: no end\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.2s\n"}
{"Action":"fail","Package":"m/b"}
{"Action":"output","Package":"m/d","Output":"?   \tm/d\t[no test files]\n"}
{"Action":"skip","Package":"m/d"}
`
	var printed strings.Builder
	require.NoError(t, report(strings.NewReader(events), &printed))
	assert.Equal(t, "c.go:1: broken\nnot an event\n"+
		"    b_test.go:2: wrong\n--- FAIL: TestB (0.00s)\nok  \tm/a\t0.1s\n"+
		"panic: no end\nFAIL\tm/b\t0.2s\n", printed.String())
}

func TestOrdered(t *testing.T) {
	args := []string{"-p", "4", "adgateway/a", "adgateway/b", "./c", "adgateway/d"}
	assert.Equal(t, []string{"-p", "4", "adgateway/d", "./c", "adgateway/a", "adgateway/b"},
		ordered(args, []string{"./d", "./e", "./c"}))
}
