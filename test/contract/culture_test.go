package contract

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

var changeIDs = regexp.MustCompile(changes.Pattern)

// TestAnswersAreAlikeInEveryCulture sends the sample of each operation to domains that differ only in the
// culture of their sessions. The records must be equal byte for byte. In Turkish, i and I are different
// letters even if case is ignored, and the engine refuses comparisons that would depend on this. A plain run
// tries Turkish only.
func TestAnswersAreAlikeInEveryCulture(t *testing.T) {
	now := time.Date(2026, 10, 5, 14, 30, 0, 0, time.UTC)
	answers := func(t *testing.T, culture string) map[string]string {
		s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture, Clock: func() time.Time { return now }})
		all := map[string]string{}
		for _, op := range opstest.Own() {
			s.Prepare(op)
			a := s.Do(systemtest.Sample(op))
			require.Less(t, a.Status, 300, "%s: %s", op.ID, a.Body)
			var envelope struct{ Result json.RawMessage }
			require.NoError(t, json.Unmarshal(a.Body, &envelope), op.ID)
			all[op.ID] = changeIDs.ReplaceAllString(string(envelope.Result), "ch_") // ids differ
			s.Undo(op)
		}
		return all
	}
	want := answers(t, "en-US")
	for _, culture := range []string{"tr-TR", "th-TH", "ar-SA", "de-DE", "ja-JP"} {
		if culture != "tr-TR" && !thorough.All() {
			continue
		}
		t.Run(culture, func(t *testing.T) {
			for id, have := range answers(t, culture) {
				assert.Equal(t, want[id], have, id)
			}
		})
	}
}
