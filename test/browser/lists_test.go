package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPagesOfLists uses the keyboard to submit a list, choose its columns, preview it and run it. The focus
// must not move during the run. The test also checks the pages of procedures.
func TestPagesOfLists(t *testing.T) {
	address, link, _ := sandbox(t, "--set", "jobs.rate=4")
	b := start(t)
	open := func(path string) {
		t.Helper()
		b.follow(chromedp.Navigate(address + path))
	}
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	open("/ui/procedures")
	b.look("procedures")
	b.press("Somebody leaves")
	b.look("procedure")
	open("/ui/jobs")
	var list strings.Builder
	list.WriteString("Anmeldename;Ort;Bemerkung\n")
	for range 3 {
		fmt.Fprintln(&list, "lweber;Ulm;x\naschmidt;Bonn;y\nahoffmann;Köln;z")
	}
	b.script(`document.querySelector("details.card").open = true;
		document.querySelector("#list-operation").value = "user.update";
		document.querySelector("#list-text").value = %q;
		document.querySelector("details.card button.go").focus()`, list.String())
	b.follow(chromedp.KeyEvent("\r"))
	b.title("What the columns mean")
	b.says("Not used: Bemerkung.")
	b.look("list-columns")
	b.press("Check the list")
	b.waits(`document.querySelector("main").innerText.includes("9 of 9 items checked") && !document.querySelector("[data-events]")`)
	b.look("list-checked")
	b.press("Start")
	b.waits(`document.querySelector("[data-events]") !== null`)
	b.reach("Refresh")
	b.waits(`document.querySelector("main").innerText.includes("9 of 9 items, 100 %") && !document.querySelector("[data-events]")`)
	if at := eval[string](b, `document.activeElement.tagName`); at == "BODY" {
		t.Error("the focus is lost at the end of the list")
	}
	b.waits(`document.querySelector("[role=status]").textContent.includes("9 of 9 items")`)
	for _, word := range []string{"Failed rows", "failed", "drifted"} {
		if strings.Contains(eval[string](b, `document.querySelector("main").innerText`), word) {
			t.Errorf("rows of the list are %s, although nobody else has changed anything", word)
		}
	}
	b.look("list-done")
	open("/ui/jobs?view=done")
	b.look("lists")
}
