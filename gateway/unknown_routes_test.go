package gateway_test

import (
	"net/url"
	"strings"
	"testing"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/test/harness"
)

func TestEveryRowIsReachedThroughTheRouter(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK, "[]"), nil)
	log := logtest.NewLocal(s.Log)
	for _, op := range ops.Table() {
		for _, path := range []string{op.Path, strings.ToUpper(op.Path) + "/", strings.ToLower(op.Path)} {
			path = strings.NewReplacer("{NETWORKID}", "10.0.0.0/8", "{networkid}", "10.0.0.0/8", "{NetworkID}",
				"10.0.0.0/8").Replace(path)
			harness.Call(s, op.Method, (&url.URL{Path: path}).EscapedPath(), "", "Auth-Token: ") // refused
			assert.Equal(t, op.ID, fieldsOf(t, log.LastEntry())["operation"], "%s %s", op.Method, path)
		}
	}
}

func TestUnknownRoutes(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	for _, c := range []struct {
		method, path string
		code         schema.Code
		message      string
	}{
		{"GET", "/api/ADUser/jdoe/Detail", schema.NotFound, "There is no such route. Did you mean GET /api/ADUser/{UserName}/Details?"},
		{"GET", "/api/ADUsers/jdoe/Details", schema.NotFound, "There is no such route. Did you mean GET /api/ADUser/{UserName}/Details?"},
		{"POST", "/api/ADUser", schema.NotFound, "There is no such route. Did you mean POST /api/ADUser/{UserName}?"},
		{"GET", "/api/OUs", schema.NotFound, "There is no such route. Did you mean GET /api/OU/All?"},
		{"GET", "/api/Computer", schema.NotFound, "There is no such route. Did you mean GET /api/Computers?"},
		{"GET", "/api/Job", schema.NotFound, "There is no such route. Did you mean GET /api/Jobs?"},
		{"GET", "/api/Change", schema.NotFound, "There is no such route. Did you mean GET /api/Changes?"},
		{"GET", "/api/users", schema.NotFound, "There is no such route. Did you mean GET /api/ADUser/ListUsers?"},
		{"GET", "/api/users/jdoe/details", schema.NotFound, "There is no such route. Did you mean GET /api/ADUser/{UserName}/Details?"},
		{"POST", "/users/jdoe", schema.NotFound, "There is no such route. Did you mean POST /api/ADUser/{UserName}? All paths begin with /api/, without a version."},
		{"GET", "/api/groups", schema.NotFound, "There is no such route. Did you mean GET /api/ADGroups?"},
		{"GET", "/api/Foos", schema.NotFound, "There is no such route. All are described at /docs, and for programs at /openapi.json."},
		{"GET", "/", schema.NotFound, "There is no such route. All are described at /docs, and for programs at /openapi.json."},
		{"GET", "/api/" + strings.Repeat("x", 5000), schema.NotFound, "There is no such route. All are described at /docs, and for programs at /openapi.json."},
		{"GET", "/nothing/like/it/at/all", schema.NotFound, "There is no such route. All are described at /docs, and for programs at /openapi.json."},
		{"GET", "//api/ADUser/jdoe/Details", schema.NotFound, ""},
		{"DELETE", "/api/OU/All", schema.MethodNotAllowed, "The method DELETE is not allowed here; allowed: GET."},
		{"HEAD", "/api/OU/All", schema.MethodNotAllowed, "The method HEAD is not allowed here; allowed: GET."},
		{"GET", "/api/OU//All", schema.InvalidRequest, "The path has an empty segment: a value between two slashes is missing."},
	} {
		w := harness.Call(s, c.method, c.path, "")
		got := harness.Read(t, w)
		require.NotNil(t, got.Error, c.path)
		assert.Equal(t, c.code, got.Error.Code, c.path)
		if c.message != "" {
			assert.Equal(t, c.message, got.Error.Message, c.path)
		}
		if c.code == schema.MethodNotAllowed {
			assert.Equal(t, "GET", w.Header().Get("Allow"))
		}
	}
}

func TestNoParameterIsNamedLikeTheToken(t *testing.T) {
	for _, op := range ops.Table() {
		assert.Nil(t, op.Param(ops.TokenName), op.ID)
	}
}
