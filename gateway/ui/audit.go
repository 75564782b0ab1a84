package ui

import (
	"net/http"
	"strings"
	"time"

	"adgateway/gateway/auth"
)

// LogFilter selects lines of the audit log. Empty texts match everything.
type LogFilter struct {
	Day    time.Time // from its midnight in UTC to the next one
	Who    string    // part of the caller's name
	Only   *Caller   // nil: of everybody
	Target string    // part of a DN, a GUID or a parameter
	Most   int       // lines, the newest ones
}

// Caller is a person, or a credential, that called.
type Caller struct{ Name, Kind string }

// LogLine is a call in the audit log.
type LogLine struct {
	Time, Who, From, Operation, Outcome, Code, RequestID string
	Targets, Given                                       []string
}

// mostLines limits the lines on a page.
const mostLines = 200

type auditPage struct {
	All              bool // lines of others, too
	Day, Who, Target string
	Lines            []LogLine
	Full             bool // there are more
}

// audit shows calls of a day: those of the person, or with ops:read of everybody.
func (c *visit) audit() {
	query := c.r.URL.Query()
	body := auditPage{All: c.may(auth.OpsRead), Day: query.Get("day"), Who: strings.TrimSpace(query.Get("who")), Target: strings.TrimSpace(query.Get("target"))}
	shown := page{Title: "Audit", Section: "audit"}
	status := http.StatusOK
	day, err := time.Parse(time.DateOnly, body.Day)
	if body.Day == "" {
		day, err = time.Now().UTC().Truncate(24*time.Hour), nil
		body.Day = day.Format(time.DateOnly)
	}
	if err != nil {
		status, shown.Alert = http.StatusBadRequest, &alert{Text: "The day has no valid form: write it as 2026-03-01."}
	} else {
		filter := LogFilter{Day: day, Who: body.Who, Target: body.Target, Most: mostLines + 1}
		if !body.All {
			filter.Only = &Caller{c.session.Name, c.session.Kind}
		}
		if body.Lines, err = c.Log(filter); err != nil {
			status, shown.Alert = http.StatusServiceUnavailable, &alert{Text: "The audit log cannot be read at the moment."}
		}
		if body.Full = len(body.Lines) > mostLines; body.Full {
			body.Lines = body.Lines[:mostLines]
		}
	}
	shown.Body = body
	c.page(status, "audit", shown)
}
