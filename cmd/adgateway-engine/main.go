// Command adgateway-engine runs a node of the engine in which several gateways keep what
// they share.
//
//	adgateway-engine run        run the node of the settings
//	adgateway-engine init       create the settings file
//	adgateway-engine check      check the settings
//	adgateway-engine doctor     check what the node needs of this computer
//	adgateway-engine service    install and control it as a Windows service
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
