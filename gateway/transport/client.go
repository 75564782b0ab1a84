package transport

import (
	"context"
	"net/http"
	"net/netip"
)

type clientKey struct{}

// locate stores the address of the client in the context of each request.
func locate(from Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, from.Client(r))))
	})
}

// ClientOf returns the address of a request's client, by the rules for trusted proxies, else
// that of the TCP peer, else the zero Addr.
func ClientOf(r *http.Request) netip.Addr {
	if client, ok := r.Context().Value(clientKey{}).(netip.Addr); ok {
		return client
	}
	return Peer(r)
}
