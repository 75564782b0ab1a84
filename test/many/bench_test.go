package many

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adgateway/test/freeport"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/require"
)

var benchSettings = []string{"pool.directorySessions=4", "log.level=error", "jobs.rate=0", "jobs.share=100"}

// newLoner starts a gateway that is alone, over a domain of its own.
func newLoner(t testing.TB, settings ...string) *fleet {
	f, domain := newDomain(t)
	f.gateways = []*process{{t: t, log: &systemtest.LogBuffer{}, plan: plan{Name: "gw1", Listen: freeport.Addresses(t, 1)[0], Domain: domain,
		Settings: append([]string{"store.file=" + filepath.Join(t.TempDir(), "state.db"), "audit.file=off"}, settings...)}}}
	t.Cleanup(func() { f.gateways[0].signal(syscall.SIGKILL) })
	f.all(f.gateways)
	return f
}

// BenchmarkChange measures changes of users, each of another value: at a gateway alone, which
// keeps its state in a file, and where three nodes keep it, through one gateway and through
// three. Gateways, nodes and domain are processes of one machine.
func BenchmarkChange(b *testing.B) {
	for _, kind := range []struct {
		name  string
		start func(testing.TB, ...string) *fleet
		used  []int // gateways
	}{{"alone", newLoner, []int{1}}, {"cluster", newFleet, []int{1, 3}}} {
		f := kind.start(b, benchSettings...)
		f.makeUsers()
		for _, used := range kind.used {
			for _, keyed := range []bool{false, true} {
				for _, clients := range []int{1, 8} {
					if clients < used {
						continue
					}
					b.Run(fmt.Sprintf("%s/gateways=%d/key=%v/clients=%d", kind.name, used, keyed, clients), func(b *testing.B) {
						f.measureChanges(b, used, clients, keyed)
					})
				}
			}
		}
		f.end()
	}
}

// values makes values that no run before had.
var values atomic.Int64

// measureChanges makes b.N changes by clients that share some gateways.
func (f *fleet) measureChanges(b *testing.B, gateways, clients int, keyed bool) {
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var running sync.WaitGroup
	b.ResetTimer()
	for client := range clients {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					return
				}
				value, key := fmt.Sprintf("value %d", values.Add(1)), ""
				if keyed {
					key = "bench-" + strings.ReplaceAll(value, " ", "-")
				}
				began := time.Now()
				status, _ := f.call(b.Context(), client%gateways, http.MethodPut, fmt.Sprintf("/api/ADUser/shared%02d", client), fmt.Sprintf(`{"City":%q}`, value), key)
				took[i] = time.Since(began)
				if status != http.StatusOK {
					b.Errorf("it was answered with %d", status)
					return
				}
			}
		})
	}
	running.Wait()
	reportTimes(b, took)
}

// reportTimes reports the median and the 99th percentile of times, and how many a second.
func reportTimes(b *testing.B, took []time.Duration) {
	elapsed := b.Elapsed()
	slices.Sort(took)
	milliseconds := func(part float64) float64 {
		return float64(took[min(int(part*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(milliseconds(0.5), "p50-ms")
	b.ReportMetric(milliseconds(0.99), "p99-ms")
	b.ReportMetric(float64(len(took))/elapsed.Seconds(), "changes/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkJob measures the items of a job a second, with one, two and three gateways, and
// changes of somebody else beside it, or reads. JOB=off measures what somebody else has
// without a job, for as many changes or reads as there would be items. JOB_RATE is the items a
// second that the job may have.
func BenchmarkJob(b *testing.B) {
	f := newFleet(b, append(slices.Clone(benchSettings), fmt.Sprintf("jobs.rate=%d", systemtest.Number(b, "JOB_RATE", 0)))...)
	f.makeUsers()
	other := fmt.Sprintf("shared%02d", users-1)
	kinds := []struct {
		name string
		call func(ctx context.Context) int
	}{
		{"changes", func(ctx context.Context) int {
			status, _ := f.change(ctx, 0, other, fmt.Sprintf("v%d", values.Add(1)))
			return status
		}},
		{"reads", func(ctx context.Context) int {
			status, _ := f.call(ctx, 0, http.MethodGet, "/api/ADUser/"+other+"/Details", "", "")
			return status
		}},
	}
	for gateways := members; gateways > 0; gateways-- {
		measured := false
		for _, kind := range kinds {
			b.Run(fmt.Sprintf("gateways=%d/beside=%s", gateways, kind.name), func(b *testing.B) {
				measured = b.N > 1
				f.measureJob(b, kind.call)
			})
		}
		f.gateways[gateways-1].signal(syscall.SIGKILL)
		if measured && gateways > 1 { // the others must know that it is gone, and have settled what it left
			pause(b.Context(), 20*time.Second)
		}
	}
	f.end()
}

// measureJob runs a job of b.N items, or none, and reports what calls take beside it.
func (f *fleet) measureJob(b *testing.B, call func(ctx context.Context) (status int)) {
	job := os.Getenv("JOB") != "off"
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var beside []time.Duration
	var client sync.WaitGroup
	client.Go(func() {
		for ctx.Err() == nil && (job || len(beside) < b.N) {
			began := time.Now()
			if call(ctx) == http.StatusOK {
				beside = append(beside, time.Since(began))
			}
			pause(ctx, 20*time.Millisecond)
		}
	})
	b.ResetTimer()
	if job {
		f.runJob(b, b.N)
		b.StopTimer()
		stop()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
	}
	client.Wait()
	b.ReportMetric(0, "ns/op")
	if len(beside) > 0 {
		slices.Sort(beside)
		b.ReportMetric(float64(beside[len(beside)/2].Microseconds())/1000, "beside-p50-ms")
		b.ReportMetric(float64(beside[len(beside)*99/100].Microseconds())/1000, "beside-p99-ms")
	}
}

// runJob runs a job of changes to its end.
func (f *fleet) runJob(b *testing.B, items int) {
	var list strings.Builder
	for i := range items {
		fmt.Fprintf(&list, `{"id":"i%d","operation":"user.update","parameters":{"UserName":"shared%02d","City":"j%d"}}`+"\n", i, i%(users-1), values.Add(1))
	}
	var job struct {
		Result []struct {
			ID, State    string
			Done, Failed int
		}
	}
	ask := func(method, path, body string) {
		status, _, text := f.send(b.Context(), 0, method, path, "application/x-ndjson", body, "")
		require.Equal(b, 2, status/100, string(text))
		require.NoError(b, json.Unmarshal(text, &job), string(text))
		require.Len(b, job.Result, 1)
	}
	ask(http.MethodPost, "/api/Jobs", list.String())
	path := "/api/Jobs/" + job.Result[0].ID
	for job.Result[0].State != "done" {
		require.NotContains(b, []string{"failed", "rejected", "cancelled", "expired"}, job.Result[0].State)
		pause(b.Context(), 20*time.Millisecond)
		require.NoError(b, b.Context().Err())
		ask(http.MethodGet, path, "")
	}
	require.Equal(b, items, job.Result[0].Done)
}

// end ends the processes, so that what follows has the machine for itself.
func (f *fleet) end() {
	kill(slices.Concat(f.gateways, f.nodes))
}
