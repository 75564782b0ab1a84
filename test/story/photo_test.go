package story

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema/photo"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const annasPhoto = "/api/ADUser/" + systemtest.SampleUser + "/Photo"

// portrait returns a square picture of edge pixels.
func portrait(edge int, of color.Color) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, edge, edge))
	for i := range edge * edge {
		m.Set(i%edge, i/edge, of)
	}
	return m
}

func pngOf(t testing.TB, m image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, m))
	return out.Bytes()
}

// sendImage gives Anna a photo with the image as the body.
func sendImage(media string, data []byte) systemtest.Call {
	return systemtest.Call{
		Method: http.MethodPut, Path: annasPhoto, Raw: bytes.NewReader(data),
		Headers: map[string]string{"Content-Type": media},
	}
}

// preferring reads Anna's photo with a header Accept.
func preferring(accept string) systemtest.Call {
	headers := map[string]string{"Accept": accept}
	return systemtest.Call{Method: http.MethodGet, Path: annasPhoto, Headers: headers}
}

func storedPhoto(s *systemtest.System) []byte {
	data, _ := s.Stored(systemtest.SampleUserDN, "thumbnailPhoto").Value("thumbnailPhoto").([]byte)
	return data
}

// TestAPhotoIsStoredSmall: from any input, sent in base64 or as the body, the gateway stores a JPEG of at
// most 10 kB, and reads return that JPEG.
func TestAPhotoIsStoredSmall(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	assert.Nil(t, s.Record(s.Get(annasPhoto))["photo"], "she has none yet")
	none := s.Rejects(preferring(photo.JPEG), http.StatusNotFound, "not_found")
	assert.Contains(t, string(none.Body), "The user 'aschmidt' has no photo.")
	data := pngOf(t, portrait(800, color.RGBA{R: 0xff, A: 0xff}))
	params := map[string]any{"Photo": base64.StdEncoding.EncodeToString(data)}
	for name, call := range map[string]func() systemtest.Call{
		"in base64":   func() systemtest.Call { return putting(annasPhoto, params) },
		"as the body": func() systemtest.Call { return sendImage(photo.PNG, data) },
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			start := s.Snapshot()
			a := s.Do(call())
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			stored := storedPhoto(s)
			info, err := photo.Describe(stored)
			require.NoError(t, err)
			assert.Equal(t, photo.JPEG, info.Type)
			assert.LessOrEqual(t, info.Bytes, photo.MostOut)
			m, err := jpeg.Decode(bytes.NewReader(stored))
			require.NoError(t, err)
			assert.Equal(t, 192, m.Bounds().Dx())
			record := s.Record(s.Get(annasPhoto))
			assert.Equal(t, base64.StdEncoding.EncodeToString(stored), record["photo"])
			assert.Equal(t, photo.JPEG, record["mediaType"])
			assert.EqualValues(t, info.Bytes, record["bytes"])
			assert.Equal(t, info.SHA256, record["sha256"])
			shown := s.Do(preferring("image/avif,image/*,*/*;q=0.8"))
			assert.Equal(t, photo.JPEG, shown.Header.Get("Content-Type"))
			assert.Equal(t, stored, shown.Body, "a page shows it as it is")
			assert.Equal(t, shown.Body, s.Do(preferring(photo.JPEG)).Body)
			assert.Equal(t, record, s.Record(s.Do(preferring("*/*"))))

			assert.Contains(t, s.Do(call()).Envelope.Output, "nothing was changed")
			s.OK(systemtest.Call{Method: http.MethodDelete, Path: annasPhoto}, http.StatusOK)
			assert.Empty(t, storedPhoto(s))
			again := s.Do(systemtest.Call{Method: http.MethodDelete, Path: annasPhoto})
			assert.Contains(t, again.Envelope.Output, "has no photo")
			assert.Empty(t, start.Compare(s.Snapshot()))
		})
	}
}

// TestAPhotoIsBroughtBackByteForByte: an undo restores a photo exactly, even if another
// program stored it and it is larger than photos that the gateway stores.
func TestAPhotoIsBroughtBackByteForByte(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	from := rand.New(rand.NewPCG(3, 4))
	noise := image.NewGray(image.Rect(0, 0, 300, 300))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(from.UintN(256))
	}
	foreign := pngOf(t, noise)
	require.Greater(t, len(foreign), 80_000)
	for name, before := range map[string][]byte{
		"a large one": foreign, "one that is no image": []byte("GIF89a, or anything else"),
	} {
		s.SetAttribute(systemtest.SampleUserDN, "thumbnailPhoto", before)
		for verb, change := range map[string]systemtest.Call{
			"replaced": sendImage(photo.PNG, pngOf(t, portrait(96, color.White))),
			"removed":  {Method: http.MethodDelete, Path: annasPhoto},
		} {
			a := s.Do(change)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			require.NotEqual(t, before, storedPhoto(s))
			undone := s.Do(post("/api/Changes/" + a.Header.Get("X-Change-Id") + "/Undo"))
			require.Equal(t, http.StatusOK, undone.Status, "%s %s: %s", name, verb, undone.Body)
			assert.Equal(t, before, storedPhoto(s), "%s %s", name, verb)
		}
	}
}

// TestWhatCannotBeShownAsAPhotoIsNot: stored bytes that are neither a JPEG nor a PNG stay in
// the directory but are not shown.
func TestWhatCannotBeShownAsAPhotoIsNot(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	a := s.Get("/api/ADUser/paula/Photo")
	assert.Nil(t, s.Record(a)["photo"])
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "photo_unreadable", string(a.Envelope.Warnings[0].Code))
}

// TestNoPhotoIsInLogs: logs, plans, the history and the audit contain only the size and hash of a photo.
func TestNoPhotoIsInLogs(t *testing.T) {
	folder := t.TempDir()
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "audit.file="+filepath.Join(folder, "audit.jsonl"))
	call := sendImage(photo.PNG, pngOf(t, portrait(120, color.RGBA{G: 0xff, A: 0xff})))
	a := s.Do(call)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	image := base64.StdEncoding.EncodeToString(storedPhoto(s))
	info, err := photo.Describe(storedPhoto(s))
	require.NoError(t, err)
	removal := systemtest.Call{Method: http.MethodDelete, Path: annasPhoto}
	plan := s.Do(withParams(http.MethodDelete, annasPhoto, []string{"DryRun", "true"}))
	require.Equal(t, http.StatusOK, s.Do(removal).Status)
	history := s.Get("/api/Changes")
	audit, err := os.ReadFile(filepath.Join(folder, "audit.jsonl"))
	require.NoError(t, err)
	for what, body := range map[string][]byte{"plan": plan.Body, "history": history.Body, "audit": audit} {
		text := string(body)
		assert.NotContains(t, text, image[:60], what)
		assert.NotContains(t, text, image[len(image)/2:len(image)/2+60], what)
	}
	assert.Contains(t, string(history.Body), info.SHA256)
	assert.Contains(t, string(plan.Body), info.SHA256)
	assert.Equal(t, 2, strings.Count(string(audit), ` bytes"},"after"`), "%s", audit)
}

// TestInvalidPhotosAreRefused: an input that is not a photo, or exceeds the limits, is refused.
func TestInvalidPhotosAreRefused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
		says   string
	}{
		"no base64":         {put(annasPhoto, "Photo", "no base64!"), 400, "invalid_request", "1048576 bytes"},
		"nothing":           {put(annasPhoto), 400, "invalid_request", "Photo"},
		"an SVG":            {sendImage(photo.PNG, []byte("<svg/>")), 422, "unprocessable", "neither a JPEG nor a PNG"},
		"another type":      {sendImage("image/gif", []byte("GIF89a")), 415, "unsupported_media_type", "image/jpeg or image/png"},
		"larger than 1 MiB": {sendImage(photo.JPEG, make([]byte, photo.MostIn+1)), 422, "unprocessable", "1048576 bytes"},
		"much larger":       {sendImage(photo.JPEG, make([]byte, 2*photo.MostIn)), 413, "too_large", ""},
		"of nobody":         {withParams(http.MethodDelete, "/api/ADUser/nobody.here/Photo", nil), 404, "not_found", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.In(t).Rejects(c.call, c.status, c.code)
			assert.Contains(t, string(a.Body), c.says)
		})
	}
	assert.Empty(t, start.Compare(s.Snapshot()))
	exact := append(pngOf(t, portrait(10, color.White)), make([]byte, photo.MostIn)...)[:photo.MostIn]
	a := s.Do(sendImage(photo.PNG, exact))
	assert.Equal(t, http.StatusOK, a.Status, "1 MiB is not too large: %s", a.Body)
}
