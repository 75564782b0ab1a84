package natsstore

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep"
)

// damage changes a letter of a text in the files of a folder.
func damage(t *testing.T, folder, text string) (times int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".blk") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if at := bytes.Index(content, []byte(text)); at >= 0 {
			content[at] ^= 1
			times++
			return os.WriteFile(path, content, 0o600)
		}
		return nil
	}))
	return times
}

// TestADamagedNodeIsFound: of three nodes, the one whose files were changed while it was
// stopped, which the engine does not notice. Wiped, it gets what it lacks from the others.
func TestADamagedNodeIsFound(t *testing.T) {
	t.Parallel() // it waits most of the time
	engine := enginetest.Start(t, 3)
	urls := strings.Join(engine.URLs(), ",")
	create(t, urls, "d", 3)
	o := Options{Name: "d", Gateway: "gw1", Mirror: filepath.Join(t.TempDir(), "mirror"), Connect: connectTo(urls)}
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	for i := range 50 {
		_, err := s.Apply(t.Context(), set(fmt.Sprintf("key%d", i), fmt.Sprintf("a value with the number %d.", i), keep.Absent))
		require.NoError(t, err)
	}
	found, err := CompareNodes(t.Context(), o)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, found.Messages, uint64(50))
	require.Len(t, found.Nodes, 3)
	assert.False(t, found.Differs(), "%+v", found)

	node := (engine.Leader(StreamName("d")) + 1) % 3
	engine.Stop(node)
	require.NotZero(t, damage(t, engine.Options(node).Store, "a value with the number 23."))
	_, err = CompareNodes(t.Context(), o)
	assert.ErrorContains(t, err, enginetest.Name(node), "it is away")
	engine.Start(node)
	engine.AwaitReady()
	found, err = CompareNodes(t.Context(), o)
	require.NoError(t, err)
	for i := range found.Nodes {
		assert.Equal(t, i == node, found.Nodes[i].Differs(), "%+v", found.Nodes[i])
	}

	engine.Stop(node)
	require.NoError(t, os.RemoveAll(engine.Options(node).Store))
	engine.Start(node)
	engine.AwaitReady()
	require.Eventually(t, func() bool {
		found, err = CompareNodes(t.Context(), o)
		return err == nil && !found.Differs()
	}, 3*time.Minute, 100*time.Millisecond, "the node that was wiped has everything again")
}

func TestWhichNodeIsDamaged(t *testing.T) {
	a, b, c := digest{1}, digest{2}, digest{3}
	for name, test := range map[string]struct {
		digests []digest
		differs []string
	}{
		"one lacks it":      {[]digest{a, {}, a}, []string{"", "missing", ""}},
		"one alone has it":  {[]digest{{}, a, {}}, []string{"", "surplus", ""}},
		"one has another":   {[]digest{a, a, b}, []string{"", "", "altered"}},
		"no two agree":      {[]digest{a, b, c}, []string{"altered", "altered", "altered"}},
		"of two, both":      {[]digest{a, {}}, []string{"altered", "missing"}},
		"two of five":       {[]digest{a, a, b, {}, a}, []string{"", "", "altered", "missing", ""}},
		"no two, one lacks": {[]digest{{}, b, c}, []string{"missing", "altered", "altered"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := Comparison{Nodes: make([]NodeComparison, len(test.digests))}
			found.count(7, test.digests)
			for i, n := range found.Nodes {
				want := NodeComparison{}
				switch test.differs[i] {
				case "missing":
					want.Missing, want.First = 1, 7
				case "surplus":
					want.Surplus, want.First = 1, 7
				case "altered":
					want.Altered, want.First = 1, 7
				}
				assert.Equal(t, want, n, i)
			}
		})
	}
}
