package sorted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memoryFile is a file with room for a number of blocks.
type memoryFile struct {
	blocks [][]byte
	room   int
	broken bool
	closed bool
}

func (f *memoryFile) Put(block []byte) error {
	if len(f.blocks) == f.room {
		return errors.New("full")
	}
	f.blocks = append(f.blocks, bytes.Clone(block))
	return nil
}

func (f *memoryFile) Get(number int, buffer []byte) ([]byte, error) {
	if f.broken {
		return nil, errors.New("broken")
	}
	return append(buffer[:0], f.blocks[number]...), nil
}

func (f *memoryFile) Close() { f.closed = true }

// names returns different names in three alphabets and beyond, in a random order.
func names(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	starts := []string{"SMITH", "МЮЛЛЕР", "ΑΛΕΞΗΣ", "ÅSE", "\uE000", "\uFFFD", "😀", "𐍈", ""}
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s%d\x00CN=%d,DC=corp", starts[i%len(starts)], random.IntN(n), i)
	}
	return all
}

func record(key string) json.RawMessage {
	text, _ := json.Marshal(map[string]string{"key": key, "filler": strings.Repeat("x", len(key)%100)})
	return text
}

// inUnits returns the keys in the order of their UTF-16 code units.
func inUnits(keys []string) []string {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	return keys
}

// read returns the keys of all records in the order in which they are emitted.
func read(t *testing.T, r *Records) (keys []string) {
	t.Helper()
	require.NoError(t, r.Each(func(batch json.RawMessage) error {
		var records []struct{ Key string }
		require.NoError(t, json.Unmarshal(batch, &records))
		require.LessOrEqual(t, len(records), BatchSize)
		for _, record := range records {
			keys = append(keys, record.Key)
		}
		return nil
	}))
	return keys
}

// TestRecordsAreSorted: the order does not depend on the number of records that fit into the file.
func TestRecordsAreSorted(t *testing.T) {
	keys := names(20000)
	want := inUnits(keys)
	for name, file := range map[string]*memoryFile{
		"no file": nil, "much room": {room: 1000}, "little room": {room: 7}, "no room": {},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(nil, 0)
			if file != nil {
				r = New(file, 200<<10)
			}
			for part := range slices.Chunk(keys, 300) {
				var records []json.RawMessage
				for _, key := range part {
					records = append(records, record(key))
				}
				require.NoError(t, r.Add(part, records))
				if name == "much room" {
					require.LessOrEqual(t, r.size, r.memory)
				}
			}
			assert.Equal(t, want, read(t, r))
			r.Close()
			if file != nil {
				assert.True(t, file.closed)
			}
		})
	}
}

// TestPages: a page consists of the records with the smallest keys from its first key on, whatever the order
// in which they are added, and keeps little more than these.
func TestPages(t *testing.T) {
	keys := names(5000)
	in := inUnits(keys)
	for _, page := range []struct {
		first, most int
		last        string
	}{
		{0, 1, in[0]}, {0, 700, in[699]}, {1200, 50, in[1249]},
		{4000, 1000, ""}, {4000, 999, in[4998]}, {4990, 50, ""},
	} {
		r := NewPage(in[page.first], page.most)
		for part := range slices.Chunk(keys, 300) {
			var records []json.RawMessage
			for _, key := range part {
				records = append(records, record(key))
			}
			require.NoError(t, r.Add(part, records))
			require.LessOrEqual(t, len(r.items), 2*page.most+BatchSize)
		}
		assert.Equal(t, in[page.first:min(page.first+page.most, len(in))], read(t, r))
		assert.Equal(t, page.last, r.Last())
		r.Close()
	}
}

// TestAPartOfAPageComesAgain: records that are added again replace the discarded ones, and records with
// smaller keys stay.
func TestAPartOfAPageComesAgain(t *testing.T) {
	keys := names(3000)
	in := inUnits(keys)
	r := NewPage("", 20)
	defer r.Close()
	add := func(keys ...string) {
		for _, key := range keys {
			require.NoError(t, r.Add([]string{key}, []json.RawMessage{record(key)}))
		}
	}
	add(in[:10]...)
	for i := 2999; i >= 10; i -= 2 {
		add(in[i])
	}
	r.Discard(in[10])
	add(in[10:16]...)
	assert.Equal(t, in[:16], read(t, r))
	assert.Empty(t, r.Last())
}

func TestNoRecords(t *testing.T) {
	r := New(nil, 0)
	defer r.Close()
	assert.Empty(t, read(t, r))
}

func TestErrorsOfAList(t *testing.T) {
	file := &memoryFile{room: 1000}
	r := New(file, 1)
	defer r.Close()
	require.Error(t, r.Add([]string{"a"}, nil))
	for _, key := range names(600) {
		require.NoError(t, r.Add([]string{key}, []json.RawMessage{record(key)}))
	}
	stopped := errors.New("stopped")
	assert.ErrorIs(t, r.Each(func(json.RawMessage) error { return stopped }), stopped)
	file.broken = true
	assert.ErrorContains(t, r.Each(func(json.RawMessage) error { return nil }), "broken")
}

func FuzzCompare(f *testing.F) {
	f.Add("a", "B")
	f.Add("\uE000", "😀")
	f.Add("ab", "a")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		got := Compare(a, b)
		assert.Equal(t, want < 0, got < 0)
		assert.Equal(t, want == 0, got == 0)
	})
}
