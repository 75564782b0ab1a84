package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/negotiate/negotiatetest"
)

// realm is a sandbox that accepts its people's tickets.
type realm struct {
	*runningSandbox
	*negotiatetest.Authority
}

func startRealm(t *testing.T, mode string, args ...string) *realm {
	t.Helper()
	authority := negotiatetest.New(t)
	args = append(args, "--token", "t", "--set", "signIn.mode="+mode, "--set", "signIn.keytab="+authority.Keytab)
	return &realm{startSandbox(t, args...), authority}
}

// reply is an HTTP response with its body.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r *realm) send(t *testing.T, method, path, body string, header map[string]string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := http.Client{CheckRedirect: stay}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{response.StatusCode, response.Header, string(text)}
}

// as returns the headers of a person's call. more contains the names and values of further headers in turn.
func (r *realm) as(t *testing.T, name string, more ...string) map[string]string {
	t.Helper()
	header := map[string]string{"Authorization": r.Header(t, negotiatetest.Ticket{Name: name})}
	for i := 0; i < len(more); i += 2 {
		header[more[i]] = more[i+1]
	}
	return header
}

const details = "/api/ADUser/lweber/Details"

func TestCallsWithATicket(t *testing.T) {
	r := startRealm(t, "form+kerberos")
	asked := r.send(t, http.MethodGet, details, "", nil)
	assert.Equal(t, http.StatusUnauthorized, asked.status)
	assert.Equal(t, []string{`Bearer realm="adgateway"`, "Negotiate"}, asked.header.Values("WWW-Authenticate"))

	who := r.send(t, http.MethodGet, "/api/WhoAmI", "", r.as(t, "helpdesk"))
	require.Equal(t, http.StatusOK, who.status, who.body)
	var answer struct {
		Result []struct {
			Name, Kind string
			Scopes     []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(who.body), &answer), who.body)
	require.Len(t, answer.Result, 1)
	assert.Equal(t, "helpdesk", answer.Result[0].Name)
	assert.Equal(t, "person", answer.Result[0].Kind)
	assert.Contains(t, answer.Result[0].Scopes, "user:password", "the role of the group counts")

	proved := r.send(t, http.MethodGet, details, "", map[string]string{
		"Authorization": r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Mutual: true})})
	assert.Equal(t, http.StatusOK, proved.status, proved.body)
	assert.Contains(t, proved.header.Get("WWW-Authenticate"), "Negotiate ", "the gateway proves itself")

	none := r.send(t, http.MethodGet, details, "", r.as(t, "norights"))
	assert.Equal(t, http.StatusForbidden, none.status)
	assert.Contains(t, none.body, "user:read", "it names the scope")
	two := r.send(t, http.MethodGet, details, "", r.as(t, "helpdesk", "Auth-Token", "Bearer t"))
	assert.Equal(t, http.StatusBadRequest, two.status, two.body)
	twice := r.send(t, http.MethodPut, "/api/ADUser/lweber", `{"Auth-Token":"Bearer t","JobTitle":"x"}`, r.as(t, "operator"))
	assert.Equal(t, http.StatusBadRequest, twice.status, twice.body)
	var ready reply // the sessions for DNS may still be starting
	require.Eventually(t, func() bool {
		ready = r.send(t, http.MethodGet, "/readyz", "", r.as(t, "operator"))
		return ready.status == http.StatusOK
	}, patience, 10*time.Millisecond)
	assert.Contains(t, ready.body, `"reason"`)
	basic := r.send(t, http.MethodGet, details, "", map[string]string{"Auth-Token": "Bearer t"})
	assert.Equal(t, http.StatusOK, basic.status, "tokens go on")
}

func TestTicketsThatCallsAreRefusedWith(t *testing.T) {
	r := startRealm(t, "kerberos")
	used := r.Header(t, negotiatetest.Ticket{Name: "helpdesk"})
	first := r.send(t, http.MethodGet, details, "", map[string]string{"Authorization": used})
	require.Equal(t, http.StatusOK, first.status, first.body)
	whole := r.Token(t, negotiatetest.Ticket{Name: "helpdesk"})
	encoded := func(token []byte) string { return "Negotiate " + base64.StdEncoding.EncodeToString(token) }
	for name, c := range map[string]struct{ header, sentence, cause string }{
		"another service": {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Service: "cifs/gateway.corp.example"}), "for another service", "cifs/gateway"},
		"used":            {used, "was already used", "same authenticator"},
		"expired":         {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Begins: -11 * time.Hour, Ends: -time.Hour}), "has expired", "expired"},
		"the clock":       {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Clock: -6 * time.Minute}), "more than five minutes", "skew"},
		"another domain":  {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Realm: "OTHER.EXAMPLE"}), "Accounts of your domain", "OTHER.EXAMPLE"},
		"an at sign":      {r.Header(t, negotiatetest.Ticket{Name: "helpdesk@corp.example"}), "does not belong to a person", "has a character"},
		"a backslash":     {r.Header(t, negotiatetest.Ticket{Name: `CORP\helpdesk`}), "does not belong to a person", "has a character"},
		"not yet valid":   {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Begins: time.Hour, Ends: 2 * time.Hour}), "is not valid yet", "not yet valid"},
		"a fast clock":    {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Clock: 6 * time.Minute}), "more than five minutes", "skew"},
		"another forest": {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Realm: "OTHER.EXAMPLE", Data: r.Data(t, negotiatetest.Account{
			Name: "helpdesk", Domain: "OTHER", DomainSID: "S-1-5-21-7-8-9", ID: 1105, Groups: []uint32{512}})}), "Accounts of your domain", "OTHER"},
		"data that is not signed": {r.Header(t, negotiatetest.Ticket{Name: "helpdesk", Data: r.Unsigned(t, negotiatetest.Account{
			Name: "helpdesk", Domain: "CORP", DomainSID: "S-1-5-21-1-2-3", ID: 1105})}), "is not valid here", "checksum"},
		"a computer": {r.Header(t, negotiatetest.Ticket{Name: "PC1$"}), "does not belong to a person", "of a computer"},
		"nobody":     {r.Header(t, negotiatetest.Ticket{Name: "nobody"}), "may not log on", "no account with the name"},
		"NTLM":       {encoded([]byte("NTLMSSP\x00\x01")), "NTLM is not accepted", "NTLM"},
		"NTLM, wrapped": {encoded(negotiatetest.Wrap(t, []byte("NTLMSSP\x00"), asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 2, 10})),
			"NTLM is not accepted", "NTLM"},
		"64 kB":        {encoded(make([]byte, 64<<10)), "too large", "bytes"},
		"half a token": {encoded(whole[:len(whole)/2]), "cannot be read", "not a NegTokenInit"},
		"no base64":    {"Negotiate ???", "cannot be read", "empty"},
		"nothing":      {"Negotiate", "cannot be read", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			id := "ticket-" + strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "")
			header := map[string]string{"Authorization": c.header, "X-Request-Id": id}
			got := r.send(t, http.MethodGet, details, "", header)
			assert.Equal(t, http.StatusUnauthorized, got.status, got.body)
			assert.Contains(t, got.body, c.sentence)
			assert.Equal(t, []string{`Bearer realm="adgateway"`, "Negotiate"}, got.header.Values("WWW-Authenticate"))
			assert.NotContains(t, got.body, "skew greater", "the cause is for the log")
			line := ""
			for text := range strings.SplitSeq(r.log.String(), "\n") {
				if strings.Contains(text, id) {
					line = text
				}
			}
			assert.Contains(t, line, c.cause, "the log says why")
			assert.NotContains(t, line, strings.TrimPrefix(c.header, "Negotiate ")+"\"")
		})
	}
}

// TestAUsedTicketStaysUsedAfterARestart: the ticket of an earlier call is refused for another call, even
// after a restart, and for a sign-in.
func TestAUsedTicketStaysUsedAfterARestart(t *testing.T) {
	store := "store.file=" + filepath.Join(t.TempDir(), "state.db")
	r := startRealm(t, "kerberos", "--set", store)
	used := map[string]string{"Authorization": r.Header(t, negotiatetest.Ticket{Name: "helpdesk"})}
	first := r.send(t, http.MethodGet, details, "", used)
	require.Equal(t, http.StatusOK, first.status, first.body)
	page := r.send(t, http.MethodGet, "/ui/signin/kerberos", "", used)
	assert.Equal(t, http.StatusUnauthorized, page.status, "nor to sign in")
	require.Zero(t, r.stop())
	again := &realm{startSandbox(t, "--token", "t", "--set", "signIn.mode=kerberos",
		"--set", "signIn.keytab="+r.Keytab, "--set", store), r.Authority}
	got := again.send(t, http.MethodGet, details, "", used)
	assert.Equal(t, http.StatusUnauthorized, got.status, got.body)
	assert.Contains(t, got.body, "was already used")
	other := again.send(t, http.MethodGet, details, "", again.as(t, "helpdesk"))
	assert.Equal(t, http.StatusOK, other.status, other.body)
}

// TestTheDocumentNamesTickets: the OpenAPI document names tickets only if the gateway accepts them.
func TestTheDocumentNamesTickets(t *testing.T) {
	for mode, named := range map[string]bool{"form": false, "form+kerberos": true} {
		args := []string{"--token", "t", "--set", "signIn.mode=" + mode}
		if named {
			args = append(args, "--set", "signIn.keytab="+negotiatetest.New(t).Keytab)
		}
		r := &realm{runningSandbox: startSandbox(t, args...)}
		document := r.send(t, http.MethodGet, "/openapi.json", "", nil)
		require.Equal(t, http.StatusOK, document.status)
		assert.Equal(t, named, strings.Contains(document.body, `"Negotiate":[]`), mode)
	}
}

// TestBrowsersAttachTickets: a page of another site cannot change anything with the tickets that browsers
// attach to its requests.
func TestBrowsersAttachTickets(t *testing.T) {
	r := startRealm(t, "form+kerberos")
	const title = `{"JobTitle":"Buyer"}`
	for name, c := range map[string]struct {
		header []string
		status int
	}{
		"a program":               {nil, http.StatusOK},
		"a page of the gateway":   {[]string{"Sec-Fetch-Site", "same-origin", "Origin", r.url}, http.StatusOK},
		"a page of another site":  {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, http.StatusForbidden},
		"a page of a sister site": {[]string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"typed by the person":     {[]string{"Sec-Fetch-Site", "none"}, http.StatusForbidden},
		"an old browser":          {[]string{"Origin", r.url}, http.StatusForbidden},
		"an origin without name":  {[]string{"Origin", "null"}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.send(t, http.MethodPut, "/api/ADUser/lweber", title, r.as(t, "operator", c.header...))
			assert.Equal(t, c.status, got.status, got.body)
		})
	}
	read := r.send(t, http.MethodGet, details, "", r.as(t, "operator", "Sec-Fetch-Site", "same-site"))
	assert.Equal(t, http.StatusOK, read.status, "reading changes nothing, and the page cannot see the answer")
	token := map[string]string{"Auth-Token": "Bearer t", "Origin": r.url}
	own := r.send(t, http.MethodPut, "/api/ADUser/lweber", title, token)
	assert.Equal(t, http.StatusOK, own.status, "browsers do not attach tokens")
}

func TestThePageSignsInByATicket(t *testing.T) {
	r := startRealm(t, "form+kerberos")
	navigate := map[string]string{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"}
	for _, path := range []string{"/ui/people?q=lweber", "/ui/signin", "/ui/"} {
		first := r.send(t, http.MethodGet, path, "", navigate)
		require.Equal(t, http.StatusSeeOther, first.status, path)
		assert.True(t, strings.HasPrefix(first.header.Get("Location"), "/ui/signin/kerberos?next="), path)
	}
	const at = "/ui/signin/kerberos?next=%2Fui%2Fpeople%3Fq%3Dlweber"
	asked := r.send(t, http.MethodGet, at, "", navigate)
	assert.Equal(t, http.StatusUnauthorized, asked.status)
	assert.Equal(t, []string{"Negotiate"}, asked.header.Values("WWW-Authenticate"))
	assert.Contains(t, asked.body, `name="password"`, "who cancels has the form")
	require.Equal(t, "1", cookieOf(asked, "adgateway-form"))
	marked := map[string]string{"Sec-Fetch-Mode": "navigate", "Cookie": "adgateway-form=1"}
	again := r.send(t, http.MethodGet, "/ui/people", "", marked)
	assert.Equal(t, http.StatusUnauthorized, again.status, "such a browser is not asked again")
	assert.Empty(t, again.header.Values("WWW-Authenticate"))
	assert.Contains(t, again.body, "/ui/signin/kerberos?next=", "but by a link")

	helpdesk := r.as(t, "helpdesk", "Sec-Fetch-Mode", "navigate", "Cookie", "adgateway-form=1")
	in := r.send(t, http.MethodGet, at, "", helpdesk)
	require.Equal(t, http.StatusSeeOther, in.status, in.body)
	assert.Equal(t, "/ui/people?q=lweber", in.header.Get("Location"))
	assert.Empty(t, cookieOf(in, "adgateway-form"))
	session := cookieOf(in, "adgateway")
	require.NotEmpty(t, session)
	cookie := map[string]string{"Cookie": "adgateway=" + session}
	page := r.send(t, http.MethodGet, "/ui/people?q=lweber", "", cookie)
	assert.Equal(t, http.StatusOK, page.status)
	assert.Contains(t, page.body, `<p><b>helpdesk</b>`)
	api := r.send(t, http.MethodGet, details, "", cookie)
	assert.Equal(t, http.StatusUnauthorized, api.status, "the session is for the pages only")

	foreign := r.as(t, "helpdesk", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Site", "cross-site")
	picture := r.send(t, http.MethodGet, at, "", foreign)
	assert.Equal(t, http.StatusUnauthorized, picture.status, "another site starts no session")
	ntlm := "Negotiate " + base64.StdEncoding.EncodeToString([]byte("NTLMSSP\x00\x01"))
	refused := r.send(t, http.MethodGet, at, "", map[string]string{"Authorization": ntlm})
	assert.Equal(t, http.StatusUnauthorized, refused.status)
	assert.Contains(t, refused.body, "NTLM is not accepted")
	assert.Contains(t, refused.body, `name="password"`, "the form is the other way in")
	assert.Empty(t, refused.header.Values("WWW-Authenticate"), "nothing is asked for again")
	const evil = "/ui/signin/kerberos?next=https://evil.example/"
	elsewhere := r.send(t, http.MethodGet, evil, "", r.as(t, "helpdesk"))
	assert.Equal(t, "/ui/", elsewhere.header.Get("Location"))
}

// cookieOf returns the last value of a cookie in a response.
func cookieOf(r reply, name string) (value string) {
	for _, line := range r.header.Values("Set-Cookie") {
		if cookie, err := http.ParseSetCookie(line); err == nil && cookie.Name == name {
			value = cookie.Value
			if cookie.MaxAge < 0 {
				value = ""
			}
		}
	}
	return value
}

// TestAccountsOfTicketsAreLookedUp: an account that presents a ticket is looked up in the
// same way as one that presents a password.
func TestAccountsOfTicketsAreLookedUp(t *testing.T) {
	r := startRealm(t, "kerberos")
	token := map[string]string{"Auth-Token": "Bearer t"}
	call := func(method, path, body string) {
		t.Helper()
		got := r.send(t, method, path, body, token)
		require.Less(t, got.status, 300, got.body)
	}
	call(http.MethodPut, "/api/ADUser/helpdesk/Disable", "")
	got := r.send(t, http.MethodGet, details, "", r.as(t, "helpdesk"))
	assert.Equal(t, http.StatusUnauthorized, got.status)
	assert.Contains(t, got.body, "may not log on")
	page := r.send(t, http.MethodGet, "/ui/signin/kerberos", "", r.as(t, "helpdesk"))
	assert.Equal(t, http.StatusUnauthorized, page.status)
	call(http.MethodDelete, "/api/ADUser/operator/Group/GW-Operators", "")
	got = r.send(t, http.MethodGet, details, "", r.as(t, "operator"))
	assert.Equal(t, http.StatusForbidden, got.status, "it is in the group no more: %s", got.body)
	form := r.send(t, http.MethodGet, "/ui/signin", "", nil)
	assert.NotContains(t, form.body, `name="password"`, "the mode is kerberos alone")
}

// TestATicketListsTheObjectsOfAllRoles: the order of the roles in the settings makes no difference.
func TestATicketListsTheObjectsOfAllRoles(t *testing.T) {
	const all = `"scopes":["user:read","computer:read","group:read"]`
	const berlin = all + `,"limits":{"ous":["OU=Berlin,OU=People,OU=Corp,DC=corp,DC=example"]}`
	for name, roles := range map[string][2]string{
		"the narrow one first": {berlin, all}, "the wide one first": {all, berlin},
	} {
		t.Run(name, func(t *testing.T) {
			r := startRealm(t, "kerberos", "--set", `signIn.roles=[
				{"group":"GW-Helpdesk",`+roles[0]+`},{"group":"GW-Operators",`+roles[1]+`}]`)
			token := map[string]string{"Auth-Token": "Bearer t"}
			added := r.send(t, http.MethodPost, "/api/ADUser/operator/Group/GW-Helpdesk", "", token)
			require.Less(t, added.status, 300, added.body)
			const list = "/api/ADUser/ListUsers/All"
			for _, path := range []string{"/api/Search?Text=operator", list, list + "?Limit=500"} {
				got := r.send(t, http.MethodGet, path, "", r.as(t, "operator"))
				require.Equal(t, http.StatusOK, got.status, got.body)
				assert.Contains(t, got.body, `"username":"operator"`, path)
			}
		})
	}
}

// TestRolesOfATicketAreNotMerged: a single role must allow the whole call.
func TestRolesOfATicketAreNotMerged(t *testing.T) {
	r := startRealm(t, "kerberos", "--set", `signIn.roles=[
		{"group":"GW-Helpdesk","scopes":["user:read"],"limits":{"ous":["OU=Nobody,OU=Corp,DC=corp,DC=example"]}},
		{"group":"GW-Operators","scopes":["user:read","group:read"]}]`)
	token := map[string]string{"Auth-Token": "Bearer t"}
	added := r.send(t, http.MethodPost, "/api/ADUser/operator/Group/GW-Helpdesk", "", token)
	require.Less(t, added.status, 300, added.body)
	for path, status := range map[string]int{
		details:                            http.StatusOK, // outside the limits of the first role
		"/api/ADGroups/GW-Helpdesk/Exists": http.StatusOK, // needs a scope that only the second role has
		"/api/OU/All":                      http.StatusForbidden,
		"/api/ADUser/nobody/Details":       http.StatusNotFound,
	} {
		got := r.send(t, http.MethodGet, path, "", r.as(t, "operator"))
		assert.Equal(t, status, got.status, "%s: %s", path, got.body)
	}
}
