package identity

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Quota limits how much an account does. An absent field means the server's
// default; zero allows nothing.
type Quota struct {
	Rate                  Rate `json:"rate,omitempty"`        // requests
	Concurrency           *int `json:"concurrency,omitempty"` // concurrent requests
	DeletionsPerHour      *int `json:"deletionsPerHour,omitempty"`
	PasswordResetsPerHour *int `json:"passwordResetsPerHour,omitempty"`
	ChangesPerHour        *int `json:"changesPerHour,omitempty"` // objects disabled, renamed or moved, and memberships ended
}

// Rate is a number of requests per second, minute or hour, such as "10/s", "600/m"
// or "5000/h". That many are allowed at once, and replenished evenly over the time.
// The empty rate means no limit.
type Rate string

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// parse parses a rate.
func (r Rate) parse() (limit rate.Limit, burst int, err error) {
	if r == "" {
		return rate.Inf, 0, nil
	}
	count, unit, _ := strings.Cut(string(r), "/")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > 1000000 || rateUnits[unit] == 0 {
		return 0, 0, fmt.Errorf("%q is not a rate: write requests per second, minute or hour, such as 10/s, 600/m or 5000/h", string(r))
	}
	return rate.Limit(float64(n) / rateUnits[unit].Seconds()), n, nil
}

// Check returns what is wrong with the rate.
func (r Rate) Check() error {
	_, _, err := r.parse()
	return err
}

// Check returns every mistake in the quota, joined.
func (q *Quota) Check() error {
	faults := []error{q.Rate.Check()}
	for _, n := range []struct {
		what   string
		number *int
	}{
		{"requests at once", q.Concurrency}, {"deletions per hour", q.DeletionsPerHour}, {"password resets per hour", q.PasswordResetsPerHour},
		{"changes per hour", q.ChangesPerHour},
	} {
		if n.number != nil && (*n.number < 0 || *n.number > maxPerHour) {
			faults = append(faults, fmt.Errorf("%d is not a number of %s: write 0 to %d", *n.number, n.what, maxPerHour))
		}
	}
	return errors.Join(faults...)
}

const maxPerHour = 1000000

// over completes the quota with defaults.
func (q *Quota) over(defaults Quota) Quota {
	if q == nil {
		return defaults
	}
	full := *q
	if full.Rate == "" {
		full.Rate = defaults.Rate
	}
	for own, standard := range map[**int]*int{
		&full.Concurrency: defaults.Concurrency, &full.DeletionsPerHour: defaults.DeletionsPerHour, &full.PasswordResetsPerHour: defaults.PasswordResetsPerHour,
		&full.ChangesPerHour: defaults.ChangesPerHour,
	} {
		if *own == nil {
			*own = standard
		}
	}
	return full
}

// Impact is a kind of damage that a request can do. Each is counted per hour.
type Impact uint8

// The impacts.
const (
	Deletion Impact = iota
	PasswordReset
	Change // disabling, renaming, moving, ending a membership
	impacts
)

// String returns the name that a ledger keeps the impact under.
func (i Impact) String() string { return impactNames[i] }

var impactNames = [impacts]string{"deletion", "passwordReset", "change"}

// ImpactNamed returns the impact whose String is name, and whether there is one.
func ImpactNamed(name string) (of Impact, known bool) {
	i := slices.Index(impactNames[:], name)
	return Impact(max(i, 0)), i >= 0
}

// verbs describe the impacts in messages.
var verbs = [impacts]struct{ may, one, many string }{
	Deletion:      {"remove", "object", "objects"},
	PasswordReset: {"reset", "password", "passwords"},
	Change:        {"disable, rename, move or take out of groups", "object", "objects"},
}

// meter counts what a caller does; see [Meters].
type meter struct {
	now      func() time.Time
	limiter  atomic.Pointer[rate.Limiter]
	running  atomic.Int64
	most     atomic.Int64              // maximum of concurrent requests
	full     atomic.Pointer[allowance] // the rate, of all gateways together
	gateways atomic.Int64              // that share it and the maximum; zero: not known yet

	recalling sync.Mutex // held while a ledger is read

	mu    sync.Mutex
	spent [impacts]window
}

func newMeter(now func() time.Time) *meter {
	return &meter{now: now}
}

// set applies a quota. The counters are kept, except that of a rate that changes.
func (m *meter) set(q Quota) {
	limit, burst, err := q.Rate.parse()
	if err != nil {
		limit, burst = 0, 0 // cannot happen in a checked quota: admit nothing
	}
	full := allowance{limit, burst}
	if old := m.full.Swap(&full); old == nil || *old != full {
		m.limiter.Store(rate.NewLimiter(full.among(m.gateways.Load())))
	}
	m.most.Store(int64(numberOr(q.Concurrency, math.MaxInt)))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent[Deletion].limit = q.DeletionsPerHour
	m.spent[PasswordReset].limit = q.PasswordResetsPerHour
	m.spent[Change].limit = q.ChangesPerHour
}

// allowance is a rate and how much of it may come at once.
type allowance struct {
	limit rate.Limit
	burst int
}

// among returns the part of one of some gateways, which is something if the whole is.
func (a allowance) among(gateways int64) (rate.Limit, int) {
	if gateways <= 1 || a.limit == rate.Inf {
		return a.limit, a.burst
	}
	return a.limit / rate.Limit(gateways), min(a.burst, (a.burst+int(gateways)-1)/int(gateways))
}

// divide makes the counters those of one of some gateways that share what an account may
// do. What was counted stays.
func (m *meter) divide(gateways int64) {
	if m.gateways.Swap(gateways) == gateways {
		return
	}
	limiter, now := m.limiter.Load(), m.now()
	limit, burst := m.full.Load().among(gateways)
	limiter.SetLimitAt(now, limit)
	limiter.SetBurstAt(now, burst)
}

func numberOr(n *int, standard int) int {
	if n == nil {
		return standard
	}
	return *n
}

// Enter counts a request against the principal's rate and concurrency, of which this is one
// of some gateways. Unless it returns an [*Exceeded], Leave must be called.
func (p *Principal) Enter(gateways int) error {
	m := p.meter
	if m == nil {
		return nil
	}
	m.divide(int64(gateways))
	most := m.most.Load()
	if most > 0 {
		most = max(1, most/int64(gateways))
	}
	if m.running.Add(1) > most {
		m.running.Add(-1)
		return tooMany(time.Second, "The %s may run %s at once. Try again when one has ended.", p, amount(int(most), "request", "requests"))
	}
	now, limiter := m.now(), m.limiter.Load()
	taken := limiter.ReserveN(now, 1)
	if !taken.OK() {
		m.running.Add(-1)
		return tooMany(time.Hour, "The %s may send no requests.", p)
	}
	const rounding = time.Millisecond // the limiter computes in floating point
	if wait := taken.DelayFrom(now); wait > rounding {
		taken.CancelAt(now)
		m.running.Add(-1)
		return tooMany(wait, "The %s sends more requests than it may: %d at once and %s on average.", p, limiter.Burst(), perTime(limiter.Limit()))
	}
	return nil
}

// Leave ends a request that Enter admitted.
func (p *Principal) Leave() {
	if p.meter != nil {
		p.meter.running.Add(-1)
	}
}

func perTime(limit rate.Limit) string {
	if limit >= 1 {
		return fmt.Sprintf("%.4g a second", float64(limit))
	}
	return fmt.Sprintf("one every %s", time.Duration(float64(time.Second)/float64(limit)).Round(time.Second))
}

// Exceeded is the error of a caller that does more than its quota allows.
type Exceeded struct {
	Message    string        // for the caller
	RetryAfter time.Duration // at least a second
}

func (e *Exceeded) Error() string { return e.Message }

func tooMany(wait time.Duration, format string, args ...any) *Exceeded {
	return &Exceeded{Message: fmt.Sprintf(format, args...), RetryAfter: max(wait, time.Second)}
}

// Recall adds what was spent of an impact before the gateway was started, which spent
// returns as numbers by time. It is called once, if the principal has such a limit; an
// error is returned, and the next Recall calls it again. If the impact is shared with other
// gateways, it is called each time, and what it returns is all that counts: what runs
// of this gateway have reserved is among it.
func (p *Principal) Recall(kind Impact, shared bool, spent func() (map[time.Time]int, error)) error {
	m := p.meter
	if m == nil {
		return nil
	}
	m.recalling.Lock()
	defer m.recalling.Unlock()
	m.mu.Lock()
	due := m.spent[kind].limit != nil && (shared || !m.spent[kind].recalled)
	m.mu.Unlock()
	if !due {
		return nil
	}
	before, err := spent()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.spent[kind]
	w.recalled, w.shared = true, shared
	if shared {
		w.events = nil
	}
	for at, n := range before {
		w.events = append(w.events, event{at, n})
	}
	slices.SortFunc(w.events, func(a, b event) int { return a.at.Compare(b.at) })
	return nil
}

// Spend reserves up to most of an impact before a run, so that concurrent runs do
// not spend the same. If nothing is left, it returns an [*Exceeded] that says when there
// will be. Unless it does, Settle must be called.
func (p *Principal) Spend(kind Impact, most int) (*Spending, error) {
	s := &Spending{principal: p, kind: kind, held: most}
	m := p.meter
	if m == nil {
		return s, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w, now := &m.spent[kind], m.now()
	if w.limit != nil {
		if s.held = min(most, w.left(now)); s.held == 0 {
			return nil, p.overspent(kind, 1, now)
		}
	}
	if !w.shared {
		w.held += s.held
	}
	return s, nil
}

// overspent returns why n more of an impact are too many. m.mu is held.
func (p *Principal) overspent(kind Impact, n int, now time.Time) *Exceeded {
	w, verb := &p.meter.spent[kind], verbs[kind]
	text := fmt.Sprintf("The %s may %s %s an hour and has %d left.", p, verb.may, amount(*w.limit, verb.one, verb.many), w.left(now))
	if n > *w.limit {
		return tooMany(hour, "%s So many are never allowed at once.", text)
	}
	at := w.enough(n, now)
	return tooMany(at.Sub(now), "%s It may %s more from %s.", text, verb.may, at.UTC().Truncate(time.Second).Add(time.Second).Format(time.RFC3339))
}

func amount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Spending is what a run has reserved and not settled yet.
type Spending struct {
	principal *Principal
	kind      Impact
	held      int
	settled   bool
}

// Held returns how many the run may spend at most.
func (s *Spending) Held() int { return s.held }

// Limit returns how many an hour the principal may spend, and whether there is such a
// limit, so that it must be known later what it has spent.
func (s *Spending) Limit() (limit int, limited bool) {
	m := s.principal.meter
	if m == nil {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := m.spent[s.kind].limit; of != nil {
		return *of, true
	}
	return 0, false
}

// Impact returns what it is.
func (s *Spending) Impact() Impact { return s.kind }

// Settle counts what the run actually did and releases the rest. Only the first
// call has an effect.
func (s *Spending) Settle(n int) {
	m := s.principal.meter
	if m == nil || s.settled {
		return
	}
	s.settled = true
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.spent[s.kind]
	if w.shared {
		return // the ledger has it
	}
	w.held -= s.held
	w.add(n, m.now())
}

// Exceeded returns the [*Exceeded] of a run that would have spent more than it had
// reserved, or nil if the principal has no such limit.
func (s *Spending) Exceeded() error {
	m := s.principal.meter
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent[s.kind].limit == nil {
		return nil
	}
	return s.principal.overspent(s.kind, s.held+1, m.now())
}

const hour = time.Hour

// window counts events of the last hour.
type window struct {
	limit    *int // nil means no limit
	held     int  // reserved by runs
	events   []event
	recalled bool // those from before the start are among them
	shared   bool // events are those of all gateways, and reservations are among them
}

// event is a number of events in one second.
type event struct {
	at time.Time
	n  int
}

func (w *window) add(n int, now time.Time) {
	if n <= 0 {
		return
	}
	w.forget(now)
	if last := len(w.events) - 1; last >= 0 && now.Sub(w.events[last].at) < time.Second {
		w.events[last].n += n
		return
	}
	w.events = append(w.events, event{now, n})
}

// forget drops events that are older than an hour, or in the future because the
// clock was set back.
func (w *window) forget(now time.Time) {
	kept := w.events[:0]
	for _, e := range w.events {
		if e.at.After(now) {
			e.at = now
		}
		if now.Sub(e.at) < hour {
			kept = append(kept, e)
		}
	}
	w.events = kept
}

func (w *window) left(now time.Time) int {
	w.forget(now)
	left := *w.limit - w.held
	for _, e := range w.events {
		left -= e.n
	}
	return max(left, 0)
}

// enough returns when n will be left if nothing more is spent, assuming that
// reservations are released at once.
func (w *window) enough(n int, now time.Time) time.Time {
	missing := n - *w.limit
	for _, e := range w.events {
		missing += e.n
	}
	for _, e := range w.events {
		if missing <= 0 {
			break
		}
		if missing -= e.n; missing <= 0 {
			return e.at.Add(hour)
		}
	}
	return now.Add(time.Second)
}
