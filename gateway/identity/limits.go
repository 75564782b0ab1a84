package identity

import "slices"

// Limits restrict what a principal can see and change. An empty list means no limit.
type Limits struct {
	OUs    []string `json:"ous,omitempty"`    // distinguished names, each including everything below
	Zones  []string `json:"zones,omitempty"`  // DNS zone names
	Groups []string `json:"groups,omitempty"` // sAMAccountNames, distinguished names or GUIDs of groups
	Names  []string `json:"names,omitempty"`  // DNS names; only records at or below these names may be changed
}

// Equal reports whether the limits are the same, in the same order.
func (l Limits) Equal(other Limits) bool {
	return slices.Equal(l.OUs, other.OUs) && slices.Equal(l.Zones, other.Zones) &&
		slices.Equal(l.Groups, other.Groups) && slices.Equal(l.Names, other.Names)
}

// Dialect is the shape of the responses that a client expects.
type Dialect string

// The dialects; empty means the server's default.
const (
	Standard Dialect = "standard"
	Classic  Dialect = "classic"
)
