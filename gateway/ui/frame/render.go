package frame

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
	"sync"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

//go:embed templates assets
var Files embed.FS

// assetsVersion changes with the files, so that browsers can cache them forever.
var assetsVersion = hashOf("assets/console.css", "assets/console.js", "assets/icons.svg")

func hashOf(names ...string) string {
	sum := sha256.New()
	for _, name := range names {
		text, _ := Files.ReadFile(name) // cannot fail, because the file is embedded
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := Files.ReadFile("assets/" + path.Base(name))
	if err != nil || r.PathValue("version") != assetsVersion {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(text) // fails only if the browser has disconnected
}

// Templates returns the templates of the pages by language and name, each with the layout. They are parsed
// when the first page is rendered, so that commands need not wait for them.
var Templates = sync.OnceValue(func() map[texts.Lang]map[string]*template.Template {
	all := map[texts.Lang]map[string]*template.Template{}
	for _, lang := range texts.Langs {
		reader := texts.Reader{Lang: lang, Zone: time.UTC}
		all[lang] = parse(reader, "status", "home", "rights", "signin", "link", "message", "list",
			"search", "user", "group", "computer", "ou", "zone", "change", "do", "doall",
			"step", "reveal", "thing", "compare", "pick", "job", "sheet", "procedures", "audit")
	}
	return all
})

func parse(reader texts.Reader, names ...string) map[string]*template.Template {
	common := template.Must(template.New("layout.html").Funcs(functions(reader)).
		ParseFS(Files, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	for _, name := range names {
		all[name] = showing(template.Must(template.Must(common.Clone()).ParseFS(Files, "templates/"+name+".html")))
	}
	return all
}

// zoned caches pages with times in zones other than UTC. They are parsed on demand.
var zoned struct {
	sync.Mutex
	pages map[string]*template.Template // key: zone, language and name
}

// mostZoned limits the pages in the cache.
const mostZoned = 128

// template returns a page for a reader.
func (l look) template(name string) *template.Template {
	if l.Zone == time.UTC {
		return Templates()[l.Lang][name]
	}
	key := l.Zone.String() + " " + l.Lang.Code() + " " + name
	zoned.Lock()
	defer zoned.Unlock()
	found := zoned.pages[key]
	if found == nil {
		if zoned.pages == nil || len(zoned.pages) >= mostZoned {
			zoned.pages = map[string]*template.Template{}
		}
		found = parse(l.Reader, name)[name]
		zoned.pages[key] = found
	}
	return found
}

// Fragment renders a part of a page, which the script inserts.
func (c *Visit) Fragment(name string, body any) {
	c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.W.WriteHeader(http.StatusOK)
	_ = c.LookOf(c.R).template(name).ExecuteTemplate(c.W, "content", body) // fails only if the browser is gone
}

// functions returns the template functions for a reader.
func functions(reader texts.Reader) template.FuncMap {
	return template.FuncMap{
		"t":      func(key string, pairs ...any) texts.Text { return texts.Of(key, pairs...) },
		"inText": func(v any) any { return inText(saidIn(reader, v)) },
		"inLine": func(v any) any {
			if text, is := saidIn(reader, v).(string); is {
				return InLine(text)
			}
			return v
		},
		"ago": say.Ago, "moment": func(text string) string { return say.Moment(reader, text) },
		"day":   func(text string) texts.Text { return say.Day(text, time.Now().In(reader.Zone)) },
		"label": say.Label, "rdn": say.Rdn, "spell": say.Spell, "icon": Icon,
		"at": say.Address, "asking": say.Asking, "explained": say.Explained, "helpPage": say.HelpPage,
		"list": func(all []texts.Text) texts.Text { return texts.List(all...) },
		"both": func(one, other any) []any { return []any{one, other} },
	}
}

// saidIn converts a [texts.Text] to the reader's language and zone. It returns other values unchanged.
func saidIn(reader texts.Reader, v any) any {
	if text, is := v.(texts.Text); is {
		return text.For(reader)
	}
	return v
}

// Icon returns an icon of the sprite. Icons are only decorative, because there is always a word next to them.
func Icon(name string) template.HTML {
	const format = `<svg class="i" aria-hidden="true"><use href="%s#%s"/></svg>`
	return template.HTML(
		fmt.Sprintf(format, say.Address("assets", assetsVersion, "icons.svg"), template.HTMLEscapeString(name)),
	)
}

// looks contains the display settings of a page and the alternatives.
type looks struct {
	Lang      texts.Lang
	Theme     string // empty means the system's setting
	Keys      string // off if the search key does nothing
	Themes    []Choice
	Languages []language // all languages except the page's
	Zones     []Choice   // time zones for times on pages
}

// Page contains the data of every page.
type Page struct {
	Title    texts.Text
	Section  string // section of the menu
	Name     string // name of the signed-in person; empty if nobody is signed in
	Initials string
	Role     texts.Text
	Form     string // form token
	Assets   string // version of the assets
	Sandbox  bool
	Version  string
	Manual   string // address of the manual; empty if there is none
	looks
	Here  string // address of the page
	Said  *Done  // message about what was done; nil if there is none
	Notes []Note
	More  bool // more notes may follow while the page is open
	Alert *Alert
	Nav   []section
	Empty *Empty // shown instead of a list; never together with an alert
	Body  any
}

// Done is a message about a change, on the page of the changed object.
type Done struct {
	Text  texts.Text
	Path  string // address of details, linked by More; empty if there are none
	More  texts.Text
	Notes []texts.Text // anything unusual about the change
	Undo  string       // address of the form that undoes the change; empty if that is not possible
	Asks  bool         // Undo asks for a reason first
}

// Note tells a person once that a list has ended.
type Note struct {
	Text, More texts.Text // More says what failed; nil if nothing did
	Path       string
	Good       bool
}

// Class returns the CSS classes of the note's box.
func (n Note) Class() string {
	if n.Good {
		return "ok"
	}
	return "warn"
}

// Empty is the message that a page has no data. It is used only if the data could be read.
type Empty struct {
	Icon        string // empty: the icon of a search
	Title, Text texts.Text
	Examples    []Example
	Links       []Link
}

type Example struct {
	Text texts.Text
	Code string
}

type Link struct {
	Path string
	Text texts.Text
}

// Alert is a message about a failure.
type Alert struct {
	Text      texts.Text
	Code      string // error code, which the manual explains; empty if there is none
	RequestID string
	Help      texts.Text
}

// AlertOf returns the alert for a failed call, or nil if the call succeeded.
func AlertOf(a *Answer) *Alert {
	if a == nil || a.Ok() {
		return nil
	}
	if a.Error == nil {
		return &Alert{Text: texts.Raw(a.Output)}
	}
	shown := &Alert{
		Text: texts.Error(a.Error.Code, a.Error.Message), Code: a.Error.Code, RequestID: a.Error.RequestID,
	}
	switch {
	case a.Status >= http.StatusInternalServerError:
		shown.Help = texts.Of("alert.again")
	case a.Status == http.StatusForbidden:
		shown.Help = texts.Of("alert.right")
	}
	return shown
}

// Tells reports whether there are notes, or whether some may follow while the page is open.
func (p Page) Tells() bool { return len(p.Notes) > 0 || p.More }

// Write renders a page.
func (p *Pages) Write(w http.ResponseWriter, r *http.Request, status int, name string, shown Page) {
	text := rendered(p, r, name, "layout.html", shown)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	send(w, r, func() { w.WriteHeader(status) }, text)
}

// rendered returns a part of a page.
func rendered(p *Pages, r *http.Request, name, part string, shown Page) []byte {
	shown.Assets, shown.Sandbox, shown.Manual = assetsVersion, p.Sandbox, p.Manual
	wanted := p.LookOf(r)
	wanted.framed(&shown, r, p.DayZone())
	if shown.Alert != nil {
		shown.Empty = nil
	}
	if shown.Form == "" {
		shown.Form = p.Gate.FormToken(p.Cookie(r))
	}
	var text bytes.Buffer
	if err := wanted.template(name).ExecuteTemplate(&text, part, shown); err != nil {
		panic(fmt.Errorf("page %s: %w", name, err)) // the server recovers, logs it and answers with 500
	}
	return text.Bytes()
}

// send sends text within a minute, after begin.
func send(w http.ResponseWriter, r *http.Request, begin func(), text []byte) {
	deadline := time.Now().Add(time.Minute)
	_ = http.NewResponseController(w).SetWriteDeadline(deadline) // fails if the connection has no deadlines
	begin()
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // fails only if the browser has disconnected
	}
}

// Opening returns a function that sends the frame of a page, which the browser shows while the records of the
// page are read. [Visit.Page] then sends the rest. The function sends the status 200, so it must not be
// called while the request may still be refused. Opening returns nil for a request whose status matters.
func (c *Visit) Opening(name string, shown Page) func() {
	if c.R.Method != http.MethodGet {
		return nil
	}
	return func() {
		c.opened = true
		c.framed(&shown)
		text := rendered(c.Pages, c.R, name, "opening", shown)
		c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
		c.W.Header().Set("X-Accel-Buffering", "no") // otherwise nginx waits for the rest
		send(c.W, c.R, func() { c.W.WriteHeader(http.StatusOK) }, text)
		out := http.NewResponseController(c.W)
		_ = out.Flush()                       // fails only if the browser has disconnected
		_ = out.SetWriteDeadline(time.Time{}) // the read may take longer
	}
}

// plain shows a message. It does not require sign-in.
func (p *Pages) plain(w http.ResponseWriter, r *http.Request, status int, title, text texts.Text) {
	p.Write(w, r, status, "message", Page{Title: title, Body: text})
}

// Page renders a page for the signed-in person, or its rest if the frame has been sent.
func (c *Visit) Page(status int, name string, shown Page) {
	c.framed(&shown)
	if shown.Said == nil {
		shown.Said = c.Said(c)
	}
	if c.R.Method == http.MethodGet {
		shown.Notes, shown.More = c.Notes(c)
	}
	if c.opened {
		send(c.W, c.R, func() {}, rendered(c.Pages, c.R, name, "rest", shown))
		return
	}
	c.Write(c.W, c.R, status, name, shown)
}

// framed adds the information about the person to the frame of a page.
func (c *Visit) framed(shown *Page) {
	shown.Name, shown.Version, shown.Nav = c.Session.Name, c.Version, Nav(c, shown.Section)
	shown.Initials = Initials(shown.Name)
	if len(c.Principals) == 0 {
		shown.Role = texts.Of("frame.noRights")
	} else if c.Session.Kind != identity.KindPerson {
		shown.Role = texts.Raw(c.Session.Kind)
	}
}

// Failed explains why a page cannot be shown.
func (c *Visit) Failed(a *Answer) {
	title := texts.Of("alert.failed")
	switch a.Status {
	case http.StatusNotFound:
		title = texts.Of("alert.notFound")
	case http.StatusForbidden:
		title = texts.Of("alert.forbidden")
	}
	c.Page(a.Status, "message", Page{Title: title, Alert: AlertOf(a)})
}

// One returns the only record of an answer. If there is not exactly one, it explains why the page cannot be
// shown, and returns nil.
func (c *Visit) One(a *Answer) say.Record {
	found := Records[say.Record](a)
	if !a.Ok() || len(found) != 1 {
		c.Failed(a)
		return nil
	}
	return found[0]
}

// Choice is one of the possible values of an input.
type Choice struct {
	ID     string
	Label  texts.Text
	Chosen bool
}
