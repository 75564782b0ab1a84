package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// list returns a list of updates of an OU, which need not exist. Each update has a text of the given length.
func list(items, length int) []byte {
	var b bytes.Buffer
	for i := range items {
		fmt.Fprintf(&b, `{"operation":"ou.update","parameters":{"OUPath":"OU=No%d,DC=corp,DC=example","Description":"%s"}}`+"\n",
			i, strings.Repeat("x", length))
	}
	return b.Bytes()
}

// submit submits a list as a job that is held for a long time.
func submit(s *systemtest.System, token string, list []byte) systemtest.Answer {
	return s.Do(systemtest.Call{
		Method: http.MethodPost, Path: "/api/Jobs?Operation=ou.update&NotBefore=2037-06-01T00:00:00Z", Token: token,
		Raw: bytes.NewReader(list), Headers: map[string]string{"Content-Type": ops.MediaNDJSON},
	})
}

// No matter how many lists one credential submits, other credentials can still make changes, even if the disk
// is small.
func TestOneCredentialDoesNotFillTheDisk(t *testing.T) {
	folder, items := t.TempDir(), 500
	size := "110m"
	if thorough.All() {
		size, items = "220m", 19_990
	}
	err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", folder).Run()
	if err == nil {
		t.Cleanup(func() { assert.NoError(t, exec.Command("umount", "--lazy", folder).Run()) })
	} else { // without root there is no small disk, so only the limit per credential refuses lists
		t.Logf("the folder is not on a small disk of its own: %v", err)
	}
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "store.file="+filepath.Join(folder, "state.db"),
		"audit.file="+filepath.Join(folder, "audit.jsonl"), "jobs.maxStored=64")
	sent := list(items, 900)
	refused := 0
	for n := 0; refused < 3; n++ {
		require.Less(t, n, 200, "nothing is refused")
		answer := submit(s, systemtest.LimitedToken, sent)
		if answer.Status == http.StatusAccepted {
			s.Do(systemtest.Call{Method: http.MethodDelete, Path: answer.Header.Get("Location"),
				Token: systemtest.ReadToken})
			continue
		}
		require.Equal(t, http.StatusTooManyRequests, answer.Status, "%s", answer.Body)
		assert.Regexp(t, `jobs\.maxStored|store\.minFree`, string(answer.Body))
		assert.Contains(t, string(answer.Body), "/Record")
		refused++
	}
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
		Params: map[string]any{"City": "Rome"}}, http.StatusOK)
	ready := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/readyz", Token: "none"})
	assert.Equal(t, http.StatusOK, ready.Status, "%s", ready.Body)

	small := submit(s, systemtest.PlainToken, list(1, 10))
	assert.Equal(t, http.StatusAccepted, small.Status, "another credential has its own share: %s", small.Body)
}

// Invalid lists use no more memory than one list at a time per credential.
func TestWrongListsTakeLittleMemory(t *testing.T) {
	const mebi, most = 1 << 20, 150
	at, items := 8, 5_000
	if thorough.All() {
		at, items = 64, 19_900
	}
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "store.file="+filepath.Join(t.TempDir(), "state.db"))
	wrong := []byte(strings.Repeat(`{"parameters":{"x1":1}}`+"\n", items))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var sent sync.WaitGroup
	for i := range at {
		sent.Go(func() {
			token := []string{systemtest.AllToken, systemtest.PlainToken}[i%2]
			answer := submit(s, token, wrong)
			for answer.Status == http.StatusTooManyRequests { // the list has waited for its turn until the time limit
				answer = submit(s, token, wrong)
			}
			if !assert.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body) {
				return
			}
			assert.Contains(t, string(answer.Body), `"state":"rejected"`)
			assert.Contains(t, string(answer.Body), `"moreProblems":1`)
		})
	}
	sent.Wait()
	runtime.ReadMemStats(&after)
	grown := (int64(after.Sys) - int64(before.Sys)) / mebi
	t.Logf("%d lists of %d items: %d MiB more", at, items, grown)
	assert.LessOrEqual(t, grown, int64(most), "MiB")
}
