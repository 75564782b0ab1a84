package gateway

import (
	"testing"
	"time"

	"adgateway/gateway/keep"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatLeasesAnObject: whether a run that began at a moment gets an object, alone or
// shared, by what the store has of it. Another run, "other", has or had it.
func TestWhatLeasesAnObject(t *testing.T) {
	const group, pair = "g-1", "member g-1 u-9"
	s := newCluster(t, keep.NewMemory(nil), same(&fakeRunner{}), nil).servers[0]
	later, earlier := s.Now().Add(time.Hour), s.Now().Add(-time.Hour)
	shared := func(until time.Time) lease {
		return lease{Sharers: []sharer{{Run: "other", Key: s.leaseKey(pair), Until: until}}}
	}
	its := func(ended bool) *lease { return &lease{Run: "other", Owner: s.owner(time.Minute), Ended: ended} }
	turnOf := func(until time.Time, sharers ...sharer) lease {
		return lease{Sharers: sharers, Next: &turn{Run: "another", Until: until}}
	}
	for name, c := range map[string]struct {
		group  lease
		pair   *lease // written after the group's lease; nil: there is none
		alone  bool   // how the group is wanted
		seen   string // until when the run has seen the store: "nothing", "group" or "all"
		leased bool
	}{
		"shared by a run":                           {shared(later), its(false), true, "all", false},
		"shared until the run began":                {shared(later), its(true), true, "all", true},
		"shared when the run began":                 {shared(later), its(true), true, "group", false},
		"shared since the run began":                {shared(earlier), nil, true, "nothing", false},
		"shared long ago":                           {shared(earlier), nil, true, "all", true},
		"shared by a run that is not found":         {shared(later), nil, true, "all", false},
		"shared by a run that another has followed": {shared(later), &lease{Run: "next", Ended: true}, true, "all", true},
		"shared before, by a stale read":            {lease{Sharers: []sharer{{"other", s.leaseKey(pair), 1 << 40, later}}}, its(true), true, "all", false},
		"to be shared, too":                         {shared(later), its(false), false, "nothing", true},
		"to be shared, had alone":                   {*its(false), nil, false, "all", false},
		"to be shared, had alone before":            {*its(true), nil, false, "all", true},
		"to be shared, had alone since":             {*its(true), nil, false, "nothing", false},
		"to be shared again, had alone since":       {lease{Alone: 1 << 40}, nil, false, "all", false},
		"to be shared, another waits":               {turnOf(later), nil, false, "all", false},
		"to be shared, another has waited":          {turnOf(earlier), nil, false, "all", true},
		"shared already, another waits":             {turnOf(later, sharer{Run: "own"}), nil, false, "all", true},
	} {
		t.Run(name, func(t *testing.T) {
			revisions := map[string]keep.Revision{}
			put := func(object string, one *lease) {
				sum := s.leaseKey(object)
				own := keep.Change{Kind: leaseKind, Key: sum}
				present, err := s.getLease(t.Context(), sum)
				require.NoError(t, err)
				if own.Expect = present.revision; one != nil {
					own.Value, err = keep.Encode(s.store(), *one)
					require.NoError(t, err)
				} else if own.Expect == keep.Absent {
					return
				}
				revision, err := s.store().Apply(t.Context(), own)
				require.NoError(t, err)
				s.seen(revision)
			}
			put(pair, nil)
			revisions["nothing"] = s.latest()
			put(group, &c.group)
			revisions["group"] = s.latest()
			put(pair, c.pair)
			revisions["all"] = s.latest()
			r := &request{hold: &hold{wanted: alone("own")}, seenAt: revisions[c.seen]}
			r.leased().run, r.leased().owner = "own", s.owner(time.Minute)
			r.hold.wanted = append(r.hold.wanted, lock{group, !c.alone})
			all, own, err := s.leasesOf(t.Context(), r)
			if !c.leased {
				require.ErrorIs(t, err, errLeased)
				return
			}
			require.NoError(t, err)
			assert.Len(t, all, 2)
			assert.Contains(t, own, s.leaseKey("own"))
			assert.Equal(t, c.alone, len(own) == 2, "what is shared need not be given back")
			_, err = s.store().Apply(t.Context(), all[1])
			assert.NoError(t, err)
		})
	}
}
