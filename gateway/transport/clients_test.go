package transport

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
)

func TestAddressOfTheClient(t *testing.T) {
	trusted, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.1", "2001:db8::/32"})
	require.NoError(t, err)
	const proxy, stranger = "10.0.0.7:1234", "203.0.113.5:1234"
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                        {stranger, nil, "203.0.113.5"},
		"header of an untrusted peer":     {stranger, []string{"198.51.100.1"}, "203.0.113.5"},
		"proxy without the header":        {proxy, nil, "10.0.0.7"},
		"proxy":                           {proxy, []string{"198.51.100.1"}, "198.51.100.1"},
		"forged before the proxy's entry": {proxy, []string{"127.0.0.1, 198.51.100.1"}, "198.51.100.1"},
		"forged in a separate line":       {proxy, []string{"127.0.0.1", "198.51.100.1"}, "198.51.100.1"},
		"forged as one of the proxies":    {proxy, []string{"127.0.0.1, 10.0.0.9, 198.51.100.1"}, "198.51.100.1"},
		"two proxies":                     {proxy, []string{"198.51.100.1, 192.0.2.1"}, "198.51.100.1"},
		"two proxies, forged":             {proxy, []string{"127.0.0.1, 198.51.100.1, 192.0.2.1"}, "198.51.100.1"},
		"only proxies":                    {proxy, []string{"10.1.1.1, 192.0.2.1"}, "10.1.1.1"},
		"not an address":                  {proxy, []string{"unknown"}, "10.0.0.7"},
		"not an address before a proxy":   {proxy, []string{"198.51.100.1, _hidden, 192.0.2.1"}, "192.0.2.1"},
		"empty":                           {proxy, []string{""}, "10.0.0.7"},
		"with a port":                     {proxy, []string{"198.51.100.1:443"}, "198.51.100.1"},
		"IPv6 with a port":                {"[2001:db8::1]:9", []string{"[2001:dead::5]:443"}, "2001:dead::5"},
		"IPv6 in brackets":                {"[2001:db8::1]:9", []string{"[2001:dead::5]"}, "2001:dead::5"},
		"IPv4 written as IPv6":            {"[::ffff:10.0.0.7]:9", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"peer without address":            {"@", []string{"198.51.100.1"}, "invalid IP"},
		"outside the network":             {"11.0.0.1:1", []string{"198.51.100.1"}, "11.0.0.1"},
		"many entries, no further proxy":  {proxy, []string{"1.1.1.1,2.2.2.2,3.3.3.3"}, "3.3.3.3"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.forwarded
		assert.Equal(t, c.want, trusted.Client(r).String(), name)
		assert.Equal(t, Peer(r), Proxies{}.Client(r), name)
	}
}

// TestNamesOfHeadersAreCanonical: the header names that are set without conversion are canonical.
func TestNamesOfHeadersAreCanonical(t *testing.T) {
	for _, name := range []string{
		RequestIDHeader, tagHeader, challengeHeader, serverHeader, ops.ChangeHeader, "Location", "Content-Length",
	} {
		assert.Equal(t, http.CanonicalHeaderKey(name), name)
	}
}
