package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// A task is an everyday task. It is done with the keyboard only, starting at the home page, and takes at most
// the given number of clicks on links, buttons and folded sections. The enter key in the search box does not
// count.
type task struct {
	name string
	most int
	do   func(*desk)
}

// desk is a person who uses the pages, in a browser with or without scripts.
type desk struct {
	*browser
	address string
	clicks  int
	plain   bool // scripts are disabled
}

// click moves to the link or button with the text, using the tab key, and follows it.
func (d *desk) click(text string) {
	d.t.Helper()
	d.press(text)
	d.clicks++
}

// unfold opens the section with the text.
func (d *desk) unfold(text string) {
	d.t.Helper()
	d.reach(text)
	d.do(chromedp.KeyEvent("\r"))
	d.clicks++
}

// fill moves to the field with the given id, using the tab key, and inserts a text as if it were pasted.
func (d *desk) fill(id, text string) {
	d.t.Helper()
	for range 200 {
		if eval[string](d.browser, `document.activeElement?.id ?? ""`) == id {
			d.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
				_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
				return chromedp.Void{}, err
			})
			return
		}
		d.do(chromedp.KeyEvent("\t"))
	}
	d.t.Fatalf("the tab key does not lead to the field %s", id)
}

// choose selects the option that starts with a text in the list with the given id.
func (d *desk) choose(id, text string) {
	d.t.Helper()
	d.fill(id, "")
	d.do(chromedp.KeyEvent(text))
	if got := eval[string](d.browser, `document.activeElement.selectedOptions[0].label`); !strings.HasPrefix(got, text) {
		d.t.Fatalf("%q is chosen", got)
	}
}

// find searches for a text.
func (d *desk) find(text string) {
	d.t.Helper()
	if !d.plain {
		d.search(text)
		return
	}
	d.fill("find", text)
	d.follow(chromedp.KeyEvent("\r"))
}

// until reloads the page until the page contains a text and an element.
func (d *desk) until(text, element string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	for !eval[bool](d.browser, fmt.Sprintf("document.querySelector('main').innerText.includes(%q) && "+
		"!!document.querySelector(%q)", text, element)) {
		if ctx.Err() != nil {
			d.says(text)
			d.t.Fatalf("the page does not have %s", element)
		}
		d.follow(chromedp.Reload())
	}
}

// runs starts a list that has been checked, and waits until its job has ended.
func (d *desk) runs(checked, done string) {
	d.t.Helper()
	d.until(checked, `form[action$='/start']`)
	d.click("Start")
	d.until(done, `form[action$='/undo']`)
}

// rows returns a list that changes a person in each of its 200 rows.
func rows() string {
	var list strings.Builder
	list.WriteString("Person\tCity\n")
	for i := range 200 {
		fmt.Fprintf(&list, "%s\tTown %d\n", []string{"lweber", "aschmidt", "ahoffmann", "mweber"}[i%4], i)
	}
	return list.String()
}

// tasks contains the everyday tasks of a help desk.
var tasks = []task{
	{"find by half a name", 1, func(d *desk) { d.find("web"); d.click("Weber, Lea"); d.says("lweber") }},
	{"why can she not log on, and where was she locked out", 3, func(d *desk) {
		d.find("locked.out")
		d.click("Locked")
		d.says("Cannot log on")
		d.says("wrong password")
	}},
	{"unlock", 3, func(d *desk) {
		d.find("locked.out")
		d.click("Locked")
		d.click("Unlock")
		d.click("Unlock the account")
		d.says("Done: Unlock the account")
	}},
	{"reset a password", 4, func(d *desk) {
		d.find("lweber")
		d.click("Weber, Lea")
		d.click("Reset password")
		d.click("Reset the password")
		d.says("Read")
		d.click("passed")
		d.title("Weber, Lea")
	}},
	{"add to a group, and undo it", 4 + 2, func(d *desk) {
		d.find("aschmidt")
		d.click("Schmidt, Anna")
		d.unfold("Add to a group")
		d.fill("join-GroupName", "Finance Staff")
		d.click("Preview")
		d.click("Add Anna Schmidt to Finance Staff")
		d.says("Done: Add Anna Schmidt to Finance Staff")
		d.click("Undo")
		d.click("Undo:")
		d.says("Done: Undo")
	}},
	{"copy groups", 4, func(d *desk) {
		d.find("alee")
		d.click("Lee")
		d.unfold("Copy groups")
		d.fill("copy-From", "lweber")
		d.click("Preview")
		d.click("Copy the groups of")
		d.says("Done: Copy the groups of")
	}},
	{"somebody joins", 3, func(d *desk) {
		d.click("Somebody joins")
		for _, field := range [][2]string{
			{"FirstName", "Nora"}, {"LastName", "Keller"}, {"Username", "nkeller"},
			{"OUPath", "Corp › Staff › Berlin › Sales"}, {"From", "lweber"},
		} {
			d.fill("f-"+field[0], field[1])
		}
		d.click("Preview")
		d.runs("2 of 2 items checked", "2 of 2 items, 100 %")
	}},
	{"somebody leaves", 3, func(d *desk) {
		d.click("Somebody leaves")
		d.fill("f-Username", "mweber")
		d.click("Preview")
		d.runs("items checked", "items, 100 %")
	}},
	{"disabled accounts", 1, func(d *desk) { d.click("Disabled people"); d.says("Disabled") }},
	{"computers that nobody uses", 1, func(d *desk) { d.click("Stale computers"); d.title("Computers") }},
	{"a CNAME record", 4, func(d *desk) {
		d.find("corp.example")
		d.click("corp.example")
		d.click("New CNAME record")
		d.fill("f-DNS_HostName_Alias", "web1.corp.example")
		d.fill("f-DNS_HostName", "tasks")
		d.click("Preview")
		d.click("Create a CNAME record in corp.example")
		d.says("Done: Create a CNAME record")
	}},
	{"what was changed in a week, and by whom", 3, func(d *desk) {
		d.click("Changes")
		d.click("Last 7 days")
		d.says("operator")
	}},
	{"undo a change of the week", 4, func(d *desk) {
		d.click("Changes")
		d.click("tasks")
		d.click("Undo")
		d.click("Undo:")
		d.says("Done: Undo")
	}},
	{"200 rows, and their result", 6, func(d *desk) {
		d.click("Lists")
		d.unfold("Upload a list")
		d.choose("list-operation", "People: Edit")
		d.fill("list-text", rows())
		d.click("Upload")
		d.runs("200 of 200 items checked", "200 of 200 items, 100 %")
		d.reach("Result as CSV")
		d.clicks++
	}},
	{"how is the gateway", 1, func(d *desk) { d.click("Status"); d.says("Change history") }},
	{"the password of a local administrator", 3, func(d *desk) {
		d.find("PC01")
		d.click("PC01")
		d.unfold("Show the password")
		d.fill("why-laps", "INC-4711: no network here")
		d.click("Show the password")
		d.says("Sandbox-Local-PC01")
	}},
	{"a BitLocker key", 3, func(d *desk) {
		d.find("7F6B1D5C")
		d.click("PC01")
		d.unfold("Show the key")
		d.fillFirst(`why-key`, "INC-4711: asks for the key")
		d.click("Show the key")
		d.says("-")
	}},
}

// fillFirst is like fill, for the first field whose id starts with the given text.
func (d *desk) fillFirst(id, text string) {
	d.t.Helper()
	d.fill(eval[string](d.browser, fmt.Sprintf(`document.querySelector('details[open] [id^=%q]').id`, id)), text)
}

// TestTasks does every task using only the keyboard.
func TestTasks(t *testing.T) { doTasks(t, false) }

// TestTasksWithoutAScript does every task in a browser that runs no scripts.
func TestTasksWithoutAScript(t *testing.T) { doTasks(t, true) }

func doTasks(t *testing.T, plain bool) {
	t.Helper()
	const roles = `signIn.roles=[{"group":"GW-Operators","name":"Operators","scopes":["*","laps:reveal","recovery:list","recovery:reveal"]}]`
	address, link, _ := sandbox(t, "--set", roles, "--set", "jobs.rate=0",
		"--set", "audit.file="+t.TempDir()+"/audit.jsonl")
	b := start(t)
	b.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: plain})
		return chromedp.Void{}, err
	})
	b.view(1280, "light")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	for _, one := range tasks {
		t.Run(one.name, func(t *testing.T) {
			d := &desk{address: address, plain: plain,
				browser: &browser{t: t, ctx: b.ctx, axe: b.axe, routes: b.routes}}
			d.follow(chromedp.Navigate(address + "/ui/"))
			one.do(d)
			t.Logf("%d clicks", d.clicks)
			if d.clicks > one.most {
				t.Errorf("%d clicks, at most %d are right", d.clicks, one.most)
			}
			if faults := eval[[]string](d.browser, `window.violations ?? []`); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}
