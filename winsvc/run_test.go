package winsvc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kardianos/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/winsvc/events"
)

// journal records the entries written to the system's event log.
type journal struct {
	service.Logger // other methods are not called
	mu             sync.Mutex
	lines          []string
}

func (e *journal) add(kind string, v ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, kind+": "+fmt.Sprint(v...))
	return nil
}

func (e *journal) Error(v ...any) error   { return e.add("error", v...) }
func (e *journal) Warning(v ...any) error { return e.add("warning", v...) }
func (e *journal) Info(v ...any) error    { return e.add("info", v...) }

func started(t *testing.T, serve func(context.Context) error) (*handler, *journal, chan int) {
	t.Helper()
	exits, recorded := make(chan int, 1), &journal{}
	h := newHandler(t.Context(), func(context.Context, events.Write) (func(context.Context) error, string,
		error) {
		return serve, "It listens.", nil
	}, func(code int) { exits <- code })
	h.events = recorded
	require.NoError(t, h.Start(nil))
	return h, recorded, exits
}

func TestStartReturnsAndStopWaits(t *testing.T) {
	finished := false
	h, recorded, exits := started(t, func(ctx context.Context) error {
		<-ctx.Done()
		finished = true
		return nil
	})
	require.NoError(t, h.Stop(nil))
	assert.True(t, finished, "stop waits until all is over")
	assert.Equal(t, []string{"info: It listens.", "info: The service has stopped."}, recorded.lines)
	assert.Empty(t, exits)
}

// A prepared service can write to the event log until the service has stopped.
func TestEventsOfWhatIsServed(t *testing.T) {
	recorded := &journal{}
	h := newHandler(t.Context(), func(_ context.Context, write events.Write) (func(context.Context) error,
		string, error) {
		write(events.AuditEnd, "It has 42 lines.")
		return func(ctx context.Context) error {
			<-ctx.Done()
			write(events.AuditTrouble, "It was altered.")
			return nil
		}, "It listens.", nil
	}, nil)
	h.events = recorded
	require.NoError(t, h.Start(nil))
	require.NoError(t, h.Stop(nil))
	assert.Equal(t, []string{"info: It has 42 lines.", "info: It listens.", "error: It was altered.",
		"info: The service has stopped."}, recorded.lines)
}

func TestTheManagerHearsOfAServiceThatStops(t *testing.T) {
	release := make(chan struct{})
	h, _, _ := started(t, func(ctx context.Context) error { <-ctx.Done(); <-release; return nil })
	var heard []uint32
	h.stop(time.Millisecond, func(checkpoint uint32) {
		if heard = append(heard, checkpoint); checkpoint == 3 {
			close(release)
		}
	})
	require.GreaterOrEqual(t, len(heard), 3)
	assert.Equal(t, []uint32{1, 2, 3}, heard[:3])
}

// A start may take a long time, for example that of a node with a lot of data.
func TestTheManagerHearsOfAServiceThatStarts(t *testing.T) {
	for name, result := range map[string]error{"it starts": nil, "it fails": errors.New("the disk is gone")} {
		release := make(chan struct{})
		h := newHandler(t.Context(),
			func(context.Context, events.Write) (func(context.Context) error, string, error) {
				<-release
				return func(ctx context.Context) error { <-ctx.Done(); return nil }, "It listens.", result
			}, nil)
		h.events = &journal{}
		var heard []uint32
		err := h.start(time.Millisecond, func(checkpoint uint32) {
			if heard = append(heard, checkpoint); checkpoint == 3 {
				close(release)
			}
		})
		assert.Equal(t, result, err, name)
		require.GreaterOrEqual(t, len(heard), 3, name)
		assert.Equal(t, []uint32{1, 2, 3}, heard[:3], name)
		if result == nil {
			require.NoError(t, h.Stop(nil), name)
		}
	}
}

// A requested stop is never a failure, because Windows would restart the service after a failure.
func TestAnUncleanStopIsReportedButIsNotAFailure(t *testing.T) {
	cut := errors.New("2 requests were cut off")
	h, recorded, exits := started(t, func(ctx context.Context) error { <-ctx.Done(); return cut })
	assert.NoError(t, h.Stop(nil))
	assert.Contains(t, recorded.lines, "warning: The service has stopped: 2 requests were cut off")
	assert.Empty(t, exits)
}

func TestAFatalErrorAfterTheStartEndsTheProcess(t *testing.T) {
	for name, err := range map[string]error{"error": errors.New("the listener broke"), "no error": nil} {
		_, recorded, exits := started(t, func(context.Context) error { return err })
		select {
		case code := <-exits:
			assert.Equal(t, 1, code, name)
		case <-time.After(3 * time.Minute):
			t.Fatal("the process goes on without serving")
		}
		assert.Contains(t, recorded.lines, fmt.Sprint("error: The service stops because of an error: ", err))
	}
}

func TestWhatCannotBePreparedKeepsTheServiceFromStarting(t *testing.T) {
	broken := errors.New("settings: broken")
	h := newHandler(t.Context(), func(context.Context, events.Write) (func(context.Context) error, string,
		error) {
		return nil, "", broken
	}, nil)
	recorded := &journal{}
	h.events = recorded
	assert.Equal(t, broken, h.Start(nil))
	assert.Equal(t, []string{"error: The service cannot start: settings: broken"}, recorded.lines)
}

func TestTheContextOfTheCommandEndsItToo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	exits := make(chan int, 1)
	h := newHandler(ctx, func(context.Context, events.Write) (func(context.Context) error, string, error) {
		return func(ctx context.Context) error { <-ctx.Done(); return nil }, "", nil
	}, func(code int) { exits <- code })
	h.events = &journal{}
	require.NoError(t, h.Start(nil))
	cancel()
	select {
	case <-h.ended:
	case <-time.After(3 * time.Minute):
		t.Fatal("it does not end")
	}
	require.NoError(t, h.Stop(nil))
	assert.Empty(t, exits, "this is no failure")
}
