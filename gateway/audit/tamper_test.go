package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tamper contains random alterations of a log's files, by name.
var tamper = map[string]func(r *rand.Rand, lines [][]byte) [][]byte{
	"byte changed": func(r *rand.Rand, lines [][]byte) [][]byte {
		at := r.IntN(len(lines))
		lines[at][r.IntN(len(lines[at]))] ^= byte(1 + r.IntN(255))
		return lines
	},
	"byte removed": func(r *rand.Rand, lines [][]byte) [][]byte {
		at := r.IntN(len(lines))
		byteAt := r.IntN(len(lines[at]))
		lines[at] = slices.Delete(lines[at], byteAt, byteAt+1)
		return lines
	},
	"byte inserted": func(r *rand.Rand, lines [][]byte) [][]byte {
		at := r.IntN(len(lines))
		lines[at] = slices.Insert(lines[at], r.IntN(len(lines[at])), byte(r.IntN(256)))
		return lines
	},
	"line removed": func(r *rand.Rand, lines [][]byte) [][]byte {
		at := r.IntN(len(lines))
		return slices.Delete(lines, at, at+1)
	},
	"lines removed": func(r *rand.Rand, lines [][]byte) [][]byte {
		from := r.IntN(len(lines))
		return slices.Delete(lines, from, from+1+r.IntN(len(lines)-from))
	},
	"line moved": func(r *rand.Rand, lines [][]byte) [][]byte {
		from := r.IntN(len(lines))
		line := lines[from]
		return slices.Insert(slices.Delete(lines, from, from+1), r.IntN(len(lines)), line)
	},
	"line repeated": func(r *rand.Rand, lines [][]byte) [][]byte {
		return slices.Insert(lines, r.IntN(len(lines)+1), lines[r.IntN(len(lines))])
	},
	"end cut off": func(r *rand.Rand, lines [][]byte) [][]byte {
		all := bytes.Join(lines, nil)
		return [][]byte{all[:r.IntN(len(all))]}
	},
	// The line gets a matching hash, but the next line does not contain that hash.
	"line rewritten": func(r *rand.Rand, lines [][]byte) [][]byte {
		at := r.IntN(len(lines))
		line, _, _, err := parse(bytes.TrimSpace(lines[at]))
		if err != nil {
			panic(err)
		}
		line.Operation += "x"
		var out bytes.Buffer
		line.encode(&out, nil)
		lines[at] = out.Bytes()
		return lines
	},
	"line forged": func(r *rand.Rand, lines [][]byte) [][]byte {
		at := r.IntN(len(lines))
		line, _, sum, err := parse(bytes.TrimSpace(lines[at]))
		if err != nil {
			panic(err)
		}
		forged := &Line{Seq: line.Seq + 1, Time: line.Time, Event: EventIntent, Operation: "user.get",
			Previous: sum}
		var out bytes.Buffer
		forged.encode(&out, nil)
		return slices.Insert(lines, at+1, out.Bytes())
	},
}

// TestEveryAlterationIsFound alters logs of several files and sessions at random places. Every
// alteration is reported.
func TestEveryAlterationIsFound(t *testing.T) {
	file := newFile(t)
	for session := range 3 {
		l := open(t, Options{File: file, MaxSize: 4000})
		for i := range 6 {
			record(t, l, fmt.Sprint(session, i))
		}
		require.NoError(t, l.Close())
	}
	files, err := logFiles(file, nil)
	require.NoError(t, err)
	require.Greater(t, len(files), 3)
	whole(t, file)
	written := map[string][]byte{}
	for _, path := range append(files, headName(file)) {
		written[path], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for name, alter := range tamper {
		for range 30 {
			path := files[r.IntN(len(files))]
			var lines [][]byte
			for line := range bytes.Lines(written[path]) {
				lines = append(lines, bytes.Clone(line))
			}
			altered := bytes.Join(alter(r, lines), nil)
			if bytes.Equal(altered, written[path]) {
				continue // moved to where it was
			}
			require.NoError(t, os.WriteFile(path, altered, 0o600))
			report, err := Verify(Check{File: file})
			require.NoError(t, err)
			found := len(report.Faults)
			if name == "line forged" { // without a key, a line after the last one could be genuine
				found += len(report.Notes)
			}
			require.Positive(t, found, "%s in %s, seed %d", name, filepath.Base(path), seed)
			require.NoError(t, os.WriteFile(path, written[path], 0o600))
		}
	}
	for _, path := range files {
		require.NoError(t, os.Rename(path, path+".away"))
		if report, err := Verify(Check{File: file}); err == nil {
			require.NotEmpty(t, report.Faults, "without %s", path)
		}
		require.NoError(t, os.Rename(path+".away", path))
	}
	for at := range written[headName(file)] {
		altered := bytes.Clone(written[headName(file)])
		altered[at] ^= 1
		var before, after Head
		require.NoError(t, json.Unmarshal(written[headName(file)], &before))
		if err := json.Unmarshal(altered, &after); err == nil && after == before {
			continue // white space
		}
		require.NoError(t, os.WriteFile(headName(file), altered, 0o600))
		require.NotEmpty(t, verify(t, file).Faults, "head: byte %d", at)
	}
	require.NoError(t, os.WriteFile(headName(file), written[headName(file)], 0o600))
	whole(t, file)
}

// TestPlaceOfFaults: faults name the line that was altered.
func TestPlaceOfFaults(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "anna")
	record(t, l, "berta")
	require.NoError(t, l.Close())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	for name, c := range map[string]struct {
		text [][]byte
		want string
	}{
		"altered":   {[][]byte{lines[0], lines[1], bytes.Replace(lines[2], []byte("Bonn"), []byte("Köln"), 1), lines[3], lines[4], lines[5]}, ":3: line 3 was altered: its hash does not match its content"},
		"removed":   {[][]byte{lines[0], lines[1], lines[3], lines[4], lines[5]}, ":3: line 3 is missing before this one"},
		"many":      {[][]byte{lines[0], lines[5]}, ":2: lines 2 to 5 are missing before this one"},
		"inserted":  {[][]byte{lines[0], []byte("hello\n"), lines[1], lines[2], lines[3], lines[4], lines[5]}, ":2: not a line of the log: it was altered or inserted"},
		"repeated":  {[][]byte{lines[0], lines[1], lines[1], lines[2], lines[3], lines[4], lines[5]}, ":3: line 2 comes after line 2: it was moved or inserted"},
		"truncated": {lines[:4], ": lines 5 to 6 are missing at the end: line 6 is the head record's last"},
	} {
		require.NoError(t, os.WriteFile(file, bytes.Join(c.text, nil), 0o600))
		faults := verify(t, file).Faults
		require.Len(t, faults, 1, name)
		require.Equal(t, file+c.want, faults[0].String(), name)
	}
}

// FuzzVerify checks that any file is read to its end, and reported as intact only if it is.
func FuzzVerify(f *testing.F) {
	file := newFile(f)
	l := open(f, Options{File: file})
	record(f, l, "anna")
	require.NoError(f, l.Close())
	good, err := os.ReadFile(file)
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte("{\"seq\":1}\n\n{}"))
	f.Add(bytes.Repeat([]byte("x"), 200))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		end := Head{Seq: 4}
		report, err := Verify(Check{Files: []string{file}, Least: end})
		if err != nil {
			require.ErrorIs(t, err, ErrKeyNeeded)
			return
		}
		if len(report.Faults) == 0 && report.First == 1 {
			require.GreaterOrEqual(t, report.Lines, end.Seq)
		}
		require.NoError(t, Read(file, []string{file}, Filter{Who: "a"}, func(*Record) error { return nil }))
		// A log can always be opened there.
		o := Options{File: file, open: openFile, now: time.Now}
		c := chain{o: &o}
		require.NoError(t, c.recover())
		require.NoError(t, c.close())
	})
}

// TestALineFeedIsMissingAtTheEndOfAFile: the removal of a line feed is found at the end of every file of a
// log.
func TestALineFeedIsMissingAtTheEndOfAFile(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file, MaxSize: 2000})
	for i := range 6 {
		record(t, l, fmt.Sprint(i))
	}
	require.NoError(t, l.Close())
	files, err := logFiles(file, nil)
	require.NoError(t, err)
	require.Greater(t, len(files), 2)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, bytes.TrimSuffix(text, []byte("\n")), 0o600))
		faults := verify(t, file).Faults
		require.Len(t, faults, 1, path)
		require.Contains(t, faults[0].String(), "the line feed at the end is missing")
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
}

// TestATornLineOfAFullFileIsExplainedThere: if a crash has left a part of a line at the end of a
// full file, the explanation stands in that file.
func TestATornLineOfAFullFileIsExplainedThere(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "anna")
	require.NoError(t, l.Close())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(bytes.Clone(text), `{"seq":`...), 0o600))
	again := open(t, Options{File: file, MaxSize: int64(len(text))})
	record(t, again, "berta")
	record(t, again, "carla")
	require.NoError(t, again.Close())
	require.NotEmpty(t, whole(t, file).Notes)
	files, err := logFiles(file, nil)
	require.NoError(t, err)
	require.Greater(t, len(files), 1)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, "\n"+string(text), "\n\n", path)
		require.True(t, bytes.HasSuffix(text, []byte("\n")), path)
	}
}
