package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// benchRequest is a kind of request to measure.
type benchRequest struct {
	Name   string // read, write, list
	Method string
	Path   string
	Body   func(n int64) string // returns the JSON of the n-th request; nil means no body
}

// measurement is the result for requests of one kind. Times are in milliseconds.
type measurement struct {
	Request   string      `json:"request"`
	Sessions  int         `json:"sessions,omitempty"` // 0 if unknown
	Clients   int         `json:"clients"`
	Requests  int         `json:"requests"`
	PerSecond float64     `json:"perSecond"`
	Bytes     int64       `json:"bytes"` // average size of an answer
	P50       float64     `json:"p50"`
	P99       float64     `json:"p99"`
	Longest   float64     `json:"longest"`
	Parts     *benchParts `json:"parts,omitempty"` // nil if the credential may not read the metrics
}

// benchParts divide the average time of a request into parts, in milliseconds.
type benchParts struct {
	Gateway float64 `json:"gateway"` // HTTP, checks, records, and the way to the client
	Queue   float64 `json:"queue"`   // waiting for a session
	Session float64 `json:"session"` // PowerShell and, behind it, the directory
}

// benchTarget is the gateway to measure. It is safe for concurrent use.
type benchTarget struct {
	URL    string
	Token  string
	Client *http.Client
}

// newBenchTarget returns the gateway at a URL, for up to the given number of concurrent clients.
func newBenchTarget(url, token string, clients int) *benchTarget {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = clients + 1
	return &benchTarget{URL: strings.TrimSuffix(url, "/"), Token: token,
		Client: &http.Client{Transport: transport}}
}

// Do sends one request and returns the size of the answer. Any status but 2xx is an error.
func (t *benchTarget) Do(ctx context.Context, r benchRequest, n int64) (int64, error) {
	var body io.Reader
	if r.Body != nil {
		body = strings.NewReader(r.Body(n))
	}
	answer, err := t.send(ctx, r.Method, r.Path, body)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return 0, fmt.Errorf("%s %s is answered with %s: %s", r.Method, r.Path, answer.Status, text)
	}
	return io.Copy(io.Discard, answer.Body)
}

func (t *benchTarget) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, t.URL+path, body)
	if err != nil {
		return nil, err
	}
	if t.Token != "" {
		request.Header.Set("Auth-Token", "Bearer "+t.Token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return t.Client.Do(request)
}

// Ready waits until the gateway can serve requests.
func (t *benchTarget) Ready(ctx context.Context) error {
	for {
		answer, err := t.send(ctx, http.MethodGet, "/readyz", nil)
		if err != nil {
			return err
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("/readyz is answered with %s: %w", answer.Status, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Measure sends requests of one kind from the given number of clients until the duration has
// passed, at least one from each client.
func (t *benchTarget) Measure(
	ctx context.Context, r benchRequest, clients int, duration time.Duration,
) (measurement, error) {
	m := measurement{Request: r.Name, Clients: clients}
	// not measured, because the first call of a kind compiles the script
	if _, err := t.Do(ctx, r, -1); err != nil {
		return m, err
	}
	before, known := t.readCounters(ctx)
	var next, bytes atomic.Int64
	took, faults := make([][]time.Duration, clients), make([]error, clients)
	var wait sync.WaitGroup
	start := time.Now()
	for client := range clients {
		wait.Go(func() {
			for len(took[client]) == 0 || time.Since(start) < duration {
				sent := time.Now()
				size, err := t.Do(ctx, r, next.Add(1))
				if err != nil {
					faults[client] = err
					return
				}
				took[client] = append(took[client], time.Since(sent))
				bytes.Add(size)
			}
		})
	}
	wait.Wait()
	elapsed := time.Since(start)
	if err := errors.Join(faults...); err != nil {
		return m, err
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	var sum time.Duration
	for _, one := range all {
		sum += one
	}
	m.Requests, m.PerSecond, m.Bytes = len(all), float64(len(all))/elapsed.Seconds(), bytes.Load()/int64(
		len(all))
	m.P50, m.P99, m.Longest = milliseconds(all[len(all)/2]), milliseconds(all[len(all)*99/100]), milliseconds(
		all[len(all)-1])
	if after, ok := t.readCounters(ctx); ok && known && after.runs > before.runs {
		n := after.runs - before.runs
		p := benchParts{Queue: 1000 * (after.waited - before.waited) / n,
			Session: 1000 * (after.ran - before.ran) / n}
		p.Gateway = max(milliseconds(sum)/float64(len(all))-p.Queue-p.Session, 0)
		m.Parts = &p
	}
	return m, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// benchCounters are sums of the gateway's metrics, in seconds.
type benchCounters struct{ waited, ran, runs float64 }

// readCounters reads the metrics. It returns false if they cannot be read.
func (t *benchTarget) readCounters(ctx context.Context) (c benchCounters, ok bool) {
	answer, err := t.send(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return c, false
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return c, false
	}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		name, _, _ = strings.Cut(name, "{")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "adgateway_script_wait_seconds_sum":
			c.waited += number
		case "adgateway_script_run_seconds_sum":
			c.ran += number
		case "adgateway_script_run_seconds_count":
			c.runs += number
		}
	}
	return c, true
}
