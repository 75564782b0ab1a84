package journal

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

var when = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// messagesOf returns the messages of an entry, whose batch is split into pieces of up to most bytes.
func messagesOf(t *testing.T, e Entry, most int) []*message {
	t.Helper()
	all, err := split(&e, most)
	require.NoError(t, err)
	opened := make([]*message, len(all))
	for i, plain := range all {
		opened[i], err = decode(plain)
		require.NoError(t, err)
	}
	return opened
}

func entry(term, number uint64, previous store.Hash, batch string) Entry {
	return Entry{
		Term: term, Process: Process{"a", "a1"}, Number: number, Token: "t" + batch, Time: when,
		Previous: previous, Batch: []byte(batch),
	}
}

// TestOnlyTheNextMessageVerifies: after entry 2 of term 3, and after the first part of entry 3,
// only the next message verifies.
func TestOnlyTheNextMessageVerifies(t *testing.T) {
	at, other := store.Hash{1}, store.Hash{2}
	whole := chain{last: head{Term: 3, Number: 2}, hash: at}
	parts := messagesOf(t, entry(3, 3, at, "abcd"), 2)
	inside, _, err := whole.next(parts[0])
	require.NoError(t, err)
	require.NotNil(t, inside.part)
	inPart := parts[0].hash

	const next, stranger, rewound = "next", "stranger", "rewound"
	for name, test := range map[string]struct {
		c            chain
		term, number uint64
		previous     store.Hash
		want         string
	}{
		"the next entry":                       {whole, 3, 3, at, next},
		"the next term":                        {whole, 4, 0, at, next},
		"a later term":                         {whole, 9, 0, at, next},
		"the entry before":                     {whole, 3, 1, other, stranger},
		"the last entry again":                 {whole, 3, 2, other, stranger},
		"the last number after the last entry": {whole, 3, 2, at, stranger},
		"the beginning of the term":            {whole, 3, 0, at, stranger},
		"an entry of an earlier term":          {whole, 2, 3, at, stranger},
		"an earlier term":                      {whole, 2, 0, at, stranger},
		"a term after another entry":           {whole, 4, 0, other, stranger},
		"the next number after another entry":  {whole, 3, 3, other, rewound},
		"a number that skips one":              {whole, 3, 4, at, rewound},
		"an entry of a term that was not read": {whole, 4, 1, at, rewound},

		"in an entry, a new term":                 {inside, 4, 0, at, next},
		"in an entry, a new term after the part":  {inside, 4, 0, inPart, stranger},
		"in an entry, the entry in another form":  {inside, 3, 3, at, stranger},
		"in an entry, the number after it":        {inside, 3, 4, at, rewound},
		"in an entry, the first entry of another": {inside, 4, 1, inPart, rewound},
	} {
		t.Run(name, func(t *testing.T) {
			after, e, err := test.c.next(messagesOf(t, entry(test.term, test.number, test.previous, "b"), 100)[0])
			switch test.want {
			case next:
				require.NoError(t, err)
				assert.Equal(t, test.term, e.Term)
				assert.Equal(t, at, e.Previous)
				assert.Nil(t, after.part)
				assert.Equal(t, test.number, after.last.Number)
			case stranger:
				assert.ErrorIs(t, err, errStranger)
			case rewound:
				assert.ErrorIs(t, err, ErrRewound)
			}
			if err != nil {
				assert.Equal(t, test.c, after)
			}
		})
	}
}

// TestPartsBecomeAnEntry: for any batch, the parts become an entry if they arrive in order and each exactly
// once.
func TestPartsBecomeAnEntry(t *testing.T) {
	for _, batch := range []string{"", "a", "abc", "abcd", "abcdefg", strings.Repeat("x", 1000)} {
		begin := chain{last: head{Term: 1}, hash: store.Hash{7}}
		parts := messagesOf(t, entry(1, 1, begin.hash, batch), 3)
		assert.Len(t, parts, max(1, (len(batch)+2)/3))
		c := begin
		for i, part := range parts {
			for j, wrong := range parts {
				if j != i {
					_, _, err := c.next(wrong)
					assert.Error(t, err, "part %d after %d parts", j, i)
				}
			}
			var e *Entry
			var err error
			c, e, err = c.next(part)
			require.NoError(t, err)
			if i < len(parts)-1 {
				require.Nil(t, e)
				continue
			}
			require.NotNil(t, e)
			want := entry(1, 1, begin.hash, batch)
			assert.Equal(t, string(want.Batch), string(e.Batch))
			e.Batch, want.Batch = nil, nil
			assert.Equal(t, &want, e)
			assert.Equal(t, chain{last: part.head, hash: part.hash}, c)
		}
	}
}

// TestAHashCoversAllOfAnEntry: the hash covers the whole entry and the hash of the previous one, so
// any difference between two entries changes their hashes and those of later entries.
func TestAHashCoversAllOfAnEntry(t *testing.T) {
	seen := map[store.Hash]string{}
	for name, change := range map[string]func(*Entry){
		"none":     func(*Entry) {},
		"term":     func(e *Entry) { e.Term++ },
		"gateway":  func(e *Entry) { e.Process.Gateway = "b" },
		"start":    func(e *Entry) { e.Process.Start = "a2" },
		"number":   func(e *Entry) { e.Number++ },
		"token":    func(e *Entry) { e.Token = "other" },
		"time":     func(e *Entry) { e.Time = e.Time.Add(1) },
		"previous": func(e *Entry) { e.Previous[31] = 1 },
		"first":    func(e *Entry) { e.Batch[0] = 'x' },
		"last":     func(e *Entry) { e.Batch[3] = 'x' },
	} {
		e := entry(1, 1, store.Hash{}, "abcd")
		change(&e)
		all, err := split(&e, 2)
		require.NoError(t, err)
		hash := store.Hash(sha256.Sum256(all[len(all)-1]))
		assert.Empty(t, seen[hash], name)
		seen[hash] = name
	}
}

// FuzzDecode checks that any plain message is decoded or refused without a panic.
func FuzzDecode(f *testing.F) {
	e := entry(1, 1, store.Hash{}, "abcd")
	all, err := split(&e, 2)
	require.NoError(f, err)
	for _, plain := range append(all, nil, []byte{0}, []byte{1}, []byte{2}, []byte{1, 0xff},
		[]byte{1, 2, '{', '}'}, []byte("\x01\x04nullx")) {
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		m, err := decode(plain)
		if err != nil {
			return
		}
		_, _, _ = chain{}.next(m)
		again, err := encode(m.head, m.piece)
		require.NoError(t, err)
		_, err = decode(again)
		require.NoError(t, err)
	})
}
