package ui

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

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
	frame.LogLine
	Objects []string // some of the targets
}

// showAudit shows calls of a day: those of the person, or with ops:read of everybody, about what the
// person may read.
func showAudit(c *frame.Visit) {
	query := c.R.URL.Query()
	body := auditPage{
		All: c.May(identity.OpsRead), Day: query.Get("day"),
		Who: strings.TrimSpace(query.Get("who")), Target: strings.TrimSpace(query.Get("target")),
	}
	shown := frame.Page{Title: texts.Of("page.audit"), Section: "audit"}
	status := http.StatusOK
	day, err := time.Parse(time.DateOnly, body.Day)
	if body.Day == "" {
		day, err = time.Now().UTC().Truncate(24*time.Hour), nil
		body.Day = day.Format(time.DateOnly)
	}
	if err != nil {
		status, shown.Alert = http.StatusBadRequest, &frame.Alert{Text: texts.Of("audit.day.wrong")}
	} else {
		filter := frame.LogFilter{Day: day, Who: body.Who, Target: body.Target, Most: mostLines + 1}
		filter.Reader, filter.Readers = c.Identity(), c.Principals
		if body.Target != "" {
			filter.Names = namesFor(c, body.Target)
		}
		if !body.All {
			filter.Only = &filter.Reader
		}
		lines, err := c.Log(filter)
		if err != nil {
			status, shown.Alert = http.StatusServiceUnavailable, &frame.Alert{Text: texts.Of("audit.unreadable")}
		}
		body.Full = len(lines) > mostLines
		for _, line := range lines[:min(len(lines), mostLines)] {
			row := auditRow{LogLine: line}
			row.Who = say.CallerText(line.Who, line.Kind)
			for _, target := range line.Targets[:min(len(line.Targets), say.MostNamed)] {
				row.Objects = append(row.Objects, say.Rdn(target))
			}
			body.Lines = append(body.Lines, row)
		}
		if len(lines) == 0 {
			shown.Empty = noCalls(body)
		}
	}
	shown.Body = body
	c.Page(status, "audit", shown)
}

func noCalls(p auditPage) *frame.Empty {
	if p.Who != "" || p.Target != "" {
		return &frame.Empty{Text: texts.Of("audit.noMatch")}
	}
	return &frame.Empty{Text: texts.Of("audit.noCalls")}
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
func namesFor(c *frame.Visit, text string) []string {
	var names []string
	add := func(r say.Record) {
		for _, field := range idFields {
			if name := r.Text(field); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	hits := frame.Records[say.Record](c.Listed(frame.List{
		Operation: "search.find", Key: "guid", Before: frame.BestFor(text), Values: call.Values{
			"Text": text, "Limit": mostNames,
		},
	}))
	var same []say.Record
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
		if k := frame.KindOf(hit.Text("type")); k != nil && len(same) > 0 {
			for _, r := range frame.Records[say.Record](c.Read(k, hit.Text("guid"))) {
				add(r)
			}
		}
	}
	if len(hits) > 0 {
		return names
	}
	for _, k := range frame.Kinds {
		if !c.May(k.Scope) {
			continue
		}
		for _, r := range frame.Records[say.Record](c.Read(k, text)) {
			add(r)
		}
	}
	return names
}
