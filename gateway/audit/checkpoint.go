package audit

import "time"

// checkpointLines is the number of lines after which the end of the log is recorded elsewhere even before
// Options.Checkpoint has passed. That happens at most ten times per Options.Checkpoint.
const checkpointLines = 1000

// checkpoints records when the end of the log was last recorded elsewhere. [Log].writing guards it.
type checkpoints struct {
	seq    uint64
	at     time.Time
	timer  *time.Timer // runs if there are lines after seq
	failed bool        // the anchor could not be written
	warned bool        // whether a notice has reported that the space is almost used up
	over   bool
}

// checkpoint records the end of the log outside of its files, in the anchor and by a notice, if a
// checkpoint is due or message is not empty. The caller holds l.writing.
func (l *Log) checkpoint(message string) {
	p, now, seq := &l.points, l.o.now(), l.out.seq
	if message == "" {
		if l.o.Checkpoint <= 0 {
			return
		}
		lines, elapsed := seq-p.seq, now.Sub(p.at)
		if lines > 0 && p.timer == nil && !p.over {
			p.timer = time.AfterFunc(l.o.Checkpoint, l.checkpointLate)
		}
		if lines == 0 || elapsed < l.o.Checkpoint && (lines < checkpointLines || elapsed < l.o.Checkpoint/10) &&
			elapsed >= 0 {
			return
		}
		message = "audit log goes on"
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.seq, p.at = seq, now
	l.notice(message, map[string]any{"sequence": seq, "hash": l.out.last, "file": l.o.File})
	err := l.out.writeAnchor()
	if failed := err != nil; failed != p.failed {
		p.failed = failed
		if failed {
			l.notice("the end of the audit log cannot be written to its anchor",
				map[string]any{"error": err.Error(), "anchor": l.o.Anchor})
		} else {
			l.notice("the end of the audit log can be written to its anchor again",
				map[string]any{"anchor": l.o.Anchor})
		}
	}
}

// checkpointLate makes a checkpoint if lines were written since the last one but none for a while.
func (l *Log) checkpointLate() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if !l.points.over && l.out.seq > l.points.seq {
		l.checkpoint("audit log goes on")
	}
}
