package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps"
)

func TestNamesChanged(t *testing.T) {
	for name, c := range map[string]struct {
		effect Effect
		lane   ps.Lane
		texts  map[string]string
		want   []string
	}{
		"a relative name":        {Create, ps.DNS, map[string]string{"DNS_HostName": "www", "ZoneName": "corp.example"}, []string{"www.corp.example"}},
		"a full name":            {Delete, ps.DNS, map[string]string{"DNS_HostName": "WWW.Corp.Example", "ZoneName": "corp.example"}, []string{"WWW.Corp.Example"}},
		"an absolute name":       {Update, ps.DNS, map[string]string{"DNS_HostName": "www.other.", "ZoneName": "corp.example"}, []string{"www.other"}},
		"the apex":               {Create, ps.DNS, map[string]string{"DNS_HostName": "@", "ZoneName": "corp.example"}, []string{"corp.example"}},
		"a delegation":           {Create, ps.DNS, map[string]string{"ChildName": "sub", "ZoneName": "corp.example"}, []string{"sub.corp.example"}},
		"a zone":                 {Create, ps.DNS, map[string]string{"ZoneName": "new.example"}, []string{"new.example"}},
		"a reverse zone":         {Delete, ps.DNS, map[string]string{"NetworkID": "10.in-addr.arpa"}, []string{"10.in-addr.arpa"}},
		"a PTR by its address":   {Create, ps.DNS, map[string]string{"IP_Address": "10.0.2.1", "DNS_TargetName": "a.b"}, []string{"1.2.0.10.in-addr.arpa"}},
		"an A with its PTR":      {Create, ps.DNS, map[string]string{"DNS_HostName": "a", "ZoneName": "z", "IP_Address": "10.0.2.1", "CreatePtr": "true"}, []string{"a.z", "1.2.0.10.in-addr.arpa"}},
		"an A without its PTR":   {Delete, ps.DNS, map[string]string{"DNS_HostName": "a", "ZoneName": "z", "IP_Address": "10.0.2.1", "RemovePtr": "false"}, []string{"a.z"}},
		"an AAAA with its PTR":   {Delete, ps.DNS, map[string]string{"DNS_HostName": "a", "ZoneName": "z", "IPv6_Address": "2001:db8::1", "RemovePtr": "true"}, []string{"a.z", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"}},
		"a read":                 {Read, ps.DNS, map[string]string{"DNS_HostName": "www", "ZoneName": "corp.example"}, nil},
		"a change elsewhere":     {Create, ps.Directory, map[string]string{"ZoneName": "corp.example"}, nil},
		"what is no address":     {Create, ps.DNS, map[string]string{"IP_Address": "x"}, []string{""}},
		"nothing that is a name": {Create, ps.DNS, nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Bound{Op: &Operation{Effect: c.effect, Lane: c.lane}, texts: c.texts}
			assert.Equal(t, c.want, b.NamesChanged())
		})
	}
}

func TestNameWithin(t *testing.T) {
	limit := []string{"host.corp.example", "Lab.Example."}
	for name, want := range map[string]bool{
		"host.corp.example": true, "HOST.corp.example.": true, "a.b.host.corp.example": true,
		"_acme-challenge.host.corp.example": true, "_ACME-Challenge.lab.example": true, "x.lab.example": true,
		"corp.example": false, "ghost.corp.example": false, "host.corp.example.evil": false, "_acme-challenge.corp.example": false, "": false,
	} {
		assert.Equal(t, want, NameWithin(name, limit), name)
	}
	assert.False(t, NameWithin("a", nil))
}
