package ui

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// homePage is the first page after sign-in.
type homePage struct {
	Verdict say.Word
	Tiles   []tile
	Counts  bool // the page contains the numbers
	Recent  []recentRow
	Made    []madeRow
	Starts  []frame.Link
}

// tile is a quick view on the home page.
type tile struct {
	ID, Path string
	Title    texts.Text
	Tone     say.Color
	Count    texts.Text
}

// tilesOf returns the quick views of all lists that the person may see.
func tilesOf(c *frame.Visit) (all []tile) {
	for i := range listings {
		l := &listings[i]
		if !c.May(l.Scope) {
			continue
		}
		for _, v := range l.Views {
			if id := l.Path + "." + v.ID; v.Tile {
				path := table.Asked{List: l, View: v}.Address()
				all = append(all, tile{ID: id, Path: path, Title: texts.Of("tile." + id), Tone: v.Tone})
			}
		}
	}
	return all
}

// home shows the home page.
func home(c *frame.Visit) {
	body := homePage{Tiles: tilesOf(c), Recent: recentOf(c), Starts: work.Starts(c)}
	_, ready, degraded := checksOf(c)
	body.Verdict = say.WordOf("readiness.verdict", verdictOf(ready, degraded))
	if c.R.URL.Query().Get("counts") != "" {
		body.Counts = true
		counted(c, body.Tiles)
	}
	if c.May(identity.ChangeRead) {
		body.Made = madeRows(frame.Records[say.Record](c.Listed(ownChanges(c, "", 10))))
	}
	c.Page(http.StatusOK, "home", frame.Page{Title: texts.Of("page.home"), Section: "home", Body: body})
}

// atOnce limits the concurrent requests for counts.
const atOnce = 4

// counted adds the number of results to each quick view. It requests these numbers concurrently.
func counted(c *frame.Visit, tiles []tile) {
	var all sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i := range tiles {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			tiles[i].Count = countOf(c, tiles[i].ID)
			if tiles[i].Count.In(texts.English) == "0" {
				tiles[i].Tone = "" // no reason to worry
			}
		})
	}
	all.Wait()
}

// mostCounted is the maximum number of changes that are read to count them.
const mostCounted = 1000

// countOf returns the number of results of a quick view as text, or nil if it is unknown. It is unknown for a
// person with several roles, because roles are not merged and all records would have to be read.
func countOf(c *frame.Visit, id string) texts.Text {
	for i := range listings {
		l := &listings[i]
		for _, v := range l.Views {
			if l.Path+"."+v.ID != id || len(c.Principals) != 1 {
				continue
			}
			values := table.Asked{List: l, View: v}.Values(c)
			switch {
			case l.Searches:
				values["Limit"], values["Count"] = "1", "true"
				if l.Path == "people" {
					values["ShowFields"] = "guid"
				}
				if a := c.Call(l.Operation, values); a.Ok() {
					return texts.Of("job.count", "n", a.Total)
				}
			case l.Operation == "change.list": // it has no Count
				values["Limit"] = strconv.Itoa(mostCounted)
				if a := c.Call(l.Operation, values); a.Ok() && a.Next == "" {
					return texts.Of("job.count", "n", len(frame.Records[json.RawMessage](a)))
				} else if a.Ok() {
					return texts.Of("home.atLeast", "n", len(frame.Records[json.RawMessage](a)))
				}
			}
		}
	}
	return nil
}

// counts sends the number of results of each quick view as JSON, for the script of the page.
func counts(c *frame.Visit) {
	tiles := tilesOf(c)
	counted(c, tiles)
	found := map[string]string{}
	for _, one := range tiles {
		if !one.Count.Empty() {
			found[one.ID] = one.Count.In(c.LookOf(c.R).Lang)
		}
	}
	c.W.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(c.W).Encode(found) // fails only if the browser has disconnected
}

// recent is a recently viewed object.
type recent struct{ Kind, GUID, Name string }

// recentRow is a recently viewed object on a page.
type recentRow struct {
	Icon, Path, Name string
	Kind             texts.Text
}

const (
	recentName  = "looked at"
	mostRecent  = 10
	mostLetters = 60 // in a name
)

// lookedAtList contains the objects that a person has viewed in any browser, latest first.
type lookedAtList struct{ All []recent }

// recentOf returns the recently viewed objects that the person may see now.
func recentOf(c *frame.Visit) (rows []recentRow) {
	var kept lookedAtList
	_, _ = c.Session.Recall(c.R.Context(), recentName, &kept) // empty if the store is unavailable
	seen := make([]bool, len(kept.All))
	var reads []func()
	for i, one := range kept.All {
		k := frame.KindAt(one.Kind)
		switch {
		case k == nil || !c.May(k.Scope):
		case seesAll(c, k):
			seen[i] = true
		default:
			reads = append(reads, func() { seen[i] = c.Read(k, one.GUID).Ok() })
		}
	}
	frame.SideBySide(reads...)
	for i, one := range kept.All {
		if seen[i] {
			k := frame.KindAt(one.Kind)
			rows = append(rows, recentRow{iconOf(one.Kind), k.At(one.GUID), one.Name, texts.Of("kind." + k.HitType)})
		}
	}
	return rows
}

// seesAll reports whether one of the person's roles shows all objects of a kind.
func seesAll(c *frame.Visit, k *frame.Kind) bool {
	return slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool {
		return p.Has(k.Scope) && p.Limits.Equal(identity.Limits{})
	})
}

// iconOf returns the icon of the kind of object whose pages have a path.
func iconOf(path string) string {
	for _, row := range menu {
		if row.Path == path {
			return row.Icon
		}
	}
	return "info"
}

// lookedAt records that the person has viewed an object. It does nothing if the store is unavailable, or if
// another page is recorded at the same time.
func lookedAt(c *frame.Visit, k *frame.Kind, guid, name string) {
	var kept lookedAtList
	at, err := c.Session.Recall(c.R.Context(), recentName, &kept)
	if letters := []rune(name); len(letters) > mostLetters {
		name = string(letters[:mostLetters])
	}
	now := recent{k.Path, guid, name}
	if err != nil || len(kept.All) > 0 && kept.All[0] == now {
		return
	}
	all := slices.DeleteFunc(kept.All, func(r recent) bool { return r.Kind == k.Path && r.GUID == guid })
	all = append([]recent{now}, all...)
	_ = c.Session.Remember(c.R.Context(), recentName, at, lookedAtList{all[:min(len(all), mostRecent)]})
}

func clearRecent(c *frame.Visit) {
	var kept lookedAtList
	at, err := c.Session.Recall(c.R.Context(), recentName, &kept)
	if err == nil {
		err = c.Session.Remember(c.R.Context(), recentName, at, lookedAtList{})
	}
	if err != nil {
		why := &frame.Failure{Message: frame.WithoutStore(err).In(c.Lang())}
		c.Failed(&frame.Answer{Status: http.StatusServiceUnavailable, Error: why})
		return
	}
	c.GoTo(say.Base)
}
