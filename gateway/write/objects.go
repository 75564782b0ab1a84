package write

import (
	"cmp"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// locksOf returns the locks that an announced change of an operation needs. zone is the DNS zone of
// the change.
func locksOf(op *ops.Operation, zone string, i *ps.Intent) []lock {
	var all []lock
	member := memberOf(i)
	for n := range i.Objects {
		object := &i.Objects[n]
		guid := strings.ToLower(object.GUID)
		switch {
		case len(object.Changes) == 0:
		case op.Lane == ps.DNS: // the name of a record; records of a zone in a file have no DN
			all = append(all, lock{object: "dns " + strings.ToLower(cmp.Or(object.DN, zone))})
		case guid == "": // the directory makes sure that a new object is created only once
		case member != "" && changesMember(object):
			// The pair is sorted, so that two groups cannot become members of each other at the
			// same time.
			pair := []string{guid, member}
			slices.Sort(pair)
			all = append(all,
				lock{object: "member " + strings.Join(pair, " ")}, lock{guid, true}, lock{member, true})
		default:
			all = append(all, lock{object: guid})
			for _, c := range object.Changes { // the new members, too
				if added, is := strings.CutPrefix(c.Name, change.MemberPrefix); is {
					all = append(all, lock{strings.ToLower(added), true})
				}
			}
		}
	}
	return all
}

// memberOf returns the GUID of the member whose memberships are changed, or "". It is announced as
// an object without changes.
func memberOf(i *ps.Intent) string {
	at := slices.IndexFunc(i.Objects, func(o ps.Intended) bool { return len(o.Changes) == 0 })
	if at < 0 {
		return ""
	}
	return strings.ToLower(i.Objects[at].GUID)
}

// changesMember reports whether a change affects only the members of an object.
func changesMember(object *ps.Intended) bool {
	return !slices.ContainsFunc(object.Changes, func(c ps.IntendedChange) bool {
		return c.Name != change.Member
	})
}
