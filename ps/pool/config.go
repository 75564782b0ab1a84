// Package pool runs requests on a pool of PowerShell sessions.
//
// There is one lane per module: a jackc/puddle pool of at most Size live sessions,
// including those being replaced. A request takes an idle session of its lane, or
// waits in a bounded queue (lane.go, acquire.go). Lists never occupy all sessions of
// a lane, so that slow lists cannot block writes.
//
// Sessions are started on demand. If the caller goes away, the start continues, and
// the next request gets the session. If starts keep failing, the lane backs off, and
// requests fail at once while no session is alive (circuit.go). Sessions that died
// are discarded; others retire after a number of requests, with age or when they
// use too much memory.
package pool

import (
	"context"
	"time"

	"adgateway/ps"
)

// Session is what a pool holds; *session.Session implements it.
//
// Run and Probe are called by one goroutine at a time. Probe checks that the session
// responds. Close ends the session cleanly if ctx allows, Kill ends it at once; both
// return when it is gone. Dead is closed as soon as the session accepts no more
// requests.
type Session interface {
	Run(ctx context.Context, req ps.Request) (*ps.Result, error)
	Probe(ctx context.Context) error
	Close(ctx context.Context) error
	Kill()
	Dead() <-chan struct{}
}

// Start starts a session. ctx ends when the pool is closed, not with the request
// that needs the session. Errors should be of type [*ps.Error].
type Start func(ctx context.Context) (Session, error)

// Config configures a pool. Zero values mean the defaults at the end of each comment.
type Config struct {
	Lanes map[ps.Lane]Lane

	MaxWait  time.Duration // maximum wait for a session; 10 s
	Queue    int           // requests that may wait per lane, at most half of them lists; 64
	Grace    time.Duration // time a cancelled read may continue before its session is killed; 2 s
	MinDelay time.Duration // first pause after a failed start; 1 s
	MaxDelay time.Duration // longest pause after a failed start; 1 min
	Sweep    time.Duration // interval at which idle sessions are checked and missing ones started; 1 s
	Probe    time.Duration // silence of a lane after which a session is probed; after three times this it is not ready; 30 s

	// Log receives starts and ends of sessions, with the reasons. Nil discards them.
	Log func(message string, fields map[string]any)
	// Debug receives every run; it may call fields to get the details. Nil discards
	// them.
	Debug func(message string, fields func() map[string]any)
}

// Lane configures the sessions of one lane.
type Lane struct {
	Start Start
	Size  int // maximum number of sessions; 4 for the directory, 2 for others
	Warm  int // minimum number of sessions kept started; 1, negative: none

	MaxRequests int           // requests after which a session retires; 500, negative: unlimited
	MaxAge      time.Duration // age at which it retires, reduced at random by up to a tenth; 30 min, negative: unlimited
	MaxMemory   int64         // private bytes above which it retires; 0: unlimited
	Limit       time.Duration // limit of requests without one; 60 s
}
