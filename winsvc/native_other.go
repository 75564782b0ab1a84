//go:build !windows

package winsvc

// newNative is nil: there is no service of Windows.
func newNative() native { return nil }
