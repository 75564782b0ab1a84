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

// A process cannot read a store's file while another one has it open. It asks for a copy by creating a
// request file next to the store, which only accounts with write access to that folder can do. The process
// that has the store open answers with a copy next to the store, or with a text file that contains the error.
// When the store is opened, leftover requests and answers are removed.

const (
	askMark    = copyMark + "request"
	failedMark = ".failed"
	askEvery   = time.Second // interval at which requests are looked for
	lookEvery  = 100 * time.Millisecond
)

// askID is the content of a request. The answer to it carries the same content.
var askID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

func answerOf(path, id string) string { return path + copyMark + id }

// ErrNoAnswer means that the process that has the store open did not make the copy.
var ErrNoAnswer = errors.New("no copy of the store was made")

// AnswerCopies makes the copies that [AskForCopy] requests, until ctx ends. It calls problem with
// the error of each copy that fails.
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

// copyAs copies the store into a file, which gets its name only once it is complete.
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

// AskForCopy asks the process that has the store in a file open for a copy, and returns the name of the
// copy's file. The copy is for [Install], and the caller removes the file. AskForCopy waits for at most the
// duration wait, and then fails with [ErrNoAnswer].
func AskForCopy(ctx context.Context, path string, wait time.Duration) (name string, err error) {
	id := rand.Text()
	ask, answer := path+askMark, answerOf(path, id)
	if err := createAsk(ask, id); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			for _, left := range []string{answer, answer + failedMark} {
				_ = os.Remove(left) // the file may not exist
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

// createAsk creates a request atomically. It fails with [ErrNoAnswer] if there already is a request.
func createAsk(ask, id string) error {
	beside := ask + "-" + id
	if err := os.WriteFile(beside, []byte(id), 0o644); err != nil { // the service account must read it
		return err
	}
	err := os.Link(beside, ask) // fails if there is a request already
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: somebody asks for a copy already (%s)", ErrNoAnswer, ask)
	}
	return errors.Join(err, os.Remove(beside))
}
