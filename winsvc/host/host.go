// Package host contains the functions that depend on the operating system: access rights of
// files, the certificate store, information about the computer, and the process that uses a
// port. The commands pass them to the packages that need them, so that tests can replace them.
package host
