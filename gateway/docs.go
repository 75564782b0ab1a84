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

	"adgateway/gateway/auth"
	"adgateway/gateway/openapi"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

const (
	docsPath     = "/docs"
	documentPath = "/openapi.json" // OpenAPI 3.1

	document30Path = "/openapi-3.0.json"
	swaggerPath    = "/swagger/v1/swagger.json" // where the older family has its document

	sandboxEngine = "sandbox"
)

// addDocs adds the description of the API and the page that shows it. Both are public,
// since they contain nothing that the source code does not.
func (s *Server) addDocs(engine *gin.Engine) {
	if s.HideDocs {
		return
	}
	for _, v30 := range []bool{false, true} {
		standard, classic := s.document(v30, false), s.document(v30, true)
		path := documentPath
		if v30 {
			path = document30Path
			engine.GET(swaggerPath, endpoint(serveDocument(classic)))
		}
		engine.GET(path, endpoint(func(r *request) {
			switch dialect := auth.Dialect(cmp.Or(r.c.Query("dialect"), string(r.policy.Dialect), string(auth.Standard))); dialect {
			case auth.Classic:
				serveDocument(classic)(r)
			case auth.Standard:
				serveDocument(standard)(r)
			default:
				r.fail(problem.Invalid([]schema.FieldError{{Field: "dialect", Code: schema.InvalidRequest, Message: "must be standard or classic"}}))
			}
		}))
	}
	page := http.StripPrefix(docsPath, openapi.Page())
	engine.GET(docsPath, func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "docs/") })
	for _, name := range openapi.PageFiles() {
		engine.GET(docsPath+"/"+name, endpoint(func(r *request) {
			r.limitSend()
			page.ServeHTTP(r.c.Writer, r.c.Request)
		}))
	}
}

// document returns a function that generates a description of the API on its first
// call, so that it does not delay the start.
func (s *Server) document(v30, classic bool) func() (*versioned, error) {
	return sync.OnceValues(func() (*versioned, error) {
		text, err := openapi.Document(s.Operations, openapi.Options{
			Version: cmp.Or(s.Version.Version, "development"), V30: v30, Classic: classic, Sandbox: s.Engine == sandboxEngine,
		})
		text = append(text, '\n')
		sum := sha256.Sum256(text)
		return &versioned{text, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
	})
}

func serveDocument(document func() (*versioned, error)) func(*request) {
	return func(r *request) {
		d, err := document()
		if err != nil {
			r.fail(problem.Internal(err))
			return
		}
		r.limitSend()
		r.c.Header("Content-Type", openapi.ContentType)
		r.c.Header("Cache-Control", "no-cache")
		r.c.Header("ETag", d.tag)
		http.ServeContent(r.c.Writer, r.c.Request, "", time.Time{}, bytes.NewReader(d.text))
	}
}

// versioned is the description of the API with its entity tag.
type versioned struct {
	text []byte
	tag  string
}
