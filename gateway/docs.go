package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/openapi"
)

const (
	docsPath     = "/docs"
	documentPath = "/openapi.json"
)

// addDocs serves the description of the API and the page that shows it. Both
// are open to everybody: they hold nothing but what the program's source does.
func (s *Server) addDocs(engine *gin.Engine) {
	if s.HideDocs {
		return
	}
	// Made when it is first asked for, so that a start does not wait for it.
	document := sync.OnceValues(func() (*described, error) {
		text, err := openapi.Document(s.Operations, firstOf(s.Version.Version, "development"))
		sum := sha256.Sum256(text)
		return &described{text, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
	})
	engine.GET(documentPath, func(c *gin.Context) {
		d, err := document()
		if err != nil {
			failed := fail(ourFault.code, "%s", ourFault.sentence)
			failed.cause = err
			s.writeFailure(c, failed)
			return
		}
		limitWrite(c, time.Now().Add(note(c).sendTimeout))
		c.Header("Content-Type", openapi.ContentType)
		c.Header("Cache-Control", "no-cache")
		c.Header("ETag", d.tag)
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(d.text))
	})
	page := http.StripPrefix(docsPath, openapi.Page())
	engine.GET(docsPath, func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "docs/") })
	for _, name := range openapi.PageFiles() {
		engine.GET(docsPath+"/"+name, func(c *gin.Context) {
			limitWrite(c, time.Now().Add(note(c).sendTimeout))
			page.ServeHTTP(c.Writer, c.Request)
		})
	}
}

// described is the description of the API, and what names this state of it.
type described struct {
	text []byte
	tag  string
}
