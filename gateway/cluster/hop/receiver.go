package hop

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
)

// Receiver accepts the calls that other gateways forward. RemoteAddr and TLS of the request that Next gets
// describe the client, as if it were connected to this gateway.
type Receiver struct {
	Gateway string // name of this gateway
	Leader  Leader

	// Peer returns the name of the gateway at the other end of a connection, according to its
	// certificate. It returns false if that gateway no longer belongs to the cluster.
	Peer func(tls.ConnectionState) (name string, ok bool)

	Next http.Handler

	// Beside maps paths to handlers for requests of other gateways that a gateway answers whether or not it
	// leads. It may be nil.
	Beside map[string]http.Handler
}

// ServeHTTP passes a request to Next, or answers that nothing was begun.
func (rc *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer, known := rc.peer(r.TLS)
	if !known {
		refuse(w, http.StatusForbidden, "the gateway does not belong to the cluster")
		return
	}
	if beside := rc.Beside[r.URL.Path]; beside != nil {
		beside.ServeHTTP(w, r)
		return
	}
	leader, _, _, ok := rc.Leader.Leader()
	if !ok || leader != rc.Gateway {
		RefuseFollower(w, rc.Leader)
		return
	}
	origin, err := readOrigin(r.Header)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	origin.Gateway = peer
	rc.Next.ServeHTTP(w, origin.restore(r))
}

// peer returns the name of the gateway at the other end of a connection.
func (rc *Receiver) peer(connection *tls.ConnectionState) (string, bool) {
	if connection == nil {
		return "", false
	}
	return rc.Peer(*connection)
}

// restore returns the request as its client sent it.
func (o Origin) restore(r *http.Request) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), originKey{}, o))
	for _, name := range keyHeaders {
		rename(r.Header, prefix+name, name)
	}
	Clean(r.Header)
	r.RemoteAddr = netip.AddrPortFrom(o.Client, 0).String()
	r.TLS = nil
	if o.Scheme == "https" {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, VerifiedChains: o.Chains}
		if len(o.Chains) > 0 {
			r.TLS.PeerCertificates = o.Chains[0]
		}
	}
	return r
}

// refuse answers that nothing was begun, with the reason.
func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set(refusedHeader, reason)
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
}

// RefuseFollower answers that this gateway does not lead and has begun nothing. It names the leader
// if one is known.
func RefuseFollower(w http.ResponseWriter, leader Leader) {
	if name, _, term, ok := leader.Leader(); ok {
		w.Header().Set(leaderHeader, name)
		w.Header().Set(termHeader, strconv.FormatUint(term, 10))
	}
	refuse(w, http.StatusMisdirectedRequest, "the gateway does not lead")
}

// refusedError is the error for an answer from refuse.
type refusedError struct {
	reason       string
	leader, term string // according to the gateway that has refused
}

func (e *refusedError) Error() string {
	if e.leader == "" {
		return e.reason
	}
	return fmt.Sprintf("%s: %s leads in term %s", e.reason, e.leader, e.term)
}

// refusal returns the error for an answer from refuse, or nil for any other answer.
func refusal(res *http.Response) error {
	reason := res.Header.Get(refusedHeader)
	if reason == "" {
		return nil
	}
	return &refusedError{reason, res.Header.Get(leaderHeader), res.Header.Get(termHeader)}
}

// onlyHTTP1 returns the only protocol of a hop. HTTP/2 repeats requests after GOAWAY, and its
// streams share one window.
func onlyHTTP1() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return protocols
}
