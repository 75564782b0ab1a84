package store

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// eraser overwrites the free pages of a file with zeros. Package bbolt writes each change to new pages and
// does not clear the previous ones until it reuses them, so a removed value could be read from the file long
// afterwards.
type eraser struct {
	kinds []Kind // whose removed values are erased

	mu      sync.Mutex
	again   bool          // a value was removed since the last pass began
	running chan struct{} // closed when the erasing goroutine ends; nil if none runs
	stopped bool
}

const (
	erasedAtOnce = 256 // pages per transaction
	readersWait  = 20 * time.Millisecond
)

// erase starts erasing if the changes remove or replace values of the erased kinds.
func (f *File) erase(changes []Change) {
	if slices.ContainsFunc(changes, func(c Change) bool { return slices.Contains(f.eraser.kinds, c.Kind) }) {
		f.eraseFree()
	}
}

// eraseFree starts to erase the free pages in the background.
func (f *File) eraseFree() {
	e := &f.eraser
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.again = true; e.running == nil && !e.stopped {
		e.running = make(chan struct{})
		go f.eraseAll()
	}
}

// eraseAll makes passes until no further one is requested.
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

// stop ends the running pass at its next transaction, and waits for that.
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

// erasePass erases the commit log and each free page of the file.
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

// eraseSome erases the free pages in one part of the file. more reports whether there are further parts. If a
// read transaction is open, it erases nothing, because the reader may have begun while the pages were in use.
// Other transactions wait only as long as it takes to erase these pages.
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
	for id := max(from, 2); id < end; id++ { // the first two pages are meta pages
		page, err := tx.Page(id)
		if err != nil {
			return false, false, err
		}
		if page != nil && page.Type != "free" { // nil after the last page
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
