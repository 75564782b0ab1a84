package ui

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// homePage is where people begin.
type homePage struct {
	Verdict word
	Tiles   []tile
	Counts  bool // the numbers are on the page
	Recent  []recentRow
	Made    []madeRow
	Starts  []link
}

// tile is a quick view.
type tile struct {
	ID, Path string
	Title    texts.Text
	Tone     color
	Count    texts.Text
}

// tilesOf returns the quick views of all lists that the person may see.
func tilesOf(c *visit) (all []tile) {
	for i := range listings {
		l := &listings[i]
		if !c.may(l.scope) {
			continue
		}
		for _, v := range l.views {
			if id := l.path + "." + v.id; v.tile {
				path := asked{list: l, view: v}.address()
				all = append(all, tile{ID: id, Path: path, Title: texts.Of("tile." + id), Tone: v.tone})
			}
		}
	}
	return all
}

// home shows the page where people begin.
func home(c *visit) {
	body := homePage{Tiles: tilesOf(c), Recent: recentOf(c)}
	_, ready, degraded := readiness(c)
	body.Verdict = wordOf("readiness.verdict", verdictOf(ready, degraded))
	if c.r.URL.Query().Get("counts") != "" {
		body.Counts = true
		counted(c, body.Tiles)
	}
	if c.may(identity.ChangeRead) {
		body.Made = madeRows(records[record](c.listed(ownChanges(c, "", 10))))
	}
	c.page(http.StatusOK, "home", page{Title: texts.Of("page.home"), Section: "home", Body: body})
}

// atOnce limits the counts that are asked for at the same time.
const atOnce = 4

// counted adds to quick views how many there are. They are counted side by side.
func counted(c *visit, tiles []tile) {
	var all sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i := range tiles {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			tiles[i].Count = countOf(c, tiles[i].ID)
		})
	}
	all.Wait()
}

// countOf returns how many a quick view has, as a text; nil if that is not known. Roles are not merged,
// so with several of them nobody knows without reading all.
func countOf(c *visit, id string) texts.Text {
	for i := range listings {
		l := &listings[i]
		for _, v := range l.views {
			if l.path+"."+v.id != id || !l.searches || len(c.principals) != 1 {
				continue
			}
			values := call.Values{"Filter": v.filter, "Limit": "1", "Count": "true"}
			if l.path == "people" {
				values["ShowFields"] = "guid"
			}
			if a := c.call(l.operation, values); a.ok() {
				return texts.Of("job.count", "n", a.Total)
			}
		}
	}
	return nil
}

// counts answers with how many the quick views have, for the script of the page.
func counts(c *visit) {
	tiles := tilesOf(c)
	counted(c, tiles)
	found := map[string]string{}
	for _, one := range tiles {
		if !one.Count.Empty() {
			found[one.ID] = one.Count.In(c.lookOf(c.r).lang)
		}
	}
	c.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(c.w).Encode(found) // fails only if the browser has left
}

// recent is an object that a person has looked at.
type recent struct{ Kind, GUID, Name string }

// recentRow is one as a page shows it.
type recentRow struct {
	Icon, Path, Name string
	Kind             texts.Text
}

const (
	recentSuffix = "-recent"
	mostRecent   = 10
	recentName   = 60 // letters of a name
)

// recentCookie are the objects that a person has looked at in this browser, the last one first. They go
// with the session, and belong to the person: another one does not see them.
type recentCookie struct {
	Of  string // who
	All []recent
}

func markOfPerson(c *visit) string {
	sum := sha256.Sum256([]byte(identity.ReferenceTo(c.identity())))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

func keptRecent(c *visit) (kept recentCookie) {
	found, err := c.r.Cookie(c.cookieName(c.r) + recentSuffix)
	if err != nil {
		return kept
	}
	raw, err := base64.RawURLEncoding.DecodeString(found.Value)
	if err != nil || json.Unmarshal(raw, &kept) != nil || kept.Of != markOfPerson(c) {
		return recentCookie{}
	}
	return kept
}

func recentOf(c *visit) (rows []recentRow) {
	for _, one := range keptRecent(c).All {
		if k := kindAt(one.Kind); k != nil && c.may(k.scope) {
			rows = append(rows, recentRow{iconOf(one.Kind), k.at(one.GUID), one.Name, texts.Of("kind." + k.hitType)})
		}
	}
	return rows
}

// iconOf returns the icon of a kind of object by its path.
func iconOf(path string) string {
	for _, row := range menu {
		if row.path == path {
			return row.icon
		}
	}
	return "info"
}

// lookedAt notes that the person has looked at an object.
func lookedAt(c *visit, k *kind, guid, name string) {
	kept := keptRecent(c)
	all := slices.DeleteFunc(kept.All, func(r recent) bool { return r.Kind == k.path && r.GUID == guid })
	if letters := []rune(name); len(letters) > recentName {
		name = string(letters[:recentName])
	}
	all = append([]recent{{k.path, guid, name}}, all...)
	setRecent(c, recentCookie{markOfPerson(c), all[:min(len(all), mostRecent)]})
}

func setRecent(c *visit, kept recentCookie) {
	raw, _ := json.Marshal(kept) // texts
	cookie := &http.Cookie{
		Name: c.cookieName(c.r) + recentSuffix, Value: base64.RawURLEncoding.EncodeToString(raw), Path: "/",
		HttpOnly: true, Secure: c.r.TLS != nil, SameSite: http.SameSiteLaxMode,
	}
	if len(kept.All) == 0 {
		cookie.Value, cookie.MaxAge = "", -1
	}
	http.SetCookie(c.w, cookie)
}

func clearRecent(c *visit) {
	setRecent(c, recentCookie{})
	c.goTo(base)
}

// rightsPage says what a person may do.
type rightsPage struct{ Roles []rightsRole }

type rightsRole struct {
	Name   texts.Text
	Rights []rightsRow
	Limits []texts.Text
}

// rightsRow is a kind of thing, and what may be done with it.
type rightsRow struct {
	What texts.Text
	May  texts.Text
}

// rights shows what the person may do: roles are not merged, so each is shown alone.
func rights(c *visit) {
	body := rightsPage{}
	for i, p := range c.principals {
		role := rightsRole{Name: texts.Of("right.role", "n", i+1)}
		var last string
		var may []texts.Text
		flush := func() {
			if len(may) > 0 {
				what := "right." + last
				if last == "ou" {
					what = "right.ou.all" // "right.ou" is a limit
				}
				role.Rights = append(role.Rights, rightsRow{texts.Of(what), texts.List(may...)})
			}
			may = nil
		}
		for _, scope := range identity.Scopes() {
			what, verb, has := strings.Cut(string(scope), ":")
			if !has || !p.Has(scope) {
				continue
			}
			if what != last {
				flush()
				last = what
			}
			may = append(may, texts.Of("right.verb."+verb))
		}
		flush()
		if p.Has(identity.Privileged) {
			role.Rights = append(role.Rights, rightsRow{texts.Of("right.privileged"), texts.Of("word.yes")})
		}
		for _, ou := range p.Limits.OUs {
			role.Limits = append(role.Limits, texts.Of("right.ou", "path", pathText(ou)))
		}
		for _, zone := range p.Limits.Zones {
			role.Limits = append(role.Limits, texts.Of("right.zone", "zone", zone))
		}
		body.Roles = append(body.Roles, role)
	}
	shown := page{Title: texts.Of("page.rights"), Section: "rights", Body: body}
	if len(body.Roles) == 0 {
		shown.Empty = &empty{Text: texts.Of("right.none")}
	}
	c.page(http.StatusOK, "rights", shown)
}
