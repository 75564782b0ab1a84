package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryNameOfAnAccountCountsTowardsItsTries: for the domain wrong passwords under the
// account name and under the UPN are those of one account.
func TestEveryNameOfAnAccountCountsTowardsItsTries(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	for _, name := range []string{"aschmidt", "aschmidt@corp.example", "ASchmidt@Corp.Example", `CORP\aschmidt`, "aschmidt@corp.example", "aschmidt"} {
		require.Equal(t, 200, b.get("/ui/signin"))
		require.Equal(t, 401, b.submit("/ui/signin", "username", name, "password", "wrong"))
	}
	assert.Equal(t, 3, s.people.asked)
}
