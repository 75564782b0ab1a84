// Package hop forwards a call from the gateway that received it to the leader.
//
// A [Forwarder] sends the call over mutual TLS, and a [Receiver] accepts it. Path, query, body, credential
// and answer travel unchanged, and neither side buffers a whole body. The facts that only the receiving
// gateway knows form the [Origin] of the call. It travels in headers that are accepted on the hop listener
// and nowhere else, because every other listener removes them with [Clean].
//
// A call is sent once. It is sent again only if it is certain that nothing has begun, because there was no
// connection, the header was never written, or the receiver said so. If the hop breaks after that, nobody
// knows how the call ended. A call that was forwarded is never forwarded again.
package hop

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Leader knows which gateway leads. It must be safe for concurrent use.
type Leader interface {
	// Leader returns the name of the leading gateway, the address of its hop listener, and its term.
	// It returns false if no leader is known.
	Leader() (name, address string, term uint64, ok bool)

	// Changed returns a channel that is closed when the result of Leader may have changed. It may also be closed
	// for other reasons, so the waiter must compare the results.
	Changed() <-chan struct{}
}

// led is the information from a [Leader].
type led struct {
	name, address string
	term          uint64
	known         bool
}

func ledBy(l Leader) (now led) {
	now.name, now.address, now.term, now.known = l.Leader()
	return now
}

// Origin describes the client's side of a forwarded call.
type Origin struct {
	Gateway   string     // gateway that forwarded it; set by the receiver
	Client    netip.Addr // zero if unknown
	Scheme    string     // scheme of the client's request: http or https
	RequestID string

	// Chains are the verified chains of the client's certificate, or nil if there is none.
	Chains [][]*x509.Certificate

	// EndPoint are the bindings of the client's TLS connection (RFC 5929), or nil if there are none.
	EndPoint []byte
}

type originKey struct{}

// From returns the origin of a call that another gateway forwarded, given the context of the call's request.
// It returns false if the call came from a client.
func From(ctx context.Context) (Origin, bool) {
	origin, ok := ctx.Value(originKey{}).(Origin)
	return origin, ok
}

// The headers of the hop. Some are in the request, the others in the answer of a receiver that has begun
// nothing.
const (
	prefix = "X-Adgateway-Hop-"

	clientHeader  = prefix + "Client"
	schemeHeader  = prefix + "Scheme"
	requestHeader = prefix + "Request-Id"
	chainHeader   = prefix + "Certificates" // one for each chain
	pointHeader   = prefix + "End-Point"

	refusedHeader = prefix + "Refused" // the reason
	leaderHeader  = prefix + "Leader"
	termHeader    = prefix + "Term"
)

// keyHeaders get the prefix while they travel. Under their own names they would allow
// [http.Transport] to send a request without a body twice.
var keyHeaders = []string{"Idempotency-Key", "X-Idempotency-Key"}

// Clean removes the hop's headers. Every listener except the hop's own must call it before anything
// else reads a request.
func Clean(header http.Header) { dropPrefix(header, prefix) }

func dropPrefix(header http.Header, prefix string) {
	for name := range header {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			delete(header, name)
		}
	}
}

// rename moves the values of a header to another name.
func rename(header http.Header, from, to string) {
	if values, ok := header[from]; ok {
		header[to] = values
		delete(header, from)
	}
}

// write sets the hop's headers in a request that has none of them.
func (o *Origin) write(header http.Header) {
	client, _ := o.Client.MarshalText() // never fails
	header.Set(clientHeader, string(client))
	header.Set(schemeHeader, o.Scheme)
	header.Set(requestHeader, o.RequestID)
	if o.EndPoint != nil {
		header.Set(pointHeader, base64.StdEncoding.EncodeToString(o.EndPoint))
	}
	for _, chain := range o.Chains {
		var line []string
		for _, certificate := range chain {
			line = append(line, base64.StdEncoding.EncodeToString(certificate.Raw))
		}
		header.Add(chainHeader, strings.Join(line, ","))
	}
}

// readOrigin parses the headers that write sets.
func readOrigin(header http.Header) (Origin, error) {
	o := Origin{Scheme: header.Get(schemeHeader), RequestID: header.Get(requestHeader)}
	if err := o.Client.UnmarshalText([]byte(header.Get(clientHeader))); err != nil {
		return o, fmt.Errorf("the address of the client: %w", err)
	}
	if o.Scheme != "http" && o.Scheme != "https" {
		return o, fmt.Errorf("the scheme %q is neither http nor https", o.Scheme)
	}
	if text := header.Get(pointHeader); text != "" {
		point, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return o, fmt.Errorf("the bindings of the client's connection: %w", err)
		}
		o.EndPoint = point
	}
	for _, line := range header.Values(chainHeader) {
		var chain []*x509.Certificate
		for text := range strings.SplitSeq(line, ",") {
			der, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return o, fmt.Errorf("the certificate of the client: %w", err)
			}
			certificate, err := x509.ParseCertificate(der)
			if err != nil {
				return o, fmt.Errorf("the certificate of the client: %w", err)
			}
			chain = append(chain, certificate)
		}
		o.Chains = append(o.Chains, chain)
	}
	return o, nil
}
