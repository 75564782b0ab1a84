package authn

import (
	"fmt"
	"net/netip"
	"sort"
	"sync"
	"testing"
	"time"
)

// BenchmarkToken authenticates a token among many.
func BenchmarkToken(b *testing.B) {
	for _, many := range []int{1, 100, 10000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			var token string
			s := store(b, func(d *Document, now time.Time) {
				for i := range many {
					token = addToken(d, now, fmt.Sprint("t", i),
						Rights{Scopes: []string{"user:read"}, Networks: []string{"192.0.2.0/24"}})
				}
			})
			c := bearer(token)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Authenticate(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUnknownToken rejects an unknown token.
func BenchmarkUnknownToken(b *testing.B) {
	s := withUsers(b)
	c := bearer(NewToken())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Authenticate(b.Context(), c); err == nil {
			b.Fatal("let in")
		}
	}
}

// BenchmarkReadStore reloads the file, as a running server does when it changes.
func BenchmarkReadStore(b *testing.B) {
	const many = 10000
	s := store(b, func(d *Document, now time.Time) {
		for i := range many {
			addToken(d, now, fmt.Sprint("t", i), rights())
		}
	})
	for b.Loop() {
		if err := s.read(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBearerBesideBasic authenticates tokens while other callers keep all
// password checks busy.
func BenchmarkBearerBesideBasic(b *testing.B) {
	for _, load := range []int{0, 64} {
		b.Run(fmt.Sprintf("%d-basic", load), func(b *testing.B) {
			var token string
			s := store(b, func(d *Document, now time.Time) {
				token = addToken(d, now, "portal", rights())
				addUser(d, now, "anna", rights())
			})
			s.options.Cost = StandardCost
			s.verifier = newVerifier(s.clock.Now, StandardCost)
			stop := make(chan struct{})
			var guessing sync.WaitGroup
			for i := range load {
				guessing.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-stop:
							return
						default:
						}
						from := netip.AddrFrom4([4]byte{10, byte(i), byte(n >> 8), byte(n)})
						s.login(fmt.Sprintf("nobody%d-%d", i, n), "wrong", from)
					}
				})
			}
			c := bearer(token)
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := s.Authenticate(b.Context(), c); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			close(stop)
			guessing.Wait()
			sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}

func bearer(token string) Credential {
	return Credential{AuthToken: []string{"Bearer " + token}, Client: here}
}
