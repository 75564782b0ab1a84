package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
)

// fleet is a set of three gateways that want to lead, over a stream with faults.
type fleet struct {
	memory  *journaltest.Memory
	records []*journaltest.Record
	end     chan struct{} // closed when no more batches are written
	log     func(...any)

	mu       sync.Mutex
	random   *rand.Rand
	outcomes map[string]error // by batch
	leads    map[uint64]string
	problems []string
}

func (f *fleet) chance(percent int) bool { return f.below(100) < percent }

func (f *fleet) below(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.IntN(n)
}

func (f *fleet) upTo(most time.Duration) time.Duration {
	return time.Duration(f.below(int(most)))
}

// fate returns a random fate of a message.
func (f *fleet) fate(uint64, []byte, int) journaltest.Fate {
	return journaltest.Fate{
		Lost: f.chance(10), Silent: f.chance(15), Fails: f.chance(3),
		Late:     f.upTo(5*time.Second) * time.Duration(f.below(8)/7),
		Pending:  f.upTo(5*time.Second) * time.Duration(f.below(8)/7),
		Vanishes: f.chance(50),
	}
}

func (f *fleet) over() bool {
	select {
	case <-f.end:
		return true
	default:
		return false
	}
}

// live runs one process of a gateway after another.
func (f *fleet) live(ctx context.Context, index int) {
	for start := 1; !f.over(); start++ {
		name := string(rune('a' + index))
		p := journal.Process{Gateway: name, Start: fmt.Sprint(name, start)}
		f.run(ctx, p, f.records[index])
	}
}

// run runs one process.
func (f *fleet) run(ctx context.Context, p journal.Process, record *journaltest.Record) {
	ctx, cancel := context.WithCancel(ctx)
	client, o := f.memory.Client(), journaltest.Options()
	o.MaxMessage = 5 << 10
	l := journal.New(client, record, o)
	client.Fates(f.fate)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer cancel()
	follower.Go(func() {
		if err := l.Follow(ctx); ctx.Err() == nil {
			f.problem("%s follows: %v", p.Start, err)
		}
	})
	for step := 0; !f.over() && !f.chance(1); step++ {
		time.Sleep(f.upTo(500 * time.Millisecond))
		switch n := f.below(100); {
		case n < 2:
			client.Cut()
		case n < 10:
			client.Mend()
		case n < 12:
			client.Undeliver(f.chance(50))
		case n < 15:
			f.memory.Insert([]byte("anything"))
		case n < 20:
			if all := f.memory.Messages(); len(all) > 0 {
				f.memory.Insert(all[f.below(len(all))])
			}
		default:
			f.write(ctx, l, p, step)
		}
	}
}

// write appends a batch if the process leads, or claims a term.
func (f *fleet) write(ctx context.Context, l *journal.Log, p journal.Process, step int) {
	ctx, cancel := context.WithTimeout(ctx, f.upTo(8*time.Second))
	defer cancel()
	if !l.Status().Leads {
		if f.chance(10) && l.CatchUp(ctx) == nil {
			term, err := l.Claim(ctx, p, time.Now())
			if err == nil {
				f.claimed(term, p)
			}
		}
		return
	}
	batch := fmt.Sprint(p.Start, " ", step, " ")
	if f.chance(10) {
		batch += strings.Repeat("x", f.below(4<<10))
	}
	_, err := l.Append(ctx, []byte(batch), time.Now())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outcomes[batch] = err
}

func (f *fleet) claimed(term uint64, p journal.Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, taken := f.leads[term]; taken && other != p.Start {
		f.problems = append(f.problems, fmt.Sprintf("term %d is of %s and of %s", term, other, p.Start))
	}
	f.leads[term] = p.Start
}

func (f *fleet) problem(text string, values ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = append(f.problems, fmt.Sprintf(text, values...))
}

// check compares the applied entries with the outcomes of the writes.
func (f *fleet) check(t *testing.T) {
	t.Helper()
	assert.Empty(t, f.problems)
	entries := f.records[0].Entries()
	for _, record := range f.records[1:] {
		require.Equal(t, entries, record.Entries())
	}
	times := map[string]int{}
	for i, e := range entries {
		times[string(e.Batch)]++
		if owner, known := f.leads[e.Term]; known {
			assert.Equal(t, owner, e.Process.Start)
		}
		if i > 0 && !e.Begins() {
			before := entries[i-1]
			assert.Equal(t, []any{before.Term, before.Number + 1, before.Process}, []any{e.Term, e.Number, e.Process})
		}
	}
	count := map[string]int{}
	for batch, err := range f.outcomes {
		switch {
		case err == nil:
			count["stored"]++
			assert.Equal(t, 1, times[batch], batch)
		case errors.Is(err, journal.ErrUndecided):
			count["undecided"]++
			assert.LessOrEqual(t, times[batch], 1, batch)
		default:
			count["not stored"]++
			assert.Zero(t, times[batch], "%s: %v", batch, err)
		}
	}
	f.log("terms:", len(f.leads), "outcomes:", count)
	assert.Positive(t, count["stored"])
}

// TestManyFaults: three gateways claim terms, append, stop and start, while messages and answers are lost or
// late, nodes are cut off, and strangers write. All apply the same sequence of entries, which contains every
// acknowledged batch once. JOURNAL_SEED and JOURNAL_RUNS select other runs.
func TestManyFaults(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	first := number("JOURNAL_SEED", 1)
	for seed := first; seed < first+number("JOURNAL_RUNS", 15); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fleet{
					memory: journaltest.NewMemory(), end: make(chan struct{}), log: t.Log,
					random:   rand.New(rand.NewPCG(uint64(seed), 0)),
					outcomes: map[string]error{}, leads: map[uint64]string{},
				}
				var gateways sync.WaitGroup
				for range 3 {
					f.records = append(f.records, journaltest.NewRecord(pointZero))
				}
				for index := range f.records {
					gateways.Go(func() { f.live(t.Context(), index) })
				}
				time.Sleep(10 * time.Minute)
				close(f.end)
				gateways.Wait()
				time.Sleep(time.Minute) // late messages arrive
				for _, record := range f.records {
					l := journal.New(f.memory.Client(), record, journaltest.Options())
					require.NoError(t, l.CatchUp(t.Context()))
				}
				f.check(t)
			})
		})
	}
}
