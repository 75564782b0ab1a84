package pages

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// events reads an event stream to its end.
func events(b *browser, page string) string {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.url+page, nil)
	require.NoError(b.t, err)
	r.Header.Set("Accept", "text/event-stream")
	answer, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	require.Equal(b.t, 200, answer.StatusCode)
	assert.Equal(b.t, "text/event-stream", answer.Header.Get("Content-Type"))
	text, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	return string(text)
}

// TestSecretsOfAListAreNotShown: the page that asks for the columns shows no value of a column whose name
// suggests a secret, or that was mapped to a secret.
func TestSecretsOfAListAreNotShown(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"))
	const list = "Wer;Start-Passwort;Wert;Ort\nlweber;Tr0ub4dor&3;Corr3ct-horse;Rom\n"
	status := upload(b, "new.csv", list, "operation", "user.resetPassword", "mode", "dryRun")
	require.Equal(t, 303, status, b.page)
	page := b.answer.Header.Get("Location")
	require.Equal(t, 200, b.get(page))
	assert.NotContains(t, b.page, "Tr0ub4dor", "it is named like a secret")
	assert.Contains(t, b.page, "Not shown: they may be passwords")
	assert.Contains(t, b.page, "Rom")

	require.Equal(t, 303, b.submitFrom(page, page, "c0", "", "c1", "", "c2", "newPassword", "c3", ""))
	require.Equal(t, 422, b.get(page))
	assert.NotContains(t, b.page, "Corr3ct", "it was mapped to a secret")
	assert.NotContains(t, b.page, "Tr0ub4dor", "it is still named like one")

	require.Equal(t, 200, b.get("/ui/jobs"))
	_, rows, _ := strings.Cut(list, "\n")
	status = upload(b, "new.csv", rows, "operation", "user.resetPassword", "mode", "dryRun")
	require.Equal(t, 303, status, b.page)
	require.Equal(t, 200, b.get(b.answer.Header.Get("Location")))
	assert.NotContains(t, b.page, "Tr0ub4dor", "it looks like a password")
}

// TestColumnsOfAListAreChosen: the page suggests a field for each column by the column's name in either
// language, names the ignored columns, keeps the choices, and shows mistakes at the column. The list is then
// previewed, run with its progress shown, and undone.
func TestColumnsOfAListAreChosen(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"))
	list := "Wer;Ort;Bemerkung\r\naschmidt;M\xfcnchen;\"eins;\nzwei\"\r\nahoffmann;=1+1;x\r\n"
	require.Equal(t, 303, upload(b, "latin.csv", list, "operation", "user.update", "mode", "dryRun"), b.page)
	page := b.answer.Header.Get("Location")
	require.Contains(t, page, "/ui/lists/")
	secret := strings.Replace(page, "/lists/", "/reveals/", 1)
	require.Equal(t, 410, b.get(secret), "it is no secret")
	require.Equal(t, 303, b.post(secret+"/close", b.form("/ui/look")), "which leaves the list")
	require.Equal(t, 200, b.get(page), "a copied link works")
	assert.Contains(t, b.page, "Not used: Wer, Bemerkung.")
	assert.Contains(t, b.page, "No column contains “Person”, which each row needs.")
	assert.Contains(t, html.UnescapeString(b.page), "München, =1+1", "the first values help to choose")
	assert.Contains(t, b.page, `<option value="City" selected>`)

	require.Equal(t, 303, b.submitFrom(page, page, "c0", "City", "c1", "City", "c2", "made up"))
	require.Equal(t, 422, b.get(page))
	assert.Contains(t, b.page, "Column 1 is already “City”.")
	assert.Equal(t, 2, strings.Count(b.page, `<option value="City" selected>`), "what was chosen is kept")
	require.Equal(t, 303, b.submit(page, "c0", "Username", "c1", "City", "c2", ""))
	job := b.answer.Header.Get("Location")
	require.Contains(t, job, "/ui/jobs/jb_")
	shows(b, job, job+"/start")
	assert.Contains(t, b.page, "2 of 2 items checked, none changed")
	assert.Contains(t, b.page, "latin.csv")
	assert.Contains(t, b.page, "<ins>München</ins>")
	assert.Contains(t, b.page, "<ins>=1&#43;1</ins>", "it is a text")
	assert.NotContains(t, b.page, "zwei")

	require.Equal(t, 303, b.submitFrom(job, job+"/start"))
	shows(b, job, `<span class="st ok">done</span>`)
	told := events(b, job+"/events")
	assert.Contains(t, told, "event: end\ndata: ")
	assert.Contains(t, told, "2 of 2 items, 100 %")
	assert.Equal(t, "München", s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]["city"])
	require.Equal(t, 200, b.get(job+"/result.csv"))
	assert.Contains(t, b.page, "\ufeffWer;Ort;Bemerkung;State;", "the list as it was uploaded")
	assert.Contains(t, b.page, "\naschmidt;München;\"eins;\r\nzwei\";done;")
	assert.Contains(t, b.page, "\nahoffmann;\"'=1+1\";x;done;")
	require.Equal(t, 200, b.get("/ui/jobs?sort=-what&view=done"))
	assert.Contains(t, b.page, `href="`+job+`"`)
	require.Equal(t, 200, b.get("/ui/jobs?view=rejected"))
	assert.NotContains(t, b.page, `href="`+job+`"`)
	require.Equal(t, 200, b.get("/ui/jobs?format=csv"))
	assert.Contains(t, b.page, "latin.csv")
	require.Equal(t, 303, b.submitFrom(job, job+"/undo"))
	undo := b.answer.Header.Get("Location")
	shows(b, undo, "/start")
	require.Equal(t, 303, b.submit(undo+"/start"))
	shows(b, undo, `<span class="st ok">done</span>`)
	assert.NotEqual(t, "München", s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]["city"])

	other := s.browser(t)
	other.signIn("operator")
	assert.Equal(t, 410, other.get(page), "it belongs to the session")
}

// TestCellsNameObjectsAsFieldsDo: like a field of a form, a cell may contain a name that people use, if the
// name is unambiguous. Otherwise the page shows the place of the mistake.
func TestCellsNameObjectsAsFieldsDo(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	send := func(operation, list string) string {
		require.Equal(t, 200, b.get("/ui/jobs"))
		require.Equal(t, 303, upload(b, "list.csv", list, "operation", operation, "mode", "dryRun"), b.page)
		return b.answer.Header.Get("Location")
	}
	page := send("user.update", "sep=;\r\nPerson;OUPath;City\r\n\"Weber, Lea\";IT;\"two\nlines\"\r\n"+
		"Nobody Here;Corp › Staff › Berlin › IT;Bonn\r\naschmidt;;Bonn\r\n")
	require.Equal(t, 422, b.get(page), "a copied link works")
	part := b.between(`aria-labelledby="cells"`, "</section>")
	for _, wrong := range [][3]string{
		{"3", "2", "There are several objects called IT: "}, {"5", "1", "Nobody Here"},
	} {
		at := `<td class="num" data-l="Line">` + wrong[0] + `</td><td class="num" data-l="Column">` + wrong[1] + `</td>`
		assert.Contains(t, part, at)
		assert.Contains(t, html.UnescapeString(part), wrong[2])
	}
	assert.Equal(t, 2, strings.Count(part, "<tr><td"), part)

	page = send("user.update", "Person;OUPath;City\r\n\"Weber, Lea\";Corp › Staff › Berlin › IT;Ulm\r\n"+
		"CORP\\aschmidt;;Ulm\r\nahoffmann@corp.example;;Ulm\r\nMarie Weber;;Ulm\r\n")
	require.Contains(t, page, "/ui/jobs/")
	shows(b, page, page+"/start")
	assert.Contains(t, b.page, "4 of 4 items checked, none changed")
	assert.NotContains(t, b.page, `id="items"`, "nothing fails")
	require.Equal(t, 200, b.get(page+"/result.csv"))
	for _, name := range []string{"lweber", "aschmidt", "ahoffmann", "mweber"} {
		assert.Contains(t, b.page, "\n"+name+";")
	}

	// The page for choosing columns shows such mistakes, too.
	page = send("membership.add", "Wer;Gruppe\r\nWeber, Lea;Finance Staf\r\n")
	require.Equal(t, 303, b.submitFrom(page, page, "c0", "Username", "c1", "GroupName"))
	require.Equal(t, 422, b.get(page))
	assert.Contains(t, b.page, "Did you mean Finance Staff")
	require.Equal(t, 303, b.submit(page, "c0", "Username", "c1", ""))
	require.Equal(t, 422, b.get(page), "the group is needed")
	assert.NotContains(t, b.page, `aria-labelledby="cells"`)
}

// TestAListThatIsTooLong: a list that is too long is not run, and the typed values are kept.
func TestAListThatIsTooLong(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	var list strings.Builder
	list.WriteString("Username,City\n")
	for i := range 20_001 {
		fmt.Fprintf(&list, "person%d,Rome\n", i)
	}
	require.Equal(t, 200, b.get("/ui/jobs"))
	status := upload(b, "", "", "operation", "user.update", "name", "everybody", "list", list.String())
	require.Equal(t, 413, status)
	before, after, _ := strings.Cut(html.UnescapeString(b.page), "person1,Rome")
	assert.Contains(t, before, "20000 items")
	assert.Contains(t, after, `value="everybody"`)
	assert.True(t, strings.Contains(after, "person20000,Rome"))
}

// TestListsKeepTheDomainOfALogonName: a list searches for DOMAIN\name as typed, and shows the text again.
func TestListsKeepTheDomainOfALogonName(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	for typed, found := range map[string]bool{"lweber": true, `CORP\lweber`: true, `EUROPE\lweber`: false} {
		require.Equal(t, 200, b.get("/ui/people?q="+url.QueryEscape(typed)))
		assert.Equal(t, found, strings.Contains(b.page, "/ui/people/"+lea), typed)
		assert.Contains(t, b.page, `value="`+typed+`"`)
	}
}
