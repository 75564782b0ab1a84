// Package host holds what only the operating system can do for the gateway.
// Everything here is given to the rooms that need it by the commands, so that
// tests put something else in its place.
package host
