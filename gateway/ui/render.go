package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

//go:embed templates assets
var files embed.FS

// assetsVersion changes with the files, so that browsers may keep them forever.
var assetsVersion = hashOf("assets/console.css", "assets/console.js", "assets/icons.svg")

func hashOf(names ...string) string {
	sum := sha256.New()
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
	_, _ = w.Write(text) // fails only if the browser has left
}

// templates returns the pages by language and name, each with the layout. They are parsed at the first
// page: no command line should wait for them.
var templates = sync.OnceValue(func() map[texts.Lang]map[string]*template.Template {
	all := map[texts.Lang]map[string]*template.Template{}
	for _, lang := range texts.Langs {
		all[lang] = parse(lang, "status", "home", "rights", "signin", "link", "message", "list",
			"search", "user", "group", "computer", "ou", "zone", "change", "do", "doall", "step", "pick", "jobs", "job", "audit")
	}
	return all
})

func parse(lang texts.Lang, names ...string) map[string]*template.Template {
	common := template.Must(template.New("layout.html").Funcs(functions(lang)).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	for _, name := range names {
		all[name] = showing(template.Must(template.Must(common.Clone()).ParseFS(files, "templates/"+name+".html")))
	}
	return all
}

// functions returns the functions of the templates in a language.
func functions(lang texts.Lang) template.FuncMap {
	return template.FuncMap{
		"t":      func(key string, pairs ...any) texts.Text { return texts.Of(key, pairs...) },
		"inText": func(v any) any { return inText(saidIn(lang, v)) },
		"inLine": func(v any) any {
			if text, is := saidIn(lang, v).(string); is {
				return inLine(text)
			}
			return v
		},
		"ago": ago, "moment": func(text string) string { return moment(lang, text) },
		"day":   func(text string) texts.Text { return day(text, time.Now()) },
		"label": label, "rdn": rdn, "spell": spell, "icon": icon,
		"at": address, "asking": asking, "explained": explained, "helpPage": helpPage,
		"withBody": func(v fieldView, body formPage) fieldIn { return fieldIn{v, body} },
		"both":     both,
	}
}

// both passes a form token and an action to a part of a page.
func both(token string, action any) []any {
	if one, is := action.(actionForm); is {
		return []any{token, &one}
	}
	return []any{token, action}
}

// saidIn returns a value in a language if it is a text of the table.
func saidIn(lang texts.Lang, v any) any {
	if text, is := v.(texts.Text); is {
		return text.In(lang)
	}
	return v
}

// icon returns an icon of the sprite. It is decoration: a word stands next to it.
func icon(name string) template.HTML {
	const format = `<svg class="i" aria-hidden="true"><use href="%s#%s"/></svg>`
	return template.HTML(
		fmt.Sprintf(format, address("assets", assetsVersion, "icons.svg"), template.HTMLEscapeString(name)),
	)
}

// looks is how a page looks, and how else it could.
type looks struct {
	Lang      texts.Lang
	Theme     string // empty: as the system has it
	Keys      string // off: the key for the search is not taken
	Themes    []choice
	Languages []language // all languages but the page's
}

// page is what every page has.
type page struct {
	Title    texts.Text
	Section  string // of the menu
	Name     string // of the person signed in; empty: nobody
	Initials string
	Role     texts.Text
	Form     string // token
	Assets   string // their version
	Sandbox  bool
	Version  string
	Manual   string // its address; empty: there is none
	looks
	Here  string // its address
	Said  *done  // what was done; nil: nothing
	Alert *alert
	Nav   []section
	Empty *empty // what stands in place of a list; never shown with an alert
	Body  any
}

// done is a message about what was done, on the page of what it was done to.
type done struct {
	Text  texts.Text
	Path  string // of more about it, which More says; empty: there is none
	More  texts.Text
	Notes []texts.Text // of what is unusual
	Undo  string       // where the form goes that undoes it; empty: it cannot be undone
}

// empty says that there is nothing, which is known only if the reading succeeded.
type empty struct {
	Title, Text texts.Text
	Examples    []example
	Links       []link
}

type example struct {
	Text texts.Text
	Code string
}

type link struct {
	Path string
	Text texts.Text
}

// alert is a message about something that did not succeed.
type alert struct {
	Text      texts.Text
	Code      string // of the error, which the manual explains; empty: it has none
	RequestID string
	Help      texts.Text
}

// alertOf returns the alert about a failed call; nil if it succeeded.
func alertOf(a *answer) *alert {
	if a == nil || a.ok() {
		return nil
	}
	if a.Error == nil {
		return &alert{Text: texts.Raw(a.Output)}
	}
	shown := &alert{Text: texts.Raw(a.Error.Message), Code: a.Error.Code, RequestID: a.Error.RequestID}
	switch {
	case a.Status >= http.StatusInternalServerError:
		shown.Help = texts.Of("alert.again")
	case a.Status == http.StatusForbidden:
		shown.Help = texts.Of("alert.right")
	}
	return shown
}

// write renders a page.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, status int, name string, shown page) {
	shown.Assets, shown.Sandbox, shown.Manual = assetsVersion, p.Sandbox, p.Manual
	wanted := p.lookOf(r)
	wanted.framed(&shown, r)
	if shown.Alert != nil {
		shown.Empty = nil
	}
	if shown.Form == "" {
		shown.Form = p.Gate.FormToken(p.cookie(r))
	}
	var text bytes.Buffer
	if err := templates()[wanted.lang][name].Execute(&text, shown); err != nil {
		panic(fmt.Errorf("page %s: %w", name, err)) // the server recovers, logs it and answers with 500
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(
		w,
	).SetWriteDeadline(time.Now().Add(time.Minute)) // if the connection has deadlines
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text.Bytes()) // fails only if the browser has left
	}
}

// plain shows a message to anybody.
func (p *Pages) plain(w http.ResponseWriter, r *http.Request, status int, title, text texts.Text) {
	p.write(w, r, status, "message", page{Title: title, Body: text})
}

// page renders a page for the person.
func (c *visit) page(status int, name string, shown page) {
	shown.Name, shown.Version, shown.Nav = c.session.Name, c.Version, nav(c, shown.Section)
	shown.Initials = initials(shown.Name)
	if shown.Said == nil {
		shown.Said = messageOf(c)
	}
	if len(c.principals) == 0 {
		shown.Role = texts.Of("frame.noRights")
	} else if c.session.Kind != identity.KindPerson {
		shown.Role = texts.Raw(c.session.Kind)
	}
	c.write(c.w, c.r, status, name, shown)
}

// failed shows why a page cannot be shown.
func (c *visit) failed(a *answer) {
	title := texts.Of("alert.failed")
	switch a.Status {
	case http.StatusNotFound:
		title = texts.Of("alert.notFound")
	case http.StatusForbidden:
		title = texts.Of("alert.forbidden")
	}
	c.page(a.Status, "message", page{Title: title, Alert: alertOf(a)})
}

// ago says how long ago a time is, or in how long it will be.
func ago(text string) texts.Text {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return texts.Ago(at, time.Now())
}

// moment shows a time to the minute.
func moment(lang texts.Lang, text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return lang.Moment(at.UTC())
}

// day shows a time as people say it: today with the hour, else the day.
func day(text string, now time.Time) texts.Text {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return texts.Raw(text)
	}
	at, now = at.UTC(), now.UTC()
	switch today := now.Truncate(24 * time.Hour); {
	case !at.Before(today) && at.Before(today.AddDate(0, 0, 1)):
		return texts.Of("time.today", "hour", at.Format("15:04"))
	case !at.Before(today.AddDate(0, 0, -1)) && at.Before(today):
		return texts.Of("time.yesterday", "hour", at.Format("15:04"))
	}
	return texts.Day(at)
}

// rdn shows the name of an object instead of its whole distinguished name.
func rdn(text string) string { return nameOfDN(text) }

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
func label(field string) texts.Text {
	if key := "field." + field; texts.Has(key) {
		return texts.Of(key)
	}
	return texts.Raw(field)
}
