// Command adgateway-engine runs a node of the engine in which several gateways keep what
// they share.
//
//	adgateway-engine run        run the node of the settings
//	adgateway-engine install    install it as a Windows service (uninstall, start, stop, status)
//	adgateway-engine check      check the settings
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
