// Package failing injects faults into processes while clients use them. A seed determines
// the order of the faults.
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

// Fault is a failure that lasts for a while.
type Fault struct {
	kind       string
	of         string
	from, to   time.Duration
	begin, end func()
}

// New returns a fault of the given kind. The parameter of is the name of the affected process or network.
// begin starts the fault, and end repairs it. The duration of the fault is between from and to.
func New(kind, of string, from, to time.Duration, begin, end func()) Fault {
	return Fault{kind, of, from, to, begin, end}
}

// Soon is the shortest time for which a process is down.
const Soon = 200 * time.Millisecond

// Series is a sequence of faults.
type Series struct {
	Seed    uint64
	Faults  int
	Longest time.Duration // maximum duration of a fault, and of the pause between two faults
	Log     func(format string, args ...any)
}

// Happen injects faults, and returns when the last one has ended or when ctx ends. Each function in draws
// returns candidates for its next fault. The faults of one function follow each other, and those of different
// functions run concurrently. Happen returns the number of faults by kind.
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

// anyTime returns a random duration between from and to. Short durations are more frequent.
func anyTime(rnd *rand.Rand, from, to time.Duration) time.Duration {
	return time.Duration(float64(from) * math.Pow(float64(to)/float64(from), rnd.Float64()))
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Freeze suspends a process, or resumes it if on is false. It needs signals that not every system has.
func Freeze(pid int, on bool) error {
	signal := "-CONT"
	if on {
		signal = "-STOP"
	}
	return exec.Command("kill", signal, strconv.Itoa(pid)).Run()
}

// Counts are the numbers of events by name.
type Counts map[string]int

// String returns one line per name, in the order of the names.
func (c Counts) String() string {
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "\n%6d %s", c[kind], kind)
	}
	return text.String()
}
