//go:build !windows

package host

// Certificates returns the machine's certificate store, or nil if the system has
// none.
func Certificates() CertificateStore { return nil }
