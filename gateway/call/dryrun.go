package call

import (
	"context"
	"errors"

	"adgateway/gateway/problem"
	"adgateway/ps"
)

// A dry run is the change itself up to its announcement: the script resolves and
// checks on the real server, with the caller's scopes and limits, announces what it
// would do, and is not allowed to do it.

// errDryRun is why a dry run is not allowed to change anything.
var errDryRun = errors.New("this is a dry run")

// A Trial is what a dry run has come to.
type Trial struct {
	call      Accepted
	Announced *ps.Intent // nil: the script had nothing to announce
	Server    string     // that was used; empty: none
	Warnings  []ps.Warning

	Result *ps.Result // of the run; nil: it was stopped, or has failed
	RunErr error      // of the run; nil: it was not stopped
}

// Changes reports whether the script would change something.
func (t *Trial) Changes() bool { return t.Announced != nil && t.Announced.Changes() }

// DryRun runs the script of a change up to its announcement. With an error the trial has only what
// the run has ended with.
func (s *Service) DryRun(ctx context.Context, a Accepted, p *Policy, left Allowance) (t Trial, err error) {
	t.call = a
	c := s.Collector(ctx, a, nil, nil)
	req := s.Request(c, p, left)
	req.Announced = func(i ps.Intent) error {
		t.Announced = &i
		if err := Announced(a.Guards, &i); err != nil {
			return err
		}
		return errDryRun
	}
	t.Result, t.RunErr = s.Runner.Run(ctx, req)
	if t.RunErr == nil {
		if err = Unannounced(a.Guards, t.Result, c.Tag()); err != nil {
			return t, err
		}
	}
	switch {
	case t.RunErr != nil && !errors.Is(t.RunErr, errDryRun):
		return t, s.Failed(c, p, left, t.RunErr)
	case t.RunErr == nil && t.Result.Effect != ps.EffectNone:
		failed := problem.Internal(errors.New("the script changed something that it had not announced"))
		failed.Outcome = ps.OutcomeDone
		return t, failed
	case t.Announced == nil:
		t.Server, t.Warnings = t.Result.Server, t.Result.Warnings
	default:
		t.Server, t.Warnings = ps.AsError(t.RunErr).Server, t.Announced.Warnings
	}
	return t, nil
}

// Announced asks guards about what is announced, until one refuses the call.
func Announced(guards []Guard, i *ps.Intent) error {
	for _, g := range guards {
		if err := g.Announced(i); err != nil {
			return err
		}
	}
	return nil
}

// Unannounced asks guards about the result of a script, and the tag of its record, unless it has
// changed or tried to change something.
func Unannounced(guards []Guard, result *ps.Result, tag string) error {
	if result.Effect != ps.EffectNone || len(result.Failures) > 0 {
		return nil
	}
	for _, g := range guards {
		if err := g.Unannounced(result, tag); err != nil {
			return err
		}
	}
	return nil
}
