//go:build !windows

package host

// Certificates is the machine's certificate store; nil where there is none.
func Certificates() CertificateStore { return nil }
