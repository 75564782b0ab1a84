package systemtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
)

// goroutinesLogged limits the log of goroutines to the first request of this process that gets no answer. The
// next ones mostly wait for the same reason.
var goroutinesLogged = &sync.Once{}

// exchange sends a request and returns the answer and its body. If the time limit of the request's context
// passes first, exchange logs the goroutines of this process, of which the gateway is a part. It does so
// before it closes the connection, since that would end what the request waits for.
func exchange(t testing.TB, request *http.Request) (*http.Response, []byte, error) {
	limit := request.Context()
	ctx, leave := context.WithCancelCause(context.WithoutCancel(limit))
	defer leave(nil)
	left := make(chan struct{})
	stop := context.AfterFunc(limit, func() {
		defer close(left)
		if errors.Is(limit.Err(), context.DeadlineExceeded) {
			goroutinesLogged.Do(func() {
				t.Logf("no answer to %s %s, goroutines:\n%s", request.Method, request.URL.Path, goroutines())
			})
		}
		leave(context.Cause(limit))
	})
	defer func() {
		if !stop() {
			<-left // the log of a test ends with the test
		}
	}()
	response, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// goroutines returns the stacks of all goroutines, with the time for which each has waited.
func goroutines() string {
	const stacks = 2 // in the form of an unrecovered panic
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, stacks) // a Builder accepts everything
	return text.String()
}
