package story

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

// rdsFields returns the Remote Desktop fields of a record.
func rdsFields(record map[string]any) []any {
	return []any{record["rdsProfilePath"], record["rdsHomeFolderPath"], record["rdsHomeFolderDrive"], record["rdsConnectDrive"], record["rdsAllowLogon"]}
}

// rdsVector reads a recorded value of userParameters.
func rdsVector(t testing.TB, name string) string {
	t.Helper()
	encoded, err := os.ReadFile(filepath.Join("..", "..", "gateway", "schema", "tsparams", "testdata", name))
	require.NoError(t, err)
	raw, err := hex.DecodeString(strings.Join(strings.Fields(string(encoded)), ""))
	require.NoError(t, err)
	text := string(raw)
	if strings.HasSuffix(name, ".utf16") {
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
		}
		text = string(utf16.Decode(units))
	}
	return "CtxCfgPresent" + strings.Repeat(" ", 35) + text
}

// TestTheLifeOfRemoteDesktopSettings creates, reads, changes and clears them.
func TestTheLifeOfRemoteDesktopSettings(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const dn = "CN=rds,CN=Users,DC=corp,DC=example"
	plain := s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/plain", Params: map[string]any{"RdsProfilePath": "", "City": "x"}}, http.StatusCreated)
	assert.Equal(t, []any{nil, nil, nil, false, true}, rdsFields(plain), "the defaults")
	assert.Empty(t, s.Stored("CN=plain,CN=Users,DC=corp,DC=example", "userParameters").String("userParameters"), "nothing given, nothing written")

	made := s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/rds", Params: map[string]any{
		"RdsProfilePath": `\\fs1\p\Ωmega😀`, "RdsHomeFolderPath": `\\fs1\h`, "RdsHomeFolderDrive": "T:", "RdsConnectDrive": true, "RdsAllowLogon": false,
	}}, http.StatusCreated)
	want := []any{`\\fs1\p\Ωmega😀`, `\\fs1\h`, "T:", true, false}
	assert.Equal(t, want, rdsFields(made))
	assert.Equal(t, want, rdsFields(s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/rds/Details"}, http.StatusOK)))
	only := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/rds/Details?ShowFields=RdsAllowLogon,rdsProfilePath"}, http.StatusOK)
	assert.Equal(t, map[string]any{"rdsProfilePath": `\\fs1\p\Ωmega😀`, "rdsAllowLogon": false}, only)

	for i, c := range []struct {
		params map[string]any
		want   []any
	}{
		{map[string]any{"RdsProfilePath": ""}, []any{nil, `\\fs1\h`, "T:", true, false}},
		{map[string]any{"RdsAllowLogon": true}, []any{nil, `\\fs1\h`, "T:", true, true}},
		{map[string]any{"RdsConnectDrive": false, "RdsHomeFolderDrive": ""}, []any{nil, `\\fs1\h`, nil, false, true}},
		{map[string]any{"City": "y"}, []any{nil, `\\fs1\h`, nil, false, true}},
	} {
		assert.Equal(t, c.want, rdsFields(s.Put("/api/ADUser/rds", c.params)), "step %d", i)
	}
	before := s.Snapshot()
	again := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/rds", Params: map[string]any{"RdsHomeFolderPath": `\\fs1\h`, "RdsConnectDrive": "False"}})
	assert.Contains(t, again.Envelope.Output, "nothing was changed")
	assert.Empty(t, before.Compare(s.Snapshot()))

	// If a later step fails, the settings are restored.
	a := s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/rds", Params: map[string]any{
		"RdsProfilePath": `\\other`, "City": "z", "PasswordNeverExpired": true, "Password": "weak",
	}}, http.StatusUnprocessableEntity, "policy")
	assert.Equal(t, "none", a.Envelope.Error.Outcome)

	// Data of other programs before and after the settings is kept.
	ctx := context.Background()
	set := func(text string) {
		t.Helper()
		changes := []directory.Change{{Op: directory.OpReplace, Name: "userParameters", Values: []any{text}}}
		require.NoError(t, s.DC1().Modify(ctx, dn, changes, directory.ModifyOptions{}))
	}
	for _, name := range []string{"v1.utf16", "v2.utf16", "v3.utf8", "v4.utf8"} {
		text := rdsVector(t, name) + "G$RADIUSCHAP\x01\u3030"
		set(text)
		read := rdsFields(s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/rds/Details"}, http.StatusOK))
		wish := !read[4].(bool)
		changed := rdsFields(s.Put("/api/ADUser/rds", map[string]any{"RdsAllowLogon": wish}))
		assert.Equal(t, append(append([]any{}, read[:4]...), wish), changed, name)
		s.Put("/api/ADUser/rds", map[string]any{"RdsAllowLogon": !wish})
		stored := s.Stored(dn, "userParameters").String("userParameters")
		if name == "v2.utf16" { // has no flags
			assert.Equal(t, text[:48], stored[:48], name)
			assert.True(t, strings.HasSuffix(stored, "G$RADIUSCHAP\x01\u3030"), name)
		} else {
			assert.Equal(t, text, stored, name)
		}
	}

	// An unreadable value is reported and not overwritten.
	broken := rdsVector(t, "v1.utf16")[:100]
	set(broken)
	for _, path := range []string{"/api/ADUser/rds/Details", "/api/ADUser/ListUsers/All?ShowFields=rdsAllowLogon,username"} {
		got := s.Get(path)
		assert.Equal(t, http.StatusOK, got.Status)
		require.NotEmpty(t, got.Envelope.Warnings, path)
		assert.Contains(t, fmt.Sprint(got.Envelope.Warnings), "rds_unreadable "+made["guid"].(string))
	}
	read := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/rds/Details"}, http.StatusOK)
	assert.Equal(t, []any{nil, nil, nil, nil, nil}, rdsFields(read))
	a = s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/rds", Params: map[string]any{"RdsAllowLogon": true, "City": "q"}}, http.StatusUnprocessableEntity, "unprocessable")
	assert.Equal(t, "RdsAllowLogon", a.Envelope.Error.Details[0].Field)
	set(strings.Repeat("m:", 40))
	s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/rds", Params: map[string]any{"RdsProfilePath": "x"}}, http.StatusUnprocessableEntity, "unprocessable")
	assert.Equal(t, "done", s.Put("/api/ADUser/rds", map[string]any{"City": "done"})["city"])
}
