package auth

import (
	"context"
	"net/http"
	"net/netip"
)

type clientKey struct{}

// WithClient keeps the address that a request comes from, found by the rules
// for trusted proxies, for [Client].
func WithClient(ctx context.Context, client netip.Addr) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// Client is the address that a request comes from: as [WithClient] kept it,
// else the TCP peer; the zero address when that has none.
func Client(r *http.Request) netip.Addr {
	if client, ok := r.Context().Value(clientKey{}).(netip.Addr); ok {
		return client
	}
	return Peer(r)
}

// Peer is the address of the TCP peer of a request; the zero address when it
// has none.
func Peer(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// Carries tells whether a request has a credential of any kind and form, in a
// header or in the query: whether it asks to be known by one.
func Carries(r *http.Request) bool {
	return len(r.Header.Values("Auth-Token"))+len(r.Header.Values("Authorization"))+len(queryValues(r.URL.RawQuery)) > 0
}
