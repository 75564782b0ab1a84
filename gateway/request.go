package gateway

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/keep"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// request is the state of one HTTP request. The first middleware creates it, the
// stages of the handler add to it in the order of the fields, and audit, log and
// metrics read it once the answer is complete. One goroutine uses it at a time.
type request struct {
	gateway     *Server
	c           *gin.Context
	id          string
	startedAt   time.Time
	answeredAt  time.Time // when a stream of events began; zero for other answers
	policy      *Policy
	sendTimeout time.Duration // for one piece of the answer

	op        *ops.Operation  // nil: not for an operation
	principal *auth.Principal // nil: not authenticated
	leave     func()          // ends what counts against the caller's requests at once; only the first call has an effect
	body      int64           // bytes of the memory for bodies that it holds
	document  []byte          // body that a protocol of others reads as a whole
	given     ops.Given       // nil: not read
	bound     *ops.Bound      // nil: not accepted
	guard     guard           // what it demands of the state of its object
	readable  []string        // types of objects that a search over types may find
	unread    []ps.Warning    // about the others
	spending  spending        // empty: the operation does nothing that is counted

	started     bool            // the run was started, or waited for a session
	announced   *ps.Intent      // of a dry run; nil: nothing was announced
	fingerprint []byte          // of a dry run whose plan is kept
	applying    *application    // nil: the call applies no plan
	hold        *hold           // what the change has locked; nil before it runs
	doubted     *hold           // of a change whose run has left it in doubt; nil: of none
	inDoubt     bool            // the change stays open
	key         *claim          // nil: without a key
	replayed    bool            // the answer is that of an earlier call
	resumed     bool            // the answer is derived from what became of an earlier call
	change      *changes.Record // in the history; nil: nothing was announced, or there is none
	kept        bool            // the change is in the store
	behind      bool            // the answer is from a copy that may be old
	limit       time.Duration   // of the run of a change
	run         *cluster.Run    // of the script of a change; nil: none runs, or the gateway is in no cluster of one writer
	term        uint64          // in which it was begun; 0: none was
	lost        bool            // what became of the change could not be stored, and another gateway has to find it out
	notReadBack bool            // the change was made, and could not be read back
	raced       bool            // another gateway has settled the change before it was made
	unkept      bool            // the change is not in the history yet, or not as it ended
	naming      *naming         // what it has of names; nil: nothing
	undoing     *undoing        // nil: the call does not take back a change
	intent      *audit.Entry    // nil: nothing was announced, or it is not recorded
	sets        []auditedSet    // announced, where each has its own line; then intent is nil
	correction  *correction     // of what it has spent of its caller's budgets; nil: none is due
	unrecorded  error           // nil unless the intent could not be recorded
	recorded    bool            // the audit has the outcome
	due         *keep.Change    // removes the note that the line is due; nil: there is none

	result *ps.Result // of the run; nil: none, or it failed
	runErr error      // of the run

	server   string         // that answered; empty unless the run succeeded
	pinEpoch uint64         // of the announcement that was allowed last
	records  int            // in the answer of a success
	failure  *problem.Error // nil: a success
}

const requestKey = "adgateway.request"

// endpoint adapts a handler to gin.
func endpoint(handle func(*request)) gin.HandlerFunc {
	return func(c *gin.Context) { handle(c.MustGet(requestKey).(*request)) }
}

// fail answers with an error.
func (r *request) fail(err error) {
	status, body := r.refusing(err)
	r.send(status, body)
	r.c.Abort()
}

// refusing makes an error the answer, and returns its status and its body.
func (r *request) refusing(err error) (status int, body []byte) {
	f := problem.Of(err)
	r.failure = f
	header := r.c.Writer.Header()
	setHeader(header, serverHeader, f.Server)
	setHeader(header, "WWW-Authenticate", f.Challenge)
	setHeader(header, tagHeader, f.Tag)
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	status, body = r.refusalOf(err)
	if body == nil {
		body = encodeError(err, r.id)
	}
	return status, body
}

// abort ends a request whose answer has begun: it closes the connection, so that
// the client does not take an unfinished body for a complete one.
func (r *request) abort(f *problem.Error) {
	r.failure = f
	panic(http.ErrAbortHandler)
}

// send writes a whole answer.
func (r *request) send(status int, body []byte) {
	r.c.Status(status)
	r.gateway.conclude(r, status, body)
	if r.lost {
		r.c.Writer.Header().Del(tagHeader)
		status, body = r.refusing(endNotStored())
		r.c.Status(status)
	}
	if r.raced {
		body = withWarning(body, racedWarning)
	}
	if r.unkept && r.failure == nil && r.op.Protocol == nil {
		body = withWarning(body, notInHistory)
	}
	if len(body) > 0 && r.ownForm() {
		body = append(body, '\n') // so that a prompt does not follow on the same line
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		r.c.Header("Content-Length", strconv.Itoa(len(body)))
	}
	if len(body) > 0 {
		r.c.Writer.Header()["Content-Type"] = r.mediaOf()
	}
	r.gateway.recordOutcome(r)
	r.c.Writer.WriteHeaderNow()
	_ = r.write(body) // fails only if the client has left
}

// write writes in pieces and gives the client sendTimeout for each. So a client
// that does not read cannot hold the handler, or the session of a stream, for
// ever, and one that reads slowly still gets everything.
func (r *request) write(body []byte) error {
	for len(body) > 0 {
		piece := body[:min(len(body), transport.Piece)]
		r.limitSend()
		if _, err := r.c.Writer.Write(piece); err != nil {
			return err
		}
		body = body[len(piece):]
	}
	return nil
}

// limitSend gives the client sendTimeout from now. The server lifts the limit
// after each request. Connections without deadlines have no limit.
func (r *request) limitSend() { r.setWriteDeadline(time.Now().Add(r.sendTimeout)) }

// unlimitSend lifts the limit while there is nothing to send.
func (r *request) unlimitSend() { r.setWriteDeadline(time.Time{}) }

func (r *request) setWriteDeadline(deadline time.Time) {
	_ = http.NewResponseController(r.c.Writer).SetWriteDeadline(deadline)
}

func setHeader(header http.Header, name, value string) {
	if value != "" {
		header.Set(name, value)
	}
}
