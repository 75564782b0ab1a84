package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
)

// The kinds of values in the store. Items are keyed by itemName, so the items of a job are adjacent
// and in order.
const (
	jobKind    store.Kind = "job"
	specKind   store.Kind = "jobspec"
	resultKind store.Kind = "jobitem"
	dataKind   store.Kind = "jobkey" // data key of a root
	onceKind   store.Kind = "jobonce"
)

// SecretKinds are the kinds whose removed values must not stay readable in the file of a store.
// They hold the keys of secrets in lists.
var SecretKinds = []store.Kind{dataKind}

// batch is the maximum number of items that are written together with their job.
const batch = store.MostChanges - 100

func itemName(job string, index int) string { return fmt.Sprintf("%s/%06d", job, index) }

// stretch is the number of items that are read together. Their keys have a common prefix.
const stretch = 100

// stretchName returns the common prefix of the keys of a stretch of items.
func stretchName(job string, first int) string {
	return fmt.Sprintf("%s/%04d", job, first/stretch)
}

// indexOf is the inverse of itemName.
func indexOf(name string) (index int) {
	_, _ = fmt.Sscanf(name[strings.IndexByte(name, '/')+1:], "%d", &index) // the name was written by itemName
	return index
}

// db reads and writes jobs.
type db struct{ *store.Sealed }

// items returns the changes that add the items of a new job. It sets job.Bytes to the size of
// everything.
func (s db) items(job *Job, specs []Spec) (changes []store.Change) {
	for i := range specs {
		changes = append(changes, store.Change{Kind: specKind, Key: itemName(job.ID, i),
			Value: encode(s, storedSpec{Spec: specs[i]}), Expires: job.Expires})
		if specs[i].Skip != nil {
			changes = append(changes, store.Change{Kind: resultKind, Key: itemName(job.ID, i),
				Value: encode(s, storedResult{Result: *specs[i].Skip}), Expires: job.Expires})
		}
	}
	bytes := int64(ofAJob + len(encode(s, *job)) + job.Total*ofAResult)
	for i := range changes {
		bytes += int64(len(changes[i].Key) + len(changes[i].Value) + aroundEach)
	}
	job.Bytes = bytes * pageShare
	return changes
}

// add adds a new job with its items. The job itself is written last. If it is missing, the items belong to no
// job, and expire. once, if not empty, identifies the submitting call. also is stored together with the job.
func (s db) add(
	ctx context.Context, job *Job, items []store.Change, dataKey []byte, once string, also ...store.Change,
) error {
	for part := range slices.Chunk(items, batch) {
		if _, err := s.Apply(ctx, part...); err != nil {
			return err
		}
	}
	last := append(also, store.Change{Kind: jobKind, Key: job.ID, Value: encode(s, *job), Expires: job.Expires})
	if dataKey != nil {
		last = append(last, store.Change{Kind: dataKind, Key: job.Root, Value: dataKey, Expires: job.Expires})
	}
	if once != "" {
		last = append(last, store.Change{Kind: onceKind, Key: once, Value: []byte(job.ID), Expires: job.Expires})
	}
	revision, err := s.Apply(ctx, last...)
	job.revision = revision
	return err
}

// storedSpec and storedResult are an item and its result as stored.
type (
	storedSpec struct {
		store.Formatted
		Spec
	}
	storedResult struct {
		store.Formatted
		Result
	}
)

// encode encodes a value of this package, which never fails.
func encode[T any, P store.Value[T]](s db, value T) []byte {
	raw, err := store.Encode[T, P](s.Sealed, value)
	if err != nil {
		panic(err)
	}
	return raw
}

func (s db) decodeJob(e store.Entry) (*Job, error) {
	job := &Job{}
	err := store.Decode(s.Sealed, e.Value, job)
	job.revision = e.Revision
	return job, err
}

func (s db) job(ctx context.Context, id string) (*Job, error) {
	if !pattern.MatchString(id) {
		return nil, ErrAbsent
	}
	e, err := s.Get(ctx, jobKind, id)
	if err != nil {
		return nil, err
	}
	return s.decodeJob(e)
}

// jobs calls visit with the jobs whose ids are less than before, or with all if before is empty,
// newest first, until visit returns false.
func (s db) jobs(ctx context.Context, before string, visit func(*Job) bool) error {
	var failed error
	err := s.RangeBack(ctx, jobKind, before, func(e store.Entry) bool {
		job, err := s.decodeJob(e)
		if err != nil {
			failed = err
			return false
		}
		return visit(job)
	})
	return errors.Join(err, failed)
}

func (s db) spec(ctx context.Context, job string, index int) (*Spec, error) {
	e, err := s.Get(ctx, specKind, itemName(job, index))
	if err != nil {
		return nil, err
	}
	return s.decodeSpec(e)
}

func (s db) decodeSpec(e store.Entry) (*Spec, error) {
	if err := store.Decode(s.Sealed, e.Value, &store.Formatted{}); err != nil {
		return nil, err
	}
	spec := &Spec{}
	decoder := json.NewDecoder(strings.NewReader(string(e.Value)))
	decoder.UseNumber()
	return spec, decoder.Decode(spec)
}

// specs calls visit with the items of a job in order.
func (s db) specs(ctx context.Context, job string, visit func(int, *Spec) bool) error {
	return s.specsOf(ctx, job+"/", visit)
}

// specsIn is like specs for the items of one stretch.
func (s db) specsIn(ctx context.Context, job string, first int, visit func(int, *Spec) bool) error {
	return s.specsOf(ctx, stretchName(job, first), visit)
}

func (s db) specsOf(ctx context.Context, prefix string, visit func(int, *Spec) bool) error {
	var failed error
	err := s.Range(ctx, specKind, prefix, func(e store.Entry) bool {
		spec, err := s.decodeSpec(e)
		if err != nil {
			failed = err
			return false
		}
		return visit(indexOf(e.Key), spec)
	})
	return errors.Join(err, failed)
}

// results returns the stored results of a job's items by index, with their revisions.
func (s db) results(ctx context.Context, job *Job) ([]Result, []store.Revision, error) {
	return s.resultsOf(ctx, job.ID+"/", 0, job.Total)
}

// resultsIn returns the stored results of the items of one stretch.
func (s db) resultsIn(ctx context.Context, job *Job, first int) ([]Result, error) {
	results, _, err := s.resultsOf(ctx, stretchName(job.ID, first), first, min(stretch, job.Total-first))
	return results, err
}

func (s db) resultsOf(
	ctx context.Context, prefix string, first, n int,
) ([]Result, []store.Revision, error) {
	results, revisions := make([]Result, n), make([]store.Revision, n)
	for i := range results {
		results[i].State = jobstate.Waiting
	}
	var failed error
	err := s.Range(ctx, resultKind, prefix, func(e store.Entry) bool {
		if index := indexOf(e.Key) - first; index >= 0 && index < len(results) {
			results[index], failed = s.decodeResult(e)
			revisions[index] = e.Revision
		}
		return failed == nil
	})
	return results, revisions, errors.Join(err, failed)
}

func (s db) decodeResult(e store.Entry) (Result, error) {
	var stored storedResult
	err := store.Decode(s.Sealed, e.Value, &stored)
	return stored.Result, err
}

// outcomes are results of a job's items that are to be stored.
type outcomes struct {
	of        []int            // items, in order
	results   []Result         // of all items of the job
	revisions []store.Revision // of the stored results

	// forget returns the changes that remove the stored answers of items. If nil, there are none.
	forget func(ctx context.Context, items []int) ([]store.Change, error)
}

// put stores a job, results of its items, and the changes in also, which are stored together with
// the job. All decisions of a job except its last batch of results are also stored with the keys of
// its calls.
func (s db) put(ctx context.Context, job *Job, o outcomes, also ...store.Change) error {
	for len(o.of) > batch/2 { // write all batches except the last without the job
		first := o
		first.of, o.of = o.of[:batch/2], o.of[batch/2:]
		if _, err := s.putSome(ctx, job, first); err != nil {
			return err
		}
	}
	own := store.Change{Kind: jobKind, Key: job.ID, Expect: job.revision, Value: encode(s, *job),
		Expires: job.Expires}
	revision, err := s.putSome(ctx, job, o, append(also, own)...)
	if err == nil {
		job.revision = revision
	}
	return err
}

// putSome stores at most batch/2 results, each together with the removal of the item's stored answer.
func (s db) putSome(
	ctx context.Context, job *Job, o outcomes, also ...store.Change,
) (revision store.Revision, err error) {
	changes := slices.Clone(also)
	for _, i := range o.of {
		changes = append(changes, store.Change{Kind: resultKind, Key: itemName(job.ID, i), Expect: o.revisions[i],
			Value: encode(s, storedResult{Result: o.results[i]}), Expires: job.Expires})
	}
	if o.forget != nil {
		forgotten, err := o.forget(ctx, o.of)
		if err != nil {
			return 0, err
		}
		changes = append(changes, forgotten...)
	}
	if revision, err = s.Apply(ctx, changes...); err != nil {
		return 0, err
	}
	for _, i := range o.of {
		o.revisions[i] = revision
	}
	return revision, nil
}

// dataKey returns the data key of a root, or [ErrAbsent].
func (s db) dataKey(ctx context.Context, root string) ([]byte, error) {
	e, err := s.Get(ctx, dataKind, root)
	return e.Value, err
}

// measure computes the number of bytes that a job of an earlier version takes.
func (s db) measure(ctx context.Context, job *Job) (bytes int64, err error) {
	bytes = ofAJob
	for _, kind := range []store.Kind{specKind, resultKind} {
		err = errors.Join(err, s.Store.Range(ctx, kind, job.ID+"/", func(e store.Entry) bool {
			bytes += int64(len(e.Key) + len(e.Value) + aroundEach)
			return true
		}))
	}
	return bytes * pageShare, err
}

// removeItems removes the items of a job and their results.
func (s db) removeItems(ctx context.Context, job *Job) error {
	for _, kind := range []store.Kind{specKind, resultKind} {
		for first := 0; first < job.Total; first += batch {
			err := s.Update(ctx, func(tx *store.Tx) error {
				for i := first; i < min(first+batch, job.Total); i++ {
					key := itemName(job.ID, i)
					if _, err := tx.Get(kind, key); err == nil || !errors.Is(err, store.ErrAbsent) {
						tx.Delete(kind, key)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// change changes the record of a finished job, or removes the record if change returns false.
func (s db) change(ctx context.Context, id string, change func(*Job) (keep bool)) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		e, err := tx.Get(jobKind, id)
		if errors.Is(err, store.ErrAbsent) {
			return nil
		}
		if err != nil {
			return err
		}
		job, err := s.decodeJob(e)
		if err != nil {
			return err
		}
		if !change(job) {
			tx.Delete(jobKind, id)
			return nil
		}
		return store.Save(tx, jobKind, id, *job, job.Expires)
	})
}

// destroyKey removes the data key of a root.
func (s db) destroyKey(ctx context.Context, root string) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Get(dataKind, root)
		if errors.Is(err, store.ErrAbsent) {
			return nil
		}
		tx.Delete(dataKind, root)
		return err
	})
}

// submittedBy returns the id of the job that a call has submitted, or [ErrAbsent].
func (s db) submittedBy(ctx context.Context, once string) (string, error) {
	e, err := s.Get(ctx, onceKind, once)
	return string(e.Value), err
}

// now returns the current time as stored in records.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{jobKind, specKind, resultKind, dataKind, onceKind}
