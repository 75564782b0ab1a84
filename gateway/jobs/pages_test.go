package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/jobs"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// counted counts the values that are read by ranges.
type counted struct {
	store.Store
	read atomic.Int64
}

func (c *counted) Range(
	ctx context.Context, kind store.Kind, prefix string, visit func(store.Entry) bool,
) error {
	return c.Store.Range(ctx, kind, prefix, func(e store.Entry) bool {
		c.read.Add(1)
		return visit(e)
	})
}

// TestPagesOfItemsReadEachItemOnce: apart from items around its ends, a page reads each of its
// items once, so its cost depends on its size and not on where it begins.
func TestPagesOfItemsReadEachItemOnce(t *testing.T) {
	const total, page = 1230, 100
	db := &counted{Store: store.NewMemory(nil)}
	g := start(t, storeFile(t), newWorld(func(jobs.Call, int) jobs.Answer {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	}), func(o *jobs.Options) { o.Store = storetest.Seal(t, db) })
	job := g.await(t, g.submit(t, jobs.Job{}, specs(total, ps.Directory)), jobstate.Done)
	for _, size := range []int{page, 7, total} {
		before, seen, pages := db.read.Load(), 0, int64(0)
		for ; seen < total; pages++ {
			next := seen
			err := g.Items(t.Context(), job, next, func(i int, spec *jobs.Spec, result jobs.Result) bool {
				if seen == next+size {
					return false
				}
				require.Equal(t, seen, i)
				assert.Equal(t, i+1, spec.Line)
				assert.Equal(t, jobstate.Made, result.State)
				seen++
				return true
			})
			require.NoError(t, err)
			require.Greater(t, seen, next)
		}
		read := db.read.Load() - before
		t.Logf("%d items in %d pages: %d values are read", total, pages, read)
		assert.LessOrEqual(t, read, 2*total+4*100*pages, "%d a page", size)
	}
}
