package audit

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// accounted is the greatest time between two consecutive lines, or between the ends of a file, that counts
// towards age. A longer time means a jump of the clock or a long stop. It counts as zero, so that a wrong
// clock does not make files old.
const accounted = 7 * 24 * time.Hour

// extent describes a rotated file, which is never written again.
type extent struct {
	first, last time.Time // of its lines; zero if unknown
	size        int64
}

// ErrSpent is the error of changes when the log has used up its space.
var ErrSpent = errors.New("it has used the space that it may use (audit.maxTotal), and nothing of it is " +
	"old enough to be removed (audit.keepFor)")

// elapsed returns the time between two lines, or 0 if it is too long to count.
func (c *chain) elapsed(from, to time.Time) time.Duration {
	limit := max(accounted, c.o.MaxAge+24*time.Hour)
	if d := to.Sub(from); !from.IsZero() && !to.IsZero() && d.Abs() <= limit {
		return d
	}
	return 0
}

// extents returns the rotated files, oldest first, with their extents.
func (c *chain) extents() ([]string, []extent, error) {
	paths, err := rotatedFiles(c.o.File)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]extent{}
	all := make([]extent, len(paths))
	for i, path := range paths {
		e, ok := c.extent[path]
		if !ok {
			e = c.read(path)
		}
		known[path], all[i] = e, e
	}
	c.extent = known
	return paths, all, nil
}

// read returns the extent of a file according to its lines, not to the file system. Times that
// cannot be read are zero.
func (c *chain) read(path string) extent {
	f, err := os.Open(path)
	if err != nil {
		return extent{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return extent{}
	}
	e := extent{size: info.Size()}
	first, last, rest, err := c.ends(f, info.Size())
	if err != nil {
		return e
	}
	if c.whole(rest) {
		last = rest
	}
	e.first, e.last = timeOf(first), timeOf(last)
	return e
}

// timeOf returns the time of a line, or zero.
func timeOf(raw []byte) time.Time {
	line, _, _, err := parse(raw)
	if err != nil {
		return time.Time{}
	}
	at, err := time.Parse(timeFormat, line.Time)
	if err != nil {
		return time.Time{}
	}
	return at
}

// expire marks for removal the oldest rotated files whose last line is older than Options.KeepFor,
// and counts the bytes of the others. The age of a line is the sum of the times from that line to
// now.
func (c *chain) expire() error {
	paths, all, err := c.extents()
	if err != nil {
		return err
	}
	ages := make([]time.Duration, len(all))
	age := c.elapsed(c.lastAt, c.o.now())
	next := c.lastAt // time of the line that follows
	if c.f != nil && !c.startedAt.IsZero() {
		age += c.elapsed(c.startedAt, c.lastAt)
		next = c.startedAt
	}
	for i := len(all) - 1; i >= 0; i-- {
		age += c.elapsed(all[i].last, next)
		ages[i] = age
		age += c.elapsed(all[i].first, all[i].last)
		next = all[i].first
	}
	c.rotated, c.expired = 0, nil
	old := c.o.KeepFor > 0
	for i, path := range paths {
		if old = old && ages[i] >= c.o.KeepFor; old {
			c.expired = append(c.expired, path)
		} else {
			c.rotated += all[i].size
		}
	}
	return nil
}

// expirations returns the lines that announce the removal of files.
func (c *chain) expirations() []*Line {
	var lines []*Line
	for _, path := range c.expired {
		lines = append(lines, &Line{Event: EventExpired, File: filepath.Base(path), Through: rotatedThrough(path)})
	}
	return lines
}

// reserve returns the part of the space that is reserved for the outcomes of calls that are running when the
// rest is used up.
func (o *Options) reserve() int64 { return min(o.MaxTotal/10, 16<<20) }

// room returns an error if no change can be recorded. When the space is used up, it looks for files
// that can be removed, or that somebody has moved away.
func (l *Log) room() error {
	if l.o.MaxTotal <= 0 || !l.spent() {
		return nil
	}
	l.writing.Lock()
	err := l.out.expire()
	l.measure()
	old := len(l.out.expired) > 0
	l.writing.Unlock()
	if err == nil && old {
		err = l.append()
	}
	if err == nil && l.spent() {
		err = ErrSpent
	}
	return err
}

// measure updates the space that the log uses, and reports when it is almost used up. The caller
// holds l.writing.
func (l *Log) measure() {
	used := l.out.rotated + max(l.out.size, 0)
	l.mu.Lock()
	l.used = used
	l.mu.Unlock()
	warning := l.Warning()
	if warned := warning != ""; warned != l.points.warned {
		l.points.warned = warned
		if warned {
			l.notice("the audit log is about to be full", map[string]any{"error": warning, "file": l.o.File})
		}
	}
}

// short reports whether the space for changes is used up, or the disk is almost full.
func (l *Log) short() bool { return l.spent() || l.o.Low != nil && l.o.Low() }

// spent reports whether the space for changes is used up.
func (l *Log) spent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.o.MaxTotal > 0 && l.used >= l.o.MaxTotal-l.o.reserve()
}
