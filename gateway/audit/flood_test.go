package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stranger returns a call of an unknown caller.
func stranger(from string) Call {
	return Call{RequestID: "r", From: from, Operation: "user.update",
		Parameters: map[string]string{"Username": "x"}}
}

// counts returns the lines that count calls, and the total of their counts.
func counts(t *testing.T, file string, outcome string) (counted []*Line, total uint64) {
	t.Helper()
	require.NoError(t, Read(file, nil, Filter{Outcome: outcome}, func(r *Record) error {
		if line := r.Call(); line.Event == EventCounted {
			counted = append(counted, line)
			total += line.Count
		} else {
			total++
		}
		return nil
	}))
	return counted, total
}

func TestFloodsOfStrangersAreCounted(t *testing.T) {
	clock := newClock()
	file := newFile(t)
	l := open(t, Options{File: file, now: clock.now})
	for i := range 500 {
		require.NoError(t, l.Refuse(stranger(fmt.Sprintf("2001:db8::%x", i+1)),
			Result{Code: []string{"unauthenticated", "rate_limited"}[i%2]}))
	}
	other := stranger("192.0.2.1")
	require.NoError(t, l.Refuse(other, Result{Code: "unauthenticated"}))
	assert.Equal(t, uint64(500-floodCaller), l.Stats().Suppressed)
	clock.add(floodWindow)
	require.NoError(t, l.Refuse(other, Result{Code: "unauthenticated"}))
	for i := range 100_000 {
		require.NoError(t, l.Refuse(stranger(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)),
			Result{Code: "unauthenticated"}))
	}
	require.NoError(t, l.Close())
	report := whole(t, file)
	assert.Less(t, report.Lines, uint64(floodCaller+floodAll+floodCallers+10))

	counted, total := counts(t, file, OutcomeRefused)
	assert.Equal(t, uint64(500+2+100_000), total, "no refusal is lost")
	assert.Equal(t, "2001:db8::/64", counted[0].From)
	assert.Equal(t, map[string]uint64{"unauthenticated": 240, "rate_limited": 240}, counted[0].Codes)
	assert.Equal(t, elsewhere, counted[len(counted)-1].From)
}

// TestKnownCallersHaveABudgetOfTheirOwn: refusals of a known caller are written even if strangers
// at the same address, or calls with other codes, have used up their limits.
func TestKnownCallersHaveABudgetOfTheirOwn(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	for range 2 * floodAll {
		require.NoError(t, l.Refuse(stranger("192.0.2.1"), Result{Code: "unauthenticated"}))
	}
	for range 100 {
		require.NoError(t, l.Done(callFor("nobody"), Result{Outcome: "none", Code: "not_found", Status: 404},
			false))
	}
	for i := range 6 {
		require.NoError(t, l.Refuse(callFor(fmt.Sprint("victim", i)), Result{Code: "forbidden", Status: 403}))
	}
	require.NoError(t, l.Close())
	found := 0
	require.NoError(t, Read(file, nil, Filter{Who: "desk", Outcome: OutcomeRefused}, func(r *Record) error {
		require.Equal(t, fmt.Sprint("victim", found), r.Call().Parameters["Username"])
		found++
		return nil
	}))
	assert.Equal(t, 6, found)
}

// TestFloodsOfCallsWithoutEffectAreCounted: calls that change nothing cost at most a few lines a minute, no
// matter how many calls there are and how long their values are.
func TestFloodsOfCallsWithoutEffectAreCounted(t *testing.T) {
	clock := newClock()
	file := newFile(t)
	l := open(t, Options{File: file, now: clock.now})
	long := callFor("x")
	long.Parameters = map[string]string{"OUPath": "OU=" + strings.Repeat(`"`, 2030), "Password": "***"}
	for i := range 5000 {
		require.NoError(t, l.Done(long, Result{Outcome: "none", Code: []string{"not_found", "conflict", ""}[i%3]},
			false))
	}
	assert.Equal(t, uint64(5000-3*floodCaller), l.Stats().Suppressed)
	clock.add(floodWindow)
	require.NoError(t, l.Done(long, Result{Outcome: "partial", Code: "x"}, false),
		"what may have changed something is always written")
	require.NoError(t, l.Done(long, Result{Outcome: "none"}, true), "and so are reads")
	require.NoError(t, l.Close())
	counted, total := counts(t, file, "none")
	assert.Equal(t, uint64(5001), total, "no call is lost")
	require.Len(t, counted, 1)
	assert.Equal(t, &Who{Name: "desk", Kind: "token"}, counted[0].Who)
	assert.Empty(t, counted[0].From)
	assert.Equal(t, map[string]uint64{"not_found": 1647, "conflict": 1647, "unchanged": 1646}, counted[0].Codes)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(64<<10), "bytes for 5,000 calls")
}

func TestValuesOfCallsWithoutEffectAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		strings.Repeat("x", 256):         strings.Repeat("x", 256),
		strings.Repeat("x", 257):         strings.Repeat("x", 256) + "…",
		strings.Repeat(`"`, 200):         strings.Repeat(`"`, 128) + "…",
		strings.Repeat("\x01", 200):      strings.Repeat("\x01", 42) + "…",
		strings.Repeat("\xff", 200):      strings.Repeat("\xff", 42) + "…",
		strings.Repeat("😀", 65):          strings.Repeat("😀", 64) + "…",
		"OU=" + strings.Repeat("ü", 126): "OU=" + strings.Repeat("ü", 126),
	} {
		assert.Equal(t, want, brief(map[string]string{"p": text})["p"])
	}
}
