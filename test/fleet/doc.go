// Package fleet kills and cuts off the gateways and nodes of a cluster, while clients repeat their
// calls at any gateway that answers. Gateways and nodes are processes of the test binary. Each pair
// has a folder and a settings file, as on a host, and a network namespace if a test cuts hosts off.
// The simulated domain belongs to the test's process, so its write log shows what really happened.
package fleet
