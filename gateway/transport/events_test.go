package transport

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/call"
)

func TestTheTextOfAnEvent(t *testing.T) {
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
	var e call.Events = &eventStream{x: &exchange{server: &Server{stopping: t.Context()}, c: c, sendTimeout: time.Minute}, checkedAt: time.Now()}
	require.NoError(t, e.Begin())
	require.NoError(t, e.Send(call.Event{ID: "a", Name: "one", Data: []byte("x\ny\r\nz\rend")}))
	require.NoError(t, e.Send(call.Event{Name: "two"}))
	e.Mark("b")
	require.NoError(t, e.Comment("quiet"))
	require.NoError(t, e.Comment("quiet"))
	assert.Equal(t, "retry: 5000\n\nid: a\nevent: one\ndata: x\ndata: y\ndata: z\ndata: end\n\nevent: two\ndata: \n\n: quiet\nid: b\n\n: quiet\n\n", w.Body.String())
}
