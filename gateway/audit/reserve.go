package audit

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// The log reserves space on the disk with a file next to it. When the disk is full, the file is deleted, so
// that changes can still be recorded. It is created again once there is space.

// reserveSuffix is the end of that file's name.
const reserveSuffix = ".reserve"

// reserveAgain is the pause between attempts to create the file again.
const reserveAgain = time.Minute

// reserve is the reserved space of a log. The holder of [Log].writing uses it.
type reserve struct {
	o       *Options
	held    bool
	triedAt time.Time
}

// ensure reserves the space if it is not reserved yet and the disk has space for it.
func (r *reserve) ensure() {
	now := r.o.now()
	if r.o.Reserve <= 0 || r.held || !r.triedAt.IsZero() && now.Sub(r.triedAt).Abs() < reserveAgain {
		return
	}
	r.triedAt = now
	path := r.o.File + reserveSuffix
	if info, err := os.Stat(path); err == nil && info.Size() == r.o.Reserve {
		r.held = true
		return
	}
	if r.o.Low != nil && r.o.Low() {
		return
	}
	if err := fill(path, r.o.Reserve); err != nil {
		_ = os.Remove(path)
		return
	}
	r.held = true
}

// fill creates a file of the given size with all its blocks allocated.
func fill(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	block := make([]byte, 64<<10)
	for i := range block {
		block[i] = byte(i * 7) // not zeros, which some file systems do not store
	}
	for left := size; left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// giveUp frees the space after an error, and reports whether a retry may succeed.
func (r *reserve) giveUp(cause error) bool {
	if !r.held || !isFull(cause) {
		return false
	}
	r.held, r.triedAt = false, r.o.now()
	return os.Remove(r.o.File+reserveSuffix) == nil
}

// isFull reports whether an error means that the disk or the account's quota is full.
func isFull(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull, quotaExceeded = syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull) || errors.Is(err, quotaExceeded)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
