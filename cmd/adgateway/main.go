// Command adgateway serves Active Directory, Windows DNS and computers over HTTP.
//
//	adgateway serve      the API with the PowerShell of this computer
//	adgateway sandbox    the whole API over a simulated domain
//	adgateway service    install and control the Windows service
//	adgateway token      manage the tokens that may call the API
//	adgateway user       manage the callers with a name and a password
//	adgateway config     create, check and show the settings
//	adgateway doctor     check what an installation needs
//	adgateway audit      show the record of changes and verify that it was not altered
//	adgateway job        run lists of changes as jobs of a gateway
//	adgateway version    print the version
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adgateway/cmd/adgateway/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
