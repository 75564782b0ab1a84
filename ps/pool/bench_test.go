package pool_test

import (
	"context"
	"encoding/json"
	"testing"

	"adgateway/ps"
	"adgateway/ps/pool"
)

// instant is a session that answers at once.
type instant struct{ dead chan struct{} }

func (instant) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	return &ps.Result{}, req.Records(json.RawMessage(`[{}]`))
}
func (instant) Probe(context.Context) error   { return nil }
func (i instant) Close(context.Context) error { i.Kill(); return nil }
func (i instant) Kill() {
	select {
	case <-i.dead:
	default:
		close(i.dead)
	}
}
func (i instant) Dead() <-chan struct{} { return i.dead }

// BenchmarkRun measures the overhead of the pool per request.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		req  ps.Request
	}{
		{"read", ps.Request{Lane: ps.Directory}},
		{"write", ps.Request{Lane: ps.Directory, Write: true}},
		{"list", ps.Request{Lane: ps.Directory, List: true}},
	} {
		c.req.Records = func(json.RawMessage) error { return nil }
		for _, parallel := range []bool{false, true} {
			name := c.name
			if parallel {
				name += "/parallel"
			}
			b.Run(name, func(b *testing.B) {
				p, err := pool.New(pool.Config{Queue: 1000, Lanes: map[ps.Lane]pool.Lane{ps.Directory: {
					MaxRequests: -1,
					Start: func(context.Context) (pool.Session, error) {
						return instant{make(chan struct{})}, nil
					},
				}}})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close(context.Background())
				b.ReportAllocs()
				if parallel {
					b.SetParallelism(8)
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							if _, err := p.Run(b.Context(), c.req); err != nil {
								b.Error(err)
								return
							}
						}
					})
					return
				}
				for b.Loop() {
					if _, err := p.Run(b.Context(), c.req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
