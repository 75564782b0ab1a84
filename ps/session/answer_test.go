package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"adgateway/ps"
	"adgateway/ps/sorted"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The output of a real engine (PowerShell 7.6.5) for eleven requests, made with a prototype
// of the prelude, is read correctly; see testdata/README.md.
func TestRecordedAnswersOfARealEngine(t *testing.T) {
	var exchange []struct {
		Request struct {
			ID     string `json:"id"`
			Script string `json:"script"`
		} `json:"request"`
		Secrets []string `json:"secrets"`
		Line    string   `json:"line"`
		Stdout  string   `json:"stdout"`
	}
	text, err := os.ReadFile("testdata/exchange.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &exchange))
	var stream strings.Builder
	for _, one := range exchange {
		stream.WriteString(one.Stdout)
	}
	frames, noise, _, _ := splitAll(strings.NewReader(stream.String()), "", 1<<20)
	assert.Empty(t, noise)

	want := map[string]struct {
		effect  ps.Effect
		errorID string
		code    string
		outcome ps.Outcome
		records int
		steps   int
	}{
		"1":  {errorID: "Gateway.NotFound", outcome: ps.OutcomeNone},
		"2":  {effect: ps.EffectCreated, records: 1, steps: 1},
		"3":  {effect: ps.EffectNone, records: 1},
		"4":  {errorID: "ActiveDirectoryServer:1325,Set-ADAccountPassword", code: "1325", outcome: ps.OutcomeUnknown, steps: 1},
		"5":  {errorID: "Gateway.NotFound", outcome: ps.OutcomeNone},
		"6":  {effect: ps.EffectCreated, records: 1, steps: 1},
		"7":  {errorID: "CommandNotFoundException", outcome: ps.OutcomeNone},
		"8":  {errorID: "MissingMandatoryParameter,Invoke-GatewayScriptGetUserDetails", outcome: ps.OutcomeNone},
		"9":  {errorID: "NamedParameterNotFound,Invoke-GatewayScriptGetUserDetails", outcome: ps.OutcomeNone},
		"10": {errorID: "Gateway.NotFound", outcome: ps.OutcomeNone},
		"11": {effect: ps.EffectNone, records: 1},
	}
	answers := map[string]*answer{}
	records := map[string]int{}
	for _, f := range frames {
		a := answers[f.id]
		if a == nil {
			a = &answer{records: func(batch json.RawMessage) error {
				var items []map[string]any
				require.NoError(t, json.Unmarshal(batch, &items))
				records[f.id] += len(items)
				return nil
			}}
			answers[f.id] = a
		}
		require.False(t, a.done(), "frame after the end of %s", f.id)
		require.NoError(t, a.take(f))
	}
	require.Len(t, answers, len(want))
	for id, w := range want {
		a := answers[id]
		require.True(t, a.done(), id)
		assert.Len(t, a.steps, w.steps, id)
		assert.Equal(t, w.records, records[id], id)
		if w.errorID != "" {
			require.NotNil(t, a.failure, id)
			assert.Equal(t, ps.KindScript, a.failure.Kind)
			assert.Equal(t, w.errorID, a.failure.ID)
			assert.Equal(t, w.code, a.failure.Code)
			assert.Equal(t, w.outcome, a.failure.Outcome, id)
			continue
		}
		require.NotNil(t, a.result, id)
		assert.Equal(t, w.effect, a.result.Effect)
	}
	for _, one := range exchange {
		for _, secret := range one.Secrets {
			assert.Contains(t, lineSecrets(one.Line), secret)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for kind, payload := range map[frameKind]string{
		frameStep:    `{"label":"create user","guid":"g","dn":"CN=x"}`,
		frameRecords: `[{"a":1}]`,
		frameKeyed:   `{"keys":["b","a"],"records":[{"a":1},{}]}`,
		frameEnd:     `{"effect":"created","warnings":[{"code":"c"}],"changes":[{"guid":"g","before":{"a":null},"after":{}}],"counts":{"x":1}}`,
		frameError:   `{"step":"s","code":null,"line":3,"outcome":"partial","remains":[{"guid":"g","dn":"d"}]}`,
		frameReady:   `{"languageMode":"FullLanguage","pid":1}`,
	} {
		f.Add(string(kind), []byte(payload), true)
		f.Add(string(kind), []byte(payload), false)
		f.Add(string(kind), []byte(`null`), false)
	}
	f.Fuzz(func(t *testing.T, kind string, payload []byte, boot bool) {
		if _, _, _, err := parseHeader([]byte("1 " + kind + " 0")); err != nil {
			return // the splitter accepts no other kind
		}
		passed := 0
		a := &answer{boot: boot, newList: inMemory, records: func(batch json.RawMessage) error {
			var items []any
			if json.Unmarshal(batch, &items) != nil {
				return ps.ErrInvalidRecords
			}
			passed++
			return nil
		}}
		err := a.take(frame{id: "1", kind: frameKind(kind), payload: payload})
		if err != nil {
			require.False(t, a.done())
			require.Zero(t, passed)
			return
		}
		if a.failure != nil {
			require.NotEmpty(t, a.failure.Outcome)
		}
		require.Equal(t, frameKind(kind).last(), a.done())
	})
}

func inMemory() *sorted.Records { return sorted.New(nil, 0) }

// TestRecordsWithKeysAreSorted: records with keys are passed on at the end, in the order of their
// keys. If reading fails, none of them is.
func TestRecordsWithKeysAreSorted(t *testing.T) {
	keyed := func(payload string) frame { return frame{kind: frameKeyed, payload: []byte(payload)} }
	end := frame{kind: frameEnd, payload: []byte(`{"effect":"none"}`)}
	var passed []string
	start := func() *answer {
		passed = nil
		return &answer{newList: inMemory, records: func(batch json.RawMessage) error {
			passed = append(passed, string(batch))
			return nil
		}}
	}
	a := start()
	require.NoError(t, a.take(keyed(`{"keys":["C\u0000x","A\u0000y"],"records":[{"n":3},{"n":1}]}`)))
	require.NoError(t, a.take(keyed(`{"keys":["B\u0000z"],"records":[{"n":2}]}`)))
	assert.Empty(t, passed)
	require.NoError(t, a.take(end))
	assert.Equal(t, []string{`[{"n":1},{"n":2},{"n":3}]`}, passed)
	a.close()

	a = start()
	require.NoError(t, a.take(keyed(`{"keys":["A"],"records":[{"n":1}]}`)))
	require.NoError(t, a.take(frame{kind: frameError, payload: []byte(`{"outcome":"none"}`)}))
	assert.Empty(t, passed)

	for _, wrong := range []string{`{"keys":["A"],"records":[]}`, `[1]`, `{"keys":"A","records":[1]}`, `{"keys":[`} {
		assert.Error(t, start().take(keyed(wrong)), wrong)
	}

	a = start()
	require.NoError(t, a.take(keyed(`{"most":2,"first":"B","keys":["C","A","E"],"records":[{"n":3},{"n":1},{"n":5}]}`)))
	require.NoError(t, a.take(keyed(`{"most":2,"first":"B","again":"D","keys":["D","F"],"records":[{"n":4},{"n":6}]}`)))
	require.NoError(t, a.take(end))
	assert.Equal(t, []string{`[{"n":3},{"n":4}]`}, passed)
	assert.Equal(t, "D", a.result.Last)

	left := errors.New("the caller has left")
	a = &answer{newList: inMemory, records: func(json.RawMessage) error { return left }}
	require.NoError(t, a.take(keyed(`{"keys":["A"],"records":[{"n":1}]}`)))
	require.NoError(t, a.take(end))
	assert.ErrorIs(t, a.refused, left)

	a = &answer{newList: func() *sorted.Records { return sorted.New(lostFile{}, 1) }, records: a.records}
	require.NoError(t, a.take(keyed(`{"keys":["A"],"records":[{"n":1}]}`)))
	require.NoError(t, a.take(end))
	assert.Equal(t, ps.KindInternal, ps.AsError(a.refused).Kind)
}

// lostFile is a file whose blocks cannot be read.
type lostFile struct{}

func (lostFile) Put([]byte) error                { return nil }
func (lostFile) Get(int, []byte) ([]byte, error) { return nil, os.ErrClosed }
func (lostFile) Close()                          {}

// TestSecretsComeBesideTheRecords: secrets arrive in a separate frame, encoded in base64 and separated by
// spaces, and are never printed.
func TestSecretsComeBesideTheRecords(t *testing.T) {
	a := &answer{}
	require.NoError(t, a.take(frame{kind: frameSecrets, payload: []byte("aHVudGVyMg== w7xiZXI=")}))
	require.NoError(t, a.take(frame{kind: frameEnd, payload: []byte(`{"effect":"none"}`)}))
	require.Len(t, a.result.Secrets, 2)
	assert.Equal(t, "hunter2", a.result.Secrets[0].Reveal())
	assert.Equal(t, "über", a.result.Secrets[1].Reveal())
	text, err := json.Marshal(a.result)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", a.result, a.result, a.result.Secrets), "hunter2")

	err = (&answer{}).take(frame{kind: frameSecrets, payload: []byte("hunter2!")})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}
