package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/bounds"
	"adgateway/gateway/identity"
)

func TestPlansHaveABudget(t *testing.T) {
	now := time.Now()
	s := newShelf(Limits{Bytes: 400}, func() time.Time { return now })
	one, other := identity.Who{Kind: "token", Name: "one", ID: "1"}, identity.Who{Kind: "token", Name: "other",
		ID: "2"}
	put := func(by identity.Who, id string, bytes int64) []string {
		return s.put(by, shelved{id: id, bytes: bytes, expires: now.Add(time.Hour)})
	}
	assert.Empty(t, put(one, "a", 60))
	assert.Empty(t, put(other, "x", 100))
	assert.Equal(t, []string{"a"}, put(one, "b", 60), "a quarter is 100 bytes")
	assert.Equal(t, []string{"b"}, put(one, "c", 500)[:1], "the newest one stays")
	assert.Equal(t, []string{"c"}, put(one, "d", 10))
	for i := range 4 {
		put(identity.Who{Kind: "token", ID: fmt.Sprint("caller ", i)}, fmt.Sprint(i), 60)
	}
	assert.Equal(t, []string{"x"}, put(one, "e", 90)[1:], "all of them take from the one that has most")

	now = now.Add(2 * time.Hour)
	assert.Empty(t, put(one, "f", 100), "those that have expired do not count")

	many := newShelf(Limits{}, time.Now)
	var surplus []string
	for i := range bounds.Plans.Own + 2 {
		surplus = append(surplus, many.put(one,
			shelved{id: fmt.Sprint(i), bytes: 1, expires: time.Now().Add(time.Hour)})...)
	}
	assert.Equal(t, []string{"0", "1"}, surplus)

	low := bounds.NewRoom(func() (int64, error) { return 0, nil }, 0, time.Now)
	short := newShelf(Limits{Bytes: 1 << 30, Room: low}, time.Now)
	short.put(one, shelved{id: "a", bytes: bounds.Least, expires: time.Now().Add(time.Hour)})
	assert.Equal(t, []string{"a"},
		short.put(one, shelved{id: "b", bytes: 1, expires: time.Now().Add(time.Hour)}),
		"as little is left on the disk")
}
