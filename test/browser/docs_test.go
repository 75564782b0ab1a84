package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// bare is a token without the word Bearer.
const bare = "browser-4f0c0f5e-a-bare-token"

// docs opens the page /docs of a sandbox, and records the API requests that its scripts send.
func docs(t *testing.T) *browser {
	t.Helper()
	address, _, _ := sandbox(t, "--token", bare)
	b := start(t)
	b.follow(chromedp.Navigate(address + "/docs/"))
	b.until(`document.querySelectorAll(".opblock").length > 0`)
	b.script(`window.sent = []; window.asked = []; const send = window.fetch;
		window.confirm = text => { asked.push(text); return window.answer; };
		window.fetch = (resource, options) => { sent.push(new URL(resource.url ?? resource, location).pathname); return send(resource, options); };`)
	return b
}

// script runs JavaScript statements.
func (b *browser) script(format string, args ...any) {
	b.t.Helper()
	_ = eval[bool](b, "(() => {"+fmt.Sprintf(format, args...)+"; return true })()")
}

// until waits until a JavaScript expression is true.
func (b *browser) until(format string, args ...any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](fmt.Sprintf(format, args...))); err != nil {
		b.t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// enter defines a JavaScript function that types a text into an input.
const enter = `const enter = (input, text) => {
	Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, text);
	input.dispatchEvent(new Event("input", {bubbles: true}));
};`

// shown returns the operations on the page as "METHOD /path".
func (b *browser) shown() []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll(".opblock")].map(o =>
		o.querySelector(".opblock-summary-method").innerText + " " + o.querySelector(".opblock-summary-path").dataset.path)`)
}

func TestTheFilterOfTheDocsFindsOperationsByAnyWord(t *testing.T) {
	b := docs(t)
	all := b.shown()
	if len(all) < 100 {
		t.Fatalf("%d operations are shown", len(all))
	}
	filter := func(phrase string) []string {
		b.script(enter+`enter(document.querySelector(".operation-filter-input"), %q)`, phrase)
		b.until(`document.querySelector(".operation-filter-input").value === %q`, phrase)
		return b.shown()
	}
	for phrase, want := range map[string]string{
		"unlock":              "PUT /api/ADUser/{Username}/Unlock",
		"UNLOCK user":         "PUT /api/ADUser/{Username}/Unlock",
		"HomeFolderDrive":     "PUT /api/ADUser/{Username}",                 // a parameter
		"reverse create":      "POST /api/DnsReverseLookupZone/{NetworkID}", // words in the description
		"delete /api/aduser/": "DELETE /api/ADUser/{Username}",
		"readyz":              "GET /readyz",
	} {
		found := filter(phrase)
		if !slices.Contains(found, want) || len(found) >= len(all)/2 {
			t.Errorf("%s: %d operations, %s", phrase, len(found), strings.Join(found[:min(len(found), 5)], ", "))
		}
	}
	if found := filter("xyzzyplugh"); len(found) > 0 {
		t.Errorf("%q", found)
	}
	if found := filter(""); !slices.Equal(found, all) {
		t.Errorf("%d of %d operations are shown again", len(found), len(all))
	}
}

// TestTheDocsSendNoChangeByOneClick: to send a change, a person must click to try it, enter values, click to
// send it and confirm.
func TestTheDocsSendNoChangeByOneClick(t *testing.T) {
	b := docs(t)
	if n := eval[int](b, `document.querySelectorAll(".btn.execute").length`); n > 0 {
		t.Errorf("%d operations can be sent before they are tried", n)
	}
	for _, operation := range []string{"POST /api/ADUser/{Username}", "DELETE /api/ADUser/{Username}",
		"PUT /api/ADUser/{Username}/Unlock"} {
		method, path, _ := strings.Cut(operation, " ")
		b.script(`window.block = [...document.querySelectorAll(".opblock")].find(o =>
			o.querySelector(".opblock-summary-method").innerText === %q && o.querySelector(".opblock-summary-path").dataset.path === %q);
			block.querySelector(".opblock-summary-control").click()`, method, path)
		b.until(`block.querySelector(".try-out__btn") !== null`)
		b.script(`block.querySelector(".try-out__btn").click()`)
		b.until(`block.querySelector(".btn.execute") !== null`)
		for _, value := range eval[[]string](b, `[...block.querySelectorAll("tr:not([data-param-name=ShowFields]) input[type=text], textarea")].map(i => i.value)`) {
			if value != "" && value != "{}" {
				t.Errorf("%s is filled in: %q", operation, value)
			}
		}
		b.script(enter + `enter(block.querySelector("input[placeholder=Username]"), "nobody")`)
		b.until(`JSON.stringify(ui.specSelectors.parameterValues([%q, %q])).includes("nobody")`, path, strings.ToLower(method))
		for _, confirmed := range []bool{false, true} {
			b.script(`window.sent = []; window.asked = []; window.answer = %t; block.querySelector(".btn.execute").click()`, confirmed)
			b.until(`block.querySelector(".live-responses-table") !== null`)
			asked, sent := eval[[]string](b, `asked`), eval[[]string](b, `sent`)
			if len(asked) != 1 || confirmed != (len(sent) == 1) {
				t.Errorf("%s, confirmed %t: asked %q, sent %q", operation, confirmed, asked, sent)
			}
			b.script(`block.querySelector(".btn-clear").click()`)
			b.until(`block.querySelector(".live-responses-table") === null`)
		}
	}
}

// TestTheDocsTakeABareToken: a token is accepted without the word Bearer, and the page says that the gateway
// is a sandbox.
func TestTheDocsTakeABareToken(t *testing.T) {
	b := docs(t)
	if text := eval[string](b, `document.querySelector(".information-container").innerText`); !strings.Contains(strings.ToLower(text), "sandbox") {
		t.Errorf("the page does not say that it is a sandbox: %.300s", text)
	}
	b.script(`ui.preauthorizeApiKey("AuthToken", %q); window.block = [...document.querySelectorAll(".opblock")].find(o =>
		o.querySelector(".opblock-summary-path").dataset.path === "/api/WhoAmI"); block.querySelector(".opblock-summary-control").click()`, bare)
	b.until(`block.querySelector(".try-out__btn") !== null`)
	b.script(`block.querySelector(".try-out__btn").click()`)
	b.until(`block.querySelector(".btn.execute") !== null`)
	b.script(`block.querySelector(".btn.execute").click()`)
	b.until(`block.querySelector(".live-responses-table .response-col_status") !== null`)
	if status := eval[string](b, `block.querySelector(".live-responses-table .response .response-col_status").innerText`); !strings.HasPrefix(status, "200") {
		t.Errorf("status %s", status)
	}
}
