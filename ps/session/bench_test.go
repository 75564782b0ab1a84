package session

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	powershell "github.com/bhendo/go-powershell"
	"github.com/bhendo/go-powershell/backend"
)

var benchSizes = []struct {
	name string
	size int
}{{"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"4MiB", 4 << 20}}

// BenchmarkFrameReader reads an answer of a given size with frames like the prelude's:
// batches of about 64 KiB and an end frame.
func BenchmarkFrameReader(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			var answer bytes.Buffer
			batch := `["` + strings.Repeat("x", 64<<10-4) + `"]`
			for range size.size / len(batch) {
				fmt.Fprintf(&answer, "\x1e1 records %d\n%s\n", len(batch), batch)
			}
			answer.WriteString("\x1e1 end 2\n{}\n")
			drainFrames(b, answer.Bytes())
		})
		b.Run(size.name+"/one frame", func(b *testing.B) {
			payload := strings.Repeat("x", size.size)
			drainFrames(b, []byte(fmt.Sprintf("\x1e1 records %d\n%s\n\x1e1 end 2\n{}\n", len(payload), payload)))
		})
	}
}

func drainFrames(b *testing.B, answer []byte) {
	b.SetBytes(int64(len(answer)))
	b.ReportAllocs()
	in := bytes.NewReader(answer)
	s := newSplitter(in, func() string { return "$gorilla$" }, func([]byte) {}, func(int64) bool { return true })
	for b.Loop() {
		in.Reset(answer)
		s.err = nil
		for {
			f, err := s.next()
			if err != nil {
				b.Fatal(err)
			}
			if f.kind == frameEnd {
				break
			}
		}
	}
}

// BenchmarkStockReader reads the same answer with the reader of go-powershell's Shell, which
// takes quadratic time: tens of seconds for 4 MiB.
func BenchmarkStockReader(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			stock := &stockStarter{answer: strings.Repeat("x", size.size)}
			shell, err := powershell.New(stock)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size.size))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := shell.Execute("x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// stockStarter answers each command with the same text and the markers.
type stockStarter struct {
	answer   string
	out, err stockReader
}

func (s *stockStarter) StartProcess(
	string, ...string,
) (backend.Waiter, io.Writer, io.Reader, io.Reader, error) {
	return nopWaiter{}, s, &s.out, &s.err, nil
}

func (s *stockStarter) Write(p []byte) (int, error) {
	m, ok := findMarks(string(p))
	if !ok {
		return 0, errCommandForm
	}
	s.out.Reader = strings.NewReader(s.answer + m.out + "\r\n")
	s.err.Reader = strings.NewReader(m.err + "\r\n")
	return len(p), nil
}

type stockReader struct{ io.Reader }

type nopWaiter struct{}

func (nopWaiter) Wait() error { return nil }
