package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// formatted returns lines of every event with all members that they can have.
func formatted() []*Line {
	call := callFor("anna")
	intent, outcome, refused, nothing := call.line(EventIntent), call.line(EventOutcome), call.line(
		EventRefused), call.line(EventOutcome)
	outcome.Parameters, outcome.Intent = nil, 2
	result := done("anna")
	result.Code, result.Duration = "partial", 1500000
	result.Remains, result.Failed = []ps.Object{{GUID: "g-2", DN: "CN=left"}}, []ps.Object{{DN: "CN=failed"}}
	outcome.add(result)
	refused.add(Result{Outcome: outcomeRefused, Code: "forbidden", Status: 403})
	nothing.add(Result{Outcome: "none", Code: "not_found", Status: 404, Server: "dc1"})
	at := stamp(newClock().now())
	return []*Line{
		{Event: EventOpen, Host: "gw1", Process: 4711, Chain: keyedHash}, intent, outcome, refused, nothing,
		{Event: EventCounted, Who: call.Who, Since: at, Outcome: "none", Count: 3, Codes: map[string]uint64{"not_found": 2, unchanged: 1}, Reason: "why"},
		{Event: EventCounted, From: "2001:db8::/64", Since: at, Outcome: outcomeRefused, Count: 3, Codes: map[string]uint64{"unauthenticated": 3}, Reason: "why"},
		{Event: EventTorn, Count: 7, SHA256: digest(nil, []byte("torn")), Reason: "why", File: "audit.jsonl"},
		{Event: EventAltered, Reason: "why", File: "audit.jsonl"},
		{Event: EventGap, Since: at, Reason: "why", Count: 2},
		{Event: EventExpired, File: "audit-20060102T150405Z-000000000420.jsonl", Through: 420},
		{Event: EventClose},
		{Event: EventOpen, Host: "gw1", Process: 4711, Chain: plainHash, Gateway: "gw1"},
		{Event: EventWitness, Witness: &Witnessed{"gw2", Head{17, digest(nil, []byte("end"))}, at}},
		{Event: EventAlone, Reason: "why"},
	}
}

// TestFormat compares lines and records with a golden file, because other versions verify logs
// years later.
func TestFormat(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "keyed": testKey} {
		c := chain{o: &Options{Key: key, now: newClock().now}, last: noHash}
		text, seq, last := c.encodeAll(formatted())
		got := bytes.Clone(text)
		for _, anchored := range []bool{false, true} {
			got = append(got, headRecord{Head: Head{seq, last}, Anchored: anchored}.text(key)...)
		}
		path := filepath.Join("testdata", "format-"+name+".jsonl")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}

// FuzzRecord checks that a head record or an anchor is only accepted as authentic if it was written
// with the key.
func FuzzRecord(f *testing.F) {
	good := headRecord{Head: Head{42, digest(nil, nil)}, Anchored: true}
	f.Add([]byte(good.text(testKey)))
	f.Add([]byte(good.text(nil)))
	f.Add([]byte(`{"seq":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "head")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		r, err := readRecord(path)
		if err != nil || !r.authentic(testKey) {
			return
		}
		again := []byte(r.text(testKey))
		require.Equal(t, good.text(testKey), string(again), "nobody has the key")
		require.True(t, json.Valid(again))
	})
}

// FuzzCut checks that a shortened value fits, and is a valid prefix of the original.
func FuzzCut(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\"\\\u2028\xff😀ü")
	f.Fuzz(func(t *testing.T, text string) {
		short := cut(text, 40)
		if short == text {
			return
		}
		start := short[:len(short)-len("…")]
		require.Equal(t, text[:len(start)], start)
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(start))
		require.LessOrEqual(t, out.Len()-len("\"\"\n"), 40)
	})
}
