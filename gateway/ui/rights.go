package ui

import (
	"net/http"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// rightsPage shows a person's rights.
type rightsPage struct {
	Asks  bool   // the person may ask for the rights of others
	Typed string // name of the other person
	Roles []rightsRole
}

type rightsRole struct {
	Name   texts.Text
	Rights []rightsRow
	Limits []texts.Text
}

// rightsRow describes the actions that are allowed on a kind of object.
type rightsRow struct {
	What texts.Text
	May  texts.Text
}

// showRights shows the person's rights or, if the person has ops:read, those of another person. Roles are not
// merged, so each role is shown separately.
func showRights(c *frame.Visit) {
	body := rightsPage{Asks: c.May(identity.OpsRead) && c.May(identity.UserRead)}
	shown := frame.Page{Title: texts.Of("page.rights"), Section: "rights"}
	all := c.Principals
	if body.Asks {
		body.Typed = strings.TrimSpace(c.R.URL.Query().Get("who"))
	}
	if body.Typed != "" {
		name := ""
		all, name, shown.Alert = rightsOf(c, body.Typed)
		if name != "" {
			shown.Title, body.Typed = texts.Of("right.of", "name", name), name
		}
	}
	for i, p := range all {
		body.Roles = append(body.Roles, roleOf(i+1, p))
	}
	if len(body.Roles) == 0 {
		shown.Empty = &frame.Empty{Text: texts.Of("right.none")}
		if body.Typed != "" {
			shown.Empty.Text = texts.Of("right.none.other")
		}
	}
	shown.Body = body
	c.Page(http.StatusOK, "rights", shown)
}

// rightsOf returns the roles and the name of another person, or an alert if they cannot be determined.
func rightsOf(c *frame.Visit, who string) ([]*identity.Principal, string, *frame.Alert) {
	meant, problem := work.Meant(c, form.Person, who)
	if problem != nil {
		return nil, "", &frame.Alert{Text: texts.Each(*problem)}
	}
	read := c.Get("user.get", "Username", meant)
	if !read.Ok() {
		return nil, "", frame.AlertOf(read)
	}
	found := frame.Records[say.Record](read)
	if len(found) == 0 {
		return nil, "", &frame.Alert{Text: texts.Of("object.gone")}
	}
	all, err := c.Rights(c.R.Context(), found[0].Text("sid"))
	if err != nil {
		return nil, "", &frame.Alert{Text: texts.Of("right.unknown")}
	}
	return all, found[0].First("displayName", "name"), nil
}

// roleOf describes the rights of a role.
func roleOf(n int, p *identity.Principal) rightsRole {
	role := rightsRole{Name: texts.Of("right.role", "n", n)}
	var last string
	var may []texts.Text
	flush := func() {
		if len(may) > 0 {
			what := "right." + last
			if last == "ou" {
				what = "right.ou.all" // "right.ou" is the text of a limit
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
		role.Limits = append(role.Limits, texts.Of("right.ou", "path", say.PathText(ou)))
	}
	for _, zone := range p.Limits.Zones {
		role.Limits = append(role.Limits, texts.Of("right.zone", "zone", zone))
	}
	for _, group := range p.Limits.Groups {
		role.Limits = append(role.Limits, texts.Of("right.only.group", "group", say.NameOfDN(group)))
	}
	for _, name := range p.Limits.Names {
		role.Limits = append(role.Limits, texts.Of("right.only.name", "name", name))
	}
	return role
}
