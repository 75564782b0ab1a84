package history

import (
	"encoding/json"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// isAbout reports whether the change affects an object, given any name of the object before or
// after the change.
func (p *past) isAbout(name string) bool {
	wanted := strings.Trim(name, "{}")
	if p.made.Op.Lane == ps.DNS {
		wanted = strings.TrimSuffix(wanted, ".")
	}
	path, isPath := schema.ParsePath(wanted)
	return slices.ContainsFunc(p.names(), func(own string) bool {
		account, isComputer := strings.CutSuffix(own, "$")
		if isComputer && strings.EqualFold(account, wanted) {
			return true
		}
		if ownPath, ok := schema.ParsePath(own); isPath && ok {
			return slices.Equal(ownPath, path)
		}
		return own != "" && strings.EqualFold(own, wanted)
	})
}

// names returns the names of a change's objects, before and after the change. Names may be empty.
func (p *past) names() []string {
	var all []string
	for i := range p.Intent.Objects {
		object := &p.Intent.Objects[i]
		all = append(all, object.GUID, object.DN, object.Account, object.Principal, object.Name)
		all = append(all, object.Names...)
		if object.DN == "" {
			all = append(all, change.NameOfNew(p.made.Op.Reply.Shape, object))
		}
		for _, c := range change.Announced(object) {
			if slices.Contains(nameAttributes, c.Name) {
				all = append(all, c.Before, c.After)
			}
		}
		all = append(all, change.NameAfter(object))
		if len(object.Record) > 0 { // the object was removed
			var record map[string]json.RawMessage
			_ = json.Unmarshal(object.Record, &record) // stays empty unless it is an object
			all = append(all, changes.NamesIn(record)...)
		}
		if p.made.Op.Lane == ps.DNS {
			all = append(all, p.dnsNames(object)...)
		}
	}
	return all
}

// nameAttributes lists the attributes whose announced changes rename an object.
var nameAttributes = []string{"sAMAccountName", "userPrincipalName", "name"}

// dnsNames returns the zones and owners in an announcement: full names, and names within the zone.
func (p *past) dnsNames(object *ps.Intended) []string {
	owners := []string{object.DN}
	for _, c := range object.Changes {
		if strings.Contains(c.Name, " ") { // the name of a record's change consists of name, type and data
			owners = append(owners, strings.TrimPrefix(c.Name, "ttl "))
		}
	}
	zones := []string{p.Zone, object.Parent}
	all := slices.Clone(zones)
	for _, owner := range owners {
		owner, _, _ = strings.Cut(owner, " ")
		owner = strings.TrimSuffix(owner, ".")
		all = append(all, owner)
		for _, zone := range zones {
			at := len(owner) - len(zone) - 1
			if zone != "" && at > 0 && strings.EqualFold(owner[at:], "."+zone) {
				all = append(all, owner[:at])
			}
		}
	}
	return all
}
