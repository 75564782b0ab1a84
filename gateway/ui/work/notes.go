package work

import (
	"net/http"
	"slices"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// A person is notified once when a list has ended: on the next page, or immediately on an open page. The
// running lists are stored for the person, because the notification may be sent in another session or by
// another gateway.

const (
	notesName   = "running lists"
	mostWatched = 20 // maximum number of watched lists; beyond it the oldest is dropped
	watchTries  = 5
)

// watched contains the lists about whose end the person has not been notified yet.
type watched struct{ Jobs []string }

// rewatch changes the watched lists. If the store is unavailable, the person is not notified.
func rewatch(c *frame.Visit, change func([]string) []string) {
	for range watchTries {
		var now watched
		at, err := c.Session.Recall(c.R.Context(), notesName, &now)
		if err != nil {
			return
		}
		next := change(slices.Clone(now.Jobs))
		if slices.Equal(next, now.Jobs) || c.Session.Remember(c.R.Context(), notesName, at, watched{next}) == nil {
			return
		}
	}
}

// watch starts to watch a list.
func watch(c *frame.Visit, job string) {
	rewatch(c, func(all []string) []string {
		if slices.Contains(all, job) {
			return all
		}
		return append(all[max(0, len(all)+1-mostWatched):], job)
	})
}

// seen stops watching a list, because the person has seen its outcome.
func seen(c *frame.Visit, job string) {
	rewatch(c, func(all []string) []string {
		return slices.DeleteFunc(all, func(other string) bool { return other == job })
	})
}

// Notes returns notes about lists that have ended since the last notification. open reports whether other
// lists are still running.
func Notes(c *frame.Visit) (notes []frame.Note, open bool) {
	var now watched
	at, err := c.Session.Recall(c.R.Context(), notesName, &now)
	if err != nil || len(now.Jobs) == 0 {
		return nil, false
	}
	left := slices.DeleteFunc(slices.Clone(now.Jobs), func(id string) bool {
		a := c.Call("job.get", call.Values{JobID: id})
		if a.Status == http.StatusNotFound || a.Status == http.StatusForbidden {
			return true // the job was removed, or the person may no longer see it
		}
		for _, j := range frame.Records[Job](a) {
			if !j.open() {
				notes = append(notes, j.note())
				return true
			}
		}
		return false
	})
	if len(left) < len(now.Jobs) && c.Session.Remember(c.R.Context(), notesName, at, watched{left}) != nil {
		notes = nil // another page shows the notes
	}
	return notes, len(left) > 0
}

// note returns the note about the end of a list.
func (j Job) note() frame.Note {
	n := frame.Note{Path: say.Address("jobs", j.ID), Good: jobstate.Job(j.State) == jobstate.Done}
	n.Text = texts.Of("note.ended", "what", j.title(), "state", say.WordOf("job.state", j.State).Text,
		"progress", j.Progress().Text)
	if more := j.notDone(); more != nil {
		n.Good, n.More = false, more
	}
	return n
}

// NoteEvents sends notes to an open page as events "note", and one event "end" when no list is running.
func NoteEvents(c *frame.Visit) {
	events := frame.NewEvents(c)
	again, over := time.NewTicker(progressEvery), time.NewTimer(progressFor)
	defer again.Stop()
	defer over.Stop()
	for {
		notes, open := Notes(c)
		if len(notes) > 0 && !events.Send("note", "message", "notes", notes) {
			return
		}
		if !open {
			events.Send("end", "message", "notes", []frame.Note{})
			return
		}
		if len(notes) == 0 && !events.Alive() {
			return
		}
		select {
		case <-again.C:
		case <-over.C:
			return
		case <-c.R.Context().Done():
			return
		}
	}
}
