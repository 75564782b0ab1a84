package transport

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/authn"
)

func TestTheCredentialOfARequest(t *testing.T) {
	for name, c := range map[string]struct {
		headers http.Header
		query   string
		want    authn.Credential
		first   string
	}{
		"nothing":                 {},
		"another parameter":       {query: "token=x&Auth-Tokens=y"},
		"both headers":            {headers: http.Header{"Auth-Token": {"a"}, "Authorization": {"b"}}, want: authn.Credential{AuthToken: []string{"a"}, Authorization: []string{"b"}}, first: "a"},
		"a header twice":          {headers: http.Header{"Auth-Token": {"a", "a"}}, want: authn.Credential{AuthToken: []string{"a", "a"}}, first: "a"},
		"an empty header":         {headers: http.Header{"Auth-Token": {""}}, want: authn.Credential{AuthToken: []string{""}}},
		"query":                   {query: "x=1&Auth-Token=Bearer+tok-1", want: authn.Credential{Query: []string{"Bearer tok-1"}}, first: "Bearer tok-1"},
		"query in any case":       {query: "AUTH-token=x&auth-TOKEN=y", want: authn.Credential{Query: []string{"x", "y"}}, first: "x"},
		"query, name escaped":     {query: "%41uth-Token=x", want: authn.Credential{Query: []string{"x"}}, first: "x"},
		"query with a semicolon":  {query: "Auth-Token=Bearer+x;y", want: authn.Credential{Query: []string{"Bearer x;y"}}, first: "Bearer x;y"},
		"query, a broken escape":  {query: "Auth-Token=%zz", want: authn.Credential{Query: []string{""}}},
		"query, without a value":  {query: "Auth-Token", want: authn.Credential{Query: []string{""}}},
		"query, the name of none": {query: "%zz=x"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/x?"+c.query, nil)
		for key, values := range c.headers {
			r.Header[key] = values
		}
		got := credentialIn(r)
		c.want.Client = ClientOf(r)
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.first, got.First(), name)
	}
}
