// Package privileged says what is guarded because it gives rights at this gateway, or because
// clients find the gateway by it: only callers with the scope privileged may change it. The
// [Kind]s are the one list of where such things come from. The scripts find out what belongs to
// them, and refuse: their table of guards, which has a row for each kind, also lists what is
// guarded in every domain.
package privileged

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"adgateway/gateway/identity"
)

// A Kind is one reason why something is guarded. It is the key of a row of the scripts' guards.
type Kind string

// The kinds.
const (
	Own     Kind = "rights"  // groups of the gateway's own rights and hosts; none: groups of its accounts
	Role    Kind = "role"    // groups whose members may use the gateway
	Limit   Kind = "limit"   // groups that limits name
	Gateway Kind = "gateway" // DNS names by which clients find the gateway
	Named   Kind = "named"   // other DNS names
)

// The arguments of scripts that take what is guarded.
const (
	GroupArg = "GuardedGroup"
	NameArg  = "GuardedName"
)

// Source says where the guarded names for one reason come from.
type Source struct {
	Kind Kind
	Arg  string // the argument of scripts that takes it
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

// Set has the guarded names, by reason: groups by sAMAccountName, distinguished name, GUID or SID,
// and DNS names. It is not changed once it is used.
type Set map[Kind][]string

// With returns the union of sets, without duplicates; nil if it is empty.
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

// Argument returns a set as a script argument for a caller: each item after its kind and a colon.
// It omits the kind [Limit] for a caller that is limited to groups, because that caller may change
// the members of its groups.
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

// Names returns the DNS names among hosts without their ports, in lower case, without a dot at the
// end, and without duplicates. It omits addresses, single labels, and names with a wildcard, whose
// records are always guarded.
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
