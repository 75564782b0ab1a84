package bounds

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disk is the disk of a room.
type disk struct {
	free int64
	err  error
	now  time.Time
}

func (d *disk) room(keep int64) *Room {
	return NewRoom(func() (int64, error) { return d.free, d.err }, keep, func() time.Time { return d.now })
}

// TestOneCallerLeavesRoomToOthers: a caller that takes as much as it may leaves most of the room to the
// others, no matter how many callers do so.
func TestOneCallerLeavesRoomToOthers(t *testing.T) {
	const all, keep, each = 156 << 20, 64 << 20, 16 << 10
	d := &disk{free: all + keep, now: time.Now()}
	r := d.room(keep)
	flood := func(by string) {
		for range all / each {
			if err := r.Admit(by); err != nil {
				var full *Full
				require.ErrorAs(t, err, &full)
				assert.Contains(t, full.Sentences(), "store.minFree")
				return
			}
			r.Take(by, each)
			d.free -= each
		}
		t.Fatal("nothing is refused")
	}
	before, _ := r.Left()
	for i := range 5 {
		flood(fmt.Sprint("caller ", i))
		d.now = d.now.Add(freeFor)
		left, known := r.Left()
		require.True(t, known)
		assert.GreaterOrEqual(t, left, before*3/4-before/100, "caller %d", i)
		before = left
		require.NoError(t, r.Admit("another"))
	}
	assert.Greater(t, d.free, int64(keep))
	d.now = d.now.Add(25 * time.Hour)
	require.NoError(t, r.Admit("caller 0"), "a day later it may take more")
}

func TestRoomThatIsNotKnown(t *testing.T) {
	d := &disk{err: errors.New("no such volume"), now: time.Now()}
	r := d.room(1 << 20)
	r.Take("one", 1<<40)
	require.NoError(t, r.Admit("one"))
	most, short := r.Share(1 << 30)
	assert.Equal(t, int64(1<<28), most)
	assert.False(t, short)
	assert.False(t, r.Low())

	var none *Room
	none.Take("one", 1)
	require.NoError(t, none.Admit("one"))
	most, _ = none.Share(400)
	assert.Equal(t, int64(100), most)
}

func TestLittleRoom(t *testing.T) {
	d := &disk{free: 70 << 20, now: time.Now()}
	r := d.room(64 << 20)
	most, short := r.Share(1 << 30)
	assert.True(t, short)
	assert.Equal(t, int64(6<<20/Share), most)
	assert.False(t, r.Low())
	d.free, d.now = 60<<20, d.now.Add(time.Minute)
	assert.True(t, r.Low())
	require.NoError(t, r.Admit("one"), "whoever has taken nothing may still make changes")
	most, _ = r.Share(1 << 30)
	assert.Equal(t, int64(Least), most)
}
