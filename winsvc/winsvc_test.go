package winsvc

import (
	"errors"
	"testing"

	"github.com/kardianos/service"
	"github.com/stretchr/testify/assert"
)

func TestStateNamesWhatTheManagerSays(t *testing.T) {
	for _, c := range []struct {
		status service.Status
		err    error
		want   State
		fails  bool
	}{
		{service.StatusRunning, nil, Running, false},
		{service.StatusStopped, nil, Stopped, false},
		{service.StatusUnknown, nil, Unknown, false},
		{service.StatusUnknown, service.ErrNotInstalled, NotInstalled, false},
		{service.StatusUnknown, errors.New("access denied"), Unknown, true},
	} {
		got, err := stateOf(c.status, c.err)
		assert.Equal(t, c.want, got)
		assert.Equal(t, c.fails, err != nil)
	}
}
