package nearest_test

import (
	"math"
	"strings"
	"testing"

	"adgateway/gateway/nearest"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	known := []string{"City", "Company", "Country", "DNS_HostName", "ZoneName"}
	for name, c := range map[string]struct {
		given string
		limit int
		want  string
	}{
		"mistyped":      {"Ctiy", 3, "City"},
		"another case":  {"COUNTRI", 3, "Country"},
		"too different": {"Telephone", 3, ""},
		"without limit": {"zzz", math.MaxInt, "City"},
		"just outside":  {"Ci", 2, ""},
		"empty":         {"", 2, ""},
		"part":          {"HostName", 3, "DNS_HostName"},
		"has a part":    {"MyCountry2", 3, "Country"},
		"too short":     {"ity", 1, ""},
		"no UTF-8":      {"Cit\xffy", 2, "City"},
		"very long":     {strings.Repeat("x", 1<<20), math.MaxInt, "City"},
	} {
		assert.Equal(t, c.want, nearest.Of(c.given, known, c.limit), name)
	}
	assert.Empty(t, nearest.Of("x", nil, math.MaxInt))
}
