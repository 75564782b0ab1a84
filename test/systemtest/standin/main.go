// Command standin is the program that the tests start in place of PowerShell.
package main

import (
	"context"
	"os"

	"adgateway/test/remotetest"
)

func main() {
	os.Exit(remotetest.Engine(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
