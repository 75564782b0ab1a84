package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"adgateway/gateway/store/commitlog"
)

// disk holds the commit log of a store. A crash of the machine loses writes that were not synced,
// completely or in part.
type disk struct {
	room int                     // maximum size of a write in bytes; 0 means no limit
	at   func(step string) error // called at each step, which it can make fail; may be nil

	mu      sync.Mutex // guards the fields below
	synced  []byte
	written []patch
}

// patch is a write that is not synced yet.
type patch struct {
	at   int64
	text []byte
}

func (d *disk) open(string) (commitlog.File, error) { return d, d.step("open") }

func (d *disk) step(name string) error {
	if d.at == nil {
		return nil
	}
	return d.at(name)
}

// with returns the synced content with some of the writes applied.
func (d *disk) with(some []patch) []byte {
	whole := bytes.Clone(d.synced)
	for _, p := range some {
		end := int(p.at) + len(p.text)
		if end > len(whole) {
			whole = append(whole, make([]byte, end-len(whole))...)
		}
		copy(whole[p.at:], p.text)
	}
	return whole
}

func (d *disk) WriteAt(text []byte, at int64) (int, error) {
	err := d.step("write")
	if d.room > 0 && len(text) > d.room {
		err = syscall.ENOSPC
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil { // a partial write
		text = text[:len(text)/2]
	}
	d.written = append(d.written, patch{at, bytes.Clone(text)})
	return len(text), err
}

func (d *disk) Sync() error {
	if err := d.step("sync"); err != nil {
		return err
	}
	d.mu.Lock()
	d.synced, d.written = d.with(d.written), nil
	d.mu.Unlock()
	return d.step("synced")
}

func (d *disk) Close() error { return nil }

// lost returns possible contents of the file after a power failure: with all writes, with the synced writes
// only, and with the beginnings or some pages of the other writes.
func (d *disk) lost(random *rand.Rand) (all [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	add := func(one []byte) {
		if !slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(one, other) }) {
			all = append(all, one)
		}
	}
	add(d.with(d.written))
	add(d.with(nil))
	for range 3 {
		var torn, pages []patch
		for _, p := range d.written {
			torn = append(torn, patch{p.at, p.text[:random.IntN(len(p.text)+1)]})
			for from := 0; from < len(p.text); from += 512 {
				if random.IntN(2) == 0 {
					pages = append(pages, patch{p.at + int64(from), p.text[from:min(from+512, len(p.text))]})
				}
			}
		}
		add(d.with(torn))
		add(d.with(pages))
	}
	return all
}

// crash is a store in the state when the machine fails.
type crash struct {
	during       string
	file, head   []byte
	commits      [][]byte // possible contents
	acknowledged int
}

func (c *crash) restore(t *testing.T, commits []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	require.NoError(t, os.WriteFile(path, c.file, 0o600))
	require.NoError(t, os.WriteFile(HeadOf(path), c.head, 0o600))
	require.NoError(t, os.WriteFile(commitsOf(path), commits, 0o600))
	return path
}

// counted increments a counter of the store, in a value and in a log, with a text of the given
// length.
func counted(t *testing.T, f *File, n, length int) error {
	t.Helper()
	return f.Update(t.Context(), func(tx *Tx) error {
		e, err := tx.Get("k", "n")
		if err != nil && !errors.Is(err, ErrAbsent) {
			return err
		}
		present := 0
		_, _ = fmt.Sscan(string(e.Value), &present) // stays 0 without a value
		tx.Put("k", "n", fmt.Append(nil, present+1), time.Time{})
		tx.Put("k", fmt.Sprint("large", n%3), make([]byte, length), time.Time{})
		tx.Append("log", fmt.Append(nil, present+1), time.Time{})
		if n%5 == 0 && present > 2 {
			tx.Trim("log", uint64(present-2))
			tx.Delete("k", fmt.Sprint("large", (n+1)%3))
		}
		return nil
	})
}

// counts returns a store's counter, and checks that its log and its value agree.
func counts(t *testing.T, f *File, during string) (n int) {
	t.Helper()
	_, _ = fmt.Sscan(value(t, f, "n"), &n) // stays 0 without a value
	last := 0
	require.NoError(t, f.Log(t.Context(), "log", Position{}, func(a Appended) bool {
		next := 0
		_, err := fmt.Sscan(string(a.Value), &next)
		require.NoError(t, err)
		require.EqualValues(t, next, a.Position.Sequence, during)
		require.True(t, last == 0 || next == last+1, during)
		last = next
		return true
	}))
	require.Equal(t, n, last, during)
	return n
}

// TestNothingThatWasAcknowledgedIsLost: the machine fails at each step between the commit log, the
// file and the answer, and keeps any part of the writes that were not synced. The store has every
// acknowledged call exactly once when it is opened again, and is at the same point as before.
func TestNothingThatWasAcknowledgedIsLost(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	path := filepath.Join(t.TempDir(), "state.db")
	d := &disk{}
	f, _, err := Open(Options{Path: path, commits: d.open})
	require.NoError(t, err)
	var crashes []crash
	acknowledged, points := 0, map[int]Point{}
	fail := func(during string) error {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		head, err := os.ReadFile(HeadOf(path))
		require.NoError(t, err)
		crashes = append(crashes, crash{during, file, head, d.lost(random), acknowledged})
		return nil
	}
	const calls = 12
	for n := range calls {
		d.at = fail
		require.NoError(t, counted(t, f, n, random.IntN(12<<10)))
		acknowledged++
		d.at = nil
		points[acknowledged], err = f.Point()
		require.NoError(t, err)
		_ = fail("answered")
		if n%4 == 3 {
			require.NoError(t, f.allPut())
			_ = fail("put into the file")
		}
	}
	require.NoError(t, f.Close())
	require.Greater(t, len(crashes), 4*calls)
	for _, c := range crashes {
		for i, commits := range c.commits {
			during := fmt.Sprint(c.during, ", after ", c.acknowledged, ", way ", i)
			g, aside, err := Open(Options{Path: c.restore(t, commits)})
			require.NoError(t, err, during)
			require.Empty(t, aside, during)
			require.NoError(t, g.State().Rewound, during)
			n := counts(t, g, during)
			require.GreaterOrEqual(t, n, c.acknowledged, during)
			require.LessOrEqual(t, n, c.acknowledged+1, during)
			at, err := g.Point()
			require.NoError(t, err, during)
			require.Equal(t, points[n], at, during)
			require.NoError(t, counted(t, g, n, 10))
			require.NoError(t, g.Close())
		}
	}
}

// hasRecent reports whether a store has changes that are not in its file.
func hasRecent(f *File) bool {
	f.reading.RLock()
	defer f.reading.RUnlock()
	return !f.recent.empty()
}

// TestAStoreIsTheSameOnEachWay: reads return the same values before and after the commit log is put into the
// file, and after it is replayed. A file that has applied the same batches has the same digest.
func TestAStoreIsTheSameOnEachWay(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "state.db"), func() time.Time { return time.Unix(1e9, 0) }
	f, _, err := Open(Options{Path: path, Now: now})
	require.NoError(t, err)
	require.NoError(t, counted(t, f, 1, 10))
	var copied bytes.Buffer
	begun, err := f.CopyTo(t.Context(), &copied)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other.db")
	require.NoError(t, Install(other, &copied, begun))
	for n := range 30 {
		require.NoError(t, counted(t, f, n, 3000))
	}
	read := func(f *File) (all []string) {
		see := func(e Entry) bool { all = append(all, fmt.Sprint(e)); return true }
		require.NoError(t, f.Range(t.Context(), "k", "", see))
		require.NoError(t, f.Range(t.Context(), "k", "large", see))
		require.NoError(t, f.RangeBack(t.Context(), "k", "", see))
		require.NoError(t, f.RangeBack(t.Context(), "k", "large2", see))
		require.NoError(t, f.Log(t.Context(), "log", Position{}, func(a Appended) bool {
			all = append(all, fmt.Sprint(a))
			return true
		}))
		end, err := f.End(t.Context(), "log")
		require.NoError(t, err)
		revision, err := f.Revision()
		require.NoError(t, err)
		return append(all, fmt.Sprint(end, revision))
	}
	require.True(t, hasRecent(f))
	before := read(f)
	killed := filepath.Join(t.TempDir(), "killed.db")
	copyFile(t, path, killed)
	copyFile(t, commitsOf(path), commitsOf(killed))
	at, digest, err := f.Digest(t.Context())
	require.NoError(t, err)
	require.False(t, hasRecent(f))
	assert.Equal(t, before, read(f))

	var batches []commit
	require.NoError(t, (&commitlog.Log{Path: commitsOf(path)}).Left(func(text []byte) (bool, error) {
		one, err := decodeCommit(text)
		batches = append(batches, one)
		return true, err
	}))
	g, _, err := Open(Options{Path: other, Now: now, Follows: true})
	require.NoError(t, err)
	for _, one := range batches {
		if one.at.Sequence > begun.Sequence {
			require.NoError(t, g.ApplyBatch(t.Context(), one.batch, one.at, one.time))
		}
	}
	for _, same := range []func() *File{
		func() *File { return g },
		func() *File {
			f, _, err := Open(Options{Path: killed, Now: now})
			require.NoError(t, err)
			return f
		},
	} {
		one := same()
		found, sum, err := one.Digest(t.Context())
		require.NoError(t, err)
		assert.Equal(t, at, found)
		assert.Equal(t, digest, sum)
		assert.Equal(t, before, read(one))
		require.NoError(t, one.Close())
	}
	require.NoError(t, f.Close())
	assert.NoFileExists(t, commitsOf(path))
}

// TestADiskThatFails: a batch that cannot be written or synced is not stored. Its error says so, unless the
// fault of the disk leaves the outcome unknown. Acknowledged batches stay, and the store works again once the
// disk does.
func TestADiskThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		fails  []string // steps in order; "" succeeds
		unsure bool
	}{
		"no room to open":        {[]string{"open"}, false},
		"no room to write":       {[]string{"write"}, false},
		"a failed sync":          {[]string{"", "sync"}, false},
		"and nothing works then": {[]string{"", "sync", "write"}, true},
		"nor a sync":             {[]string{"", "sync", "", "sync"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			d := &disk{}
			f, _, err := Open(Options{Path: path, commits: d.open})
			require.NoError(t, err)
			if c.fails[0] != "open" {
				require.NoError(t, counted(t, f, 1, 10))
			}
			had := counts(t, f, name)
			left := c.fails
			d.at = func(step string) error {
				if step == "synced" || len(left) == 0 {
					return nil
				}
				next := left[0]
				left = left[1:]
				if next == "" {
					return nil
				}
				assert.Equal(t, next, step)
				return syscall.ENOSPC
			}
			err = counted(t, f, 2, 10)
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.Equal(t, c.unsure, errors.Is(err, ErrUnsure))
			require.Error(t, f.State().Failed)
			require.Equal(t, had, counts(t, f, name), "what may not be stored is not read")
			if !c.unsure {
				lost := filepath.Join(t.TempDir(), "state.db")
				copyFile(t, path, lost)
				require.NoError(t, os.WriteFile(commitsOf(lost), d.with(d.written), 0o600))
				g, _, err := Open(Options{Path: lost})
				require.NoError(t, err)
				require.Equal(t, had, counts(t, g, "it is not found later"))
				require.NoError(t, g.Close())
			}
			require.NoError(t, counted(t, f, 3, 10))
			require.NoError(t, f.State().Failed)
			require.Equal(t, had+1, counts(t, f, name))
			require.NoError(t, f.Close())
			g, _, err := Open(Options{Path: path})
			require.NoError(t, err)
			require.Equal(t, had+1, counts(t, g, name))
			require.NoError(t, g.Close())
		})
	}
}

// TestAFileThatCannotGrow: once the commit log is full, nothing more is written. Nothing is lost,
// not even if the store is closed and opened again in that state.
func TestAFileThatCannotGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, _, err := Open(Options{Path: path})
	require.NoError(t, err)
	f.db.MaxSize = int(f.State().Bytes)
	made := 0
	for err == nil && made < 1000 {
		if err = f.Update(t.Context(), func(tx *Tx) error {
			tx.Put("k", fmt.Sprint(made), make([]byte, 100<<10), time.Time{})
			return nil
		}); err == nil {
			made++
		}
	}
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrUnsure)
	require.Greater(t, made, 5)
	assert.Error(t, f.State().Failed)
	for n := range made {
		assert.NotEmpty(t, value(t, f, fmt.Sprint(n)))
	}
	require.Error(t, f.Close(), "it could not be put into the file")
	assert.FileExists(t, commitsOf(path))

	f, _, err = Open(Options{Path: path})
	require.NoError(t, err)
	for n := range made {
		assert.NotEmpty(t, value(t, f, fmt.Sprint(n)))
	}
	require.NoError(t, f.Close())
	assert.NoFileExists(t, commitsOf(path))
}

// killed returns the path of a store as a killed process leaves it, with one batch that is not in
// its file.
func killed(t *testing.T) string {
	t.Helper()
	path, left := filepath.Join(t.TempDir(), "state.db"), filepath.Join(t.TempDir(), "state.db")
	inFile(t, path, func(s Store) {
		require.NoError(t, counted(t, s.(*File), 1, 10))
		copyFile(t, path, left)
		copyFile(t, commitsOf(path), commitsOf(left))
	})
	return left
}

// TestWhatAKilledProcessHasLeft: all operations that open the file of a killed process also read its commit
// log: copies, look-ups of a value, and setting the file aside. Another store in its place does not get the
// commit log.
func TestWhatAKilledProcessHasLeft(t *testing.T) {
	path := killed(t)
	found, err := Holds(path, "k", "n")
	require.NoError(t, err)
	assert.True(t, found)
	assert.NoFileExists(t, commitsOf(path))

	path = killed(t)
	var copied bytes.Buffer
	require.NoError(t, CopyFile(t.Context(), path, &copied))
	other := killed(t)
	require.NoError(t, Install(other, &copied, Point{}))
	assert.NoFileExists(t, commitsOf(other))
	inFile(t, other, func(s Store) { assert.Equal(t, 1, counts(t, s.(*File), "")) })

	path = killed(t)
	require.NoError(t, Unused(path))
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		assert.NotNil(t, tx.Bucket([]byte("k")).Get([]byte("n")))
		return nil
	}))
	require.NoError(t, db.Close())

	path = killed(t)
	require.NoError(t, os.Remove(path))
	inFile(t, path, func(s Store) {
		assert.Zero(t, counts(t, s.(*File), "it is another store"))
		require.NoError(t, counted(t, s.(*File), 1, 10))
	})

	path = killed(t)
	require.NoError(t, os.WriteFile(path, []byte("damaged"), 0o600))
	f, aside, err := Open(Options{Path: path})
	require.NoError(t, err)
	assert.FileExists(t, commitsOf(aside))
	assert.Zero(t, counts(t, f, "it is another store"))
	require.NoError(t, f.Close())
}

// TestAnIdleStorePutsAllIntoItsFile: a store that is idle puts its commit log into its file, and a
// store that begins to follow does so before it applies anything.
func TestAnIdleStorePutsAllIntoItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	synctest.Test(t, func(t *testing.T) {
		f, _, err := Open(Options{Path: path})
		require.NoError(t, err)
		require.NoError(t, counted(t, f, 1, 10))
		require.True(t, hasRecent(f))
		time.Sleep(idleAfter)
		synctest.Wait()
		require.False(t, hasRecent(f))
		require.NoError(t, counted(t, f, 2, 10))
		f.Follow()
		require.Equal(t, 2, counts(t, f, ""))
		at, err := f.Point()
		require.NoError(t, err)
		next := Point{Sequence: at.Sequence + 1}
		require.NoError(t, f.ApplyBatch(t.Context(), nil, next, time.Now()))
		require.False(t, hasRecent(f))
		f.Lead(&noted{at: next})
		require.NoError(t, counted(t, f, 3, 10))
		require.Equal(t, 3, counts(t, f, ""))
		require.NoError(t, f.Close())
	})
}

// TestRemovalsReachTheFileInSmallParts: a batch that follows many removals does not wait for all of
// them, because the file gets them from time to time.
func TestRemovalsReachTheFileInSmallParts(t *testing.T) {
	f, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	const batches = 6
	keys, entries := make([][]Change, batches), make([][]Change, batches)
	for i := range batches {
		for j := range MostChanges {
			keys[i] = append(keys[i], put(fmt.Sprintf("%d-%d", i, j), "value", Absent))
			entries[i] = append(entries[i], Change{Log: "log", Value: []byte("entry")})
		}
		revision, err := f.Apply(t.Context(), keys[i]...)
		require.NoError(t, err)
		_, err = f.Apply(t.Context(), entries[i]...)
		require.NoError(t, err)
		for j := range keys[i] {
			keys[i][j] = Change{Kind: keys[i][j].Kind, Key: keys[i][j].Key, Expect: revision}
		}
	}
	for i := range batches {
		_, err = f.Apply(t.Context(), keys[i]...)
		require.NoError(t, err)
		assert.Less(t, f.recent.removed, mostRemoved+MostChanges)
		_, err = f.Apply(t.Context(), Change{Log: "log", Through: uint64(i+1) * MostChanges})
		require.NoError(t, err)
		assert.Less(t, f.recent.removed, mostRemoved+MostChanges)
	}
	require.NoError(t, f.Close())
}
