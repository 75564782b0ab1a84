package transport

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// The rights of pages from a listed origin (CORS, the Fetch standard). There is no
// Access-Control-Allow-Credentials: a page sends its own token and must not use the
// browser's credentials, such as a client certificate.
const (
	corsMethods = "GET, POST, PUT, DELETE"
	corsRequest = "Auth-Token, Authorization, Content-Type, X-Request-Id, If-Match, If-None-Match"
	corsAnswer  = "X-Request-Id, X-Engine, X-Directory-Server, ETag, Retry-After, WWW-Authenticate, Allow"
	corsMaxAge  = "600" // seconds
)

// checkOrigin refuses cross-site requests from origins that are not listed, and
// answers preflights of those that are. Pages of the gateway itself are allowed.
func (x *exchange) checkOrigin(listed []string) {
	header, origins := x.c.Writer.Header(), x.c.Request.Header.Values("Origin")
	if len(listed) > 0 {
		header.Add("Vary", "Origin")
	}
	allowed := len(origins) == 1 && slices.ContainsFunc(listed, func(one string) bool { return strings.EqualFold(one, origins[0]) })
	own := len(origins) == 1 && sameHost(origins[0], x.c.Request.Host)
	crossSite := x.c.GetHeader("Sec-Fetch-Site") == "cross-site"
	if !allowed && (crossSite || len(origins) > 0 && !own) {
		failed := problem.New(schema.Forbidden, "Requests from other web sites are not accepted.")
		failed.Reason = problem.ReasonOtherSites
		x.fail(failed)
		return
	}
	if !allowed {
		return
	}
	header.Set("Access-Control-Allow-Origin", origins[0])
	if x.c.Request.Method != http.MethodOptions || x.c.GetHeader("Access-Control-Request-Method") == "" {
		header.Set("Access-Control-Expose-Headers", corsAnswer)
		return
	}
	// The answer to a preflight is the same for every path. So a page learns from its
	// own request, not from the preflight, that a path or a method does not exist.
	header.Add("Vary", "Access-Control-Request-Method")
	header.Add("Vary", "Access-Control-Request-Headers")
	header.Set("Access-Control-Allow-Methods", corsMethods)
	header.Set("Access-Control-Allow-Headers", corsRequest)
	header.Set("Access-Control-Max-Age", corsMaxAge)
	x.c.AbortWithStatus(http.StatusNoContent)
}

func sameHost(origin, host string) bool {
	parsed, err := url.Parse(origin)
	return err == nil && parsed.Host != "" && strings.EqualFold(parsed.Host, host)
}
