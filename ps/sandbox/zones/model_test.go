package zones_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// FuzzWrites adds and removes records in any order. The zone must keep its invariants, and
// its journal must contain every write.
func FuzzWrites(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 1, 2, 1, 1, 2})
	f.Add([]byte{0, 4, 3, 0, 5, 0, 0, 5, 1, 2, 4, 3})
	names := []string{"a", "b", "b.a", "c.b.a", "@", "d", "x.d", "*", "*.a", "A", "a.corp.example."}
	datas := []string{"A 10.0.0.1", "A 10.0.0.2", "CNAME t.example.", "NS ns.example.", "TXT x",
		"CNAME a.corp.example.", "MX 1 m.example."}
	f.Fuzz(func(t *testing.T, ops []byte) {
		st := zonestest.New(zones.Config{})
		require.NoError(t, st.Load(zones.Source{Name: "corp.example.zone",
			Text: []byte("@ 60 SOA a b 1 2 3 4 5\n@ NS a\n")}))
		s := open(t, st, "")
		model := map[string]bool{"corp.example. NS a.corp.example.": true}
		for ; len(ops) >= 3 && len(model) < 200; ops = ops[3:] {
			name, text := names[int(ops[1])%len(names)], datas[int(ops[2])%len(datas)]
			record := rr(t, text)
			owner := strings.TrimSuffix(strings.ToLower(name), ".corp.example.")
			fqdn := strings.TrimPrefix(owner+".corp.example. ", "@.")
			key, prefix := fqdn+text, fqdn+dns.TypeToString[record.Header().Rrtype]+" "
			var err error
			switch ops[0] % 3 {
			case 0:
				if _, err = s.AddRecord(zones.NewRecord{Zone: "corp.example", Name: name, RR: record}); err == nil {
					require.False(t, model[key], "%s added twice", key)
					if record.Header().Rrtype == dns.TypeCNAME {
						// a new CNAME replaces the older one (facts NA22)
						maps.DeleteFunc(model, func(k string, _ bool) bool { return strings.HasPrefix(k, prefix) })
					}
					model[key] = true
				}
			case 1:
				if _, err = s.RemoveRecord(zones.Record{Zone: "corp.example", Name: name, RR: record}); err == nil {
					require.True(t, model[key], "%s was not there", key)
				} else {
					require.False(t, model[key], "%s: %v", key, err)
				}
				delete(model, key)
			case 2:
				gone, _ := s.RemoveRecords("corp.example", name, record.Header().Rrtype)
				removed := 0
				for k := range model {
					if strings.HasPrefix(k, prefix) {
						delete(model, k)
						removed++
					}
				}
				require.Len(t, gone, removed, prefix)
			}
		}
		invariants(t, st, s, model)
	})
}

func invariants(t *testing.T, st *zonestest.Store, s *zones.Server, model map[string]bool) {
	all, err := s.Records("corp.example", zones.Query{})
	require.NoError(t, err)
	z, err := s.Zone("corp.example")
	require.NoError(t, err)
	require.Equal(t, len(model)+1, len(all), "and the SOA")
	require.Equal(t, len(all), z.Records)
	require.Equal(t, 1+len(st.Journal()), int(z.Serial)+manyInOne(st), "one serial number per write")
	kinds := map[string]map[uint16]int{}
	for _, r := range all {
		name := strings.ToLower(r.Name)
		if kinds[name] == nil {
			kinds[name] = map[uint16]int{}
		}
		kinds[name][r.Type()]++
		if r.Type() == dns.TypeSOA {
			continue
		}
		key := fmt.Sprintf("%s %s %s", strings.ToLower(r.RR.Header().Name), dns.TypeToString[r.Type()],
			dataOf(r.RR))
		require.True(t, model[key], key)
	}
	for name, count := range kinds {
		if count[dns.TypeCNAME] > 0 {
			require.Equal(t, map[uint16]int{dns.TypeCNAME: 1}, count, name)
		}
		found, err := s.Records("corp.example", zones.Query{Name: name, Node: true})
		require.NoError(t, err)
		sum := 0
		for _, n := range count {
			sum += n
		}
		require.Len(t, found, sum, name)
	}
}

// dataOf returns the data of a record in zone file form, TXT without quotes.
func dataOf(rr dns.RR) string {
	text := strings.TrimPrefix(rr.String(), rr.Header().String())
	return strings.ReplaceAll(text, `"`, "")
}

// manyInOne counts the journal entries that have the same serial number as the previous
// entry, which happens when one call removes several records.
func manyInOne(st *zonestest.Store) int {
	extra, last := 0, zones.Change{}
	for _, c := range st.Journal() {
		if c.Call == last.Call {
			extra++
		}
		last = c
	}
	return extra
}
