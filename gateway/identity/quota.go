package identity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Quota limits the actions of an account. An absent field means the server's default; zero allows
// nothing.
type Quota struct {
	Rate                  Rate `json:"rate,omitempty"`        // requests
	Concurrency           *int `json:"concurrency,omitempty"` // concurrent requests
	DeletionsPerHour      *int `json:"deletionsPerHour,omitempty"`
	PasswordResetsPerHour *int `json:"passwordResetsPerHour,omitempty"`
	ChangesPerHour        *int `json:"changesPerHour,omitempty"` // disabled, renamed or moved objects, ended memberships
	RevealsPerHour        *int `json:"revealsPerHour,omitempty"` // passwords and recovery keys; DefaultReveals if no default
}

// Rate is a number of requests per second, minute or hour, such as "10/s", "600/m" or "5000/h". That many
// requests are allowed at once, and the allowance is replenished evenly over that time. The empty rate means
// no limit.
type Rate string

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// parse parses a rate.
func (r Rate) parse() (limit rate.Limit, burst int, err error) {
	if r == "" {
		return rate.Inf, 0, nil
	}
	count, unit, _ := strings.Cut(string(r), "/")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > 1000000 || rateUnits[unit] == 0 {
		return 0, 0, fmt.Errorf("%q is not a rate: write requests per second, minute or hour, such as 10/s, "+
			"600/m or 5000/h", string(r))
	}
	return rate.Limit(float64(n) / rateUnits[unit].Seconds()), n, nil
}

// Check returns an error if the rate is malformed.
func (r Rate) Check() error {
	_, _, err := r.parse()
	return err
}

// Check returns all mistakes in the quota, joined.
func (q *Quota) Check() error {
	faults := []error{q.Rate.Check()}
	for _, n := range []struct {
		what   string
		number *int
	}{
		{"requests at once", q.Concurrency}, {"deletions per hour", q.DeletionsPerHour}, {"password resets per hour", q.PasswordResetsPerHour},
		{"changes per hour", q.ChangesPerHour}, {"reveals per hour", q.RevealsPerHour},
	} {
		if n.number != nil && (*n.number < 0 || *n.number > maxPerHour) {
			faults = append(faults, fmt.Errorf("%d is not a number of %s: write 0 to %d", *n.number, n.what,
				maxPerHour))
		}
	}
	return errors.Join(faults...)
}

const maxPerHour = 1000000

// DefaultReveals is the number of secrets that a caller may see per hour unless its quota differs.
const DefaultReveals = 10

// over completes the quota with defaults.
func (q *Quota) over(defaults Quota) Quota {
	if q == nil {
		return defaults
	}
	full := *q
	if full.Rate == "" {
		full.Rate = defaults.Rate
	}
	for own, standard := range map[**int]*int{
		&full.Concurrency: defaults.Concurrency, &full.DeletionsPerHour: defaults.DeletionsPerHour, &full.PasswordResetsPerHour: defaults.PasswordResetsPerHour,
		&full.ChangesPerHour: defaults.ChangesPerHour, &full.RevealsPerHour: defaults.RevealsPerHour,
	} {
		if *own == nil {
			*own = standard
		}
	}
	return full
}

// Impact is a kind of damage that a request can do. Each is counted per hour.
type Impact uint8

// The impacts.
const (
	Deletion Impact = iota
	PasswordReset
	Change // disabling, renaming, moving, or ending a membership
	Reveal // showing a computer's password or a recovery key
	impacts
)

// String returns the name of the impact in ledgers.
func (i Impact) String() string { return impactNames[i] }

var impactNames = [impacts]string{"deletion", "passwordReset", "change", "reveal"}

// ImpactNamed returns the impact with the given name, and whether there is one.
func ImpactNamed(name string) (of Impact, known bool) {
	i := slices.Index(impactNames[:], name)
	return Impact(max(i, 0)), i >= 0
}

// verbs describe the impacts in messages.
var verbs = [impacts]struct{ limit, may, one, many string }{
	Deletion:      {"deletionsPerHour", "remove", "object", "objects"},
	PasswordReset: {"passwordResetsPerHour", "reset", "password", "passwords"},
	Reveal:        {"revealsPerHour", "reveal", "secret of computers", "secrets of computers"},
	Change:        {"changesPerHour", "disable, rename, move or take out of groups", "object", "objects"},
}
