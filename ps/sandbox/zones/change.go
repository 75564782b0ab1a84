package zones

import "time"

// Change describes one write; see [Config].
type Change struct {
	Call   int // the same for all changes of one call
	Time   time.Time
	Server string
	Writer string // see [Server.As]
	// "create zone", "remove zone", "set zone", "set aging", "add record", "change record", "remove
	// record"
	Op     string
	Zone   string
	Before string // the record in zone file form, or empty
	After  string
}

// note reports the only change of a call. Store.mu is held.
func (st *Store) note(s *Server, op string, z *zone, before, after *Record) {
	st.calls++
	st.noteMore(s, op, z, before, after)
}

// noteMore reports another change of the current call. Store.mu is held.
func (st *Store) noteMore(s *Server, op string, z *zone, before, after *Record) {
	if st.onChange == nil {
		return
	}
	c := Change{Call: st.calls, Time: st.now().UTC(), Server: s.server.Name, Writer: s.writer, Op: op,
		Zone: z.Name}
	if before != nil {
		c.Before = before.Text()
	}
	if after != nil {
		c.After = after.Text()
	}
	st.onChange(c)
}
