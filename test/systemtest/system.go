// Package systemtest runs the whole gateway with a sandbox for the packages in test, which call it over HTTP.
// New starts a System. Call and Answer are its requests and replies. Samples has a valid call of every
// operation. Processes runs the sessions in separate processes. Only tests import this package.
package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/accesslog"
	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/sandboxtest"
)

// Patience bounds every wait of these tests.
const Patience = 3 * time.Minute

// Tokens of a system.
const (
	AllToken     = "all-token"      // every scope
	PlainToken   = "plain-token"    // every scope but privileged
	ReadToken    = "read-token"     // the scope user:read only
	LimitedToken = "limited-token"  // every scope, in one OU and one zone only
	SubZoneToken = "sub-zone-token" // every scope, in SubZone only, which does not exist
	CorpToken    = "corp-token"     // every scope, in CorpOU only
	DeskToken    = "desk-token"     // every scope, but only in that OU and for some groups
	ClassicToken = "classic-token"  // every scope, classic dialect
	OlderToken   = "older-token"    // every scope, classic dialect, secrets in the query
	GroupToken   = "group-token"    // every scope, anywhere, but for some groups only
	NoTreeToken  = "no-tree-token"  // removes OUs, users and computers, but only those with nothing below them
	HostToken    = "host-token"     // every scope, for the records of LimitedName only
)

// Limits of LimitedToken.
const (
	LimitedOU   = "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	limitedZone = "corp.example"

	SubZone = "dev.corp.example" // a name with records of corp.example at it and below it

	LimitedName = "host.corp.example" // the limit of HostToken
)

// deskGroups contains the groups of DeskToken. Two are given by account name, one by DN and one by GUID.
// One of the account names does not exist.
var deskGroups = []string{"vpn users", "Team",
	"cn=ALL Staff, OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example", helpDeskGUID}

// System is a whole gateway with a sandbox, which tests call over HTTP.
type System struct {
	T     testing.TB // receives the failures
	URL   string
	World *sandbox.World
	Stack *app.Stack
	Log   *LogBuffer // one JSON object per line

	failed *failures // of T
}

// unhurried contains settings that prevent requests from failing because the machine is busy. The limits are
// shorter than those of clients, so that a request whose session hangs gets the gateway's own answer. The
// settings of a test are applied after these.
var unhurried = []string{"pool.maxWait=2m", "pool.startTimeout=2m", "http.readTimeout=2m",
	"http.writeTimeout=2m"}

// Settings returns the settings of a system. overrides have the form "key=value".
func Settings(t testing.TB, overrides ...string) *config.Settings {
	t.Helper()
	settings, err := configtest.Load("", nil, slices.Concat(unhurried, overrides))
	require.NoError(t, err)
	return settings
}

// New starts a system with a new world and stops it at the end of the test. overrides are
// settings in the form "key=value".
func New(t testing.TB, world sandbox.Options, overrides ...string) *System {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, world)
	require.NoError(t, err)
	return NewOn(t, w, w.Starter(), overrides...)
}

// NewOn is like New, with an existing world and a starter for its sessions.
func NewOn(t testing.TB, w *sandbox.World, starter session.Starter, overrides ...string) *System {
	t.Helper()
	return NewWithSessions(t, w, session.Config{Starter: starter}, overrides...)
}

// NewWithSessions is NewOn with a complete session configuration.
func NewWithSessions(t testing.TB, w *sandbox.World, sessions session.Config, overrides ...string) *System {
	t.Helper()
	return NewWith(t, w, sessions, func(*app.Options) {}, overrides...)
}

// NewWith is like NewWithSessions, with a function that may adjust the options of the stack.
func NewWith(
	t testing.TB, w *sandbox.World, sessions session.Config, change func(*app.Options), overrides ...string,
) *System {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	s := &System{World: w, Log: &LogBuffer{}}
	s.report(t)
	log := logrus.New()
	log.SetOutput(s.Log)
	log.SetFormatter(accesslog.JSON())
	options := app.Options{
		Settings: Settings(t, overrides...), Auth: tokens(t), Log: log, Engine: "sandbox",
		Session: func(ps.Lane) session.Config { return sessions },
		Dial:    w.Dial,
	}
	change(&options)
	built, err := app.New(ctx, options)
	require.NoError(t, err)
	s.Stack = built
	server := httptest.NewServer(built.Gateway.Handler())
	s.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		assert.NoError(t, built.Close(ctx))
	})
	return s
}

// In returns the same system, but with another test, such as a subtest, that receives the failures.
func (s *System) In(t testing.TB) *System {
	copied := *s
	copied.report(t)
	return &copied
}

// Snapshot returns the current state of the world.
func (s *System) Snapshot() sandboxtest.Snapshot {
	s.T.Helper()
	snapshot, err := sandboxtest.Take(s.World)
	require.NoError(s.T, err)
	return snapshot
}

// tokens returns an authenticator for the tokens above, with their scopes and limits.
func tokens(t testing.TB) *authn.Static {
	t.Helper()
	var plain []identity.Scope
	for _, scope := range identity.Scopes() {
		if scope != identity.All && scope != identity.Privileged {
			plain = append(plain, scope)
		}
	}
	all, reveals := identity.Everything(), 1_000_000
	static := authn.NewStatic(authn.Header{})
	for token, p := range map[string]*identity.Principal{
		AllToken:     {Scopes: all},
		PlainToken:   {Scopes: plain},
		ReadToken:    {Scopes: []identity.Scope{identity.UserRead}},
		LimitedToken: {Scopes: all, Limits: identity.Limits{OUs: []string{LimitedOU}, Zones: []string{limitedZone}}},
		SubZoneToken: {Scopes: all, Limits: identity.Limits{Zones: []string{SubZone}}},
		CorpToken:    {Scopes: all, Limits: identity.Limits{OUs: []string{CorpOU}}},
		DeskToken:    {Scopes: all, Limits: identity.Limits{OUs: []string{LimitedOU}, Groups: deskGroups}},
		ClassicToken: {Scopes: all, Dialect: identity.Classic},
		OlderToken:   {Scopes: all, Dialect: identity.Classic, SecretsInQuery: true},
		GroupToken:   {Scopes: all, Limits: identity.Limits{Groups: deskGroups}},
		HostToken:    {Scopes: all, Limits: identity.Limits{Names: []string{LimitedName}}},
		NoTreeToken: {Scopes: []identity.Scope{
			identity.OURead, identity.OUWrite, identity.OUDelete, identity.UserDelete, identity.ComputerDelete,
		}},
	} {
		p.Name, p.Quota = token, &identity.Quota{RevealsPerHour: &reveals}
		require.NoError(t, static.AddToken(token, p))
	}
	return static
}

// Call is a request. For GET and DELETE, Params are sent in the query, otherwise in a JSON body.
type Call struct {
	Method, Path string
	Params       map[string]any
	Token        string    // "" is AllToken, "none" sends no credential
	Raw          io.Reader // body, sent unchanged; if nil, Params are sent
	Headers      map[string]string
}

// Answer is the reply to a Call.
type Answer struct {
	Status   int
	Header   http.Header
	Body     []byte
	Envelope Envelope
}

// Envelope is the body of an answer.
type Envelope struct {
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

// Do sends a request and returns the answer. It decodes the envelope unless the token uses
// the classic dialect.
func (s *System) Do(c Call) Answer {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	query, body, contentType := c.Encode(s.T)
	target := s.URL + c.Path + query
	request, err := http.NewRequestWithContext(ctx, c.Method, target, body)
	require.NoError(s.T, err)
	if c.Token == "" {
		c.Token = AllToken
	}
	if c.Token != "none" {
		request.Header.Set("Auth-Token", "Bearer "+c.Token)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for name, value := range c.Headers {
		request.Header.Set(name, value)
	}
	a := s.Send(request)
	media := a.Header.Get("Content-Type")
	bare := slices.ContainsFunc(bareMedia, func(kind string) bool { return strings.HasPrefix(media, kind) })
	if c.Token != ClassicToken && c.Token != OlderToken && a.Status != http.StatusNotModified && !bare {
		require.NoError(s.T, json.Unmarshal(a.Body, &a.Envelope), "%s %s: %s", c.Method, c.Path, a.Body)
	}
	return a
}

// bareMedia are the beginnings of the media types of answers that are not an envelope.
var bareMedia = []string{"image/", ops.MediaCSV, ops.MediaNDJSON}

// Send sends a request unchanged and returns the answer. It decodes the envelope if there is one. If the time
// limit of the request's context passes first, the log of the test contains the goroutines of this process.
func (s *System) Send(request *http.Request) Answer {
	s.T.Helper()
	response, body, err := exchange(s.T, request)
	require.NoError(s.T, err)
	a := Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	if a.Status >= http.StatusInternalServerError {
		s.failed.add(fmt.Sprintf("%d to %s %s", a.Status, request.Method, request.URL.Path),
			a.Header.Get("X-Request-Id"))
	}
	if json.Unmarshal(a.Body, &a.Envelope) != nil {
		a.Envelope = Envelope{}
	}
	return a
}

// Text returns a string unchanged and other values as JSON.
func Text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

// Get sends a GET request.
func (s *System) Get(path string) Answer {
	s.T.Helper()
	return s.Do(Call{Method: http.MethodGet, Path: path})
}

// Encode returns the parameters in the form in which clients send them, which is a query with its question
// mark for GET and DELETE, and a JSON body otherwise. A raw body is returned unchanged.
func (c Call) Encode(t require.TestingT) (query string, body io.Reader, contentType string) {
	switch {
	case c.Raw != nil || len(c.Params) == 0:
		return "", c.Raw, ""
	case c.Method == http.MethodGet || c.Method == http.MethodDelete:
		values := url.Values{}
		for name, value := range c.Params {
			values.Set(name, Text(value))
		}
		return "?" + values.Encode(), nil, ""
	default:
		encoded, err := json.Marshal(c.Params)
		require.NoError(t, err)
		return "", bytes.NewReader(encoded), "application/json"
	}
}
