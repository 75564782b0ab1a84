// Package browser tests the pages for people with headless Chromium. Run it with `make pages`. It is a
// separate module, so the gateway does not depend on the libraries of the tests.
package browser

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var (
	program  = flag.String("program", "../../bin/adgateway", "the gateway")
	pictures = flag.String("pictures", "", "folder for a picture of every page; empty: none")
)

const patience = 30 * time.Second

// sandbox starts a sandbox and returns its address, a sign-in link and a token.
func sandbox(t *testing.T, arguments ...string) (address, link, token string) {
	t.Helper()
	command := exec.Command(*program, append([]string{"sandbox", "--listen", "127.0.0.1:0"}, arguments...)...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	found, tokens := regexp.MustCompile(`(http://[^/]*)/ui/link/\S+`), regexp.MustCompile(`adgw_\w+`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := tokens.FindString(lines.Text()); m != "" {
			token = m
		}
		if m := found.FindStringSubmatch(lines.Text()); m != nil {
			return m[1], m[0], token
		}
	}
	t.Fatal("the sandbox has printed no link")
	return "", "", ""
}

// submit submits a list of changes to users, and returns the id of its job.
func submit(t *testing.T, address, token, mode, list string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, address+"/api/Jobs?Operation=user.update&Mode="+mode,
		strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Auth-Token", "Bearer "+token)
	request.Header.Set("Content-Type", "text/csv")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	id := regexp.MustCompile(`jb_[-0-9a-f]+`).FindString(string(body))
	if err != nil || id == "" {
		t.Fatalf("no job: %s, %v", body, err)
	}
	return id
}

// browser is a tab of Chromium.
type browser struct {
	t      *testing.T
	ctx    context.Context
	axe    string
	routes map[string][]route // routes that each look covers, by its name
}

// route is a route of the console.
type route struct {
	pattern string
	path    *regexp.Regexp
	part    bool // a script requests it as part of another page
}

// routesOf reads the list of routes. It omits routes without a look.
func routesOf(t *testing.T) map[string][]route {
	t.Helper()
	list, err := os.ReadFile("testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, blank := map[string][]route{}, regexp.MustCompile(`\\\{[^$]*?\\\}`)
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if words[0] == "#" || words[1] == "-" {
			continue
		}
		path := blank.ReplaceAllString(regexp.QuoteMeta(strings.TrimSuffix(words[0], "{$}")), "[^/]+")
		one := route{words[0], regexp.MustCompile("^" + path + "$"), len(words) > 2}
		all[words[1]] = append(all[words[1]], one)
	}
	return all
}

// isAt checks that the current page belongs to the routes of the look with the given name.
func (b *browser) isAt(name string) {
	b.t.Helper()
	for _, r := range b.routes[name] {
		at := []string{eval[string](b, `location.pathname`)}
		if r.part {
			at = eval[[]string](b, `performance.getEntriesByType("resource").map(e => new URL(e.name).pathname)`)
		}
		if !slices.ContainsFunc(at, r.path.MatchString) {
			b.t.Errorf("%s looks at %v, not at %s", name, at, r.pattern)
		}
	}
}

func start(t *testing.T) *browser {
	t.Helper()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run npm ci in test/browser", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	b := &browser{t: t, axe: string(axe), ctx: ctx, routes: routesOf(t)}
	b.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{
				Source: `window.violations = []; document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sourceFile)); addEventListener("error", e => violations.push("error " + e.message));`,
			})
		return chromedp.Void{}, err
	})
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// follow runs steps that lead to another page, and waits for it.
func (b *browser) follow(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func eval[T any](b *browser, script string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

func (b *browser) view(width int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 900),
		func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
					Value: scheme}}})
			return chromedp.Void{}, err
		})
}

// look checks the current page in every width and color scheme.
func (b *browser) look(name string) {
	b.t.Helper()
	b.isAt(name)
	_ = eval[bool](b, b.axe+"; true")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 320} {
			b.view(width, scheme)
			what := fmt.Sprintf("%s, %s, %d px", name, scheme, width)
			if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				b.t.Errorf("%s: scrolls %d px to the side", what, over)
			}
			b.picture(fmt.Sprintf("%s-%s-%d.png", name, scheme, width))
			found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary).join(" | "))))`, chromedp.EvalAwaitPromise))
			if err != nil {
				b.t.Fatal(err)
			}
			var faults []string
			if err := json.Unmarshal([]byte(found), &faults); err != nil {
				b.t.Fatal(err)
			}
			for _, fault := range faults {
				b.t.Errorf("%s: %s", what, fault)
			}
		}
	}
	if faults := eval[[]string](b, `violations`); len(faults) > 0 {
		b.t.Errorf("%s: %s", name, strings.Join(faults, "; "))
	}
	b.view(1280, "light")
}

// tour checks pages, given as alternating names and addresses.
func (b *browser) tour(address string, pages []string) {
	b.t.Helper()
	for i := 0; i+1 < len(pages); i += 2 {
		b.follow(chromedp.Navigate(address + pages[i+1]))
		b.look(pages[i])
	}
}

func (b *browser) picture(name string) {
	b.t.Helper()
	if *pictures == "" {
		return
	}
	full, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name), small(b.t, full), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// small returns a picture reduced to its 64 most frequent colors.
func small(t *testing.T, picture []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.RGBA]int{}
	for y := full.Bounds().Min.Y; y < full.Bounds().Max.Y; y++ {
		for x := full.Bounds().Min.X; x < full.Bounds().Max.X; x++ {
			count[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var colors color.Palette
	for _, c := range most[:min(len(most), 64)] {
		colors = append(colors, c)
	}
	reduced := image.NewPaletted(full.Bounds(), colors)
	draw.Draw(reduced, reduced.Bounds(), full, full.Bounds().Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, reduced); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// focused is a JavaScript expression for the name of the focused element if the enter key activates that
// element.
const focused = `(e => e?.matches("a, button, summary") ? (e.ariaLabel || e.textContent).slice(0, 60) : "")(document.activeElement)`

// reach moves the focus with the tab key to an element that contains the text.
func (b *browser) reach(text string) {
	b.t.Helper()
	for range 80 {
		if strings.Contains(eval[string](b, focused), text) {
			return
		}
		b.do(chromedp.KeyEvent("\t"))
	}
	shown := eval[string](b, `document.querySelector("main").innerText`)
	b.t.Fatalf("the tab key does not lead to %q: %s", text, shown[:min(len(shown), 1500)])
}

func (b *browser) press(text string) {
	b.t.Helper()
	b.reach(text)
	b.follow(chromedp.KeyEvent("\r"))
}

// waits waits until a condition on the page is true. It checks the condition before each frame.
func (b *browser) waits(condition string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	script := `new Promise(done => { const look = () => ` + condition + ` ? done(true) : requestAnimationFrame(look); look() })`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise)); err != nil {
		b.t.Fatalf("%v: %s", err, condition)
	}
}

// search moves to the search box with its key, and searches.
func (b *browser) search(text string) {
	b.t.Helper()
	// Send one event like a keyboard, because chromedp's own key event types the key even if the page has
	// handled it.
	b.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/",
		})
		return chromedp.Void{}, err
	})
	b.follow(chromedp.KeyEvent(text), chromedp.KeyEvent("\r"))
}

// types types a text into the field with the given id.
func (b *browser) types(id, text string) {
	b.t.Helper()
	b.script(`document.querySelector("#%s").focus()`, id)
	b.do(chromedp.KeyEvent(text))
}

// says fails the test if the page does not contain the text.
func (b *browser) says(text string) {
	b.t.Helper()
	if shown := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(shown, text) {
		b.t.Fatalf("the page does not say %q: %s", text, shown)
	}
}

func (b *browser) title(text string) {
	b.t.Helper()
	if got := eval[string](b, `document.title`); !strings.Contains(got, text) {
		b.t.Fatalf("the page %q is shown instead of %q", got, text)
	}
}

// TestPages signs in with the link and visits the pages using only the keyboard.
func TestPages(t *testing.T) {
	address, link, token := sandbox(t, "--set", "audit.file="+filepath.Join(t.TempDir(), "audit.jsonl"))
	b := start(t)
	b.tour(address, []string{"status-outside", "/ui/", "signin", "/ui/signin", "no-such-page", "/ui/nosuch"})
	b.follow(chromedp.Navigate(link))
	b.look("link")
	b.press("Sign in")
	b.title("Home")
	b.look("home")
	b.follow(chromedp.Navigate(address + "/ui/status"))
	b.title("Status")
	b.look("status")
	lookAtAPerson(b, address)
	lookAtOthers(b, address)
	lookAtJobs(t, b, address, token)
	b.tour(address, []string{
		"audit", "/ui/audit", "audit-calls", "/ui/audit?view=calls", "audit-none", "/ui/audit?day=2020-01-01", "audit-refused", "/ui/audit?day=x",
		"status-figures", "/ui/status",
	})
}

// rowsOfActions is a JavaScript expression for the number of rows that an object's actions take up.
const rowsOfActions = `new Set([...document.querySelectorAll("main .acts:has(.part) :is(.b, button)")]
	.filter(e => e.checkVisibility()).map(e => Math.round(e.getBoundingClientRect().top))).size`

// buttonEdges is a JavaScript expression for the left edges of the buttons in the last group of actions.
const buttonEdges = `[...[...document.querySelectorAll("main .acts")].at(-1).querySelectorAll("button")]
	.filter(e => e.checkVisibility()).map(e => Math.round(e.getBoundingClientRect().left))`

// lookAtAPerson finds a person, disables the account and resets its password.
func lookAtAPerson(b *browser, address string) {
	open := func(path string) {
		b.follow(chromedp.Navigate(address + path))
	}
	open("/ui/people")
	b.look("people")
	b.search("weber")
	b.title("weber")
	b.look("found")
	b.press("Weber, Lea")
	b.title("Weber, Lea")
	b.look("person")
	if rows := eval[int](b, rowsOfActions); rows != 1 {
		b.t.Errorf("the actions of a person take %d rows at 1280 px", rows)
	}
	person := eval[string](b, `location.pathname`)
	b.press("Disable account")
	b.look("preview")
	b.press("Disable the account of Lea Weber")
	b.title("Weber, Lea")
	b.says("Done: Disable the account of Lea Weber.")
	b.look("person-disabled")
	open(person)
	b.press("Reset password")
	b.look("preview-reset")
	b.press("Reset the password of Lea Weber")
	b.says("The new password")
	b.look("password")
	b.view(320, "light")
	if left := eval[[]float64](b, buttonEdges); len(left) < 2 || left[0] != slices.Min(left) {
		b.t.Errorf("the buttons below the password begin at %v", left)
	}
	b.view(1280, "light")
	open(person)
	b.press("Compare groups")
	b.look("compare")
	open(person + "/compare?with=aschmidt")
	b.look("compared")
	open(person)
	b.reach("Berlin Office")
	b.press("Berlin Office")
	b.look("group")
}

// lookAtOthers checks lists, units, zones, forms, computers and changes.
func lookAtOthers(b *browser, address string) {
	open := func(path string) {
		b.follow(chromedp.Navigate(address + path))
	}
	b.tour(address, []string{
		"people-none", "/ui/people?q=zzzzzz", "people-refused", "/ui/people?after=nowhere", "groups", "/ui/groups",
	})
	open("/ui/ous")
	b.look("units")
	b.press("Staff")
	b.look("unit")
	unit := eval[string](b, `location.pathname`)
	b.tour(address, []string{"unit-people", unit + "/people", "unit-groups", unit + "/groups"})
	b.tour(address, []string{
		"zones", "/ui/zones", "zone", "/ui/zones/corp.example",
		"record-set", "/ui/zones/corp.example/records/@/MX", "records", "/ui/zones/corp.example/records?q=www",
		"bin", "/ui/bin", "rights", "/ui/rights", "operations", "/ui/do",
	})
	open("/ui/do/user.create")
	b.look("form")
	b.types("f-OUPath", "ber")
	b.waits(`document.querySelector("#f-OUPath-list [role=option]") !== null`)
	b.look("picker")
	b.types("find", "weber")
	b.waits(`document.querySelector("#find-list [role=option]") !== null`)
	b.look("suggestions")
	open("/ui/do/user.create")
	b.press("Preview")
	b.look("form-refused")
	open("/ui/computers?q=old")
	b.look("computers-found")
	b.press("OLD-PC1")
	b.look("computer")
	open("/ui/changes")
	b.look("changes")
	b.press("Lea Weber disabled")
	b.look("change")
}

// lookAtJobs checks a rejected list and a waiting one.
func lookAtJobs(t *testing.T, b *browser, address, token string) {
	open := func(path string) {
		b.follow(chromedp.Navigate(address + path))
	}
	open("/ui/jobs")
	b.look("jobs-none")
	wrong := submit(t, address, token, "run", "UserName,Country\nlweber,Atlantis\n")
	waits := submit(t, address, token, "validate", "UserName,City\nlweber,Ulm\nnobody.here,Ulm\n")
	open("/ui/jobs")
	b.look("jobs")
	open("/ui/jobs/" + wrong)
	b.look("job-rejected")
	open("/ui/jobs/" + waits)
	b.look("job-ready")
}

// TestPagesOfPeopleWithoutRights checks the pages of people who may not sign in, have no rights, have rights
// only to other objects, or have signed out.
func TestPagesOfPeopleWithoutRights(t *testing.T) {
	address, link, _ := sandbox(t, "--set", `signIn.roles=[{"group":"GW-Operators","name":"Readers","scopes":["user:read"]},`+
		`{"group":"GW-Operators","name":"Administration","scopes":["user:read","user:password"],"limits":{"ous":["OU=Administration,DC=corp,DC=example"]}}]`)
	b := start(t)
	open := func(path string) {
		t.Helper()
		b.follow(chromedp.Navigate(address + path))
	}
	signIn := func(name, password string) {
		t.Helper()
		open("/ui/signin")
		b.waits(`document.activeElement?.id === "username"`)
		b.follow(chromedp.KeyEvent(name), chromedp.KeyEvent("\t"), chromedp.KeyEvent(password),
			chromedp.KeyEvent("\r"))
	}
	open("/ui/people?q=weber")
	b.look("session-over")
	signIn("norights", "Wrong-1-Password")
	b.look("signin-refused")
	signIn("norights", "Sandbox-1-norights")
	b.title("Status")
	b.look("status-norights")
	open("/ui/people?q=weber")
	b.look("people-norights")
	open("/ui/")
	b.look("home-norights")
	b.reach("your account")
	b.do(chromedp.KeyEvent("\r"))
	b.press("Sign out")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	open("/ui/people?q=weber")
	b.press("Weber, Lea")
	if !strings.Contains(eval[string](b, `document.querySelector("button[disabled]").textContent`), "password") {
		t.Error("the action that a role allows elsewhere only is not shown")
	}
	b.look("person-denied")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	b.look("link-used")
}

// readAll returns the body of a response.
func readAll(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
