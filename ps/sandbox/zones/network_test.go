package zones_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox/zones"
)

// Facts E70 and the table of facts E.6.
func TestReverseZoneName(t *testing.T) {
	for network, want := range map[string]string{
		"10.0.0.0/8":             "10.in-addr.arpa",
		"172.16.0.0/16":          "16.172.in-addr.arpa",
		"192.168.1.0/24":         "1.168.192.in-addr.arpa",
		"10.1.2.3/32":            "3.2.1.10.in-addr.arpa",
		"10.1.2.3":               "3.2.1.10.in-addr.arpa",
		"10.2.10.0/23":           "10.2.10.in-addr.arpa",
		"10.2.10.64/26":          "64.10.2.10.in-addr.arpa",
		"10.0.0.5/24":            "0.0.10.in-addr.arpa",
		"2001:db8::/32":          "8.b.d.0.1.0.0.2.ip6.arpa",
		"2001:db8::/30":          "8.b.d.0.1.0.0.2.ip6.arpa",
		"2001:db8:10::/48":       "0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
		"fe80::/16":              "0.8.e.f.ip6.arpa",
		"::1":                    "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
		"10.0.0.0/7":             "",
		"10.0.0.0/33":            "",
		"2001:db8::/15":          "",
		"2001:db8::/129":         "",
		"10.0.0/24":              "",
		"10.0.0.0/":              "",
		"10.0.0.0/+8":            "",
		"10.0.0.0/08":            "",
		"::ffff:10.0.0.0/104":    "",
		"fe80::1%eth0/64":        "",
		"":                       "",
		"10.in-addr.arpa":        "",
		"10.0.0.0/8; Get-Secret": "",
	} {
		got, code := zones.ReverseZoneName(network)
		assert.Equal(t, want, got, network)
		assert.Equal(t, want == "", code == zones.CodeInvalidParameter, network)
	}
}
