// Package fleet kills and cuts off the gateways and nodes of a cluster with one writer, while
// clients repeat their calls at whichever gateway answers. Gateways and nodes are processes of
// the test binary, each pair with a folder and a settings file as on a host of its own, and with
// a network of its own where a test cuts hosts off. The simulated domain is in the test's
// process, so its write log says what really happened.
package fleet
