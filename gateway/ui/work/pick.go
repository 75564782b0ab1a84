package work

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// A field that names an object accepts the names that people use, which are the name, the logon name, the
// mail address, or the path of an organizational unit. A picker fills in such a name, too, so typed and
// picked values are handled in the same way.

const PickPath = "pick"

// mostPicked is the maximum number of options in a picker.
const mostPicked = 8

// searched maps kinds of objects to the types of the search.
var searched = map[form.Pick]string{
	form.Person: "user", form.Group: "group", form.Computer: "computer", form.Holder: "user,group,computer",
}

// pickOption is an option of a picker, which is an object.
type pickOption struct{ Kind, Icon, Value, Name, About string }

// ShowPick sends the options of a picker that match the typed text.
func ShowPick(c *frame.Visit) {
	kind, text := form.Pick(c.R.PathValue("kind")), strings.TrimSpace(c.R.URL.Query().Get("q"))
	var all []pickOption
	add := func(icon, value, name, about string) {
		if len(all) < mostPicked {
			all = append(all, pickOption{string(kind), icon, value, name, about})
		}
	}
	switch kind {
	case form.Unit:
		for _, dn := range pickUnits(c) {
			if path := say.PathText(dn); strings.Contains(folded(path), folded(text)) {
				add("ou", path, path, "")
			}
		}
	case form.Zone:
		for _, zone := range pickZones(c) {
			if strings.Contains(folded(zone), folded(text)) {
				add("zone", zone, zone, "")
			}
		}
	default:
		if searched[kind] == "" {
			c.NotFound(c.W, c.R)
			return
		}
		hits, _ := pickHits(c, kind, text)
		for _, hit := range hits {
			icon := hit.Text("type")
			if icon == "user" {
				icon = "person"
			}
			add(icon, pickValue(hit), hit.First("displayName", "name"), aboutHit(hit))
		}
	}
	c.Fragment("pick", all)
}

// pickValue returns the text for a field that names a hit. [resolvePick] understands it.
func pickValue(hit say.Record) string {
	if hit.Text("type") == "user" {
		return fmt.Sprintf("%s (%s)", hit.First("displayName", "name"), hit.Text("username"))
	}
	return strings.TrimSuffix(hit.Text("name"), "$")
}

func aboutHit(hit say.Record) string {
	if hit.Text("type") == "user" {
		return hit.Text("username") + ", " + say.PathText(hit.Text("ouPath"))
	}
	return say.PathText(hit.Text("ouPath"))
}

// pickHits searches for objects of a kind. It also reports whether the search succeeded.
func pickHits(c *frame.Visit, kind form.Pick, text string) ([]say.Record, bool) {
	a := c.Listed(frame.List{
		Operation: "search.find", Key: "guid", Before: frame.BestFor(text),
		Values: call.Values{"Text": text, "Type": searched[kind], "Limit": "50"},
	})
	return frame.Records[say.Record](a), a.Ok()
}

// pickUnits returns the distinguished names of the organizational units that the person may see.
func pickUnits(c *frame.Visit) (all []string) {
	a := c.Listed(frame.List{Operation: "ou.list", Key: "guid", Before: frame.ByName, Values: call.Values{}})
	for _, r := range frame.Records[say.Record](a) {
		all = append(all, r.Text("path"))
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(say.PathText(a), say.PathText(b)) })
	return all
}

// pickZones returns the names of the zones that the person may see.
func pickZones(c *frame.Visit) (all []string) {
	a := c.Listed(
		frame.List{Operation: "zone.list", Key: "zoneName", Before: frame.ByZone, Values: call.Values{}},
	)
	for _, r := range frame.Records[say.Record](a) {
		all = append(all, r.First("zoneName", "name"))
	}
	return all
}

// resolvePick replaces the name in a field with the identity of the object, or returns a problem if it is
// unknown.
func resolvePick(c *frame.Visit, field *form.Field, typed url.Values) *form.Problem {
	value := strings.TrimSpace(typed.Get(field.Name))
	was, shown := typed.Get(form.Was+field.Name), typed.Has(form.Was+field.Name)
	if field.Pick == "" || value == "" || shown && was == value {
		return nil
	}
	lines := []string{value}
	if field.Many {
		lines = strings.Split(strings.ReplaceAll(value, "\r\n", "\n"), "\n")
	}
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		found, problem := meantObject(c, field.Pick, line)
		if problem != nil {
			return &form.Problem{Field: field.Name, Text: *problem}
		}
		lines[i] = found
	}
	typed.Set(field.Name, strings.Join(lines, "\n"))
	return nil
}

// meantObject returns the identity of an object by a name that people use. Names that cannot be looked up are
// returned unchanged, because the API knows further names.
func meantObject(c *frame.Visit, pick form.Pick, text string) (identity string, problem *form.Words) {
	switch {
	case say.IsGUID(text), strings.Contains(strings.ToUpper(text), "DC="), strings.HasPrefix(text, "S-1-"):
		return text, nil
	case pick == form.Unit:
		return meantUnit(c, text)
	case searched[pick] == "":
		return text, nil
	}
	plain, domain := text, ""
	if before, after, has := strings.Cut(text, `\`); has {
		plain, domain = after, before
	}
	all, ok := pickHits(c, pick, text)
	if !ok {
		all = nil
	}
	exact := named(all, plain)
	if open := strings.LastIndex(plain, " ("); len(exact) == 0 && open > 0 && strings.HasSuffix(plain, ")") {
		logon := plain[open+2 : len(plain)-1]
		more, found := pickHits(c, pick, logon)
		ok, all = ok || found, append(all, more...)
		exact = named(more, logon)
	}
	switch {
	case len(exact) == 1:
		return exact[0].Text("guid"), nil
	case len(exact) > 1:
		return "", wordsOfPick(c, "pick.several", "name", text, "names", namesOf(exact))
	case !ok, strings.Contains(text, "@"), domain != "" && len(all) == 0: // it may belong to another domain
		return text, nil
	case len(all) > 0:
		return "", wordsOfPick(c, "pick.near", "name", text, "names", namesOf(all))
	}
	return "", wordsOfPick(c, "pick.none", "name", text)
}

// plainAccount returns an account name without its domain.
func plainAccount(text string) string {
	if _, after, has := strings.Cut(text, `\`); has {
		return after
	}
	return text
}

// Meant returns the identity of an object by a name that people use, or the problem with that name.
func Meant(c *frame.Visit, pick form.Pick, text string) (identity string, problem *form.Words) {
	return meantObject(c, pick, text)
}

// named returns the hits with the given name. If the name is the logon name of a hit, named returns only that
// hit.
func named(hits []say.Record, name string) (all []say.Record) {
	for _, hit := range hits {
		if strings.EqualFold(strings.TrimSuffix(hit.Text("username"), "$"), name) {
			return []say.Record{hit}
		}
		for _, field := range []string{"displayName", "name", "emailAddress"} {
			if strings.EqualFold(hit.Text(field), name) {
				all = append(all, hit)
				break
			}
		}
	}
	return all
}

func meantUnit(c *frame.Visit, text string) (string, *form.Words) {
	all := pickUnits(c)
	if len(all) == 0 {
		return text, nil
	}
	var exact, near []string
	for _, dn := range all {
		path := say.PathText(dn)
		switch {
		case strings.EqualFold(path, text):
			return dn, nil
		case strings.EqualFold(say.LastOf(path), text):
			exact = append(exact, dn)
		case strings.Contains(folded(path), folded(text)):
			near = append(near, dn)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(exact) > 1:
		return "", wordsOfPick(c, "pick.several", "name", text, "names", pathsOf(exact))
	case len(near) > 0:
		return "", wordsOfPick(c, "pick.near", "name", text, "names", pathsOf(near))
	}
	return "", wordsOfPick(c, "pick.none", "name", text)
}

const mostNear = 3

func namesOf(hits []say.Record) string {
	var all []string
	for _, hit := range hits[:min(len(hits), mostNear)] {
		all = append(all, pickValue(hit))
	}
	return strings.Join(all, ", ")
}

func pathsOf(dns []string) string {
	var all []string
	for _, dn := range dns[:min(len(dns), mostNear)] {
		all = append(all, say.PathText(dn))
	}
	return strings.Join(all, ", ")
}

// wordsOfPick returns a text in all languages.
func wordsOfPick(c *frame.Visit, key string, pairs ...any) *form.Words {
	var all form.Words
	for lang := range all {
		all[lang] = texts.Of(key, pairs...).In(texts.Lang(lang))
	}
	return &all
}

// folded returns a text for comparisons that ignore case.
func folded(text string) string { return strings.ToLower(text) }

// nameOfPicked returns the name of an object by its identity.
func nameOfPicked(c *frame.Visit, pick form.Pick, identity string) string {
	if pick == form.Unit || strings.Contains(identity, "DC=") {
		return say.LastOf(say.PathText(identity))
	}
	reader, known := readers[pick]
	if pick == form.Holder {
		for _, each := range []form.Pick{form.Person, form.Group} {
			if name := nameOfPicked(c, each, identity); name != identity {
				return name
			}
		}
	}
	if !known {
		return identity
	}
	for _, r := range frame.Records[say.Record](c.Get(reader[0], reader[1], identity)) {
		if name := say.NameIn(r); name != "" {
			return name
		}
	}
	return identity
}
