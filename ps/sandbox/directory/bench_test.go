package directory

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/internal/ldif"
)

var sizes = []int{1_000, 10_000, 100_000}

var bigDomains = map[int]*Domain{}

func bigDomain(tb testing.TB, n int) *DC {
	tb.Helper()
	d := bigDomains[n]
	if d == nil {
		var err error
		d, err = New("corp.example", Options{Seed: 7})
		require.NoError(tb, err)
		require.NoError(tb, d.Generate(n, 7))
		bigDomains[n] = d
	}
	dc, err := d.DC("")
	require.NoError(tb, err)
	return dc
}

func eachSize(b *testing.B, f func(b *testing.B, dc *DC, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("%dk", n/1000), func(b *testing.B) {
			dc := bigDomain(b, n)
			b.ReportAllocs()
			b.ResetTimer()
			f(b, dc, n)
		})
	}
}

func someUser(tb testing.TB, dc *DC, i int) *Object {
	tb.Helper()
	objs, err := dc.Search(context.Background(),
		SearchRequest{Filter: fmt.Sprintf("(employeeID=G%07d)", i), Attributes: []string{"sAMAccountName"}})
	require.NoError(tb, err)
	require.Len(tb, objs, 1)
	return objs[0]
}

var details = []string{"sAMAccountName", "givenName", "sn", "displayName", "mail", "userAccountControl",
	"memberOf", "manager", "msDS-User-Account-Control-Computed"}

func BenchmarkLookupSAM(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		sam := someUser(b, dc, n/2).String("sAMAccountName")
		for b.Loop() {
			if _, err := dc.BySAM(context.Background(), sam, details...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLookupSAMByFilter(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		f := "(&(objectCategory=person)(objectClass=user)(sAMAccountName=" +
			someUser(b, dc, n/2).String("sAMAccountName") + "))"
		for b.Loop() {
			if o, err := dc.Search(context.Background(), SearchRequest{Filter: f, Attributes: details}); err != nil ||
				len(o) != 1 {
				b.Fatal(err, len(o))
			}
		}
	})
}

func BenchmarkLookupGUID(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		g := someUser(b, dc, n/2).GUID
		for b.Loop() {
			if _, err := dc.ByGUID(context.Background(), g, details...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLookupDN(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		dn := someUser(b, dc, n/2).DN
		for b.Loop() {
			if _, err := dc.Get(context.Background(), dn, details...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFilterScan(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		for b.Loop() {
			if _, err := dc.Search(context.Background(),
				SearchRequest{Filter: "(&(objectCategory=person)(displayName=*zz*))", Attributes: details}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkListSubtree(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		for b.Loop() {
			hits := 0
			err := dc.SearchEach(context.Background(),
				SearchRequest{Base: "OU=Generated,DC=corp,DC=example",
					Filter: "(&(objectCategory=person)(objectClass=user))", Attributes: details},
				func(*Object) error { hits++; return nil })
			if err != nil || hits != n {
				b.Fatal(err, hits)
			}
		}
	})
}

func BenchmarkListOneTeam(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		for b.Loop() {
			objs, err := dc.Search(context.Background(),
				SearchRequest{Base: "OU=Team 0002,OU=Generated,DC=corp,DC=example",
					Filter: "(&(objectCategory=person)(objectClass=user))", Attributes: details})
			if err != nil || len(objs) != teamSize {
				b.Fatal(err, len(objs))
			}
		}
	})
}

func BenchmarkCreate(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		i := 0
		for b.Loop() {
			i++
			name := fmt.Sprintf("bench%d-%d", b.N, i)
			if _, err := dc.Add(context.Background(), "CN="+name+",CN=Users,DC=corp,DC=example",
				Attr("objectClass", "user"), Attr("sAMAccountName", name), Attr("userAccountControl", 514)); err != nil {
				b.Fatal(err)
			}
			if err := dc.Delete(context.Background(), "CN="+name+",CN=Users,DC=corp,DC=example"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMoveSubtree(b *testing.B) {
	eachSize(b, func(b *testing.B, dc *DC, n int) {
		ctx := context.Background()
		_, err := dc.Add(ctx, "OU=Elsewhere,DC=corp,DC=example", Attr("objectClass", "organizationalUnit"))
		require.NoError(b, err)
		defer func() { require.NoError(b, dc.Delete(ctx, "OU=Elsewhere,DC=corp,DC=example")) }()
		for b.Loop() {
			if err := dc.Move(ctx, "OU=Generated,DC=corp,DC=example", "OU=Elsewhere,DC=corp,DC=example"); err != nil {
				b.Fatal(err)
			}
			if err := dc.Move(ctx, "OU=Generated,OU=Elsewhere,DC=corp,DC=example", "DC=corp,DC=example"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLoad reads and opens files of 5,000 and 20,000 entries.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{5_000, 20_000} {
		text := manyEntries(n)
		b.Run(fmt.Sprintf("%dk", n/1000), func(b *testing.B) {
			for b.Loop() {
				recs, err := ldif.Parse("big.ldif", text)
				require.NoError(b, err)
				_, err = Open(Options{}, recs)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkMemory reports the heap size of a domain with 100,000 users.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		d, err := New("corp.example", Options{Seed: 7})
		require.NoError(b, err)
		require.NoError(b, d.Generate(100_000, 7))
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(d)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
}
