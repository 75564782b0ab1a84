package ui

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// secretOf describes a secret of a computer in the directory, without its value.
type secretOf struct {
	Title texts.Text
	Note  texts.Text
	Time  string // of the event that the note describes
	Show  *work.RevealForm
}

// fillComputer adds the secrets of a computer, without their values.
func fillComputer(c *frame.Visit, o *object) {
	o.setLead("dnsName", "description")
	var local, keys *frame.Answer
	reads := []func(){}
	if c.May(identity.LapsReveal) || c.May(identity.LapsExpire) {
		reads = append(reads, func() { local = c.Get("computer.localAdmin", o.Kind.Object, o.GUID) })
	}
	if c.May(identity.RecoveryList) {
		reads = append(reads, func() { keys = c.Get("computer.recoveryKey", o.Kind.Object, o.GUID) })
	}
	frame.SideBySide(reads...)
	if local != nil {
		found, _ := noted[say.Record](o, "localAdmin", local)
		for _, r := range found {
			o.record["localAdmin"] = r["kind"]
			row := secretOf{Title: texts.Of("secret.laps.title"), Note: texts.Of("secret.laps." + r.Text("kind"))}
			if row.Time = r.Text("expires"); r.Text("kind") != "none" {
				row.Show = revealing(c, o, identity.LapsReveal, "laps", "")
			}
			o.Secrets = append(o.Secrets, row)
		}
	}
	if keys != nil {
		found, _ := noted[say.Record](o, "recoveryKeys", keys)
		for _, r := range found {
			id := r.Text("keyId")
			first, _, _ := strings.Cut(id, "-")
			o.Secrets = append(o.Secrets, secretOf{
				Title: texts.Of("secret.key", "id", strings.ToUpper(first)), Note: texts.Of("secret.key.made"),
				Time: r.Text("created"), Show: revealing(c, o, identity.RecoveryReveal, "key", id),
			})
		}
		if len(found) == 0 && keys.Ok() {
			o.Secrets = append(o.Secrets, secretOf{
				Title: texts.Of("secret.key.title"), Note: texts.Of("secret.key.none"),
			})
		}
	}
	offerActions(c, o)
}

// revealing returns the form that shows a secret, or nil if the person may not see it.
func revealing(c *frame.Visit, o *object, scope identity.Scope, what, keyID string) *work.RevealForm {
	switch {
	case !c.May(scope), !reaches(c, o.Kind, o.GUID, scope):
		return nil
	case o.guards(c, whyChanged, ops.Find(ops.Table(), work.RevealRow(what))):
		return nil
	}
	return work.NewReveal(o.Kind.At(o.GUID), what, keyID)
}

// keyID matches the key id that a computer shows when it asks for a BitLocker key.
var keyID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(?:-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})?$`)

// keyHits returns the computers with a BitLocker key whose id is text or starts with it, as shown on the
// screen.
func keyHits(c *frame.Visit, text string) (rows []hitRow) {
	if !keyID.MatchString(text) || !c.May(identity.RecoveryList) {
		return nil
	}
	for _, r := range frame.Records[say.Record](c.Get("computer.findRecoveryKey", "KeyId", text)) {
		rows = append(rows, hitRow{
			Name: r.Text("computerName"), Link: frame.KindOf("computer").At(r.Text("computerGuid")) + "#secrets",
			Icon: "key", Kind: texts.Of("secret.key.title"), Facts: strings.ToUpper(text[:8]),
		})
	}
	return rows
}

// noPhoto is a transparent image of one pixel. The initials behind it remain visible.
var noPhoto = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!" +
	"\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

// showPhoto sends the photo of a person.
func showPhoto(c *frame.Visit) {
	a := c.Get("user.photo", "Username", c.R.PathValue("guid"))
	image, media, err := schema.ImageOf(bytes.Trim(a.Result, "[]"))
	if !a.Ok() || err != nil || len(image) == 0 || media != "image/jpeg" && media != "image/png" {
		image, media = noPhoto, "image/gif"
	}
	c.W.Header().Set("Content-Type", media)
	c.W.Header().Set("Cache-Control", "private, max-age=300")
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(image) // fails only if the browser has disconnected
}
