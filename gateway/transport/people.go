package transport

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// PagesPath is where the pages for people are. They set their own headers.
const PagesPath = "/ui/"

// addPages adds the pages. gin answers every method there with them, so that a wrong
// one gets a page, too.
func (s *Server) addPages(engine *gin.Engine) {
	if s.Pages == nil {
		return
	}
	show := endpoint(func(x *exchange) {
		if _, refusal := unledOf(x.c.Request); refusal != nil {
			x.refusePage(refusal)
			return
		}
		s.Pages.ServeHTTP(x.c.Writer, x.c.Request)
	})
	engine.Any(PagesPath+"*page", show)
	engine.GET(strings.TrimSuffix(PagesPath, "/"), func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, PagesPath) })
}

// followsLink reports whether a request follows a link to a page, which may stand on any
// web site. The pages themselves refuse other requests from there.
func (x *exchange) followsLink() bool {
	method := x.c.Request.Method
	return x.server.Pages != nil && strings.HasPrefix(x.c.Request.URL.Path, PagesPath) && (method == http.MethodGet || method == http.MethodHead)
}
