package relay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

func someChanges() []store.Change {
	return []store.Change{
		{Kind: "k", Key: "a", Expect: 7, Value: []byte("v"), Expires: time.Unix(5, 6)},
		{Kind: "k", Key: "empty", Value: []byte{}},
		{Kind: "k", Key: "gone\xff", Expect: 1 << 60},
		{Log: "log", Value: []byte("line"), Expires: time.Unix(7, 0)},
		{Log: "log", Through: 9},
	}
}

// TestChangesArriveAsTheyWere: changes are the same after a hop. In particular, an empty value does not
// become a removal.
func TestChangesArriveAsTheyWere(t *testing.T) {
	for name, changes := range map[string][]store.Change{"some": someChanges(), "none": {}} {
		message := encodeChanges(changes)
		decoded, err := decodeChanges(message[1:])
		require.NoError(t, err, name)
		assert.Equal(t, changes, decoded, name)
		for n := 1; n < len(message); n++ {
			_, err = decodeChanges(message[1:n])
			assert.Error(t, err, "%s, of which %d bytes have arrived", name, n)
		}
		_, err = decodeChanges(append(message[1:], 0))
		assert.Error(t, err, name)
	}
}

// FuzzChanges: a message is either refused, or it is the only encoding of its changes.
func FuzzChanges(f *testing.F) {
	f.Add(encodeChanges(someChanges())[1:])
	f.Add(encodeChanges(nil)[1:])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, message []byte) {
		changes, err := decodeChanges(message)
		if err != nil {
			return
		}
		require.NoError(t, store.CheckChanges(changes))
		assert.Equal(t, message, encodeChanges(changes)[1:])
	})
}

// FuzzParts: a record is either refused or decoded.
func FuzzParts(f *testing.F) {
	for _, text := range [][]byte{
		encodeEntry(store.Entry{Key: "a", Value: []byte("v"), Revision: 3, Expires: time.Unix(1, 0)}),
		encodeAppended(store.Appended{Position: store.Position{Creation: "c", Sequence: 2}, Value: []byte("v")}),
		outcome{now: time.Unix(2, 0), revision: 4, position: store.Position{Creation: "c", Sequence: 2}}.encode(),
		outcome{err: store.ErrConflict}.encode(), {}, {9},
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decodePart(text)
		if err != nil {
			return
		}
		set := 0
		for _, is := range []bool{p.entry != nil, p.appended != nil, p.outcome != nil} {
			if is {
				set++
			}
		}
		assert.Equal(t, 1, set)
	})
}

// TestErrorsKeepTheirKind: errors of the store keep their kind across a hop, and other errors have
// none.
func TestErrorsKeepTheirKind(t *testing.T) {
	for _, err := range []error{
		store.ErrConflict, store.ErrTooMany, store.ErrAbsent, store.ErrPosition, store.ErrClosed, store.ErrRewound,
		store.ErrOtherKey, store.ErrNewer, store.ErrUnreadable, store.ErrFollows,
		fmt.Errorf("%w: %w", store.ErrUnreachable, store.ErrNotSent), errors.New("the disk is full"),
	} {
		p, failure := decodePart(outcome{now: time.Unix(3, 0), err: fmt.Errorf("here: %w", err)}.encode())
		require.NoError(t, failure)
		assert.Equal(t, "here: "+err.Error(), p.outcome.err.Error())
		assert.Equal(t, time.Unix(3, 0), p.outcome.now)
		for _, kind := range kinds {
			assert.Equal(t, errors.Is(err, kind), errors.Is(p.outcome.err, kind), "%v as %v", err, kind)
		}
	}
}

// TestIncompleteRecordsAreRefused: incomplete records are refused, and so are records that are too long.
func TestIncompleteRecordsAreRefused(t *testing.T) {
	var whole bytes.Buffer
	require.NoError(t, writeRecord(&whole, []byte("record")))
	text := whole.String()
	found, err := readRecord(bufio.NewReader(strings.NewReader(text)))
	require.NoError(t, err)
	assert.Equal(t, "record", string(found))
	for n := range len(text) {
		_, err = readRecord(bufio.NewReader(strings.NewReader(text[:n])))
		assert.Error(t, err, "%d bytes", n)
	}
	for _, header := range []string{"\x00\x00\x00\x00", "\xff\xff\xff\xff"} {
		_, err = readRecord(bufio.NewReader(strings.NewReader(header + "x")))
		assert.ErrorIs(t, err, errMessage)
	}
	require.Error(t, writeRecord(&whole, make([]byte, mostRecord+1)))
}
