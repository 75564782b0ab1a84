package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSitesOfABrowserPolicy(t *testing.T) {
	for site, allowed := range map[string]bool{
		"gateway.corp.example": true, "GATEWAY.corp.example": true, "https://gateway.corp.example": true, "https://gateway.corp.example:8443/": true,
		"*.corp.example": true, "*corp.example": true, ".corp.example": true, "https://*.corp.example": true, "*": true, " *.corp.example ": true,
		"corp.example": false, "*.other.example": false, "other.corp.example": false, "": false, "https://": false, "gateway": false,
	} {
		assert.Equal(t, allowed, BrowserPolicy{Sites: []string{site}}.Allows("Gateway.corp.example"), site)
	}
	assert.False(t, BrowserPolicy{}.Allows("gateway.corp.example"))
}
