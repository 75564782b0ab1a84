package story

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// The members of records that name an object, by the paths where the records are read.
var naming = map[string][]string{
	"/api/ADUser/*/Details":        {"guid", "sid", "username", "userPrincipalName", "name", "distinguishedName"},
	"/api/ADGroups/*":              {"guid", "sid", "samName", "name", "distinguishedName"},
	"/api/Computers/*":             {"guid", "sid", "samName", "computerName", "distinguishedName"},
	"/api/OU/Path/Details?OUPath=": {"guid", "name", "path"},
}

func userNamed(name string) string     { return "/api/ADUser/" + url.PathEscape(name) + "/Details" }
func groupNamed(name string) string    { return "/api/ADGroups/" + url.PathEscape(name) }
func computerNamed(name string) string { return "/api/Computers/" + url.PathEscape(name) }
func ouAt(dn string) string            { return "/api/OU/Path/Details?OUPath=" + url.QueryEscape(dn) }

// subjects are what the sample of an operation changes: the records that name it, before the
// change or after it, and names that no record has.
type subjects struct{ before, after, names []string }

// changed are the subjects of the samples, by operation.
func changedBySamples() map[string]subjects {
	sample, group, deskGroup := userNamed(systemtest.SampleUser), groupNamed(systemtest.SampleGroup), groupNamed("Help Desk")
	printers := "CN=Printer Operators Berlin,OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example"
	all := map[string]subjects{
		"user.create":              {after: []string{userNamed("sample")}},
		"user.update":              {before: []string{sample}},
		"user.updateByGuid":        {before: []string{sample}},
		"user.disable":             {before: []string{sample}},
		"user.enable":              {before: []string{userNamed(systemtest.LeftUser)}},
		"user.expiry":              {before: []string{sample}},
		"user.rename":              {before: []string{sample}, after: []string{userNamed("a.schmidt")}},
		"user.resetPassword":       {before: []string{sample}},
		"user.unlock":              {before: []string{userNamed(systemtest.LockedUser)}},
		"user.delete":              {before: []string{userNamed("sample.gone")}},
		"user.deleteByGuid":        {before: []string{userNamed("never.set")}},
		"membership.add":           {before: []string{sample, deskGroup}},
		"membership.remove":        {before: []string{sample, group}},
		"membership.addMembers":    {before: []string{sample, computerNamed("FS1"), deskGroup}},
		"membership.removeMembers": {before: []string{sample, group}},
		"membership.setMembers":    {before: []string{sample, deskGroup}},
		"membership.copy":          {before: []string{userNamed("tom.gone"), groupNamed("Sales Staff")}},
		"membership.addGroup":      {before: []string{groupNamed("Project Phoenix"), deskGroup}},
		"membership.removeGroup":   {before: []string{groupNamed("All Staff"), groupNamed("Sales Staff")}},
		"group.createDistribution": {after: []string{groupNamed("Sample List")}},
		"group.createSecurity":     {after: []string{groupNamed("Sample Group")}},
		"group.update":             {before: []string{group}},
		"group.rename":             {before: []string{group}, after: []string{groupNamed("Dial In")}},
		"group.delete":             {before: []string{groupNamed("Sample Gone")}},
		"ou.create":                {after: []string{ouAt("OU=Sample," + systemtest.EmptyOU)}},
		"ou.update":                {before: []string{ouAt(systemtest.EmptyOU)}},
		"ou.move":                  {before: []string{ouAt(systemtest.ProtectedOU)}, after: []string{ouAt("OU=Protected empty," + systemtest.EmptyOU)}},
		"ou.rename":                {before: []string{ouAt(systemtest.ProtectedOU)}, after: []string{ouAt("OU=Renamed," + systemtest.CorpOU)}},
		"ou.delete":                {before: []string{ouAt(systemtest.EmptyOU)}},
		"computer.register":        {after: []string{computerNamed("SAMPLE")}},
		"computer.rename":          {before: []string{computerNamed("WEB1")}, after: []string{computerNamed("SAMPLE")}},
		"computer.update":          {before: []string{computerNamed("FS1")}},
		"computer.enable":          {before: []string{computerNamed("OLD-PC1")}},
		"computer.disable":         {before: []string{computerNamed("WEB1")}},
		"computer.move":            {before: []string{computerNamed("WEB1")}, after: []string{computerNamed("WEB1")}},
		"computer.delete":          {before: []string{computerNamed("WEB2")}},
		"computer.deleteMany":      {before: []string{computerNamed("WEB3")}},
		"bin.restore":              {after: []string{groupNamed("Printer Operators Berlin")}, names: []string{printers}},

		"reverseZone.create": {names: []string{"16.172.in-addr.arpa", "DC=16.172.in-addr.arpa,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"}},
		"reverseZone.delete": {names: []string{"17.172.in-addr.arpa", "DC=17.172.in-addr.arpa,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"}},
		"lookupZone.create":  {names: []string{"sample.example", "DC=sample.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"}},
		"lookupZone.update":  {names: []string{"corp.example", "Corp.Example."}},
		"lookupZone.delete":  {names: []string{"removed.example", "DC=removed.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"}},
		"zone.setAging":      {names: []string{"_msdcs.corp.example"}},
		"forwarder.create":   {names: []string{"ally.example"}},
		"forwarder.update":   {names: []string{"partner.example"}},
		"forwarder.delete":   {names: []string{"forwarded.example"}},
		"delegation.create":  {names: []string{"branch.corp.example", "corp.example"}},
		"delegation.delete":  {names: []string{"left.corp.example", "corp.example"}},
		"recordSet.put":      {names: []string{"web1.corp.example", "corp.example", "WEB1.corp.example.", "web1"}},
		"recordSet.delete":   {names: []string{"web1.corp.example", "corp.example"}},
	}
	maps.Copy(all, changedByProtection)
	for _, t := range schema.RecordTypes {
		if t.Resource == "" {
			continue
		}
		there := systemtest.RecordOf(t)
		zone, owner := there["ZoneName"].(string), there["DNS_HostName"].(string)
		full := zone
		if owner != "@" {
			full = owner + "." + zone
		}
		created := full
		if t.Alone {
			created = "sample." + zone
		}
		all[t.Resource+".create"] = subjects{names: []string{created, zone}}
		all[t.Resource+".change"] = subjects{names: []string{full, zone}}
		all[t.Resource+".delete"] = subjects{names: []string{full, zone}}
	}
	return all
}

// changedByProtection are the subjects of rows about protections and primary groups.
var changedByProtection = map[string]subjects{
	"user.protect":          {before: []string{userNamed(systemtest.SampleUser)}},
	"user.setPhoto":         {before: []string{userNamed(systemtest.SampleUser)}},
	"user.removePhoto":      {before: []string{userNamed(systemtest.SampleUser)}},
	"group.protect":         {before: []string{groupNamed(systemtest.SampleGroup)}},
	"computer.protect":      {before: []string{computerNamed("FS1")}},
	"user.primaryGroup":     {before: []string{userNamed(systemtest.LockedUser)}},
	"computer.primaryGroup": {before: []string{computerNamed("FS1")}},
}

// namesAt returns the names in the record that is read at a path.
func namesAt(s *systemtest.System, path string) (names []string) {
	s.T.Helper()
	record := s.Record(s.Get(path))
	for pattern, members := range naming {
		before, after, _ := strings.Cut(pattern, "*")
		if !strings.HasPrefix(path, before) || !strings.HasSuffix(path, after) {
			continue
		}
		for _, member := range members {
			text, _ := record[member].(string)
			require.NotEmpty(s.T, text, "%s of %s", member, path)
			names = append(names, text, strings.ToUpper(text))
			if plain, isComputer := strings.CutSuffix(text, "$"); isComputer {
				names = append(names, plain)
			}
		}
	}
	require.NotEmpty(s.T, names, path)
	return names
}

// TestTheHistoryFindsByEveryName: a change of any kind is found by the GUID, the SID, the
// distinguished name, the account, the UPN and the name of what it changed, as they were
// before it and as they are after it.
func TestTheHistoryFindsByEveryName(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	all := changedBySamples()
	for _, op := range opstest.Own() {
		if !op.Effect.Writes() {
			continue
		}
		about, declared := all[op.ID]
		require.True(t, declared, "%s changes something: say what its sample changes", op.ID)
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			names := slices.Clone(about.names)
			for _, path := range about.before {
				names = append(names, namesAt(s, path)...)
			}
			made := s.Do(systemtest.Sample(op))
			require.Less(t, made.Status, 300, "%s", made.Body)
			id := made.Header.Get("X-Change-Id")
			require.NotEmpty(t, id)
			for _, path := range about.after {
				names = append(names, namesAt(s, path)...)
			}
			for _, name := range names {
				found := changesIn(s, s.Do(listChanges(map[string]any{"Object": name, "Limit": 1})))
				if assert.NotEmpty(t, found, "by %q", name) {
					assert.Equal(t, id, found[0].ID, "by %q", name)
				}
			}
			assert.Empty(t, changesIn(s, s.Do(listChanges(map[string]any{"Object": "somebody.else"}))))
			if undone := s.Do(undoChange(id, nil)); undone.Status != http.StatusOK {
				s.Undo(op)
			}
		})
	}
}
