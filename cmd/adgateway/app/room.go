package app

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway/bounds"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/gateway/spool"
	"adgateway/ps/sorted"
	"adgateway/winsvc/host"
)

// roomOf returns the free space on the disks of the store and
// the audit log, or nil if the gateway writes neither to a disk.
func roomOf(o Options) *bounds.Room {
	folders := keptIn(o.Settings)
	if len(folders) == 0 {
		return nil
	}
	free := func() (int64, error) { return leastFree(folders, host.FreeSpace) }
	return bounds.NewRoom(free, int64(o.Settings.Store.KeptFree()), time.Now)
}

// spoolRoomOf returns the free space for the temporary files of lists.
func spoolRoomOf(s *config.Settings) *bounds.Room {
	folder := cmp.Or(s.HTTP.SpoolFolder, os.TempDir())
	free := func() (int64, error) { return leastFree([]string{folder}, host.FreeSpace) }
	return bounds.NewRoom(free, int64(s.Store.KeptFree()), time.Now)
}

// spillOf returns a function that opens temporary files for sorting lists, or nil if the settings allow no
// such files.
func spillOf(s *config.Settings, log func(string, map[string]any)) func() sorted.File {
	o := options.Gateway(s).Spool
	if o.Most <= 0 {
		return nil
	}
	room := spoolRoomOf(s)
	o.Share = func() int64 { // any list may use all of it
		if room.Low() {
			return 0
		}
		return o.Most
	}
	space := spool.New(o, failing(log, "no temporary file can be used to sort a list, which is kept in memory"))
	return func() sorted.File { return &spilled{file: space.File(identity.ID{})} }
}

// spilled is the [sorted.File] of a list.
type spilled struct {
	file   *spool.File
	pieces []spool.Piece
}

// Put implements [sorted.File].
func (f *spilled) Put(block []byte) error {
	piece, err := f.file.Put(block, make([]byte, 0, len(block)+spool.Overhead))
	if err == nil {
		f.pieces = append(f.pieces, piece)
	}
	return err
}

// Get implements [sorted.File].
func (f *spilled) Get(number int, buffer []byte) ([]byte, error) {
	return f.file.Get(f.pieces[number], buffer[:0])
}

// Close implements [sorted.File].
func (f *spilled) Close() { f.file.Close() }

// keptIn returns the folders that contain the store and the audit log.
func keptIn(s *config.Settings) (folders []string) {
	if path := s.Store.File; path != "" && path != config.AuditOff {
		folders = append(folders, filepath.Dir(path))
	}
	if audited(s.Audit) {
		folders = append(folders, filepath.Dir(s.Audit.File))
	}
	return folders
}

// leastFree returns the smallest free space of the folders.
func leastFree(folders []string, free func(folder string) (uint64, error)) (least int64, err error) {
	least = -1
	for _, folder := range folders {
		bytes, err := free(folder)
		if err != nil {
			return 0, err
		}
		if least < 0 || int64(bytes) < least {
			least = int64(bytes)
		}
	}
	return least, nil
}

// failing returns a function that logs an error with a message.
func failing(log func(string, map[string]any), message string) func(error) {
	return func(err error) { log(message, map[string]any{"error": err.Error()}) }
}
