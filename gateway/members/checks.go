package members

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// clocksDiffer is the difference of clocks with which a gateway makes no changes.
const clocksDiffer = 10 * time.Second

// Check is how the membership is, or one side of it.
type Check struct {
	Name     string // "members", "clock" or "agreement"
	OK       bool   // changes can be made
	Reason   string // why not, or what is wrong although they can
	Degraded bool   // they can, but something needs attention
}

// Skew returns how far the clock of this gateway is ahead of those of the others; negative:
// behind. With two members that may as well be the fault of the other one. It is 0 as long
// as nothing was compared.
func (s *Self) Skew() time.Duration {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skew()
}

// skew is Skew; the mutex is held.
func (s *Self) skew() time.Duration {
	ahead := []time.Duration{0} // of the own clock: the others', and the own itself
	for _, other := range s.others {
		if other.compared && !other.lapsed(s.options.Now(), 0) {
			ahead = append(ahead, other.skew)
		}
	}
	slices.Sort(ahead)
	middle := ahead[len(ahead)/2]
	if below := ahead[(len(ahead)-1)/2]; below.Abs() > middle.Abs() {
		middle = below // of an even number, the one that differs more
	}
	return -middle
}

// Refuses returns why this gateway must not make changes; nil if it may.
func (s *Self) Refuses() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch skew := s.skew(); {
	case s.joined.IsZero():
		return fmt.Errorf("it has not joined the other gateways yet: %w", s.why())
	case s.replaced:
		return errors.New("another gateway has joined under its name, from a copy of its disk: stop one of the two, and run 'adgateway cluster rejoin' on the other under its own name (cluster.gateway)")
	case skew.Abs() >= clocksDiffer:
		return fmt.Errorf("its clock is %s those of the other gateways: correct the time of this host, or of the other if there are two", apart(skew))
	case s.lapsed():
		return fmt.Errorf("it could not tell the other gateways for %s that it lives: %w", s.options.Now().Sub(s.beaten).Round(time.Second), s.why())
	}
	return nil
}

// Lapsed reports whether the others count this gateway as gone, as it could not tell them for
// [Lapse] that it lives, or has not joined them yet. For nil it is false.
func (s *Self) Lapsed() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined.IsZero() || s.lapsed()
}

// lapsed reports whether the last heartbeat was made too long ago; the mutex is held.
func (s *Self) lapsed() bool { return s.options.Now().Sub(s.beaten) >= Lapse }

// why returns why there was no heartbeat.
func (s *Self) why() error {
	if s.fault != nil {
		return s.fault
	}
	return errors.New("the process did not run")
}

// mostConnections is how many connections a controller takes of one account (facts D19).
const mostConnections = 5

// crowded returns why gateways of a site may be refused connections to its controller, as
// they use one account; empty: they do not.
func crowded(live []Member, own Member) string {
	var others []string
	connections := own.Connections
	for i := range live {
		other := &live[i]
		if other.Name != own.Name && own.Account != "" && other.Site == own.Site && strings.EqualFold(other.Account, own.Account) {
			others, connections = append(others, "'"+other.Name+"'"), connections+other.Connections
		}
	}
	if len(others) == 0 || connections <= mostConnections {
		return ""
	}
	return fmt.Sprintf("the account %s is that of %s, too, and all of them may open %d connections to a domain controller, which takes %d of an account and refuses more: give each gateway an account of its own, or fewer sessions (pool.directorySessions)",
		own.Account, strings.Join(others, " and "), connections, mostConnections)
}

func apart(skew time.Duration) string {
	if skew < 0 {
		return (-skew).Round(100*time.Millisecond).String() + " behind"
	}
	return skew.Round(100*time.Millisecond).String() + " ahead of"
}

// Checks returns how the membership is, for /readyz; none for nil.
func (s *Self) Checks() []Check {
	if s == nil {
		return nil
	}
	if err := s.Refuses(); err != nil {
		return []Check{{Name: "members", Reason: fmt.Sprintf("the gateway '%s' makes no changes: %v", s.Name(), err)}}
	}
	live, skew := s.Live(), s.Skew()
	s.mu.Lock()
	defer s.mu.Unlock()
	members := Check{Name: "members", OK: true}
	if s.fault != nil {
		members.Degraded, members.Reason = true, s.fault.Error()
	}
	clock := Check{Name: "clock", OK: true}
	if skew.Abs() >= s.options.ClockWarn {
		clock.Degraded, clock.Reason = true, fmt.Sprintf("the clock is %s those of the other gateways, and with %s no changes are made", apart(skew), clocksDiffer)
	}
	agreement := Check{Name: "agreement", OK: true}
	var remembered []Member
	for _, name := range slices.Sorted(maps.Keys(s.others)) {
		remembered = append(remembered, s.others[name].Member)
	}
	differ := Holding(remembered, s.store.Newest())
	for i := range live {
		other := &live[i]
		if other.Format > s.own.Format {
			differ = append(differ, fmt.Sprintf("'%s' is newer (%s) and reads formats up to %d, this one up to %d: update this one", other.Name, other.Version, other.Format, s.own.Format))
		}
		if other.Settings != s.own.Settings {
			differ = append(differ, fmt.Sprintf("'%s' has other limits, roles or keeping times: make the settings equal", other.Name))
		}
	}
	if crowded := crowded(live, s.own.Member); crowded != "" {
		differ = append(differ, crowded)
	}
	if len(differ) > 0 {
		agreement.Degraded, agreement.Reason = true, strings.Join(differ, "; ")
	}
	return []Check{members, clock, agreement}
}
