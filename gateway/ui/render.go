package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/look"
)

//go:embed templates assets
var files embed.FS

// assetsVersion changes with the files, so that browsers may keep them for ever.
var assetsVersion = hashOf("assets/pages.css", "assets/pages.js")

func hashOf(names ...string) string {
	sum := sha256.New()
	sum.Write([]byte(look.Colors))
	for _, name := range names {
		text, _ := files.ReadFile(name) // embedded
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := files.ReadFile("assets/" + path.Base(name))
	if err != nil || r.PathValue("version") != assetsVersion {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if path.Ext(name) == ".css" {
		text = append([]byte(look.Colors), text...)
	}
	_, _ = w.Write(text) // fails only if the browser has left
}

// templates are the pages by name, each with the layout.
var templates = parse("status", "signin", "link", "message", "search", "user", "group", "computer", "do", "doall", "step", "pick", "changes", "jobs", "job", "audit")

func parse(names ...string) map[string]*template.Template {
	common := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	for _, name := range names {
		all[name] = showing(template.Must(template.Must(common.Clone()).ParseFS(files, "templates/"+name+".html")))
	}
	return all
}

var functions = template.FuncMap{
	"ago": ago, "moment": moment, "shown": shown, "label": label, "rdn": rdn, "spell": spell,
	"at": address, "asking": asking, "explained": explained, "helpPage": helpPage,
	"inText": inText, "inLine": func(v any) any {
		if text, is := v.(string); is {
			return inLine(text)
		}
		return v
	},
	"withBody": func(v fieldView, body formPage) fieldIn { return fieldIn{v, body, body.NoEnd} },
	"both":     func(a string, b *actionForm) []any { return []any{a, b} },
}

// page is what every page has.
type page struct {
	Title   string
	Section string // of the navigation
	Name    string // of who is signed in; empty: nobody
	Role    string
	Form    string // token
	Assets  string // their version
	Sandbox bool
	Version string
	Manual  string // its address; empty: there is none
	Alert   *alert
	Done    *doneMessage // about a change that was made; nil: none was
	Tabs    []tab
	Empty   *empty // what stands in place of a list; never shown with an alert
	Body    any
}

// tab is a link of the navigation.
type tab struct {
	Path, Title string
	Current     bool
}

// empty says that there is nothing, which is known only if the reading succeeded.
type empty struct {
	Title, Text string
	Examples    []example
	Links       []link
}

type example struct{ Text, Code string }

type link struct{ Path, Text string }

// alert is a message about something that did not succeed.
type alert struct {
	Text      string
	Code      string // of the error, which the manual explains; empty: it has none
	RequestID string
	Help      string
}

// alertOf returns the alert about a failed call; nil if it succeeded.
func alertOf(a *answer) *alert {
	if a == nil || a.ok() {
		return nil
	}
	if a.Error == nil {
		return &alert{Text: a.Output}
	}
	said := &alert{Text: a.Error.Message, Code: a.Error.Code, RequestID: a.Error.RequestID}
	switch {
	case a.Status >= http.StatusInternalServerError:
		said.Help = "Try again in a moment. If it fails again, tell whoever runs the gateway this number."
	case a.Status == http.StatusForbidden:
		said.Help = "Ask whoever runs the gateway whether you should have this right."
	}
	return said
}

// write renders a page.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, status int, name string, shown page) {
	shown.Assets, shown.Sandbox, shown.Manual = assetsVersion, p.Sandbox, p.Manual
	if shown.Alert != nil {
		shown.Empty = nil
	}
	if shown.Form == "" {
		shown.Form = p.Gate.FormToken(p.cookie(r))
	}
	var text bytes.Buffer
	if err := templates[name].Execute(&text, shown); err != nil {
		panic(fmt.Errorf("page %s: %w", name, err)) // the server recovers, logs it and answers with 500
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)) // if the connection has deadlines
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text.Bytes()) // fails only if the browser has left
	}
}

// plain shows a message to anybody.
func (p *Pages) plain(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	p.write(w, r, status, "message", page{Title: title, Body: text})
}

// tabs returns the links to the pages that the person may use.
func (c *visit) tabs(section string) []tab {
	all := []tab{{Path: base, Title: "Status", Current: section == "status"}}
	add := func(allowed bool, path, title string) {
		if allowed {
			all = append(all, tab{address(path), title, section == path})
		}
	}
	for _, k := range kinds {
		add(c.may(k.scope), k.path, k.Title)
	}
	add(c.may(identity.ChangeRead), "changes", "My changes")
	add(c.may(identity.JobRead), "jobs", "Jobs")
	add(c.Log != nil, "audit", "Audit") // of one's own calls without a right
	return all
}

// page renders a page for the person.
func (c *visit) page(status int, name string, shown page) {
	shown.Name, shown.Version, shown.Tabs = c.session.Name, c.Version, c.tabs(shown.Section)
	shown.Done = c.message()
	if len(c.principals) == 0 {
		shown.Role = "no rights here"
	} else if c.session.Kind != identity.KindPerson {
		shown.Role = c.session.Kind
	}
	c.write(c.w, c.r, status, name, shown)
}

// failed shows why a page cannot be shown.
func (c *visit) failed(a *answer) {
	title := "That did not work"
	switch a.Status {
	case http.StatusNotFound:
		title = "Not found"
	case http.StatusForbidden:
		title = "No right to see this"
	}
	c.page(a.Status, "message", page{Title: title, Alert: alertOf(a)})
}

// ago says how long ago a time is, or in how long it will be.
func ago(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return ""
	}
	past := time.Since(at)
	if past < 0 {
		return "in " + span(-past)
	}
	return span(past) + " ago"
}

func span(d time.Duration) string {
	count := func(n int, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return count(int(d/time.Minute), "minute")
	case d < 2*day:
		return count(int(d/time.Hour), "hour")
	case d < 90*day:
		return count(int(d/day), "day")
	case d < 730*day:
		return count(int(d/(30*day)), "month")
	}
	return count(int(d/(365*day)), "year")
}

// moment shows a time to the minute.
func moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.UTC().Format("2 Jan 2006, 15:04") + " UTC"
}

// shown shows a value of a plan.
func shown(value json.RawMessage) string {
	var v any
	_ = json.Unmarshal(value, &v) // an answer of ours
	switch v := v.(type) {
	case nil:
		return "none"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return moment(v)
		}
		return rdn(v)
	case []any:
		var parts []string
		for _, one := range v {
			text, _ := json.Marshal(one) // it was read from JSON
			parts = append(parts, shown(text))
		}
		return strings.Join(parts, ", ")
	}
	return string(value)
}

// rdn shows the name of an object instead of its whole distinguished name.
func rdn(text string) string {
	first, rest, ok := strings.Cut(text, ",")
	_, name, has := strings.Cut(first, "=")
	if !ok || !has || !strings.Contains(rest, "DC=") || strings.Contains(first, `\`) {
		return text
	}
	return name
}

// spell spells a password letter by letter.
func spell(password string) string {
	var words []string
	for _, r := range password {
		switch {
		case r >= 'a' && r <= 'z':
			words = append(words, "small "+alphabet[r-'a'])
		case r >= 'A' && r <= 'Z':
			words = append(words, "CAPITAL "+strings.ToUpper(alphabet[r-'A']))
		case signs[r] != "":
			words = append(words, signs[r])
		default:
			words = append(words, string(r))
		}
	}
	return strings.Join(words, " · ")
}

var alphabet = strings.Fields("alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu")

var signs = map[rune]string{
	'0': "zero", '1': "one", '2': "two", '3': "three", '4': "four", '5': "five", '6': "six", '7': "seven", '8': "eight", '9': "nine",
	'-': "hyphen", '_': "underscore", '.': "full stop", ',': "comma", '!': "exclamation mark", '?': "question mark", '#': "hash",
	'+': "plus", '=': "equals", '*': "asterisk", '%': "percent", '&': "ampersand", '@': "at", '$': "dollar", '/': "slash", ':': "colon", ';': "semicolon",
	'(': "open bracket", ')': "close bracket",
}

// label names a field of a record.
func label(field string) string {
	if text, ok := labels[field]; ok {
		return text
	}
	return field
}

var labels = map[string]string{
	"enabled": "Account enabled", "lockedOut": "Locked out", "accountExpires": "Account expires", "password": "Password", "member": "Members",
	"changePasswordNextLogon": "Password must be changed", "ouPath": "Organizational unit", "path": "Organizational unit",
}
