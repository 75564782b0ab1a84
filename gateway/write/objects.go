package write

import (
	"cmp"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// locksOf returns what an announced change of an operation, in a zone, locks.
func locksOf(op *ops.Operation, zone string, i *ps.Intent) []lock {
	var all []lock
	member := memberOf(i)
	for n := range i.Objects {
		object := &i.Objects[n]
		guid := strings.ToLower(object.GUID)
		switch {
		case len(object.Changes) == 0:
		case op.Lane == ps.DNS: // the name of a record; of a zone in a file only the announcement has it
			all = append(all, lock{object: "dns " + strings.ToLower(cmp.Or(object.DN, zone))})
		case guid == "": // of one to be created the directory sees to it that it is made once
		case member != "" && changesMember(object):
			// Either way round: of two groups, neither becomes a member of the other unseen.
			pair := []string{guid, member}
			slices.Sort(pair)
			all = append(all,
				lock{object: "member " + strings.Join(pair, " ")}, lock{guid, true}, lock{member, true})
		default:
			all = append(all, lock{object: guid})
			for _, c := range object.Changes { // of two groups, neither becomes a member of the other unseen
				if added, is := strings.CutPrefix(c.Name, change.MemberPrefix); is {
					all = append(all, lock{strings.ToLower(added), true})
				}
			}
		}
	}
	return all
}

// memberOf returns the GUID of the member whose memberships are changed: the object that is
// announced without a change of its own; empty if none is.
func memberOf(i *ps.Intent) string {
	at := slices.IndexFunc(i.Objects, func(o ps.Intended) bool { return len(o.Changes) == 0 })
	if at < 0 {
		return ""
	}
	return strings.ToLower(i.Objects[at].GUID)
}

// changesMember reports whether nothing of an object is changed but one of its members.
func changesMember(object *ps.Intended) bool {
	return !slices.ContainsFunc(object.Changes, func(c ps.IntendedChange) bool {
		return c.Name != change.Member
	})
}
