package frame

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// section is a group of links of the menu.
type section struct {
	Title texts.Text
	Tabs  []tab
}

// tab is a link of the menu.
type tab struct {
	Path    string
	Title   texts.Text
	Icon    string
	Current bool
}

// MenuRow is a link in the menu. May reports whether a person may see it.
type MenuRow struct {
	Section, Path, Icon string
	May                 func(*Visit) bool
}

// Nav returns the menu's links to the pages that the person may use. Current is the path of the open page.
func Nav(c *Visit, current string) (all []section) {
	last := ""
	for _, p := range c.Menu {
		if !p.May(c) {
			continue
		}
		if p.Section != last || len(all) == 0 {
			all = append(all, section{})
			if last = p.Section; last != "" {
				all[len(all)-1].Title = texts.Of("frame." + last)
			}
		}
		one := tab{say.Address(p.Path), texts.Of("page." + p.Path), p.Icon, current == p.Path}
		if p.Path == "home" {
			one.Path = say.Base
		}
		at := &all[len(all)-1].Tabs
		*at = append(*at, one)
	}
	return all
}

// Initials returns the initials of a name, for places without room for the whole name.
func Initials(name string) string {
	if _, account, has := strings.Cut(name, `\`); has {
		name = account
	}
	var letters []rune
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(name, between) {
		letters = append(letters, unicode.ToUpper([]rune(word)[0]))
	}
	switch {
	case len(letters) == 0:
		return "?"
	case len(letters) > 2:
		letters = []rune{letters[0], letters[len(letters)-1]}
	}
	return string(letters)
}

// look contains a person's display settings. They are stored in a cookie.
type look struct {
	texts.Reader
	zone  string // chosen by the person; empty means the gateway's zone
	theme string // light or dark; empty means the system's setting
	keys  string // off if the "/" key does nothing
}

// The cookie with the display settings is not a secret, and remains after sign-out.
const lookSuffix = "-look"

// lookSeconds is the lifetime of the cookie, in seconds.
const lookSeconds = 365 * 24 * 60 * 60

var themes = []string{"", "light", "dark"}

// LookOf returns the person's display settings. The default language is the browser's.
func (p *Pages) LookOf(r *http.Request) look {
	l := look{Reader: texts.Reader{Lang: texts.Accepted(r.Header.Get("Accept-Language")), Zone: p.DayZone()}}
	kept, err := r.Cookie(p.CookieName(r) + lookSuffix)
	if err != nil {
		return l
	}
	for part := range strings.SplitSeq(kept.Value, ".") {
		if lang, known := texts.Named(part); known {
			l.Lang = lang
		}
		if name, is := strings.CutPrefix(part, zonePrefix); is {
			l.setZone(name)
		}
		switch part {
		case "light", "dark":
			l.theme = part
		case "off":
			l.keys = part
		}
	}
	return l
}

// zonePrefix is the prefix of the zone in the cookie.
const zonePrefix = "zone:"

// DayZone returns the gateway's time zone. Days in forms end at midnight in it.
func (p *Pages) DayZone() *time.Location {
	if p.Zone == nil {
		return time.UTC
	}
	return p.Zone
}

// setZone sets the person's zone if name is a known zone.
func (l *look) setZone(name string) {
	if name == "" || name == "Local" {
		return
	}
	if zone, err := time.LoadLocation(name); err == nil {
		l.Zone, l.zone = zone, name
	}
	if name == "UTC" {
		l.Zone = time.UTC
	}
}

// setLook stores the person's display settings in a cookie, and reloads the page.
func (p *Pages) setLook(w http.ResponseWriter, r *http.Request) {
	l, given := p.LookOf(r), r.PostForm
	if given.Has("theme") {
		l.theme, l.keys = given.Get("theme"), "off"
		if given.Get("keys") != "" {
			l.keys = ""
		}
	}
	if lang, known := texts.Named(given.Get("lang")); known {
		l.Lang = lang
	}
	if given.Has("zone") {
		l.zone = ""
		l.setZone(given.Get("zone"))
	}
	parts := []string{l.Lang.Code()}
	for _, part := range []string{l.theme, l.keys} {
		if part == "light" || part == "dark" || part == "off" {
			parts = append(parts, part)
		}
	}
	if l.zone != "" {
		parts = append(parts, zonePrefix+l.zone)
	}
	http.SetCookie(w, &http.Cookie{
		Name: p.CookieName(r) + lookSuffix, Value: strings.Join(parts, "."), Path: "/", MaxAge: lookSeconds,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, Next(given.Get("next")), http.StatusSeeOther)
}

// zoneNames contains the zones that everybody can choose. The script of the pages adds the computer's zone.
var zoneNames = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "America/Bogota", "America/Chicago",
	"America/Denver", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Sao_Paulo",
	"America/Toronto", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Kolkata", "Asia/Seoul", "Asia/Shanghai",
	"Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Europe/Athens", "Europe/Berlin", "Europe/Dublin",
	"Europe/Helsinki", "Europe/Istanbul", "Europe/London", "Europe/Madrid", "Europe/Paris", "Europe/Warsaw",
	"Europe/Zurich", "Pacific/Auckland",
}

// language is another language in which the page is available.
type language struct{ Code, Name string }

// framed adds the contents of the frame to a page.
func (l look) framed(shown *Page, r *http.Request, of *time.Location) {
	shown.Zones = []Choice{{Label: texts.Of("frame.zone.gateway", "zone", of.String()), Chosen: l.zone == ""}}
	names := slices.Clone(zoneNames)
	if l.zone != "" && !slices.Contains(names, l.zone) {
		names = append(names, l.zone)
	}
	for _, name := range names {
		shown.Zones = append(shown.Zones, Choice{ID: name, Label: texts.Raw(name), Chosen: name == l.zone})
	}
	shown.Lang, shown.Theme, shown.Keys = l.Lang, l.theme, l.keys
	shown.Here = say.Base
	if r.Method == http.MethodGet {
		shown.Here = r.URL.RequestURI()
	}
	for _, theme := range themes {
		name := theme
		if name == "" {
			name = "system"
		}
		shown.Themes = append(
			shown.Themes, Choice{ID: theme, Label: texts.Of("frame.look." + name), Chosen: theme == l.theme},
		)
	}
	for _, other := range texts.Langs {
		if other != l.Lang {
			shown.Languages = append(
				shown.Languages, language{other.Code(), texts.Of("language." + other.Code()).In(other)},
			)
		}
	}
}
