// Package test holds the tests that look at the project as a whole: what may
// import what, the contract of every endpoint, and stories from end to end.
package test
