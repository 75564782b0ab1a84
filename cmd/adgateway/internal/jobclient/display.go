package jobclient

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// every is the interval at which the progress is printed without a terminal.
const every = 5 * time.Second

// Display shows the progress of a job. It is not safe for concurrent use.
type Display struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	bar      *bar // in a terminal, set by the first job
	printed  time.Time
	last     string
}

// NewDisplay returns a display that writes to w: a bar if w is a terminal, otherwise at most
// one line every five seconds. The caller must call Close.
func NewDisplay(w io.Writer, terminal bool, now func() time.Time) *Display {
	return &Display{w: w, terminal: terminal, now: now}
}

// Show shows the current state of the job.
func (d *Display) Show(job *Job) {
	if d.terminal {
		if d.bar == nil {
			d.bar = newBar(d.w)
		}
		d.bar.show(job)
		return
	}
	if now := d.now(); d.printed.IsZero() || now.Sub(d.printed) >= every || job.Rests() {
		d.printed = now
		line := strings.Join(nonEmpty(counted(job), pace(job), remarks(job)), "  ")
		if line != d.last {
			fmt.Fprintln(d.w, line)
		}
		d.last = line
	}
}

// Close ends the display, so that further output begins on a new line.
func (d *Display) Close() {
	if d.bar != nil {
		d.bar.close()
	}
}

// bar is a progress bar in a terminal. Each line replaces the previous one.
type bar struct {
	w     io.Writer
	shown int // length of the line in characters
}

// barWidth is the width of the bar itself with its ends, in characters.
const barWidth = 30

func newBar(w io.Writer) *bar { return &bar{w: w} }

// show replaces the line.
func (b *bar) show(job *Job) {
	filled := 0
	if job.Total > 0 {
		filled = (barWidth - 2) * job.over() / job.Total
	}
	strip := strings.Repeat("=", filled) + strings.Repeat(" ", barWidth-2-filled)
	if 0 < filled && filled < barWidth-2 {
		strip = strip[:filled-1] + ">" + strip[filled:]
	}
	line := strings.Join(nonEmpty(counted(job), "["+strip+"]", pace(job), remarks(job)), "  ")
	// the line is cut because a wrapped line could not be replaced; it is ASCII
	if width := widthOf(b.w); len(line) >= width {
		line = line[:width-1]
	}
	rest := strings.Repeat(" ", max(b.shown-len(line), 0))
	fmt.Fprint(b.w, "\r"+line+rest)
	b.shown = len(line)
}

func (b *bar) close() { fmt.Fprintln(b.w) }

// widthOf returns the width of a terminal in characters, or the largest int if w is not a terminal.
func widthOf(w io.Writer) int {
	if file, ok := w.(interface{ Fd() uintptr }); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 1 {
			return width
		}
	}
	return math.MaxInt
}

func nonEmpty(parts ...string) (kept []string) {
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}

// counted formats the number of finished items, as in "7,412 of 10,000 74 %".
func counted(j *Job) string {
	if j.Total == 0 {
		return "no items"
	}
	return fmt.Sprintf("%s of %s  %d %%", grouped(j.over()), grouped(j.Total), 100*j.over()/j.Total)
}

// pace formats the speed and the remaining time of a job, as in "38/s about 1 min 8 s".
func pace(j *Job) string {
	if j.State != "running" {
		return ""
	}
	rate, left := "", ""
	if j.Rate > 0 {
		rate = strconv.FormatFloat(j.Rate, 'f', -1, 64) + "/s"
		if j.Rate >= 10 {
			rate = fmt.Sprintf("%.0f/s", j.Rate)
		}
	}
	if j.Remaining != nil {
		left = "about " + span(time.Duration(*j.Remaining)*time.Second)
	}
	return strings.Join(nonEmpty(rate, left), "  ")
}

// reasons explain why a job is held or has stopped.
var reasons = map[string]string{
	"notBefore":  "until the time that was given",
	"caller":     "until other jobs have ended",
	"budget":     "an hourly limit or the rate of the token is used up",
	"credential": "the token is revoked, or lacks a scope",
	"approval":   "until it is approved",
	"engine":     "the store does not answer",
	"lane":       "no server or session can be used",
	"errors":     "too many items failed",
	"unknown":    "the outcome of an item is unknown",
}

// remarks formats the number of items that did not succeed, as in "12 failed, 3 unknown".
func remarks(j *Job) string {
	text := strings.Join(remarksOf(j), ", ")
	if j.State == "running" || j.State == "done" || j.State == "" {
		return text
	}
	state := j.State
	if why := reasons[j.Why]; why != "" {
		state += ": " + why
	}
	return strings.Join(nonEmpty(text, state), "  ")
}

func remarksOf(j *Job) (all []string) {
	for _, part := range []struct {
		n    int
		name string
	}{{j.Failed, "failed"}, {j.Unknown, "unknown"}, {j.Skipped, "skipped"}, {j.NotRun, "not run"}} {
		if part.n > 0 {
			all = append(all, grouped(part.n)+" "+part.name)
		}
	}
	return all
}

// grouped formats a number with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span formats a duration with its two largest units, as in "1 min 8 s".
func span(d time.Duration) string {
	seconds := int(d.Seconds())
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", max(seconds, 1))
	case seconds < 3600:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	default:
		return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
	}
}

// Items formats how many items a job has and how many are finished.
func (j *Job) Items() string {
	return strings.Join(nonEmpty(counted(j), strings.Join(remarksOf(j), ", ")), "  ")
}

// Sentence describes the state of the job.
func (j *Job) Sentence() string {
	if j.State == "rejected" {
		n := len(j.Problems) + j.MoreProblems
		if n == 1 {
			return "the list is rejected because of 1 mistake"
		}
		return fmt.Sprintf("the list is rejected because of %s mistakes", grouped(n))
	}
	state := strings.ReplaceAll(j.State, "_", " ")
	if why := reasons[j.Why]; why != "" {
		state += ", " + why
	}
	if j.Noop > 0 {
		return fmt.Sprintf("%s, %s, %s had nothing to change", state, j.Items(), grouped(j.Noop))
	}
	return state + ", " + j.Items()
}

// String returns the problem with its line and column.
func (p Problem) String() string {
	place := fmt.Sprintf("line %d", p.Line)
	if p.Column > 0 {
		place += fmt.Sprintf(", column %d", p.Column)
	}
	if p.ID != "" {
		place += ", item " + p.ID
	}
	if p.Field != "" {
		place += ", " + p.Field
	}
	return place + ": " + p.Message
}
