package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

func probeSelf(ctx context.Context, x *exam) verdict {
	asking, cancel := beforeLimit(ctx)
	defer cancel()
	view, err := x.Self(asking, x.settings)
	seen := !view.Taken.IsZero()
	at := view.Taken.Format("2006-01-02 15:04:05 -07:00")
	var v verdict
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return skipped("a gateway with these settings has no folder of its own for its report")
	case errors.Is(err, ErrNotRunning) && !seen:
		return skipped("no gateway with these settings is running or has run; the checks below start sessions "+
			"as %s, without a console window", x.accountName())
	case errors.Is(err, ErrNotRunning):
		v.hit("not-running", "time", at)
	case errors.Is(err, ErrNoAnswer):
		v.hit("silent", "time", orNever(seen, at))
	case errors.Is(err, fs.ErrPermission):
		v.hit("not-asked", "error", oneLine(err))
	case err != nil:
		return failed(err)
	}
	if seen {
		x.describeSelf(view, at, &v)
	}
	return v
}

// beforeLimit returns a context that ends shortly before the time limit of the check, so
// that the findings so far can still be reported.
func beforeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/20))
}

func orNever(seen bool, at string) string {
	if !seen {
		return "never"
	}
	return at
}

// describeSelf adds the findings of a view to the verdict.
func (x *exam) describeSelf(view SelfView, at string, v *verdict) {
	found := []string{fmt.Sprintf("report of the service, account %s, %s", view.Account, at)}
	if view.Self != "" && !strings.EqualFold(view.Self, view.Account) {
		found = append(found, "in PowerShell "+view.Self)
	}
	found = append(found, map[bool]string{true: "at a console", false: "without a console"}[view.Console])
	if account := x.accountName(); !strings.EqualFold(account, view.Account) {
		found = append(found, "this doctor runs as "+account)
	}
	for _, s := range view.Sessions {
		switch {
		case s.Blocked:
			v.hit("blocked", "account", view.Account, "lane", string(s.Lane), "error", s.Error)
		case s.Error != "":
			v.hit("no-session", "account", view.Account, "lane", string(s.Lane), "error", s.Error)
		default:
			found = append(found, fmt.Sprintf("%s: %s %s, PowerShell %s %s, %s, %.1f s",
				s.Lane, s.Module, s.ModuleVersion, s.PowerShell, s.Edition, s.LanguageMode, float64(s.Milliseconds)/1000))
		}
	}
	for _, f := range view.Folders {
		if f.Error != "" {
			v.hit("folder", "account", view.Account, "path", orUnknown(f.Path), "use", f.Use, "error", f.Error)
		}
	}
	for _, s := range view.Servers {
		if s.Error != "" {
			v.hit("no-server", "account", view.Account, "lane", string(s.Lane), "error", s.Error)
			continue
		}
		found = append(found, fmt.Sprintf("%s server %s", s.Lane, s.Name))
	}
	if view.ReadMilliseconds > 0 {
		found = append(found, fmt.Sprintf("one read %d ms", view.ReadMilliseconds))
	}
	if skew := time.Duration(view.SkewMilliseconds) * time.Millisecond; skew.Abs() > offClock {
		found = append(found, fmt.Sprintf("clock off by %s", skew.Round(time.Second)))
	}
	v.found = strings.Join(found, "; ")
}
