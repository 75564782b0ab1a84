package store

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// eraser overwrites the free pages of a file with zeros. Package bbolt writes each change to other
// pages, and keeps what was in those before until it needs them: a value that is removed can be
// read in the file long afterwards.
type eraser struct {
	kinds []Kind // whose removed values are erased

	mu      sync.Mutex
	again   bool          // a value was removed since the last pass began
	running chan struct{} // closed when the goroutine ends that erases; nil: there is none
	stopped bool
}

const (
	erasedAtOnce = 256 // pages, in one transaction
	readersWait  = 20 * time.Millisecond
)

// erase has free pages erased if the changes remove or replace values of the kinds for which
// that was asked.
func (f *File) erase(changes []Change) {
	if slices.ContainsFunc(changes, func(c Change) bool { return slices.Contains(f.eraser.kinds, c.Kind) }) {
		f.eraseFree()
	}
}

// eraseFree erases the pages that are free now, while the file is used.
func (f *File) eraseFree() {
	e := &f.eraser
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.again = true; e.running == nil && !e.stopped {
		e.running = make(chan struct{})
		go f.eraseAll()
	}
}

// eraseAll makes passes until none is wanted.
func (f *File) eraseAll() {
	e := &f.eraser
	for {
		e.mu.Lock()
		if !e.again || e.stopped {
			close(e.running)
			e.running = nil
			e.mu.Unlock()
			return
		}
		e.again = false
		e.mu.Unlock()
		err := f.erasePass()
		f.mu.Lock()
		f.state.Unerased = err
		f.mu.Unlock()
	}
}

// stop lets the pass that is being made end at its next transaction, and waits for that.
func (e *eraser) stop() {
	e.mu.Lock()
	e.stopped = true
	running := e.running
	e.mu.Unlock()
	waitFor(running)
}

func (e *eraser) ends() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped
}

// erasePass erases the commit log, and each page of the file that is free.
func (f *File) erasePass() (err error) {
	if err = f.eraseCommits(); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for from, more := 0, true; more && !f.eraser.ends(); {
		var done bool
		if done, more, err = f.eraseSome(file, from); err != nil {
			return err
		}
		if !done {
			time.Sleep(readersWait)
			continue
		}
		from += erasedAtOnce
	}
	return file.Sync()
}

// eraseSome erases the free pages of a part of the file, and reports whether there are more. It
// does nothing while somebody reads: the reader may have begun when the pages were in use. Nobody
// is kept waiting for longer than these pages take.
func (f *File) eraseSome(file *os.File, from int) (done, more bool, err error) {
	tx, err := f.db.Begin(true)
	if err != nil {
		return false, false, closed(err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if !f.pages.TryLock() {
		return false, true, nil
	}
	defer f.pages.Unlock()
	info, err := file.Stat()
	if err != nil {
		return false, false, err
	}
	size := int64(tx.DB().Info().PageSize)
	content, zeros := make([]byte, size), make([]byte, size)
	end := min(from+erasedAtOnce, int(info.Size()/size))
	for id := max(from, 2); id < end; id++ { // two pages say where the others are
		page, err := tx.Page(id)
		if err != nil {
			return false, false, err
		}
		if page != nil && page.Type != "free" { // nil: behind the last one
			continue
		}
		at := int64(id) * size
		if _, err = file.ReadAt(content, at); err != nil && !errors.Is(err, io.EOF) {
			return false, false, err
		}
		if slices.Compare(content, zeros) == 0 {
			continue
		}
		if _, err = file.WriteAt(zeros, at); err != nil {
			return false, false, err
		}
	}
	return true, int64(end) < info.Size()/size, nil
}
