package browser

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPagesOfPlaces checks the actions of units, zones and the Recycle Bin, and the pages of objects that are
// gone.
func TestPagesOfPlaces(t *testing.T) {
	address, link, token := sandbox(t, "--set", "jobs.rate=0")
	call(t, address, token, http.MethodDelete, "/api/ADUser/karl.alt")
	b := start(t)
	open := func(path string) { b.follow(chromedp.Navigate(address + path)) }
	b.view(1280, "light")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	const within, empty = "OUPath=OU%3DStaff%2COU%3DCorp%2CDC%3Dcorp%2CDC%3Dexample",
		"/ui/ous/OU=Empty%2COU=Corp%2CDC=corp%2CDC=example"
	b.tour(address, []string{
		"unit-new", "/ui/do/ou.create?OUDestinationPath=DC%3Dcorp%2CDC%3Dexample", "unit-edit", "/ui/do/ou.update?" + within,
		"unit-move", "/ui/do/ou.move?" + within, "unit-rename", "/ui/do/ou.rename?" + within, "unit-empty", empty,
		"zone-aging", "/ui/do/zone.setAging?ZoneName=corp.example", "record-new", "/ui/do/mx.create?ZoneName=corp.example",
		"person-new", "/ui/do/user.create?" + within, "search-none", "/ui/search?q=zzzzzz",
		"unit-gone", "/ui/ous/OU=Nowhere%2CDC=corp%2CDC=example", "record-gone", "/ui/zones/corp.example/records/nowhere/A",
		"person-gone", "/ui/people/00000000-0000-4000-8000-000000000000", "list-gone", "/ui/lists/nosuch",
	})
	open(empty)
	b.press("Delete")
	b.look("unit-delete")
	open("/ui/bin")
	b.press("Karl Alt")
	b.press("Restore")
	b.look("bin-restore")
	b.press("Preview")
	b.look("bin-preview")
	b.says("To undo this, delete the object again.")
	b.press("Restore")
	b.says("Done: Restore")
	b.look("bin-restored")
	open("/ui/people")
	for _, width := range []int64{1280, 1000, 800} {
		b.view(width, "light")
		if cut := eval[[]string](b, cutPaths); len(cut) > 0 {
			t.Errorf("at %d px paths are cut where nobody sees it: %q", width, cut)
		}
	}
}

// cutPaths returns the paths of units whose beginning is cut off without an ellipsis, or whose end is cut off
// although the beginning takes up space.
const cutPaths = `[...document.querySelectorAll("td .path")].filter(path => {
	const [first, last] = path.children, em = parseFloat(getComputedStyle(path).fontSize);
	return first.textContent && (first.clientWidth < em || last.scrollWidth > last.clientWidth && first.clientWidth > 2 * em);
}).map(path => path.title)`

// TestPagesOfSecretsInPrint checks the pages of a recovery key and of a new password, and the printed slip.
func TestPagesOfSecretsInPrint(t *testing.T) {
	const roles = `signIn.roles=[{"group":"GW-Operators","name":"Operators","scopes":["*","laps:reveal","recovery:list","recovery:reveal"]}]`
	address, link, _ := sandbox(t, "--set", roles, "--set", "audit.file="+t.TempDir()+"/audit.jsonl")
	b := start(t)
	d := &desk{browser: b, address: address}
	b.view(1280, "light")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	d.find("7F6B1D5C")
	b.look("found-key")
	d.click("PC01")
	d.unfold("Show the key")
	d.fillFirst("why-key", "INC-4711: asks for the key")
	d.click("Show the key")
	b.look("recovery-key")
	d.find("lweber")
	d.click("Weber, Lea")
	d.click("Reset password")
	d.click("Reset the password")
	b.media("print")
	b.says("lweber")
	if eval[bool](b, `document.querySelector("header.top").checkVisibility()`) {
		t.Error("the slip has the header of the page")
	}
	b.picture("slip-print.png")
	b.media("")
	d.click("passed")
	d.find("locked.out")
	d.click("Locked")
	d.says("wrong password")
	b.look("locked-out")
}

// media renders the page for a medium; empty means the screen.
func (b *browser) media(medium string) {
	b.t.Helper()
	b.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		params := emulation.SetEmulatedMediaParams{Media: medium}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, params)
		return chromedp.Void{}, err
	})
}

// TestPagesOfListsWithMistakes checks the pages on which a list is corrected: lists without column names,
// with unknown names of objects, and in JSON.
func TestPagesOfListsWithMistakes(t *testing.T) {
	address, link, _ := sandbox(t, "--set", "jobs.rate=0")
	b := start(t)
	d := &desk{browser: b, address: address}
	b.view(1280, "light")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	send := func(list string) {
		b.follow(chromedp.Navigate(address + "/ui/jobs"))
		d.unfold("Upload a list")
		d.choose("list-operation", "People: Edit")
		d.fill("list-text", list)
		d.click("Upload")
	}
	send("lweber\tUlm\taschmidt@corp.example\naschmidt\tBonn\n")
	b.says("Column 1")
	b.look("list-no-names")
	b.press("Check the list")
	b.says("No column contains")
	b.look("list-no-person")
	send("Person\tCity\nNobody Here\tUlm\n" + strings.Repeat("lweber\tUlm\n", 3))
	b.says("Nobody Here")
	b.look("list-mistakes")
	b.press("Edit the list")
	b.look("list-again")
	send(`{"items": [{"parameters": {"Username": "Nobody Here", "City": "Ulm"}}]}`)
	b.title("Names to correct")
	b.look("list-names")
	b.follow(chromedp.Navigate(address + "/ui/procedures/leave"))
	d.fill("f-Username", "mweber")
	d.click("Preview")
	b.waits(`!document.querySelector("[data-events]")`)
	b.look("procedure-preview")
}
