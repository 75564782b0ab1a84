package zones_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
)

// filled returns a server with a zone that contains n aliases.
func filled(b *testing.B, n int) *zones.Server {
	b.Helper()
	st := zones.New(zones.Config{})
	require.NoError(b, st.Load(zones.Source{Name: "big.example.zone", Text: bigZone(n)}))
	s, err := st.Server("")
	require.NoError(b, err)
	return s
}

func bigZone(n int) []byte {
	var text strings.Builder
	text.WriteString("$TTL 3600\n@ SOA a b 1 2 3 4 5\n@ NS a\n")
	for i := range n {
		fmt.Fprintf(&text, "c%06d CNAME web%d\n", i*7919%n, i%10)
	}
	return []byte(text.String())
}

var sizes = []int{1_000, 10_000, 100_000}

func BenchmarkFindRecord(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				got, err := s.Records("big.example",
					zones.Query{Name: fmt.Sprintf("c%06d", i%n), Node: true, Type: dns.TypeCNAME})
				if err != nil || len(got) != 1 {
					b.Fatal(got, err)
				}
			}
		})
	}
}

func BenchmarkListCNames(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				got, err := s.Records("big.example", zones.Query{Type: dns.TypeCNAME})
				if err != nil || len(got) != n {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}

func BenchmarkCreateAndRemove(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r, err := s.AddRecord(zones.NewRecord{Zone: "big.example", Name: fmt.Sprintf("m%d", i),
					RR: cname("web1.big.example."), DefaultTTL: true})
				if err != nil {
					b.Fatal(err)
				}
				if _, err = s.RemoveRecord(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := bigZone(n)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := zones.New(zones.Config{}).Load(zones.Source{Name: "big.example.zone", Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
