// Package jobclient submits lists of changes to a gateway as jobs, and follows them.
//
// A [Client] makes the calls (client.go). Follow reads the stream of a job's progress, and polls the job
// while the stream is broken, for example during a restart of the gateway (follow.go). A [Display] shows the
// progress as a bar, or as lines where there is no terminal (display.go). [Passwords] is the key pair for
// passwords that the gateway generates: the gateway seals them with the public key, and Passwords opens them
// in the result (passwords.go).
package jobclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Job is a job as the gateway reports it.
type Job struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	Operation    string    `json:"operation"`
	Mode         string    `json:"mode"`
	Caller       string    `json:"caller"`
	State        string    `json:"state"`
	Why          string    `json:"why"`
	Created      time.Time `json:"created"`
	Expires      time.Time `json:"expires"`
	Total        int       `json:"total"`
	Waiting      int       `json:"waiting"`
	Running      int       `json:"running"`
	Done         int       `json:"done"`
	Noop         int       `json:"noop"`
	Failed       int       `json:"failed"`
	Unknown      int       `json:"unknown"`
	Skipped      int       `json:"skipped"`
	NotRun       int       `json:"notRun"`
	Rate         float64   `json:"rate"`      // items per second
	Remaining    *int      `json:"remaining"` // in seconds; nil if unknown
	Retries      string    `json:"retries"`
	Undoes       string    `json:"undoes"`
	Problems     []Problem `json:"problems"`
	MoreProblems int       `json:"moreProblems"`

	Raw json.RawMessage `json:"-"` // the whole record, for JSON output
}

// Problem is a fault of a list.
type Problem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	ID      string `json:"id"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// UnmarshalJSON decodes a job and keeps the original record.
func (j *Job) UnmarshalJSON(text []byte) error {
	type plain Job // without this method
	*j = Job{}
	j.Raw = bytes.Clone(text)
	return json.Unmarshal(text, (*plain)(j))
}

// MarshalJSON returns the original record.
func (j Job) MarshalJSON() ([]byte, error) { return j.Raw, nil }

// Ended reports whether the job is in a final state.
func (j *Job) Ended() bool {
	switch j.State {
	case "done", "failed", "cancelled", "rejected", "expired":
		return true
	}
	return false
}

// Rests reports whether the job has ended or is waiting for [Client.Start].
func (j *Job) Rests() bool { return j.Ended() || j.State == "ready" }

// over returns how many items are finished.
func (j *Job) over() int { return j.Total - j.Waiting - j.Running }

// Client calls a gateway. It is safe for concurrent use.
type Client struct {
	URL   string
	Token string
	HTTP  *http.Client
	Pause time.Duration // between attempts while the gateway does not answer; 0 means one second
}

// NewClient returns a client for the gateway at a URL. Connecting has a time limit. Reading an answer has
// none, because a stream may last as long as its job.
func NewClient(address, token string) (*Client, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 2 * time.Minute
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	return &Client{URL: strings.TrimRight(address, "/"), Token: token, HTTP: &http.Client{Transport: transport}},
		nil
}

// CheckAddress returns an error if a URL cannot be the address of a gateway.
func CheckAddress(address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return fmt.Errorf("%q is no address of a gateway: it takes a URL such as https://adgateway.corp.example",
			address)
	}
	base := strings.TrimRight(address, "/")
	if before := len(base) - len("/api"); before > 0 && strings.EqualFold(base[before:], "/api") {
		return fmt.Errorf("the address of a gateway is without /api: write %s", base[:before])
	}
	return nil
}

// Refused is the error of a call that the gateway refuses.
type Refused struct {
	Status  int
	Code    string
	Message string
	Details []Detail
}

// Detail is one fault of a refused call.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (r *Refused) Error() string {
	text := fmt.Sprintf("%s (%s)", strings.TrimSpace(r.Message), cmp.Or(r.Code, http.StatusText(r.Status)))
	for _, d := range r.Details {
		if d.Message != r.Message {
			text += "\n  " + strings.TrimPrefix(d.Field+": "+d.Message, ": ")
		}
	}
	return text
}

// Unreachable is the error of a call that was not answered.
type Unreachable struct {
	URL   string
	Cause error
}

func (u *Unreachable) Error() string {
	var untrusted *tls.CertificateVerificationError
	if errors.As(u.Cause, &untrusted) {
		return fmt.Sprintf("the certificate of %s is not trusted: %v; call the gateway by a name in its "+
			"certificate (--url), whose authority this computer trusts", u.URL, untrusted.Err)
	}
	return fmt.Sprintf("%s does not answer: %v", u.URL, u.Cause)
}

// Unwrap returns the cause.
func (u *Unreachable) Unwrap() error { return u.Cause }

// call is a request.
type call struct {
	method, path string
	query        url.Values
	accept       string
	media, key   string
	body         []byte
}

// send sends a request and returns the answer if its status is a success. The caller must close the body.
func (c *Client) send(ctx context.Context, call call) (*http.Response, error) {
	address := c.URL + call.path
	if len(call.query) > 0 {
		address += "?" + call.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.method, address, bytes.NewReader(call.body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Content-Type": call.media, "Idempotency-Key": call.key,
		"Accept": call.accept} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if c.Token != "" {
		request.Header.Set("Auth-Token", "Bearer "+c.Token)
	}
	answer, err := c.HTTP.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the URL, because its query contains names
		}
		return nil, &Unreachable{c.URL, err}
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, refusal(answer)
}

// mostAnswer limits the size of an answer that is neither a stream nor a result, in bytes.
const mostAnswer = 16 << 20

func refusal(answer *http.Response) error {
	refused := &Refused{Status: answer.StatusCode, Message: "The gateway answers with " + answer.Status + "."}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	var body struct {
		Error struct {
			Code    string   `json:"code"`
			Message string   `json:"message"`
			Details []Detail `json:"details"`
		} `json:"error"`
	}
	if err == nil && json.Unmarshal(text, &body) == nil && body.Error.Message != "" {
		refused.Code, refused.Message, refused.Details = body.Error.Code, body.Error.Message, body.Error.Details
	}
	return refused
}

// ask returns the jobs in an answer, and the cursor of the next page.
func (c *Client) ask(ctx context.Context, call call) (jobs []Job, next string, err error) {
	answer, err := c.send(ctx, call)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	var envelope struct {
		Result []Job  `json:"result"`
		Next   string `json:"next"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(&envelope); err != nil {
		return nil, "", &Unreachable{c.URL, fmt.Errorf("its answer is cut off, or not one of a gateway: %w", err)}
	}
	return envelope.Result, envelope.Next, nil
}

func (c *Client) askOne(ctx context.Context, call call) (*Job, error) {
	jobs, _, err := c.ask(ctx, call)
	if err == nil && len(jobs) != 1 {
		err = fmt.Errorf("%s answers with %d jobs where one is expected; is it another version?", c.URL, len(jobs))
	}
	if err != nil {
		return nil, err
	}
	return &jobs[0], nil
}

// Submission is a list to submit.
type Submission struct {
	Media string     // media type of List
	List  []byte     //
	Key   string     // Idempotency-Key, which makes it safe to send the list again
	Query url.Values // parameters of the call
}

// tries is the number of attempts at a submission that gets no answer.
const tries = 3

// Submit submits a list. If the answer is lost, it submits the list again under the same key.
func (c *Client) Submit(ctx context.Context, s Submission) (job *Job, err error) {
	for try := 1; ; try++ {
		job, err = c.askOne(ctx, call{method: http.MethodPost, path: "/api/Jobs", query: s.Query, media: s.Media,
			key: s.Key, body: s.List})
		var lost *Unreachable
		if !errors.As(err, &lost) || try == tries || c.pause(ctx) != nil {
			return job, err
		}
	}
}

// pause waits before the next attempt.
func (c *Client) pause(ctx context.Context) error {
	timer := time.NewTimer(cmp.Or(c.Pause, time.Second))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func pathOf(id, below string) string { return "/api/Jobs/" + url.PathEscape(id) + below }

// Get returns a job.
func (c *Client) Get(ctx context.Context, id string) (*Job, error) {
	return c.askOne(ctx, call{method: http.MethodGet, path: pathOf(id, "")})
}

// List returns the newest jobs, up to limit, and whether there are more. An empty state matches all.
func (c *Client) List(ctx context.Context, state string, limit int) ([]Job, bool, error) {
	query := url.Values{"Limit": {fmt.Sprint(limit)}}
	if state != "" {
		query.Set("State", state)
	}
	jobs, next, err := c.ask(ctx, call{method: http.MethodGet, path: "/api/Jobs", query: query})
	return jobs, next != "", err
}

// Action is an action on an existing job.
type Action string

// The actions.
const (
	Start  Action = "Start"
	Pause  Action = "Pause"
	Resume Action = "Resume"
	Cancel Action = "Cancel"
	Remove Action = "Remove"
	Retry  Action = "Retry" // creates a new job
	Undo   Action = "Undo"  // creates a new job
)

// Do performs an action on a job and returns that job, or the job that the action created.
func (c *Client) Do(ctx context.Context, id string, action Action, query url.Values) (*Job, error) {
	method := http.MethodPut
	below := "/" + string(action)
	switch action {
	case Cancel:
		method, below = http.MethodDelete, ""
	case Remove:
		method, below = http.MethodDelete, "/Record"
	case Retry, Undo:
		method = http.MethodPost
	}
	return c.askOne(ctx, call{method: method, path: pathOf(id, below), query: query})
}

// Result returns the result of a job and its media type. The caller must close the result.
// An empty format means the format of the list.
func (c *Client) Result(ctx context.Context, id, format string) (io.ReadCloser, error) {
	query := url.Values{}
	if format != "" {
		query.Set("Format", format)
	}
	answer, err := c.send(ctx, call{method: http.MethodGet, path: pathOf(id, "/Result"), query: query})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}
