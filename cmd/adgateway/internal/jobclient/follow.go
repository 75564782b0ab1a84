package jobclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// silence is the time without data after which a stream counts as broken. Gateways send a
	// comment more often.
	silence = time.Minute
	// longestOutage is the time without an answer after which Follow gives up.
	longestOutage = 15 * time.Minute
	// longestEvent limits the length of a line in a stream, in bytes. A job with 1,000 problems fits.
	longestEvent = 4 << 20
)

// errEnds means that a stream ended before the job did.
var errEnds = errors.New("the stream ended")

// Follow calls each with the job after each change, until the job rests or each returns false. Between
// streams, for example while the gateway restarts, Follow polls the job. It gives up after a quarter of an
// hour without an answer. It returns a refusal immediately, unless the gateway is only not ready yet.
func (c *Client) Follow(ctx context.Context, id string, each func(*Job) bool) error {
	answered := time.Now()
	heard := func(job *Job) bool {
		answered = time.Now()
		return each(job) && !job.Rests()
	}
	for {
		job, err := c.Get(ctx, id)
		if err == nil {
			if !heard(job) {
				return nil
			}
			if err = c.stream(ctx, id, heard); err == nil {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !passes(err) || time.Since(answered) > longestOutage {
			return err
		}
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
}

// passes reports whether another attempt may succeed.
func passes(err error) bool {
	var lost *Unreachable
	var refused *Refused
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return false
	case errors.As(err, &refused):
		return refused.Status == http.StatusTooManyRequests || refused.Status >= 500
	case errors.As(err, &lost), errors.Is(err, errEnds):
		return true
	default:
		return false
	}
}

// stream reads the stream of a job until each returns false. Any other end is an error.
func (c *Client) stream(ctx context.Context, id string, each func(*Job) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answer, err := c.send(ctx, call{method: http.MethodGet, path: pathOf(id, "/Stream"),
		accept: "text/event-stream"})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	quiet := time.AfterFunc(silence, stop)
	defer quiet.Stop()
	return readEvents(answer.Body, func() { quiet.Reset(silence) }, func(name, data string) (bool, error) {
		if name != "progress" && name != "end" {
			return true, nil
		}
		var job Job
		if err := json.Unmarshal([]byte(data), &job); err != nil {
			return false, fmt.Errorf("%s sends an event that cannot be read; is it another version? %w", c.URL, err)
		}
		return each(&job), nil
	})
}

// readEvents reads server-sent events (the HTML standard, 9.2) until each returns
// false. alive is called for each line.
func readEvents(r io.Reader, alive func(), each func(name, data string) (bool, error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	name := ""
	var data []string
	for lines.Scan() {
		alive()
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if len(data) > 0 {
				if more, err := each(name, strings.Join(data, "\n")); !more || err != nil {
					return err
				}
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return errors.Join(errEnds, lines.Err())
}
