package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster/choice"
	"adgateway/gateway/cluster/peer"
	"adgateway/gateway/config"
	"adgateway/gateway/every"
	"adgateway/gateway/filefault"
	"adgateway/gateway/history"
	"adgateway/gateway/jobs"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// kept is the state of the gateway that outlives a request.
type kept struct {
	store *store.Sealed
	clock *store.Clock // the clock of store
	file  *store.File  // contains store; nil if store is in memory or in a cluster
	past  *changes.History
	aside string // new name of a damaged file; empty if the file was not damaged
	lasts bool   // store outlives the process

	otherKey bool // the key opens none of the stored values

	choices *choice.Choices // servers that all gateways share; nil if not in a cluster with a log
	joined  *peer.Gateway   // contains store; nil if not in a cluster
	keyFile func() error    // returns an error if the key file no longer opens the ring; set if joined is
}

// mostOfHistory returns the size limit of the history in the settings, in bytes.
func mostOfHistory(o Options) int64 { return int64(o.Settings.Changes.MaxSize) << 20 }

// mostInMemory limits the size of a history in memory, in bytes, even if the settings allow more.
const mostInMemory = 64 << 20

// storeKey names the file of the store's key in messages.
const storeKey = "store.file (its key)"

// openKept opens the store of the settings, or one in memory if
// they name no file. It returns nil if the store is switched off.
func openKept(ctx context.Context, o Options) (*kept, error) {
	s, most := &kept{}, mostOfHistory(o)
	if o.Identity == nil {
		s.clock = store.NewClock(time.Time{}, o.Clock)
	}
	var err error
	switch path := o.Settings.Store.File; {
	case o.Identity != nil:
		err = s.join(ctx, o)
	case o.Settings.Former.Name != "":
		err = errFormer(o.Settings.Former.Name)
	case path == config.AuditOff:
		return nil, nil
	case path == "":
		most = min(most, mostInMemory)
		err = s.inMemory()
	default:
		s.lasts = true
		err = s.inFile(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.aside != "" {
		o.Log.WithField("file", s.aside).Error(
			"the store was damaged: it was renamed, and an empty one takes its place; calls from before with an " +
				"Idempotency-Key and the history of changes are not known any more")
	}
	if rewound := s.store.State().Rewound; rewound != nil {
		o.Log.WithError(rewound).WithField("remedy", store.AfterRewind).Error("the store was taken back")
	}
	s.past = changes.New(s.store, o.Settings.Changes.Keep, most)
	return s, nil
}

func (s *kept) inMemory() error {
	secret := make([]byte, store.KeyLength)
	_, _ = rand.Read(secret) // never fails
	key, err := store.NewKey(secret)
	if err == nil {
		s.store, err = store.Seal(store.NewMemory(s.clock.Now), key)
	}
	return err
}

// checkKey checks whether the key file belongs to the store. With another key, reads
// work, but changes are refused until the gateway is restarted with the correct one.
func (s *kept) checkKey(ctx context.Context, o Options) error {
	err := s.store.CheckKey(ctx, lastingKinds...)
	switch {
	case errors.Is(err, store.ErrOtherKey):
		s.otherKey = true
		o.Log.WithError(err).WithField("file", o.Settings.Store.KeyFile()).
			Error("changes are refused, as the key of the store is another one")
	case err != nil:
		o.Log.WithError(err).Warn("the key of the store could not be checked")
	}
	return nil
}

// inFile opens the store in the file of the settings. A damaged file is renamed.
func (s *kept) inFile(ctx context.Context, o Options) error {
	key, err := store.ReadKey(o.Settings.Store.KeyFile())
	if err != nil {
		return filefault.Explain(storeKey, err)
	}
	if path := o.Settings.Store.KeyFile(); store.Unprotected(path) {
		o.Log.WithField("file", path).Warn(
			"the key of the store could not be protected for this computer: let the service's account write the " +
				"file, and restart")
	}
	file, aside, err := store.Open(store.Options{Path: o.Settings.Store.File, Clock: s.clock,
		Erase: jobs.SecretKinds})
	if err != nil {
		return err
	}
	s.file, s.aside = file, aside
	ringed, err := keyring.Exists(ctx, file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if ringed {
		ring, err := singleRing(ctx, o, file)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		s.store = ring.Sealed()
		return nil
	}
	if s.store, err = store.Seal(file, key); err != nil {
		return errors.Join(err, file.Close())
	}
	return s.checkKey(ctx, o)
}

// errFormer returns an error that explains why a gateway of a cluster of an earlier version does not start.
func errFormer(cluster string) error {
	return fmt.Errorf("the settings are those of a gateway of the cluster %s (cluster.name), whose gateways "+
		"shared a store in an earlier version: "+
		"run 'adgateway cluster migrate' on one of its hosts, and the command that it prints on each other one; "+
		"alone, this one would not know what the others know", cluster)
}

// answerCopies makes copies of the store for backups that request them, until ctx ends.
func (s *kept) answerCopies(ctx context.Context, log func(string, map[string]any)) {
	problem := func(err error) {
		log("a copy of the store for a backup could not be made", map[string]any{"error": err.Error()})
	}
	switch {
	case s.cluster() != nil:
		s.joined.AnswerCopies(ctx, problem)
	case s != nil && s.file != nil:
		s.file.AnswerCopies(ctx, problem)
	}
}

// RebuildHistory adds the changes of an audit log to the history of the settings. No
// gateway may have the history open. Without files it reads the audit log of the settings.
func RebuildHistory(ctx context.Context, o Options, files []string) (changes.Rebuilding, error) {
	if o.Identity != nil {
		return changes.Rebuilding{}, errors.New("this gateway is of the cluster " + o.Identity.Cluster +
			", whose gateways have the same history: one that has lost its store copies it from another one when " +
			"it starts")
	}
	s, err := openKept(ctx, o)
	if s == nil && err == nil {
		err = errors.New("the settings keep no history (store.file is off)")
	}
	if err != nil {
		return changes.Rebuilding{}, err
	}
	var found changes.Rebuilding
	if err = history.Forget(ctx, s.past); err == nil {
		found, err = s.past.Rebuild(ctx, o.Settings.Audit.File, files, s.store.Now())
	}
	if err = errors.Join(err, s.close()); err == nil && s.lasts {
		err = store.Accept(o.Settings.Store.File)
	}
	return found, err
}

// sweepEvery is the interval at which expired values are removed.
const sweepEvery = 10 * time.Minute

// sweep removes expired values at intervals, until ctx ends.
func (s *kept) sweep(ctx context.Context, log func(string, map[string]any)) {
	if s == nil {
		return
	}
	every.Do(ctx, sweepEvery, func() {
		if _, err := s.store.Sweep(ctx); err != nil && ctx.Err() == nil {
			log("expired values could not be removed from the store", map[string]any{"error": err.Error()})
		}
	})
}

// checks is the readiness check of the store.
func (s *kept) checks() []gateway.Check {
	if s == nil {
		return nil
	}
	check := gateway.Check{Name: "store", OK: true}
	unreadable, kinds := s.store.Unreadable()
	switch failed := s.store.State().Failed; {
	case s.otherKey:
		check.Degraded, check.NoChanges, check.Reason = true, true, "Changes are refused, and the history is "+
			"empty: "+
			store.ErrOtherKey.Error()+". Stop the gateway, restore the key file (store.file with .key) from "+
			"the backup, and start it again."
	case failed != nil:
		check.Degraded, check.Reason = true, "The store cannot be written, so calls with an "+
			"Idempotency-Key and plans are refused, and changes are not recorded in the history: "+failed.Error()
	case s.aside != "":
		check.Degraded, check.Reason = true, "The store was damaged when the gateway started, and was renamed to "+
			s.aside+". Calls from before with an Idempotency-Key and the history of changes are not known any more."
	case s.store.State().Unerased != nil:
		check.Degraded, check.Reason = true, "Secrets of jobs that have ended may still be in the file, as its "+
			"free pages cannot be overwritten: "+s.store.State().Unerased.Error()
	case s.store.State().Rewound != nil:
		check.Degraded, check.Reason = true, s.store.State().Rewound.Error()+". "+store.AfterRewind
	case unreadable > 0:
		check.Degraded, check.Reason = true, fmt.Sprintf("The file of the store is damaged: values that cannot "+
			"be read are left out of lists (%d of %s). Restore the file from a backup, or wait until they expire.",
			unreadable, strings.Join(kinds, ", "))
	}
	return []gateway.Check{check}
}

// clocksPart is the tolerated difference between the wall clock and the store's clock.
const clocksPart = time.Minute

// clockChecks is the readiness check of the store's clock.
func (s *kept) clockChecks() []gateway.Check {
	if s == nil || s.clock == nil {
		return nil
	}
	check := gateway.Check{Name: "clock", OK: true}
	if apart := s.clock.Apart().Round(time.Second); apart.Abs() > clocksPart {
		way := "ahead of"
		if apart < 0 {
			way = "behind"
		}
		check.Degraded, check.Reason = true, fmt.Sprintf(
			"The wall clock was set while the gateway ran, or the machine slept: it is %s %s the time by which "+
				"what the gateway keeps expires, which follows it by 1 s a minute. If the wall clock is right, restart "+
				"the gateway; if it is wrong, correct it.", apart.Abs(), way)
	}
	return []gateway.Check{check}
}

// now returns the clock of the store, or nil if there is no store.
func (s *kept) now() func() time.Time {
	if s == nil {
		return nil
	}
	return s.store.Now
}

func (s *kept) sealed() *store.Sealed {
	if s == nil {
		return nil
	}
	return s.store
}

// cluster returns the gateway's membership in its cluster, or nil if it is in none.
func (s *kept) cluster() *peer.Gateway {
	if s == nil {
		return nil
	}
	return s.joined
}

// relayed returns the store for values that every gateway of a cluster may change.
func (s *kept) relayed() *store.Sealed {
	if j := s.cluster(); j != nil {
		return j.Relay()
	}
	return s.sealed()
}

// lasting returns the store if it outlives the process, or nil.
func (s *kept) lasting() *store.Sealed {
	if s == nil || !s.lasts {
		return nil
	}
	return s.relayed()
}

func (s *kept) history() *changes.History {
	if s == nil {
		return nil
	}
	return s.past
}

// close closes the store.
func (s *kept) close() error {
	if s == nil {
		return nil
	}
	var err error
	if s.joined != nil {
		err = s.joined.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}
