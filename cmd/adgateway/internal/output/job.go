package output

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"adgateway/cmd/adgateway/internal/jobclient"
	"adgateway/gateway/visible"
)

// shownProblems limits the number of problems of a list that are shown.
const shownProblems = 1000

// Job writes a job, the faults of its list, and the next steps.
func Job(w io.Writer, job *jobclient.Job) error {
	var b strings.Builder
	title := job.ID
	if job.Name != "" {
		title += " (" + visible.Text(job.Name) + ")"
	}
	fmt.Fprintf(&b, "job %s: %s\n", title, job.Sentence())
	for _, p := range job.Problems[:min(len(job.Problems), shownProblems)] {
		fmt.Fprintf(&b, "  %s\n", visible.Text(p.String()))
	}
	if more := job.MoreProblems + max(len(job.Problems)-shownProblems, 0); more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	for _, line := range nextSteps(job) {
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nextSteps returns the commands that make sense for a job in its state.
func nextSteps(job *jobclient.Job) []string {
	step := func(purpose, command string) string {
		return purpose + ": adgateway job " + strings.Replace(command, "ID", job.ID, 1)
	}
	var steps []string
	switch {
	case job.State == "rejected":
		return []string{"Nothing was run. Correct the list and submit it again, or leave out the items with " +
			"mistakes with --skip-invalid."}
	case job.State == "ready":
		steps = append(steps, step("Run the items", "start ID --watch"))
		if job.Mode == "dryRun" {
			steps = append(steps, step("Show what each would do", "result ID"))
		}
		return steps
	case job.State == "paused":
		return []string{step("Resume it", "resume ID"), step("Cancel it", "cancel ID")}
	case !job.Ended():
		return []string{step("Follow it", "watch ID"), step("Pause it", "pause ID")}
	}
	steps = append(steps, step("Outcome of each item", "result ID"))
	if job.Failed+job.NotRun > 0 {
		steps = append(steps, step("Retry what was not done", "retry ID --watch"))
	}
	if job.Unknown > 0 {
		steps = append(steps, step("Determine the unknown outcomes", "retry ID --state unknown --watch"))
	}
	if job.Done > 0 && job.Mode == "run" {
		steps = append(steps, step("Undo the changes", "undo ID --dry-run --watch"))
	}
	return steps
}

// Jobs writes a table of jobs.
func Jobs(w io.Writer, jobs []jobclient.Job, more bool) error {
	table := newTable(w)
	table.row("ID", "NAME", "BY", "CREATED", "STATE", "ITEMS")
	for i := range jobs {
		j := &jobs[i]
		table.row(j.ID, shorten(dash(j.Name)), dash(j.Caller), j.Created.Local().Format(time.DateTime),
			cmp.Or(j.State, "-"), j.Items())
	}
	if err := table.Flush(); err != nil || !more {
		return err
	}
	_, err := fmt.Fprintln(w, "There are more jobs: use --limit or --state.")
	return err
}
