package jobs_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/jobs"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// TestAnItemLeavesItsPlaceEarly: the next item begins once an item has left its place, before its call
// returns.
func TestAnItemLeavesItsPlaceEarly(t *testing.T) {
	next := make(chan struct{})
	w := newWorld(func(c jobs.Call, _ int) jobs.Answer {
		if c.Spec.ID == "1" {
			close(next)
		} else {
			c.Left()
			<-next
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	g := start(t, storeFile(t), w, func(o *jobs.Options) { o.Sessions = map[ps.Lane]int{ps.Directory: 1} })
	job := g.await(t, g.submit(t, jobs.Job{}, specs(2, ps.Directory)), jobstate.Done)
	assert.Equal(t, 2, job.Counts.Made)
}

// TestAnItemKeepsItsPlace: an item that another one waits for, or after which the rate lets none begin, keeps
// its place until its call returns.
func TestAnItemKeepsItsPlace(t *testing.T) {
	var early atomic.Int64
	w := newWorld(func(c jobs.Call, _ int) jobs.Answer {
		if c.Left != nil {
			early.Add(1)
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	for _, c := range []struct {
		rate  int
		waits []int
		want  int64
	}{{0, nil, 2}, {0, []int{0}, 1}, {1, nil, 0}} {
		early.Store(0)
		g := start(t, storeFile(t), w, func(o *jobs.Options) { o.Rate = c.rate })
		items := specs(2, ps.Directory)
		items[1].Waits = c.waits
		g.await(t, g.submit(t, jobs.Job{}, items), jobstate.Done)
		assert.Equal(t, c.want, early.Load(), "%+v", c)
		g.stop()
	}
}
