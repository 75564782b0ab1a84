package gateway

import (
	"net/http"
	"net/netip"

	"adgateway/gateway/transport"
)

// ClientOf returns the address of a request's client by the rules for trusted proxies. Without one
// it is the TCP peer, and without that the zero Addr.
func ClientOf(r *http.Request) netip.Addr { return transport.ClientOf(r) }
