package texts

import "time"

var months = [2][12]string{
	{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.", "Nov.", "Dez."},
}

// Date returns the day of a time in its own zone.
func (l Lang) Date(t time.Time) string {
	day := []string{"2 ", "2. "}[l]
	return t.Format(day) + months[l][t.Month()-1] + t.Format(" 2006")
}

// Moment returns a time to the minute, with its zone.
func (l Lang) Moment(t time.Time) string { return l.Date(t) + t.Format(", 15:04 MST") }

// Ago describes the time between now and a time t in the past or future.
func Ago(t, now time.Time) Text {
	past := now.Sub(t)
	if past < 0 {
		return Of("time.in", "span", span(-past))
	}
	return Of("time.ago", "span", span(past))
}

func span(d time.Duration) Text {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return Of("time.moment")
	case d < time.Hour:
		return Count("time.minutes", int(d/time.Minute))
	case d < 2*day:
		return Count("time.hours", int(d/time.Hour))
	case d < 90*day:
		return Count("time.days", int(d/day))
	case d < 730*day:
		return Count("time.months", int(d/(30*day)))
	}
	return Count("time.years", int(d/(365*day)))
}
