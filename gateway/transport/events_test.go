package transport

import (
	"net/http"
	"net/http/httptest"
	"strconv"
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
	var e call.Events = &eventStream{x: &exchange{server: &Server{stopping: t.Context()}, c: c,
		sendTimeout: time.Minute, control: http.NewResponseController(c.Writer)}, checkedAt: time.Now()}
	require.NoError(t, e.Begin())
	require.NoError(t, e.Send(call.Event{ID: "a", Name: "one", Data: []byte("x\ny\r\nz\rend")}))
	require.NoError(t, e.Send(call.Event{Name: "two"}))
	require.NoError(t, e.Comment("early"))
	marks := 0
	e.Mark(func() string { marks++; return "m" + strconv.Itoa(marks) })
	require.NoError(t, e.Comment("quiet"))
	require.NoError(t, e.Comment("quiet"))
	require.NoError(t, e.Send(call.Event{ID: "b", Name: "three"}))
	require.NoError(t, e.Comment("late"))
	assert.Equal(t, "retry: 5000\n\nid: a\nevent: one\ndata: x\ndata: y\ndata: z\ndata: end\n\nevent: two\n"+
		"data: \n\n: early\n\n"+
		": quiet\nid: m1\n\n: quiet\nid: m2\n\nid: b\nevent: three\ndata: \n\n: late\n\n", w.Body.String())
}
