// Package replicas tries how gateways share one log when their processes, their nodes and the
// ways between them fail: the store in a file, the log over JetStream and the member of the
// cluster, as processes that are killed, frozen and cut off, and whose wall clocks are set.
//
//	gateway_test.go   a process that is a gateway: values, and changes that write to a file
//	attempts_test.go  its open changes
//	node_test.go      a process that is a node
//	world_test.go     three of each, and the ways between them
//	faults_test.go    what happens to them, by a seed
//	clients_test.go   what is asked meanwhile
//	checks_test.go    what must hold at the end
//	dark_test.go      for how long nothing is acknowledged
package replicas
