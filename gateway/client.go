package gateway

import (
	"net/http"
	"net/netip"

	"adgateway/gateway/transport"
)

// ClientOf returns the address of a request's client, by the rules for trusted proxies, else
// that of the TCP peer, else the zero Addr.
func ClientOf(r *http.Request) netip.Addr { return transport.ClientOf(r) }
