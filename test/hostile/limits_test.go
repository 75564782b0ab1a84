package hostile

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// place is a pair of references in the same form, one to an object outside CorpOU and one to a missing
// object.
type place struct{ exists, missing string }

const nowhere = "01234567-89ab-cdef-0123-456789abcdef"

// outsiders returns references to objects outside CorpOU by form, each with a reference to a missing
// object, for a parameter of an operation. It returns nil if the parameter does not name an object.
func outsiders(s *systemtest.System, op *ops.Operation, p *ops.Param) map[string]place {
	guid := func(dn string) string { return s.Stored(dn, "objectGUID").GUID.String() }
	account := func(name, dn string) map[string]place {
		_, parent, _ := strings.Cut(dn, ",")
		return map[string]place{
			"name": {name, "Nobody here"}, "guid": {guid(dn), nowhere}, "dn": {dn, "CN=Nobody here," + parent},
		}
	}
	const root = "DC=corp,DC=example"
	switch p.Kind {
	case schema.DN:
		return map[string]place{
			"dn": {"OU=Domain Controllers," + root, "OU=Nowhere," + root}, "container": {"CN=Users," + root, "CN=Nowhere," + root},
			"above": {root, "DC=nowhere,DC=example"}, "like the limit": {"ou = domain  controllers, dc=CORP,dc=Example", `OU=No\2ccorp,` + root},
		}
	case schema.GUID:
		if strings.HasPrefix(op.ID, "bin.") {
			return map[string]place{"guid": {deletedOutside(s), nowhere}}
		}
		if p.Name == "OUGuid" {
			return map[string]place{"guid": {guid("OU=Domain Controllers," + root), nowhere}}
		}
		return map[string]place{"guid": {guid("CN=krbtgt,CN=Users," + root), nowhere}}
	case schema.Identity, schema.Reference:
		switch {
		case p.Group:
			return account("DnsAdmins", "CN=DnsAdmins,CN=Users,"+root)
		case strings.HasPrefix(p.Name, "ADComputer"):
			return account("DC1", "CN=DC1,OU=Domain Controllers,"+root)
		}
		return account("krbtgt", "CN=krbtgt,CN=Users,"+root)
	}
	return nil
}

// deletedOutside deletes a group outside CorpOU and returns its GUID.
func deletedOutside(s *systemtest.System) string {
	name := map[string]any{"GroupName": "Gone", "OUPath": systemtest.UsersContainer}
	a := s.Do(systemtest.CallFor(opstest.Find("group.createSecurity"), name))
	require.Equal(s.T, http.StatusCreated, a.Status, "%s", a.Body)
	require.NoError(s.T, s.DC1().Delete(s.T.Context(), "CN=Gone,"+systemtest.UsersContainer))
	return a.Envelope.Result[0]["guid"].(string)
}

var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

// anonymous returns an answer without its request id and without the reference.
func anonymous(a systemtest.Answer, reference string) string {
	text := requestID.ReplaceAllString(string(a.Body), "")
	// references above the limit contain the reference
	text = strings.ReplaceAll(text, systemtest.CorpOU, "<limit>")
	text = strings.ReplaceAll(text, strings.ReplaceAll(reference, `\`, `\\`), "<reference>")
	return http.StatusText(a.Status) + " " + a.Header.Get("X-Directory-Server") + " " + text
}

// TestObjectsOutsideTheLimitsSeemMissing sends references to objects outside the token's limits, in every
// form, and references to missing objects, in every parameter of every operation that names an object. The
// answers are equal except for the reference. The log and the audit distinguish the two cases. A plain run
// tries a share.
func TestObjectsOutsideTheLimitsSeemMissing(t *testing.T) {
	counts := map[string]int{}
	for _, op := range opstest.Own() {
		for i := range op.Params {
			p := &op.Params[i]
			if p.Kind != schema.DN && p.Kind != schema.GUID && p.Kind != schema.Identity &&
				p.Kind != schema.Reference {
				continue
			}
			if !thorough.OneOf(6, op.ID, p.Name) {
				continue
			}
			t.Run(op.ID+"/"+p.Name, func(t *testing.T) {
				s := systemtest.New(t, sandbox.Options{Seed: 1})
				if strings.HasPrefix(op.ID, "bin.") {
					s.Prepare(op)
				}
				params := map[string]any{}
				for name, value := range op.Sample {
					params[name] = value
				}
				if op.Effect == ops.Create && op.Param("OUPath") != nil {
					params["OUPath"] = systemtest.EmptyOU
				}
				for form, value := range outsiders(s, op, p) {
					base := s.Snapshot()
					ask := func(reference string) systemtest.Answer {
						params[p.Name] = reference
						s.Log.Reset()
						return s.Do(systemtest.CallFor(op, params).As(systemtest.CorpToken))
					}
					missing := ask(value.missing)
					exists := ask(value.exists)
					logged := s.Log.Lines(`"code":"limit"`)
					assert.Equal(t, anonymous(missing, value.missing), anonymous(exists, value.exists), form)
					assert.Len(t, logged, 1, "%s: the log says limit: %s", form, s.Log)
					switch {
					case form != "name" && form != "guid":
						require.Equal(t, http.StatusForbidden, exists.Status, "%s: %s", form, exists.Body)
						assert.Equal(t, "limit", exists.Envelope.Error.Code, form)
					case op.Reply.Mark == ops.Exists && exists.Status == http.StatusOK:
						assert.Equal(t, false, exists.Envelope.Result[0]["exists"], form)
					case p.Kind == schema.Reference:
						assert.Equal(t, http.StatusUnprocessableEntity, exists.Status, "%s: %s", form, exists.Body)
						assert.Contains(t, exists.Envelope.Output, "within the limits of this credential", form)
					default:
						assert.Equal(t, http.StatusNotFound, exists.Status, "%s: %s", form, exists.Body)
						assert.Contains(t, exists.Envelope.Output, "within the limits of this credential", form)
					}
					assert.Empty(t, base.Compare(s.Snapshot()), form)
					counts[form]++
					counts["pairs"]++
				}
				// Objects inside the limit exist, and so does the limit's own OU.
				for _, inside := range []any{op.Sample[p.Name], systemtest.CorpOU} {
					if inside == nil || inside == systemtest.CorpOU && p.Kind != schema.DN ||
						inside == systemtest.UsersContainer {
						continue
					}
					params[p.Name] = inside
					a := s.Do(systemtest.CallFor(op, params).As(systemtest.CorpToken))
					if limit := a.Envelope.Error != nil && a.Envelope.Error.Code == "limit"; limit {
						keeps := op.ID == "ou.rename" || op.ID == "ou.move" || op.ID == "ou.delete"
						assert.True(t, keeps && p.Name == "OUPath" && inside == systemtest.CorpOU, "%v: %s", inside, a.Body)
						counts["limit itself refused"]++
					}
					counts["inside"]++
				}
			})
		}
	}
	t.Logf("%v", counts)
	if thorough.All() {
		assert.Greater(t, counts["pairs"], 100)
		assert.Equal(t, 3, counts["limit itself refused"])
	}
}

// TestNamesTakenOutsideTellNothing: an answer must state that a name is taken, but must not reveal which
// object has the name.
func TestNamesTakenOutsideTellNothing(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	in := map[string]any{"OUPath": systemtest.EmptyOU}
	for _, c := range []systemtest.Call{
		{Method: http.MethodPost, Path: "/api/ADUser/krbtgt", Params: in},
		{Method: http.MethodPost, Path: "/api/ADUser/DC1", Params: in},
		{Method: http.MethodPost, Path: "/api/ADUser/krb tgt", Params: in},
		{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Rename/krbtgt"},
		{Method: http.MethodPost, Path: "/api/ADGroups/DnsAdmins/Security", Params: in},
		{Method: http.MethodPut, Path: "/api/ADGroups/VPN%20Users/Rename/DnsAdmins"},
		{Method: http.MethodPost, Path: "/api/Computers/DC1/Register", Params: in},
		{Method: http.MethodPut, Path: "/api/Computers/WEB1/Rename/DC1"},
	} {
		c.Path = strings.ReplaceAll(c.Path, " ", "%20")
		s.Log.Reset()
		a := s.Rejects(c.As(systemtest.CorpToken), http.StatusConflict, "conflict")
		assert.Regexp(t, `^The name '[^']*' is taken\.$`, a.Envelope.Output, c.Path)
		assert.Len(t, s.Log.Lines(`"code":"limit"`), 1)
	}
	// The refusal of a common name does not reveal an account outside the limit, and limits are checked before
	// conflicts.
	a := s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/Anna%20Schmidt/Disable",
		Token: systemtest.DeskToken}, http.StatusNotFound, "not_found")
	assert.Contains(t, a.Envelope.Output, "common name of: aschmidt", "what lies inside is named")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/aschmidt",
		Params: map[string]any{"OUPath": "CN=Users,DC=corp,DC=example"}, Token: systemtest.CorpToken},
		http.StatusForbidden, "limit")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/aschmidt",
		Token: systemtest.CorpToken}, http.StatusForbidden, "limit")
}

// TestTheOUOfALimitKeepsItsPlace: the credential may read and describe the OU of its limit
// and create objects in it, but must not rename, move or remove the OU.
func TestTheOUOfALimitKeepsItsPlace(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	limit := systemtest.LimitedOU
	for _, c := range []systemtest.Call{
		systemtest.RenameOU(limit, "Owned"), systemtest.MoveOU(limit, "OU=Sales,"+limit), systemtest.RemoveOU(limit, "Recursive", "true", "Force", "true"),
	} {
		a := s.Rejects(c.As(systemtest.LimitedToken), http.StatusForbidden, "limit")
		assert.Contains(t, a.Envelope.Output, "is itself a limit")
	}
	protected := s.OK(systemtest.ReadOU(limit).As(systemtest.LimitedToken), http.StatusOK)["protected"].(bool)
	s.Rejects(systemtest.UpdateOU(limit, "IsProtected", systemtest.Text(!protected)).As(systemtest.LimitedToken),
		http.StatusForbidden, "limit")
	s.OK(systemtest.UpdateOU(limit, "IsProtected", systemtest.Text(protected), "OUDescription",
		"ours").As(systemtest.LimitedToken), http.StatusOK)
	s.OK(systemtest.CreateOU("New", limit).As(systemtest.LimitedToken), http.StatusCreated)
}

// TestManagersOutsideAreNotShown: a record does not show the name of a manager who is outside the limit.
func TestManagersOutsideAreNotShown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.SetAttribute(systemtest.SampleUserDN, "manager", "CN=Administrator,CN=Users,DC=corp,DC=example")
	s.SetAttribute("CN=VPN Users,"+systemtest.SecurityOU, "managedBy",
		"CN=Administrator,CN=Users,DC=corp,DC=example")
	for _, path := range []string{"/api/ADUser/aschmidt/Details", "/api/ADGroups/VPN%20Users",
		"/api/ADUser/ListUsers/All?ShowFields=manager", "/api/ADGroups/All"} {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Token: systemtest.CorpToken})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.NotContains(t, string(a.Body), "CN=Users,DC=corp", path)
		assert.Contains(t, string(s.Get(path).Body), "CN=Administrator,CN=Users", path)
	}
}

// TestARecordThatHasLeftIsNotShown: the limits apply to the record in the answer, even while
// another caller moves the record in and out.
func TestARecordThatHasLeftIsNotShown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	moved, stop := make(chan int), make(chan struct{})
	go func() {
		moves := 0
		for ; ; moves++ {
			select {
			case <-stop:
				moved <- moves
				return
			default:
			}
			to := []string{systemtest.AthensOU, "OU=Sales," + systemtest.LimitedOU}[moves%2]
			s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
				Params: map[string]any{"OUPath": to, "ShowFields": "guid"}})
		}
	}()
	shown, left := 0, 0
	for range 400 {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
			Params: map[string]any{"City": strings.Repeat("x", 1+(shown+left)%9)}, Token: systemtest.LimitedToken})
		assert.NotContains(t, string(a.Body), "OU=Athens")
		switch a.Status {
		case http.StatusOK:
			shown++
		case http.StatusBadGateway:
			left++
			assert.Equal(t, "done", a.Envelope.Error.Outcome)
			assert.Contains(t, a.Envelope.Output, "within the limits of this credential")
		default:
			assert.Equal(t, http.StatusNotFound, a.Status, "%s", a.Body)
		}
	}
	close(stop)
	t.Logf("%d moves, %d records shown, %d had left", <-moved, shown, left)
}
