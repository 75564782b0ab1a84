package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/auditmirror"
	"adgateway/gateway/config"
	"adgateway/gateway/store"
)

// evidence makes the gateways of a cluster copy and countersign each other's audit logs.
type evidence struct {
	mirror  *auditmirror.Mirror // nil if the log is not copied
	witness *auditmirror.Witness
}

// newEvidence returns the evidence of a gateway in a cluster, or nil if the gateway is alone or has no audit
// log.
func newEvidence(o Options, db *store.Sealed, log *audit.Log) *evidence {
	s := o.Settings
	name := GatewayName(o)
	if name == "" || db == nil || log == nil {
		return nil
	}
	problem := func(message string, err error) {
		if err == nil {
			o.Log.Info(message)
		} else {
			o.Log.WithError(err).Warn(message)
		}
	}
	e := &evidence{witness: auditmirror.NewWitness(auditmirror.WitnessOptions{
		Gateway: name, Store: db, Log: log, Interval: s.Audit.Witness, Problem: problem,
	})}
	if s.Audit.Mirror == config.SwitchOn {
		e.mirror = auditmirror.New(auditmirror.Options{
			Gateway: name, Store: db, Log: log, File: s.Audit.File, Keep: s.Audit.MirrorKeep, Problem: problem,
		})
	}
	return e
}

// run copies lines and witnesses ends until ctx is done.
func (e *evidence) run(ctx context.Context) {
	if e == nil {
		return
	}
	var running sync.WaitGroup
	running.Go(func() { e.witness.Run(ctx) })
	if e.mirror != nil {
		running.Go(func() { e.mirror.Run(ctx) })
	}
	running.Wait()
}

// mirrorLag is how long lines may remain uncopied before there is a warning.
const mirrorLag = time.Minute

// checks are the readiness checks of the copies.
func (e *evidence) checks() []gateway.Check {
	if e == nil || e.mirror == nil {
		return nil
	}
	check := gateway.Check{Name: "auditMirror", OK: true}
	stats := e.mirror.Stats()
	switch late := time.Since(stats.Since); {
	case stats.Forked:
		check.Degraded, check.Reason = true, "The files of the audit log are not those that were copied into "+
			"the store of the cluster before: 'adgateway cluster verify' shows the difference."
	case !stats.Since.IsZero() && late >= mirrorLag:
		check.Degraded, check.Reason = true, fmt.Sprintf(
			"%d lines of the audit log are not copied into the store of the cluster, some of them for %s; they are "+
				"copied later.", stats.Behind, late.Round(time.Second))
		if stats.Failed != nil {
			check.Reason += " " + stats.Failed.Error()
		}
	}
	return []gateway.Check{check}
}

// stats returns the progress of the copies; false if there are none.
func (e *evidence) stats() (auditmirror.Stats, bool) {
	if e == nil || e.mirror == nil {
		return auditmirror.Stats{}, false
	}
	return e.mirror.Stats(), true
}

// attachCredentials sets the store that holds the shared credentials.
func attachCredentials(ctx context.Context, o Options, db *store.Sealed) error {
	switch {
	case o.Shared == nil:
		return nil
	case db == nil:
		return errors.New("tokens and users: this gateway is of no cluster, whose store would have them")
	}
	if err := o.Shared.Attach(ctx, db); err != nil {
		return fmt.Errorf("tokens and users: %w", err)
	}
	return nil
}
