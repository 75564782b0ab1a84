package ui

import (
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
)

// branch is an organizational unit in the tree.
type branch struct {
	Name, Path, Description string
	Open, Current           bool
	Below                   []branch
}

// treePage is the tree of organizational units.
type treePage struct {
	acts
	Tree   []branch
	Name   string // name of the unit that is shown; empty if no unit is shown
	Crumbs []frame.Link
	Facts  []say.Fact
	Lists  []partList
}

// partList is a list on the page of another object.
type partList struct {
	Title texts.Text
	Heads []table.Head
	Rows  []table.ListRow
	Total int    // number of rows, including those that are not shown
	More  string // address of the whole list; empty if all rows are shown
	Empty texts.Text
}

// treeOf builds the tree of the units. Current is the distinguished name of the unit that is open.
func treeOf(all []say.Record, current string) []branch {
	below := map[string][]say.Record{}
	known := map[string]bool{}
	for _, r := range all {
		known[strings.ToUpper(r.Text("path"))] = true
	}
	for _, r := range all {
		parent := ""
		if parts := say.SplitDN(r.Text("path")); len(parts) > 1 {
			if above := strings.ToUpper(strings.Join(parts[1:], ",")); known[above] {
				parent = above
			}
		}
		below[parent] = append(below[parent], r)
	}
	var grow func(parent string) []branch
	grow = func(parent string) (branches []branch) {
		rows := below[parent]
		slices.SortFunc(rows, func(a, b say.Record) int { return say.CompareTexts(a.Text("name"), b.Text("name")) })
		for _, r := range rows {
			dn := r.Text("path")
			one := branch{Name: r.Text(
				"name",
			), Path: say.Address("ous", dn), Description: r.Text("description"), Below: grow(strings.ToUpper(dn))}
			one.Current = strings.EqualFold(dn, current)
			open := slices.ContainsFunc(one.Below, func(b branch) bool { return b.Open })
			one.Open = open || one.Current || parent == ""
			branches = append(branches, one)
		}
		return branches
	}
	return grow("")
}

// readTree reads the organizational units.
func readTree(c *frame.Visit) *frame.Answer {
	return c.Listed(frame.List{Operation: "ou.list", Key: "guid", Before: frame.ByName, Values: call.Values{}})
}

// showTree shows all organizational units.
func showTree(c *frame.Visit) {
	shown := frame.Page{Title: texts.Of("page.ous"), Section: "ous"}
	found := readTree(c)
	status := http.StatusOK
	if shown.Alert = frame.AlertOf(found); shown.Alert != nil {
		status = found.Status
	}
	shown.Body = treePage{Tree: treeOf(frame.Records[say.Record](found), "")}
	c.Page(status, "ou", shown)
}

// showOU shows an organizational unit and the objects in it.
func showOU(c *frame.Visit) {
	dn := c.R.PathValue("path")
	one, all, guard := &frame.Answer{}, &frame.Answer{}, guarding{}
	parts := make([]*frame.Answer, len(partsOfOU))
	reads := []func(){
		func() {
			one = c.Get("ou.get", "OUPath", dn)
			for _, r := range frame.Records[say.Record](one) {
				guard = guardOfUnit(c, r.Text("guid"))
			}
		},
		func() { all = readTree(c) },
	}
	for i, path := range partsOfOU {
		l := inOU(path, dn)
		reads = append(reads, func() {
			if c.May(l.Scope) {
				parts[i], _ = table.ReadListing(c, table.Asked{List: l})
			}
		})
	}
	frame.SideBySide(reads...)
	r := c.One(one)
	if r == nil {
		return
	}
	body := treePage{
		Tree: treeOf(frame.Records[say.Record](all), dn), Name: r.Text("name"), Facts: say.FactsOf(r, ouFacts),
	}
	body.acts = actsOn(c, frame.KindAt("ous"), dn, r, guard)
	levels := say.SplitDN(dn)
	for i := 1; i < len(levels); i++ {
		above := strings.Join(levels[i:], ",")
		if names := say.PathOf(above); len(names) > 0 {
			body.Crumbs = append(
				[]frame.Link{{Path: say.Address("ous", above), Text: texts.Raw(names[len(names)-1])}}, body.Crumbs...,
			)
		}
	}
	for i, path := range partsOfOU {
		if parts[i] != nil && parts[i].Ok() {
			body.Lists = append(body.Lists, partOf(inOU(path, dn), frame.Records[say.Record](parts[i])))
		}
	}
	lookedAt(c, frame.KindAt("ous"), dn, r.Text("name"))
	c.Page(http.StatusOK, "ou", frame.Page{Title: texts.Raw(r.Text("name")), Section: "ous", Body: body})
}

// partsOfOU contains the lists on the page of an organizational unit, in order.
var partsOfOU = []string{"people", "groups"}

// inOU returns the list of the people or groups in an organizational unit. The list is read completely.
func inOU(path, dn string) *table.Listing {
	of := listingAt(path)
	operation, name := map[string]string{"people": "user.list", "groups": "group.list"}[path], say.NameOfDN(dn)
	return &table.Listing{
		Path: path, Within: frame.Link{Path: say.Address("ous", dn), Text: texts.Raw(name)}, Section: "ous",
		Scope: of.Scope, Operation: operation, Fixed: map[string]string{"OUPath": dn},
		Key: of.Key, Before: frame.ByName,
		Columns: slices.DeleteFunc(
			slices.Clone(of.Columns), func(col table.Column) bool { return col.Name == "ou" },
		),
	}
}

// partOf returns the part of a page for a list. It has the first rows and the address of the whole list.
func partOf(l *table.Listing, all []say.Record) partList {
	a := table.Asked{List: l}
	part := partList{Title: texts.Of("page." + l.Path), Empty: texts.Of("list.none"), Total: len(all)}
	all = a.Sorted(all)
	if len(all) > table.PerPage {
		all, part.More = all[:table.PerPage], l.Address()
	}
	whole := table.ListPage{}
	for _, col := range l.Columns {
		part.Heads = append(part.Heads, table.Head{Text: texts.Of("column." + col.Name), Class: col.Class})
	}
	whole.Fill(a, all, true, "")
	part.Rows = whole.Rows
	return part
}

// ouFacts are the facts about an organizational unit.
var ouFacts = []say.FactRow{
	{Label: "description", Show: say.Plainly("description")},
	{Label: "protected", Show: say.Flagged("protected")},
	{Label: "created", Show: say.At("created")},
	{Label: "modified", Show: say.At("modified")},
}

// zonePage is the page of a zone.
type zonePage struct {
	acts
	Facts   []say.Fact
	Records partList
}

// showZone shows a zone and its records.
func showZone(c *frame.Visit) {
	name := c.R.PathValue("zone")
	zone, found, guard := &frame.Answer{}, &frame.Answer{}, guarding{}
	frame.SideBySide(
		func() { zone = c.Get("zone.get", "ZoneName", name) },
		func() { guard = guardOfRecords(c, name, "") },
		func() {
			found, _ = table.ReadListing(c, table.Asked{List: recordsOf(name)})
		},
	)
	r := c.One(zone)
	if r == nil {
		return
	}
	body := zonePage{Facts: say.FactsOf(r, zoneFacts)}
	body.acts = actsOn(c, frame.KindAt("zones"), name, r, guard)
	shown := frame.Page{Title: texts.Raw(r.Text("zoneName")), Section: "zones"}
	status := http.StatusOK
	if shown.Alert = frame.AlertOf(found); shown.Alert != nil {
		status = found.Status
	} else {
		body.Records = partOf(recordsOf(name), frame.Records[say.Record](found))
	}
	shown.Body = body
	lookedAt(c, frame.KindAt("zones"), r.Text("zoneName"), r.Text("zoneName"))
	c.Page(status, "zone", shown)
}

func byRecord(a, b say.Record) bool { return a.Text("name") < b.Text("name") }

var zoneFacts = []say.FactRow{
	{Label: "kind", Show: say.Flagged("zoneType", "lookup")},
	{Label: "dynamicUpdate", Show: say.Flagged("dynamicUpdate")},
	{Label: "replication", Show: say.Plainly("replicationScope")},
	{Label: "account", Show: say.Flagged("paused", "readOnly", "signed")},
}

// recordsOf returns the list of a zone's records.
func recordsOf(zone string) *table.Listing {
	return &table.Listing{
		Path: "records", Within: frame.Link{
			Path: say.Address("zones", zone), Text: texts.Raw(zone),
		}, Section: "zones",
		Scope: identity.DNSRead, Operation: "record.listZone", Fixed: map[string]string{"ZoneName": zone},
		Before: byRecord,
		Columns: []table.Column{
			{Name: "name", Class: "nm", Cell: func(r say.Record) table.Cell {
				page := recordSetAt(zone, r.Text("name"), r.Text("type"))
				return table.Cell{Text: texts.Raw(r.Text("name")), Link: page}
			}, Order: "name hostName"},
			{Name: "recordType", Cell: table.TextCell("type", "recordType"), Order: "type"},
			{Name: "data", Class: "long", Cell: table.TextCell("data", "target", "address", "value"), Order: "data"},
			{Name: "ttl", Class: "num", Cell: table.TextCell("ttl", "timeToLive")},
			{Name: "stamped", Class: "num", Cell: table.TimeCell("timestamp")},
		},
	}
}
