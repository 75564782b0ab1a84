package filter

import (
	"regexp"
	"strconv"
	"time"
)

// when is a date: a moment, or a time relative to the beginning of the search.
type when struct {
	moment   time.Time
	relative bool
	sign     int
	years    int
	months   int
	days     int
	seconds  int64
}

var durationPattern = regexp.MustCompile(`^([+-]?)P(?:([0-9]{1,4})Y)?(?:([0-9]{1,5})M)?(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})S)?)?$`)

// parseWhen reads a date, a date with a time and an offset (RFC 3339), or a duration from now (ISO
// 8601), which is in the past if a minus precedes it.
func parseWhen(text string) (when, bool) {
	if moment, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return when{moment: moment}, true
	}
	if moment, err := time.Parse(time.DateOnly, text); err == nil {
		return when{moment: moment}, true
	}
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil || text[len(text)-1] == 'P' || text[len(text)-1] == 'T' {
		return when{}, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(parts[i]) // digits, or none
		return n
	}
	w := when{relative: true, sign: 1, years: number(2), months: number(3), days: 7*number(4) + number(5)}
	w.seconds = int64(number(6))*3600 + int64(number(7))*60 + int64(number(8))
	if parts[1] == "-" {
		w.sign = -1
	}
	return w, true
}

// The range of times in the directory.
var (
	earliest = time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// resolve returns the moment for a search that begins now.
func (w when) resolve(now time.Time) time.Time {
	moment := w.moment
	if w.relative {
		moment = now.AddDate(w.sign*w.years, w.sign*w.months, w.sign*w.days)
		moment = time.Unix(moment.Unix()+int64(w.sign)*w.seconds, int64(moment.Nanosecond()))
	}
	moment = moment.UTC()
	switch {
	case moment.Before(earliest):
		return earliest
	case moment.After(latest):
		return latest
	default:
		return moment
	}
}

const (
	tick      = 100 // in nanoseconds
	ticksPerS = int64(time.Second) / tick
	never     = 1<<63 - 1
)

// ticks returns a moment as a file time: the number of ticks since 1601, rounded down or up.
func ticks(moment time.Time, up bool) int64 {
	whole := (moment.Unix() - earliest.Unix()) * ticksPerS
	rest := int64(moment.Nanosecond())
	if up {
		rest += tick - 1
	}
	return whole + rest/tick
}

// generalized returns a moment in whole seconds, rounded down or up.
func generalized(moment time.Time, up bool) time.Time {
	whole := moment.Truncate(time.Second)
	if up && whole.Before(moment) {
		whole = whole.Add(time.Second)
	}
	return whole
}

const generalizedTime = "20060102150405.0Z"

// Moment returns a moment as a file time and as a generalized time.
func Moment(moment time.Time) []string {
	return []string{decimal(ticks(moment, false)), moment.UTC().Format(generalizedTime)}
}
