// Package host provides what depends on the operating system: access rights of
// files, the certificate store, information about the computer, and the holder of a
// port. The commands pass it to the packages that need it, so that tests can replace
// it.
package host
