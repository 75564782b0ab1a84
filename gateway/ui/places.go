package ui

import (
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
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
	Tree   []branch
	Name   string // of the one that is shown; empty: none is
	Crumbs []link
	Facts  []fact
	Lists  []partList
}

// partList is a list that is part of a page.
type partList struct {
	Title texts.Text
	Heads []head
	Rows  []listRow
	Total int    // rows, shown or not
	More  string // address of the whole list; empty: all are shown
	Empty texts.Text
}

// treeOf makes a tree of the units. Current is the distinguished name of the one that is open.
func treeOf(all []record, current string) []branch {
	below := map[string][]record{}
	known := map[string]bool{}
	for _, r := range all {
		known[strings.ToUpper(r.Text("path"))] = true
	}
	for _, r := range all {
		parent := ""
		if parts := splitDN(r.Text("path")); len(parts) > 1 {
			if above := strings.ToUpper(strings.Join(parts[1:], ",")); known[above] {
				parent = above
			}
		}
		below[parent] = append(below[parent], r)
	}
	var grow func(parent string) []branch
	grow = func(parent string) (branches []branch) {
		rows := below[parent]
		slices.SortFunc(rows, func(a, b record) int { return compareTexts(a.Text("name"), b.Text("name")) })
		for _, r := range rows {
			dn := r.Text("path")
			one := branch{Name: r.Text(
				"name",
			), Path: address("ous", dn), Description: r.Text("description"), Below: grow(strings.ToUpper(dn))}
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
func readTree(c *visit) *answer {
	return c.listed(list{operation: "ou.list", key: "guid", before: byName, values: call.Values{}})
}

// showTree shows all organizational units.
func showTree(c *visit) {
	shown := page{Title: texts.Of("page.ous"), Section: "ous"}
	found := readTree(c)
	status := http.StatusOK
	if shown.Alert = alertOf(found); shown.Alert != nil {
		status = found.Status
	}
	shown.Body = treePage{Tree: treeOf(records[record](found), "")}
	c.page(status, "ou", shown)
}

// showOU shows an organizational unit, and who and what is in it.
func showOU(c *visit) {
	dn := c.r.PathValue("path")
	one, all := &answer{}, &answer{}
	parts := make([]*answer, len(partsOfOU))
	reads := []func(){
		func() { one = c.get("ou.get", "OUPath", dn) },
		func() { all = readTree(c) },
	}
	for i, path := range partsOfOU {
		l := inOU(path, dn)
		reads = append(reads, func() {
			if c.may(l.scope) {
				parts[i], _ = readListing(c, asked{list: l})
			}
		})
	}
	sideBySide(reads...)
	found := records[record](one)
	if !one.ok() || len(found) != 1 {
		c.failed(one)
		return
	}
	r := found[0]
	body := treePage{Tree: treeOf(records[record](all), dn), Name: r.Text("name"), Facts: factsOf(r, ouFacts)}
	levels := splitDN(dn)
	for i := 1; i < len(levels); i++ {
		above := strings.Join(levels[i:], ",")
		if names := pathOf(above); len(names) > 0 {
			body.Crumbs = append([]link{{address("ous", above), texts.Raw(names[len(names)-1])}}, body.Crumbs...)
		}
	}
	for i, path := range partsOfOU {
		if parts[i] != nil && parts[i].ok() {
			body.Lists = append(body.Lists, partOf(inOU(path, dn), records[record](parts[i])))
		}
	}
	lookedAt(c, kindAt("ous"), dn, r.Text("name"))
	c.page(http.StatusOK, "ou", page{Title: texts.Raw(r.Text("name")), Section: "ous", Body: body})
}

// partsOfOU are the lists of an organizational unit, in their order on its page.
var partsOfOU = []string{"people", "groups"}

// inOU returns the list of what is in an organizational unit. It is read whole.
func inOU(path, dn string) *listing {
	of := listingAt(path)
	operation, name := map[string]string{"people": "user.list", "groups": "group.list"}[path], nameOfDN(dn)
	return &listing{
		path: path, within: link{address("ous", dn), texts.Raw(name)}, section: "ous",
		scope: of.scope, operation: operation, fixed: map[string]string{"OUPath": dn},
		key: of.key, before: byName,
		columns: slices.DeleteFunc(slices.Clone(of.columns), func(col column) bool { return col.name == "ou" }),
	}
}

// partOf returns a list as a part of a page: its first rows, and where all are.
func partOf(l *listing, all []record) partList {
	a := asked{list: l}
	part := partList{Title: texts.Of("page." + l.path), Empty: texts.Of("list.none"), Total: len(all)}
	all = a.sorted(all)
	if len(all) > perPage {
		all, part.More = all[:perPage], l.address()
	}
	whole := listPage{}
	for _, col := range l.columns {
		part.Heads = append(part.Heads, head{Text: texts.Of("column." + col.name), Class: col.class})
	}
	whole.fill(a, all, true, "")
	part.Rows = whole.Rows
	return part
}

// ouFacts are the facts about an organizational unit.
var ouFacts = []factRow{
	{"description", plainly("description"), nil},
	{"protected", flagged("protected"), nil},
	{"created", at("created"), nil},
	{"modified", at("modified"), nil},
}

// zonePage is the page of a zone.
type zonePage struct {
	Facts   []fact
	Records partList
}

// showZone shows a zone and its records.
func showZone(c *visit) {
	name := c.r.PathValue("zone")
	zone, found := &answer{}, &answer{}
	sideBySide(
		func() { zone = c.get("zone.get", "ZoneName", name) },
		func() {
			found, _ = readListing(c, asked{list: recordsOf(name)})
		},
	)
	all := records[record](zone)
	if !zone.ok() || len(all) != 1 {
		c.failed(zone)
		return
	}
	body := zonePage{Facts: factsOf(all[0], zoneFacts)}
	shown := page{Title: texts.Raw(all[0].Text("zoneName")), Section: "zones"}
	status := http.StatusOK
	if shown.Alert = alertOf(found); shown.Alert != nil {
		status = found.Status
	} else {
		body.Records = partOf(recordsOf(name), records[record](found))
	}
	shown.Body = body
	lookedAt(c, kindAt("zones"), all[0].Text("zoneName"), all[0].Text("zoneName"))
	c.page(status, "zone", shown)
}

func byRecord(a, b record) bool { return a.Text("name") < b.Text("name") }

var zoneFacts = []factRow{
	{"kind", flagged("zoneType", "lookup"), nil},
	{"dynamicUpdate", flagged("dynamicUpdate"), nil},
	{"replication", plainly("replicationScope"), nil},
	{"account", flagged("paused", "readOnly", "signed"), nil},
}

// recordsOf returns the list of the records of a zone.
func recordsOf(zone string) *listing {
	return &listing{
		path: "records", within: link{address("zones", zone), texts.Raw(zone)}, section: "zones",
		scope: identity.DNSRead, operation: "record.listZone", fixed: map[string]string{"ZoneName": zone},
		before: byRecord,
		columns: []column{
			{"name", "nm", textCell("name", "hostName"), "name hostName"},
			{"recordType", "", textCell("type", "recordType"), "type"},
			{"data", "long", textCell("data", "target", "address", "value"), "data"},
			{"ttl", "num", textCell("ttl", "timeToLive"), ""},
			{"stamped", "num", timeCell("timestamp"), ""},
		},
	}
}
