package histories

import (
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var (
	done    = Answer{}
	refused = Answer{Refused: true}
)

func said(value string) Answer { return Answer{Value: value} }

// add records a call that ends before the next one begins.
func (r *Recorder) add(op Op, answer Answer) { r.Begin(op).End(answer) }

func write(at int, expect, value string) Op {
	return Op{Of: "k", At: at, Do: "write", Expect: expect, Value: value}
}

func read(at int) Op { return Op{Of: "k", At: at, Do: "read"} }

// TestModels: each model rejects exactly the histories that break its promise.
func TestModels(t *testing.T) {
	use := Op{Of: "p", Do: "use"}
	spend := Op{Of: "b", Do: "spend"}
	call, run := Op{Of: "k", Do: "call"}, Op{Of: "k", Do: "write"}
	change := func(from, to string) Op { return Op{Of: "o", Do: "change", Expect: from, Value: to} }
	for name, c := range map[string]struct {
		model     Model
		history   func(r *Recorder)
		explained bool
	}{
		"a value is created once": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(1, "", "b"), refused)
			r.add(write(1, "a", "b"), done)
			r.add(write(0, "b", ""), done)
			r.add(write(1, "", "c"), done)
		}, true},
		"a value is created twice": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(1, "", "b"), done)
		}, false},
		"an acknowledged write is lost": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(0, "a", "b"), done)
			r.add(write(1, "a", "c"), done)
		}, false},
		"a write of which the answer was lost is made": {LinearizableWrites, func(r *Recorder) {
			r.Begin(write(0, "", "a"))
			r.add(read(1), said(""))
			r.add(write(1, "a", "b"), done)
		}, true},
		"or not": {LinearizableWrites, func(r *Recorder) {
			r.Begin(write(0, "", "a"))
			r.add(write(1, "", "b"), done)
			r.add(read(1), said("b"))
		}, true},
		"but not twice": {LinearizableWrites, func(r *Recorder) {
			r.Begin(write(0, "", "a"))
			r.add(write(1, "a", ""), done)
			r.add(write(1, "a", "b"), done)
		}, false},
		"a write is called refused and was made": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), refused)
			r.add(write(1, "a", "b"), done)
		}, false},
		"nothing is there, and a write is refused": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), refused)
		}, false},
		"a read is old": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(0, "a", "b"), done)
			r.add(read(1), said("a"))
			r.add(read(1), said("b"))
		}, true},
		"a read is old, where that is not allowed": {LinearizableReads, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(read(1), said(""))
		}, false},
		"a read goes back": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(0, "a", "b"), done)
			r.add(read(1), said("b"))
			r.add(read(1), said("a"))
		}, false},
		"a read is of what nobody wrote": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(read(1), said("b"))
		}, false},
		"a refusal is old": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(0, "a", ""), done)
			r.add(write(1, "", "b"), refused)
		}, true},
		"a refusal is old, where that is not allowed": {LinearizableRefusals, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(0, "a", ""), done)
			r.add(write(1, "", "b"), refused)
		}, false},
		"a refusal is older than what was read": {LinearizableWrites, func(r *Recorder) {
			r.add(write(0, "", "a"), done)
			r.add(write(0, "a", "b"), done)
			r.add(read(1), said("b"))
			r.add(write(1, "b", "c"), refused)
		}, false},

		"a key runs once": {Keys, func(r *Recorder) {
			first := r.Begin(call)
			r.add(call, refused)
			r.add(run, done)
			first.End(said("200"))
			r.add(call, said("200"))
		}, true},
		"a key runs twice": {Keys, func(r *Recorder) {
			r.add(run, done)
			r.add(call, said("200"))
			r.add(run, done)
		}, false},
		"a key is answered twice": {Keys, func(r *Recorder) {
			r.add(run, done)
			r.add(call, said("200"))
			r.add(call, said("201"))
		}, false},
		"a key is answered without saying more": {Keys, func(r *Recorder) {
			r.add(run, done)
			r.add(call, said("200"))
			r.add(call, done)
			r.add(call, said("200"))
		}, true},
		"a key that has not run is answered without saying more": {Keys, func(r *Recorder) { r.add(call, done) }, false},
		"a key is answered before it has run": {Keys, func(r *Recorder) {
			r.add(call, said("200"))
			r.add(run, done)
		}, false},

		"a plan is used once": {Once, func(r *Recorder) {
			r.add(use, done)
			r.add(use, refused)
		}, true},
		"a plan is used twice": {Once, func(r *Recorder) {
			r.add(use, done)
			r.add(use, done)
		}, false},
		"a plan that nobody used is refused": {Once, func(r *Recorder) { r.add(use, refused) }, false},

		"a budget is spent": {Budget(2), func(r *Recorder) {
			r.Begin(spend)
			r.add(spend, done)
			r.add(spend, done)
			r.add(spend, refused)
		}, true},
		"more than the budget is spent": {Budget(2), func(r *Recorder) {
			r.add(spend, done)
			r.add(spend, done)
			r.add(spend, done)
		}, false},
		"a budget is refused too early": {Budget(2), func(r *Recorder) {
			r.add(spend, done)
			r.add(spend, refused)
		}, false},

		"changes follow each other": {Leases, func(r *Recorder) {
			first := r.Begin(change("1", "2"))
			r.add(change("0", "1"), done)
			first.End(done)
		}, true},
		"a change is lost": {Leases, func(r *Recorder) {
			r.add(change("0", "1"), done)
			r.add(change("0", "2"), done)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r Recorder
			c.history(&r)
			assert.Equal(t, c.explained, r.Contradiction(c.model) == "")
		})
	}
}

func TestWhatContradictsIsShown(t *testing.T) {
	var r Recorder
	r.add(Op{Of: "other", Do: "use"}, done)
	r.Begin(Op{Of: "p", At: 1, Do: "use"})
	r.Begin(Op{Of: "p", At: 1, Do: "use"}).Forget()
	r.add(Op{Of: "p", At: 2, Do: "use", Value: "x"}, said("y"))
	r.add(Op{Of: "p", At: 2, Do: "use"}, refused)
	r.Happened(Op{Of: "p", At: 1, Do: "use"}, time.Now().Add(-time.Hour))
	got := regexp.MustCompile(` *[0-9]+\.[0-9]{3}`).ReplaceAllString(r.Contradiction(Once), "T")
	assert.Equal(t, `T toT  at 1 use p: ""
T to          ?  at 1 use p: the answer was lost
T toT  at 2 use p "" -> "x": "y"
T toT  at 2 use p: refused`, got)
	all, lost := r.Counts()
	assert.Equal(t, []int{5, 1}, []int{all, lost})
}

func TestARecorderIsSafe(t *testing.T) {
	var r Recorder
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 100 {
				r.Begin(Op{Of: "b", Do: "spend"}).End(done)
			}
		})
	}
	clients.Wait()
	r.Check(t, Budget(800), "all of it")
	assert.NotEmpty(t, r.Contradiction(Budget(799)))
}
