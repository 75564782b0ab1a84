package test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience bounds everything that waits in these tests.
const patience = 60 * time.Second

// The tokens that a system knows.
const (
	allToken     = "all-token"     // every scope
	plainToken   = "plain-token"   // every scope but privileged
	readToken    = "read-token"    // user:read only
	limitedToken = "limited-token" // every scope, in one OU and one zone only
	deskToken    = "desk-token"    // every scope, in that OU and for some groups only
	classicToken = "classic-token" // every scope, classic dialect
	groupToken   = "group-token"   // every scope, anywhere, but for some groups only
	noTreeToken  = "no-tree-token" // what is about OUs, but not whole trees of them
)

// Where the limited token may work.
const (
	limitedOU   = "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	limitedZone = "corp.example"
)

// deskGroups are those of the desk token: by account name (of one that exists
// and one that does not), by distinguished name and by GUID.
var deskGroups = []string{"vpn users", "Team", "cn=ALL Staff, OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example", helpDeskGUID}

// system is the whole gateway over a sandbox, behind HTTP.
type system struct {
	t     testing.TB
	url   string
	world *sandbox.World
	stack *app.Stack
	log   *lockedBuffer
}

// newSystem builds one and takes it down at the end of the test. overrides are
// settings, "key=value".
func newSystem(t testing.TB, world sandbox.Options, overrides ...string) *system {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, world)
	require.NoError(t, err)
	return newSystemOn(t, w, w.Starter(), overrides...)
}

// newSystemOn is newSystem with a world and what starts its sessions.
func newSystemOn(t testing.TB, w *sandbox.World, starter session.Starter, overrides ...string) *system {
	t.Helper()
	return newSystemOf(t, w, session.Config{Starter: starter}, overrides...)
}

// newSystemOf is newSystemOn with all that is said of sessions.
func newSystemOf(t testing.TB, w *sandbox.World, sessions session.Config, overrides ...string) *system {
	t.Helper()
	return newSystemWith(t, w, sessions, func(*app.Options) {}, overrides...)
}

// newSystemWith is newSystemOf with a change to what the stack is made of.
func newSystemWith(t testing.TB, w *sandbox.World, sessions session.Config, change func(*app.Options), overrides ...string) *system {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	settings, err := config.Load("", nil, overrides)
	require.NoError(t, err)
	s := &system{t: t, world: w, log: &lockedBuffer{}}
	log := logrus.New()
	log.SetOutput(s.log)
	log.SetFormatter(&logrus.JSONFormatter{})
	options := app.Options{
		Settings: settings, Auth: tokens(t), Log: log, Engine: "sandbox",
		Session: func(ps.Lane) session.Config { return sessions },
		Dial:    w.Dial,
	}
	change(&options)
	built, err := app.New(ctx, options)
	require.NoError(t, err)
	s.stack = built
	server := httptest.NewServer(built.Gateway.Handler())
	s.url = server.URL
	t.Cleanup(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, built.Close(ctx))
	})
	return s
}

func tokens(t testing.TB) *auth.Static {
	t.Helper()
	var plain []auth.Scope
	for _, scope := range auth.Scopes() {
		if scope != auth.All && scope != auth.Privileged {
			plain = append(plain, scope)
		}
	}
	all := []auth.Scope{auth.All}
	static := auth.NewStatic(auth.Header{})
	for token, p := range map[string]*auth.Principal{
		allToken:     {Scopes: all},
		plainToken:   {Scopes: plain},
		readToken:    {Scopes: []auth.Scope{auth.UserRead}},
		limitedToken: {Scopes: all, Limits: auth.Limits{OUs: []string{limitedOU}, Zones: []string{limitedZone}}},
		deskToken:    {Scopes: all, Limits: auth.Limits{OUs: []string{limitedOU}, Groups: deskGroups}},
		classicToken: {Scopes: all, Dialect: auth.Classic},
		groupToken:   {Scopes: all, Limits: auth.Limits{Groups: deskGroups}},
		noTreeToken:  {Scopes: []auth.Scope{auth.OURead, auth.OUWrite, auth.OUDelete}},
	} {
		p.Name = token
		require.NoError(t, static.AddToken(token, p))
	}
	return static
}

// call is one request. Parameters go into the query for GET and DELETE, else
// into a JSON body.
type call struct {
	method, path string
	params       map[string]any
	token        string // empty: allToken
	raw          io.Reader
	headers      map[string]string
}

// answer is what came back.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	envelope envelope
}

type envelope struct {
	Output   string           `json:"output"`
	Result   []map[string]any `json:"result"`
	Warnings []ps.Warning     `json:"warnings"`
	Error    *struct {
		Code          string `json:"code"`
		Message       string `json:"message"`
		Outcome       string `json:"outcome"`
		DirectoryCode string `json:"directoryCode"`
		RequestID     string `json:"requestId"`
		Details       []struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		} `json:"details"`
	} `json:"error"`
}

// do sends a request and reads the answer as the envelope it must be, but for
// the classic dialect.
func (s *system) do(c call) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	query, body, contentType := c.encoded(s.t)
	target := s.url + c.path + query
	request, err := http.NewRequestWithContext(ctx, c.method, target, body)
	require.NoError(s.t, err)
	if c.token == "" {
		c.token = allToken
	}
	if c.token != "none" {
		request.Header.Set("Auth-Token", "Bearer "+c.token)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header}
	a.body, err = io.ReadAll(response.Body)
	require.NoError(s.t, err)
	if c.token != classicToken {
		require.NoError(s.t, json.Unmarshal(a.body, &a.envelope), "%s %s: %s", c.method, c.path, a.body)
	}
	return a
}

func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

func (s *system) get(path string) answer {
	s.t.Helper()
	return s.do(call{method: http.MethodGet, path: path})
}

// lockedBuffer is a buffer that the gateway writes to while a test reads.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *lockedBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// encoded puts the parameters where clients put them: the query of reads and
// removals, a JSON body of the others. A raw body is left as it is.
func (c call) encoded(t require.TestingT) (query string, body io.Reader, contentType string) {
	switch {
	case c.raw != nil || len(c.params) == 0:
		return "", c.raw, ""
	case c.method == http.MethodGet || c.method == http.MethodDelete:
		values := url.Values{}
		for name, value := range c.params {
			values.Set(name, text(value))
		}
		return "?" + values.Encode(), nil, ""
	default:
		encoded, err := json.Marshal(c.params)
		require.NoError(t, err)
		return "", bytes.NewReader(encoded), "application/json"
	}
}
