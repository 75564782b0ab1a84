package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/openapi"
)

const docsPath = "/docs"

// addDocs serves the description of the API and the page that shows it. Both
// are open to everybody: they hold nothing but what the program's source does.
func (s *Server) addDocs(engine *gin.Engine) error {
	if s.HideDocs {
		return nil
	}
	document, err := openapi.Document(s.Operations, firstOf(s.Version.Version, "development"))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(document)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	engine.GET("/openapi.json", func(c *gin.Context) {
		limitWrite(c, time.Now().Add(note(c).sendTimeout))
		c.Header("Content-Type", openapi.ContentType)
		c.Header("Cache-Control", "no-cache")
		c.Header("ETag", tag)
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(document))
	})
	page := http.StripPrefix(docsPath, openapi.Page())
	engine.GET(docsPath, func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "docs/") })
	for _, name := range openapi.PageFiles() {
		engine.GET(docsPath+"/"+name, func(c *gin.Context) {
			limitWrite(c, time.Now().Add(note(c).sendTimeout))
			page.ServeHTTP(c.Writer, c.Request)
		})
	}
	return nil
}
