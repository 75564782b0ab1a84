package kill

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/ps"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
)

// list returns a list of different items, each of which changes something. The test would notice a repeated
// item, because it would fail or find nothing to do.
func list(n int) string {
	const ou = "OU=Kill,OU=Corp,DC=corp,DC=example"
	var lines []string
	add := func(operation string, parameters map[string]any) {
		raw, _ := json.Marshal(map[string]any{"operation": operation, "parameters": parameters}) // plain text
		lines = append(lines, string(raw))
	}
	add("ou.create", map[string]any{"OUName": "Kill", "OUDestinationPath": "OU=Corp,DC=corp,DC=example",
		"IsProtected": false})
	add("group.createSecurity", map[string]any{"GroupName": "Kill Group", "OUPath": ou})
	for i := 0; len(lines) < n; i++ {
		name := fmt.Sprintf("kill%05d", i)
		add("user.create", map[string]any{"UserName": name, "OUPath": ou})
		add("user.update", map[string]any{"UserName": name, "City": "Rome"})
		add("membership.add", map[string]any{"Username": name, "GroupName": "Kill Group"})
		add("user.update", map[string]any{"UserName": name, "City": "Oslo", "Department": name})
		add("cname.create", map[string]any{"DNS_HostName": name, "ZoneName": "corp.example",
			"DNS_HostName_Alias": "host.corp.example"})
	}
	lines = lines[:n-1]
	add("user.update", map[string]any{"UserName": late, "City": "Bonn"})
	return strings.Join(lines, "\n")
}

// late is an account that is created only after the job has ended, so that one item fails.
const late = "kill.late"

// TestKilledInAJob: a gateway is killed repeatedly while it runs a job. The job continues after each start,
// and a paused job stays paused. Nothing is lost and nothing is done twice. Failed items are tried again, and
// the undo of the job, which is interrupted in the same way, restores the directory.
func TestKilledInAJob(t *testing.T) {
	items, kills := systemtest.Number(t, "JOB_ITEMS", 300), systemtest.Number(t, "KILLS", 2)
	every := time.Duration(systemtest.Number(t, "KILL_EVERY_MS", 150)) * time.Millisecond
	patience := time.Minute + time.Duration(items)*time.Second/2
	log := filepath.Join(t.TempDir(), "audit.jsonl")
	f := newFleet(t, "store.file="+filepath.Join(t.TempDir(), "state.db"), "audit.file="+log, "jobs.rate=0",
		"jobs.share=100", "http.settlePause=50ms",
		"pool.startTimeout=60s", "jobs.maxItems=200000")
	before, err := sandboxtest.Take(f.world)
	require.NoError(t, err)
	f.start()
	submitted := time.Now()
	status, records := f.call(http.MethodPost, "/api/Jobs?OnUnknown=continue&StopAfter=0", list(items),
		"application/x-ndjson")
	require.Equal(t, http.StatusAccepted, status, "%v", records)
	id := records[0]["id"].(string)
	f.pause(id)
	job := f.job(id, kills, every, patience)
	t.Logf("%d items with %d kills in %s: %v", items, f.kills, time.Since(submitted).Round(time.Millisecond),
		counts(job))
	require.Equal(t, "done", job["state"])
	require.Equal(t, float64(items-1), job["done"], "%v: %v", counts(job), f.others(id))
	require.Equal(t, 1.0, job["failed"])
	retry := f.retry(id, patience)

	assert.Empty(t, f.repeated(), "are written twice")
	f.kills = 0
	began := time.Now()
	status, records = f.call(http.MethodPost, "/api/Jobs/"+id+"/Undo?OnUnknown=continue&StopAfter=0", "", "")
	require.Equal(t, http.StatusAccepted, status, "%v", records)
	undo := f.job(records[0]["id"].(string), kills, every, patience)
	f.undo(retry, patience)
	t.Logf("undone with %d kills in %s: %v", f.kills, time.Since(began).Round(time.Millisecond), counts(undo))
	require.Equal(t, float64(items-1), undo["done"], "%v: %v", counts(undo), f.others(undo["id"].(string)))
	after, err := sandboxtest.Take(f.world)
	require.NoError(t, err)
	for _, difference := range before.Compare(after) {
		bin := strings.Contains(difference, "CN=Deleted Objects") // of undone creations
		serial := strings.Contains(difference, "corp.example: ") &&
			strings.Contains(strings.ToLower(difference), "soa")
		assert.True(t, bin || serial, "is left: %s", difference)
	}
	history := f.history()
	require.Greater(t, len(history), 2*(items-1))
	f.end(syscall.SIGTERM)
	assert.Equal(t, history, outcomes(t, log),
		"the audit has one outcome for each change, which is that of the history")
}

// history returns the outcomes of all changes in the history, by the id of the change.
func (f *fleet) history() map[string][]string {
	f.t.Helper()
	all := map[string][]string{}
	for after := ""; ; {
		var page struct {
			Next   string
			Result []struct{ ID, Outcome string }
		}
		query := url.Values{"Limit": {"500"}}
		if after != "" {
			query.Set("After", after)
		}
		require.Equal(f.t, http.StatusOK, f.send(http.MethodGet, "/api/Changes?"+query.Encode(), "", "", &page))
		for _, c := range page.Result {
			all[c.ID] = []string{c.Outcome}
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// outcomes returns the audited outcomes of the changes that were made completely or in part, by the id of the
// change. It checks that every intent has an outcome.
func outcomes(t *testing.T, file string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
		id := r.Call().Change
		if id == "" {
			return nil // the call announced no change
		}
		require.NotNil(t, r.Outcome, "%+v", r.Intent)
		if r.Outcome.Outcome != string(ps.OutcomeNone) {
			all[id] = append(all[id], r.Outcome.Outcome)
		}
		return nil
	}))
	return all
}

// pause pauses a job, kills the gateway, and resumes the job.
func (f *fleet) pause(id string) {
	f.t.Helper()
	status, _ := f.call(http.MethodPut, "/api/Jobs/"+id+"/Pause", "", "")
	require.Equal(f.t, http.StatusOK, status)
	f.kill()
	_, records := f.call(http.MethodGet, "/api/Jobs/"+id, "", "")
	require.Equal(f.t, "paused", records[0]["state"])
	status, _ = f.call(http.MethodPut, "/api/Jobs/"+id+"/Resume", "", "")
	require.Equal(f.t, http.StatusOK, status)
}

// retry creates the account that an item needed, and retries the failed items. It returns the new job.
func (f *fleet) retry(id string, patience time.Duration) string {
	f.t.Helper()
	status, _ := f.call(http.MethodPost, "/api/ADUser/"+late, "", "")
	require.Equal(f.t, http.StatusCreated, status)
	status, records := f.call(http.MethodPost, "/api/Jobs/"+id+"/Retry", "", "")
	require.Equal(f.t, http.StatusAccepted, status, "%v", records)
	again := f.job(records[0]["id"].(string), 0, 0, patience)
	require.Equal(f.t, []any{1.0, 1.0}, []any{again["total"], again["done"]}, counts(again))
	return again["id"].(string)
}

// undo undoes the retry job with its single item, and removes the account that was created for it.
func (f *fleet) undo(id string, patience time.Duration) {
	f.t.Helper()
	status, records := f.call(http.MethodPost, "/api/Jobs/"+id+"/Undo", "", "")
	require.Equal(f.t, http.StatusAccepted, status, "%v", records)
	f.job(records[0]["id"].(string), 0, 0, patience)
	status, _ = f.call(http.MethodDelete, "/api/ADUser/"+late, "", "")
	require.Equal(f.t, http.StatusOK, status)
}

// repeated returns the writes to the directory that were made twice, with the same values to the same object.
// The list itself does not repeat a write.
func (f *fleet) repeated() []string {
	var twice []string
	seen := map[string]bool{}
	for _, entry := range f.world.Directory.Journal(0) {
		for _, object := range entry.Objects {
			write := fmt.Sprint(entry.Op, " ", object.GUID, " ", object.NewDN)
			for _, change := range object.Changes {
				write += fmt.Sprintf(" %s %v", change.Name, change.After)
			}
			if seen[write] {
				twice = append(twice, write)
			}
			seen[write] = true
		}
	}
	return twice
}

func counts(job map[string]any) string {
	var all []string
	for _, name := range []string{"done", "noop", "failed", "unknown", "skipped", "notRun", "waiting"} {
		all = append(all, fmt.Sprintf("%s %v", name, job[name]))
	}
	return strings.Join(all, ", ")
}

// others returns the first items that were not completed.
func (f *fleet) others(id string) []map[string]any {
	var found []map[string]any
	for _, state := range []string{"failed", "noop", "unknown", "not_run", "skipped"} {
		_, items := f.call(http.MethodGet, "/api/Jobs/"+id+"/Items?Limit=3&State="+state, "", "")
		found = append(found, items...)
	}
	return found
}
