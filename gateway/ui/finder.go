package ui

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
)

// searchPage is a search over all kinds of objects.
type searchPage struct {
	Query    string
	Hits     []hitRow
	Warnings []frame.Warning
}

// hitRow is a search hit on a page.
type hitRow struct {
	Link, Icon, Name, Username string
	Facts                      string
	Kind                       texts.Text
	Words                      []say.Word
}

func hitOf(r say.Record) hitRow {
	row := hitRow{
		Name: r.First(
			"displayName", "name",
		), Username: r.Text("username"), Icon: "info", Kind: texts.Raw(r.Text("type")),
		Words: table.AccountState(r).Words,
	}
	if k := frame.KindOf(r.Text("type")); k != nil {
		row.Kind, row.Link, row.Icon = texts.Of("kind."+k.HitType), k.At(r.Text("guid")), iconOf(k.Path)
	}
	var facts []string
	for _, text := range []string{
		r.Text("emailAddress"), r.Text("description"), say.PathText(r.Text("ouPath")),
	} {
		if text != "" {
			facts = append(facts, text)
		}
	}
	row.Facts = strings.Join(facts, " · ")
	return row
}

// oneLine returns a typed text with single spaces between its words. It keeps the domain in DOMAIN\name,
// because the search recognizes the gateway's own domain.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// accountIn returns a typed text without the domain in front of a logon name.
func accountIn(text string) string {
	text = oneLine(text)
	if domain, account, has := strings.Cut(text, `\`); has && domain != "" && account != "" {
		return account
	}
	return text
}

// hits searches all kinds of objects, or only one if hitType is not empty.
// started is called when the search begins; it may be nil.
func hits(c *frame.Visit, text, hitType, most string, started func()) *frame.Answer {
	values := call.Values{"Text": text, "Limit": most}
	if hitType != "" {
		values["Type"] = hitType
	}
	return c.Listed(
		frame.List{
			Operation: "search.find", Key: "guid", Before: frame.BestFor(accountIn(text)), Values: values,
			Started: started,
		},
	)
}

// mostPlaces limits the units and the zones in the result, each separately.
const mostPlaces = 10

// everywhere searches all kinds of objects. It also returns the zones and units whose names contain the text,
// shortest names first.
func everywhere(
	c *frame.Visit, text, most string, started func(),
) (found *frame.Answer, places []hitRow) {
	var units, zones []hitRow
	small := strings.ToLower(text)
	frame.SideBySide(func() { found = hits(c, text, "", most, started) }, func() {
		all := frame.List{Operation: "ou.list", Key: "guid", Before: frame.ByName}
		for _, r := range listedHere(c, "ous", all) {
			if name := r.Text("name"); strings.Contains(strings.ToLower(name), small) {
				units = append(units, placeOf("ous", name, r.Text("path"), say.PathText(r.Text("path"))))
			}
		}
	}, func() {
		all := frame.List{Operation: "zone.list", Key: "zoneName", Before: frame.ByZone}
		for _, r := range listedHere(c, "zones", all) {
			if name := r.Text("zoneName"); strings.Contains(strings.ToLower(name), small) {
				zones = append(zones, placeOf("zones", name, name, ""))
			}
		}
	})
	for _, all := range [][]hitRow{zones, units} {
		slices.SortStableFunc(all, func(a, b hitRow) int { return cmp.Compare(len(a.Name), len(b.Name)) })
		places = append(places, all[:min(len(all), mostPlaces)]...)
	}
	return found, places
}

// listedHere returns all records of a list, or none if the person may not see the pages of these records.
func listedHere(c *frame.Visit, path string, l frame.List) []say.Record {
	if !c.May(frame.KindAt(path).Scope) {
		return nil
	}
	l.Values = call.Values{}
	return frame.Records[say.Record](c.Listed(l))
}

func placeOf(path, name, key, facts string) hitRow {
	k := frame.KindAt(path)
	return hitRow{
		Name: name, Link: k.At(key), Icon: iconOf(path), Kind: texts.Of("kind." + k.HitType), Facts: facts,
	}
}

// searchAll shows the objects of all kinds that match a text.
func searchAll(c *frame.Visit) {
	body := searchPage{Query: oneLine(c.R.URL.Query().Get("q"))}
	shown := frame.Page{Title: texts.Of("search.all"), Section: "search"}
	status := http.StatusOK
	if body.Query == "" {
		shown.Empty = examples
	} else {
		shown.Title = texts.Of("search.title", "query", body.Query, "what", texts.Of("search.all"))
		found, places := everywhere(c, body.Query, "50", c.Opening("search", shown))
		if found.Status == http.StatusForbidden && len(places) > 0 {
			// the person may not see accounts, but the search has found places
			found = &frame.Answer{Status: http.StatusOK}
		}
		if shown.Alert = frame.AlertOf(found); shown.Alert != nil {
			status = found.Status
		}
		body.Hits = keyHits(c, body.Query)
		for _, hit := range frame.Records[say.Record](found) {
			body.Hits = append(body.Hits, hitOf(hit))
		}
		body.Hits = append(body.Hits, places...)
		for _, w := range found.Warnings {
			if w.Code != "scope_missing" { // hits outside a person's role are not missing
				body.Warnings = append(body.Warnings, w)
			}
		}
		if len(body.Hits) == 0 {
			shown.Empty = &frame.Empty{
				Title: texts.Of("search.nothing", "query", body.Query), Text: texts.Of("search.looked"),
			}
		}
	}
	shown.Body = body
	c.Page(status, "search", shown)
}

// examples are shown before anything is searched for.
var examples = &frame.Empty{Text: texts.Of("search.example"), Examples: []frame.Example{
	{
		Text: texts.Of("search.example.part"), Code: "Web",
	}, {Text: texts.Of("search.example.both"), Code: "Weber Lea"},
	{Text: texts.Of("search.example.logon"), Code: "lweber"},
}}

// suggestKinds maps the kinds of objects that pickers ask for to the types of the search.
var suggestKinds = map[string]string{"person": "user", "group": "group", "computer": "computer"}

var options = template.Must(template.New("options").Parse(
	`{{range .}}<div role="option" data-href="{{.Link}}" data-value="{{.Value}}" data-kind="{{.Kind}}">` +
		`{{.Icon}}<span>{{.Name}}</span><small>{{.More}}</small></div>
{{end}}`))

type option struct {
	Link, Value, Kind, Name, More string
	Icon                          template.HTML
}

// suggest sends the objects that match the text in a search box or picker, for the script of the pages.
func suggest(c *frame.Visit) {
	query := c.R.URL.Query()
	text := oneLine(query.Get("q"))
	var all []option
	if len([]rune(text)) >= 2 {
		lang := c.LookOf(c.R).Lang
		hitType := suggestKinds[query.Get("kind")]
		var found *frame.Answer
		var places []hitRow
		if hitType == "" {
			found, places = everywhere(c, text, "8", nil)
		} else {
			found = hits(c, text, hitType, "8", nil)
		}
		for _, r := range frame.Records[say.Record](found) {
			row := hitOf(r)
			o := option{
				Link: row.Link, Value: r.First("username", "name"), Kind: r.Text("type"), Icon: frame.Icon(row.Icon),
				Name: frame.InLine(row.Name), More: frame.InLine(row.Username),
			}
			for _, w := range row.Words {
				if w.Color == say.Bad || w.Color == say.Warn {
					o.More += " · " + w.Text.In(lang)
				}
			}
			all = append(all, o)
		}
		for _, row := range places {
			all = append(all, option{
				Link: row.Link, Value: row.Name, Icon: frame.Icon(row.Icon), Name: frame.InLine(row.Name),
				More: frame.InLine(row.Facts),
			})
		}
	}
	c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = options.Execute(c.W, all) // fails only if the browser has disconnected
}
