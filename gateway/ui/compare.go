package ui

import (
	"net/http"
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// comparePage shows the groups of two people.
type comparePage struct {
	Self, With string // addresses of the people's pages
	Path       string // of this page
	Typed      string
	Parts      []comparePart
}

// comparePart contains the groups of only one of the people, or of both.
type comparePart struct {
	Title texts.Text
	Rows  []compareRow
	None  texts.Text
}

// compareRow is a group, and the action that adds the other person to it.
type compareRow struct {
	Link, Name, Description string
	Add                     *actionForm
}

// compared is one of the two people.
type compared struct {
	record say.Record
	groups []say.Record
	failed *frame.Answer
}

func (p compared) name() string { return p.record.First("displayName", "name") }

// readCompared reads a person and the person's groups.
func readCompared(c *frame.Visit, who string) (found compared) {
	var read, groups *frame.Answer
	frame.SideBySide(
		func() { read = c.Get("user.get", "Username", who) },
		func() {
			groups = c.Listed(frame.List{
				Operation: "membership.list", Key: "guid", Before: frame.ByName, Values: call.Values{"Username": who},
			})
		},
	)
	for _, a := range []*frame.Answer{read, groups} {
		if !a.Ok() {
			found.failed = a
			return found
		}
	}
	for _, found.record = range frame.Records[say.Record](read) {
		found.groups = frame.Records[say.Record](groups)
	}
	return found
}

// compareGroups shows the groups that two people have in common, and those that only one of them has.
func compareGroups(c *frame.Visit) {
	k, guid := frame.KindOf("user"), c.R.PathValue("guid")
	body := comparePage{Self: k.At(guid), Path: k.At(guid, "compare"), Typed: c.R.URL.Query().Get("with")}
	shown := frame.Page{Title: texts.Of("compare.title"), Section: k.Path}
	if !c.May(identity.MemberRead) {
		c.Failed(&frame.Answer{Status: http.StatusForbidden, Error: &frame.Failure{Message: c.Say("step.noRole")}})
		return
	}
	other := guid
	if body.Typed != "" {
		meant, problem := work.Meant(c, form.Person, body.Typed)
		if problem != nil {
			shown.Alert = &frame.Alert{Text: texts.Each(*problem)}
		} else {
			other = meant
		}
	}
	var left, right compared
	frame.SideBySide(func() { left = readCompared(c, guid) }, func() {
		if other != guid {
			right = readCompared(c, other)
		}
	})
	for _, one := range []compared{left, right} {
		if one.failed != nil {
			c.Failed(one.failed)
			return
		}
	}
	shown.Title = texts.Of("compare.one", "one", left.name())
	if right.record != nil {
		shown.Title = texts.Of("compare.two", "one", left.name(), "other", right.name())
		body.With = k.At(right.record.Text("guid"))
		body.Parts = []comparePart{
			partOnly(c, k, left, right), partOnly(c, k, right, left),
			{Title: texts.Of("compare.both"), None: texts.Of("compare.none")},
		}
		for _, g := range left.groups {
			if has(right.groups, g) {
				body.Parts[2].Rows = append(body.Parts[2].Rows, compareRowOf(g))
			}
		}
	}
	shown.Body = body
	c.Page(http.StatusOK, "compare", shown)
}

func has(groups []say.Record, g say.Record) bool {
	return slices.ContainsFunc(groups, func(r say.Record) bool { return r.Text("guid") == g.Text("guid") })
}

func compareRowOf(g say.Record) compareRow {
	return compareRow{
		Link: frame.KindOf("group").At(g.Text("guid")), Name: g.Text("name"), Description: g.Text("description"),
	}
}

// partOnly returns the groups that one person has and the other does not.
func partOnly(c *frame.Visit, k *frame.Kind, one, other compared) comparePart {
	part := comparePart{
		Title: texts.Of("compare.only", "one", one.name(), "other", other.name()), None: texts.Of("compare.none"),
	}
	add := form.Of("membership.add")
	guid := other.record.Text("guid")
	may := work.MayDo(c, add.Op) && reaches(c, k, guid, add.Op.Scope)
	for _, g := range one.groups {
		if has(other.groups, g) {
			continue
		}
		row := compareRowOf(g)
		if may && g["primary"] != true {
			row.Add = &actionForm{
				ID: "join", Address: say.Address(say.DoPath, add.Op.ID),
				Label: texts.Of("compare.add", "who", other.name()),
				Says: texts.Each(add.Sentences(map[string]string{
					"Username": other.name(), "GroupName": g.Text("name"),
				})),
				Inputs: []input{
					{Name: "Username", Type: "hidden", Value: guid},
					{Name: "GroupName", Type: "hidden", Value: g.Text("guid")},
					{Name: work.BackName, Type: "hidden", Value: c.R.URL.RequestURI()},
				},
			}
			row.Add.askWhy(c, add.Op.ID)
		}
		part.Rows = append(part.Rows, row)
	}
	return part
}
