// Package replicas tests that gateways can share one log when their processes, their nodes and the
// connections between them fail. The store in a file, the log over JetStream and the member of the cluster
// run in processes that the tests kill, freeze and disconnect, and whose wall clocks they change.
//
//	gateway_test.go   a process that is a gateway: values, and changes that write to a file
//	attempts_test.go  the open changes of the gateway
//	node_test.go      a process that is a node
//	world_test.go     three of each, and the connections between them
//	faults_test.go    their faults, drawn from a seed
//	clients_test.go   the calls of the clients during the faults
//	checks_test.go    the conditions that must hold at the end
//	dark_test.go      how long acknowledgements pause
package replicas
