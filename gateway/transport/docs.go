package transport

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/identity"
	"adgateway/gateway/manual/site"
	"adgateway/gateway/openapi"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

const (
	docsPath     = "/docs"
	documentPath = "/openapi.json" // OpenAPI 3.1

	document30Path = "/openapi-3.0.json"
	swaggerPath    = "/swagger/v1/swagger.json" // path of the document in the older family of APIs
)

// addDocs adds the description of the API and the page that shows it. Both are public, because
// everything in them is in the source code.
func (s *Server) addDocs(engine *gin.Engine) {
	if s.HideDocs {
		return
	}
	for _, v30 := range []bool{false, true} {
		standard, classic := s.document(v30, false), s.document(v30, true)
		path := documentPath
		if v30 {
			path = document30Path
			addRead(engine, swaggerPath, endpoint(serveDocument(classic)))
		}
		addRead(engine, path, endpoint(func(x *exchange) {
			switch dialect := identity.Dialect(cmp.Or(x.c.Query("dialect"), string(x.policy.Dialect),
				string(identity.Standard))); dialect {
			case identity.Classic:
				serveDocument(classic)(x)
			case identity.Standard:
				serveDocument(standard)(x)
			default:
				x.fail(problem.Invalid([]schema.FieldError{{Field: "dialect", Code: schema.InvalidRequest,
					Message: "must be standard or classic"}}))
			}
		}))
	}
	page := http.StripPrefix(docsPath, openapi.Page())
	addRead(engine, docsPath, func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "docs/") })
	for _, name := range openapi.PageFiles() {
		addRead(engine, docsPath+"/"+name, endpoint(func(x *exchange) {
			x.limitSend()
			page.ServeHTTP(x.c.Writer, x.c.Request)
		}))
	}
	addManual(engine, manualOf(s))
}

// addManual adds the manual, which is public for the same reason as the description of the API.
func addManual(engine *gin.Engine, pages *site.Site) {
	show := endpoint(func(x *exchange) {
		x.limitSend()
		pages.ServeHTTP(x.c.Writer, x.c.Request)
	})
	addRead(engine, site.Path+"*page", show)
	addRead(engine, strings.TrimSuffix(site.Path, "/"), func(c *gin.Context) {
		c.Redirect(http.StatusMovedPermanently, site.Path)
	})
}

func manualOf(s *Server) *site.Site {
	return &site.Site{Version: s.Version.Version, Console: s.Pages != nil, Sandbox: s.Sandbox()}
}

// wantsHome reports whether a browser requests the gateway's root.
func wantsHome(x *exchange, path string) bool {
	method := x.c.Request.Method
	return path == "/" && (method == http.MethodGet || method == http.MethodHead) &&
		strings.Contains(x.c.GetHeader("Accept"), "text/html")
}

// serveHome answers a browser with the home page, or redirects it to the console if the public
// pages are hidden.
func serveHome(x *exchange) {
	if x.server.HideDocs {
		x.c.Redirect(http.StatusSeeOther, PagesPath)
		return
	}
	x.limitSend()
	manualOf(x.server).ServeHome(x.c.Writer)
}

// document returns a function that generates a description of the API on its first call, so it does
// not delay the start.
func (s *Server) document(v30, classic bool) func() (*versioned, error) {
	return sync.OnceValues(func() (*versioned, error) {
		text, err := openapi.Document(s.Operations, openapi.Options{
			Version: cmp.Or(s.Version.Version, "development"), V30: v30, Classic: classic,
			Sandbox: s.Sandbox(),
			Tickets: s.tickets != nil,
		})
		text = append(text, '\n')
		sum := sha256.Sum256(text)
		return &versioned{text, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
	})
}

func serveDocument(document func() (*versioned, error)) func(*exchange) {
	return func(x *exchange) {
		d, err := document()
		if err != nil {
			x.fail(problem.Internal(err))
			return
		}
		x.limitSend()
		x.c.Header("Content-Type", openapi.ContentType)
		x.c.Header("Cache-Control", "no-cache")
		x.c.Header("ETag", d.tag)
		http.ServeContent(x.c.Writer, x.c.Request, "", time.Time{}, bytes.NewReader(d.text))
	}
}

// versioned is a description of the API with its entity tag.
type versioned struct {
	text []byte
	tag  string
}
