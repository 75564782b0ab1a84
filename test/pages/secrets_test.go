package pages

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
)

const (
	becauseOf = "INC-4711: no network at this computer"
	localPass = "Sandbox-Local-PC01"
)

// secretive starts a gateway whose operators may see the secrets of computers.
func secretive(t *testing.T, settings ...string) *system {
	return startWith(t, func(p *app.People) {
		p.Roles = append(p.Roles, signin.Role{Group: "group of operator", Name: "Secrets", Scopes: []identity.Scope{
			identity.ComputerRead, identity.LapsReveal, identity.LapsExpire, identity.RecoveryList,
			identity.RecoveryReveal,
		}})
	}, settings...)
}

// secretForm returns the form on the page that shows a secret.
func secretForm(b *browser, action, what string) url.Values {
	b.t.Helper()
	for _, part := range strings.Split(b.page, `action="`+action+`"`)[1:] {
		if part, _, _ = strings.Cut(part, "</form>"); strings.Contains(part, `name="what" value="`+what+`"`) {
			values := url.Values{}
			for _, m := range hidden.FindAllStringSubmatch(part, -1) {
				values.Set(m[1], m[2])
			}
			return values
		}
	}
	require.Fail(b.t, "no form for "+what, b.page)
	return nil
}

// TestALocalPasswordIsShownUntilItIsClosed: only the person who asked for a password sees it, and only in the
// session of the request.
func TestALocalPasswordIsShownUntilItIsClosed(t *testing.T) {
	log := t.TempDir() + "/audit.jsonl"
	s := secretive(t, "audit.file="+log)
	guid := s.Get("/api/Computers/PC01").Envelope.Result[0]["guid"].(string)
	page := "/ui/computers/" + guid
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, "Stored by Windows LAPS")
	assert.Contains(t, b.page, "BitLocker key 7F6B1D5C")
	assert.NotContains(t, b.page, localPass)

	form := secretForm(b, page+"/reveal", "laps")
	form.Set("Reason", "short")
	require.Equal(t, 400, b.post(page+"/reveal", form))
	assert.Contains(t, b.page, `value="short"`, "nothing typed is lost")
	assert.Contains(t, b.page, "at least 8 characters")
	form = secretForm(b, page+"/reveal", "laps") // the page contains a new form
	form.Set("Reason", becauseOf)
	require.Equal(t, 303, b.post(page+"/reveal", form), b.page)
	shown := b.answer.Header.Get("Location")
	require.Equal(t, 303, b.post(page+"/reveal", form), "a second press")
	assert.Equal(t, shown, b.answer.Header.Get("Location"))
	for range 2 { // also after a reload
		require.Equal(t, 200, b.get(shown))
		assert.Contains(t, b.page, "<output>"+localPass+"</output>")
		assert.Contains(t, b.page, "Administrator")
		assert.Equal(t, "no-store", b.answer.Header.Get("Cache-Control"))
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.NotContains(t, string(text), localPass)
	assert.Equal(t, 1, strings.Count(string(text), `"event":"intent"`), "one press counts: %s", text)
	assert.Contains(t, string(text), `"Reason":"`+becauseOf+`"`)
	assert.NotContains(t, s.Log.String(), localPass)

	other := s.browser(t) // the same person in another browser
	other.signIn("operator")
	assert.Equal(t, http.StatusGone, other.get(shown))
	assert.NotContains(t, other.page, localPass)

	require.Equal(t, 200, b.get(shown))
	require.Equal(t, 303, b.submit(shown+"/close"))
	assert.Equal(t, page, b.answer.Header.Get("Location"))
	require.Equal(t, 200, b.get(shown))
	assert.NotContains(t, b.page, localPass)
	assert.Contains(t, b.page, "no longer shown")
	for _, path := range []string{page, "/ui/changes", "/ui/audit?view=calls", "/ui/"} {
		require.Equal(t, 200, b.get(path))
		assert.NotContains(t, b.page, localPass, path)
	}
}

// TestABitLockerKeyIsFoundByWhatTheScreenShows: the part of the key id on the screen finds the key, which is
// shown after a reason was given.
func TestABitLockerKeyIsFoundByWhatTheScreenShows(t *testing.T) {
	s := secretive(t, "audit.file="+t.TempDir()+"/audit.jsonl")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/search?q=7F6B1D5C"))
	found := regexp.MustCompile(`href="(/ui/computers/[0-9a-f-]*)#secrets"`).FindStringSubmatch(b.page)
	require.NotNil(t, found, b.page)
	require.Equal(t, 200, b.get(found[1]))
	form := secretForm(b, found[1]+"/reveal", "key")
	form.Set("Reason", becauseOf)
	require.Equal(t, 303, b.post(found[1]+"/reveal", form), b.page)
	require.Equal(t, 200, b.follow())
	assert.Regexp(t, `<output>(\d{6}-){7}\d{6}</output>`, b.page)
	assert.Contains(t, b.page, "PC01")
	require.Equal(t, 200, b.get("/ui/search?q=00000000"))
	assert.NotContains(t, b.page, "#secrets")
}

// TestSecretsAreForThoseWhoMay: the pages neither offer nor show a secret to a person without the right.
func TestSecretsAreForThoseWhoMay(t *testing.T) {
	s := secretive(t, "audit.file="+t.TempDir()+"/audit.jsonl")
	guid := s.Get("/api/Computers/PC01").Envelope.Result[0]["guid"].(string)
	page := "/ui/computers/" + guid
	b := s.browser(t)
	b.signIn("helpdesk")
	require.Equal(t, 200, b.get(page))
	for _, text := range []string{"/reveal", "LAPS", "BitLocker"} {
		assert.NotContains(t, b.page, text)
	}
	form := b.form("/ui/signout")
	once := strings.Repeat("x", len(signin.NewID()))
	for name, value := range map[string]string{"what": "laps", "once": once, "Reason": becauseOf} {
		form.Set(name, value)
	}
	require.Equal(t, 403, b.post(page+"/reveal", form))
	assert.NotContains(t, b.page, localPass)

	operator := s.browser(t)
	operator.signIn("operator")
	controller := s.Get("/api/Computers/DC1").Envelope.Result[0]["guid"].(string)
	require.Equal(t, 200, operator.get("/ui/computers/"+controller))
	assert.NotContains(t, operator.page, `name="what" value="laps"`)

	// The password is expired like any other change.
	require.Equal(t, 200, operator.get(page))
	operator.preview("computer.expireLocalAdmin")
	operator.confirm()
	require.Equal(t, 200, operator.get(page))
	assert.Contains(t, operator.page, "expires <time")
}

// TestWhereAnAccountWasLockedOut: the person's page shows the computers that locked the account out.
func TestWhereAnAccountWasLockedOut(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	state := s.Get("/api/ADUser/locked.out/LogonState").Envelope.Result[0]
	guid := s.Get("/api/ADUser/locked.out/Details").Envelope.Result[0]["guid"].(string)
	require.Equal(t, 200, b.get("/ui/people/"+guid))
	lockouts := state["lockouts"].([]any)
	require.NotEmpty(t, lockouts)
	part := b.between(`<h2 id="lockouts">`, "</section>")
	for _, one := range lockouts {
		r := one.(map[string]any)
		assert.Contains(t, part, r["controller"])
		if r["source"] != nil {
			assert.Contains(t, part, r["source"])
		}
	}
	require.Equal(t, 200, b.get("/ui/people/"+lea))
	assert.NotContains(t, b.page, `id="lockouts"`)
}

// TestPhotoOnThePage: a person without a photo has initials, behind a transparent image.
func TestPhotoOnThePage(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/people/"+lea))
	assert.Contains(t, b.page, `<img src="/ui/people/`+lea+`/photo" alt=""`)
	require.Equal(t, 200, b.get("/ui/people/"+lea+"/photo"))
	assert.Equal(t, "image/gif", b.answer.Header.Get("Content-Type"))
	assert.Equal(t, "nosniff", b.answer.Header.Get("X-Content-Type-Options"))

	// A photo that was stored with the page's form is shown exactly as stored in the directory.
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 120, 90))))
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	require.Equal(t, 200, b.get("/ui/do/user.setPhoto?Username="+lea))
	for name, values := range b.form("/ui/do/user.setPhoto") {
		require.NoError(t, w.WriteField(name, values[0]))
	}
	part, err := w.CreateFormFile("Photo", "lea.png")
	require.NoError(t, err)
	_, err = part.Write(picture.Bytes())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r, err := http.NewRequest(http.MethodPost, b.url+"/ui/do/user.setPhoto", &body)
	require.NoError(t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Origin", b.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	require.Equal(t, 303, b.do(r), b.page)
	require.Equal(t, 200, b.follow())
	b.confirm()
	require.Equal(t, 200, b.get("/ui/people/"+lea+"/photo"))
	assert.Equal(t, "image/jpeg", b.answer.Header.Get("Content-Type"))
	shown, err := jpeg.Decode(strings.NewReader(b.page))
	require.NoError(t, err)
	assert.InDelta(t, 120.0/90, float64(shown.Bounds().Dx())/float64(shown.Bounds().Dy()), 0.35)
	stored := s.Get("/api/ADUser/lweber/Photo").Envelope.Result[0]["photo"]
	assert.Equal(t, stored, base64.StdEncoding.EncodeToString([]byte(b.page)))
}
