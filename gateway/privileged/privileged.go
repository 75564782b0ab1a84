// Package privileged describes the groups and names that are guarded because they give rights at this
// gateway, or because clients use them to find the gateway. Only callers with the scope privileged may change
// guarded objects. The [Kind]s are the complete list of reasons. The scripts find the objects that belong to
// guarded names, and refuse to change them. Their table of guards, which has a row for each kind, also lists
// the objects that are guarded in every domain.
package privileged

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"adgateway/gateway/identity"
)

// A Kind is a reason for guarding something. It is the key of a row in the scripts' table of
// guards.
type Kind string

// The kinds.
const (
	// groups that give the gateway's rights or contain its hosts; by default the groups of its accounts
	Own     Kind = "rights"
	Role    Kind = "role"    // groups whose members may use the gateway
	Limit   Kind = "limit"   // groups named in limits
	Gateway Kind = "gateway" // DNS names by which clients find the gateway
	Named   Kind = "named"   // other DNS names
)

// Script arguments that take the guarded names.
const (
	GroupArg = "GuardedGroup"
	NameArg  = "GuardedName"
)

// Source is the source of the guarded names for one reason.
type Source struct {
	Kind Kind
	Arg  string // script argument that takes the names
	From string // for the manual
}

// Sources returns the source of each kind.
func Sources() []Source {
	return []Source{
		{Own, GroupArg, "`limits.guardedGroups`"},
		{Role, GroupArg, "`signIn.roles`"},
		{Limit, GroupArg, "`--group` of tokens and users, `signIn.roles`"},
		{Gateway, NameArg, "the host, `http.listen`, `tls.*`, the list of the cluster"},
		{Named, NameArg, "`limits.guardedNames`"},
	}
}

// Set holds the guarded names, by reason: groups by sAMAccountName, distinguished name, GUID or
// SID, and DNS names. It must not be modified once it is in use.
type Set map[Kind][]string

// With returns the union of sets, without duplicates. It is nil if the union is empty.
func (s Set) With(others ...Set) Set {
	var all Set
	for _, set := range append([]Set{s}, others...) {
		for kind, items := range set {
			if all == nil && len(items) > 0 {
				all = Set{}
			}
			if len(items) > 0 {
				all[kind] = append(all[kind], items...)
			}
		}
	}
	for kind, items := range all {
		slices.Sort(items)
		all[kind] = slices.Compact(items)
	}
	return all
}

// Argument returns a set as a script argument for a caller. Each item is preceded by its kind and a
// colon. It omits the kind [Limit] for a caller that is limited to groups, because that caller may
// change the members of its groups.
func (s Set) Argument(arg string, caller identity.Limits) (all []string) {
	for _, source := range Sources() {
		if source.Arg != arg || source.Kind == Limit && len(caller.Groups) > 0 {
			continue
		}
		for _, item := range s[source.Kind] {
			all = append(all, string(source.Kind)+":"+item)
		}
	}
	return all
}

// Names returns the DNS names among hosts without ports, in lower case, without a trailing dot, and
// without duplicates. It omits addresses, single labels, and names with a wildcard, whose records
// are always guarded.
func Names(hosts ...string) (names []string) {
	for _, host := range hosts {
		if alone, _, err := net.SplitHostPort(host); err == nil {
			host = alone
		}
		name := strings.ToLower(strings.TrimSuffix(host, "."))
		_, err := netip.ParseAddr(name)
		if err != nil && strings.Contains(name, ".") && !strings.ContainsAny(name, "*:") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
