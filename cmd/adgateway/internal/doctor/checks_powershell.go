package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps"
)

func probePolicy(_ context.Context, x *exam) verdict {
	policy, err := x.Policy(x.survey.Edition)
	if err != nil {
		return failed(err)
	}
	v := verdict{found: orNone(policy) + " by group policy"}
	switch policy {
	case "Restricted":
		v.hit("restricted", "policy", policy)
	case "AllSigned":
		v.hit("signed", "policy", policy)
	}
	return v
}

func probeLanguageMode(_ context.Context, x *exam) verdict {
	v := verdict{found: x.survey.LanguageMode}
	switch x.survey.LanguageMode {
	case "FullLanguage":
	case "ConstrainedLanguage":
		v.hit("constrained", "mode", x.survey.LanguageMode)
	default:
		v.hit("restricted", "mode", orUnknown(x.survey.LanguageMode))
	}
	return v
}

func probePowerShell(ctx context.Context, x *exam) verdict {
	var v verdict
	path, err := x.FindPowerShell(x.settings.PowerShell.Path)
	if err != nil {
		v.hit("not-found", "error", oneLine(err))
		return v
	}
	survey, err := x.Survey(ctx)
	if err != nil {
		v.found = path
		v.hit("broken", "path", path, "error", oneLine(err))
		return v
	}
	v.found = fmt.Sprintf("%s, %s %s", path, orUnknown(survey.Version), survey.Edition)
	v.keep = func(x *exam) { x.survey = survey }
	major, minor := version(survey.Version)
	switch {
	case major < 5 || major == 5 && minor < 1:
		v.hit("old", "version", orUnknown(survey.Version))
	case major == 6 || major == 7 && minor < 2:
		v.hit("unsupported", "version", survey.Version)
	}
	return v
}

// version returns the first two numbers of a version, or zeros if text is not a version.
func version(text string) (major, minor int) {
	parts := strings.SplitN(text, ".", 3)
	major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major, minor
}

func probeModules(_ context.Context, x *exam) verdict {
	v := verdict{found: orNone(strings.Join(x.survey.Modules, ", "))}
	var missing []string
	for _, name := range []string{"ActiveDirectory", "DnsServer"} {
		if !slices.ContainsFunc(x.survey.Modules,
			func(module string) bool { return strings.HasPrefix(module, name+" ") }) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		fault := "missing"
		if x.system.Windows {
			fault = map[bool]string{true: "missing-server", false: "missing-client"}[x.system.Server]
		}
		v.hit(fault, "modules", strings.Join(missing, " and "))
	}
	return v
}

func probeSessions(ctx context.Context, x *exam) verdict {
	var v verdict
	var found []string
	allowed := x.settings.Pool.StartTimeout
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		s, err := x.Open(ctx, lane)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return failed(err)
			}
			fault := "no-session"
			if ps.AsError(err).Blocked() {
				fault = "blocked"
			}
			v.hit(fault, "lane", string(lane), "error", oneLine(err))
			continue
		}
		found = append(found, fmt.Sprintf("%s: %s %s, PowerShell %s %s, %.1f s", lane, s.Module, s.ModuleVersion,
			s.PowerShell, s.Edition, s.Took.Seconds()))
		if s.Took > allowed/2 {
			v.hit("slow", "lane", string(lane), "took", fmt.Sprintf("%.1f s", s.Took.Seconds()), "limit",
				allowed.String())
		}
	}
	if len(found) > 0 {
		found = append(found, "as "+x.accountName()+", without a console window")
	}
	v.found = strings.Join(found, "; ")
	return v
}
