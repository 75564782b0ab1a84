package peer

import (
	"context"
	"errors"
	"time"

	"adgateway/gateway/journal/jetstream"
)

// The first gateway of a new cluster works alone with its file until the nodes on most hosts serve. Then it
// stops writing, records the position of its file as the point where the log will begin, and is opened again.
// The node on its host creates the log, and the gateway's file is the first copy of the store.

// growEvery is the interval at which the gateway checks whether the nodes serve.
const growEvery = time.Second

// Grow waits until the nodes serve, and then stops writing to the first gateway's file, so the gateway can be
// reopened with the log. It returns false if ctx ends first. For any other gateway it returns false
// immediately. It does so, too, if the log is on external NATS servers, because there the command that
// creates the cluster creates the log.
func (g *Gateway) Grow(ctx context.Context) bool {
	if !g.alone {
		return false
	}
	if len(g.o.Nodes.Servers) > 0 {
		g.o.Note("the gateway goes on alone",
			errors.New("the log of the cluster has not been made in the NATS of cluster.servers: "+
				"stop the gateway, and run 'adgateway cluster init' again as before"))
		return false
	}
	at := jetstream.Options{Cluster: g.o.Identity.Cluster, Connect: g.connect}
	for told := false; ctx.Err() == nil; {
		stream, err := jetstream.Open(ctx, at)
		if errors.Is(err, jetstream.ErrNoStream) {
			break
		}
		if err == nil {
			stream.Close()
			if !told {
				g.o.Note("the nodes have the log of another cluster of this name: remove it, or make the cluster with "+
					"another name", jetstream.ErrExists)
				told = true
			}
		}
		select {
		case <-time.After(growEvery):
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return false
	}
	g.first.Follow()
	place, err := g.first.Point()
	if err == nil {
		err = g.o.Folder.SetOrigin(place.Hash)
	}
	if err != nil {
		g.o.Note("the log of the cluster cannot begin, which is tried again", err)
	}
	return true
}
