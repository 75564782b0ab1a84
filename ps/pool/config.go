// Package pool keeps PowerShell sessions and runs requests on them.
//
// There is one lane per module, each a jackc/puddle pool of at most Size live
// sessions, a replacement under way included. A request takes an idle session
// of its lane, or waits in a bounded queue (lane.go). Lists never hold the last
// session of a lane, so that a slow list cannot keep writes waiting.
//
// Sessions are started when they are needed and go on starting when whoever
// asked has left; the next one gets them. When starting fails for good,
// the lane waits longer and longer before it tries again, and requests that find
// no session alive are told so at once (circuit.go). A session that gave any surprise is thrown away; others are
// retired by count of requests, age and memory.
package pool

import (
	"context"
	"time"

	"adgateway/ps"
)

// Session is what a pool holds. *session.Session is one.
//
// Run is called by one goroutine at a time. Close ends the session in good
// order as far as ctx allows, Kill at once; both return when it is gone. Dead is
// closed as soon as the session can take no more requests. Probe is a request
// that asks for nothing but an answer; like Run it takes the session for itself.
type Session interface {
	Run(ctx context.Context, req ps.Request) (*ps.Result, error)
	Probe(ctx context.Context) error
	Close(ctx context.Context) error
	Kill()
	Dead() <-chan struct{}
}

// Start starts a session. ctx ends when the pool is closed, not when whoever
// waits for the session leaves. An error is best an [*ps.Error].
type Start func(ctx context.Context) (Session, error)

// Config says how a pool works. Zero values take the defaults named.
type Config struct {
	Lanes map[ps.Lane]Lane

	MaxWait  time.Duration // longest wait for a session; 10 s
	Queue    int           // requests that may wait, per lane, lists in half of the places; 64
	Grace    time.Duration // how long a read whose caller left may go on before its session is killed; 2 s
	MinDelay time.Duration // first pause after failed starts; 1 s
	MaxDelay time.Duration // longest; 1 min
	Sweep    time.Duration // how often idle sessions are looked at and missing ones started; 1 s
	Probe    time.Duration // a session is probed when its lane was silent for so long; three times that is not ready; 30 s

	// Log, when set, is told of starts, ends and their reasons.
	Log func(message string, fields map[string]any)
	// Debug, when set, is told of every run. It asks for the fields if it wants them.
	Debug func(message string, fields func() map[string]any)
}

// Lane says how the sessions of one lane are kept.
type Lane struct {
	Start Start
	Size  int // sessions at most; 4 for the directory, 2 for dns and any other
	Warm  int // sessions kept started, asked for or not; 1, negative: none

	MaxRequests int           // a session retires after so many; 500, negative: never
	MaxAge      time.Duration // and after so long, less up to a tenth at random; 30 min, negative: never
	MaxMemory   int64         // and above so many private bytes; 0: not looked at
	Limit       time.Duration // of a request that names none; 60 s
}
