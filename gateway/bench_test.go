package gateway_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/accesslog"
	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// discarded is a response writer that discards everything.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarded) WriteHeader(status int)      { d.status = status }

// BenchmarkOwn measures the gateway's own share of a request: routing, parameters, answer, metrics,
// and the access log in each of its formats. The runner answers at once, there is no HTTP server,
// and the audit is off.
func BenchmarkOwn(b *testing.B) {
	record := "[" + harness.Sample(schema.User) + "]"
	created := ps.Result{Effect: ps.EffectCreated, Server: "dc1.corp.example"}
	for _, c := range []struct {
		name, method, body string
		status             int
		result             ps.Result
	}{
		{"details", "GET", "", 200, harness.OK},
		{"create", "POST", `{"FirstName":"Ada","LastName":"Byron","City":"London","Department":"Sales","JobTitle":"Clerk"}`, 201, created},
	} {
		for name, tune := range map[string]func(*logrus.Logger){
			"text": func(*logrus.Logger) {},
			"json": func(log *logrus.Logger) { log.SetFormatter(accesslog.JSON()) },
			"none": func(log *logrus.Logger) { log.SetLevel(logrus.ErrorLevel) },
		} {
			s := harness.New(b, harness.Answering(c.result, record), func(o *gateway.Options) { tune(o.Log) })
			target := strings.TrimSuffix("/api/ADUser/jdoe/Details",
				map[bool]string{true: "/Details"}[c.method == "POST"])
			request := httptest.NewRequest(c.method, target, nil)
			request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
			request.Header.Set("Content-Type", "application/json")
			body := strings.NewReader("")
			answer := &discarded{header: http.Header{}}
			b.Run(c.name+"/log="+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					clear(answer.header)
					body.Reset(c.body)
					if request.Body = http.NoBody; c.body != "" {
						request.Body = io.NopCloser(body)
					}
					s.Handler().ServeHTTP(answer, request)
				}
				require.Equal(b, c.status, answer.status)
			})
		}
	}
}

// BenchmarkItem measures the gateway's own share of a job's item that changes something. The runner
// answers at once, and the store is in memory.
func BenchmarkItem(b *testing.B) {
	kept := storetest.Seal(b, store.NewMemory(nil))
	history := changes.New(kept, time.Hour, 1<<20)
	d := &harness.OneUser{City: "Oslo", At: func(string) {}}
	s := harness.New(b, &harness.Runner{Do: d.Run},
		func(o *gateway.Options) { o.Kept, o.History = kept, history })
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		d.City = "Oslo"
		answer := s.Jobs().Items.Call(b.Context(), harness.ItemToRome("jb."+strconv.Itoa(n)))
		if answer.State != jobstate.Made {
			b.Fatalf("%+v", answer)
		}
	}
}

// BenchmarkWire measures a read over a kept-alive connection, with the HTTP server, the gateway and the
// access log as text. The runner answers at once. The client allocates nothing, so all counted allocations
// are made by the gateway.
func BenchmarkWire(b *testing.B) {
	s := harness.New(b, harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]"), nil)
	server := httptest.NewServer(s.Handler())
	b.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(b, err)
	defer conn.Close()
	request := []byte("GET /api/ADUser/jdoe/Details HTTP/1.1\r\nHost: gateway\r\n" +
		"Auth-Token: Bearer " + harness.AllToken + "\r\n\r\n")
	answer := make([]byte, 64<<10)
	_, err = conn.Write(request)
	require.NoError(b, err)
	end := []byte("}\n")
	ask := func() (n int) {
		for n < len(end) || !bytes.HasSuffix(answer[:n], end) {
			more, err := conn.Read(answer[n:])
			if err != nil {
				b.Fatal(err)
			}
			n += more
		}
		return n
	}
	n := ask()
	require.Contains(b, string(answer[:n]), "200 OK")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		ask()
	}
}

// BenchmarkStreams measures a change in a row of ten, until each event stream has delivered them, including
// the history in memory, the HTTP server and the connections. Streams send a row in one piece and then
// wait, so its objects count, but not its time.
func BenchmarkStreams(b *testing.B) {
	for _, streams := range []int{0, 1, 48} {
		kept := storetest.Seal(b, store.NewMemory(nil))
		history := changes.New(kept, time.Hour, 1<<30)
		s := harness.New(b, harness.Answering(harness.OK), func(o *gateway.Options) {
			o.History, o.Streams = history, 200
		})
		server := httptest.NewServer(s.Handler())
		const row = 10
		told := make(chan struct{}, row*streams)
		for range streams {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(b, err)
			b.Cleanup(func() { _ = conn.Close() })
			_, err = io.WriteString(conn, "GET /api/Changes/stream HTTP/1.1\r\nHost: x\r\n"+
				"Auth-Token: Bearer "+harness.AllToken+"\r\n\r\n")
			require.NoError(b, err)
			buffer := make([]byte, 16<<10)
			for begun := ""; !strings.Contains(begun, "what is changed follows"); {
				n, err := conn.Read(buffer)
				require.NoError(b, err)
				begun += string(buffer[:n])
			}
			go func() {
				for {
					n, err := conn.Read(buffer)
					for range bytes.Count(buffer[:n], []byte("event: change")) {
						told <- struct{}{}
					}
					if err != nil {
						return
					}
				}
			}()
		}
		b.Run("streams="+strconv.Itoa(streams), func(b *testing.B) {
			b.ReportAllocs()
			for made := 0; b.Loop(); {
				city := ps.IntendedChange{Name: "l", After: "Bern"}
				object := ps.Intended{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{city}}
				r := &changes.Record{
					ID: changes.NewID(), Time: time.Now().UTC(), Operation: "user.update",
					Author: changes.Author{Caller: "portal"},
					Intent: ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{object}},
				}
				require.NoError(b, history.Complete(b.Context(), r, ps.OutcomeDone))
				if made++; made%row != 0 {
					continue
				}
				for range row * streams {
					<-told
				}
			}
		})
		server.CloseClientConnections()
		server.Close()
	}
}
