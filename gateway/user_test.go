package gateway

import (
	"adgateway/gateway/keep"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openKeys opens the store of keys in a file, until the end of the test.
func openKeys(t *testing.T, path string) *keep.Sealed {
	t.Helper()
	file, aside, err := keep.Open(keep.Options{Path: path})
	require.NoError(t, err)
	require.Empty(t, aside)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
	key, err := keep.NewKey(make([]byte, keep.KeyLength))
	require.NoError(t, err)
	sealed, err := keep.Seal(file, key)
	require.NoError(t, err)
	return sealed
}

// oneUser is a directory with one user, of whom one property can be changed.
type oneUser struct {
	city       string
	changes    int
	unreadable bool
	at         func(point string) // is called on the way
}

// run is what the scripts do that change the user, or settle a change.
func (d *oneUser) run(_ context.Context, req ps.Request) (*ps.Result, error) {
	record := sample(schema.User)
	if !req.Write {
		if d.unreadable {
			return nil, &ps.Error{Kind: ps.KindUnavailable}
		}
		return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(
			`[{"guid":"g-1","dn":"CN=j","age":1,"state":{"exists":"True","l":"` + d.city + `"},"record":` + record + `}]`))
	}
	d.at("claimed")
	intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9", Objects: []ps.Intended{
		{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "l", Before: d.city, After: "Rome"}}}}}
	if err := req.Announced(intent); err != nil {
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	d.at("announced")
	d.city = "Rome"
	d.changes++
	d.at("changed")
	return &ps.Result{Effect: ps.EffectChanged, Server: "dc9"}, req.Records(json.RawMessage("[" + record + "]"))
}

const keyOfRome = "Idempotency-Key: key-of-rome"

func toRome(s *Server) (int, reply, http.Header) {
	w := call(s, http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json", keyOfRome)
	var got reply
	_ = json.Unmarshal(w.Body.Bytes(), &got)
	return w.Code, got, w.Header()
}
