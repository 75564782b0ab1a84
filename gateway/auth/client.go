package auth

import (
	"context"
	"net/http"
	"net/netip"
)

type clientKey struct{}

// WithClient stores the address of a request's client, determined by the rules for
// trusted proxies, for [Client].
func WithClient(ctx context.Context, client netip.Addr) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// Client returns the address that [WithClient] stored, else that of the TCP peer,
// else the zero Addr.
func Client(r *http.Request) netip.Addr {
	if client, ok := r.Context().Value(clientKey{}).(netip.Addr); ok {
		return client
	}
	return Peer(r)
}

type principalKey struct{}

// WithPrincipal stores the caller of a request that the gateway sends to itself, for
// [Preset].
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Preset returns the caller that [WithPrincipal] stored; nil: none.
func Preset(r *http.Request) *Principal {
	p, _ := r.Context().Value(principalKey{}).(*Principal)
	return p
}

// Peer returns the address of the TCP peer of a request, or the zero Addr.
func Peer(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// Carries reports whether a request has anything that is meant as a credential, in
// a header or in the query, or comes from the gateway itself.
func Carries(r *http.Request) bool {
	return Preset(r) != nil || len(r.Header.Values("Auth-Token"))+len(r.Header.Values("Authorization"))+len(queryValues(r.URL.RawQuery)) > 0
}
