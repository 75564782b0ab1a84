package pins_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/members"
	"adgateway/gateway/pins"
	"adgateway/ps"
)

// engine is a store that can be away.
type engine struct {
	keep.Store
	mu    sync.Mutex
	away  bool
	moves int // of pins

	before func() // is called before each Apply
}

func (e *engine) Apply(ctx context.Context, changes ...keep.Change) (keep.Revision, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.away {
		return 0, keep.ErrUnreachable
	}
	if e.before != nil {
		e.before()
	}
	revision, err := e.Store.Apply(ctx, changes...)
	for _, c := range changes {
		if c.Kind == "pin" && c.Expect != keep.Absent && err == nil {
			e.moves++
		}
	}
	return revision, err
}

// site is the gateways of a site, on one clock.
type site struct {
	t        *testing.T
	clock    *keeptest.Clock
	engine   *engine
	gateways []*gateway
}

type gateway struct {
	*pins.Pins
	self *members.Self
	away bool // from the pinned server
}

func newSite(t *testing.T, n int) *site {
	s := &site{t: t, clock: keeptest.NewClock(), engine: &engine{Store: keep.NewMemory(nil)}}
	for i := range n {
		s.join(fmt.Sprintf("gw%d", i+1), "Berlin")
	}
	return s
}

func (s *site) join(name, at string) *gateway {
	sealed := keeptest.Seal(s.t, s.engine)
	self, err := members.Join(s.t.Context(), sealed, members.Options{Name: name, File: filepath.Join(s.t.TempDir(), name), Site: at, Now: s.clock.Now})
	require.NoError(s.t, err)
	g := &gateway{self: self, Pins: pins.New(pins.Options{Store: sealed, Members: func() *members.Self { return self }, Site: at, Now: s.clock.Now})}
	s.gateways = append(s.gateways, g)
	return g
}

// pass lets so many seconds pass, in which each gateway looks at its servers.
func (s *site) pass(seconds int) {
	for range seconds {
		s.clock.Advance(time.Second)
		for _, g := range s.gateways {
			pinned, _ := g.Pinned(s.t.Context(), ps.Directory)
			other := "dc2"
			if pinned == "dc2" {
				other = "dc1"
			}
			g.Reached(ps.Directory, pinned, pinned == "dc2" || !g.away, other)
			g.self.Tick(s.t.Context())
			g.Tick(s.t.Context())
		}
	}
}

func (s *site) servers() (all []string) {
	for _, g := range s.gateways {
		server, _ := g.Pinned(s.t.Context(), ps.Directory)
		all = append(all, server)
	}
	return all
}

// TestWhenAPinIsMoved: by most of those that live, once, for all, and never without the
// engine.
func TestWhenAPinIsMoved(t *testing.T) {
	for name, c := range map[string]struct {
		away   []int // gateways that cannot reach dc1
		engine bool  // is away
		want   string
		moves  int
	}{
		"none":                     {nil, false, "dc1", 0},
		"one":                      {[]int{2}, false, "dc1", 0},
		"two":                      {[]int{1, 2}, false, "dc2", 1},
		"all":                      {[]int{0, 1, 2}, false, "dc2", 1},
		"all, without the engine":  {[]int{0, 1, 2}, true, "dc1", 0},
		"none, without the engine": {nil, true, "dc1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 3)
			for _, g := range s.gateways { // each would like another one
				require.NoError(t, g.Pin(t.Context(), ps.Directory, "dc1"))
			}
			s.pass(20)
			require.Equal(t, []string{"dc1", "dc1", "dc1"}, s.servers())
			for _, i := range c.away {
				s.gateways[i].away = true
			}
			s.engine.mu.Lock()
			s.engine.away = c.engine
			s.engine.mu.Unlock()
			seconds := 40
			if c.engine {
				seconds = 18 // each write is tried for a while
			}
			s.pass(seconds)
			assert.Equal(t, []string{c.want, c.want, c.want}, s.servers())
			assert.Equal(t, c.moves, s.engine.moves)
			_, epoch := s.gateways[0].Pinned(t.Context(), ps.Directory)
			assert.Equal(t, uint64(1+c.moves), epoch)
			for i, g := range s.gateways {
				if c.moves > 0 {
					pass, err := g.self.Pass(t.Context(), g.self.Begin())
					require.NoError(t, err)
					assert.ErrorIs(t, pass.Refresh(t.Context()), members.ErrFenced, "gateway %d", i)
					pass.End()
				}
			}
		})
	}
}

// TestAPinIsMovedAfterAWhile: not before most could not reach it for ten seconds.
func TestAPinIsMovedAfterAWhile(t *testing.T) {
	s := newSite(t, 3)
	require.NoError(t, s.gateways[0].Pin(t.Context(), ps.Directory, "dc1"))
	s.pass(10)
	s.gateways[0].away, s.gateways[1].away = true, true
	s.pass(8)
	assert.Zero(t, s.engine.moves)
	s.gateways[0].away = false
	s.pass(30)
	assert.Zero(t, s.engine.moves, "one of them reaches it again")
	s.gateways[0].away = true
	s.pass(17) // a heartbeat, and ten seconds
	assert.Equal(t, 1, s.engine.moves)
}

// TestOtherSitesHaveTheirOwn: a site does not move the pin of another.
func TestOtherSitesHaveTheirOwn(t *testing.T) {
	s := newSite(t, 2)
	other := s.join("gw9", "Rome")
	for _, g := range s.gateways {
		require.NoError(t, g.Pin(t.Context(), ps.Directory, "dc1"))
	}
	s.pass(10)
	s.gateways[0].away, s.gateways[1].away = true, true
	s.pass(60)
	assert.Equal(t, []string{"dc2", "dc2", "dc1"}, s.servers())
	pass, err := other.self.Pass(t.Context(), other.self.Begin())
	require.NoError(t, err)
	defer pass.End()
	require.NoError(t, pass.Refresh(t.Context()), "its fences stay")
	all, err := pins.Read(t.Context(), keeptest.Seal(t, s.engine))
	require.NoError(t, err)
	assert.Len(t, all, 2)
}

// TestOnesThatLeftDoNotCount: the majority is that of the gateways that live.
func TestOnesThatLeftDoNotCount(t *testing.T) {
	s := newSite(t, 3)
	require.NoError(t, s.gateways[0].Pin(t.Context(), ps.Directory, "dc1"))
	s.pass(10)
	s.gateways = s.gateways[:1] // two are silent
	s.gateways[0].away = true
	s.pass(40)
	assert.Equal(t, []string{"dc2"}, s.servers())
}

// TestThePinIsAsNewAsTheFences: whoever has seen that its fences were moved reads the new pin.
func TestThePinIsAsNewAsTheFences(t *testing.T) {
	s := newSite(t, 2)
	require.NoError(t, s.gateways[0].Pin(t.Context(), ps.Directory, "dc1"))
	s.pass(10)
	g := s.gateways[1]
	begun := g.self.Begin()
	require.Equal(t, []string{"dc1", "dc1"}, s.servers())
	s.gateways[0].away = true
	g.self.Report(func(m *members.Member) { m.Reach = map[string]bool{string(ps.Directory): false} }) // and looks at nothing
	s.gateways = s.gateways[:1]
	for range 60 {
		s.pass(1)
		g.self.Tick(t.Context())
	}
	pass, err := g.self.Pass(t.Context(), begun)
	require.NoError(t, err)
	defer pass.End()
	require.ErrorIs(t, pass.Refresh(t.Context()), members.ErrFenced)
	assert.Greater(t, g.self.Begin(), begun)
	server, _ := g.Pinned(t.Context(), ps.Directory)
	assert.Equal(t, "dc2", server)
}

// TestAnAdministratorMovesAPin: once there is one, for all gateways of the site, with their
// fences.
func TestAnAdministratorMovesAPin(t *testing.T) {
	s := newSite(t, 2)
	store := keeptest.Seal(t, s.engine)
	require.ErrorIs(t, pins.Move(t.Context(), store, "Berlin", ps.Directory, "dc2"), pins.ErrNoPin)
	require.NoError(t, s.gateways[0].Pin(t.Context(), ps.Directory, "dc1"))
	begun := s.gateways[1].self.Begin()
	require.NoError(t, pins.Move(t.Context(), store, "Berlin", ps.Directory, "dc2"))
	assert.Equal(t, []string{"dc2", "dc2"}, s.servers())
	pass, err := s.gateways[1].self.Pass(t.Context(), begun)
	require.NoError(t, err)
	defer pass.End()
	require.ErrorIs(t, pass.Refresh(t.Context()), members.ErrFenced)
	all, err := pins.Read(t.Context(), store)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "an administrator has chosen it", all[0].Reason)
}

// TestAPinThatIsSealedAnewIsMoved: its value is written again while it is moved, under a new
// version of the key.
func TestAPinThatIsSealedAnewIsMoved(t *testing.T) {
	s := newSite(t, 2)
	require.NoError(t, s.gateways[0].Pin(t.Context(), ps.Directory, "dc1"))
	once := sync.OnceFunc(func() {
		found, err := s.engine.Store.Get(t.Context(), "pin", "Berlin/directory")
		require.NoError(t, err)
		_, err = s.engine.Store.Apply(t.Context(), keep.Change{Kind: "pin", Key: found.Key, Expect: found.Revision, Value: found.Value})
		require.NoError(t, err)
	})
	s.engine.before = once
	require.NoError(t, pins.Move(t.Context(), keeptest.Seal(t, s.engine), "Berlin", ps.Directory, "dc2"))
	assert.Equal(t, []string{"dc2", "dc2"}, s.servers())
}

// TestAGatewayThatJoinsWhileAPinIsMoved is one whose runs have read the old pin: they are
// fenced, too.
func TestAGatewayThatJoinsWhileAPinIsMoved(t *testing.T) {
	s := newSite(t, 2)
	require.NoError(t, s.gateways[0].Pin(t.Context(), ps.Directory, "dc1"))
	var late *members.Self
	var begun uint64
	s.engine.before = sync.OnceFunc(func() { // after it was read who is a member
		var err error
		late, err = members.Join(t.Context(), keeptest.Seal(t, s.engine.Store), members.Options{Name: "late", File: filepath.Join(t.TempDir(), "late"), Site: "Berlin", Now: s.clock.Now})
		require.NoError(t, err)
		begun = late.Begin()
	})
	require.NoError(t, pins.Move(t.Context(), keeptest.Seal(t, s.engine), "Berlin", ps.Directory, "dc2"))
	require.NotNil(t, late)
	pass, err := late.Pass(t.Context(), begun)
	require.NoError(t, err)
	defer pass.End()
	assert.ErrorIs(t, pass.Refresh(t.Context()), members.ErrFenced)
}
