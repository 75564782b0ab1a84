package jobclient_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/cmd/adgateway/internal/jobclient"
)

func seconds(n int) *int { return &n }

var underWay = jobclient.Job{State: "running", Total: 10_000, Waiting: 2580, Running: 8, Failed: 12,
	Unknown: 3, Rate: 38.2, Remaining: seconds(68)}

func TestLines(t *testing.T) {
	for want, job := range map[string]jobclient.Job{
		"7,412 of 10,000  74 %  38/s  about 1 min 8 s  12 failed, 3 unknown": underWay,
		"0 of 999  0 %": {State: "running", Total: 999, Waiting: 999},
		"1 of 1,000,000  0 %  0.5/s  about 3 h 5 min":                             {State: "running", Total: 1_000_000, Waiting: 999_999, Rate: 0.5, Remaining: seconds(3*3600 + 301)},
		"5 of 9  55 %  held: an hourly limit or the rate of the token is used up": {State: "held", Why: "budget", Total: 9, Waiting: 4, Rate: 3, Remaining: seconds(1)},
		"5 of 9  55 %  2 not run  paused":                                         {State: "paused", Total: 9, Waiting: 4, NotRun: 2},
		"9 of 9  100 %  1 skipped":                                                {State: "done", Total: 9, Skipped: 1},
		"no items  cancelled":                                                     {State: "cancelled"},
		"9 of 9  100 %  7 failed  failed: too many items failed":                  {State: "failed", Why: "errors", Total: 9, Failed: 7},
	} {
		var out strings.Builder
		display := jobclient.NewDisplay(&out, false, time.Now)
		display.Show(&job)
		display.Close()
		assert.Equal(t, want+"\n", out.String())
	}
}

// Without a terminal, there is one line every five seconds and one at the end.
func TestLinesAreRare(t *testing.T) {
	now := time.Unix(0, 0)
	var out strings.Builder
	display := jobclient.NewDisplay(&out, false, func() time.Time { return now })
	for i := range 12 {
		display.Show(&jobclient.Job{State: "running", Total: 100, Waiting: 100 - i})
		now = now.Add(time.Second)
	}
	display.Show(&jobclient.Job{State: "done", Total: 100})
	assert.Equal(t, "0 of 100  0 %\n5 of 100  5 %\n10 of 100  10 %\n100 of 100  100 %\n", out.String())
}

func TestBar(t *testing.T) {
	var out strings.Builder
	display := jobclient.NewDisplay(&out, true, time.Now)
	display.Show(&jobclient.Job{State: "running", Total: 999, Waiting: 999})
	assert.Equal(t, "\r0 of 999  0 %  ["+strings.Repeat(" ", 28)+"]", out.String())
	out.Reset()
	display.Show(&underWay)
	assert.Equal(t, "\r7,412 of 10,000  74 %  ["+strings.Repeat("=", 19)+">"+strings.Repeat(" ", 8)+
		"]  38/s  about 1 min 8 s  12 failed, 3 unknown", out.String())
	before := out.Len()
	out.Reset()
	display.Show(&jobclient.Job{State: "done", Total: 10_000})
	assert.Equal(t, "10,000 of 10,000  100 %  ["+strings.Repeat("=", 28)+"]",
		strings.TrimRight(out.String()[1:], " "))
	assert.Equal(t, before, out.Len(), "nothing is left of the line before")
	out.Reset()
	display.Show(&jobclient.Job{State: "cancelled"})
	assert.Contains(t, out.String(), "\rno items  ["+strings.Repeat(" ", 28)+"]  cancelled ")
	out.Reset()
	display.Close()
	assert.Equal(t, "\n", out.String())

	display = jobclient.NewDisplay(&out, true, time.Now)
	display.Close() // there was no answer
	assert.Equal(t, "\n", out.String())
}

func TestSentences(t *testing.T) {
	for want, job := range map[string]jobclient.Job{
		"running, 7,412 of 10,000  74 %  12 failed, 3 unknown": underWay,
		"done, 9 of 9  100 %, 4 had nothing to change":         {State: "done", Total: 9, Done: 5, Noop: 4},
		"the list is rejected because of 1 mistake":            {State: "rejected", Problems: []jobclient.Problem{{}}},
		"the list is rejected because of 1,002 mistakes":       {State: "rejected", Problems: []jobclient.Problem{{}, {}}, MoreProblems: 1000},
		"held, until the time that was given, 0 of 9  0 %":     {State: "held", Why: "notBefore", Total: 9, Waiting: 9},
	} {
		assert.Equal(t, want, job.Sentence())
	}
	for want, p := range map[string]jobclient.Problem{
		"line 2: x":                         {Line: 2, Message: "x"},
		"line 2, column 3, item a, City: x": {Line: 2, Column: 3, ID: "a", Field: "City", Message: "x"},
	} {
		assert.Equal(t, want, p.String())
	}
}
