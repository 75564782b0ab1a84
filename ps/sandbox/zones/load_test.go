package zones_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func source(t *testing.T, file, name string) zones.Source {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return zones.Source{Name: name, Text: text}
}

// TestFaultsOfZoneFiles: the first syntax error and all semantic errors are
// reported with their lines, and nothing is loaded.
func TestFaultsOfZoneFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.zone")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			st := three(t)
			before := st.Snapshot()
			err := st.Load(source(t, file, filepath.Base(file)))
			require.Error(t, err)
			assert.Empty(t, zonestest.Compare(before, st.Snapshot()))
			golden(t, strings.TrimSuffix(file, ".zone")+".faults", err.Error()+"\n")
		})
	}
}

func TestFaultsOfAllFilesAreReported(t *testing.T) {
	st := three(t)
	good := zones.Source{Name: "g.example.zone", Text: []byte("@ 60 SOA a b 1 2 3 4 5\n@ NS a\n")}
	err := st.Load(good,
		source(t, "testdata/faults/no-soa.zone", "one.zone"),
		source(t, "testdata/faults/no-ns.zone", "two.zone"),
		zones.Source{Name: "again.zone", Text: append([]byte("; adgateway: zone=G.Example\n"), good.Text...)})
	require.Error(t, err)
	assert.Equal(t, "one.zone:0: the zone x.example has no SOA record\n"+
		"two.zone:0: the zone two has no NS record\n"+
		"again.zone:0: the zone G.Example is already in g.example.zone", err.Error())
	_, err = open(t, st, "").Zone("g.example")
	assert.Equal(t, zones.CodeZoneDoesNotExist, code(err), "all or none")
}

func TestAnExportLoads(t *testing.T) {
	st := three(t)
	require.NoError(t, st.Load(source(t, "testdata/good/export.zone", "C:\\dns\\x.example.dns")))
	all, err := open(t, st, "").Records("x.example", zones.Query{})
	require.NoError(t, err)
	var text strings.Builder
	for _, r := range all {
		fmt.Fprintf(&text, "%s | %s\n", r.Name, r.Text())
	}
	golden(t, "testdata/good/export.golden", text.String())
}

func TestAZoneFileReplacesAZone(t *testing.T) {
	st := three(t)
	text := "; adgateway: scope=Forest\n@ 60 SOA a b 7 2 3 4 5\n@ NS a\n"
	require.NoError(t, st.Load(zones.Source{Name: "dir/db.corp.example", Text: []byte(text)}))
	z, err := open(t, st, "dc1").Zone("corp.example")
	require.NoError(t, err)
	assert.Equal(t, uint32(7), z.Serial)
	assert.Equal(t, zones.ScopeForest, z.Scope)
	require.NoError(t, st.Load(zones.Source{Name: "corp.example.zone",
		Text: []byte("; adgateway: server=alone\n" + text[strings.Index(text, "@"):])}))
	_, err = open(t, st, "dc1").Zone("corp.example")
	assert.Equal(t, zones.CodeZoneDoesNotExist, code(err), "a zone is in one place")
	_, err = open(t, st, "alone").Zone("corp.example")
	assert.NoError(t, err)
}

func TestEncodingsAndLineEnds(t *testing.T) {
	text := "; adgateway: zone=x.example\r\n@ 60 SOA a b 1 2 3 4 5\r\n@ NS a\r\nbüro A 10.0.0.1\r\n" +
		"last A 10.0.0.2"
	units := utf16.Encode([]rune(text))
	little, big := []byte{0xFF, 0xFE}, []byte{0xFE, 0xFF}
	for _, u := range units {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	for what, b := range map[string][]byte{"UTF-8": []byte(text), "mark": []byte("\uFEFF" + text),
		"little": little, "big": big} {
		st := zonestest.New(zones.Config{})
		require.NoError(t, st.Load(zones.Source{Name: "x", Text: b}), what)
		for _, name := range []string{"büro", "BÜRO", "last"} {
			_, err := open(t, st, "").Records("x.example", zones.Query{Name: name, Node: true})
			assert.NoError(t, err, "%s %s", what, name)
		}
	}
}
