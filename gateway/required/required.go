// Package required checks that the required options of a part of the gateway are set. Options that come from
// settings have no default in the code, because the setting has one (package config).
package required

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Positive returns an error that joins one for each value that is not positive, sorted by name. It returns
// nil if all are positive. The prefix precedes each name in the error.
func Positive(prefix string, values map[string]int64) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value := values[name]; value <= 0 {
			fault := fmt.Errorf("gateway: option %s%s must be positive, not %d", prefix, name, value)
			faults = append(faults, fault)
		}
	}
	return errors.Join(faults...)
}

// Given returns an error that lists the names whose value is true, in order, as missing options. It is
// nil if no option is missing.
func Given(missing map[string]bool) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if missing[name] {
			faults = append(faults, fmt.Errorf("gateway: option %s is missing", name))
		}
	}
	return errors.Join(faults...)
}
