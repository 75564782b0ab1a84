//go:build !windows

package winsvc

// newNative is nothing: kardianos/service does what these systems need.
func newNative() native { return nil }
