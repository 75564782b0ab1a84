package faults

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/session/sessiontest"
)

// A cut says at which frame of a request its process fails.
type cut struct {
	frame int     // counted from 0, in the request's answer
	how   cutKind // what becomes of that frame
}

type cutKind string

const (
	cutBefore cutKind = "before" // the process dies where the frame would begin
	cutInside cutKind = "inside" // and in the middle of it
	cutAfter  cutKind = "after"  // and when it is whole
	hangs     cutKind = "hangs"  // it is never written, and nothing follows
)

// cutter starts sessions of a world in this process, and cuts one off when it
// is told to. A frame is written while the script waits, so that a cut comes
// exactly between two of its steps.
type cutter struct {
	mu     sync.Mutex
	armed  *cut
	script string   // whose answer is cut
	frames []string // kinds of frames that this script has answered with since it was armed
}

// arm has the next request of a script cut off; nil lets it run and notes its frames.
func (k *cutter) arm(script string, c *cut) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.script, k.armed, k.frames = script, c, nil
}

func (k *cutter) answered() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.frames)
}

// console puts the streams of a new process through the cutter.
func (k *cutter) console(ctx context.Context, c engine.Console, kill func()) engine.Console {
	p := &cutProcess{cutter: k, ctx: ctx, out: c.Stdout, kill: kill}
	c.Stdin, c.Stdout = io.TeeReader(c.Stdin, &lineWatcher{p: p}), p
	return c
}

// cutProcess is one process; as a writer it is its standard output.
type cutProcess struct {
	*cutter
	ctx  context.Context
	out  io.Writer
	kill func()

	cut    *cut // of the request that runs; nil: none
	noting bool
	frame  int
}

// lineWatcher sees the lines that a process is sent.
type lineWatcher struct {
	p    *cutProcess
	line []byte
}

func (w *lineWatcher) Write(b []byte) (int, error) {
	w.line = append(w.line, b...)
	if !bytes.HasSuffix(b, []byte("\n")) {
		return len(b), nil
	}
	w.p.take(w.line)
	w.line = nil
	return len(b), nil
}

// take begins with a request.
func (p *cutProcess) take(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.noting = nil, false
	if p.script != "" && scriptOf(line) == p.script {
		p.cut, p.noting, p.frame = p.armed, true, -1
		p.script = ""
	}
}

// scriptOf is the script that a data line asks for; empty when it is none.
func scriptOf(line []byte) string {
	data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#"))
	data, _, _ = bytes.Cut(data, []byte(" "))
	body, err := base64.StdEncoding.DecodeString(string(data))
	var request struct{ Script string }
	if !isData || err != nil || json.Unmarshal(body, &request) != nil {
		return ""
	}
	return strings.TrimPrefix(request.Script, "=")
}

// Write takes what the prelude writes: a frame, or several.
func (p *cutProcess) Write(b []byte) (int, error) {
	for _, piece := range sessiontest.Pieces(b) {
		if err := p.write(piece); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (p *cutProcess) write(piece sessiontest.Piece) error {
	how := cutKind("")
	if p.noting && piece.Kind != "" {
		p.frame++
		p.mu.Lock()
		p.frames = append(p.frames, piece.Kind)
		p.mu.Unlock()
		if p.cut != nil && p.cut.frame == p.frame {
			how = p.cut.how
		}
	}
	switch how {
	case cutBefore:
		return p.die()
	case hangs:
		<-p.ctx.Done()
		return p.die()
	case cutInside:
		_, _ = p.out.Write(piece.Bytes[:(piece.Head+len(piece.Bytes))/2])
		return p.die()
	}
	if _, err := p.out.Write(piece.Bytes); err != nil {
		return err
	}
	if how == cutAfter {
		return p.die()
	}
	return nil
}

// die ends the process: nothing of the script runs any more.
func (p *cutProcess) die() error {
	p.kill()
	return io.ErrClosedPipe
}
