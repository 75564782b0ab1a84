package ui

import (
	"net/http"
	"strconv"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// acts contains the actions of a page.
type acts struct {
	offers
	guarding
}

// actsOn returns the actions that the person may use on an object of a kind, given its guard.
func actsOn(c *frame.Visit, k *frame.Kind, id string, r say.Record, guard guarding) acts {
	o := &object{Kind: k, GUID: id, record: r, inline: map[string]*action{}, guarding: guard}
	offerActions(c, o)
	o.sortOut()
	return acts{o.offers, o.guarding}
}

// thingPage is the page of an object other than an account, such as a deleted object or the records of a
// name.
type thingPage struct {
	acts
	Crumbs  []frame.Link
	Facts   []say.Fact
	Rows    []valueRow
	Changes []madeRow
	Unread  []texts.Text
	// AllChanges is the address of the list of all changes. It is empty if the page shows all of them.
	AllChanges string
}

// valueRow is a DNS record on a page.
type valueRow struct {
	Data, TTL, Stamped string
	Edit               string // address of the form; empty if the person may not edit the record
	Remove             *actionForm
	Guard              texts.Text // why this record's guard withholds the actions; nil if it does not
}

// showDeleted shows a deleted object.
func showDeleted(c *frame.Visit) {
	guid := c.R.PathValue("guid")
	r := c.One(c.Get("bin.get", "Guid", guid))
	if r == nil {
		return
	}
	body := thingPage{
		Crumbs: []frame.Link{{Path: say.Address("bin"), Text: texts.Of("page.bin")}},
		Facts:  say.FactsOf(r, deletedFacts),
	}
	restore := form.Of("bin.restore")
	if r["restorable"] == true && work.MayDo(c, restore.Op) {
		back := say.Address("bin")
		body.Forms = []actionForm{{
			ID: "restore", Label: texts.Each(restore.Label),
			Link: work.DoAddress("bin.restore", "Guid", guid, work.BackName, back),
		}}
	}
	c.Page(http.StatusOK, "thing", frame.Page{Title: texts.Raw(r.Text("name")), Section: "bin", Body: body})
}

var deletedFacts = []say.FactRow{
	{Label: "kind", Show: say.Flagged("type")},
	{Label: "accountName", Show: say.Plainly("account")},
	{Label: "organizationalUnit", Show: say.Unit("lastOUPath")},
	{Label: "deleted", Show: say.At("deletedAbout")},
	{Label: "until", Show: say.At("expiresAbout")},
	{Label: "restorable", Show: say.Flagged("restorable")},
	{Label: "whyNot", Show: say.Plainly("why")},
	{Label: "removal", Show: func(r say.Record) say.Fact {
		if id := r.Text("changeId"); id != "" {
			return say.Fact{Text: texts.Of("change.earlier"), Link: say.Address("changes", id)}
		}
		return say.Fact{}
	}},
}

// writable reports whether the records of a zone can be changed.
func writable(r say.Record) bool { return r["zoneType"] == "Primary" && r["readOnly"] != true }

func forward(r say.Record) bool { return writable(r) && r["lookup"] == "Forward" }
func reverse(r say.Record) bool { return writable(r) && r["lookup"] == "Reverse" }

// recordSetAt returns the address of the page that shows the records with the given name and type.
func recordSetAt(zone, name, kind string) string {
	return say.Address("zones", zone, "records", name, kind)
}

// identityOf returns the parameters that identify a record in an operation, as alternating names and values.
// It returns nil if the record cannot be identified.
func identityOf(f *form.Form, of *schema.RecordType, r say.Record) (pairs []string) {
	if of == nil {
		return nil
	}
	data, wrong := of.Listed(r.Text("data"))
	if wrong != nil || len(data) != len(of.Fields) {
		return nil
	}
	values := map[string]string{"DNS_HostName": r.Text("name"), "ZoneName": r.Text("zone")}
	for i, field := range of.Fields {
		values[field.Name] = data[i]
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		switch value, known := values[field.Name]; {
		case known:
			pairs = append(pairs, field.Name, value)
		case field.Required && !strings.HasPrefix(field.Name, newValue):
			return nil
		}
	}
	return pairs
}

// newValue is the prefix of parameters with the new values of a record.
const newValue = "New"

// showRecordSet shows the records with the given name and type.
func showRecordSet(c *frame.Visit) {
	zone, name, kind := c.R.PathValue("zone"), c.R.PathValue("name"), c.R.PathValue("type")
	of := schema.RecordTypeNamed(strings.ToUpper(kind))
	var zones, found, made *frame.Answer
	var guard guarding
	fqdn := strings.TrimPrefix(name+"."+zone, "@.")
	frame.SideBySide(
		func() { zones = c.Get("zone.get", "ZoneName", zone) },
		func() {
			found = c.Listed(frame.List{Operation: "record.listZone", Before: byRecord, Values: call.Values{
				"ZoneName": zone, "DNS_HostName": name, "Type": kind,
			}})
			guard = guardOfRecords(c, zone, name, targetsOf(of, frame.Records[say.Record](found))...)
		},
		func() {
			if c.May(identity.ChangeRead) {
				made = c.Listed(frame.List{
					Operation: "change.list", Key: "id", Before: frame.Newest, Most: 10, Values: call.Values{"Object": fqdn},
				})
			}
		},
	)
	if !found.Ok() {
		c.Failed(found)
		return
	}
	in := c.One(zones)
	if in == nil {
		return
	}
	page := recordSetAt(zone, name, kind)
	body := thingPage{Crumbs: []frame.Link{
		{Path: say.Address("zones"), Text: texts.Of("page.zones")},
		{Path: say.Address("zones", zone), Text: texts.Raw(zone)},
	}, acts: acts{guarding: guard}}
	row := strings.ToLower(kind)
	add, edit, remove := form.Of(row+".create"), form.Of(row+".change"), form.Of(row+".delete")
	may := func(f *form.Form) bool {
		return f != nil && writable(in) && work.MayDo(c, f.Op) && !body.guards(c, whyChanged, f.Op)
	}
	for _, r := range frame.Records[say.Record](found) {
		shown := valueRow{Data: r.Text("data"), Stamped: r.Text("timestamp")}
		if n, is := r.Number("ttl"); is {
			shown.TTL = strconv.Itoa(n)
		}
		if may(remove) && guard.leadsTo(c, strings.ToLower(r.Text("data")), remove.Op) {
			shown.Guard = texts.Of("record.guarded")
			body.Rows = append(body.Rows, shown)
			continue
		}
		if may(edit) {
			if pairs := identityOf(edit, of, r); pairs != nil {
				shown.Edit = work.DoAddress(edit.Op.ID, append(pairs, work.BackName, page)...)
			}
		}
		if may(remove) {
			shown.Remove = removeRecord(c, remove, of, r, say.Address("zones", zone))
		}
		body.Rows = append(body.Rows, shown)
	}
	if may(add) {
		body.Forms = append(body.Forms, actionForm{
			ID: "add", Label: texts.Each(add.Label),
			Link: work.DoAddress(add.Op.ID, "ZoneName", zone, "DNS_HostName", name, work.BackName, page),
		})
	}
	if made != nil && made.Ok() {
		body.Changes = madeRows(frame.Records[say.Record](made))
		body.AllChanges = table.Asked{List: listingAt("changes"), Object: fqdn}.Address()
	}
	title := texts.Of("record.title", "type", kind, "name", fqdn)
	shown := frame.Page{Title: title, Section: "zones", Body: body}
	if len(body.Rows) == 0 {
		shown.Empty = &frame.Empty{Text: texts.Of("record.none")}
	}
	c.Page(http.StatusOK, "thing", shown)
}

// targetsOf returns the names to which PTR records lead, in lower case. It returns nil for other records.
func targetsOf(of *schema.RecordType, all []say.Record) (targets []string) {
	if of == nil || of.Name != "PTR" {
		return nil
	}
	for _, r := range all {
		if name := strings.ToLower(r.Text("data")); name != "" && !strings.Contains(name, ",") {
			targets = append(targets, name)
		}
	}
	return targets
}

// removeRecord returns the action that deletes a record, or nil if the record cannot be identified.
func removeRecord(
	c *frame.Visit, f *form.Form, of *schema.RecordType, r say.Record, back string,
) *actionForm {
	pairs := identityOf(f, of, r)
	if pairs == nil {
		return nil
	}
	shown := &actionForm{
		ID: "delete", Label: texts.Of("object.remove"), Address: say.Address(say.DoPath, f.Op.ID),
		Says:   texts.Of("do.title", "action", texts.Of("object.remove"), "object", r.Text("data")),
		Inputs: []input{{Name: work.BackName, Type: "hidden", Value: back}},
	}
	for i := 0; i < len(pairs); i += 2 {
		shown.Inputs = append(shown.Inputs, input{Name: pairs[i], Type: "hidden", Value: pairs[i+1]})
	}
	shown.askWhy(c, f.Op.ID)
	return shown
}
