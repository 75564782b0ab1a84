package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sites are two gateways, each of a site that has a domain controller of its own.
type sites struct {
	t        *testing.T
	gateways []*runningSandbox
	audits   []string // their files
	token    string
	order    func(args ...string) // to the domain
}

// newSites starts them over the simulated domain, and the entries of an LDIF file.
func newSites(t *testing.T, entries string) *sites {
	dir := t.TempDir()
	ldif := filepath.Join(dir, "entries.ldif")
	require.NoError(t, os.WriteFile(ldif, []byte(entries), 0o600))
	ticket, orders := filepath.Join(dir, "ticket"), filepath.Join(dir, "orders")
	domain, _ := startProcess(t, "the domain corp.example listens on ", "sandbox", "domain", "--ldif", ldif, "--listen", "127.0.0.1:0", "--ticket-file", ticket, "--orders-file", orders, "--log-level", "error")
	s := &sites{t: t, order: func(args ...string) {
		code, _, stderr := runCommand(t, append([]string{"sandbox", "order", "--domain", domain, "--orders-file", orders}, args...)...)
		require.Zero(t, code, stderr)
	}}
	_, files := clusterSettings(t, enginetest.Start(t, 1), "gw1", "gw2")
	for i, site := range []string{"rome", "oslo"} {
		text, err := os.ReadFile(files[i])
		require.NoError(t, err)
		changed := strings.Replace(string(text), "cluster:\n", "cluster:\n  site: "+site+"\n", 1)
		changed += fmt.Sprintf("servers:\n  controllers: [dc%d.corp.example]\n", i+1)
		require.NoError(t, os.WriteFile(files[i], []byte(changed), 0o600))
		s.audits = append(s.audits, filepath.Join(filepath.Dir(files[i]), "audit.jsonl"))
	}
	command(t, "cluster", "init", "--config="+files[0])
	s.token = command(t, "token", "create", "terraform", "--config="+files[0], "--scope", "*")
	for i, name := range []string{"gw1", "gw2"} {
		s.gateways = append(s.gateways, startSandbox(t, "--config="+files[i], "--domain", domain, "--ticket-file", ticket, "--gateway-name", name, "--log-level", "error"))
	}
	for i := range s.gateways {
		require.Eventually(t, func() bool {
			return s.sendOnce(i, http.MethodGet, "/readyz?lane=changes").status == http.StatusOK
		}, patience, 10*time.Millisecond)
	}
	return s
}

// told is an answer: the code of its error, and the change that was made of what.
type told struct {
	status                      int
	code, outcome, change, guid string
}

// send makes a call, again for as long as the gateway is not ready for it: on a busy machine
// a gateway may lose the store for a moment.
func (s *sites) send(gateway int, method, path string) (a told) {
	require.Eventually(s.t, func() bool {
		a = s.sendOnce(gateway, method, path)
		return a.status != http.StatusServiceUnavailable || a.outcome != "none"
	}, patience, 10*time.Millisecond)
	return a
}

func (s *sites) sendOnce(gateway int, method, path string) told {
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.gateways[gateway].url+path, nil)
	require.NoError(s.t, err)
	request.Header.Set("Auth-Token", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	var answer struct {
		Error  struct{ Code, Outcome string }
		Result []struct{ GUID string }
	}
	require.NoError(s.t, json.NewDecoder(response.Body).Decode(&answer))
	a := told{status: response.StatusCode, code: answer.Error.Code, outcome: answer.Error.Outcome, change: response.Header.Get("X-Change-Id")}
	if len(answer.Result) > 0 {
		a.guid = answer.Result[0].GUID
	}
	return a
}

// does makes a call that succeeds.
func (s *sites) does(gateway int, method, path string) told {
	a := s.send(gateway, method, path)
	require.Less(s.t, a.status, http.StatusBadRequest, "%s: %s", path, a.code)
	return a
}

// becomes waits until calls end with a code.
func (s *sites) becomes(code string, gateway int, method, path string) {
	require.Eventually(s.t, func() bool { return s.send(gateway, method, path).code == code }, patience, 10*time.Millisecond)
}

// cut makes the two controllers know nothing of each other's changes, until heal.
func (s *sites) cut()  { s.order("cut", "dc1.corp.example", "dc2.corp.example") }
func (s *sites) heal() { s.order("heal", "dc1.corp.example", "dc2.corp.example") }

// TestANameIsGivenAtOneSite: as long as two domain controllers do not know of each other's
// changes, a name that a gateway of one site has given is not given by one of the other. As
// soon as they do, the controller's own rule decides. The audit says where
// each of them gave it.
func TestANameIsGivenAtOneSite(t *testing.T) {
	s := newSites(t, "")
	const group = "/api/ADGroups/anna/Security?GroupScope=Global"
	s.cut()
	s.does(0, http.MethodPost, group)
	refused := s.send(1, http.MethodPost, group)
	assert.Equal(t, http.StatusConflict, refused.status)
	assert.Equal(t, "name_pending", refused.code)
	s.heal()
	s.becomes("conflict", 1, http.MethodPost, group)

	evidence, err := os.ReadFile(s.audits[0])
	require.NoError(t, err)
	assert.Regexp(t, `"event":"intent".*"operation":"group.createSecurity".*"server":"dc1.corp.example","pinEpoch":1`, string(evidence))
	assert.Regexp(t, `"event":"outcome".*"operation":"group.createSecurity".*"server":"dc1.corp.example","pinEpoch":1`, string(evidence))
}

// TestARestoredNameIsGivenAtOneSite: what comes back from the Recycle Bin has its names
// again, and so has what comes back with it. An undo that restores is no exception, and what
// the other site had made is no rival of itself.
func TestARestoredNameIsGivenAtOneSite(t *testing.T) {
	const staff, empty = "OU=Staff,OU=Corp,DC=corp,DC=example", "OU=Empty,OU=Corp,DC=corp,DC=example"
	const tree = "OU=Tree," + empty
	s := newSites(t, "dn: CN=carl,"+empty+"\nobjectClass: user\nsAMAccountName: carl\nuserPrincipalName: karl@corp.example\n")
	user := func(name string, in ...string) string {
		path := "/api/ADUser/" + name
		for _, ou := range in {
			path += "?OUPath=" + url.QueryEscape(ou)
		}
		return path
	}
	s.does(1, http.MethodPost, "/api/OU?OUName=Tree&IsProtected=false&OUDestinationPath="+url.QueryEscape(empty))
	s.does(1, http.MethodPost, user("below", tree))
	s.does(1, http.MethodPost, user("made"))
	for _, name := range []string{"below", "made"} {
		s.becomes("", 0, http.MethodGet, user(name)+"/Details")
	}
	top := s.does(0, http.MethodDelete, "/api/OU/Path/Remove?Recursive=true&OUPath="+url.QueryEscape(tree))
	removed := map[string]told{}
	for _, name := range []string{"made", "aschmidt", "carl"} {
		removed[name] = s.does(0, http.MethodDelete, user(name))
	}
	for _, name := range []string{"below", "made", "aschmidt", "carl"} {
		s.becomes("not_found", 1, http.MethodGet, user(name)+"/Details")
	}

	s.cut()
	s.does(0, http.MethodPut, "/api/RecycleBin/"+top.guid+"/Restore?Recursive=true")
	s.does(0, http.MethodPut, "/api/RecycleBin/"+removed["made"].guid+"/Restore")
	s.does(0, http.MethodPut, "/api/RecycleBin/"+removed["carl"].guid+"/Restore")
	s.does(0, http.MethodPut, "/api/Changes/"+removed["aschmidt"].change+"/Undo")
	again := []string{"below", "made", "aschmidt", "karl"} // the last is a logon name only
	for _, name := range again {
		refused := s.send(1, http.MethodPost, user(name, staff))
		assert.Equal(t, http.StatusConflict, refused.status, name)
		assert.Equal(t, "name_pending", refused.code, name)
	}
	s.heal()
	for _, name := range again {
		s.becomes("conflict", 1, http.MethodPost, user(name, staff))
	}
}
