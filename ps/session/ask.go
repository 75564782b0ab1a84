package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxAnswer is how much [Ask] takes of what PowerShell writes.
const maxAnswer = 1 << 20

// Ask starts a PowerShell with the arguments that sessions have, gives it lines
// to run one by one, and returns what it has written when it has ended. It needs
// nothing of what a session needs, so that it can tell why there is none. When
// ctx ends, the process is killed.
func Ask(ctx context.Context, starter Starter, lines string) (string, error) {
	waiter, stdin, stdout, stderr, err := starter.StartProcess("", arguments...)
	if err != nil {
		return "", err
	}
	process, canKill := waiter.(killer)
	input, canClose := stdin.(io.Closer)
	if !canKill || !canClose {
		return "", errors.New("the Starter's process can be neither ended nor closed")
	}
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() }) // it has ended where this fails
	defer stop()
	var written, complaints strings.Builder
	read := make(chan struct{}, 2)
	collect := func(into *strings.Builder, from io.Reader) {
		_, _ = io.Copy(into, io.LimitReader(from, maxAnswer)) // a stream that breaks has ended
		_, _ = io.Copy(io.Discard, from)
		read <- struct{}{}
	}
	go collect(&written, stdout)
	go collect(&complaints, stderr)
	_, sendErr := io.WriteString(stdin, lines)
	sendErr = errors.Join(sendErr, input.Close())
	waitErr := process.Wait()
	<-read
	<-read
	for _, stream := range []io.Reader{stdout, stderr} {
		if c, ok := stream.(io.Closer); ok {
			_ = c.Close() // read to its end
		}
	}
	switch text := strings.TrimSpace(complaints.String()); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case written.Len() > 0:
		return written.String(), nil
	case text != "":
		return "", fmt.Errorf("PowerShell wrote: %s", text)
	default:
		return "", errors.Join(errors.New("PowerShell ended without an answer"), waitErr, sendErr)
	}
}
