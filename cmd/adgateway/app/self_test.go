package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/ps"
	"adgateway/winsvc/host"
)

// A running gateway writes its self-view after its start and on request. The last view remains after the
// gateway has stopped.
func TestTheGatewayShowsHowItSeesItsSessions(t *testing.T) {
	s := startServe(t)
	files, ok := SelfFiles(s.live.Now(), s.settings, false)
	require.True(t, ok)
	assert.Equal(t, filepath.Dir(s.settings), files.Folder)
	s.eventually("the first view", func() bool { _, err := files.Read(); return err == nil })
	first, err := files.Read()
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	view, err := files.Ask(ctx)
	require.NoError(t, err)
	assert.True(t, view.Taken.After(first.Taken))
	assert.Equal(t, os.Getpid(), view.PID)
	account, err := host.ReadAccount()
	require.NoError(t, err)
	assert.Equal(t, account.Name, view.Account)
	assert.Equal(t, `SANDBOX\sandbox`, view.Self, "the account of the simulated sessions")
	require.Len(t, view.Sessions, 2)
	for i, module := range []string{"ActiveDirectory", "DnsServer"} {
		assert.Equal(t, module, view.Sessions[i].Module, "%+v", view.Sessions[i])
		assert.Equal(t, "FullLanguage", view.Sessions[i].LanguageMode)
		assert.Empty(t, view.Sessions[i].Error)
	}
	assert.Equal(t, []doctor.SelfServer{{Lane: ps.Directory, Name: "dc1.corp.example"},
		{Lane: ps.DNS, Name: "dc1.corp.example"}}, view.Servers)
	assert.Less(t, view.SkewMilliseconds, int64(time.Minute/time.Millisecond))
	for _, folder := range view.Folders {
		assert.Empty(t, folder.Error, folder.Use)
	}
	readers, err := host.Files{}.Exposed(filepath.Join(files.Folder, files.Name+".json"))
	assert.NoError(t, err)
	assert.Empty(t, readers, "nobody else may read it")

	require.NoError(t, s.stop())
	old, err := files.Ask(ctx)
	assert.ErrorIs(t, err, doctor.ErrNotRunning)
	assert.True(t, old.Taken.Equal(view.Taken))
	assert.NoFileExists(t, files.Request())
	left, err := filepath.Glob(filepath.Join(files.Folder, files.Name+".new-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A block by endpoint protection is named in /readyz and in the view that the doctor reads.
func TestABlockIsNamed(t *testing.T) {
	s := startServeIn(t, "blocked")
	token := s.token()
	s.eventually("the block is named", func() bool {
		failing := s.failing(token)
		return containsAll(failing["directorySessions"], "endpoint protection", "ScriptContainedMaliciousContent",
			"gateway/manual/network.md") &&
			containsAll(failing["dnsSessions"], "endpoint protection")
	})
	assert.Contains(t, s.output.String(), "endpoint protection")
	files, _ := SelfFiles(s.live.Now(), s.settings, false)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	view, err := files.Ask(ctx)
	require.NoError(t, err)
	require.Len(t, view.Sessions, 2)
	assert.True(t, view.Sessions[0].Blocked, "%+v", view)
	assert.Empty(t, view.Servers)
}

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
