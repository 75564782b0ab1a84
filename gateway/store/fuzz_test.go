package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// said is an answer of a store without its identity.
type said struct {
	text     string
	revision store.Revision
}

// ask makes one call of a store. The bytes choose the call.
func ask(t *testing.T, s store.Store, now time.Time, choice [4]byte) said {
	key := fmt.Sprintf("k%d", choice[1]%4)
	log := store.Log([]string{"a", "b"}[choice[1]%2])
	expires := func(by byte) time.Time {
		return []time.Time{{}, now.Add(-time.Second), now.Add(time.Minute), now.Add(3 * time.Minute)}[by%4]
	}
	expect := func(key string) store.Revision {
		e, _ := s.Get(t.Context(), "k", key) // the zero entry if it is absent
		return e.Revision + store.Revision(choice[2]%5/4)
	}
	var changes []store.Change
	answer := ""
	switch choice[0] % 10 {
	case 0, 1:
		changes = []store.Change{{Kind: "k", Key: key, Expect: expect(key), Value: choice[2:],
			Expires: expires(choice[3])}}
	case 2:
		changes = []store.Change{{Kind: "k", Key: key, Expect: expect(key)},
			{Log: log, Value: choice[:], Expires: expires(choice[3])}}
	case 3:
		changes = []store.Change{{Log: log, Through: uint64(choice[2] % 8)}, {Log: log, Value: choice[:]},
			{Kind: "other", Key: key, Expect: store.Revision(choice[2] % 2)}}
	case 4:
		changes = []store.Change{{Kind: "k", Key: key[choice[2]%3:], Value: []byte{}},
			{Log: log, Value: choice[:], Expires: expires(choice[3])}}
	case 5:
		removed, err := s.Sweep(t.Context())
		return said{text: fmt.Sprint(removed, err)}
	case 6:
		end, err := s.End(t.Context(), log)
		require.NoError(t, err)
		after := store.Position{Creation: end.Creation, Sequence: uint64(choice[2] % 16)}
		err = s.Log(t.Context(), log, after, func(a store.Appended) bool {
			answer += fmt.Sprint(a.Position.Sequence, a.Value, " ")
			return len(a.Value) == 0 || choice[3]%4 > 0
		})
		return said{text: fmt.Sprint(answer, end.Sequence, errors.Is(err, store.ErrPosition))}
	case 7:
		visit := func(e store.Entry) bool {
			answer += fmt.Sprint(e.Key, e.Value, e.Revision, e.Expires.Unix(), " ")
			return choice[3]%4 > 0
		}
		prefix := key[:choice[2]%3]
		return said{text: fmt.Sprint(s.Range(t.Context(), "k", prefix, visit),
			s.RangeBack(t.Context(), "k", prefix, visit), answer)}
	}
	if choice[0]%10 > 7 {
		return said{text: update(s, log, key, choice, expires(choice[3]))}
	}
	revision, err := s.Apply(t.Context(), changes...)
	return said{fmt.Sprint(err), revision}
}

// update reads, puts and removes values in one update, which may be refused.
func update(s store.Store, log store.Log, key string, choice [4]byte, expires time.Time) (answer string) {
	err := storetest.Update(context.Background(), s, func(tx *store.Tx) error {
		answer = ""
		visit := func(e store.Entry) bool {
			answer += fmt.Sprint(e.Key, e.Value, e.Revision, " ")
			return true
		}
		if choice[0]%10 == 8 {
			tx.Put("k", key, choice[2:], expires)
			tx.Append(log, choice[:], expires)
		}
		e, err := tx.Get("k", key[choice[2]%3:])
		tx.Delete("k", key+"x"[choice[3]%2:])
		tx.Trim(log, uint64(choice[3]%8))
		answer += fmt.Sprint(e.Value, e.Revision, errors.Is(err, store.ErrAbsent), tx.Range("k", "", visit))
		if choice[1]%8 == 7 {
			return errors.New("refused")
		}
		return nil
	})
	return fmt.Sprint(answer, err)
}

// FuzzDrivers: stores in a file, with and without a journal, and stores in memory give the same
// answers to any calls.
func FuzzDrivers(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x02\x02\x01\x00\x02\x06\x01\x00\x03\x07\x01\x00\x03"))
	f.Add([]byte("\x03\x00\x03\x00\x03\x00\x03\x00\xff\x02\x00\x00\x05\x00\x00\x00\x06\x00\x02\x01\x04\x00\x02\x00"))
	f.Add([]byte("\x08\x00\x03\x02\x09\x00\x00\x01\x08\x07\x00\x02\x08\x01\x02\x03\x07\x00\x00\x01\x06\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, script []byte) {
		clock := storetest.NewClock()
		var stores []store.Store
		for _, driver := range []storetest.Driver{file, leading, memory} {
			s, err := driver.Open(t.TempDir(), clock.Now)
			require.NoError(t, err)
			defer s.Close()
			stores = append(stores, s)
		}
		for calls := 0; len(script) >= 4 && calls < 50; calls++ {
			choice := [4]byte(script)
			script = script[4:]
			if choice[0] == 0xff {
				clock.Advance(time.Duration(choice[1]%4) * time.Minute)
				continue
			}
			said := ask(t, stores[0], clock.Now(), choice)
			for _, s := range stores[1:] {
				require.Equal(t, said, ask(t, s, clock.Now(), choice), "call %d: %v", calls, choice)
			}
		}
	})
}
