package auth

import (
	"encoding/json"
	"maps"
	"os"
	"time"
)

// When accounts were last used stands in a file of its own beside the store's:
// a server that counts must never write what is in force. Losing it loses
// nothing but the times.
const (
	usesSuffix = ".used"
	flushEvery = 30 * time.Second
)

// uses is that file.
type uses struct {
	path    string
	written map[string]int64 // Unix seconds by id
}

func (u *uses) load() map[string]int64 {
	text, err := os.ReadFile(u.path)
	if err != nil || json.Unmarshal(text, &u.written) != nil {
		u.written = nil
	}
	return u.written
}

// flush writes down when accounts were last used, if that has changed.
func (s *Store) flush() {
	s.mu.Lock()
	used := map[string]int64{}
	for id, m := range s.meters {
		if at := m.lastUse.Load(); at != 0 {
			used[id] = at
		}
	}
	s.mu.Unlock()
	if maps.Equal(used, s.uses.written) {
		return
	}
	text, _ := json.Marshal(used) // text and numbers are always encoded
	if err := (File{Path: s.uses.path, Guardian: s.options.File.Guardian}).replace(text); err != nil {
		s.options.Log(true, "it cannot be written down when credentials were last used", map[string]any{"cause": err.Error()})
		return
	}
	s.uses.written = used
}

// LastUses tells when accounts were last used, by id, as far as it is written
// down: a running server does so twice a minute.
func (f File) LastUses() map[string]time.Time {
	last := map[string]time.Time{}
	for id, at := range (&uses{path: f.Path + usesSuffix}).load() {
		last[id] = time.Unix(at, 0).UTC()
	}
	return last
}
