package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Placed is an intact line with its place.
type Placed struct {
	*Line
	Head   // its number and the hash that it contains
	File   string
	Number int // of the line in the file, from 1
}

// Each calls each with the lines of a log in the order of its files. It skips texts that are not lines of a
// log, and does not check hashes: see [Verify]. If files is not empty, it reads these instead of the log's
// own files. If each returns an error, Each stops and returns it, or nil for [io.EOF].
func Each(file string, files []string, each func(Placed) error) error {
	ordered, err := logFiles(file, files)
	if err != nil {
		return err
	}
	over := false
	for _, path := range ordered {
		err := eachLine(path, func(number int, raw []byte, _ bool) error {
			line, _, sum, err := parse(raw)
			if err != nil {
				return nil
			}
			err = each(Placed{line, Head{line.Seq, sum}, path, number})
			over = errors.Is(err, io.EOF)
			return err
		})
		if err != nil || over {
			return err
		}
	}
	return nil
}

// Tail reads the lines that a log appends to its files, and continues at its last position. It is
// not safe for concurrent use. It keeps no file open between two calls, so files can be rotated.
type Tail struct {
	File string // the log

	at     Head        // the last line that was read
	in     os.FileInfo // the file of that line
	offset int64       // end of that line in the file
}

// Read returns the encoded lines with numbers above after, up to the number through, which must be on disk.
// It returns at most most bytes, but at least one line if there is any. Lines that the log has removed are
// skipped.
func (t *Tail) Read(after, through uint64, most int) (lines []Text, err error) {
	for {
		lines, err = t.read(after, through, most)
		if !errors.Is(err, errRotated) {
			return lines, err
		}
	}
}

func (t *Tail) read(after, through uint64, most int) (lines []Text, err error) {
	paths, err := t.holding(after)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if after >= through || most <= 0 {
			break
		}
		found, err := t.readFile(path, after, through, most)
		if err != nil {
			return nil, err
		}
		for _, line := range found {
			most -= len(line.Raw)
			after = line.Seq
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

// Text is an encoded line without its line feed.
type Text struct {
	Head
	Raw []byte
}

// errRotated means that the file was renamed before it could be read.
var errRotated = errors.New("the file was rotated")

// holding returns the files that contain lines after the given number, in order.
func (t *Tail) holding(after uint64) (paths []string, err error) {
	rotated, err := rotatedFiles(t.File)
	if err != nil {
		return nil, err
	}
	for _, path := range rotated {
		if rotatedThrough(path) > after {
			paths = append(paths, path)
		}
	}
	return append(paths, t.File), nil
}

func (t *Tail) readFile(path string, after, through uint64, most int) (lines []Text, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // between the rename and the new file
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	offset := int64(0)
	if t.in != nil && os.SameFile(t.in, info) && t.at.Seq == after && t.offset <= info.Size() {
		offset = t.offset
	}
	if _, err = f.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	reader := bufio.NewReaderSize(f, 64<<10)
	for most > 0 {
		raw, err := reader.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		text, ended := bytes.CutSuffix(raw, []byte("\n"))
		if !ended {
			return lines, nil
		}
		offset += int64(len(raw))
		line, _, sum, err := parse(text)
		if err != nil || line.Seq <= after {
			continue
		}
		if len(lines) == 0 && path == t.File && line.Seq > after+1 {
			if now, err := t.holding(after); err != nil || now[0] != path {
				return nil, errors.Join(err, errRotated)
			}
		}
		if line.Seq > through {
			return lines, nil
		}
		lines = append(lines, Text{Head{line.Seq, sum}, text})
		most -= len(text)
		after = line.Seq
		t.in, t.offset, t.at = info, offset, Head{line.Seq, sum}
	}
	return lines, nil
}

// Find returns the line with the given number, or false if the files do not have it.
func (t *Tail) Find(seq uint64) (Text, bool, error) {
	if seq == 0 {
		return Text{}, false, nil
	}
	lines, err := (&Tail{File: t.File}).Read(seq-1, seq, 1)
	if err != nil || len(lines) == 0 || lines[0].Seq != seq {
		return Text{}, false, err
	}
	return lines[0], true, nil
}

// ParseText parses an encoded line without its line feed. intact reports whether its hash matches
// its content, with the key or without.
func ParseText(raw, key []byte) (line *Line, head Head, intact bool) {
	line, hashed, sum, err := parse(raw)
	if err != nil {
		return nil, Head{}, false
	}
	intact = len(key) > 0 && sum == digest(key, hashed) || sum == digest(nil, hashed)
	return line, Head{line.Seq, sum}, intact
}
