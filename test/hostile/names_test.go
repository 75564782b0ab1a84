package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

const (
	domainZone  = "corp.example"
	reverseZone = "10.in-addr.arpa"
)

// digestText is a valid answer to a challenge.
const digestText = "LPsIwTo7o8BoG0-vjCyGQGBWSVIPxI-i_X336eUOQZo"

// ownerKinds are the kinds of parameters with the owner name of a record. In most operations
// the name is relative to a zone; in operations of protocols it is a full name.
var ownerKinds = []schema.Kind{schema.Owner, schema.NewOwner, schema.ChildZone, schema.RecordName,
	schema.CertificateName}

// hostParam is the parameter with the full name of a host. Every zone may have records for that host.
const hostParam = "HostName"

// leftover needs the scope privileged for every name.
const leftover = "record.deleteController"

// ownerRow is an operation that changes the records of a name that the caller sends.
type ownerRow struct {
	op    *ops.Operation
	owner string // the parameter with the name; empty if the name is in a document
	kind  string // type of the records
	data  string // data of the existing records, in zone file form
	zone  string
	full  bool // whether names are full names, with or without a trailing dot
}

// ownerRows derives the rows from the table of operations.
func ownerRows(t *testing.T) []ownerRow {
	var rows []ownerRow
	for _, op := range ops.Table() {
		if op.Lane != ps.DNS || !op.Effect.Writes() {
			continue
		}
		row := ownerRow{op: op, zone: domainZone, kind: "TXT", data: `"` + digestText + `"`}
		for i := range op.Params {
			if p := &op.Params[i]; slices.Contains(ownerKinds, p.Kind) && row.owner == "" {
				row.owner = p.Name
			}
		}
		if row.owner == "" && op.Protocol == nil {
			continue // the operation is about a zone
		}
		if op.ID == leftover {
			continue
		}
		sample := op.Sample
		switch kind := typeOf(op); {
		case op.Protocol != nil:
			row.full = true
			require.Contains(t, []string{"httpreq", "acmedns", "externaldns"}, op.Protocol.Name,
				"%s: this test does not know how to name a record", op.ID)
		case row.owner == hostParam:
			row.full = true
		case row.owner == "ChildName":
			row.kind, row.data = "NS", "ns1.other.example."
		default:
			require.NotNil(t, kind, op.ID)
			row.kind, row.data = kind.Name, ""
			if kind.Reverse {
				row.zone = reverseZone
			}
			there := systemtest.RecordOf(kind)
			for i := range kind.Fields {
				text := systemtest.Text(there[kind.Fields[i].Name])
				switch kind.Fields[i].Form {
				case schema.NameForm:
					text += "."
				case schema.TextForm:
					text = `"` + text + `"`
				}
				row.data += text + " "
			}
			require.NotEmpty(t, sample, op.ID)
		}
		rows = append(rows, row)
	}
	return rows
}

// call makes the row's call for a name.
func (r ownerRow) call(s *systemtest.System, name string) systemtest.Answer {
	s.T.Helper()
	if r.op.Protocol == nil {
		params := maps.Clone(r.op.Sample)
		params[r.owner] = name
		if r.owner != hostParam {
			params["ZoneName"] = r.zone
		}
		if r.owner == "ChildName" {
			params["NameServer"] = "ns1.other.example"
		}
		c := systemtest.CallFor(r.op, params)
		c.Token = namesUser
		return s.Do(c)
	}
	another := strings.Repeat("n", 43)
	var body any
	switch {
	case r.op.Protocol.Name == "externaldns":
		set := func(text string) []any {
			return []any{map[string]any{"dnsName": name, "recordType": "TXT", "targets": []string{text}}}
		}
		body = map[string]any{"delete": set(digestText), "create": set(another)}
	case r.op.Protocol.Name == "acmedns":
		body = map[string]any{"subdomain": accountOf(name), "txt": another}
	case r.op.Effect == ops.Delete:
		body = map[string]any{"fqdn": name, "value": digestText}
	default:
		body = map[string]any{"fqdn": name, "value": another}
	}
	encoded, err := json.Marshal(body)
	require.NoError(s.T, err)
	request, err := http.NewRequestWithContext(s.T.Context(), r.op.Method, s.URL+r.op.Path,
		bytes.NewReader(encoded))
	require.NoError(s.T, err)
	request.Header.Set("Content-Type", r.op.Protocol.Media)
	if header := r.op.Protocol.UserHeader; header != "" {
		request.Header.Set(header, namesUser)
		request.Header.Set(r.op.Protocol.KeyHeader, namesUser)
	} else {
		request.SetBasicAuth(namesUser, namesUser)
	}
	return s.Send(request)
}

// spellings contains forms of a relative name, in which %s is the name. Most of them are accepted.
var spellings = []string{
	"%s", "%S", "%s.", "%s.%z", "%S.%Z", "%s.%z.", "%s.%z.%z", "%s.%z.%z.", "%S.%z.%Z.", "%s.%z.%z.%z", "%z.%z", "%z", "%z.", "@", "@.", "@.%z",
	"*.%s", " %s", "%s ", "%s.%z ", "%s..", ".%s", `\100c1`, `%s\.%z`, "%s.xn--mnchen-3ya", "%s.münchen", "%s%%2e%z", "%s,DC=x", "%s/0.%z",
}

func spell(form, name, zone string) string {
	return strings.NewReplacer("%s", name, "%S", strings.ToUpper(name), "%z", zone, "%Z", strings.ToUpper(zone),
		"%%", "%").Replace(form)
}

// meaning returns the full name that a spelling denotes.
func (r ownerRow) meaning(name string) string {
	plain, absolute := strings.CutSuffix(strings.ToLower(name), ".")
	switch inside := plain == r.zone || strings.HasSuffix(plain, "."+r.zone); {
	case plain == "@" && !absolute && !r.full:
		return r.zone
	case absolute || r.full || inside:
		return plain
	default:
		return plain + "." + r.zone
	}
}

// guarded reports whether only privileged callers may change the records of a name.
func guarded(full string) bool {
	first, _, _ := strings.Cut(full, ".")
	for strings.HasSuffix("."+full, "."+domainZone+"."+domainZone) {
		full = strings.TrimSuffix(full, "."+domainZone)
	}
	return full == domainZone || full == "dc1.corp.example" || first == "wpad" || first == "*"
}

// fill replaces the zones of a row. The new zones have the row's records at the names that a server could
// mistake for the tested names and, if there is true, at the tested names.
func (r ownerRow) fill(s *systemtest.System, there bool) {
	var sources []zones.Source
	for _, zone := range []string{domainZone, reverseZone} {
		text := "; adgateway: zone=" + zone + " scope=Domain dynamic=Secure\n$ORIGIN " + zone + ".\n" +
			"@ 3600 IN SOA dc1.corp.example. hostmaster.corp.example. 1 900 600 86400 3600\n" +
			"@ 3600 IN NS dc1.corp.example.\n"
		if zone == r.zone && there {
			owners := []string{"dc1", "wpad", "free"}
			for _, name := range slices.Clone(owners) {
				owners = append(owners, name+"."+zone, name+"."+zone+"."+zone)
			}
			if r.kind != "CNAME" && r.kind != "NS" && r.kind != "DNAME" {
				owners = append(owners, "@")
			}
			if r.kind != "DNAME" { // no name may exist below a DNAME
				owners = append(owners, zone)
			}
			for _, owner := range owners {
				text += owner + " 3600 IN " + r.kind + " " + r.data + "\n"
			}
		}
		sources = append(sources, zones.Source{Name: zone + ".zone", Text: []byte(text)})
	}
	require.NoError(s.T, s.World.DNS.Load(sources...))
}

const namesUser = "names" // the user with every scope but privileged, limited to two zones

// accounts are the names of accounts of acme-dns.
var accounts = []string{"dc1.corp.example", "DC1.corp.example.corp.example", "wpad.corp.example",
	"corp.example", "free.corp.example", "Free.corp.example.corp.example"}

func accountOf(name string) string { return fmt.Sprintf("account%d", slices.Index(accounts, name)) }

// namesSystem returns a system whose DNS servers interpret names in the given way.
func namesSystem(t *testing.T, way zones.Reading) *systemtest.System {
	w, err := sandbox.NewWorld(t.Context(),
		sandbox.Options{Seed: 1, Reads: func(zones.Op) zones.Reading { return way }})
	require.NoError(t, err)
	caller := &identity.Principal{Name: namesUser,
		Limits: identity.Limits{Zones: []string{domainZone, reverseZone}}}
	for _, scope := range identity.Scopes() {
		if scope != identity.All && scope != identity.Privileged {
			caller.Scopes = append(caller.Scopes, scope)
		}
	}
	static := authn.NewStatic(authn.Header{})
	require.NoError(t, static.AddUser(namesUser, caller))
	require.NoError(t, static.AddToken(namesUser, caller))
	var list []string
	for _, name := range accounts {
		list = append(list, fmt.Sprintf(`{"subdomain":%q,"credential":%q,"name":%q}`, accountOf(name), namesUser, name))
	}
	return systemtest.NewWith(t, w, session.Config{Starter: w.Starter()},
		func(o *app.Options) { o.Auth = static },
		"acme.zones=["+domainZone+"]", "acme.accounts=["+strings.Join(list, ",")+"]")
}

// TestOwnerNames sends every spelling of guarded and other names in every row with a record name, to servers
// that interpret names in different ways. A call may change only the records of the name that it sends. It
// never changes the records of a guarded name.
func TestOwnerNames(t *testing.T) {
	for label, way := range map[string]zones.Reading{"strips": zones.Strips, "nests": zones.Nests,
		"refuses": zones.Refuses, "repeats": zones.Repeats} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			s := namesSystem(t, way)
			for _, row := range ownerRows(t) {
				t.Run(row.op.ID, func(t *testing.T) { tryNames(s.In(t), row, label) })
			}
		})
	}
}

func tryNames(s *systemtest.System, row ownerRow, label string) {
	names := []string{}
	for _, name := range []string{"dc1", "wpad", "free"} {
		for _, form := range spellings {
			names = append(names, spell(form, name, row.zone))
		}
	}
	if row.op.Protocol != nil && row.op.Protocol.Name == "acmedns" {
		names = slices.Clone(accounts)
	}
	slices.Sort(names)
	done := map[string]int{} // calls that changed something, by the sent name
	for _, name := range slices.Compact(names) {
		for _, there := range []bool{false, true} {
			plain := slices.Contains([]string{"free", "free." + row.zone, "free." + row.zone + "." + row.zone + "."},
				name) || row.op.ID == "acme.update"
			if !plain && !thorough.OneOf(32, row.op.ID, name, label, fmt.Sprint(there)) {
				continue
			}
			row.fill(s, there)
			before := zonestest.Take(s.World.DNS)
			a := row.call(s, name)
			what := fmt.Sprintf("%s %q (%s, there: %t): %d %s", row.op.ID, name, label, there, a.Status, a.Body)
			if row.op.Protocol == nil {
				require.Less(s.T, a.Status, 500, what)
			}
			for _, line := range zonestest.Compare(before, zonestest.Take(s.World.DNS)) {
				_, record, _ := strings.Cut(line, ": ")
				owner, _, _ := strings.Cut(record, ". ")
				owner = strings.ToLower(owner)
				assert.Equal(s.T, row.meaning(name), owner, what+"\n"+line)
				assert.False(s.T, guarded(owner), what+"\n"+line)
				done[owner]++
			}
		}
	}
	assert.NotEmpty(s.T, done["free."+row.zone], "no call has changed the record of the free name")
	if nested := "free." + row.zone + "." + row.zone; label != "repeats" && row.op.ID != "delegation.create" {
		assert.NotEmpty(s.T, done[nested], "no call has changed the record of a doubled name")
	}
}

// TestEveryRowOfDNSNamesWhatItChanges: every operation that changes DNS data either has a name that
// TestOwnerNames tests, or concerns a whole zone.
func TestEveryRowOfDNSNamesWhatItChanges(t *testing.T) {
	tried := map[string]bool{}
	for _, row := range ownerRows(t) {
		tried[row.op.ID] = true
	}
	for _, op := range ops.Table() {
		if op.Lane != ps.DNS || !op.Effect.Writes() || tried[op.ID] || op.ID == leftover {
			continue
		}
		about := slices.ContainsFunc(op.Params, func(p ops.Param) bool {
			return slices.Contains([]schema.Kind{
				schema.Zone, schema.NewZone, schema.ForwardZone, schema.NewForwardZone, schema.Network, schema.NetworkOrZone,
			}, p.Kind)
		})
		assert.True(t, about, "%s changes DNS, and neither a name nor a zone says where", op.ID)
	}
}
