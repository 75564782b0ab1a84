// Package bounds limits everything that the gateway stores, buffers or holds on behalf of callers,
// and keeps it within the space left on the disk.
//
// [Table] has a row for each kind of data. The row says how much one caller may have and how much there may
// be in total, what happens beyond these limits, and how to make room. Code that enforces a bound takes it
// from its row, and the manual's page of bounds is generated from the rows. A [Room] is the space left on the
// disk. A single caller can take a part of it, but never all.
package bounds

import (
	"fmt"
	"strings"
)

// Share divides a bound into the shares of single callers. A caller gets a quarter, unless the row
// has a different limit.
const Share = 4

// Of returns one caller's share of a total.
func Of(all int64) int64 { return max(all/Share, 1) }

// Row is a bound.
type Row struct {
	Name  string // e.g. "job lists"
	What  string // the data that is bounded
	Each  string // limit for one caller, as text for people
	All   string // limit for all callers together, as text for people
	Own   int    // fixed limit for one caller; 0 if a setting or a share decides
	Total int    // fixed limit for all callers
	// Settings names the settings that determine the limits, beginning with the one for all callers together. It
	// is empty if the limits are fixed.
	Settings []string
	Answer   string   // what happens beyond the limit
	Remove   string   // how to make room
	Kinds    []string // kinds of stored values that it bounds
	Logs     []string // logs of the store that it bounds
}

// Rows whose numbers are used in code.
var (
	OpenJobs = &Row{
		Name: "jobs that have not ended", What: "Jobs that run, wait, are held, ready or paused.", Own: 50,
		Answer: "429 `rate_limited`", Remove: "`DELETE /api/Jobs/{JobId}` cancels one.",
	}
	Problems = &Row{
		Name: "problems of a list", What: "Mistakes that a job lists. The list is not read on after the last one.",
		Own: 1000, Answer: "the job is `rejected`", Remove: "`DELETE /api/Jobs/{JobId}/Record`",
	}
	ListsRead = &Row{
		Name: "lists that are read", What: "Lists of jobs that are received, read and checked at the same time.",
		All: "one of each caller", Own: 1,
		Answer: "the others wait; 429 `rate_limited` after 30 seconds", Remove: "It is over when the list is read.",
	}
	Jobs = &Row{
		Name: "jobs", What: "Lists and results of jobs, about twice the size of what was sent. A job that was " +
			"canceled or rejected before anything of it ran keeps no list.",
		Settings: []string{"jobs.maxStored", "jobs.keep"}, Answer: "429 `rate_limited`",
		Remove: "`DELETE /api/Jobs/{JobId}/Record` removes one that has ended.",
		Kinds:  []string{"job", "jobspec", "jobitem", "jobkey", "jobonce"}, Logs: []string{"jobs"},
	}
	Plans = &Row{
		Name: "plans", What: "Plans that dry runs have made.", Own: 1000,
		Answer: "the oldest of the caller is forgotten", Remove: "They expire a day after `plans.life`.",
	}
	PlanBytes = &Row{
		Name: "size of plans", What: "The same plans, in bytes.", Settings: []string{"plans.maxSize"},
		Answer: "the oldest of the caller that has most are forgotten",
		Remove: "They expire a day after `plans.life`.",
		Kinds:  []string{"plan"},
	}
	Keys = &Row{
		Name: "keys", What: "Calls with an Idempotency-Key, and their answers.", Own: 10_000,
		Answer: "429 `rate_limited`; the call can be sent without a key",
		Remove: "They expire after `idempotency.keep`.",
	}
	KeyBytes = &Row{
		Name: "size of keys", What: "The same calls and answers, in bytes. Those of the items of a job are kept " +
			"as " +
			"long as it is, and there is one for each item.",
		Settings: []string{"idempotency.maxSize", "idempotency.keep"},
		Answer:   "429 `rate_limited`; the call can be sent without a key",
		Remove:   "They expire after `idempotency.keep`.",
		Kinds:    []string{"key"},
	}
	History = &Row{
		Name: "history", What: "Changes that can be looked up and undone.",
		Settings: []string{"changes.maxSize", "changes.keep"},
		Each:     "what the others leave",
		Answer:   "the oldest changes of the caller that has most are removed for newer ones",
		Remove:   "They expire after `changes.keep`.", Kinds: []string{"change"},
	}
	Feed = &Row{
		Name: "feed of changes", What: "The order of the changes, from which streams and receivers go on.",
		Settings: []string{"changes.maxSize"}, Each: "no part of its own",
		All:    "1,024 entries for each MiB of `changes.maxSize`",
		Answer: "a reader that is further behind is told so, and begins anew",
		Remove: "It expires after `changes.keep`.",
		Logs:   []string{"changes"},
	}
	Index = &Row{
		Name: "index of the history", What: "What finds the changes of an object or a caller.",
		Settings: []string{"changes.maxSize"}, Each: "no part of its own",
		All:    "2,048 changes for each MiB of `changes.maxSize`, in about 30 bytes each",
		Answer: "it is built again, without the changes that were removed",
		Remove: "It expires after `changes.keep`.", Kinds: []string{"changeindex"},
	}
	Sessions = &Row{
		Name: "sessions of the pages", What: "Sessions of a person or a token.", Own: 5,
		Answer:   "the oldest one ends",
		Remove:   "Signing out ends one; `signIn.idle` and `signIn.max` end the others.",
		Settings: []string{"", "signIn.max"}, Kinds: []string{"session", "session-owner"},
	}
	Steps = &Row{
		Name: "steps of the pages", What: "What the pages keep for a session until it is confirmed, for an hour.",
		Own:  50,
		Each: "50 for each session", Answer: "the oldest one is forgotten", Remove: "They expire after an hour.",
		Kinds: []string{"session-step"},
	}
	Tries = &Row{
		Name: "wrong passwords", What: "Wrong passwords of an account of the domain, within its lockout window.",
		Settings: []string{"", "signIn.tries"}, Each: "`signIn.tries` for each account",
		All:    "one entry for each account of the domain",
		Answer: "401, without asking the domain", Remove: "They expire after the lockout window.",
		Kinds: []string{"tries"},
	}
	Addresses = &Row{
		Name: "addresses of sign-ins", What: "Addresses whose wrong passwords are counted, in memory.",
		Total: 20_000,
		Each:  "20 times for each address", Answer: "the one that was used least recently is forgotten",
		Remove: "They are forgotten after half an hour.",
	}
	AuditCaller = &Row{
		Name: "audit lines without effect",
		What: "Lines a minute about calls that had no effect, in full. Beyond that they " +
			"are counted, and one line sums them up.",
		Own: 20, Total: 6000, Each: "20 with one error code, or from one address",
		All:    "6,000 of known callers, 600 of strangers",
		Answer: "they are counted", Remove: "The next minute begins anew.",
	}
)

// Table returns all rows, in the order of the manual.
func Table() []*Row {
	return []*Row{
		Jobs, OpenJobs, ListsRead, Problems, Plans, PlanBytes, Keys, KeyBytes, History, Feed, Index,
		{
			Name: "audit log", What: "Files of the audit log.", Settings: []string{"audit.maxTotal", "audit.keepFor"},
			Each: "a quarter of the room that is left on the disk, within a day", All: "`audit.maxTotal`",
			Answer: "429 `rate_limited` for the caller, 503 `unavailable` when all of it is used",
			Remove: "Files older than `audit.keepFor` are removed; older ones can be moved away.",
		},
		AuditCaller,
		{
			Name: "room on the disk", What: "Space that is kept free where the store and the audit log are.",
			Settings: []string{"store.minFree"}, Each: "a quarter of what is left above it, within a day",
			All:    "what is left above `store.minFree`",
			Answer: "429 `rate_limited`", Remove: "Remove jobs, or free space on the disk.", Kinds: []string{"usage"},
		},
		Sessions, Steps, Tries, Addresses,
		{
			Name:   "what people keep on the pages",
			What:   "Saved views, the last objects and lists that have ended, of a person or a token.",
			Each:   "30 views, 10 objects and the lists that run",
			All:    "those of all people and tokens that have signed in",
			Answer: "the form says that 30 views are the most; the oldest object is forgotten",
			Remove: "They expire 400 days after their last change.", Kinds: []string{"session-own"},
		},
		{
			Name: "uses of tickets", What: "Kerberos tickets that were used, so none is accepted twice.", Each: "one entry for each call or sign-in",
			All: "those of eleven minutes", Answer: "it is stored; the rates of the person limit its calls", Remove: "They expire after eleven minutes.",
			Kinds: []string{"ticket"},
		},
		{
			Name: "budgets", What: "What a caller has spent of its hourly limits.", Each: "one entry", All: "one for each caller",
			Answer: "it is replaced", Remove: "It expires after an hour.", Kinds: []string{"budget"},
		},
		{
			Name: "notes of changes that run", What: "Names that a change gives, and audit lines that are due.",
			Each: "as many as sessions run its changes", All: "as many as there are sessions, and those of the last minutes",
			Answer: "the change waits for a session", Remove: "They are removed after the change.", Kinds: []string{"name", "due"},
		},
		{
			Name: "receivers", What: "How far each receiver of webhooks has got.", Settings: []string{"", "events.webhooks"},
			Each: "no part of its own", All: "one entry for each receiver",
			Answer: "a receiver that is too far behind misses events, which is told", Remove: "Take it out of `events.webhooks`.",
			Kinds: []string{"webhook"},
		},
		{
			Name: "gateways of a cluster", What: "Keys, formats, choices, credentials and ends of audit logs that gateways share.",
			Each: "one entry for each token or user", All: "a few entries for each gateway and each credential",
			Answer: "only an administrator adds any", Remove: "`adgateway token revoke`, `adgateway cluster leave`",
			Kinds: []string{"cred", "auth", "keyring", "seals", "choice", "reads", "mirror", "head"},
			Logs:  []string{"auth", "keyring", "audit.heads"},
		},
		{
			Name: "log of a cluster", What: "The log that the gateways of a cluster apply, on its nodes.",
			Settings: []string{"engine.maxStore"}, Each: "no part of its own", All: "half of `engine.maxStore`",
			Answer: "the oldest entries are removed", Remove: "It is shortened when all gateways have a copy.",
		},
		{
			Name: "bodies", What: "Bodies of running requests above 16 KiB, in memory.", Settings: []string{"http.maxBodyMemory"},
			Answer: "429 `rate_limited` for the caller, 503 `overloaded` when all of it is used", Remove: "The end of its requests.",
		},
		{
			Name: "temporary files of lists", What: "What slow clients have not taken of long lists.",
			Settings: []string{"http.maxSpool", "store.minFree"}, Answer: "the list waits for its client",
			Each:   "a quarter of that, or of what is left on their disk above `store.minFree`",
			Remove: "The client reads on, or leaves.",
		},
		{
			Name: "streams of events", What: "Streams that are open at the same time.", Settings: []string{"events.sse"},
			Answer: "429 `rate_limited`", Remove: "Closing one.",
		},
		{
			Name: "log files", What: "Files of the gateway's own log.", Settings: []string{"log.maxFiles", "log.maxSize"},
			Each: "no part of its own", All: "`log.maxFiles` files of `log.maxSize`", Answer: "the oldest one is removed",
			Remove: "Delete rotated files.",
		},
	}
}

// Setting returns the setting for the limit of all callers, or "" if it is fixed.
func (r *Row) Setting() string {
	if len(r.Settings) == 0 {
		return ""
	}
	return r.Settings[0]
}

// Full is the error of a call that would exceed a bound.
type Full struct {
	Row  *Row
	Own  bool  // the bound is for one caller; otherwise for all
	Used int64 // bytes in use, without the refused data
	Most int64 // limit in bytes
	Room bool  // the disk has less space than the bound allows
}

func (f *Full) Error() string {
	whose := "All callers"
	if f.Own {
		whose = "The caller"
	}
	return fmt.Sprintf("%s: %s has %d of %d bytes", f.Row.Name, whose, f.Used, f.Most)
}

// Sentences returns a text that says what is full, which setting limits it and how to make room.
func (f *Full) Sentences() string {
	whose, part := "All credentials together have", "in all"
	if f.Own {
		whose, part = "The credential has", "which is the quarter that one may have"
	}
	why := "(" + f.Row.Setting() + ")"
	if f.Room {
		why = "of the space that is left on the disk (store.minFree)"
	}
	return fmt.Sprintf("%s %s of %s for %s, %s %s. To make room: %s", whose, size(f.Used), size(f.Most),
		f.Row.Name, part, why,
		strings.ReplaceAll(f.Row.Remove, "`", ""))
}

// size formats a number of bytes for people.
func size(bytes int64) string {
	const mebi = 1 << 20
	if bytes < mebi {
		return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mebi)
}
