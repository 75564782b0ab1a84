package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What compares with times of the directory has them from the same clock.
func TestEveryTimeIsTheEnginesOwn(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s := NewEngine(Options{Now: func() time.Time { return at }}).NewSession(Console{})
	for text, want := range map[string]string{
		"[datetime]::UtcNow.ToString('o')":                       "2031-05-06T07:08:09.0000000Z",
		"[datetime]::Now.ToUniversalTime().ToString('o')":        "2031-05-06T07:08:09.0000000Z",
		"(Get-Date).ToUniversalTime().ToString('o')":             "2031-05-06T07:08:09.0000000Z",
		"([datetime]::Now - (Get-Date)).Ticks.ToString()":        "0",
		"([datetime]::Today - (Get-Date).Date).Ticks.ToString()": "0",
	} {
		assert.Equal(t, want, evaluate(t, s, text), text)
	}
}

func TestTheCultureIsTheEnginesOwn(t *testing.T) {
	for given, want := range map[string]string{"": "en-US", "de-DE": "de-DE"} {
		s := NewEngine(Options{Culture: given}).NewSession(Console{})
		for _, text := range []string{
			"$PSUICulture", "$PSCulture", "[Globalization.CultureInfo]::CurrentUICulture.Name", "[cultureinfo]::CurrentCulture.Name",
		} {
			assert.Equal(t, want, evaluate(t, s, text), text)
		}
	}
}
