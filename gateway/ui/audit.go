package ui

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// LogFilter selects lines of the audit log. Empty texts match everything.
type LogFilter struct {
	Day    time.Time    // from its midnight in UTC to the next one
	Who    string       // part of the caller's name, or what [identity.ParseReference] takes
	Only   *identity.ID // nil: of everybody
	Target string       // part of a DN, a GUID or a parameter, or the id of a request
	Names  []string     // by which the object that Target means is named, too
	Most   int          // lines, the newest ones

	Reader  identity.ID           // the person who reads them
	Readers []*identity.Principal // what the person may read: a line must be visible to one of them
}

// callerKinds say what a name is that is not of a person.
var callerKinds = map[string]string{
	identity.KindToken: "token", identity.KindUser: "API user", identity.KindCertificate: "certificate",
	identity.KindGateway: "the gateway",
}

// callerText is how pages call a person or a credential, of which several kinds may have one name.
func callerText(name, kind string) string {
	if of := callerKinds[kind]; of != "" && name != "" {
		return name + " (" + of + ")"
	}
	return name
}

// callerIn is how pages call the caller in a record.
func callerIn(r record) string { return callerText(r.Text("caller"), r.Text("callerKind")) }

// LogLine is a call in the audit log.
type LogLine struct {
	Time, From, Operation, Outcome, Code, RequestID string

	Who, Kind      string // who called, and which kind of caller that is
	Targets, Given []string
}

// mostLines limits the lines on a page.
const mostLines = 200

type auditPage struct {
	All              bool // lines of others, too
	Day, Who, Target string
	Lines            []auditRow
	Full             bool // there are more
}

// auditRow is a line as a page shows it.
type auditRow struct {
	LogLine
	Objects []string // some of the targets
}

// audit shows calls of a day: those of the person, or with ops:read of everybody, about what the
// person may read.
func (c *visit) audit() {
	query := c.r.URL.Query()
	body := auditPage{All: c.may(identity.OpsRead), Day: query.Get("day"), Who: strings.TrimSpace(query.Get("who")), Target: strings.TrimSpace(query.Get("target"))}
	shown := page{Title: texts.Of("page.audit"), Section: "audit"}
	status := http.StatusOK
	day, err := time.Parse(time.DateOnly, body.Day)
	if body.Day == "" {
		day, err = time.Now().UTC().Truncate(24*time.Hour), nil
		body.Day = day.Format(time.DateOnly)
	}
	if err != nil {
		status, shown.Alert = http.StatusBadRequest, &alert{Text: texts.Of("audit.day.wrong")}
	} else {
		filter := LogFilter{Day: day, Who: body.Who, Target: body.Target, Most: mostLines + 1}
		filter.Reader, filter.Readers = c.identity(), c.principals
		if body.Target != "" {
			filter.Names = c.namesFor(body.Target)
		}
		if !body.All {
			filter.Only = &filter.Reader
		}
		lines, err := c.Log(filter)
		if err != nil {
			status, shown.Alert = http.StatusServiceUnavailable, &alert{Text: texts.Of("audit.unreadable")}
		}
		body.Full = len(lines) > mostLines
		for _, line := range lines[:min(len(lines), mostLines)] {
			row := auditRow{LogLine: line}
			row.Who = callerText(line.Who, line.Kind)
			for _, target := range line.Targets[:min(len(line.Targets), mostNamed)] {
				row.Objects = append(row.Objects, rdn(target))
			}
			body.Lines = append(body.Lines, row)
		}
		if len(lines) == 0 {
			shown.Empty = noCalls(body)
		}
	}
	shown.Body = body
	c.page(status, "audit", shown)
}

func noCalls(p auditPage) *empty {
	if p.Who != "" || p.Target != "" {
		return &empty{Text: texts.Of("audit.noMatch")}
	}
	return &empty{Text: texts.Of("audit.noCalls")}
}

// mostNames limits the objects whose names are looked up for a search.
const mostNames = "20"

// idFields are the fields by which calls name objects.
var idFields = []string{
	"guid", "sid", "distinguishedName", "username", "samUsername", "userPrincipalName", "samName", "computerName",
}

// titleFields are the fields by which people name objects.
var titleFields = []string{"username", "name", "displayName", "emailAddress"}

// namesFor returns by which names calls may have named what people call by a text: an
// object that has it as its name or identifies it, or else all whose names begin with it.
// What the person may not read is not found.
func (c *visit) namesFor(text string) []string {
	var names []string
	add := func(r record) {
		for _, field := range idFields {
			if name := r.Text(field); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	hits := records[record](c.listed(list{
		operation: "search.find", key: "guid", before: bestFor(text), values: call.Values{"Text": text, "Limit": mostNames},
	}))
	var same []record
	for _, hit := range hits {
		called := func(field string) bool { return strings.EqualFold(hit.Text(field), text) }
		if slices.ContainsFunc(titleFields, called) {
			same = append(same, hit)
		}
	}
	if len(same) > 0 {
		hits = same
	}
	for _, hit := range hits {
		add(hit)
		if k := kindOf(hit.Text("type")); k != nil && len(same) > 0 {
			for _, r := range records[record](c.read(k, hit.Text("guid"))) {
				add(r)
			}
		}
	}
	if len(hits) > 0 {
		return names
	}
	for _, k := range kinds {
		if !c.may(k.scope) {
			continue
		}
		for _, r := range records[record](c.read(k, text)) {
			add(r)
		}
	}
	return names
}
