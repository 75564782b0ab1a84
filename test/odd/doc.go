// Package odd tests that every object and record in a list can be read by its name, written
// back unchanged, and removed by its own text. The test data are in ps/sandbox/testdata/odd.
package odd
