package schema

import (
	"testing"

	"github.com/biter777/countries"
	"github.com/stretchr/testify/assert"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// TestTheNamesOfUnicode: regions.txt has the countries of ISO 3166-1 as package display names them.
func TestTheNamesOfUnicode(t *testing.T) {
	// The libraries have these codes although ISO 3166-1 does not. Two are withdrawn, and one is for private
	// use.
	notAssigned := map[string]bool{"AN": true, "YU": true, "XK": true}
	want, unicodeNames := map[string][]string{}, display.English.Regions()
	for _, code := range countries.All() {
		alpha2 := code.Alpha2()
		region, err := language.ParseRegion(alpha2)
		if err == nil && len(alpha2) == 2 && region.IsCountry() && !notAssigned[alpha2] {
			want[alpha2] = []string{unicodeNames.Name(region)}
		}
	}
	assert.Equal(t, want, namesIn(regionFile))
}
