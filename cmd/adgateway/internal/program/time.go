package program

import (
	"fmt"
	"strings"
	"time"
)

// ParseExpiry parses the end of an account's validity: a duration from now, a day, an RFC 3339 time, or
// "never", for which it returns nil.
func ParseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "never" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.ParseInLocation(time.DateOnly, text, time.Local)
	}
	if err != nil {
		var d time.Duration
		if d, err = ParseDuration(text); err == nil {
			at = now.Add(d)
		}
	}
	at = at.UTC().Truncate(time.Second)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not a valid expiry: write 90d, 12h, 2027-01-31 or never", text)
	case !at.After(now):
		return nil, fmt.Errorf("the expiry %s is in the past: write a later one, such as "+
			"90d", at.Format(time.RFC3339))
	}
	return &at, nil
}

// ParseDuration parses a non-negative duration such as 12h or 90d.
func ParseDuration(text string) (time.Duration, error) {
	const maxDays = 100 * 365
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err != nil || n < 0 || n > maxDays || fmt.Sprint(n) != days {
			return 0, fmt.Errorf("%q is not a duration: write 90d, 12h or 30m", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration: write 90d, 12h or 30m", text)
	}
	return d, nil
}

// ParseMoment parses a day, an RFC 3339 time, or a duration before now. For an empty text it returns the zero
// time.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"%q is not a time: write 2006-01-02, 2006-01-02T15:04:05Z, or how long ago, such as 12h or 7d", text)
}
