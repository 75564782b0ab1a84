package story

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const securityOU = "OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example"

func posting(path string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPost, Path: path, Params: params}
}

func putting(path string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPut, Path: path, Params: params}
}

// spoiling contains calls that create an object, each with a call that changes the object afterwards and the
// field that then differs.
var spoiling = map[string]struct {
	create, spoil systemtest.Call
	field         string
}{
	"a user's value":            {posting("/api/ADUser/undo.user", map[string]any{"City": "Rome"}), putting("/api/ADUser/undo.user", map[string]any{"City": "Oslo"}), "city"},
	"a user's new value":        {posting("/api/ADUser/undo.user", nil), putting("/api/ADUser/undo.user", map[string]any{"Department": "IT"}), "department"},
	"a user that shows little":  {posting("/api/ADUser/undo.user", map[string]any{"ShowFields": "username"}), putting("/api/ADUser/undo.user", map[string]any{"JobTitle": "Head"}), "jobTitle"},
	"a user's desktop":          {posting("/api/ADUser/undo.user", nil), putting("/api/ADUser/undo.user", map[string]any{"RdsProfilePath": `\\fs1\p`}), "rdsProfilePath"},
	"a user's expiry":           {posting("/api/ADUser/undo.user", nil), putting("/api/ADUser/undo.user/Expiry", map[string]any{"AccountExpires": "2035-06-30"}), "accountExpires"},
	"a user's place":            {posting("/api/ADUser/undo.user", nil), putting("/api/ADUser/undo.user", map[string]any{"OUPath": systemtest.EmptyOU}), "ouPath"},
	"a user's name":             {posting("/api/ADUser/undo.user", nil), putting("/api/ADUser/undo.user/Rename/undo.other", nil), "username"},
	"a user's password":         {posting("/api/ADUser/undo.user", map[string]any{"Password": "Corr3ct-Horse"}), putting("/api/ADUser/undo.user/ResetPassword", map[string]any{"newPassword": "0ther-Horse9"}), "password"},
	"a user's first password":   {posting("/api/ADUser/undo.user", nil), putting("/api/ADUser/undo.user/ResetPassword", map[string]any{"newPassword": "0ther-Horse9"}), "password"},
	"a user's state":            {posting("/api/ADUser/undo.user", map[string]any{"Password": "Corr3ct-Horse"}), putting("/api/ADUser/undo.user/Disable", nil), "enabled"},
	"a user's membership":       {posting("/api/ADUser/undo.user", nil), posting("/api/ADUser/undo.user/Group/VPN%20Users", nil), "memberOf"},
	"a group's members":         {posting("/api/ADGroups/Undo/Security", map[string]any{"OUPath": securityOU}), posting("/api/ADUser/aschmidt/Group/Undo", nil), "member"},
	"a group's mail":            {posting("/api/ADGroups/Undo/Security", map[string]any{"GroupScope": "Domain_Local"}), putting("/api/ADGroups/Undo", map[string]any{"GroupEmail": "undo@corp.example"}), "email"},
	"a group's manager":         {posting("/api/ADGroups/Undo/Security", nil), putting("/api/ADGroups/Undo", map[string]any{"ManagedBy": "aschmidt"}), "managedBy"},
	"a group's membership":      {posting("/api/ADGroups/Undo/Security", nil), posting("/api/ADGroup/All%20Staff/Group/Undo", nil), "memberOf"},
	"a computer's description":  {posting("/api/Computers/UNDO/Register", nil), putting("/api/Computers/UNDO/Update", map[string]any{"ComputerDescription": "changed"}), "description"},
	"a computer's state":        {posting("/api/Computers/UNDO/Register", nil), putting("/api/Computers/UNDO/Disable", nil), "enabled"},
	"a computer's place":        {posting("/api/Computers/UNDO/Register", nil), putting("/api/Computers/UNDO/Move", map[string]any{"OUPath": "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example"}), "path"},
	"an OU's description":       {posting("/api/OU", undoOU("false")), putting("/api/OU", map[string]any{"OUPath": undoneOU, "OUDescription": "changed"}), "description"},
	"an OU's protection":        {posting("/api/OU", undoOU("false")), putting("/api/OU", map[string]any{"OUPath": undoneOU, "IsProtected": true}), "protected"},
	"an OU's protection lifted": {posting("/api/OU", undoOU("true")), putting("/api/OU", map[string]any{"OUPath": undoneOU, "IsProtected": false}), "protected"},
	"an OU's place":             {posting("/api/OU", undoOU("false")), putting("/api/OU/Move", map[string]any{"OUPath": undoneOU, "OUDestinationPath": systemtest.EmptyOU}), "path"},
	"an OU's name":              {posting("/api/OU", undoOU("false")), putting("/api/OU/Rename", map[string]any{"OUPath": undoneOU, "OUNewName": "Other"}), "name"},
	"what lies in an OU":        {posting("/api/OU", undoOU("false")), posting("/api/ADUser/undo.below", map[string]any{"OUPath": undoneOU}), "children"},
	"a reverse zone's records":  {posting("/api/DnsReverseLookupZone/172.31.0.0%2F16", nil), posting("/api/DnsPtrRecord", map[string]any{"IP_Address": "172.31.1.1", "DNS_TargetName": "web1.corp.example"}), "records"},
	"a zone's records":          {posting("/api/DnsLookupZone/undo.example", nil), posting("/api/DnsARecord", map[string]any{"ZoneName": "undo.example", "DNS_HostName": "a", "IP_Address": "10.0.1.77"}), "records"},
	"a zone's updates":          {posting("/api/DnsLookupZone/undo.example", nil), putting("/api/DnsLookupZone/undo.example", map[string]any{"DynamicUpdate": "None"}), "dynamicUpdate"},
	"a zone's aging":            {posting("/api/DnsLookupZone/undo.example", nil), putting("/api/DnsZones/undo.example/Aging", map[string]any{"RefreshHours": 24}), "refreshHours"},
	"a forwarder's servers":     {posting("/api/DnsConditionalForwarder/undo.example", map[string]any{"MasterServers": "10.9.0.53"}), putting("/api/DnsConditionalForwarder/undo.example", map[string]any{"MasterServers": "10.9.0.54"}), "masterServers"},
	"a forwarder's timeout":     {posting("/api/DnsConditionalForwarder/undo.example", map[string]any{"MasterServers": "10.9.0.53"}), putting("/api/DnsConditionalForwarder/undo.example", map[string]any{"ForwarderTimeout": 9}), "forwarderTimeout"},
	"a CNAME's time to live":    {posting("/api/DnsCNameRecord", cname(nil)), putting("/api/DnsCNameRecord", cname(map[string]any{"TimeToLive": 600})), "ttl"},
	"an A's time to live":       {posting("/api/DnsARecord", aRecord(map[string]any{"TimeToLive": 600})), putting("/api/DnsARecord", aRecord(map[string]any{"TimeToLive": 900})), "ttl"},
	"a set's time to live":      {putting("/api/DnsRecordSet", aSet("10.0.1.77", 600)), putting("/api/DnsRecordSet", aSet("10.0.1.77", 900)), "ttl"},
	"a set's records":           {putting("/api/DnsRecordSet", aSet("10.0.1.77", 600)), putting("/api/DnsRecordSet", aSet("10.0.1.77\n10.0.1.78", 600)), "records"},
}

const undoneOU = "OU=Undo,OU=Corp,DC=corp,DC=example"

func undoOU(protected string) map[string]any {
	return map[string]any{"OUName": "Undo", "OUDestinationPath": systemtest.CorpOU, "IsProtected": protected}
}

func cname(more map[string]any) map[string]any {
	return systemtest.Merge(map[string]any{"ZoneName": "corp.example", "DNS_HostName": "undo",
		"DNS_HostName_Alias": "web1.corp.example"}, more)
}

func aRecord(more map[string]any) map[string]any {
	return systemtest.Merge(map[string]any{"ZoneName": "corp.example", "DNS_HostName": "undo",
		"IP_Address": "10.0.1.77"}, more)
}

func aSet(data string, ttl int) map[string]any {
	return map[string]any{"ZoneName": "corp.example", "DNS_HostName": "undo", "Type": "A",
		"Data": strings.Split(data, "\n"), "TimeToLive": ttl}
}

// TestACreatedObjectIsRemovedOnlyIfUnchanged: the undo of a creation does not remove an object that has
// changed since, and the dry run of the undo reports that.
func TestACreatedObjectIsRemovedOnlyIfUnchanged(t *testing.T) {
	tried := map[string]bool{}
	for name, c := range spoiling {
		t.Run(name, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1})
			made := s.Do(c.create)
			require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
			id := made.Header.Get("X-Change-Id")
			tried[changesIn(s, s.Do(getChange(id, nil)))[0].Operation] = true
			start := s.Snapshot()
			spoilt := s.Do(c.spoil)
			require.Less(t, spoilt.Status, 300, "%s", spoilt.Body)
			require.NotEmpty(t, start.Compare(s.Snapshot()))
			for _, params := range []map[string]any{{"DryRun": true}, nil} {
				a := s.Rejects(undoChange(id, params), 412, "drifted")
				var fields []string
				for _, d := range a.Envelope.Error.Details {
					fields = append(fields, d.Field)
				}
				assert.Contains(t, fields, c.field, "%s", a.Body)
			}
		})
	}
	// These operations are not tested, because no operation changes the objects that they create, or because
	// another operation creates the same objects.
	untried := []string{"group.createDistribution", "delegation.create", "nameServer.create"}
	for _, op := range opstest.Own() {
		if op.Effect.Writes() && strings.Contains(op.ID, ".create") && op.Undo.Never == "" &&
			!recordOfOneType(op.ID) {
			known := tried[op.ID] || slices.Contains(untried, op.ID)
			assert.True(t, known, "%s creates something that no case changes", op.ID)
		}
	}
}

// recordOfOneType reports whether an operation exists for each type of records.
func recordOfOneType(id string) bool {
	resource, _, _ := strings.Cut(id, ".")
	op := opstest.Find(resource + ".listHostName")
	return op != nil && op.Lane == ps.DNS
}

// TestWhatWasCreatedAndIsGone: if a created object no longer exists, its creation cannot be undone.
func TestWhatWasCreatedAndIsGone(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	made := s.Do(posting("/api/ADUser/undo.gone", nil))
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	gone := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/undo.gone"})
	require.Equal(t, http.StatusOK, gone.Status, "%s", gone.Body)
	a := s.Rejects(undoChange(made.Header.Get("X-Change-Id"), nil), 409, "conflict")
	assert.Equal(t, "UserGuid", a.Envelope.Error.Details[0].Field, "%s", a.Body)
}
