package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// running serves on a free port until the test ends.
func running(t *testing.T, runner ps.Runner, change func(*Options)) (address string) {
	t.Helper()
	s := newTestServer(t, runner, change)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, smallBuffers{listener}) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-ended: // the test may have left connections open
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	return listener.Addr().String()
}

// smallBuffers keeps socket buffers from hiding a slow client.
type smallBuffers struct{ net.Listener }

const smallBuffer = 64 << 10

func (l smallBuffers) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return connection, connection.(*net.TCPConn).SetWriteBuffer(smallBuffer)
}

// testCertificate returns the certificate of net/http/httptest and a client that
// trusts it.
func testCertificate(t *testing.T) (*tls.Config, *http.Client) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "example.com"},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return connection, connection.(*net.TCPConn).SetReadBuffer(smallBuffer)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return config, &http.Client{Transport: transport, Timeout: patience}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	connection, err := net.DialTimeout("tcp", address, patience)
	require.NoError(t, err)
	t.Cleanup(func() { connection.Close() })
	require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
	return connection
}

func TestServesTLSAndHTTP2(t *testing.T) {
	config, client := testCertificate(t)
	address := running(t, answering(okResult, "[]"), func(o *Options) { o.Connections.TLS = config })
	request, err := http.NewRequest("GET", "https://"+address+"/api/OU/All", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer "+allToken)
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, 200, answer.StatusCode)
	assert.Equal(t, "HTTP/2.0", answer.Proto)
	assert.Equal(t, "max-age=31536000", answer.Header.Get("Strict-Transport-Security"))

	plain := dial(t, address)
	_, err = io.WriteString(plain, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	said, err := io.ReadAll(plain)
	require.NoError(t, err)
	assert.Contains(t, string(said), "HTTP request to an HTTPS server")
	require.NoError(t, dial(t, address).Close()) // like a port scanner

	request.URL.Path = "/metrics"
	assert.Eventually(t, func() bool {
		answer, err := client.Do(request)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		metrics, err := io.ReadAll(answer.Body)
		return err == nil && strings.Contains(string(metrics), "\nadgateway_tls_handshake_failures_total 1\n")
	}, patience, 10*time.Millisecond)
}

func TestLogLevelsOfServerMessages(t *testing.T) {
	for line, want := range map[string]logrus.Level{
		"http: TLS handshake error from 10.0.0.1:4711: EOF":                                         logrus.DebugLevel,
		"http: TLS handshake error from 10.0.0.1:4711: remote error: tls: bad certificate":          logrus.DebugLevel,
		"http: Accept error: accept tcp 127.0.0.1:0: accept4: too many open files; retrying in 5ms": logrus.WarnLevel,
		"http: superfluous response.WriteHeader call from x (y.go:1)":                               logrus.WarnLevel,
	} {
		var entries bytes.Buffer
		s := newTestServer(t, answering(okResult), func(o *Options) {
			o.Log.SetOutput(&entries)
			o.Log.SetLevel(logrus.DebugLevel)
		})
		s.httpServer().ErrorLog.Print(line)
		assert.Contains(t, entries.String(), "level="+want.String(), line)
	}
}

func TestSlowClientsAreCutOff(t *testing.T) {
	const brief = 100 * time.Millisecond
	address := running(t, answering(okResult, "["+sample(schema.User)+"]"), func(o *Options) {
		o.Connections = Connections{HeaderTimeout: brief, BodyTimeout: brief, IdleTimeout: brief}
	})
	post := "POST /api/ADUser/jdoe HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer " + allToken + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	for name, c := range map[string]struct{ sent, answer string }{
		"nothing":              {"", ""},
		"half a line":          {"GET /api/OU", ""},
		"half a header":        {"GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-", ""},
		"half a body":          {post + `{"City":`, "400 Bad Request"},
		"nobody's half a body": {strings.Replace(post, allToken, "x", 1) + `{"City":`, "401 Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection := dial(t, address)
			_, err := io.WriteString(connection, c.sent)
			require.NoError(t, err)
			said, _ := io.ReadAll(connection) // may end with a reset
			assert.Contains(t, string(said), c.answer)
			if strings.HasPrefix(c.answer, "400") {
				assert.Contains(t, string(said), "The body did not arrive in time.")
			}
		})
	}
}

func TestALongHeaderIsAnsweredWith431(t *testing.T) {
	address := running(t, answering(okResult, "[]"), nil)
	get := func(bytes int) string {
		connection := dial(t, address)
		_, err := fmt.Fprintf(connection, "GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\nConnection: close\r\nX-Long: %s\r\n\r\n", allToken, strings.Repeat("x", bytes))
		require.NoError(t, err)
		said, err := io.ReadAll(connection)
		require.NoError(t, err, "the whole answer must arrive")
		status, _, _ := strings.Cut(string(said), "\r\n")
		return status
	}
	assert.Equal(t, "HTTP/1.1 200 OK", get(60<<10))
	assert.Equal(t, "HTTP/1.1 431 Request Header Fields Too Large", get(80<<10))
	assert.Equal(t, "HTTP/1.1 200 OK", get(0))
}

func TestConnectionsOfOneAddressAreLimited(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var log strings.Builder
	s := newTestServer(t, answering(okResult, "[]"), func(o *Options) {
		o.Connections.PerAddress, o.Connections.Total = 2, 3
		o.Policy.TrustedProxies = []string{"127.0.0.3"}
		o.Log = logrus.New()
		o.Log.SetOutput(&log)
	})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	limited := s.listen(inner)
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			connection, err := limited.Accept()
			if err != nil {
				return
			}
			accepted <- connection
		}
	}()
	from := func(address string) net.Conn {
		t.Helper()
		connection, err := (&net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).Dial("tcp", inner.Addr().String())
		require.NoError(t, err)
		require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
		return connection
	}
	next := func() net.Conn {
		t.Helper()
		select {
		case connection := <-accepted:
			return connection
		case <-time.After(patience):
			t.Fatal("no connection is accepted")
			return nil
		}
	}
	closed := func(connection net.Conn) bool {
		_, err := connection.Read(make([]byte, 1))
		return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
	}

	one, two := from("127.0.0.2"), from("127.0.0.2")
	first, second := next(), next()
	third := from("127.0.0.2")
	assert.True(t, closed(third), "the third connection of an address must be closed")
	assert.True(t, closed(from("127.0.0.4")), "all addresses of this machine are one host")
	proxy := from("127.0.0.3")
	third = next()
	assert.Equal(t, "127.0.0.3", peerOf(t, third))

	waiting := from("127.0.0.3") // a trusted proxy has no limit per address, but waits for a slot
	select {
	case <-accepted:
		t.Fatal("more connections than there may be")
	case <-time.After(20 * time.Millisecond):
	}
	require.NoError(t, first.Close())
	assert.Error(t, first.Close(), "a slot is freed only once")
	fourth := next()
	assert.Equal(t, "127.0.0.3", peerOf(t, fourth))
	require.NoError(t, limited.Close())
	for range accepted {
		t.Fatal("a connection after the end")
	}
	for _, connection := range []net.Conn{one, two, second, third, fourth, proxy, waiting} {
		connection.Close()
	}
	assert.Contains(t, log.String(), "connections refused")
	assert.Contains(t, log.String(), "client=127.0.0.2")
}

// addressed are the connections of a listener of addresses.
type addressed struct {
	net.Conn
	from string
}

func (a addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a.from))
}

// arrivals is a listener of connections from any address.
type arrivals struct {
	queue chan net.Conn
	net.Listener
}

func (a arrivals) Accept() (net.Conn, error) { return <-a.queue, nil }

// TestPlacesAreKeptForKnownCallers lets strangers take all the places they can get.
// Whoever has had a valid credential lately still gets in, and this machine does.
func TestPlacesAreKeptForKnownCallers(t *testing.T) {
	s := newTestServer(t, answering(okResult, "[]"), func(o *Options) { o.Connections.PerAddress, o.Connections.Total = 10, 50 })
	in := arrivals{queue: make(chan net.Conn, 100)}
	limited := s.listen(in)
	var opened []net.Conn
	// arrive reports whether the connections from the addresses are all served.
	arrive := func(from ...string) bool {
		t.Helper()
		accepted := make(chan net.Conn)
		go func() {
			connection, err := limited.Accept()
			assert.NoError(t, err)
			accepted <- connection
		}()
		mark := addressed{from: "127.0.0.1:1"} // is accepted once those before it are served or closed
		served := 0
		for _, address := range from {
			ours, theirs := net.Pipe()
			t.Cleanup(func() { theirs.Close() })
			in.queue <- addressed{ours, address}
		}
		ours, theirs := net.Pipe()
		t.Cleanup(func() { theirs.Close() })
		mark.Conn = ours
		in.queue <- mark
		for {
			connection := <-accepted
			if connection.RemoteAddr().String() == mark.from {
				require.NoError(t, connection.Close())
				return served == len(from)
			}
			served++
			opened = append(opened, connection)
			go func() {
				connection, err := limited.Accept()
				assert.NoError(t, err)
				accepted <- connection
			}()
		}
	}
	call(s, "GET", "/api/OU/All", "", peerLine+": 203.0.113.7:1", "Auth-Token: Bearer "+readToken)      // no right to it, but known
	call(s, "GET", "/api/OU/All", "", peerLine+": 203.0.113.8:1", "Auth-Token: Bearer "+readToken+"no") // unknown
	for host := range 5 {
		for i := range 10 { // the addresses of one /64
			arrive(fmt.Sprintf("[2001:db8:0:%x::%x]:1", host, i+1))
		}
		assert.False(t, arrive(fmt.Sprintf("[2001:db8:0:%x::ffff]:1", host)), "the eleventh connection of a host")
	}
	assert.Len(t, opened, 45, "strangers get all places but a tenth")
	assert.False(t, arrive("198.51.100.1:1"), "another stranger")
	assert.False(t, arrive("203.0.113.8:1"), "with a credential that is not valid")
	assert.True(t, arrive("203.0.113.7:1"), "with a valid credential lately")
	assert.True(t, arrive("127.0.0.1:2"), "from this machine")
	require.NoError(t, opened[0].Close())
	assert.True(t, arrive("198.51.100.1:1"), "a place is free again")
	for _, connection := range opened[1:] {
		require.NoError(t, connection.Close())
	}
}

// pages returns a runner that emits records of 32 KiB and calls pause after each.
func pages(count int, pause func(int)) *fakeRunner {
	record := strings.Replace(sample(schema.OU), `"text"`, `"`+strings.Repeat("x", 32<<10)+`"`, 1)
	return &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		for i := range count {
			if err := req.Records(json.RawMessage("[" + record + "]")); err != nil {
				return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
			}
			pause(i)
		}
		return &okResult, ctx.Err()
	}}
}

// signal is a log that signals each line.
type signal chan string

func (s signal) Write(line []byte) (int, error) {
	s <- string(line)
	return len(line), nil
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	for name, above := range map[string]int{"a stream": 256 << 10, "a whole answer": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := make(signal, 10)
			address := running(t, pages(40, func(int) {}), func(o *Options) {
				o.streamAbove, o.Connections.SendTimeout = above, 100*time.Millisecond
				o.Log = logrus.New()
				o.Log.SetOutput(log)
			})
			connection := dial(t, address)
			_, err := fmt.Fprintf(connection, "GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\n\r\n", allToken)
			require.NoError(t, err)
			select {
			case line := <-log:
				assert.Contains(t, line, "operation=ou.list")
			case <-time.After(patience):
				t.Fatal("the request goes on")
			}
		})
	}
}

func TestASlowListIsNotCutOff(t *testing.T) {
	const send = 2 * time.Second // long enough for a client that waits for a processor
	config, client := testCertificate(t)
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := "http://"
			address := running(t, pages(48, func(i int) {
				if i == 40 {
					time.Sleep(send + send/4) // a slow script does not count against the client
				}
			}), func(o *Options) {
				o.streamAbove, o.Connections.SendTimeout = 1<<20, send
				if h2 {
					o.Connections.TLS, scheme = config, "https://"
				}
			})
			request, err := http.NewRequest("GET", scheme+address+"/api/OU/All", nil)
			require.NoError(t, err)
			request.Header.Set("Auth-Token", "Bearer "+allToken)
			answer, err := client.Do(request)
			require.NoError(t, err)
			defer answer.Body.Close()
			for range 16 { // receiving what was held back takes longer than the limit for one piece
				_, err = io.CopyN(io.Discard, answer.Body, 64<<10)
				require.NoError(t, err)
				time.Sleep(send / 10) // a slow client, but within the limit
			}
			rest, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			assert.True(t, strings.HasSuffix(string(rest), "],\"output\":\"48 records found\"}\n"))
		})
	}
}

func TestCrossOriginAnswers(t *testing.T) {
	const portal = "https://portal.corp.example"
	none := newTestServer(t, answering(okResult, "[]"), nil)
	listed := newTestServer(t, answering(okResult, "[]"), func(o *Options) { o.Policy.Origins = []string{portal} })
	for name, c := range map[string]struct {
		server  *Server
		method  string
		headers []string
		status  int
		want    map[string]string
	}{
		"answer to a listed origin": {listed, "GET", []string{"Origin: " + portal}, 200, map[string]string{
			"Access-Control-Allow-Origin": portal, "Vary": "Origin", "Access-Control-Expose-Headers": corsAnswer, "Access-Control-Allow-Credentials": "", "Access-Control-Allow-Methods": ""}},
		"error to a listed origin": {listed, "GET", []string{"Origin: " + portal, "Auth-Token: "}, 401, map[string]string{"Access-Control-Allow-Origin": portal}},
		"no origin":                {listed, "GET", nil, 200, map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"nothing listed":           {none, "GET", nil, 200, map[string]string{"Vary": ""}},
		"foreign origin":           {listed, "GET", []string{"Origin: https://evil.example"}, 403, map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"origin in other case":     {listed, "GET", []string{"Origin: HTTPS://portal.corp.example"}, 200, nil},
		"page of the gateway":      {none, "PUT", []string{"Origin: https://example.com"}, 405, map[string]string{"Access-Control-Allow-Origin": ""}},
		"null":                     {listed, "GET", []string{"Origin: null"}, 403, nil},
		"preflight": {listed, "OPTIONS", []string{"Origin: " + portal, "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: auth-token", "Auth-Token: "}, 204, map[string]string{
			"Access-Control-Allow-Origin": portal, "Access-Control-Allow-Methods": corsMethods, "Access-Control-Allow-Headers": corsRequest, "Access-Control-Max-Age": "600", "Content-Type": ""}},
		"preflight of a foreign origin":   {listed, "OPTIONS", []string{"Origin: https://evil.example", "Access-Control-Request-Method: PUT"}, 403, map[string]string{"Access-Control-Allow-Methods": ""}},
		"preflight with nothing listed":   {none, "OPTIONS", []string{"Origin: " + portal, "Access-Control-Request-Method: PUT"}, 403, map[string]string{"Access-Control-Allow-Methods": ""}},
		"OPTIONS that is no preflight":    {listed, "OPTIONS", []string{"Origin: " + portal}, 405, map[string]string{"Allow": "GET"}},
		"OPTIONS of no browser":           {listed, "OPTIONS", []string{"Access-Control-Request-Method: PUT"}, 405, map[string]string{"Allow": "GET"}},
		"preflight before authenticating": {listed, "OPTIONS", []string{"Origin: " + portal, "Access-Control-Request-Method: GET", "Auth-Token: x"}, 204, nil},
	} {
		w := call(c.server, c.method, "/api/OU/All", "", c.headers...)
		assert.Equal(t, c.status, w.Code, name)
		for header, want := range c.want {
			assert.Equal(t, want, w.Header().Get(header), "%s: %s", name, header)
		}
	}
}

// fakeCertificates maps subjects to principals.
type fakeCertificates map[string]*auth.Principal

func (f fakeCertificates) ByCertificate(chains [][]*x509.Certificate, _ netip.Addr) (*auth.Principal, error) {
	if p := f[chains[0][0].Subject.String()]; p != nil {
		return p, nil
	}
	return nil, &auth.Refusal{Status: 401, Message: "unknown"}
}

func TestACredentialTakesPrecedenceOverACertificate(t *testing.T) {
	portal := &x509.Certificate{}
	portal.Subject.CommonName = "portal"
	stranger := &x509.Certificate{}
	stranger.Subject.CommonName = "stranger"
	known := fakeCertificates{"CN=portal": {Name: "by certificate", Scopes: []auth.Scope{auth.OURead}}}
	var log bytes.Buffer
	s := newTestServer(t, answering(okResult, "[]"), func(o *Options) {
		o.Certificates = known
		o.Log.SetOutput(&log)
	})
	for name, c := range map[string]struct {
		certificate *x509.Certificate
		unverified  bool
		credential  string
		query       string
		status      int
		principal   string
	}{
		"certificate alone":             {certificate: portal, status: 200, principal: "by certificate"},
		"certificate of nobody":         {certificate: stranger, status: 401},
		"certificate not verified":      {certificate: portal, unverified: true, status: 401},
		"certificate and credential":    {certificate: portal, credential: "Bearer " + allToken, status: 200, principal: "all"},
		"certificate, credential lacks": {certificate: portal, credential: "Bearer " + readToken, status: 403, principal: "reader"},
		"certificate, wrong credential": {certificate: portal, credential: "Bearer wrong", status: 401},
		"certificate, empty credential": {certificate: portal, credential: " ", status: 401},
		"certificate, token in query":   {certificate: portal, query: "?auth-token=x", status: 400},
		"stranger with a credential":    {certificate: stranger, credential: "Bearer " + allToken, status: 200, principal: "all"},
		"neither":                       {status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			log.Reset()
			r := httptest.NewRequest("GET", "/api/OU/All"+c.query, nil)
			if c.credential != "" {
				r.Header["Auth-Token"] = []string{strings.TrimSpace(c.credential)}
			}
			if c.certificate != nil {
				r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c.certificate}}
				if !c.unverified {
					r.TLS.VerifiedChains = [][]*x509.Certificate{{c.certificate}}
				}
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			assert.Equal(t, c.status, w.Code)
			if c.principal != "" {
				assert.Contains(t, strings.ReplaceAll(log.String(), `"`, ""), "principal="+c.principal)
			}
		})
	}
}

// peerOf returns the address of the client of a connection.
func peerOf(t *testing.T, connection net.Conn) string {
	t.Helper()
	peer, err := netip.ParseAddrPort(connection.RemoteAddr().String())
	require.NoError(t, err)
	return peer.Addr().String()
}
