package pages

import (
	"html"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestAListWithoutNamesOfColumns: the first row of a list is data if it contains no known column name. The
// person can change this, even without JavaScript. Lines keep their numbers.
func TestAListWithoutNamesOfColumns(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	send := func(list string) string {
		require.Equal(t, 200, b.get("/ui/jobs"))
		require.Equal(t, 303, upload(b, "list.csv", list, "operation", "user.update", "mode", "dryRun"), b.page)
		page := b.answer.Header.Get("Location")
		require.Contains(t, page, "/ui/lists/")
		require.Equal(t, 200, b.get(page))
		return page
	}
	page := send("aschmidt;Bonn;x;S3cret\nnobody.here;Köln\n")
	assert.Contains(t, b.page, `value="data" checked`)
	assert.Contains(t, b.page, "aschmidt, nobody.here", "the first row is data")
	require.Equal(t, 303, b.submit(page, "c0", "Username", "c1", "City", "c2", "", "c3", ""))
	job := b.answer.Header.Get("Location")
	shows(b, job, job+"/start")
	assert.Contains(t, b.page, "2 of 2 items checked, none changed")
	items := b.between(`aria-labelledby="items"`, "</section>")
	assert.Contains(t, items, `<td data-l="Line">2</td>`, "it is the second line of the file")
	require.Equal(t, 200, b.get(job+"/result.csv"))
	assert.Contains(t, b.page, "\ufeffUsername;City;Column 3;Column 4;State;")
	assert.Contains(t, b.page, "\naschmidt;Bonn;;;done;", "columns without a name may have secrets")

	page = send("aschmidt;Bonn\nahoffmann;Köln\n")
	require.Equal(t, 303, b.submit(page, "first", "names", "c0", "Username", "c1", "City"))
	job = b.answer.Header.Get("Location")
	shows(b, job, "1 of 1 items checked")

	page = send("Ort;Wer\nBonn;aschmidt\n")
	assert.Contains(t, b.page, `value="names" checked`)
	assert.Contains(t, b.page, `<option value="City" selected>`)
	require.Equal(t, 303, b.submit(page, "first", "data", "c0", "City", "c1", ""))
	require.Equal(t, 422, b.get(page), "nobody is named")
	assert.Contains(t, b.page, `value="data" checked`)
	assert.Contains(t, b.page, "Ort, Bonn")
	assert.Contains(t, b.page, `<option value="City" selected>`, "what was chosen is kept")
	require.Equal(t, 303, b.submit(page, "first", "names", "c0", "", "c1", ""))
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, `<option value="City" selected>`, "nothing was chosen, so it is suggested again")
}

// TestEveryListNamesObjectsAsFieldsDo: lists in JSON, and lists with an operation in each row, may also
// contain the names that people use. A mistake does not lose any typed value.
func TestEveryListNamesObjectsAsFieldsDo(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	const (
		right = "Weber, Lea"
		wrong = "Nobody Here"
	)
	for name, c := range map[string]struct {
		operation, list, at string
		columns             bool
	}{
		"one item per line": {"user.update", `{"parameters": {"Username": "NAME", "City": "Ulm"}}` + "\n\n" +
			`{"operation": "membership.add", "parameters": {"Username": "Marie Weber", "GroupName": "Finance Staff"}}`,
			"1", false},
		"a document": {"", `{"items": [` + "\n" +
			`{"operation": "user.unlock", "parameters": {"Username": "Marie Weber"}},` + "\n" +
			`{"parameters": {"Username": "NAME", "City": "Ulm"}, "operation": "user.update"}]}`, "3", false},
		"operations": {"", "Operation;Person;Gruppe;City\nmembership.add;Marie Weber;Finance Staff;\n" +
			"user.update;NAME;;Ulm\n", "3", true},
		"one operation is common": {"user.update", "Operation;Person;OUPath\nuser.unlock;Marie Weber;\n" +
			";NAME;Corp › Staff › Berlin › IT\n", "3", true},
	} {
		require.Equal(t, 200, b.get("/ui/jobs"), name)
		typed := strings.ReplaceAll(c.list, "NAME", wrong)
		status := upload(b, "", "", "operation", c.operation, "name", "Mine", "list", typed)
		require.Equal(t, 303, status, "%s: %s", name, b.page)
		page := b.answer.Header.Get("Location")
		require.Contains(t, page, "/ui/lists/", name)
		if status := b.get(page); status == 200 && c.columns {
			pairs := []string{"c1", "Username", "c2", "GroupName", "c3", "City"}
			require.Equal(t, 303, b.submit(page, pairs...), name)
		}
		require.Equal(t, 422, b.get(page), name)
		part := html.UnescapeString(b.between(`aria-labelledby="cells"`, "</section>"))
		assert.Contains(t, part, `<td class="num" data-l="Line">`+c.at+`</td>`, name)
		assert.Contains(t, part, wrong, name)
		assert.Equal(t, 1, strings.Count(part, "<tr><td"), "%s: %s", name, part)
		require.Equal(t, 303, b.submit(page), "it may be sent again")

		_, id, _ := strings.Cut(page, "/ui/lists/")
		edit := "/ui/jobs?list=" + id
		require.Equal(t, 422, b.get(page))
		require.Contains(t, b.page, `href="`+edit+`"`)
		require.Equal(t, 200, b.get(edit), name)
		assert.Contains(t, html.UnescapeString(b.page), typed, "nothing typed is lost")
		assert.Contains(t, b.page, `value="Mine"`)
		typed = strings.ReplaceAll(c.list, "NAME", right)
		status = upload(b, "", "", "operation", c.operation, "mode", "dryRun", "list", typed)
		require.Equal(t, 303, status, "%s: %s", name, b.page)
		job := b.answer.Header.Get("Location")
		if strings.Contains(job, "/ui/lists/") {
			page = job
			require.Equal(t, 200, b.get(page), name)
			pairs := []string{"c1", "Username", "c2", "GroupName", "c3", "City"}
			require.Equal(t, 303, b.submit(page, pairs...), name)
			job = b.answer.Header.Get("Location")
		}
		require.Contains(t, job, "/ui/jobs/jb_", name)
		require.Eventually(t, func() bool {
			require.Equal(t, 200, b.get(job))
			return !strings.Contains(b.page, "data-events")
		}, systemtest.Patience, 20*time.Millisecond)
		require.Contains(t, b.page, "2 of 2 items checked", name)
		assert.NotContains(t, b.page, `id="items"`, "%s: nothing fails", name)
	}
	assert.Equal(t, 200, b.get("/ui/jobs?list=nosuch"))
}

// TestAListSurvivesSignIn: a list that is sent after the session has ended is still in the form after the
// person has signed in again, unless it may contain secrets.
func TestAListSurvivesSignIn(t *testing.T) {
	s := start(t)
	for name, c := range map[string]struct {
		list string
		kept bool
	}{
		"list":        {"Person;City\naschmidt;Ulm & \"Köln\"\n", true},
		"secrets":     {"Person;Kennwort\naschmidt;Tr0ub4dor\n", false},
		"password":    {"aschmidt;Tr0ub4dor&3\n", false},
		"JSON":        {`{"items": [{"parameters": {"Username": "aschmidt", "NewPassword": "Tr0ub4dor"}}]}`, false},
		"long":        {strings.Repeat("aschmidt;Tr0ub4dor\n", 1000), false},
		"no list yet": {"", false},
	} {
		b := s.browser(t)
		b.signIn("operator")
		require.Equal(t, 200, b.get("/ui/jobs"))
		form := b.page
		require.Equal(t, 303, b.submit("/ui/signout"))
		b.page = form
		status := upload(b, "", "", "operation", "user.update", "mode", "validate", "name", "Mine", "list", c.list)
		require.Equal(t, 401, status, name)
		assert.NotContains(t, b.page, "Tr0ub4dor", name)
		require.Equal(t, 303, b.submit("/ui/signin", "username", "operator", "password", password), name)
		require.Equal(t, 200, b.follow(), name)
		assert.Contains(t, b.page, `<option value="user.update" selected>`, name)
		assert.Contains(t, b.page, `<option value="validate" selected>`, name)
		assert.Contains(t, b.page, `value="Mine"`, name)
		if c.kept {
			assert.Contains(t, html.UnescapeString(b.page), c.list, name)
		}
	}
}
