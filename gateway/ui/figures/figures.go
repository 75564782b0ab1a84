// Package figures collects the operating figures that the status page shows.
package figures

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figures are the operating figures of the gateway. The status page shows them to people with ops:read.
type Figures struct {
	Lanes       []Lane
	Certificate time.Time // when it expires; zero if there is none
	Minutes     []Minute  // of the last hour, oldest first
}

// Lane is a lane of PowerShell sessions and its server.
type Lane struct {
	Name                               string
	Busy, Idle, Starting, Max, Waiting int
	Server                             string    // empty if no server answers
	Since                              time.Time // when the server was pinned
	Failovers                          int
	Trouble                            string // reason why sessions cannot be started; empty if they can
}

// Minute counts the calls in a minute.
type Minute struct {
	Start  time.Time
	Calls  int
	Errors int // calls with a status of 500 or above
}

// SinceText returns the time at which the server was pinned, for templates.
func (l Lane) SinceText() string { return stamp(l.Since) }

// Ends returns the expiry time of the certificate, for templates.
func (f Figures) Ends() string { return stamp(f.Certificate) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Sum returns the number of calls and errors in the hour.
func (f Figures) Sum() (sum Minute) {
	for _, m := range f.Minutes {
		sum.Calls += m.Calls
		sum.Errors += m.Errors
	}
	return sum
}

// quarter is a quarter of the hour, which is a row of the table with the same content as the graph.
type quarter struct {
	From, To      string
	Calls, Errors int
}

// In returns a copy of the figures with the times of the minutes in another zone.
func (f Figures) In(zone *time.Location) Figures {
	f.Minutes = slices.Clone(f.Minutes)
	for i := range f.Minutes {
		f.Minutes[i].Start = f.Minutes[i].Start.In(zone)
	}
	return f
}

// Quarters returns the hour in four parts.
func (f Figures) Quarters() []quarter {
	var all []quarter
	for from := 0; from < len(f.Minutes); from += 15 {
		part := f.Minutes[from:min(from+15, len(f.Minutes))]
		sum := Figures{Minutes: part}.Sum()
		all = append(all, quarter{
			part[0].Start.Format("15:04"),
			part[len(part)-1].Start.Add(time.Minute).Format("15:04"), sum.Calls, sum.Errors,
		})
	}
	return all
}

// The size of the graph in its own units. A minute is graphStep wide.
const (
	graphStep   = 4
	graphHeight = 60
)

// Width returns the width of the graph.
func (f Figures) Width() int { return graphStep * len(f.Minutes) }

// Calls returns the graph of the calls as an SVG path.
func (f Figures) Calls() string { return f.bars(func(m Minute) int { return m.Calls }) }

// Errors returns the graph of the errors as an SVG path.
func (f Figures) Errors() string { return f.bars(func(m Minute) int { return m.Errors }) }

func (f Figures) bars(value func(Minute) int) string {
	most := 1
	for _, m := range f.Minutes {
		most = max(most, m.Calls)
	}
	var path strings.Builder
	for i, m := range f.Minutes {
		if n := value(m); n > 0 {
			height := max(1, n*graphHeight/most)
			fmt.Fprintf(&path, "M%d %dv%dh3v-%dz", i*graphStep, graphHeight-height, height, height)
		}
	}
	return path.String()
}
