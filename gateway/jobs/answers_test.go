package jobs_test

import (
	"context"
	"testing"

	"adgateway/gateway/jobs"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnswersThatNoRetryNeedsAreForgotten: in the batch that stores the result of an item which
// succeeded, its answer is removed. A retry keeps the answers, because the job that it retries may be
// retried again under the same keys.
func TestAnswersThatNoRetryNeedsAreForgotten(t *testing.T) {
	const answers store.Kind = "answer"
	db := storetest.Seal(t, store.NewMemory(nil))
	refuse := true
	g := start(t, storeFile(t), newWorld(func(c jobs.Call, _ int) jobs.Answer {
		_, err := db.Apply(t.Context(), store.Change{Kind: answers, Key: c.Spec.Key, Value: []byte("answer")})
		assert.NoError(t, err)
		if refuse && c.Spec.ID == "1" {
			return jobs.Answer{Result: jobs.Result{State: jobstate.Refused}}
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	}), func(o *jobs.Options) {
		o.Store = db
		o.Forget = func(ctx context.Context, keys []string) (changes []store.Change, err error) {
			for _, key := range keys {
				if e, err := db.Store.Get(ctx, answers, key); assert.NoError(t, err) {
					changes = append(changes, store.Change{Kind: answers, Key: key, Expect: e.Revision})
				}
			}
			return changes, nil
		}
	})
	kept := func() (keys []string) {
		require.NoError(t, db.Range(t.Context(), answers, "", func(e store.Entry) bool {
			keys = append(keys, e.Key)
			return true
		}))
		return keys
	}
	items := specs(3, ps.Directory)
	items[1].ID = "1"
	first := g.submit(t, jobs.Job{Mode: jobstate.Run}, items)
	g.await(t, first, jobstate.Done)
	failed := jobs.ItemKey(first, 1)
	assert.Equal(t, []string{failed}, kept(), "the item may be tried again")
	stored, err := db.Store.Get(t.Context(), answers, failed)
	require.NoError(t, err)
	_, err = db.Apply(t.Context(), store.Change{Kind: answers, Key: failed, Expect: stored.Revision})
	require.NoError(t, err)
	refuse = false
	again := specs(1, ps.Directory)
	again[0].Key = failed
	g.await(t, g.submit(t, jobs.Job{Root: first, Retries: first}, again), jobstate.Done)
	assert.Equal(t, []string{failed}, kept(), "another retry of the first job gets this answer")
}
