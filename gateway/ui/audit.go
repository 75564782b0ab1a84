package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// mostLines limits the lines on a page, and mostSkipped the lines before it.
const (
	mostLines   = 100
	mostSkipped = 100_000
)

// auditPage shows the activity in a period: changes, or all calls for experts.
type auditPage struct {
	Tabs          []frame.Choice // changes and calls
	View          string         // auditCalls for calls, empty for changes
	All           bool           // include lines of other callers
	Day, From, To string
	Who, Target   string
	Zone          string
	Made          []madeRow
	Lines         []auditRow
	Turns         []frame.Link // to newer and older lines
	skip          int
	since, until  time.Time
	after         string
}

// auditRow is a line of the audit log on a page.
type auditRow struct {
	frame.LogLine
	What    texts.Text
	Objects []auditObject // some of the targets
}

// auditObject is a target of a call.
type auditObject struct{ Name, Link string }

const auditCalls = "calls"

// askedAudit reads the page's address. If the person may not read changes, the page shows calls.
func askedAudit(c *frame.Visit) (body auditPage, ok bool) {
	query := c.R.URL.Query()
	body = auditPage{
		All: c.May(identity.OpsRead), Day: query.Get("day"), From: query.Get("from"), To: query.Get("to"),
		Who: strings.TrimSpace(query.Get("who")), Target: strings.TrimSpace(query.Get("target")),
		View: query.Get("view"), after: query.Get("after"), Zone: c.Now().Location().String(),
	}
	if !c.May(identity.ChangeRead) || body.View != auditCalls {
		body.View = map[bool]string{true: "", false: auditCalls}[c.May(identity.ChangeRead)]
	}
	if body.Day == "" {
		body.Day = c.Now().Format(time.DateOnly)
	}
	day, err := time.ParseInLocation(time.DateOnly, body.Day, c.Now().Location())
	if err != nil {
		return body, false
	}
	body.since, body.until = day, day.AddDate(0, 0, 1)
	for _, hour := range []struct {
		text string
		into *time.Time
	}{{body.From, &body.since}, {body.To, &body.until}} {
		if hour.text == "" {
			continue
		}
		at, err := time.Parse("15:04", hour.text)
		if err != nil {
			return body, false
		}
		*hour.into = time.Date(day.Year(), day.Month(), day.Day(), at.Hour(), at.Minute(), 0, 0, day.Location())
	}
	body.skip, _ = strconv.Atoi(query.Get("skip"))
	body.skip = min(max(body.skip, 0), mostSkipped)
	return body, true
}

// address returns the address of the page with some values replaced.
func (p auditPage) address(pairs ...string) string {
	values := url.Values{}
	all := []string{
		"view", p.View, "day", p.Day, "from", p.From, "to", p.To, "who", p.Who, "target", p.Target,
	}
	for all = append(all, pairs...); len(all) > 1; all = all[2:] {
		values.Set(all[0], all[1])
		if all[1] == "" {
			values.Del(all[0])
		}
	}
	return say.Address("audit") + "?" + values.Encode()
}

// turn adds a link to another page of lines.
func (p *auditPage) turn(to string, pairs ...string) {
	p.Turns = append(p.Turns, frame.Link{Path: p.address(pairs...), Text: texts.Of("audit." + to)})
}

// showAudit shows the changes or calls of a day. People see their own calls, or with ops:read all calls about
// objects that they may read.
func showAudit(c *frame.Visit) {
	body, ok := askedAudit(c)
	shown := frame.Page{Title: texts.Of("page.audit"), Section: "audit"}
	status := http.StatusOK
	if c.May(identity.ChangeRead) && c.Log != nil {
		for _, view := range []string{"", auditCalls} {
			label := texts.Of("audit." + cmp.Or(view, "changes"))
			body.Tabs = append(body.Tabs, frame.Choice{
				ID: body.address("view", view), Label: label, Chosen: view == body.View,
			})
		}
	}
	switch {
	case !ok:
		status, shown.Alert = http.StatusBadRequest, &frame.Alert{Text: texts.Of("audit.day.wrong")}
	case body.View == auditCalls:
		status = body.readCalls(c, &shown)
	default:
		status = body.readChanges(c, &shown)
	}
	shown.Body = body
	c.Page(status, "audit", shown)
}

// readChanges adds the changes of a page, and returns the status of the response.
func (p *auditPage) readChanges(c *frame.Visit, shown *frame.Page) (status int) {
	values := call.Values{"Since": p.since.Format(time.RFC3339), "Until": p.until.Format(time.RFC3339)}
	for name, text := range map[string]string{"Caller": p.Who, "Object": p.Target, "After": p.after} {
		if text != "" {
			values[name] = text
		}
	}
	found := c.Listed(frame.List{
		Operation: "change.list", Key: "id", Before: frame.Newest, Most: mostLines, Values: values,
	})
	if !found.Ok() {
		shown.Alert = frame.AlertOf(found)
		return found.Status
	}
	p.Made = madeRows(frame.Records[say.Record](found))
	if p.after != "" {
		p.turn("newest")
	}
	if found.Next != "" {
		p.turn("older", "after", found.Next)
	}
	if len(p.Made) == 0 {
		shown.Empty = noCalls(*p)
		if len(p.Tabs) > 0 && p.Who+p.Target != "" {
			to := frame.Link{Path: p.address("view", auditCalls), Text: texts.Of("audit.try")}
			shown.Empty.Links = []frame.Link{to}
		}
	}
	return http.StatusOK
}

// readCalls adds the audit lines of a page, and returns the status of the response.
func (p *auditPage) readCalls(c *frame.Visit, shown *frame.Page) (status int) {
	filter := frame.LogFilter{
		Since: p.since, Until: p.until, Who: p.Who, Target: p.Target, Skip: p.skip, Most: mostLines + 1,
		Reader: c.Identity(), Readers: c.Principals,
	}
	if p.Target != "" {
		filter.Names = namesFor(c, p.Target)
	}
	if !p.All {
		filter.Only = &filter.Reader
	}
	lines, err := c.Log(filter)
	if err != nil {
		shown.Alert = &frame.Alert{Text: texts.Of("audit.unreadable")}
		return http.StatusServiceUnavailable
	}
	if p.skip > 0 {
		p.turn("newer", "skip", strconv.Itoa(max(p.skip-mostLines, 0)))
	}
	if len(lines) > mostLines && p.skip < mostSkipped {
		p.turn("older", "skip", strconv.Itoa(p.skip+mostLines))
	}
	for _, line := range lines[:min(len(lines), mostLines)] {
		row := auditRow{LogLine: line}
		if f := form.Of(line.Operation); f != nil {
			row.What = texts.Each(f.Label)
		}
		row.Who = say.CallerText(line.Who, line.Kind)
		for _, target := range line.Targets[:min(len(line.Targets), say.MostNamed)] {
			row.Objects = append(row.Objects, auditObject{say.Rdn(target), say.Address("objects", target)})
		}
		p.Lines = append(p.Lines, row)
	}
	if len(lines) == 0 {
		shown.Empty = noCalls(*p)
	}
	return http.StatusOK
}

func noCalls(p auditPage) *frame.Empty {
	if p.Who != "" || p.Target != "" {
		return &frame.Empty{Text: texts.Of("audit.noMatch")}
	}
	return &frame.Empty{Text: texts.Of("audit.noCalls")}
}

// mostNames limits the objects whose names are looked up for a search.
const mostNames = "20"

// idFields are the fields that identify objects in calls.
var idFields = []string{
	"guid", "sid", "distinguishedName", "username", "samUsername", "userPrincipalName", "samName",
	"computerName",
}

// titleFields are the fields that contain the names people use for objects.
var titleFields = []string{"username", "name", "displayName", "emailAddress"}

// namesFor returns the names that calls may have used for the objects which people call by a text. These are
// the objects whose name or identity is the text or, if there are none, all objects whose names start with
// it. Objects that the person may not read are not found.
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
