package hop

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/clustertest"
)

func TestTheLeaderGetsACallAsItsClientMadeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var got *http.Request
		var body string
		f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			got, body = r, string(text)
		})
		f.leader.elect("gw1")
		e := f.edge()

		target := `/api/ADUser/j%64oe%2Fx/Group?a=1;b=%zz&c=+%20`
		r := request(t, http.MethodPost, target, strings.NewReader("the body"),
			"Authorization", "Bearer abc", "Cookie", "s=1", "Auth-Token", "xyz", "If-Match", `"1"`, "If-None-Match", `"2"`,
			"If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT", "Accept-Encoding", "br", "Range", "bytes=0-1",
			"Idempotency-Key", "k1", "Idempotency-Key", "k2", "X-Idempotency-Key", "k3", "Last-Event-Id", "7",
			"Connection", "If-Match, X-Own", "X-Own", "o", "User-Agent", "")
		r.Host = "ad.corp.example:8443"
		require.Equal(t, http.StatusOK, e.do(t, r).StatusCode)

		assert.Equal(t, target, got.RequestURI)
		assert.Equal(t, "/api/ADUser/jdoe/x/Group", got.URL.Path)
		assert.Equal(t, "ad.corp.example:8443", got.Host)
		assert.Equal(t, "the body", body)
		assert.Equal(t, int64(8), got.ContentLength)
		got.Header.Del("Expect")
		assert.Equal(t, http.Header{
			"Authorization": {"Bearer abc"}, "Cookie": {"s=1"}, "Auth-Token": {"xyz"}, "If-Match": {`"1"`},
			"If-None-Match":     {`"2"`},
			"If-Modified-Since": {"Sat, 01 Jan 2000 00:00:00 GMT"}, "Accept-Encoding": {"br"}, "Range": {"bytes=0-1"},
			"Idempotency-Key": {"k1", "k2"}, "X-Idempotency-Key": {"k3"}, "Last-Event-Id": {"7"}, "X-Own": {"o"},
			"Content-Length": {"8"},
		}, got.Header)
		assert.Equal(t, []string{"forwarded gw1"}, e.observed())
	})
}

func TestTheLeaderKnowsWhereACallComesFrom(t *testing.T) {
	ca := clustertest.NewAuthority(t)
	client := ca.Settings("client").Certificates[0].Leaf
	chains := [][]*x509.Certificate{{client, ca.Certificate}, {client}}
	for name, c := range map[string]struct {
		origin Origin
		remote string
		tls    bool
	}{
		"IPv4 without TLS": {Origin{Client: netip.MustParseAddr("192.0.2.1"), Scheme: "http", RequestID: "a"}, "192.0.2.1:0", false},
		"IPv6 with TLS":    {Origin{Client: netip.MustParseAddr("2001:db8::1"), Scheme: "https", RequestID: "b"}, "[2001:db8::1]:0", true},
		"a certificate":    {Origin{Client: netip.MustParseAddr("192.0.2.1"), Scheme: "https", Chains: chains}, "192.0.2.1:0", true},
		"an unknown host":  {Origin{Scheme: "http"}, "invalid AddrPort", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				var got *http.Request
				f.gateway("gw1", func(_ http.ResponseWriter, r *http.Request) { got = r })
				f.leader.elect("gw1")
				e := f.edgeNamed("edge")
				e.origin = c.origin
				require.Equal(t, http.StatusOK, e.do(t, request(t, http.MethodGet, "/", nil)).StatusCode)

				want := c.origin
				want.Gateway = "edge"
				origin, ok := From(got.Context())
				require.True(t, ok)
				assert.Equal(t, want, origin)
				assert.Equal(t, c.remote, got.RemoteAddr)
				require.Equal(t, c.tls, got.TLS != nil, "not the connection of the hop, whose peer is a gateway")
				if c.tls {
					assert.Equal(t, c.origin.Chains, got.TLS.VerifiedChains)
				}
			})
		})
	}
}

func TestAnOriginThatCannotBeReadBeginsNothing(t *testing.T) {
	good := Origin{Client: netip.MustParseAddr("192.0.2.1"), Scheme: "https",
		Chains: [][]*x509.Certificate{{clustertest.NewAuthority(t).Certificate}}}
	for header, value := range map[string]string{
		clientHeader: "192.0.2.1.1", schemeHeader: "ftp", chainHeader: "AAAA,!", requestHeader: "",
	} {
		t.Run(header, func(t *testing.T) {
			h := http.Header{}
			good.write(h)
			h.Set(header, value)
			_, err := readOrigin(h)
			assert.Equal(t, header == requestHeader, err == nil, "%v", err)
		})
	}
}

func TestNoClientCanSetHeadersOfTheHop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var got *http.Request
		f.gateway("gw1", func(_ http.ResponseWriter, r *http.Request) { got = r })
		f.leader.elect("gw1")
		e := f.edge()
		e.do(t, request(t, http.MethodDelete, "/", nil,
			"X-Adgateway-Hop-Client", "127.0.0.1", "x-adgateway-hop-scheme", "http", "X-Adgateway-Hop-Request-Id",
			"forged",
			"X-Adgateway-Hop-Certificates", "AAAA", "X-Adgateway-Hop-Idempotency-Key", "forged", "X-Adgateway-Hop-New",
			"forged",
			"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Proto", "http", "X-Forwarded-Client-Cert", "forged",
			"Forwarded", "for=127.0.0.1", "X-Real-Ip", "127.0.0.1"))
		origin, _ := From(got.Context())
		want := e.origin
		want.Gateway = "edge"
		assert.Equal(t, want, origin)
		assert.Equal(t, http.Header{"User-Agent": {"Go-http-client/1.1"}}, got.Header)

		header := http.Header{"X-Adgateway-Hop-Client": {"a"}, "x-adgateway-hop-key": {"b"},
			"X-Adgateway-Hopper": {"c"}, "X-Adgateway-Hop-": {"d"}}
		Clean(header)
		assert.Equal(t, http.Header{"X-Adgateway-Hopper": {"c"}}, header)
	})
}

func TestTheClientGetsTheAnswerAsTheLeaderGaveIt(t *testing.T) {
	var zipped strings.Builder
	writer := gzip.NewWriter(&zipped)
	_, _ = writer.Write([]byte("text"))
	require.NoError(t, writer.Close())
	type answered struct {
		status int
		header http.Header
		body   string
	}
	for name, c := range map[string]struct {
		method string
		status int
		header http.Header
		body   string
		length string // Content-Length of the answer to the client
	}{
		"headers": {http.MethodGet, 201, http.Header{
			"Set-Cookie": {"a=1; Path=/", "b=2"}, "Etag": {`W/"x"`}, "X-Request-Id": {"of the leader"}, "Retry-After": {"7"},
		}, "body", "4"},
		"zipped":         {http.MethodGet, 200, http.Header{"Content-Encoding": {"gzip"}}, zipped.String(), fmt.Sprint(zipped.Len())},
		"no content":     {http.MethodDelete, 204, nil, "", ""},
		"not modified":   {http.MethodGet, 304, http.Header{"Etag": {`"x"`}}, "", ""},
		"head":           {http.MethodHead, 200, http.Header{"Content-Length": {"1234"}}, "", "1234"},
		"a failure":      {http.MethodPut, 504, http.Header{"Content-Type": {"application/json"}}, "{}", "2"},
		"not acceptable": {http.MethodGet, 421, nil, "of the API", "10"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.gateway("gw1", func(w http.ResponseWriter, _ *http.Request) {
					for key, values := range c.header {
						w.Header()[key] = values
					}
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				})
				f.leader.elect("gw1")
				got := f.edge().do(t, request(t, c.method, "/", nil))
				require.NoError(t, got.err)
				want := http.Header{}
				for key, values := range c.header {
					want[key] = values
				}
				if c.length != "" {
					want.Set("Content-Length", c.length)
				}
				for _, added := range []string{"Date", "Content-Type"} { // set by the leader's server
					if _, set := c.header[added]; !set {
						got.Header.Del(added)
					}
				}
				assert.Equal(t, answered{c.status, want, c.body}, answered{got.StatusCode, got.Header, got.body})
			})
		})
	}
}

func TestTrailersArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw1", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Announced")
			_, _ = w.Write([]byte("body"))
			w.Header().Set("X-Announced", "1")
			w.Header().Set(http.TrailerPrefix+"X-Late", "2")
		})
		f.leader.elect("gw1")
		got := f.edge().do(t, request(t, http.MethodGet, "/", nil))
		require.NoError(t, got.err)
		assert.Equal(t, "body", got.body)
		assert.Equal(t, http.Header{"X-Announced": {"1"}, "X-Late": {"2"}}, got.Trailer)
	})
}

func TestOnlyGatewaysOfTheClusterGetThrough(t *testing.T) {
	const year = 400 * 24 * time.Hour
	for name, c := range map[string]struct {
		gateway string
		other   bool // the certificate belongs to another CA
		none    bool // there is no certificate
		clock   time.Duration
		old     bool // the peer only supports TLS 1.2
		status  int  // zero if there is no connection
	}{
		"a member":              {gateway: "gw2", status: 200},
		"one whose clock is on": {gateway: "gw2", clock: year, status: 200},
		"one whose clock is behind": {
			gateway: "gw2", clock: -year, status: 200,
		},
		"one that was removed":   {gateway: "removed", status: 403},
		"one of another cluster": {gateway: "gw2", other: true},
		"nobody":                 {none: true},
		"an old protocol":        {gateway: "gw2", old: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				calls := 0
				f.gateway("gw1", func(http.ResponseWriter, *http.Request) { calls++ })
				f.leader.elect("gw1")
				ca := f.ca
				if c.other {
					ca = clustertest.NewAuthority(t)
				}
				settings := ca.Settings(c.gateway)
				settings.RootCAs, settings.ServerName = f.ca.Pool, "gw1"
				settings.Time = func() time.Time { return time.Now().Add(c.clock) }
				if c.none {
					settings.Certificates = nil
				}
				if c.old {
					settings.MaxVersion = tls.VersionTLS12
				}
				transport := &http.Transport{DialContext: f.network.dial, TLSClientConfig: settings}
				defer transport.CloseIdleConnections()
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+addressOf("gw1"), nil)
				require.NoError(t, err)
				r.Header.Set(schemeHeader, "http")
				res, err := transport.RoundTrip(r)
				require.Equal(t, c.status == 0, err != nil, "%v", err)
				if err == nil {
					assert.Equal(t, c.status, res.StatusCode)
					assert.NoError(t, res.Body.Close())
				}
				assert.Equal(t, c.status == 200, calls == 1)
			})
		})
	}
}

func TestACallGoesOnlyToTheGatewayThatTheLogNames(t *testing.T) {
	const year = 400 * 24 * time.Hour
	for name, c := range map[string]struct {
		settings func(f *fleet) *tls.Config
		status   int
	}{
		"the leader":              {func(f *fleet) *tls.Config { return f.ca.Settings("gw1") }, 200},
		"another gateway":         {func(f *fleet) *tls.Config { return f.ca.Settings("gw2") }, 503},
		"one of another cluster":  {func(*fleet) *tls.Config { return clustertest.NewAuthority(t).Settings("gw1") }, 503},
		"one whose clock is on":   {func(f *fleet) *tls.Config { return shifted(f, year) }, 200},
		"one whose clock is late": {func(f *fleet) *tls.Config { return shifted(f, -year) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				calls := 0
				settings := c.settings(f)
				settings.ClientCAs = f.ca.Pool
				f.serve(&Receiver{Gateway: "gw1", Leader: f.leader, Peer: members,
					Next: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
						calls++
					})}, settings)
				f.leader.elect("gw1")
				got := f.edge().do(t, request(t, http.MethodPost, "/", nil))
				assert.Equal(t, c.status, got.StatusCode)
				assert.Equal(t, c.status == 200, calls == 1)
			})
		})
	}
}

// shifted returns the settings of gw1 with a wrong clock.
func shifted(f *fleet, by time.Duration) *tls.Config {
	settings := f.ca.Settings("gw1")
	settings.Time = func() time.Time { return time.Now().Add(by) }
	return settings
}

func TestNobodyIsBelievedWithoutProof(t *testing.T) {
	_, err := NewServer(&Receiver{}, &tls.Config{ClientAuth: tls.RequireAnyClientCert})
	assert.Error(t, err)
}
