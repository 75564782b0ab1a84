package compare

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"time"
)

// requestID is the prefix of the request ids. It is followed by the number of the request.
const requestID = "call-"

// waitID is the id of requests that wait for jobs.
const waitID = "wait"

// world is a gateway under test.
type world struct {
	handler http.Handler
	tokens  []string // of the callers; the first has all permissions
	close   func()   // tries once more to close the changes that are still open
	audit   func() string
}

// transcript makes calls and returns their transcript.
func transcript(w *world, seed uint64, calls int) string {
	var b strings.Builder
	k, table := &known{}, rows()
	for n := range calls {
		c := newRequest(seed, uint64(n), table, k)
		a := w.serve(c, fmt.Sprintf("%s%08d", requestID, n))
		fmt.Fprintf(&b, "== %d: %s %s as %d %s\n%s\n",
			n, c.method, c.target, c.token, strings.Join(c.headers, ", "), c.body)
		writeAnswer(&b, a)
		k.learn(a)
		if strings.HasPrefix(c.target, "/api/Jobs") && c.method != http.MethodGet {
			w.awaitJobs()
		}
		if n%50 == 49 {
			w.close()
		}
	}
	w.close()
	w.writeKept(&b, k)
	writeAudit(&b, w.audit())
	return normalized(b.String())
}

// serve makes one call.
func (w *world) serve(c request, id string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
	r.Header.Set("Auth-Token", "Bearer "+w.tokens[c.token])
	r.Header.Set("X-Request-Id", id)
	for _, line := range c.headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	a := httptest.NewRecorder()
	w.handler.ServeHTTP(a, r)
	return a
}

// writeAnswer writes an answer. Each object that is a member of the body gets its own line.
func writeAnswer(b *strings.Builder, a *httptest.ResponseRecorder) {
	fmt.Fprintf(b, "-> %d\n", a.Code)
	var names []string
	for name := range a.Header() {
		if name != "Content-Length" { // the lengths of ids and times vary
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b, "%s: %s\n", name, strings.Join(a.Header()[name], ", "))
	}
	fmt.Fprintf(b, "%s\n", strings.TrimSpace(a.Body.String()))
}

// writeAudit writes the lines of an audit, grouped by request, because a job may begin
// before the audit records the end of the call that submits the job. Lines of the calls that
// wait for jobs are omitted, because their number varies.
func writeAudit(b *strings.Builder, audit string) {
	id := func(line string) string { return requestPattern.FindString(line) }
	lines := slices.Collect(strings.Lines(audit))
	slices.SortStableFunc(lines, func(x, y string) int { return strings.Compare(id(x), id(y)) })
	b.WriteString("== audit\n")
	for _, line := range lines {
		if id(line) != `"requestId":"`+waitID+`"` {
			b.WriteString(placePattern.ReplaceAllString(line, ""))
		}
	}
}

// learn remembers the ids and the tag from an answer.
func (k *known) learn(a *httptest.ResponseRecorder) {
	add := func(to *[]string, id string) {
		if id != "" && !slices.Contains(*to, id) {
			*to = append(*to, id)
		}
	}
	add(&k.changes, a.Header().Get("X-Change-Id"))
	add(&k.tags, a.Header().Get("ETag"))
	text := a.Body.String()
	add(&k.plans, regexp.MustCompile(`pl_[0-9a-f-]{36}`).FindString(text))
	add(&k.jobs, regexp.MustCompile(`jb_[0-9a-f-]{36}`).FindString(a.Header().Get("Location")))
}

// awaitJobs waits until no job is running or held.
func (w *world) awaitJobs() {
	busy := regexp.MustCompile(`"state":"(running|held|stopping)"`)
	list := request{method: http.MethodGet, target: "/api/Jobs?Limit=100"}
	for busy.MatchString(w.serve(list, waitID).Body.String()) {
		<-time.After(5 * time.Millisecond)
	}
}

// writeKept writes the history, the plans and the jobs.
func (w *world) writeKept(b *strings.Builder, k *known) {
	read := func(target string) {
		fmt.Fprintf(b, "== %s\n", target)
		writeAnswer(b, w.serve(request{method: http.MethodGet, target: target}, "kept"))
	}
	for _, id := range k.changes {
		read("/api/Changes/" + id)
	}
	for _, id := range k.plans {
		read("/api/Plans/" + id)
	}
	for _, id := range k.jobs {
		read("/api/Jobs/" + id)
		read("/api/Jobs/" + id + "/Items")
	}
}

// Values that differ from run to run.
var (
	idPattern   = regexp.MustCompile(`\b(?:[a-z]{2}_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
	timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)
	hashPattern = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

	requestPattern = regexp.MustCompile(`"requestId":"[^"]*"`)

	// Patterns for members of audit lines that depend on the computer or contain a duration.
	placePattern = regexp.MustCompile(`"(seq|intent|host|process|durationMs)":[^,}]+,`)

	// Cursors and generated passwords.
	randomPattern = regexp.MustCompile(`"(next|\w*[pP]assword)":"[^"]+"`)
)

// normalized replaces times and hashes. It replaces ids with numbers in the order of their first appearance.
func normalized(text string) string {
	ids := map[string]string{}
	text = idPattern.ReplaceAllStringFunc(text, func(id string) string {
		if ids[id] == "" {
			kind, _, found := strings.Cut(id, "_")
			if !found {
				kind = "id"
			}
			ids[id] = fmt.Sprintf("<%s %d>", kind, len(ids)+1)
		}
		return ids[id]
	})
	text = timePattern.ReplaceAllString(text, "<time>")
	text = randomPattern.ReplaceAllString(text, `"$1":"<random>"`)
	return hashPattern.ReplaceAllString(text, "<hash>")
}
