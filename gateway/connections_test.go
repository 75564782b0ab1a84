package gateway_test

import (
	"bufio"
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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// running serves on a free port until the test ends.
func running(t *testing.T, runner ps.Runner, change func(*gateway.Options)) (address string) {
	t.Helper()
	s := harness.New(t, runner, change)
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
	config := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}}
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
	address := running(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.Connections.TLS = config })
	request, err := http.NewRequest("GET", "https://"+address+"/api/OU/All", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
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
	require.NoError(t, dial(t, address).Close()) // as a port scanner does

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

// busyListener cannot accept connections at first, as if the process were out of file descriptors.
type busyListener struct {
	net.Listener
	busy atomic.Bool
}

func (l *busyListener) Accept() (net.Conn, error) {
	if l.busy.Swap(false) {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestLogLevelsOfServerMessages: messages that clients cause are only logged at debug level, all
// others as warnings.
func TestLogLevelsOfServerMessages(t *testing.T) {
	config, _ := testCertificate(t)
	lines := make(signal, 100)
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		o.Connections.TLS, o.Log = config, logrus.New()
		o.Log.SetOutput(lines)
		o.Log.SetLevel(logrus.DebugLevel)
	})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := &busyListener{Listener: inner}
	listener.busy.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	assert.Contains(t, <-lines, "level=warning")
	plain := dial(t, inner.Addr().String())
	_, err = io.WriteString(plain, "GET / HTTP/1.1\r\n\r\n")
	require.NoError(t, err)
	assert.Contains(t, <-lines, "level=debug")
	stop()
	require.NoError(t, <-ended)
}

func TestSlowClientsAreCutOff(t *testing.T) {
	const brief = 100 * time.Millisecond
	address := running(t, harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]"),
		func(o *gateway.Options) {
			o.Connections.HeaderTimeout, o.Connections.BodyTimeout, o.Connections.IdleTimeout = brief, brief, brief
		})
	post := "POST /api/ADUser/jdoe HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer " + harness.AllToken +
		"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	for name, c := range map[string]struct{ sent, answer string }{
		"nothing":              {"", ""},
		"half a line":          {"GET /api/OU", ""},
		"half a header":        {"GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-", ""},
		"half a body":          {post + `{"City":`, "400 Bad Request"},
		"nobody's half a body": {strings.Replace(post, harness.AllToken, "x", 1) + `{"City":`, "401 Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection := dial(t, address)
			_, err := io.WriteString(connection, c.sent)
			require.NoError(t, err)
			said, _ := io.ReadAll(connection) // the read may end with a reset
			assert.Contains(t, string(said), c.answer)
			if strings.HasPrefix(c.answer, "400") {
				assert.Contains(t, string(said), "The body did not arrive in time.")
			}
		})
	}
}

func TestALongHeaderIsAnsweredWith431(t *testing.T) {
	address := running(t, harness.Answering(harness.OK, "[]"), nil)
	get := func(bytes int) string {
		connection := dial(t, address)
		_, err := fmt.Fprintf(connection,
			"GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\nConnection: close\r\nX-Long: %s\r\n\r\n",
			harness.AllToken, strings.Repeat("x", bytes))
		require.NoError(t, err)
		said, err := io.ReadAll(connection)
		require.NoError(t, err, "the whole answer must arrive")
		status, _, _ := strings.Cut(string(said), "\r\n")
		return status
	}
	assert.Equal(t, "HTTP/1.1 200 OK", get(120<<10))
	assert.Equal(t, "HTTP/1.1 431 Request Header Fields Too Large", get(140<<10))
	assert.Equal(t, "HTTP/1.1 200 OK", get(0))
}

// isServed reports whether a request on a connection is answered. It is once the listener has accepted the
// connection.
func isServed(connection net.Conn) bool {
	if _, err := io.WriteString(connection, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK
}

// TestNoRequestIsHiddenInAnother: the gateway never parses bytes as another request if a proxy that relies on
// Content-Length counts them as part of a body.
func TestNoRequestIsHiddenInAnother(t *testing.T) {
	for name, length := range map[string]string{"with both": "Content-Length: 4\r\n", "chunked only": ""} {
		t.Run(name, func(t *testing.T) {
			address := running(t, harness.Answering(harness.OK), nil)
			c, err := net.Dial("tcp", address)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
			_, err = io.WriteString(c, "POST /healthz HTTP/1.1\r\nHost: gw\r\n"+length+
				"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /version HTTP/1.1\r\nHost: gw\r\n\r\n")
			require.NoError(t, err)
			read, err := io.ReadAll(c)
			require.NoError(t, err)
			assert.Equal(t, 1, strings.Count(string(read), "HTTP/1.1 "), "%s", read)
			assert.Contains(t, string(read), "Connection: close\r\n")
		})
	}
}

func TestConnectionsOfOneAddressAreLimited(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	log := make(signal, 100)
	s := harness.New(t, harness.Answering(harness.OK, "[]"), func(o *gateway.Options) {
		o.Connections.PerAddress, o.Connections.Total = 2, 3
		o.Policy.TrustedProxies = []string{"127.0.0.3"}
		o.Log = logrus.New()
		o.Log.SetOutput(log)
	})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, inner) }()
	from := func(address string) net.Conn {
		t.Helper()
		connection, err := (&net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).Dial(
			"tcp", inner.Addr().String())
		require.NoError(t, err)
		require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
		return connection
	}
	closed := func(connection net.Conn) bool {
		_, err := connection.Read(make([]byte, 1))
		return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
	}

	one, two := from("127.0.0.2"), from("127.0.0.2")
	require.True(t, isServed(one) && isServed(two))
	assert.True(t, closed(from("127.0.0.2")), "the third connection of an address must be closed")
	assert.True(t, closed(from("127.0.0.4")), "all addresses of this machine are one host")
	assert.Contains(t, <-log, "client=127.0.0.2")
	proxy := from("127.0.0.3")
	assert.True(t, isServed(proxy))
	waits := func(connection net.Conn) bool { // a trusted proxy has no limit per address, but waits for a slot
		require.NoError(t, connection.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		_, err := connection.Read(make([]byte, 1))
		require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	fourth := from("127.0.0.3")
	_, err = io.WriteString(fourth, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	require.True(t, waits(fourth))
	require.NoError(t, one.Close())
	answer, err := http.ReadResponse(bufio.NewReader(fourth), nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	fifth := from("127.0.0.3")
	_, err = io.WriteString(fifth, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	assert.True(t, waits(fifth), "a slot is freed only once")
	stop()
	require.NoError(t, <-ended)
	for _, connection := range []net.Conn{two, proxy, fourth, fifth} {
		connection.Close()
	}
}

// addressed is a connection that seems to come from an address of the test's choice.
type addressed struct {
	net.Conn
	from string
}

func (a addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a.from))
}

// arrivals is a listener for connections from any address.
type arrivals struct {
	queue  chan net.Conn
	closed chan struct{}
	close  func()
}

func newArrivals() *arrivals {
	a := &arrivals{queue: make(chan net.Conn), closed: make(chan struct{})}
	a.close = sync.OnceFunc(func() { close(a.closed) })
	return a
}

func (a *arrivals) Accept() (net.Conn, error) {
	select {
	case c := <-a.queue:
		return c, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

func (a *arrivals) Addr() net.Addr { return &net.TCPAddr{} }

func (a *arrivals) Close() error {
	a.close()
	return nil
}

// TestPlacesAreKeptForKnownCallers: even if strangers take all the connections they can get, a
// client that recently sent a valid credential still gets in, and so does a client on this machine.
func TestPlacesAreKeptForKnownCallers(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.Connections.PerAddress, o.Connections.Total = 10, 50 })
	in := newArrivals()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	var opened []net.Conn
	// arrive reports whether a connection from an address is served.
	arrive := func(from string) bool {
		t.Helper()
		ours, theirs := net.Pipe()
		in.queue <- addressed{theirs, from}
		if !isServed(ours) {
			ours.Close()
			return false
		}
		opened = append(opened, ours)
		return true
	}
	// the credential lacks the right, but is known
	harness.Call(s, "GET", "/api/OU/All", "", harness.PeerLine+": 203.0.113.7:1",
		"Auth-Token: Bearer "+harness.ReadToken)
	// unknown
	harness.Call(s, "GET", "/api/OU/All", "", harness.PeerLine+": 203.0.113.8:1",
		"Auth-Token: Bearer "+harness.ReadToken+"no")
	for host := range 5 {
		for i := range 10 { // all in one /64 network
			arrive(fmt.Sprintf("[2001:db8:0:%x::%x]:1", host, i+1))
		}
		assert.False(t, arrive(fmt.Sprintf("[2001:db8:0:%x::ffff]:1", host)), "the eleventh connection of a host")
	}
	assert.Len(t, opened, 45, "strangers get all places but a tenth")
	assert.False(t, arrive("198.51.100.1:1"), "another stranger")
	assert.False(t, arrive("203.0.113.8:1"), "with a credential that is not valid")
	assert.True(t, arrive("203.0.113.7:1"), "with a valid credential lately")
	assert.True(t, arrive("127.0.0.1:2"), "from this machine")
	for range 3 { // the two connections that got in next to the strangers hold places, too
		require.NoError(t, opened[0].Close())
		opened = opened[1:]
	}
	assert.Eventually(t, func() bool { return arrive("198.51.100.1:1") }, patience, time.Millisecond,
		"a place is free again")
	for _, connection := range opened {
		require.NoError(t, connection.Close())
	}
	stop()
	require.NoError(t, <-ended)
}

// pages returns a runner that emits records of 32 KiB and calls pause after each.
func pages(count int, pause func(int)) *harness.Runner {
	record := strings.Replace(harness.Sample(schema.OU), `"text"`, `"`+strings.Repeat("x", 32<<10)+`"`, 1)
	return &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		for i := range count {
			if err := req.Records(json.RawMessage("[" + record + "]")); err != nil {
				return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
			}
			pause(i)
		}
		return &harness.OK, ctx.Err()
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
			address := running(t, pages(40, func(int) {}), func(o *gateway.Options) {
				o.StreamAbove, o.Connections.SendTimeout = above, 100*time.Millisecond
				o.Log = logrus.New()
				o.Log.SetOutput(log)
			})
			connection := dial(t, address)
			_, err := fmt.Fprintf(connection, "GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\n\r\n",
				harness.AllToken)
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
	const send = 2 * time.Second // long enough for a client that must wait for the processor
	config, client := testCertificate(t)
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := "http://"
			address := running(t, pages(48, func(i int) {
				if i == 40 {
					time.Sleep(send + send/4) // a slow script is not counted against the client
				}
			}), func(o *gateway.Options) {
				o.StreamAbove, o.Connections.SendTimeout = 1<<20, send
				if h2 {
					o.Connections.TLS, scheme = config, "https://"
				}
			})
			request, err := http.NewRequest("GET", scheme+address+"/api/OU/All", nil)
			require.NoError(t, err)
			request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
			answer, err := client.Do(request)
			require.NoError(t, err)
			defer answer.Body.Close()
			for range 16 { // receiving everything that was held back takes longer than the time limit for one piece
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
	none := harness.New(t, harness.Answering(harness.OK, "[]"), nil)
	listed := harness.New(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.Policy.Origins = []string{portal} })
	for name, c := range map[string]struct {
		server  *gateway.Server
		method  string
		headers []string
		status  int
		want    map[string]string
	}{
		"answer to a listed origin": {listed, "GET", []string{"Origin: " + portal}, 200, map[string]string{
			"Access-Control-Allow-Origin": portal, "Vary": "Origin", "Access-Control-Expose-Headers": "X-Request-Id, X-Engine, X-Directory-Server, ETag, Retry-After, WWW-Authenticate, Allow, Link, X-Total-Count, X-Warning-Count, X-Warnings", "Access-Control-Allow-Credentials": "", "Access-Control-Allow-Methods": ""}},
		"error to a listed origin": {listed, "GET", []string{"Origin: " + portal, "Auth-Token: "}, 401, map[string]string{"Access-Control-Allow-Origin": portal}},
		"no origin":                {listed, "GET", nil, 200, map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"nothing listed":           {none, "GET", nil, 200, map[string]string{"Vary": "Accept"}},
		"foreign origin":           {listed, "GET", []string{"Origin: https://evil.example"}, 403, map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"origin in other case":     {listed, "GET", []string{"Origin: HTTPS://portal.corp.example"}, 200, nil},
		"page of the gateway":      {none, "PUT", []string{"Origin: https://example.com"}, 405, map[string]string{"Access-Control-Allow-Origin": ""}},
		"null":                     {listed, "GET", []string{"Origin: null"}, 403, nil},
		"preflight": {listed, "OPTIONS", []string{"Origin: " + portal, "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: auth-token", "Auth-Token: "}, 204, map[string]string{
			"Access-Control-Allow-Origin": portal, "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE", "Access-Control-Allow-Headers": "Auth-Token, Authorization, Content-Type, X-Request-Id, If-Match, If-None-Match", "Access-Control-Max-Age": "600", "Content-Type": ""}},
		"preflight of a foreign origin":   {listed, "OPTIONS", []string{"Origin: https://evil.example", "Access-Control-Request-Method: PUT"}, 403, map[string]string{"Access-Control-Allow-Methods": ""}},
		"preflight with nothing listed":   {none, "OPTIONS", []string{"Origin: " + portal, "Access-Control-Request-Method: PUT"}, 403, map[string]string{"Access-Control-Allow-Methods": ""}},
		"OPTIONS that is no preflight":    {listed, "OPTIONS", []string{"Origin: " + portal}, 405, map[string]string{"Allow": "GET"}},
		"OPTIONS of no browser":           {listed, "OPTIONS", []string{"Access-Control-Request-Method: PUT"}, 405, map[string]string{"Allow": "GET"}},
		"preflight before authenticating": {listed, "OPTIONS", []string{"Origin: " + portal, "Access-Control-Request-Method: GET", "Auth-Token: x"}, 204, nil},
	} {
		w := harness.Call(c.server, c.method, "/api/OU/All", "", c.headers...)
		assert.Equal(t, c.status, w.Code, name)
		for header, want := range c.want {
			assert.Equal(t, want, w.Header().Get(header), "%s: %s", name, header)
		}
	}
}

// certified accepts certificates by their subjects, in addition to other credentials.
type certified struct {
	authn.Authenticator
	bySubject map[string]*identity.Principal
}

func (a certified) Authenticate(ctx context.Context, c authn.Credential) (*identity.Principal, error) {
	if len(c.Chains) == 0 || c.Given() {
		return a.Authenticator.Authenticate(ctx, c)
	}
	if p := a.bySubject[c.Chains[0][0].Subject.String()]; p != nil {
		return p, nil
	}
	return nil, &authn.Refusal{Code: schema.Unauthenticated, Message: "unknown"}
}

func TestACredentialTakesPrecedenceOverACertificate(t *testing.T) {
	portal := &x509.Certificate{}
	portal.Subject.CommonName = "portal"
	stranger := &x509.Certificate{}
	stranger.Subject.CommonName = "stranger"
	known := map[string]*identity.Principal{"CN=portal": {Name: "by certificate",
		Scopes: []identity.Scope{identity.OURead}}}
	var log bytes.Buffer
	s := harness.New(t, harness.Answering(harness.OK, "[]"), func(o *gateway.Options) {
		o.Auth = certified{o.Auth, known}
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
		"certificate and credential":    {certificate: portal, credential: "Bearer " + harness.AllToken, status: 200, principal: "all"},
		"certificate, credential lacks": {certificate: portal, credential: "Bearer " + harness.ReadToken, status: 403, principal: "reader"},
		"certificate, wrong credential": {certificate: portal, credential: "Bearer wrong", status: 401},
		"certificate, empty credential": {certificate: portal, credential: " ", status: 401},
		"certificate, token in query":   {certificate: portal, query: "?auth-token=x", status: 400},
		"stranger with a credential":    {certificate: stranger, credential: "Bearer " + harness.AllToken, status: 200, principal: "all"},
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
