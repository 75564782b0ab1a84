// Package odd holds that whatever a list shows can be read by its name, written back
// unchanged, and removed by its own text. Its data are in ps/sandbox/testdata/odd.
package odd
