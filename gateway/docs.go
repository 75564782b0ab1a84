package gateway

import (
	"bytes"
	"cmp"
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

// addDocs adds the description of the API and the page that shows it. Both are public,
// since they contain nothing that the source code does not.
func (s *Server) addDocs(engine *gin.Engine) {
	if s.HideDocs {
		return
	}
	// Generated on first use, so that it does not delay the start.
	document := sync.OnceValues(func() (*versioned, error) {
		text, err := openapi.Document(s.Operations, cmp.Or(s.Version.Version, "development"))
		sum := sha256.Sum256(text)
		return &versioned{text, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
	})
	engine.GET(documentPath, endpoint(func(r *request) {
		d, err := document()
		if err != nil {
			r.fail(internalError(err))
			return
		}
		r.limitSend()
		r.c.Header("Content-Type", openapi.ContentType)
		r.c.Header("Cache-Control", "no-cache")
		r.c.Header("ETag", d.tag)
		http.ServeContent(r.c.Writer, r.c.Request, "", time.Time{}, bytes.NewReader(d.text))
	}))
	page := http.StripPrefix(docsPath, openapi.Page())
	engine.GET(docsPath, func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "docs/") })
	for _, name := range openapi.PageFiles() {
		engine.GET(docsPath+"/"+name, endpoint(func(r *request) {
			r.limitSend()
			page.ServeHTTP(r.c.Writer, r.c.Request)
		}))
	}
}

// versioned is the description of the API with its entity tag.
type versioned struct {
	text []byte
	tag  string
}
