// Package failing has faults happen to processes, in an order that a seed draws, while clients
// use them.
package failing

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is something that happens for a while.
type Fault struct {
	kind       string
	of         string
	from, to   time.Duration
	begin, end func()
}

// New returns a fault of a kind that happens to something and lasts from one time to another: begin
// makes it, and end takes it back.
func New(kind, of string, from, to time.Duration, begin, end func()) Fault {
	return Fault{kind, of, from, to, begin, end}
}

// Soon is the shortest time for which a process is away.
const Soon = 200 * time.Millisecond

// Series is a number of faults.
type Series struct {
	Seed    uint64
	Faults  int
	Longest time.Duration // of a fault, and of the time between two
	Log     func(format string, args ...any)
}

// Happen has the faults happen, and returns when the last has ended or ctx ends. Each draw returns
// the faults of which one is next. The faults of one draw follow each other; several draws happen
// side by side. It returns how many there were of each kind.
func (s Series) Happen(ctx context.Context, draws ...func(*rand.Rand) []Fault) Counts {
	var (
		mu     sync.Mutex
		kinds  = Counts{}
		number int
		all    sync.WaitGroup
	)
	next := func(kind string) int {
		mu.Lock()
		defer mu.Unlock()
		if number == s.Faults {
			return 0
		}
		number++
		kinds[kind]++
		return number
	}
	for i, draw := range draws {
		rnd := rand.New(rand.NewPCG(s.Seed, uint64(i)+1))
		all.Go(func() {
			for ctx.Err() == nil {
				Pause(ctx, min(s.Longest, anyTime(rnd, Soon, 8*time.Second)))
				faults := draw(rnd)
				f := faults[rnd.IntN(len(faults))]
				n := next(f.kind)
				if n == 0 {
					return
				}
				lasts := min(s.Longest, anyTime(rnd, f.from, f.to))
				s.Log("%s fault %d: %s: %s for %s", time.Now().Format("15:04:05.000"), n, f.kind, f.of,
					lasts.Round(time.Millisecond))
				f.begin()
				Pause(ctx, lasts)
				f.end()
			}
		})
	}
	all.Wait()
	return kinds
}

// anyTime returns a duration between two, of which short ones are more frequent.
func anyTime(rnd *rand.Rand, from, to time.Duration) time.Duration {
	return time.Duration(float64(from) * math.Pow(float64(to)/float64(from), rnd.Float64()))
}

// Pause waits for a while, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Freeze stops a process where it is, or lets it go on, by a signal that not every system has.
func Freeze(pid int, on bool) error {
	signal := "-CONT"
	if on {
		signal = "-STOP"
	}
	return exec.Command("kill", signal, strconv.Itoa(pid)).Run()
}

// Counts are how often something happened.
type Counts map[string]int

// String returns a line for each, by name.
func (c Counts) String() string {
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "\n%6d %s", c[kind], kind)
	}
	return text.String()
}
