// Package fleet kills and disconnects the gateways and nodes of a cluster, while clients repeat their calls
// at any gateway that answers. Gateways and nodes are processes of the test binary. Each host has a folder
// and a settings file for its gateway and node, and a network namespace if a test disconnects hosts. The
// simulated domain runs in the test's process, so its write log shows all writes that were really made.
package fleet
