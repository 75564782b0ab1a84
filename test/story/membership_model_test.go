package story

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// modelGroup is the simplest model of a group.
type modelGroup struct {
	scope   string
	members map[string]bool // names of users and groups
}

// model predicts the answers to calls that add and remove members.
type model map[string]*modelGroup

// reaches reports whether name is a direct or nested member of a group.
func (m model) reaches(group, name string, seen map[string]bool) bool {
	if seen[group] || m[group] == nil {
		return false
	}
	seen[group] = true
	for member := range m[group].members {
		if member == name || m.reaches(member, name, seen) {
			return true
		}
	}
	return false
}

// forbids implements the table of allowed nestings for one domain.
func (m model) forbids(parent, child string) bool {
	switch m[parent].scope {
	case "Global":
		return m[child].scope != "Global"
	case "Universal":
		return m[child].scope == "DomainLocal"
	default:
		return false
	}
}

// add predicts the status of a call that adds a user or a group.
func (m model) add(parent, child string) int {
	_, isGroup := m[child]
	switch {
	case m[parent].members[child]:
		return http.StatusOK
	case isGroup && (parent == child || m.reaches(child, parent, map[string]bool{}) || m.forbids(parent, child)):
		return http.StatusUnprocessableEntity
	}
	m[parent].members[child] = true
	return http.StatusCreated
}

// TestMembershipMatchesItsModel makes random changes and compares every answer, and in the end every
// membership, with the prediction. A plain run tries one of the two sequences.
func TestMembershipMatchesItsModel(t *testing.T) {
	const changes = 250
	for _, seed := range thorough.Some([]uint64{0, 1}) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1})
			random := rand.New(rand.NewPCG(seed, 7))
			users, m := []string{systemtest.SampleUser, systemtest.LeftUser, systemtest.LockedUser}, model{}
			for _, scope := range []string{"Global", "Universal", "DomainLocal"} {
				for n := range 3 {
					name := fmt.Sprintf("%s %d", scope, n)
					m[name] = &modelGroup{scope, map[string]bool{}}
					s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath(name, "/Security"),
						Params: map[string]any{"GroupScope": scope}}, http.StatusCreated)
				}
			}
			names := slices.Sorted(maps.Keys(m))
			pick := func(from []string) string { return from[random.IntN(len(from))] }
			for n := range changes {
				parent, child := pick(names), pick(append(users, names...))
				path := systemtest.GroupInGroupPath(child, parent)
				if slices.Contains(users, child) {
					path = systemtest.UserInGroupPath(child, parent)
				}
				method, want := http.MethodPost, 0
				if random.IntN(3) == 0 {
					method, want = http.MethodDelete, http.StatusOK
					delete(m[parent].members, child)
				} else {
					want = m.add(parent, child)
				}
				a := s.Do(systemtest.Call{Method: method, Path: path})
				require.Equal(t, want, a.Status, "%d: %s %s: %s", n, method, path, a.Body)
			}
			for name, group := range m {
				stored := s.Stored("CN="+name+","+systemtest.UsersContainer, "member").Strings("member")
				assert.Len(t, stored, len(group.members), name)
				for _, user := range users {
					exists := s.OK(systemtest.Call{Method: http.MethodGet,
						Path: systemtest.UserInGroupPath(user, name) + "/Exists"}, http.StatusOK)["exists"]
					assert.Equal(t, group.members[user], exists, "%s in %s", user, name)
					exists = s.OK(systemtest.Call{Method: http.MethodGet,
						Path: systemtest.UserInGroupPath(user, name) + "/Exists?Recursive=true"}, http.StatusOK)["exists"]
					assert.Equal(t, m.reaches(name, user, map[string]bool{}), exists, "%s in %s, by groups", user, name)
				}
				for child := range m {
					exists := s.OK(systemtest.Call{Method: http.MethodGet,
						Path: systemtest.GroupInGroupPath(child, name) + "/Exists"}, http.StatusOK)["exists"]
					assert.Equal(t, group.members[child], exists, "%s in %s", child, name)
				}
			}
		})
	}
}

// TestEveryUsersGroups compares the group lists of many users of the built-in domain, including all
// with odd names, with a walk over the directory. It also looks up every group by each of its names.
func TestEveryUsersGroups(t *testing.T) {
	const oneIn = 40 // share of the users with plain names
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	search := func(filter string, attributes ...string) []*directory.Object {
		found, err := s.DC1().Search(context.Background(),
			directory.SearchRequest{Filter: filter, Attributes: attributes})
		require.NoError(t, err)
		return found
	}
	parents, byRID, sam := map[string][]string{}, map[int64]string{}, map[string]string{}
	for _, group := range search("(objectCategory=group)", "member", "sAMAccountName", "name") {
		sam[group.DN] = group.String("sAMAccountName")
		byRID[int64(group.SID.RID())] = group.DN
		for _, member := range group.Strings("member") {
			parents[strings.ToLower(member)] = append(parents[strings.ToLower(member)], group.DN)
		}
		record := s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(sam[group.DN], "")},
			http.StatusOK)
		assert.Equal(t, []any{group.DN, group.String("name")}, []any{record["distinguishedName"], record["name"]})
		assert.Equal(t, record, s.OK(systemtest.Call{Method: http.MethodGet,
			Path: systemtest.GroupPath(group.DN, "")}, http.StatusOK))
	}
	checked := 0
	for i, user := range search("(&(objectCategory=person)(objectClass=user))", "sAMAccountName",
		"primaryGroupID") {
		if i%oneIn != 0 && !strings.Contains(user.DN, "OU=Odd Names") {
			continue
		}
		checked++
		rid, _ := user.Int("primaryGroupID")
		direct := append([]string{byRID[rid]}, parents[strings.ToLower(user.DN)]...)
		all := slices.Clone(direct)
		for at := 0; at < len(all); at++ {
			for _, above := range parents[strings.ToLower(all[at])] {
				if !slices.Contains(all, above) {
					all = append(all, above)
				}
			}
		}
		for query, want := range map[string][]string{"": direct, "?Recursive=true": all} {
			a := s.Get("/api/ADUser/" + url.PathEscape(user.String("sAMAccountName")) + "/Group/All" + query)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			var got []string
			for _, record := range a.Envelope.Result {
				dn := record["distinguishedName"].(string)
				got = append(got, dn)
				assert.Equal(t, slices.Contains(direct, dn), record["direct"], "%s in %s", user.DN, dn)
				assert.Equal(t, dn == byRID[rid], record["primary"], "%s in %s", user.DN, dn)
				assert.Equal(t, user.DN, record["memberDistinguishedName"])
			}
			assert.ElementsMatch(t, want, got, "%s%s", user.DN, query)
		}
	}
	assert.Greater(t, checked, 20)
}
