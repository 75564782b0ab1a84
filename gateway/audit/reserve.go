package audit

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// The log has reserved space on the disk: a file beside it that is given up when the disk is full,
// so that changes can still be recorded, and is made again once there is room.

// reserveSuffix is what the name of that file ends in.
const reserveSuffix = ".reserve"

// reserveAgain is the pause between attempts to make the file again.
const reserveAgain = time.Minute

// reserve is the space that a log has reserved. The holder of the log's writing uses it.
type reserve struct {
	o       *Options
	held    bool
	triedAt time.Time
}

// ensure reserves the space, if it is not reserved and the disk has room for it.
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

// fill makes a file of a size, whose blocks are all there.
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

// giveUp frees the space because of an error, and reports whether what has failed may work now.
func (r *reserve) giveUp(cause error) bool {
	if !r.held || !isFull(cause) {
		return false
	}
	r.held, r.triedAt = false, r.o.now()
	return os.Remove(r.o.File+reserveSuffix) == nil
}

// isFull reports whether an error says that the disk, or what the account may have of it, is full.
func isFull(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull, quotaExceeded = syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull) || errors.Is(err, quotaExceeded)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
