package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxAnswer bounds the bytes that [Ask] keeps of each output stream.
const maxAnswer = 1 << 20

// Ask starts a PowerShell with the arguments of a session, sends it lines to run one after
// another, and returns its standard output when it has exited. It does not load the prelude or a
// module, so it can diagnose why sessions do not start. The process is killed if ctx ends first.
func Ask(ctx context.Context, starter Starter, lines string) (string, error) {
	waiter, stdin, stdout, stderr, err := starter.StartProcess("", arguments...)
	if err != nil {
		return "", err
	}
	process, canKill := waiter.(killer)
	input, canClose := stdin.(io.Closer)
	if !canKill || !canClose {
		return "", errors.New("the Starter's process cannot be killed, or its input cannot be closed")
	}
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() }) // fails if the process has ended
	defer stop()
	var written, complaints strings.Builder
	read := make(chan struct{}, 2)
	collect := func(into *strings.Builder, from io.Reader) {
		_, _ = io.Copy(into, io.LimitReader(from, maxAnswer)) // an error ends the stream just like EOF
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
			_ = c.Close() // already read to the end
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
		return "", errors.Join(errors.New("PowerShell exited without any output"), waitErr, sendErr)
	}
}
