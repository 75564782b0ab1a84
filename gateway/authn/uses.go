package authn

import (
	"encoding/json"
	"maps"
	"os"
	"time"
)

// The times of last use are in a separate file next to the credential file, because a server must
// not rewrite the latter for statistics. If the file is lost, only these times are lost.
const (
	usesSuffix = ".used"
	flushEvery = 30 * time.Second
)

// uses is the content of the file of last uses.
type uses struct {
	path    string
	written map[string]int64 // Unix seconds by account ID
}

func (u *uses) load() map[string]int64 {
	text, err := os.ReadFile(u.path)
	if err != nil || json.Unmarshal(text, &u.written) != nil {
		u.written = nil
	}
	return u.written
}

// flush saves the times of last use if they have changed.
func (s *Store) flush() {
	s.mu.Lock()
	used := map[string]int64{}
	for id, last := range s.used {
		if at := last.Load(); at != 0 {
			used[id] = at
		}
	}
	s.mu.Unlock()
	if maps.Equal(used, s.uses.written) {
		return
	}
	text, _ := json.Marshal(used) // strings and numbers always encode
	if err := (File{Path: s.uses.path, Guardian: s.options.File.Guardian}).replace(text); err != nil {
		s.options.Log(true, "the last use of credentials cannot be saved", map[string]any{"cause": err.Error()})
		return
	}
	s.uses.written = used
}

// LastUses returns the time of each account's last use, by account ID. A running server saves these
// times twice a minute.
func (f File) LastUses() map[string]time.Time {
	last := map[string]time.Time{}
	for id, at := range (&uses{path: f.Path + usesSuffix}).load() {
		last[id] = time.Unix(at, 0).UTC()
	}
	return last
}
