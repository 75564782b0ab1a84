// Package contract checks every operation of the table against the contract of the API. It tests the sample
// of the operation, the refusals that all operations share, the classic dialect, and the OpenAPI document
// that the server publishes.
package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// TestContractInAnotherLanguage: no answer depends on the text of Windows messages (facts D3). A plain run
// tries a share of the operations.
func TestContractInAnotherLanguage(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: "de-DE"})
	for _, op := range opstest.Own() {
		if thorough.OneOf(3, op.ID) {
			t.Run(op.ID, func(t *testing.T) { s.In(t).GoodCall(op) })
		}
	}
}

// TestClassicDialect: every success has status 200, and result is an object, a boolean or a
// date-time where the operation declares one.
func TestClassicDialect(t *testing.T) {
	whole := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Own() {
		t.Run(op.ID, func(t *testing.T) {
			s := whole.In(t)
			s.Prepare(op)
			c := systemtest.Sample(op)
			c.Token = systemtest.ClassicToken
			a := s.Do(c)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			s.Undo(op)
			var envelope struct {
				Output string `json:"output"`
				Result any    `json:"result"`
			}
			require.NoError(t, json.Unmarshal(a.Body, &envelope), "%s", a.Body)
			assert.NotEmpty(t, envelope.Output)
			switch op.Reply.Mark {
			case ops.List:
				assert.IsType(t, []any{}, envelope.Result)
			case ops.Single:
				assert.IsType(t, map[string]any{}, envelope.Result)
			case ops.Exists:
				assert.Equal(t, true, envelope.Result)
			case ops.Moment:
				if envelope.Result != nil {
					_, err := time.Parse(time.RFC3339, systemtest.Text(envelope.Result))
					assert.NoError(t, err)
				}
			default:
				t.Errorf("mark %q", op.Reply.Mark)
			}
		})
	}
}

// TestSecretsInTheQuery: a secret in the query is refused with an error that names the
// parameter, unless the settings allow secrets there. Even then the secret is not logged.
func TestSecretsInTheQuery(t *testing.T) {
	const secret = "Corr3ct-Horse-9"
	for _, allowed := range []bool{false, true} {
		whole := systemtest.New(t, sandbox.Options{Seed: 1}, fmt.Sprintf("http.allowSecretsInQuery=%t", allowed))
		for _, op := range opstest.Own() {
			for _, name := range op.Secrets() {
				t.Run(fmt.Sprintf("%s/%s/allowed=%t", op.ID, name, allowed), func(t *testing.T) {
					s := whole.In(t)
					c := systemtest.Sample(op)
					delete(c.Params, name)
					c.Path += "?" + url.Values{name: {secret}}.Encode()
					if a := s.Do(c); allowed {
						assert.Less(t, a.Status, 300, "%s", a.Body)
						s.Undo(op)
					} else {
						require.Equal(t, http.StatusBadRequest, a.Status, "%s", a.Body)
						assert.Equal(t, name, a.Envelope.Error.Details[0].Field)
					}
					assert.NotContains(t, s.Log.String(), secret)
				})
			}
		}
	}
}

// TestContract: the sample of every operation succeeds, and each version with one mistake is
// rejected.
func TestContract(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Own() {
		t.Run(op.ID, func(t *testing.T) {
			t.Run("good call", func(t *testing.T) { s.In(t).GoodCall(op) })
			t.Run("no token", func(t *testing.T) {
				c := systemtest.Sample(op)
				c.Token = "none"
				a := s.In(t).Rejects(c, http.StatusUnauthorized, "unauthenticated")
				assert.Equal(t, authn.Challenge, a.Header.Get("WWW-Authenticate"))
			})
			t.Run("wrong token", func(t *testing.T) {
				c := systemtest.Sample(op)
				c.Token = "nobody's"
				s.In(t).Rejects(c, http.StatusUnauthorized, "unauthenticated")
			})
			if op.Scope != identity.UserRead {
				t.Run("wrong scope", func(t *testing.T) {
					c := systemtest.Sample(op)
					c.Token = systemtest.ReadToken
					a := s.In(t).Rejects(c, http.StatusForbidden, "forbidden")
					assert.Contains(t, a.Envelope.Output, string(op.Scope), "the answer must name the scope")
				})
			}
			t.Run("unknown parameter", func(t *testing.T) {
				c := systemtest.Sample(op)
				c.Params["Nonsense"] = "x"
				a := s.In(t).Rejects(c, http.StatusBadRequest, "invalid_request")
				assert.Equal(t, "Nonsense", a.Envelope.Error.Details[0].Field)
			})
			for _, p := range op.Params {
				if p.Required && p.Path == "" {
					t.Run("without "+p.Name, func(t *testing.T) {
						c := systemtest.Sample(op)
						delete(c.Params, p.Name)
						a := s.In(t).Rejects(c, http.StatusBadRequest, "invalid_request")
						assert.Equal(t, p.Name, a.Envelope.Error.Details[0].Field)
					})
				}
			}
		})
	}
}
