package hop

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Options configure a [Forwarder]. Observe and NotBegun may be nil.
type Options struct {
	Gateway string // name of this gateway
	Leader  Leader

	// TLS returns the settings for a connection to a gateway. They present this gateway's certificate, and
	// accept no server other than the named gateway.
	TLS func(gateway string) *tls.Config

	// Waiting is the number of calls that may wait for a leader at the same time.
	Waiting int

	// Observe is called with the outcome of each attempt that is repeated, and then with the outcome
	// of the call. gateway is the gateway that was asked, or "" if none was.
	Observe func(r *http.Request, outcome Outcome, gateway string)

	// NotBegun is called before another gateway is asked. It gets the gateway that has begun nothing,
	// and the leader according to that gateway, or "" if it knows none.
	NotBegun func(gateway, leader string)
}

// Outcome is the outcome of a call, or of an attempt, in metrics and logs.
type Outcome string

// The outcomes.
const (
	Forwarded Outcome = "forwarded"  // the leader answered
	Retried   Outcome = "retried"    // an attempt failed before anything began, and another follows
	NotLeader Outcome = "not_leader" // nothing was begun
	Unknown   Outcome = "unknown"    // the call was sent, but its outcome is unknown
)

// Failure is the reason why a call has no answer from the leader.
type Failure struct {
	Outcome    Outcome       // [NotLeader] or [Unknown]
	RetryAfter time.Duration // time until it is safe and useful to repeat the call; 0 if repeating may be unsafe
	Err        error         // for the log
}

// The times of a hop.
const (
	dialTimeout      = time.Second
	handshakeTimeout = 3 * time.Second
	leaderWait       = 5 * time.Second // for a leader; limits the sum of all waits of a call
	samePause        = 250 * time.Millisecond
	answerMargin     = 5 * time.Second // added to the time that the leader itself may take
	oldTermGrace     = 15 * time.Second
	retryAfter       = 2 * time.Second
	clientIdle       = time.Minute
	idleConnections  = 128
)

// Forwarder sends calls to the leading gateway. It is safe for concurrent use.
type Forwarder struct {
	options Options
	places  chan struct{} // one element per call that waits for a leader
	dial    func(ctx context.Context, network, address string) (net.Conn, error)

	mutex     sync.Mutex
	peer      peer            // gateway that transport connects to
	transport *http.Transport // nil until something is sent
}

// peer is the name and address of a gateway.
type peer struct{ name, address string }

// NewForwarder returns a forwarder. The caller must call Close when the forwarder is no longer
// needed.
func NewForwarder(options Options) *Forwarder {
	if options.Observe == nil {
		options.Observe = func(*http.Request, Outcome, string) {}
	}
	if options.NotBegun == nil {
		options.NotBegun = func(string, string) {}
	}
	dialer := net.Dialer{
		Timeout:         dialTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 3},
	}
	return &Forwarder{options: options, places: make(chan struct{}, options.Waiting), dial: dialer.DialContext}
}

// Close closes the connections that are not in use.
func (f *Forwarder) Close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.transport != nil {
		f.transport.CloseIdleConnections()
	}
}

// Forward sends a call to the leading gateway and passes on its answer. limit is the time that the
// leader may take until its answer begins; after that there is no limit. Without a leader the call
// waits briefly for one.
//
// Forward returns true if this gateway leads, or has become leader while the call waited. In that case it has
// neither read the body nor written anything, and the caller must run the call on this gateway.
//
// A non-nil failure is the reason why the leader has not answered. In that case, too, nothing was written,
// and the caller must answer. The client may have left.
//
// The target of the forwarded request is the text that the client sent (RequestURI), if it is known. Like
// [httputil.ReverseProxy], Forward panics with [http.ErrAbortHandler] if the answer breaks off after its
// status, so the client does not mistake it for a complete one.
func (f *Forwarder) Forward(
	w http.ResponseWriter, r *http.Request, origin Origin, limit time.Duration,
) (here bool, failed *Failure) {
	leader := f.options.Leader
	if _, forwarded := From(r.Context()); forwarded {
		if name, _, _, ok := leader.Leader(); ok && name == f.options.Gateway {
			return true, nil
		}
		RefuseFollower(w, leader)
		return false, nil
	}
	// Otherwise the server of the client's connection discards the rest of the body when the answer
	// begins. The body may still be on its way to the leader, and the answer would break off. HTTP/2
	// does not need this.
	_ = http.NewResponseController(w).EnableFullDuplex()
	p := &passage{forwarder: f, request: r, origin: origin, limit: limit + answerMargin}
	in := r.WithContext(r.Context())
	in.Header = r.Header.Clone()
	// otherwise the proxy drops the headers that Connection lists, which may be conditions
	in.Header.Del("Connection")
	proxy := httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: p, ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error {
			clear(w.Header()) // the leader has set its own
			Clean(res.Header)
			f.options.Observe(r, Forwarded, p.asked.name)
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			if here = errors.Is(err, ErrHere); !here {
				failed = f.failure(p, err)
			}
		},
	}
	proxy.ServeHTTP(final{w}, in)
	return here, failed
}

// failure returns the reason why a call has no answer from the leader.
func (f *Forwarder) failure(p *passage, err error) *Failure {
	failure := &Failure{Outcome: Unknown, Err: err}
	switch {
	case errors.Is(err, ErrNoLeader):
		failure.Outcome, failure.RetryAfter = NotLeader, retryAfter
	case p.request.Header.Get(keyHeaders[0]) != "":
		failure.RetryAfter = retryAfter
	}
	f.options.Observe(p.request, failure.Outcome, p.asked.name)
	return failure
}

// rewrite prepares the hop's request.
func (p *passage) rewrite(pr *httputil.ProxyRequest) {
	out := pr.Out
	if target, err := url.ParseRequestURI(pr.In.RequestURI); err == nil {
		out.URL = target
	} else {
		out.URL.RawQuery = pr.In.URL.RawQuery // the proxy drops pairs that it cannot parse
	}
	out.URL.Scheme, out.Host = "https", pr.In.Host

	Clean(out.Header)
	dropPrefix(out.Header, "X-Forwarded-")
	out.Header.Del("X-Real-Ip")
	for _, name := range keyHeaders {
		rename(out.Header, name, prefix+name)
	}
	p.origin.write(out.Header)

	// This keeps a body at its client until the leader wants it, so that the call can be sent to another gateway
	// if the first one does not lead.
	out.Header.Del("Expect")
	if out.Body != nil {
		out.Header.Set("Expect", "100-continue")
	}
	if out.ContentLength < 0 {
		out.TransferEncoding = []string{"chunked"} // otherwise the transport may read a byte before it connects
	}
}

// final drops the leader's 100 Continue. As soon as the body is read, the server of the client's connection
// sends a 100 Continue itself to a client that has asked for it.
type final struct{ http.ResponseWriter }

func (w final) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap is called by [http.ResponseController].
func (w final) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// to returns the transport to a gateway. Connections to the previous gateway are closed once their calls have
// ended.
func (f *Forwarder) to(p peer) *http.Transport {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.transport != nil && f.peer == p {
		return f.transport
	}
	if f.transport != nil {
		f.transport.CloseIdleConnections()
	}
	f.peer, f.transport = p, &http.Transport{
		DialContext: f.dial, TLSClientConfig: f.options.TLS(p.name), TLSHandshakeTimeout: handshakeTimeout,
		Protocols: onlyHTTP1(), DisableCompression: true, ExpectContinueTimeout: time.Second,
		MaxIdleConns: idleConnections, MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: clientIdle,
	}
	return f.transport
}
