package protocols_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// registry determines the names at which ExternalDNS stores its ownership of records.
type registry struct {
	name  string
	plain bool // at the name of the record itself (before version 0.12)
	typed bool // at a name that begins with the type (since version 0.12)
}

var registries = []registry{
	{name: "noop"}, {name: "old", plain: true}, {name: "both", plain: true, typed: true},
	{name: "new", typed: true},
}

const heritage = "heritage=external-dns,external-dns/owner=me"

// texts returns the record sets with which a registry claims ownership of a set.
func (r registry) texts(of set) (all []set) {
	if r.plain {
		all = append(all, set{DNSName: of.DNSName, RecordType: "TXT", Targets: []string{`"` + heritage + `"`}})
	}
	if r.typed {
		name := strings.ToLower(of.RecordType) + "-" + of.DNSName
		all = append(all, set{DNSName: name, RecordType: "TXT", Targets: []string{`"` + heritage + `"`}})
	}
	return all
}

// owns reports whether found contains the registry's claim to a set.
func (r registry) owns(found map[string]set, of set) bool {
	texts := r.texts(of)
	return len(texts) == 0 || slices.ContainsFunc(texts, func(text set) bool {
		there := found[text.DNSName+" TXT"]
		return len(there.Targets) > 0 && strings.HasPrefix(there.Targets[0], heritage)
	})
}

// plan returns the changes that replace the sets of a name with the wanted ones, like the planner of
// ExternalDNS with --policy=sync. It ignores sets that the registry does not own.
func (r registry) plan(found map[string]set, name string, wanted []set) map[string][]set {
	changes := map[string][]set{}
	current := map[string]set{}
	owned := true
	for _, kind := range []string{"A", "AAAA", "CNAME"} {
		if there, has := found[name+" "+kind]; has {
			current[kind] = there
			owned = owned && r.owns(found, there)
		}
	}
	if !owned {
		return changes
	}
	add := func(list string, one set) {
		changes[list] = append(append(changes[list], one), r.texts(one)...)
	}
	for _, one := range wanted {
		there, has := current[one.RecordType]
		delete(current, one.RecordType)
		switch {
		case !has:
			add("create", one)
		case !slices.Equal(there.Targets, one.Targets) || one.RecordTTL != 0 && one.RecordTTL != there.RecordTTL:
			add("updateOld", there)
			add("updateNew", one)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(current)) {
		add("delete", current[kind])
	}
	return changes
}

// wishes contains the sets that a source can request for a name.
var wishes = map[string][]set{
	"nothing":         nil,
	"an address":      {{RecordType: "A", Targets: []string{"10.0.9.1"}}},
	"another address": {{RecordType: "A", Targets: []string{"10.0.9.3"}, RecordTTL: 600}},
	"two addresses":   {{RecordType: "A", Targets: []string{"10.0.9.1", "10.0.9.2"}, RecordTTL: 60}},
	"of version 6":    {{RecordType: "AAAA", Targets: []string{"2001:db8::9"}}},
	"of both": {
		{RecordType: "A", Targets: []string{"10.0.9.1"}}, {RecordType: "AAAA", Targets: []string{"2001:db8::9"}},
	},
	"an alias":        {{RecordType: "CNAME", Targets: []string{"a.corp.example"}}},
	"another alias":   {{RecordType: "CNAME", Targets: []string{"b.corp.example"}}},
	"a shorter alias": {{RecordType: "CNAME", Targets: []string{"b.corp.example"}, RecordTTL: 30}},
}

// named returns a wish for a name.
func named(name string, wish []set) (all []set) {
	for _, one := range wish {
		one.DNSName = name
		all = append(all, one)
	}
	return all
}

// TestEverySequenceOfThePlannerEnds: two loops request different sets for a name. With every pair of wishes
// and every registry, both are fulfilled, and a third loop has nothing to change. This is also true for a
// registry that wants a text at the name of an alias, which DNS does not allow. A plain run tries some of the
// first wishes with each registry.
func TestEverySequenceOfThePlannerEnds(t *testing.T) {
	s := systemtest.NewForDNS(t, "externaldns.budget=60s", "limits.bulkDelete=1000")
	sequences, firsts := 0, 0
	for _, r := range registries {
		for first, firstWish := range wishes {
			if !thorough.OneOf(3, r.name, first) {
				continue
			}
			firsts++
			loops := []map[string][]set{{}, {}, {}}
			for second, secondWish := range wishes {
				sequences++
				name := fmt.Sprintf("k%d.corp.example", sequences)
				t.Logf("%s: %s, %s, then %s", name, r.name, first, second)
				loops[0][name] = named(name, firstWish)
				loops[1][name] = named(name, secondWish)
				loops[2][name] = named(name, secondWish)
			}
			for i, loop := range loops {
				found := sets(s, systemtest.ClusterUser)
				all := map[string][]set{}
				for name, wanted := range loop {
					for list, changes := range r.plan(found, name, wanted) {
						all[list] = append(all[list], changes...)
					}
				}
				if i == 2 {
					assert.Empty(t, all, "%s, after %s", r.name, first)
					continue
				}
				a := tell(s, systemtest.ClusterUser, "/records", all)
				assert.Equal(t, http.StatusNoContent, a.Status, "%s, %s, loop %d: %s", r.name, first, i, a.Body)
			}
			found := sets(s, systemtest.ClusterUser)
			for name, wanted := range loops[2] {
				for _, kind := range []string{"A", "AAAA", "CNAME"} {
					at := slices.IndexFunc(wanted, func(one set) bool { return one.RecordType == kind })
					there := found[name+" "+kind]
					if at < 0 {
						assert.Empty(t, there.Targets, "%s %s", name, kind)
						continue
					}
					assert.Equal(t, wanted[at].Targets, there.Targets, "%s %s", name, kind)
				}
				if len(wanted) > 0 {
					continue
				}
				for key := range found { // no owned set is left
					assert.NotContains(t, key, name+" ")
				}
			}
		}
	}
	if thorough.All() {
		require.Equal(t, len(registries)*len(wishes), firsts)
	}
	require.Equal(t, firsts*len(wishes), sequences)
}
