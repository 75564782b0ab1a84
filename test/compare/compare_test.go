package compare

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/test/harness"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// newWorld starts a gateway with a store, an audit and jobs.
func newWorld(t *testing.T) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Options{File: file, Reads: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, log.Close()) })
	kept := storetest.Seal(t, store.NewMemory(nil))
	history := changes.New(kept, time.Hour, 1<<24)
	s := harness.New(t, &scripts{rows(), harness.Sample}, func(o *gateway.Options) {
		o.Kept, o.History, o.Audit = kept, history, log
		o.Work.Jobs.Rate, o.Policy.SettlePause = 0, time.Millisecond
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { s.Jobs().Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended; harness.Stop(t, s) })
	return &world{
		handler: s.Handler(),
		tokens: []string{
			harness.AllToken, harness.ReadToken, harness.WriteToken, harness.ClassicToken,
			harness.LimitedToken, harness.OpsToken,
		},
		close: func() { harness.CloseOpen(s) },
		audit: func() string {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			return string(text)
		},
	}
}

// TestTranscript compares the transcript of 200 calls with the golden file. With TRANSCRIPT=FILE
// it also writes the transcript of 2,000 calls, to be compared with the file of another version.
func TestTranscript(t *testing.T) {
	if file := os.Getenv("TRANSCRIPT"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(transcript(newWorld(t), 1, 2000)), 0o600))
	}
	golden := filepath.Join("testdata", "transcript.txt")
	got := transcript(newWorld(t), 2, 200)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	wanted, lines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(lines)) {
		require.Equal(t, wanted[i], lines[i], "%s, line %d: the gateway behaves in another way; "+
			"if it should, run go test ./test/compare -update", golden, i+1)
	}
	require.Len(t, lines, len(wanted))
}
