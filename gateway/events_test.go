package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/ps"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// idle runs nothing.
type idle struct{ ps.Runner }

func TestTheTextOfAnEvent(t *testing.T) {
	s, err := New(Options{Runner: idle{}, Auth: auth.NewStatic(auth.Header{}), Log: logrus.New(), Operations: []*ops.Operation{}})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
	e, err := (&request{gateway: s, c: c, startedAt: time.Now(), sendTimeout: time.Minute, leave: func() {}}).startEvents()
	require.NoError(t, err)
	require.NoError(t, e.send(serverEvent{id: "a", name: "one", data: []byte("x\ny\r\nz\rend")}))
	require.NoError(t, e.send(serverEvent{name: "two"}))
	e.mark("b")
	require.NoError(t, e.comment("quiet"))
	require.NoError(t, e.comment("quiet"))
	assert.Equal(t, "retry: 5000\n\nid: a\nevent: one\ndata: x\ndata: y\ndata: z\ndata: end\n\nevent: two\ndata: \n\n: quiet\nid: b\n\n: quiet\n\n", w.Body.String())
}
