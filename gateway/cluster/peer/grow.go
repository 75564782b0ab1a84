package peer

import (
	"context"
	"errors"
	"time"

	"adgateway/gateway/journal/jetstream"
)

// The first gateway of a new cluster goes on alone, with its file, until the nodes of most hosts
// serve. Then it writes no more, notes the place of its file, from which the log goes on, and is
// opened again: the node of its host makes the log, and its file is the first copy.

// growEvery is how often the nodes are asked whether they serve.
const growEvery = time.Second

// Grow waits until the nodes serve, and ends the time of the first gateway alone: its file takes
// no more changes, and the gateway is to be opened again. It returns false if ctx ends before,
// and at once for any other gateway, or if the log is in a NATS of the user's own, where the
// command makes it that makes the cluster.
func (g *Gateway) Grow(ctx context.Context) bool {
	if !g.alone {
		return false
	}
	if len(g.o.Nodes.Servers) > 0 {
		g.o.Note("the gateway goes on alone", errors.New("the log of the cluster has not been made in the NATS of cluster.servers: "+
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
				g.o.Note("the nodes have the log of another cluster of this name: remove it, or make the cluster with another name", jetstream.ErrExists)
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
