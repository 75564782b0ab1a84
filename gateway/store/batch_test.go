package store

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// someBatch returns a random batch.
func someBatch(r *rand.Rand) *Batch {
	text := func() []byte { return []byte("abcdefgh")[:r.IntN(9)] }
	b := &Batch{Calls: make([]Call, r.IntN(4))}
	for i := range b.Calls {
		c := &b.Calls[i]
		c.Revision = Revision(r.Uint64())
		c.Changes = make([]Change, r.IntN(4))
		for j := range c.Changes {
			change := Change{Kind: "kind", Key: "key" + string(text())}
			if r.IntN(2) == 0 {
				change = Change{Log: "log"}
			}
			switch r.IntN(3) {
			case 0:
				change.Value = text()
			case 1:
				change.Value, change.Expires = text(), time.Unix(0, r.Int64())
			case 2:
				if change.Log != "" {
					change.Through = r.Uint64()
				}
			}
			c.Changes[j] = change
		}
	}
	return b
}

func TestABatchIsReadAsItWasWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		b := someBatch(r)
		encoded := b.Encode()
		read, err := DecodeBatch(encoded)
		require.NoError(t, err)
		require.Equal(t, b, read)
		require.Equal(t, encoded, read.Encode())
		for n := range encoded {
			_, err := DecodeBatch(encoded[:n])
			require.ErrorIs(t, err, ErrBatch, "it is cut")
		}
		_, err = DecodeBatch(append(encoded, 0))
		require.ErrorIs(t, err, ErrBatch, "something follows")
	}
}

// TestTheEncodingOfABatchNeverChanges: the encoding of a batch never changes, because journals of clusters
// contain it.
func TestTheEncodingOfABatchNeverChanges(t *testing.T) {
	b := &Batch{Calls: []Call{{Revision: 5, Changes: []Change{
		{Kind: "k", Key: "a", Value: []byte("v"), Expires: time.Unix(0, 255)},
		{Kind: "k", Key: "b", Expect: 3},
		{Log: "l", Value: []byte{}},
		{Log: "l", Through: 2},
	}}, {Revision: 5, Changes: []Change{}}}}
	assert.Equal(t, "\x01\x00\x00\x00\x02"+
		"\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x04"+
		"\x01\x00\x00\x00\x01k\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00\x00\x01v"+
		"\x02\x00\x00\x00\x01k\x00\x00\x00\x01b"+
		"\x03\x00\x00\x00\x01l\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+
		"\x04\x00\x00\x00\x01l\x00\x00\x00\x00\x00\x00\x00\x02"+
		"\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00", string(b.Encode()))
}

func TestMalformedBatchesAreRefused(t *testing.T) {
	for name, encoded := range map[string]string{
		"nothing":           "",
		"a later format":    "\x02\x00\x00\x00\x00",
		"too many calls":    "\x01\xff\xff\xff\xff\x00\x00\x00\x00",
		"too many changes":  "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff",
		"a long name":       "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x02\xff\xff\xff\xffk",
		"what is not known": "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x09\x00\x00\x00\x01k\x00\x00\x00\x01a",
		"the identity":      string((&Batch{Calls: []Call{{1, []Change{{Kind: "store", Key: "creation", Value: []byte("v")}}}}}).Encode()),
		"a log of no name":  "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01",
	} {
		_, err := DecodeBatch([]byte(encoded))
		assert.ErrorIs(t, err, ErrBatch, name)
	}
}

// FuzzDecodeBatch: a decoded batch is encoded to the same bytes, and the memory that decoding takes
// is bounded by their number.
func FuzzDecodeBatch(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		f.Add(someBatch(r).Encode())
	}
	f.Add([]byte("\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, err := DecodeBatch(encoded)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20+64*len(encoded)))
		if err != nil {
			require.ErrorIs(t, err, ErrBatch)
			return
		}
		require.Equal(t, encoded, b.Encode())
	})
}
