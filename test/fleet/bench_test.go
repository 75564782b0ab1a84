package fleet

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// measure lets several clients call a gateway b.N times in total, and reports the duration of a call.
func (f *fleet) measure(b *testing.B, clients int, call func(client, n int) answer) {
	var (
		mu    sync.Mutex
		times []time.Duration
	)
	numbers := make(chan int, b.N)
	for n := range b.N {
		numbers <- n
	}
	close(numbers)
	b.ResetTimer()
	var working sync.WaitGroup
	for client := range clients {
		working.Go(func() {
			for n := range numbers {
				began := time.Now()
				if a := call(client, n); a.status != http.StatusOK {
					b.Errorf("%d %s", a.status, a.text)
				}
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
	}
	working.Wait()
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "ms-p99")
}

// BenchmarkCalls measures eight clients that make changes and read the directory, at the leader and at a
// follower. It compares a single gateway with a file, one gateway with three nodes, and three gateways.
func BenchmarkCalls(b *testing.B) {
	const clients = 8
	for _, gateways := range []int{0, 1, size} {
		f := newDomain(b, "log.level: error", "pool.directorySessions: 4")
		f.makeUsers()
		leader, other := f.hosts[0], f.hosts[0]
		switch gateways {
		case 0:
			leader.gateway.start()
			f.ready(leader)
		default:
			f.found()
			for i, h := range f.hosts {
				if h.node.start(); i < gateways {
					h.gateway.start()
				}
			}
			leader = f.awaitLeader()
			for _, h := range f.hosts[:gateways] {
				if f.ready(h); h != leader {
					other = h
				}
			}
		}
		f.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
		run := func(name string, at *host, method string) {
			b.Run(fmt.Sprintf("gateways=%d/%s", gateways, name), func(b *testing.B) {
				started := time.Now().UnixNano()
				f.measure(b, clients, func(client, n int) answer {
					if method == http.MethodGet {
						return f.call(at, method, "/api/ADUser/shared00/Details", "", "")
					}
					body := fmt.Sprintf(`{"City":"c%d-%d"}`, started, n)
					return f.call(at, method, fmt.Sprintf("/api/ADUser/shared%02d", client), body, "")
				})
			})
		}
		run("change", leader, http.MethodPut)
		run("read", leader, http.MethodGet)
		if other != leader && gateways == size {
			run("change at a follower", other, http.MethodPut)
			run("read at a follower", other, http.MethodGet)
		}
		for _, h := range f.hosts {
			h.gateway.kill()
			h.node.kill()
		}
	}
}
