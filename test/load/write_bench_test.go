package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// BenchmarkWrite changes one property of users over HTTP, with 1 and 8 connections. It measures a change with
// only the audit, with the history as well, with an idempotency key as well, and a dry run. All files are on
// the disk and synced.
func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name, setting string
		keyed, dry    bool
	}{
		{"audit", "store.file=off", false, false},
		{"history", "store.file=" + b.TempDir() + "/history.db", false, false},
		{"key", "store.file=" + b.TempDir() + "/key.db", true, false},
		{"dry run", "store.file=" + b.TempDir() + "/plan.db", false, true},
	} {
		s := systemtest.New(b, sandbox.Options{Seed: 1, Users: 100}, "log.level=error", c.setting)
		list := s.Get("/api/ADUser/ListUsers?OUPath=OU=Generated,DC=corp,DC=example&ShowFields=username")
		for _, connections := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/connections=%d", c.name, connections), func(b *testing.B) {
				client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections,
					MaxIdleConnsPerHost: connections}}
				defer client.CloseIdleConnections()
				var next atomic.Int64
				var wait sync.WaitGroup
				for range connections {
					wait.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							user := systemtest.Text(list.Envelope.Result[int(n)%len(list.Envelope.Result)]["username"])
							key := ""
							if c.keyed {
								key = fmt.Sprintf("benchmark-%d-%d-%d", connections, b.N, n)
							}
							if err := change(client, s.URL+"/api/ADUser/"+user, fmt.Sprintf("Room %d of %d", n, b.N), key,
								c.dry); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wait.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
			})
		}
	}
}

// change changes a user's office.
func change(client *http.Client, url, office, key string, dry bool) error {
	body, _ := json.Marshal(map[string]any{"Office": office, "DryRun": dry}) // can always be encoded
	request, err := http.NewRequest(http.MethodPut, url, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, answer)
	}
	return err
}
