package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhoseFilesAreTrusted(t *testing.T) {
	for _, c := range []struct {
		owner, process int
		trusted        bool
	}{
		{0, 0, true}, {0, 1000, true}, {0, 990, true}, {1000, 1000, true}, {990, 990, true},
		{1001, 1000, false}, {990, 1000, false}, {1000, 990, false},
		{990, 0, true}, {62000, 0, true}, {1000, 0, false}, {65534, 0, false},
	} {
		assert.Equal(t, c.trusted, trustedUser(c.owner, c.process), "%+v", c)
	}
}
