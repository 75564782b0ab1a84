package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

const (
	// sendLimit is the time limit for sending a message.
	sendLimit = 15 * time.Second
	// answerLimit is the number of bytes of an answer that are read, so the connection can be reused.
	answerLimit = 64 << 10
)

// ReadCA reads the authorities in a PEM file.
func ReadCA(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("it has no certificate in PEM (-----BEGIN CERTIFICATE-----)")
	}
	return pool, nil
}

// Reach connects to a target as for a message, but sends nothing.
func Reach(ctx context.Context, t Target) error {
	var trusted *x509.CertPool
	var err error
	if t.CAFile != "" {
		if trusted, err = ReadCA(t.CAFile); err != nil {
			return err
		}
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	dial, port := (&net.Dialer{}).DialContext, "80"
	if u.Scheme == "https" {
		dial, port = (&tls.Dialer{Config: tlsConfig(trusted)}).DialContext, "443"
	}
	connection, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	if err != nil {
		return err
	}
	return connection.Close()
}

func tlsConfig(trusted *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
}

// newClient returns a client that only trusts the given authorities, or the system's if trusted is
// nil.
func newClient(trusted *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{ // no proxy, because the target must not depend on the environment
			TLSClientConfig:        tlsConfig(trusted),
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: answerLimit,
			MaxConnsPerHost:        1,
			IdleConnTimeout:        time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       sendLimit,
	}
}

// errGone means that the target wants no further messages.
var errGone = errors.New("it answered 410: it wants no messages any more")

// refusedError is an answer that is not a success.
type refusedError struct {
	status     int
	retryAfter time.Duration
}

func (e *refusedError) Error() string {
	if e.status/100 == 3 {
		return fmt.Sprintf("it answered %d: redirects are not followed", e.status)
	}
	return fmt.Sprintf("it answered %d", e.status)
}

// send makes one attempt to send a message.
func (t *target) send(ctx context.Context, m *message) error {
	secrets, err := ReadSecrets(t.settings.SecretFile)
	if err != nil {
		return fmt.Errorf("secretFile: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.settings.URL, bytes.NewReader(m.body))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	timestamp := strconv.FormatInt(t.o.Now().Unix(), 10)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "adgateway",
		"webhook-id": m.id, "webhook-timestamp": timestamp, "webhook-signature": secrets.sign(m.id, timestamp, m.body),
	} {
		request.Header.Set(name, value)
	}
	answer, err := t.client.Do(request)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) {
			err = withURL.Err // the URL may contain a secret
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()                           // nothing was written to it
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, answerLimit)) // the status is sufficient
	switch {
	case answer.StatusCode == http.StatusGone:
		return errGone
	case answer.StatusCode/100 != 2:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // 0 if it is a date or missing
		return &refusedError{answer.StatusCode, time.Duration(max(seconds, 0)) * time.Second}
	}
	return nil
}
