package browser

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
)

// call calls the API and returns the response body.
func call(t *testing.T, address, token, method, path string) string {
	t.Helper()
	request, err := http.NewRequest(method, address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Auth-Token", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body := readAll(t, answer)
	if answer.StatusCode >= 400 {
		t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, body)
	}
	return body
}

// TestPagesOfSecretsAndViews checks the pages of secrets, deleted objects, saved views and other people's
// rights, in English and in German.
func TestPagesOfSecretsAndViews(t *testing.T) {
	const roles = `signIn.roles=[{"group":"GW-Operators","name":"Operators","scopes":["*","laps:reveal","recovery:list","recovery:reveal"]}]`
	address, link, token := sandbox(t, "--set", roles, "--set", "jobs.rate=0",
		"--set", `reason.required=["user.disable","computer.*"]`,
		"--set", "audit.file="+t.TempDir()+"/audit.jsonl")
	call(t, address, token, http.MethodDelete, "/api/ADUser/karl.alt")
	b := start(t)
	open := func(path string) { b.follow(chromedp.Navigate(address + path)) }
	b.view(1280, "light")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	b.title("Home")

	open("/ui/computers?q=PC01")
	b.press("PC01")
	b.reach("Show the password")
	b.do(chromedp.KeyEvent("\r"))
	b.look("computer-secrets")
	d := &desk{browser: b, address: address}
	open("/ui/search?q=PC01")
	d.click("PC01")
	d.unfold("Show the password")
	d.fill("why-laps", "short")
	b.script(`document.querySelector("#why-laps").form.noValidate = true`)
	d.click("Show the password")
	b.look("secret-refused")
	d.fill("why-laps", "INC-4711: no network here")
	d.click("Show the password")
	b.look("secret")

	open("/ui/people?view=disabled&sort=-logonName")
	d.unfold("Save this view")
	b.look("view-named")
	d.fill("saved-name", "Away")
	b.press("Save")
	b.look("view-saved")
	b.tour(address, []string{
		"record-caa", "/ui/zones/shop.example/records/@/CAA", "right-of-another", "/ui/rights?who=lweber",
		"search-places", "/ui/search?q=berlin", "person-locked", "/ui/objects/" +
			regexp.MustCompile(`"guid":"([0-9a-f-]+)"`).FindStringSubmatch(
				call(t, address, token, http.MethodGet, "/api/ADUser/locked.out/Details"))[1],
		"changes-none", "/ui/changes?view=mine", "audit-changes", "/ui/audit",
	})
	open("/ui/bin")
	b.press("Karl Alt")
	b.look("bin-object")
	job := submit(t, address, token, "run", "UserName,City\nlweber,Ulm\nnobody.here,Ulm\n")
	open("/ui/jobs/" + job)
	b.waits(`!document.querySelector("[data-events]")`)
	b.look("job-failed-rows")

	d.unfold("your account")
	d.click("Deutsch")
	b.tour(address, []string{
		"german-home", "/ui/", "german-people", "/ui/people", "german-procedures", "/ui/procedures/join",
		"german-lists", "/ui/jobs", "german-status", "/ui/status",
	})
}
