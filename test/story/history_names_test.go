package story

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// furtherNames contains names of changed objects that do not appear in the world, such as the place where a
// zone is stored, and other forms of a name.
var furtherNames = map[string][]string{
	"bin.restore":        {"CN=Printer Operators Berlin,OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example"},
	"lookupZone.create":  {"DC=sample.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"},
	"lookupZone.delete":  {"DC=removed.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"},
	"lookupZone.update":  {"Corp.Example."},
	"reverseZone.create": {"DC=16.172.in-addr.arpa,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"},
	"reverseZone.delete": {"DC=17.172.in-addr.arpa,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"},
	"recordSet.put":      {"WEB1.corp.example.", "web1"},
}

// changedBesides contains attributes of an object that change as a side effect when another object is
// changed, in addition to the attributes of a removed object's groups. The access list of the parent contains
// a part of a protection, and a primary group has members that its attributes do not list.
var changedBesides = map[string]string{
	"user.protect": "nTSecurityDescriptor", "group.protect": "nTSecurityDescriptor", "computer.protect": "nTSecurityDescriptor",
	"user.primaryGroup": "member", "computer.primaryGroup": "member",
	"ou.move": "nTSecurityDescriptor", "bin.restore": "member",
}

// besides reports whether an object changed only as a side effect of an operation.
func besides(op *ops.Operation, object *sandboxtest.Changed) bool {
	along := changedBesides[op.ID]
	if op.Effect == ops.Delete && along == "" && !strings.HasPrefix(op.ID, "membership.") {
		along = "member"
	}
	for _, attribute := range object.Attributes {
		if attribute != along {
			return false
		}
	}
	subject := systemtest.Text(op.Sample[op.Params[0].Name])
	return along != "" && (along == "member" || !slices.Contains(object.Names, subject))
}

func userNamed(name string) string { return "/api/ADUser/" + url.PathEscape(name) + "/Details" }

// TestTheHistoryFindsByEveryName: a change of any kind is found by the GUID, SID, distinguished name, account
// name, UPN and name that the changed object had before or after the change. A plain run searches less often
// for objects without changes.
func TestTheHistoryFindsByEveryName(t *testing.T) {
	t.Parallel()
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Changes() {
		if !thorough.OneOf(3, op.ID) {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			start := s.Snapshot()
			made := s.Do(systemtest.Sample(op))
			require.Less(t, made.Status, 300, "%s", made.Body)
			id := made.Header.Get("X-Change-Id")
			require.NotEmpty(t, id)
			after := s.Snapshot()
			names := append(start.ChangedNames(after), furtherNames[op.ID]...)
			for _, object := range start.Changed(after) {
				if besides(op, &object) {
					continue
				}
				for _, name := range object.Names {
					names = append(names, name, strings.ToUpper(name))
					if plain, isComputer := strings.CutSuffix(name, "$"); isComputer {
						names = append(names, plain)
					}
				}
			}
			require.NotEmpty(t, names)
			for _, name := range names {
				found := changesIn(s, s.Do(listChanges(map[string]any{"Object": name, "Limit": 1})))
				if assert.NotEmpty(t, found, "by %q", name) {
					assert.Equal(t, id, found[0].ID, "by %q", name)
				}
			}
			if thorough.OneOf(8, op.ID) { // reads the whole history
				assert.Empty(t, changesIn(s, s.Do(listChanges(map[string]any{"Object": "somebody.else"}))))
			}
			if undone := s.Do(undoChange(id, nil)); undone.Status != http.StatusOK {
				s.Undo(op)
			}
		})
	}
}
