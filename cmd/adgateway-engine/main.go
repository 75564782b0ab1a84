// Command adgateway-engine runs the node with the log of a cluster beside one of its gateways,
// whose service starts it.
//
//	adgateway-engine run        run the node
//	adgateway-engine doctor     check what the node needs of this computer
//	adgateway-engine config     print the same node as a configuration of nats-server
//	adgateway-engine version    print the version
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adgateway/cmd/adgateway/node"
)

// version is set by the linker.
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := node.Run(ctx, version, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
