package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAPatternHoldsForEveryWayToMakeAChange: a pattern that names user.delete also matches
// user.deleteByGuid, so a GUID does not evade the rule.
func TestAPatternHoldsForEveryWayToMakeAChange(t *testing.T) {
	for _, id := range []string{"user.delete", "user.deleteByGuid"} {
		assert.True(t, Matches("user.delete", id), id)
		assert.True(t, Matches("user.*", id), id)
		assert.True(t, Matches("*", id), id)
		assert.False(t, Matches("user.update", id), id)
		assert.False(t, Matches("group.*", id), id)
	}
	assert.True(t, Matches("user.deleteByGuid", "user.deleteByGuid"))
	assert.False(t, Matches("user.deleteByGuid", "user.delete"))
	assert.True(t, MatchesAny("user.delete"))
	assert.False(t, MatchesAny("user.get"), "it changes nothing")
}
