package ops

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Image is the part of a removed or replaced object's state that its shown record lacks and that is needed to
// restore it.
type Image struct {
	Attributes map[string]string `json:"attributes,omitempty"` // keyed by the names of announced changes
	Members    []ImageMember     `json:"members,omitempty"`
	MemberOf   []ImageMember     `json:"memberOf,omitempty"`
	Records    []ImageRecord     `json:"records,omitempty"` // records of a name, or of a zone
	Incomplete bool              `json:"incomplete,omitempty"`
	// Restorable is "True" if the Recycle Bin keeps the removed object and "False" if not. It is empty if that
	// is unknown.
	Restorable string `json:"restorable,omitempty"`
}

// ImageMember is a member or a group in an image.
type ImageMember struct {
	GUID string `json:"guid"`
	DN   string `json:"dn"`
}

// ImageRecord is a DNS record in an image.
type ImageRecord struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Data      string `json:"data"`
	Zone      string `json:"zone"`
	FQDN      string `json:"fqdn"`
	TTL       int64  `json:"ttl"`
	Timestamp string `json:"timestamp"`
}

// ImageOf returns the image of an announced object.
func ImageOf(object *ps.Intended) Image {
	var image Image
	_ = json.Unmarshal(object.Image, &image) // image stays empty if there is none
	return image
}

// undoOfRecord returns the undo of a row for records of one type.
func undoOfRecord(t *schema.RecordType, verb string) Undo {
	switch verb {
	case "create":
		return Undo{Rows: []string{t.Resource + ".delete"}, Calls: func(d Done) []Undoing {
			given := Given{}
			for name, text := range d.Texts {
				switch name {
				case ttlParam, DryRun, PlanID, ReasonName: // of the earlier call
				case createPtr.Name:
					given[removePtr.Name] = text
				default:
					given[name] = text
				}
			}
			return d.all(t.Resource+".delete", given)
		}}
	case "delete":
		return Undo{Rows: []string{t.Resource + ".create"}, Loss: stampLost, Calls: func(d Done) []Undoing {
			var calls []Undoing
			for _, record := range ImageOf(d.object()).Records {
				if given := recordGiven(record); given != nil {
					calls = append(calls, Undoing{Row: rowOfType(record.Type) + ".create", Given: given,
						Undone: d.ofType(record.Type)})
				}
			}
			return calls
		}}
	case "change":
		return Undo{Rows: []string{t.Resource + ".change"}, Loss: stampLost,
			Calls: func(d Done) []Undoing { return undoRecordChange(t, d) }}
	}
	return Undo{}
}

// rowOfType returns the resource of a record type, or "" if records of the type cannot be written.
func rowOfType(name string) string {
	if t := schema.RecordTypeNamed(name); t != nil {
		return t.Resource
	}
	return ""
}

// ofType returns the announced changes of records of a type, including their times to live.
func (d Done) ofType(name string) []ps.Intended {
	object := *d.object()
	object.Changes = nil
	for _, c := range d.object().Changes {
		if words := strings.Fields(strings.TrimPrefix(c.Name, "ttl ")); len(words) > 1 && words[1] == name {
			object.Changes = append(object.Changes, c)
		}
	}
	return []ps.Intended{object}
}

// recordGiven returns the parameters that create a record, or nil if no row can.
func recordGiven(record ImageRecord) Given {
	t := schema.RecordTypeNamed(record.Type)
	if t == nil || t.Resource == "" {
		return nil
	}
	data, problem := t.Listed(record.Data)
	if problem != nil {
		return nil
	}
	given := Given{ownerParam: record.Name, zoneParam: record.Zone, ttlParam: strconv.FormatInt(record.TTL, 10)}
	for i, f := range t.Fields {
		given[f.Name] = data[i]
	}
	return given
}

// undoRecordChange reverts the change of a record, and removes a PTR record that came with it.
func undoRecordChange(t *schema.RecordType, d Done) []Undoing {
	images := ImageOf(d.object()).Records
	if len(images) == 0 {
		return nil
	}
	old, problem := t.Listed(images[0].Data)
	if problem != nil {
		return nil
	}
	given := Given{ownerParam: images[0].Name, zoneParam: images[0].Zone,
		ttlParam: strconv.FormatInt(images[0].TTL, 10)}
	now := slices.Clone(old)
	for i, f := range t.Fields {
		if text := d.Texts["New"+f.Name]; text != "" {
			now[i] = text
		}
		given[f.Name], given["New"+f.Name] = now[i], old[i]
	}
	calls := []Undoing{{Row: t.Resource + ".change", Given: given, Undone: d.ofType(t.Name)}}
	if t.Address && d.Texts[createPtr.Name] == "true" {
		if pointers := d.ofType("PTR"); len(pointers[0].Changes) > 0 {
			given := Given{addressParam: now[0], "DNS_TargetName": d.object().DN}
			calls = append(calls, Undoing{Row: "ptr.delete", Given: given, Undone: pointers})
		}
	}
	return calls
}

// undoSet restores the previous state of a set, which may not have existed.
func undoSet(d Done) []Undoing {
	given := Given{zoneParam: d.Texts[zoneParam], ownerParam: d.Texts[ownerParam], "Type": d.Texts["Type"]}
	var data []string
	lowest := int64(-1)
	for _, record := range ImageOf(d.object()).Records {
		data = append(data, record.Data)
		if lowest < 0 || record.TTL < lowest {
			lowest = record.TTL
		}
	}
	if len(data) == 0 {
		return d.all("recordSet.delete", given)
	}
	if rowOfType(d.Texts["Type"]) == "" { // such records cannot be written
		return nil
	}
	given["Data"], given[ttlParam] = schema.TextsOf(data), strconv.FormatInt(lowest, 10)
	return d.all("recordSet.put", given)
}

// recordsBack is the undo of a removal of several records, each announced as an object. Each is
// created again by the row of its type.
var recordsBack = Undo{Rows: creatingRows(), Loss: stampLost, Calls: func(d Done) []Undoing {
	var calls []Undoing
	for _, object := range d.Intent.Objects {
		records := ImageOf(&object).Records
		if len(records) != 1 || len(object.Changes) == 0 {
			continue
		}
		if of := records[0]; of.Type == "NS" { // the zone's own name servers
			ttl := strconv.FormatInt(of.TTL, 10)
			given := Given{zoneParam: of.Zone, serverParam: of.Data, ttlParam: ttl}
			calls = append(calls, Undoing{Row: "nameServer.create", Given: given, Undone: []ps.Intended{object}})
			continue
		}
		if given := recordGiven(records[0]); given != nil {
			row := rowOfType(records[0].Type) + ".create"
			calls = append(calls, Undoing{Row: row, Given: given, Undone: []ps.Intended{object}})
		}
	}
	return calls
}}

// creatingRows returns the rows that create records.
func creatingRows() []string {
	rows := []string{"nameServer.create"}
	for _, t := range schema.RecordTypes {
		if t.Resource != "" {
			rows = append(rows, t.Resource+".create")
		}
	}
	return rows
}

// stampLost describes the loss that dynamic records come back as static ones.
func stampLost(d Done) string {
	for i := range d.Intent.Objects {
		for _, record := range ImageOf(&d.Intent.Objects[i]).Records {
			if record.Timestamp != "" && record.Type != "SOA" {
				return "the time stamps of dynamic records"
			}
		}
	}
	return ""
}

// sameZone returns the zone that a change was about.
func sameZone(d Done) Given { return Given{zoneParam: d.Texts[zoneParam]} }

// emptyZone returns the undo of the creation of a zone. The zone may then contain only its SOA and NS
// records.
func emptyZone(row, param, created string, more Given) Undo {
	return called(row, func(d Done) Given {
		given := Given{param: d.Texts[created]}
		maps.Copy(given, more)
		return given
	})
}

// zoneBack returns the undo of the removal of a zone, which creates the zone again with its records.
func zoneBack(row string) Undo {
	return Undo{
		Rows: []string{row},
		Covers: func(d Done, _ ps.IntendedChange) bool {
			image := ImageOf(d.object())
			return len(image.Records) > 0 && !image.Incomplete && image.Attributes["zoneType"] == "Primary"
		},
		Loss:  func(d Done) string { return zoneLoss(ImageOf(d.object()), row) },
		Calls: func(d Done) []Undoing { return zoneCalls(d, row) },
	}
}

// zoneLoss describes the parts of a zone that its undo cannot restore.
func zoneLoss(image Image, row string) string {
	var lost []string
	if row == "reverseZone.create" {
		isFile := image.Attributes["replicationScope"] == "File"
		if scope := image.Attributes["replicationScope"]; scope != "Domain" && !isFile {
			lost = append(lost, "the replication scope "+scope)
		}
		if update := image.Attributes["dynamicUpdate"]; update != map[bool]string{true: "None",
			false: "Secure"}[isFile] {
			lost = append(lost, "the dynamic updates "+update)
		}
	}
	dynamic, other := 0, 0
	for _, record := range image.Records {
		atApex := record.Name == "@" && (record.Type == "SOA" || record.Type == "NS")
		switch {
		case atApex:
		case rowOfType(record.Type) == "":
			other++
		case record.Timestamp != "":
			dynamic++
		}
	}
	if dynamic > 0 {
		lost = append(lost, fmt.Sprintf("the time stamps of %d dynamic records", dynamic))
	}
	if other > 0 {
		lost = append(lost, fmt.Sprintf("%d records of types that are not written here", other))
	}
	return strings.Join(lost, ", ")
}

// zoneCalls returns the calls that create a zone, and its records set by set.
func zoneCalls(d Done, row string) []Undoing {
	image := ImageOf(d.object())
	name := image.Attributes["zoneName"]
	given := Given{zoneParam: name, "ReplicationScope": image.Attributes["replicationScope"],
		"DynamicUpdate": image.Attributes["dynamicUpdate"]}
	if partition := image.Attributes["directoryPartition"]; partition != "" {
		given["DirectoryPartition"] = partition
	}
	if row == "reverseZone.create" {
		given = Given{"NetworkID": networkOf(name)}
	}
	calls := []Undoing{{Row: row, Given: given, Undone: d.Intent.Objects}}
	sets := map[string][]ImageRecord{}
	var order []string
	for _, record := range image.Records {
		if rowOfType(record.Type) == "" {
			continue
		}
		key := strings.ToLower(record.Name) + " " + record.Type
		if sets[key] == nil {
			order = append(order, key)
		}
		sets[key] = append(sets[key], record)
	}
	for _, key := range order {
		records := sets[key]
		var data []string
		for _, record := range records {
			data = append(data, record.Data)
		}
		calls = append(calls, Undoing{Row: "recordSet.put", Blind: true, Given: Given{
			zoneParam: name, ownerParam: records[0].Name, "Type": records[0].Type, "Data": schema.TextsOf(data),
			ttlParam: strconv.FormatInt(records[0].TTL, 10),
		}})
	}
	return calls
}

// networkOf returns the network of a reverse zone in CIDR form, or "" if it has none.
func networkOf(zone string) string {
	name, v4 := strings.CutSuffix(strings.ToLower(zone), ".in-addr.arpa")
	if v4 {
		octets := strings.Split(name, ".")
		slices.Reverse(octets)
		bits := 8 * len(octets)
		for len(octets) < 4 {
			octets = append(octets, "0")
		}
		return strings.Join(octets, ".") + "/" + strconv.Itoa(bits)
	}
	name, v6 := strings.CutSuffix(strings.ToLower(zone), ".ip6.arpa")
	if !v6 {
		return ""
	}
	nibbles := strings.Split(name, ".")
	slices.Reverse(nibbles)
	bits := 4 * len(nibbles)
	for len(nibbles) < 32 {
		nibbles = append(nibbles, "0")
	}
	var text strings.Builder
	for i, nibble := range nibbles {
		if i > 0 && i%4 == 0 {
			text.WriteByte(':')
		}
		text.WriteString(nibble)
	}
	address, err := netip.ParseAddr(text.String())
	if err != nil {
		return ""
	}
	return netip.PrefixFrom(address, bits).String()
}

// forwarderBack returns the parameters that create a conditional forwarder as it was.
func forwarderBack(d Done) Given {
	var record struct {
		ZoneName         string   `json:"zoneName"`
		MasterServers    []string `json:"masterServers"`
		ForwarderTimeout int64    `json:"forwarderTimeout"`
		UseRecursion     bool     `json:"useRecursion"`
		ReplicationScope string   `json:"replicationScope"`
		Partition        string   `json:"directoryPartition"`
	}
	_ = json.Unmarshal(d.object().Record, &record) // without it the call is refused
	given := Given{
		zoneParam: record.ZoneName, "MasterServers": schema.ListOf(record.MasterServers),
		"ForwarderTimeout": strconv.FormatInt(record.ForwarderTimeout, 10),
		"UseRecursion":     strconv.FormatBool(record.UseRecursion), "ReplicationScope": record.ReplicationScope,
	}
	if record.ReplicationScope == "Custom" {
		given["DirectoryPartition"] = record.Partition
	}
	return given
}

// delegationBack returns the calls that delegate a name to each of its servers again.
func delegationBack(d Done) []Undoing {
	var calls []Undoing
	for _, object := range d.Intent.Objects {
		var record struct {
			ZoneName    string   `json:"zoneName"`
			ChildName   string   `json:"childName"`
			NameServer  string   `json:"nameServer"`
			IPAddresses []string `json:"ipAddresses"`
		}
		if json.Unmarshal(object.Record, &record) != nil {
			continue
		}
		calls = append(calls, Undoing{
			Row: "delegation.create", Undone: []ps.Intended{object},
			Given: Given{zoneParam: record.ZoneName, childParam: record.ChildName, serverParam: record.NameServer,
				"IP_Address": schema.ListOf(record.IPAddresses)},
		})
	}
	return calls
}

// madeDelegation is the undo of a new delegation: its removal.
var madeDelegation = called("delegation.delete", func(d Done) Given {
	return Given{zoneParam: d.Texts[zoneParam], childParam: d.Texts[childParam], serverParam: d.object().Name}
})
