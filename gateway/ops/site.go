package ops

import (
	"slices"
	"time"

	"adgateway/gateway/attributes"
	"adgateway/gateway/schema"
)

// Extended returns the table of a gateway whose settings add attributes of users: fields of their
// records, inputs of their creation and changes, and fields of their filters. [Check] detects
// duplicates in the result. Dates without a time are days in zone.
func Extended(sites []attributes.Site, zone *time.Location) []*Operation {
	if len(sites) == 0 && zone == time.UTC {
		return table
	}
	added := make([]*attributes.Attribute, len(sites))
	for i, site := range sites {
		added[i] = site.Attribute()
	}
	users, inputs := schema.Extend(added), attributeInputs(added)
	extended := make([]*Operation, len(table))
	for i, op := range table {
		copied := *op
		copied.Reply.Shape = users.Of(op.Reply.Shape)
		copied.Params = slices.Clone(op.Params)
		for j := range copied.Params {
			copied.Params[j].Kind = schema.InZone(users.Kind(op.Params[j].Kind), zone)
		}
		if slices.ContainsFunc(op.Params, func(p Param) bool { return p.Name == attributes.Users[0].Input }) {
			copied.Params = append(copied.Params, inputs...)
		}
		extended[i] = &copied
	}
	return extended
}
