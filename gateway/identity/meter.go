package identity

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// meter counts the actions of a caller, see [Meters].
type meter struct {
	now      func() time.Time
	running  atomic.Int64
	buckets  atomic.Pointer[[]*bucket]
	gateways atomic.Int64 // gateways that share the rates and the concurrency; zero if unknown

	recalling sync.Mutex // held while a ledger is read

	mu    sync.Mutex // held while buckets are replaced; guards the field below
	spent [impacts]window
}

func newMeter(now func() time.Time) *meter {
	m := &meter{now: now}
	m.buckets.Store(&[]*bucket{})
	return m
}

// gauge is a meter with its caller's limits in one role.
type gauge struct {
	*meter
	rate    *bucket
	most    int64 // maximum number of concurrent requests
	perHour [impacts]*int
}

// with returns the meter with the limits of a quota. The counts are kept.
func (m *meter) with(q Quota) *gauge {
	limit, burst, err := q.Rate.parse()
	if err != nil {
		limit, burst = 0, 0 // impossible in a checked quota; admit nothing
	}
	g := &gauge{meter: m, rate: m.bucket(allowance{limit, burst}),
		most: int64(numberOr(q.Concurrency, math.MaxInt))}
	g.perHour[Deletion] = q.DeletionsPerHour
	g.perHour[PasswordReset] = q.PasswordResetsPerHour
	g.perHour[Change] = q.ChangesPerHour
	reveals := numberOr(q.RevealsPerHour, DefaultReveals)
	g.perHour[Reveal] = &reveals
	return g
}

// bucket is a rate that the caller has, or had, in one of its roles. Each request of the caller takes a token
// from every bucket, so using another role does not allow more requests.
type bucket struct {
	allowance
	*rate.Limiter
}

// mostBuckets is the maximum number of remembered rates per caller.
const mostBuckets = 64

// bucket returns the bucket for a rate. A new bucket starts with as many tokens taken as the
// most used existing bucket, because the caller has already sent those requests.
func (m *meter) bucket(full allowance) *bucket {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := *m.buckets.Load()
	if i := slices.IndexFunc(all, func(b *bucket) bool { return b.allowance == full }); i >= 0 {
		return all[i]
	}
	b, now, sent := &bucket{full, rate.NewLimiter(full.among(m.gateways.Load()))}, m.now(), 0.0
	for _, other := range all {
		sent = max(sent, float64(other.Burst())-other.TokensAt(now))
	}
	b.AllowN(now, min(b.Burst(), int(math.Round(sent))))
	all = append(slices.Clone(all[max(0, len(all)-mostBuckets+1):]), b)
	m.buckets.Store(&all)
	return b
}

// allowance is a rate and its burst.
type allowance struct {
	limit rate.Limit
	burst int
}

// among returns one gateway's share of the allowance. The share is 0 only if the allowance is 0.
func (a allowance) among(gateways int64) (rate.Limit, int) {
	if gateways <= 1 || a.limit == rate.Inf {
		return a.limit, a.burst
	}
	return a.limit / rate.Limit(gateways), min(a.burst, (a.burst+int(gateways)-1)/int(gateways))
}

// divide lowers the limits of the counters to one gateway's share. The counts are kept.
func (m *meter) divide(gateways int64) {
	if m.gateways.Swap(gateways) == gateways {
		return
	}
	now := m.now()
	for _, b := range *m.buckets.Load() {
		limit, burst := b.among(gateways)
		b.SetLimitAt(now, limit)
		b.SetBurstAt(now, burst)
	}
}

func numberOr(n *int, standard int) int {
	if n == nil {
		return standard
	}
	return *n
}

// Enter counts a request against the principal's rate and concurrency, which several gateways may
// share. Unless Enter returns an [*Exceeded], the caller must call Leave.
func (p *Principal) Enter(gateways int) error {
	g := p.gauge
	if g == nil {
		return nil
	}
	g.divide(int64(gateways))
	most := g.most
	if most > 0 {
		most = max(1, most/int64(gateways))
	}
	if g.running.Add(1) > most {
		g.running.Add(-1)
		return tooMany("concurrency", time.Second, "The %s may run %s at once. Try again when one has ended.",
			p, amount(int(most), "request", "requests"))
	}
	now := g.now()
	taken := g.rate.ReserveN(now, 1)
	if !taken.OK() {
		g.running.Add(-1)
		return tooMany("rate", time.Hour, "The %s may send no requests.", p)
	}
	const rounding = time.Millisecond // the limiter computes in floating point
	if wait := taken.DelayFrom(now); wait > rounding {
		taken.CancelAt(now)
		g.running.Add(-1)
		return tooMany("rate", wait, "The %s sends more requests than it may: %d at once and %s on average.",
			p, g.rate.Burst(), perTime(g.rate.Limit()))
	}
	for _, other := range *g.buckets.Load() {
		if other != g.rate {
			other.AllowN(now, 1) // an empty bucket only refuses requests in its own role
		}
	}
	return nil
}

// Leave ends a request admitted by Enter.
func (p *Principal) Leave() {
	if p.gauge != nil {
		p.gauge.running.Add(-1)
	}
}

func perTime(limit rate.Limit) string {
	if limit >= 1 {
		return fmt.Sprintf("%.4g a second", float64(limit))
	}
	return fmt.Sprintf("one every %s", time.Duration(float64(time.Second)/float64(limit)).Round(time.Second))
}

// Exceeded is the error for a caller that exceeds its quota.
type Exceeded struct {
	Limit      string        // name of the limit in a [Quota]
	Message    string        // for the caller
	RetryAfter time.Duration // at least one second
}

func (e *Exceeded) Error() string { return e.Message }

func tooMany(limit string, wait time.Duration, format string, args ...any) *Exceeded {
	return &Exceeded{Limit: limit, Message: fmt.Sprintf(format, args...), RetryAfter: max(wait, time.Second)}
}

// Recall adds the units of an impact that were spent before the gateway started. spent returns their number
// by time. Recall calls spent once if the principal has such a limit, and again after an error. If gateways
// share the impact, every Recall calls spent, whose result is then the total, including the reservations of
// this gateway.
func (p *Principal) Recall(kind Impact, shared bool, spent func() (map[time.Time]int, error)) error {
	m := p.gauge
	if m == nil {
		return nil
	}
	m.recalling.Lock()
	defer m.recalling.Unlock()
	m.mu.Lock()
	due := m.perHour[kind] != nil && (shared || !m.spent[kind].recalled)
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

// Spend reserves up to most units of an impact before a run, so concurrent runs do not spend the same units.
// If nothing is left, it returns an [*Exceeded] with the time when units will be available. Otherwise the
// caller must call [Spending.Settle].
func (p *Principal) Spend(kind Impact, most int) (*Spending, error) {
	s := &Spending{principal: p, kind: kind, held: most}
	m := p.gauge
	if m == nil {
		return s, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w, now := &m.spent[kind], m.now()
	if limit := m.perHour[kind]; limit != nil {
		if s.held = min(most, w.left(*limit, now)); s.held == 0 {
			return nil, p.overspent(kind, 1, now)
		}
	}
	if !w.shared {
		w.held += s.held
	}
	return s, nil
}

// overspent returns the error of a caller that wants n more units of an impact than it may spend. The caller
// holds m.mu.
func (p *Principal) overspent(kind Impact, n int, now time.Time) *Exceeded {
	w, limit, verb := &p.gauge.spent[kind], *p.gauge.perHour[kind], verbs[kind]
	text := fmt.Sprintf("The %s may %s %s an hour and has %d left.",
		p, verb.may, amount(limit, verb.one, verb.many), w.left(limit, now))
	if n > limit {
		return tooMany(verb.limit, hour, "%s So many are never allowed at once.", text)
	}
	at := w.enough(n, limit, now)
	return tooMany(verb.limit, at.Sub(now), "%s It may %s more from %s.", text, verb.may,
		at.UTC().Truncate(time.Second).Add(time.Second).Format(time.RFC3339))
}

func amount(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// Spending is the amount that a run has reserved but not settled yet.
type Spending struct {
	principal *Principal
	kind      Impact
	held      int
	settled   bool
}

// Held returns the maximum amount that the run may spend.
func (s *Spending) Held() int { return s.held }

// Limit returns the principal's hourly limit. limited reports whether there is a limit; if so, the spending
// must be recorded in the store.
func (s *Spending) Limit() (limit int, limited bool) {
	m := s.principal.gauge
	if m == nil {
		return 0, false
	}
	if of := m.perHour[s.kind]; of != nil {
		return *of, true
	}
	return 0, false
}

// Used returns the amount that the principal has spent or reserved in the last hour, and the limit.
// Both are 0 if there is no limit.
func (s *Spending) Used() (used, limit int) {
	m := s.principal.gauge
	if m == nil {
		return 0, 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.perHour[s.kind]
	if of == nil {
		return 0, 0
	}
	return *of - m.spent[s.kind].left(*of, m.now()), *of
}

// Impact returns the kind of impact.
func (s *Spending) Impact() Impact { return s.kind }

// Settle counts the n units that the run has actually spent and releases the rest. Only the first call has an
// effect.
func (s *Spending) Settle(n int) {
	m := s.principal.gauge
	if m == nil || s.settled {
		return
	}
	s.settled = true
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.spent[s.kind]
	if w.shared {
		return // the ledger has already counted it
	}
	w.held -= s.held
	w.add(n, m.now())
}

// Exceeded returns the [*Exceeded] of a run that would have spent more than it had reserved, or nil
// if the principal has no such limit.
func (s *Spending) Exceeded() error {
	m := s.principal.gauge
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.perHour[s.kind] == nil {
		return nil
	}
	return s.principal.overspent(s.kind, s.held+1, m.now())
}

const hour = time.Hour

// window counts events of the last hour.
type window struct {
	held     int // reserved by runs
	events   []event
	recalled bool // the events include those before the start
	shared   bool // the events include all gateways, and reservations
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
	recent := w.events[:0]
	for _, e := range w.events {
		if e.at.After(now) {
			e.at = now
		}
		if now.Sub(e.at) < hour {
			recent = append(recent, e)
		}
	}
	w.events = recent
}

// left returns the amount of a limit that is left.
func (w *window) left(limit int, now time.Time) int {
	w.forget(now)
	left := limit - w.held
	for _, e := range w.events {
		left -= e.n
	}
	return max(left, 0)
}

// enough returns the time when n units of a limit will be left if nothing more is spent. It assumes
// that reservations are released at once.
func (w *window) enough(n, limit int, now time.Time) time.Time {
	missing := n - limit
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
