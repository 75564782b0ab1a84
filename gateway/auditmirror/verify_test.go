package auditmirror

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
)

// forge changes a line of a log and rewrites the rest with matching hashes and a matching head record, for
// which it needs no key.
func forge(t *testing.T, file string, change func(line int, text string) (string, bool)) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	previous := strings.Repeat("0", 64)
	var out bytes.Buffer
	seq := 0
	member := regexp.MustCompile(`"previous":"[0-9a-f]{64}","hash":"[0-9a-f]{64}"}$`)
	for i, raw := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		raw, keep := change(i+1, raw)
		if !keep {
			continue
		}
		body := member.ReplaceAllString(raw, `"previous":"`+previous+`"}`)
		sum := sha256.Sum256([]byte(body))
		previous = hex.EncodeToString(sum[:])
		fmt.Fprintf(&out, "%s,\"hash\":%q}\n", strings.TrimSuffix(body, "}"), previous)
		seq++
	}
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
	head := fmt.Sprintf(`{"seq":%-20d,"hash":"%s","anchored":%-5t,"mac":"%-64s"}`+"\n", seq, previous, false, "")
	require.NoError(t, os.WriteFile(file+".head", []byte(head), 0o600))
}

// TestWhatIsDoneToAChainIsFoundAndNamed: manipulations of one of three gateways' chains are found
// even if verifying that chain alone does not find them.
func TestWhatIsDoneToAChainIsFoundAndNamed(t *testing.T) {
	for name, c := range map[string]struct {
		copies bool
		attack func(t *testing.T, g *gateway, older func())
		want   []string // finding about gw1: file and line, text, witness
	}{
		"the end is cut off": {attack: func(t *testing.T, g *gateway, _ func()) {
			forge(t, g.file, func(line int, text string) (string, bool) { return text, line <= 6 })
		}, want: []string{"gw1.jsonl:6", "lines 7 to 9 are missing at the end", "gw2 (", "gw2.jsonl:", "gw3.jsonl:"}},
		"a line is changed and the rest forged": {attack: func(t *testing.T, g *gateway, _ func()) {
			forge(t, g.file, func(line int, text string) (string, bool) {
				if line == 4 {
					return strings.Replace(text, "user.update", "user.delete", 1), true
				}
				return text, true
			})
		}, want: []string{"gw1.jsonl:9", "line 9 is not the one", "gw2 (", "gw2.jsonl:"}},
		"a line is changed": {attack: func(t *testing.T, g *gateway, _ func()) {
			text, err := os.ReadFile(g.file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(g.file, bytes.Replace(text, []byte("user.update"), []byte("user.delete"), 1), 0o600))
		}, want: []string{"gw1.jsonl:2", "line 2 was altered"}},
		"an older backup takes its place": {attack: func(_ *testing.T, _ *gateway, older func()) { older() },
			want: []string{"gw1.jsonl:5", "lines 6 to 9 are missing at the end", "gw2 ("}},
		"all files are gone": {attack: func(t *testing.T, g *gateway, _ func()) {
			require.NoError(t, os.Remove(g.file))
		}, want: []string{"lines 1 to 9 are missing at the end", "gw2 ("}},
		"the end is cut off, and there are copies": {copies: true, attack: func(t *testing.T, g *gateway, _ func()) {
			forge(t, g.file, func(line int, text string) (string, bool) { return text, line <= 6 })
		}, want: []string{"gw1.jsonl:6", "lines 7 to 10 are missing at the end: the copy goes further", "the store of the cluster"}},
		"a line is changed and the rest forged, and there are copies": {copies: true, attack: func(t *testing.T, g *gateway, _ func()) {
			forge(t, g.file, func(line int, text string) (string, bool) {
				if line == 4 {
					return strings.Replace(text, "user.update", "user.delete", 1), true
				}
				return text, true
			})
		}, want: []string{"gw1.jsonl:4", "line 4 differs from its copy", "the store of the cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t)
			g1, g2, g3 := s.gateway("gw1"), s.gateway("gw2"), s.gateway("gw3")
			all := []*gateway{g1, g2, g3}
			g1.record(2) // five lines, including "open"
			older := g1.backup()
			g1.record(2)
			for _, g := range []*gateway{g2, g3} {
				g.record(1)
			}
			require.NoError(t, g1.witness.Tell(t.Context()))
			require.NoError(t, g2.witness.Look(t.Context()))
			require.NoError(t, g3.witness.Look(t.Context()))
			for _, g := range all {
				require.NoError(t, g.log.Close())
				if c.copies {
					require.NoError(t, g.mirror.Send(t.Context()))
				}
			}
			chains := []Chain{g1.chain(), g2.chain(), g3.chain()}
			chains[0].Gateway = "gw1" // its files may be missing
			store := g1.store
			if !c.copies {
				store = nil
			}
			sound, err := Verify(t.Context(), store, chains, nil)
			require.NoError(t, err)
			require.Empty(t, sound.Findings)

			c.attack(t, g1, older)
			result, err := Verify(t.Context(), store, chains, nil)
			require.NoError(t, err)
			var texts []string
			for _, f := range result.Findings {
				require.Equal(t, "gw1", f.Gateway, "%v", f)
				texts = append(texts, f.Fault.String()+" | "+f.Witness)
			}
			found := false
			for _, text := range texts {
				all := true
				for _, want := range c.want {
					all = all && strings.Contains(text, want)
				}
				found = found || all
			}
			assert.True(t, found, "%s", strings.Join(texts, "\n"))
		})
	}
}

// TestTheCopyOfAGatewayStandsForItsFiles: a gateway that has only its own files can compare them with the
// ends recorded in the copies of others.
func TestTheCopyOfAGatewayStandsForItsFiles(t *testing.T) {
	s := newShared(t)
	g1, g2 := s.gateway("gw1"), s.gateway("gw2")
	g1.record(3)
	require.NoError(t, g1.witness.Tell(t.Context()))
	require.NoError(t, g2.witness.Look(t.Context()))
	require.NoError(t, g2.mirror.Send(t.Context()))
	require.NoError(t, g1.log.Close())
	result, err := Verify(t.Context(), g1.store, []Chain{g1.chain()}, nil)
	require.NoError(t, err)
	assert.Empty(t, result.Findings)
	require.Len(t, result.Gateways, 2)
	assert.Equal(t, []string{"gw1", "gw2"}, result.Gateways[0].By, "its end is in the store as well")

	forge(t, g1.file, func(line int, text string) (string, bool) { return text, line <= 2 })
	result, err = Verify(t.Context(), g1.store, []Chain{g1.chain()}, nil)
	require.NoError(t, err)
	require.Len(t, result.Findings, 1)
	assert.Contains(t, result.Findings[0].Witness, "gw2 (line 2 of its copy in the store of the cluster)")
}

// TestAGatewayNoticesThatItsFilesWentBack: a gateway whose files were replaced by an older backup continues
// and records the fact in its log. Its lines are copied again.
func TestAGatewayNoticesThatItsFilesWentBack(t *testing.T) {
	g := newShared(t).gateway("gw1")
	g.record(2)
	require.NoError(t, g.log.Close())
	older := g.backup()
	g.start()
	g.record(5)
	require.NoError(t, g.mirror.Send(t.Context()))
	require.NoError(t, g.log.Close())
	older()
	g.start()
	g.record(1)
	require.NoError(t, g.mirror.Send(t.Context()))
	assert.True(t, g.mirror.Stats().Forked)
	g.record(1)
	require.NoError(t, g.mirror.Send(t.Context()))
	copies, lines := g.copied(), g.written()
	assert.Equal(t, lines[len(lines)-3:], copies[len(copies)-3:])

	result, err := Verify(t.Context(), g.store, []Chain{g.chain()}, nil)
	require.NoError(t, err)
	var texts []string
	for _, f := range result.Findings {
		texts = append(texts, f.Text)
	}
	all := strings.Join(texts, "\n")
	assert.Contains(t, all, "the gateway itself noticed: the store of the cluster has lines of gateway gw1 up to line 17")
	assert.Contains(t, all, "differs from its copy")
	assert.Contains(t, all, "the files were replaced")
}

// TestNamesOfGatewaysAreNeeded: a log from before the gateway joined others does not contain its
// name, which must then be given.
func TestNamesOfGatewaysAreNeeded(t *testing.T) {
	file := t.TempDir() + "/audit.jsonl"
	log, err := audit.Open(audit.Options{File: file})
	require.NoError(t, err)
	require.NoError(t, log.Close())
	_, err = Verify(t.Context(), nil, []Chain{{Check: audit.Check{File: file}}}, nil)
	assert.ErrorContains(t, err, "write NAME="+file)
}
