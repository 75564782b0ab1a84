package ui

import (
	"html/template"
	"net/http"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/ui/texts"
)

// searchPage is a search over all kinds of objects.
type searchPage struct {
	Query    string
	Hits     []hitRow
	Warnings []warning
}

// hitRow is a hit as a page shows it.
type hitRow struct {
	Link, Icon, Name, Username string
	Facts                      string
	Kind                       texts.Text
	Words                      []word
}

func hitOf(r record) hitRow {
	row := hitRow{
		Name: r.first(
			"displayName", "name",
		), Username: r.Text("username"), Icon: "info", Kind: texts.Raw(r.Text("type")),
		Words: accountState(r).Words,
	}
	if k := kindOf(r.Text("type")); k != nil {
		row.Kind, row.Link, row.Icon = texts.Of("kind."+k.hitType), k.at(r.Text("guid")), iconOf(k.path)
	}
	var facts []string
	for _, text := range []string{r.Text("emailAddress"), r.Text("description"), pathText(r.Text("ouPath"))} {
		if text != "" {
			facts = append(facts, text)
		}
	}
	row.Facts = strings.Join(facts, " · ")
	return row
}

// hits searches all kinds of objects, or those of one.
func hits(c *visit, text, hitType, most string) *answer {
	values := call.Values{"Text": text, "Limit": most}
	if hitType != "" {
		values["Type"] = hitType
	}
	return c.listed(list{operation: "search.find", key: "guid", before: bestFor(text), values: values})
}

// searchAll shows what a text finds among all objects.
func searchAll(c *visit) {
	body := searchPage{Query: typed(c.r.URL.Query().Get("q"))}
	shown := page{Title: texts.Of("search.all"), Section: "search"}
	status := http.StatusOK
	if body.Query == "" {
		shown.Empty = examples
	} else {
		shown.Title = texts.Of("search.title", "query", body.Query, "what", texts.Of("search.all"))
		found := hits(c, body.Query, "", "50")
		if shown.Alert = alertOf(found); shown.Alert != nil {
			status = found.Status
		}
		for _, hit := range records[record](found) {
			body.Hits = append(body.Hits, hitOf(hit))
		}
		body.Warnings = found.Warnings
		if len(body.Hits) == 0 {
			shown.Empty = &empty{
				Title: texts.Of("search.nothing", "query", body.Query), Text: texts.Of("search.looked"),
			}
		}
	}
	shown.Body = body
	c.page(status, "search", shown)
}

// examples stand where nothing is searched for yet.
var examples = &empty{Text: texts.Of("search.example"), Examples: []example{
	{texts.Of("search.example.part"), "Web"}, {texts.Of("search.example.both"), "Weber Lea"},
	{texts.Of("search.example.logon"), "lweber"},
}}

// suggestKinds are the kinds of objects that pickers ask for, by what the API calls them.
var suggestKinds = map[string]string{"person": "user", "group": "group", "computer": "computer"}

var options = template.Must(template.New("options").Parse(
	`{{range .}}<div role="option" data-href="{{.Link}}" data-value="{{.Value}}" data-kind="{{.Kind}}">` +
		`{{.Icon}}<span>{{.Name}}</span><small>{{.More}}</small></div>
{{end}}`))

type option struct {
	Link, Value, Kind, Name, More string
	Icon                          template.HTML
}

// suggest answers with what the text in a search box or picker may mean, for the script of the pages.
func suggest(c *visit) {
	query := c.r.URL.Query()
	text := typed(query.Get("q"))
	var all []option
	if len([]rune(text)) >= 2 {
		lang := c.lookOf(c.r).lang
		for _, r := range records[record](hits(c, text, suggestKinds[query.Get("kind")], "8")) {
			row := hitOf(r)
			o := option{
				Link: row.Link, Value: r.first("username", "name"), Kind: r.Text("type"), Icon: icon(row.Icon),
				Name: inLine(row.Name), More: inLine(row.Username),
			}
			for _, w := range row.Words {
				if w.Color == bad || w.Color == warn {
					o.More += " · " + w.Text.In(lang)
				}
			}
			all = append(all, o)
		}
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = options.Execute(c.w, all) // fails only if the browser has left
}
