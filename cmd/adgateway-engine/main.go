// Command adgateway-engine runs the node that stores a cluster's
// log. It runs on the host of a gateway, whose service starts it.
//
//	adgateway-engine run        run the node
//	adgateway-engine doctor     check whether this computer meets the node's needs
//	adgateway-engine config     print the node's configuration for nats-server
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
