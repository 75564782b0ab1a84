package zones_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// FuzzLoad loads any text. Faults must have lines of the text, and a zone that is loaded,
// written and loaded again must be the same.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/faults/*.zone", "testdata/good/*.zone",
		"../internal/data/*.zone"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(strings.ToUpper(string(text)), "$GENERATE") && len(text) > 200 {
			return // long ranges are slow by design
		}
		st := zonestest.New(zones.Config{})
		err := st.Load(zones.Source{Name: "x.example.zone", Text: text})
		if err != nil {
			lines := strings.Count(string(text), "\n") + 1
			for _, fault := range err.(*zones.LoadError).Faults {
				require.LessOrEqual(t, fault.Line, lines+1)
				require.NotEmpty(t, fault.Text)
			}
			return
		}
		again(t, st)
	})
}

// again writes the loaded zones, loads the result and compares.
func again(t *testing.T, st *zonestest.Store) {
	s, err := st.Server("")
	require.NoError(t, err)
	all, err := s.Zones()
	require.NoError(t, err)
	for _, z := range all {
		records, err := s.Records(z.Name, zones.Query{})
		if err != nil || z.AutoCreated || z.Name == zones.TrustAnchors {
			continue
		}
		var out strings.Builder
		fmt.Fprintf(&out, "; adgateway: zone=%s type=%s\n", z.Name, z.Type)
		if z.Type != zones.Primary {
			fmt.Fprintf(&out, "; adgateway: masters=10.0.0.1\n")
		}
		for _, r := range records {
			fmt.Fprintln(&out, r.Text())
		}
		second := zonestest.New(zones.Config{})
		require.NoError(t, second.Load(zones.Source{Name: "again", Text: []byte(out.String())}), out.String())
		s2, err := second.Server("")
		require.NoError(t, err)
		got, err := s2.Records(z.Name, zones.Query{})
		require.NoError(t, err)
		require.Len(t, got, len(records), out.String())
		for i := range got {
			require.Equal(t, records[i].Text(), got[i].Text())
		}
	}
}

// FuzzNames adds a record with any name. Either it fails and nothing changes, or the name
// finds exactly that record, even if it contains wildcard characters.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"www", "a.b", "*", "*.x", "@", "", ".", "x.corp.example.", "_a._b", "bücher",
		"İ", "K", "a..b", "a b", "$(x)", "[a-z]", "\x00", "corp.example", "xcorp.example"} {
		f.Add(name)
	}
	st := zonestest.New(zones.Config{})
	soa := "@ 60 SOA a b 1 2 3 4 5\n@ NS a\nwww A 10.0.0.1\n"
	f.Fuzz(func(t *testing.T, name string) {
		require.NoError(t, st.Load(zones.Source{Name: "corp.example.zone", Text: []byte(soa)}))
		s, err := st.Server("")
		require.NoError(t, err)
		before := st.Snapshot()
		got, err := s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: name, RR: cname("t.example.")})
		if err != nil {
			require.NotZero(t, err.(*zones.Error).Code)
			require.Empty(t, zonestest.Compare(before, st.Snapshot()))
			return
		}
		for _, spelling := range []string{name, got.Name, got.Name + ".corp.example.", strings.ToLower(got.Name)} {
			found, err := s.Records("corp.example", zones.Query{Name: spelling, Node: true, Type: dns.TypeCNAME})
			require.NoError(t, err, spelling)
			require.Equal(t, []zones.Record{got}, found)
		}
		_, err = s.RemoveRecord(got)
		require.NoError(t, err)
		require.Empty(t, zonestest.Compare(before, st.Snapshot()))
	})
}
