package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// splitAll reads to the end and returns the frames, the noise, the number of markers and the final error.
func splitAll(
	in io.Reader, marker string, budget int64,
) (frames []frame, noise string, marks int, err error) {
	var sb strings.Builder
	s := newSplitter(in, func() string { return marker },
		func(b []byte) { sb.Write(b) },
		func(n int64) bool { budget -= n; return budget >= 0 })
	for {
		f, err := s.next()
		switch {
		case errors.Is(err, errMarker):
			marks++
		case err != nil:
			return frames, sb.String(), marks, err
		default:
			frames = append(frames, f)
		}
	}
}

func TestSplitter(t *testing.T) {
	const mark = "$gorilla0123$"
	long := strings.Repeat("x", 300_000)
	cases := []struct {
		name, in string
		frames   []string // id kind payload
		noise    string
		marks    int
		err      error
	}{
		{name: "nothing", err: io.EOF},
		{name: "one frame", in: "\x1e1 end 2\n{}\n", frames: []string{"1 end {}"}, err: io.EOF},
		{name: "an empty payload", in: "\x1e1 end 0\n\n", frames: []string{"1 end "}, err: io.EOF},
		{name: "frames in a row", in: "\x1e1 step 2\n{}\n\x1e1 end 2\n{}\n", frames: []string{"1 step {}", "1 end {}"}, err: io.EOF},
		{name: "a payload that looks like a frame", in: "\x1e1 records 16\n\x1e1 end 2\n{}\n....\n", frames: []string{"1 records \x1e1 end 2\n{}\n...."}, err: io.EOF},
		{name: "a payload with the marker", in: "\x1e1 records 15\n\n" + mark + "\n\n", frames: []string{"1 records \n" + mark + "\n"}, err: io.EOF},
		{name: "noise around", in: "a\r\nb\x1e1 end 2\n{}\nc", frames: []string{"1 end {}"}, noise: "a\r\nbc", err: io.EOF},
		{name: "larger than the buffer", in: fmt.Sprintf("%s\x1e1 records %d\n%s\n", long, len(long), long), frames: []string{"1 records " + long}, noise: long, err: io.EOF},
		{name: "the marker with LF", in: "x\n" + mark + "\ny", marks: 1, err: io.EOF},
		{name: "the marker with CRLF", in: mark + "\r\n", marks: 1, err: io.EOF},
		{name: "the marker after an escape sequence", in: "\x1b[?1l" + mark + "\n", marks: 1, err: io.EOF},
		{name: "the marker after a long line", in: long + mark + "\n", marks: 1, err: io.EOF},
		{name: "the marker without a line end", in: mark, noise: mark, err: io.EOF},
		{name: "the marker inside a line", in: mark + "x\n", noise: mark + "x\n", err: io.EOF},
		{name: "cut off in the header", in: "\x1e1 end 2", err: errCutFrame},
		{name: "cut off after its first byte", in: "\x1e", err: errCutFrame},
		{name: "cut off in the payload", in: "\x1e1 end 2\n{", err: errCutFrame},
		{name: "cut off before the last line feed", in: "\x1e1 end 2\n{}", err: errCutFrame},
		{name: "no line feed at the end", in: "\x1e1 end 2\n{}x", err: errNoEnd},
		{name: "over the cap", in: "\x1e1 end 900000000\n", err: errTooMuch},
		{name: "a header without an end", in: "\x1e" + long, err: errHeader},
		{name: "no id", in: "\x1e end 2\n{}\n", err: errHeader},
		{name: "two blanks", in: "\x1e1  end 2\n{}\n", err: errHeader},
		{name: "a blank at the end", in: "\x1e1 end 2 \n{}\n", err: errHeader},
		{name: "a CR at the end", in: "\x1e1 end 2\r\n{}\n", err: errHeader},
		{name: "a sign", in: "\x1e1 end +2\n{}\n", err: errHeader},
		{name: "a length beyond int64", in: "\x1e1 end 99999999999999999999\n{}\n", err: errHeader},
		{name: "an unknown kind", in: "\x1e1 End 2\n{}\n", err: errHeader},
		{name: "an id outside ASCII", in: "\x1eä end 2\n{}\n", err: errHeader},
		{name: "a byte order mark before a frame", in: "\ufeff\x1e1 end 2\n{}\n", frames: []string{"1 end {}"}, noise: "\ufeff", err: io.EOF},
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":        func(r io.Reader) io.Reader { return r },
		"byte by byte": iotest.OneByteReader,
		"halves":       iotest.HalfReader,
		"data and EOF": iotest.DataErrReader,
	}
	for _, c := range cases {
		for how, reader := range readers {
			t.Run(c.name+", "+how, func(t *testing.T) {
				frames, noise, marks, err := splitAll(reader(strings.NewReader(c.in)), mark, 1<<20)
				require.ErrorIs(t, err, c.err)
				var got []string
				for _, f := range frames {
					got = append(got, f.id+" "+string(f.kind)+" "+string(f.payload))
				}
				assert.Equal(t, c.frames, got)
				assert.Equal(t, c.marks, marks)
				if c.marks == 0 {
					assert.Equal(t, c.noise, noise)
				}
			})
		}
	}
}

func TestSplitterAllocatesNoFasterThanBytesArrive(t *testing.T) {
	var before, after runtime.MemStats
	s := newSplitter(io.MultiReader(strings.NewReader("\x1e1 records 999999999\n"), strings.NewReader("[1,2")),
		func() string { return "" }, func([]byte) {}, func(int64) bool { return true })
	runtime.ReadMemStats(&before)
	_, err := s.next()
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, errCutFrame)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}

func TestSplitterReturnsReadErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	_, _, _, err := splitAll(io.MultiReader(strings.NewReader("\x1e1 records 10\n[1"), iotest.ErrReader(broken)),
		"", 1<<20)
	require.ErrorIs(t, err, broken)
}

func FuzzSplitter(f *testing.F) {
	for _, seed := range []string{
		"", "noise\n", "\x1e1 end 2\n{}\n", "a\x1e1 records 4\n[{}]\n$m$\n", "\x1e1 end 2\r\n{}\n", "\x1e\x1e\x1e",
		"\x1e1 end 9999999\n{}", "$m$\r\n\x1e? error 0\n\n",
	} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		const marker = "$m$"
		frames, noise, marks, err := splitAll(bytes.NewReader(in), marker, 1<<20)
		require.Error(t, err)
		// The result does not depend on the pieces in which the bytes arrive.
		again, noise2, marks2, err2 := splitAll(&ragged{in: in, r: rand.New(rand.NewPCG(seed, 1))}, marker, 1<<20)
		require.Equal(t, frames, again)
		require.Equal(t, marks, marks2)
		require.Equal(t, err.Error(), err2.Error())
		if marks == 0 {
			require.Equal(t, noise, noise2)
		}
		// Nothing is lost. If the input was read to the end, noise, frames and markers add up to its length, and
		// otherwise to at most its length.
		total := len(noise)
		for _, fr := range frames {
			total += len(fmt.Sprintf("\x1e%s %s %d\n\n", fr.id, fr.kind, len(fr.payload))) + len(fr.payload)
		}
		require.LessOrEqual(t, total, len(in))
		if errors.Is(err, io.EOF) && marks == 0 {
			require.Equal(t, len(in), total)
		}
	})
}

// ragged returns pieces of random length.
type ragged struct {
	in []byte
	r  *rand.Rand
}

func (g *ragged) Read(p []byte) (int, error) {
	if len(g.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.in[:min(len(g.in), 1+g.r.IntN(7))])
	g.in = g.in[n:]
	return n, nil
}

func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"1 end 2", "boot ready 300", "? error 0", "1 end 02", " end 2", "1  2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		id, kind, size, err := parseHeader(in)
		if err != nil {
			require.ErrorIs(t, err, errHeader)
			return
		}
		require.Equal(t, string(in), fmt.Sprintf("%s %s %d", id, kind, size))
	})
}
