package harness

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/ps"
)

// Audited returns a server with an audit log, and a function that reads the log's lines.
func Audited(
	t *testing.T, runner ps.Runner, reads bool, more ...func(*gateway.Options),
) (s *gateway.Server, file string, lines func() []*audit.Line) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "log", "audit.jsonl")
	log, err := audit.Open(audit.Options{File: file, Reads: reads})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() }) // some tests remove its folder
	lines = func() []*audit.Line {
		var all []*audit.Line
		require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
			all = append(all, r.Lines()...)
			return nil
		}))
		return all
	}
	s = New(t, runner, func(o *gateway.Options) {
		o.Audit = log
		for _, change := range more {
			change(o)
		}
	})
	return s, file, lines
}
