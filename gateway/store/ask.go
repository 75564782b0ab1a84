package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"time"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/every"
)

// Another process cannot read the file of a store that is open. It asks for a copy by a file beside
// the store. Only an account that may write there anyway can make one. The process that has the
// store open puts a copy beside the file, or a text that says why there is none. Leftovers of
// either are removed when the store is opened.

const (
	askMark    = copyMark + "request"
	failedMark = ".failed"
	askEvery   = time.Second // how often it is looked for
	lookEvery  = 100 * time.Millisecond
)

// askID is the content of a request. The answer to it carries the same content.
var askID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

func answerOf(path, id string) string { return path + copyMark + id }

// ErrNoAnswer means that the process that has the store open did not make the copy.
var ErrNoAnswer = errors.New("no copy of the store was made")

// AnswerCopies makes the copies that [AskForCopy] asks for, until ctx ends. problem is called
// with why there is none.
func (f *File) AnswerCopies(ctx context.Context, problem func(error)) {
	every.Do(ctx, askEvery, func() {
		if err := f.answerCopy(ctx); err != nil && ctx.Err() == nil {
			problem(err)
		}
	})
}

func (f *File) answerCopy(ctx context.Context) error {
	ask := f.path + askMark
	text, err := os.ReadFile(ask)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err = errors.Join(err, os.Remove(ask))
	if err != nil || !askID.Match(text) {
		return err
	}
	answer := answerOf(f.path, string(text))
	if err = f.copyAs(ctx, answer); err != nil {
		err = errors.Join(err, atomicfile.Write(answer+failedMark, []byte(err.Error()), nil))
	}
	return err
}

// copyAs copies the store into a file, which has its name as soon as it is whole.
func (f *File) copyAs(ctx context.Context, name string) error {
	beside, err := createBeside(f.path)
	if err != nil {
		return err
	}
	_, err = f.CopyTo(ctx, beside)
	if err = errors.Join(err, beside.Close()); err == nil {
		err = atomicfile.Replace(beside.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(beside.Name()))
	}
	return err
}

// AskForCopy asks the process that has the store in a file open for a copy, which [Install]
// takes, and returns the name of the file with it, which the caller removes. It waits for as
// long as wait; [ErrNoAnswer] says what did not happen.
func AskForCopy(ctx context.Context, path string, wait time.Duration) (name string, err error) {
	id := rand.Text()
	ask, answer := path+askMark, answerOf(path, id)
	if err := createAsk(ask, id); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			for _, left := range []string{answer, answer + failedMark} {
				_ = os.Remove(left) // it may not be there
			}
			if text, unread := os.ReadFile(ask); unread == nil && string(text) == id {
				_ = os.Remove(ask)
			}
		}
	}()
	over := time.NewTimer(wait)
	defer over.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if _, err := os.Stat(answer); err == nil {
			return answer, nil
		}
		if text, err := os.ReadFile(answer + failedMark); err == nil {
			return "", fmt.Errorf("%w: %s", ErrNoAnswer, text)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-over.C:
			if _, err := os.Stat(ask); err == nil {
				return "", fmt.Errorf("%w: the process that has %s open did not take the request within %s: it hangs, "+
					"or it is older than this command", ErrNoAnswer, path, wait)
			}
			return "", fmt.Errorf("%w: the process that has %s open did not finish it within %s", ErrNoAnswer, path,
				wait)
		}
	}
}

// createAsk creates a request whole, unless there is one.
func createAsk(ask, id string) error {
	beside := ask + "-" + id
	if err := os.WriteFile(beside, []byte(id), 0o644); err != nil { // for the account of a service
		return err
	}
	err := os.Link(beside, ask) // fails if there is one
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: somebody asks for a copy already (%s)", ErrNoAnswer, ask)
	}
	return errors.Join(err, os.Remove(beside))
}
