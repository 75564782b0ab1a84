package work

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// A secret of a computer is read with a single call, which requires a reason. The secret is stored, encrypted
// with the sign-in cookie, until the person closes its page, but no longer than passwordLife.

// reveals maps the names of secrets in forms to the operations that show a secret of a computer.
var reveals = map[string]string{"laps": "computer.revealLocalAdmin", "key": "computer.revealRecoveryKey"}

// RevealRow returns the id of the operation that shows a secret, given the secret's name in forms. It returns
// "" if the name is unknown.
func RevealRow(what string) string { return reveals[what] }

// keptReveal is a stored secret. Secrets is encrypted.
type keptReveal struct {
	Done     bool // the call has returned
	Computer string
	What     string
	Back     string
	Secrets  []byte // nil if the page was closed
	Shown    time.Time
	Failed   *frame.Failure
	Status   int // status of the failure
}

// secretRow is a secret, with information about it from the directory.
type secretRow struct {
	Account string // account, or the start of a key's id
	Secret  string
	Set     string
}

// RevealPage is the page that shows a secret, or asks for a reason again.
type RevealPage struct {
	ID, Back string
	Computer string
	Label    texts.Text // label of the account or the key id
	Secrets  []secretRow
	Left     texts.Text
	Waits    bool
	Form     *RevealForm // nil if there is nothing to ask for
}

// RevealForm is the form that asks for the reason before a secret is shown.
type RevealForm struct {
	Address, What, KeyID, Once, Typed string
	Label                             texts.Text
	ID                                string // prefix of the ids of its elements
}

// NewReveal returns the form for a secret of the computer whose page is shown.
func NewReveal(page, what, keyID string) *RevealForm {
	form := &RevealForm{
		Address: page + "/reveal", What: what, KeyID: keyID, Once: signin.NewID(),
		Label: texts.Of("secret.show." + what), ID: what + keyID,
	}
	return form
}

// RevealSecret reads and shows a secret of a computer. If the button is pressed twice, the second request
// shows the result of the first.
func RevealSecret(c *frame.Visit) {
	form := c.R.PostForm
	what, once, reason := form.Get("what"), form.Get("once"), strings.TrimSpace(form.Get("Reason"))
	operation, known := reveals[what]
	computer := c.R.PathValue("guid")
	back := frame.KindOf("computer").At(computer)
	if !known || len(once) != len(signin.NewID()) {
		c.NotFound(c.W, c.R)
		return
	}
	kept := keptReveal{What: what, Back: back}
	if err := c.Session.Keep(c.R.Context(), once, 0, kept); err != nil {
		var pressed keptReveal
		if at, absent := c.Session.Kept(c.R.Context(), once, &pressed); absent == nil && at != 0 {
			c.GoTo(say.Address("reveals", once))
			return
		}
		why := &frame.Failure{Message: frame.WithoutStore(err).In(c.Lang())}
		c.Failed(&frame.Answer{Status: http.StatusServiceUnavailable, Error: why})
		return
	}
	values := call.Values{"ADComputerName": computer, "Reason": reason}
	if what == "key" {
		values["KeyId"] = form.Get("KeyId")
	}
	a := revealAs(c, operation, values)
	kept.Done, kept.Shown, kept.Failed, kept.Status = true, time.Now(), a.Error, a.Status
	var rows []secretRow
	if a.Ok() {
		rows, kept.Computer = secretsIn(what, a)
		text, _ := json.Marshal(rows) // strings can always be encoded
		sealed, err := signin.SealSecret(c.Cookie(c.R), string(text))
		if kept.Secrets = sealed; err != nil {
			kept.Secrets = nil
		}
	}
	var was keptReveal
	at, err := c.Session.Kept(c.R.Context(), once, &was)
	if err == nil {
		err = c.Session.Keep(c.R.Context(), once, at, kept)
	}
	switch {
	case !a.Ok():
		again := NewReveal(back, what, form.Get("KeyId"))
		again.Typed = form.Get("Reason")
		shown := frame.Page{Title: again.Label, Section: "computers", Alert: frame.AlertOf(a)}
		shown.Body = RevealPage{Back: back, Form: again}
		c.Page(a.Status, "reveal", shown)
	case err != nil || kept.Secrets == nil: // only this response contains the secret
		showReveal(c, once, kept, rows)
	default:
		c.GoTo(say.Address("reveals", once))
	}
}

// revealAs reads a secret with the first role that has the right to it.
func revealAs(c *frame.Visit, operation string, values call.Values) *frame.Answer {
	op, first := ops.Find(ops.Table(), operation), (*frame.Answer)(nil)
	for _, principal := range c.Principals {
		if call.AuthorizeRow(principal, op) != nil {
			continue
		}
		a := c.CallAs(principal, operation, values)
		if a.Ok() {
			return a
		}
		first = frame.Outranking(first, a)
	}
	if first == nil {
		return &frame.Answer{Status: http.StatusForbidden, Error: &frame.Failure{Message: c.Say("step.noRole")}}
	}
	return first
}

// secretsIn returns the secrets in an answer and the name of their computer.
func secretsIn(what string, a *frame.Answer) (rows []secretRow, computer string) {
	for _, r := range frame.Records[say.Record](a) {
		computer = r.Text("computerName")
		if what == "key" {
			rows = append(rows, secretRow{
				Account: firstEight(r.Text("keyId")), Secret: r.Text("recoveryPassword"), Set: r.Text("created"),
			})
			continue
		}
		rows = append(rows, secretRow{
			Account: r.Text("account"), Secret: r.Text("password"), Set: r.Text("updated"),
		})
	}
	return rows, computer
}

// firstEight returns the part of a key id that the screen shows.
func firstEight(id string) string {
	first, _, _ := strings.Cut(id, "-")
	return strings.ToUpper(first)
}

// ShowReveal shows a secret that was read before, until its page is closed.
func ShowReveal(c *frame.Visit) {
	id := c.R.PathValue("id")
	var kept keptReveal
	if at, err := c.Session.Kept(c.R.Context(), id, &kept); err != nil || at == 0 || reveals[kept.What] == "" {
		tooLate(c)
		return
	}
	var rows []secretRow
	if kept.Secrets != nil && time.Since(kept.Shown) < passwordLife {
		if text, err := signin.OpenSecret(c.Cookie(c.R), kept.Secrets); err == nil {
			_ = json.Unmarshal([]byte(text), &rows) // it was encoded by us
		}
	}
	showReveal(c, id, kept, rows)
}

func showReveal(c *frame.Visit, id string, kept keptReveal, rows []secretRow) {
	title := texts.Of("secret.of", "what", texts.Of("secret."+kept.What+".title"), "computer", kept.Computer)
	shown := frame.Page{Title: title, Section: "computers"}
	body := RevealPage{ID: id, Back: kept.Back, Computer: kept.Computer, Secrets: rows}
	body.Label = texts.Of("secret." + kept.What + ".account")
	switch {
	case !kept.Done:
		body.Waits = true
		shown.Title = texts.Of("secret.show." + kept.What)
	case kept.Failed != nil:
		shown.Title = texts.Of("secret.show." + kept.What)
		shown.Alert = frame.AlertOf(&frame.Answer{Status: kept.Status, Error: kept.Failed})
	case len(rows) == 0:
		shown.Alert = &frame.Alert{Text: texts.Of("secret.gone")}
	default:
		left := passwordLife - time.Since(kept.Shown)
		minutes := texts.Count("step.minutes", max(1, int((left+time.Minute-1)/time.Minute)))
		body.Left = texts.Of("pass.left", "n", minutes)
	}
	shown.Body = body
	c.Page(http.StatusOK, "reveal", shown)
}

// CloseReveal deletes a secret that is no longer needed.
func CloseReveal(c *frame.Visit) {
	id := c.R.PathValue("id")
	var kept keptReveal
	at, err := c.Session.Kept(c.R.Context(), id, &kept)
	if err != nil || at == 0 || reveals[kept.What] == "" { // the id may belong to something else
		c.GoTo(say.Base)
		return
	}
	kept.Secrets = nil
	if err := c.Session.Keep(c.R.Context(), id, at, kept); err != nil {
		why := &frame.Failure{Message: frame.WithoutStore(err).In(c.Lang())}
		c.Failed(&frame.Answer{Status: http.StatusServiceUnavailable, Error: why})
		return
	}
	c.GoTo(kept.Back)
}
