// Package pool runs requests on a pool of PowerShell sessions.
//
// There is one lane per module, with at most Size sessions. A session counts until it has
// ended, even while it is starting, and a session that is being replaced counts in addition
// to its replacement. The contract of a lane:
//
//   - A request takes an idle session or waits in a bounded queue. Waiting requests get
//     free sessions in order of arrival (queue.go). Lists may hold all but one of the
//     Size sessions, so that slow lists cannot block writes. Other requests overtake a
//     list that waits because of this limit.
//   - Sessions are started independently of the queue. The lane starts as many as there are
//     waiting requests, up to Size (sessions.go). A request is not tied to a start. It takes
//     whichever session is free first, and a start continues when the request that triggered
//     it has left.
//   - A session is due to retire after a number of requests or at an age, both
//     reduced at random by up to a tenth. One session retires at a time, and never
//     while another one starts. If the lane is below Size, the replacement is ready
//     before the session leaves. At Size the session leaves first, so that a retirement
//     costs at most one session for the time of a start. Until its turn comes, a due
//     session keeps serving. A session that dies or exceeds its memory leaves at once.
//   - If starts keep failing, the lane pauses between attempts, at most MaxDelay
//     (circuit.go). Requests fail at once while no session is alive and no attempt
//     is in progress.
package pool

import (
	"context"
	"time"

	"adgateway/ps"
)

// Session is a session in a pool. *session.Session implements it.
//
// Run and Probe are called by one goroutine at a time. Probe checks that the session
// responds. Close ends the session cleanly if ctx allows, and Kill ends it immediately. Both
// return when it has ended. Dead is closed as soon as the session accepts no more requests.
type Session interface {
	Run(ctx context.Context, req ps.Request) (*ps.Result, error)
	Probe(ctx context.Context) error
	Close(ctx context.Context) error
	Kill()
	Dead() <-chan struct{}
}

// Start starts a session. ctx ends when the pool is closed, not when the request that needs
// the session ends. Errors should be of type [*ps.Error].
type Start func(ctx context.Context) (Session, error)

// Config configures a pool. A zero value means the default at the end of its comment.
type Config struct {
	Lanes map[ps.Lane]Lane

	MaxWait  time.Duration // maximum wait for a session, unless the request has its own limit; 10 s
	Queue    int           // requests that may wait per lane, at most half of them lists; 64
	Grace    time.Duration // time a canceled read may continue before its session is killed; 2 s
	MinDelay time.Duration // first pause after a failed start; 1 s
	MaxDelay time.Duration // longest pause after a failed start; 10 s
	Sweep    time.Duration // interval at which due sessions retire and missing ones are started; 1 s
	// A session is probed if its lane has not answered for this long. After three times this, the lane is not
	// ready; 30 s
	Probe time.Duration

	// Started is called whenever a session has been started. It must not block
	// and may be called concurrently. May be nil.
	Started func(ps.Lane)
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
	Warm  int // minimum number of started sessions; 1, negative: none

	Starts int // maximum number of concurrent starts in the lane; half the number of processors, at least 1

	MaxRequests int           // number of requests after which a session retires; 50,000, negative: unlimited
	MaxAge      time.Duration // age at which a session retires; 30 min, negative: unlimited
	MaxMemory   int64         // private bytes above which a session ends after a request; 0 means unlimited
	Limit       time.Duration // time limit of requests without one; 60 s
}
