package replicas

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/engine"
	"adgateway/gateway/engine/stock"
)

// runNode runs a node until the process receives a signal to end.
func runNode(o stock.Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := logrus.New()
	log.SetOutput(os.Stderr)
	node, err := engine.Start(ctx, engine.Options{Options: o, Log: log})
	if err != nil {
		return err
	}
	<-ctx.Done()
	node.Close()
	return nil
}
