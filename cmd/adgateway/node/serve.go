package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/engine"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/visible"
	"adgateway/winsvc"
	"adgateway/winsvc/events"
	"adgateway/winsvc/host"
	"adgateway/winsvc/supervisor"
)

const (
	progressEvery = 10 * time.Second // interval of log lines during a long start
	healthEvery   = 10 * time.Second
)

func (p *commands) runCommand() *cobra.Command {
	child := false
	c := &cobra.Command{
		Use: "run", Short: "Run the node in the settings until it is told to stop", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if child {
				return p.runChild(c)
			}
			serve, _, err := p.prepare(c.Context(), &p.flags, nil)
			if err != nil {
				return err
			}
			return serve(c.Context())
		},
	}
	p.flags.AddTo(c.Flags())
	c.Flags().BoolVar(&child, "child", false, "run as a process of a gateway")
	_ = c.Flags().MarkHidden("child") // fails only for unknown flags
	return c
}

// runChild runs the node as one of the two processes of a gateway, with the gateway's settings.
func (p *commands) runChild(c *cobra.Command) error {
	prepare := func(ctx context.Context, write events.Write) (func(context.Context) error, string, error) {
		return p.prepare(ctx, &p.flags, write)
	}
	to := visible.Raw(c.OutOrStdout())
	if code := supervisor.RunChild(c.Context(), c.InOrStdin(), to, prepare, os.Exit); code != 0 {
		return exitCode(code)
	}
	return nil
}

// running is a node with its log.
type running struct {
	node   *engine.Node
	log    *logrus.Logger
	write  events.Write // nil without an event log
	closer io.Closer
	member *member // the gateway that the node belongs to
	space  int64   // size limit of the log
	stream string  // name of the log's stream
	leads  bool    // the node leads the stream
}

// prepare starts the node of the settings. It implements winsvc.Prepare. write may be nil.
func (p *commands) prepare(
	ctx context.Context, f *program.Flags, write events.Write,
) (serve func(context.Context) error, started string, err error) {
	s, m, err := readNode(f)
	if err != nil {
		return nil, "", err
	}
	log, closer, err := program.OpenLog(s.Log, p.stderr)
	if err != nil {
		return nil, "", err
	}
	if err := program.RecordCrashes(s.Log.File); err != nil {
		log.WithError(err).Warn("crashes cannot be recorded")
	}
	program.WarnFormer(log, s)
	if err := restrictStore(s.Engine.Store); err != nil {
		log.WithError(err).Warn("the folder of the node is not for its account alone")
	}
	o := m.options(s)
	node, err := start(ctx, o, log)
	if err != nil {
		log.Error(program.OneLine(err))
		return nil, "", errors.Join(err, closer.Close())
	}
	r := &running{
		node: node, log: log, write: write, closer: closer,
		member: m, space: s.Engine.LogBytes(), stream: stock.LogStream(o.Cluster),
	}
	return r.serve, fmt.Sprintf("adgateway-engine %s runs node %s on %s.", p.version, o.Node, node.URL()), nil
}

// start starts the node. It logs at intervals that the node is still starting, because a start takes minutes
// if there is a lot of data (facts J21).
func start(ctx context.Context, o engine.Options, log *logrus.Logger) (*engine.Node, error) {
	type result struct {
		node *engine.Node
		err  error
	}
	done := make(chan result, 1)
	begun := time.Now()
	log.WithFields(logrus.Fields{"node": o.Node, "store": o.Store}).Info("starting: the streams are opened")
	o.Log = log.WithField("source", "nats-server")
	go func() {
		node, err := engine.Start(ctx, o)
		done <- result{node, err}
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			return r.node, r.err
		case <-tick.C:
			log.WithField("seconds", int(time.Since(begun).Seconds())).Info("still starting: the streams are opened")
		}
	}
}

// serve reports the node's health until ctx ends and then stops the node.
func (r *running) serve(ctx context.Context) error {
	r.log.WithField("url", r.node.URL()).Info("the node listens")
	attending, end := context.WithCancel(ctx)
	ended := r.member.attend(attending, r.node, r.log, r.space)
	defer func() {
		end()
		<-ended
	}()
	r.awaitReady(ctx)
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	trouble := ""
	for {
		select {
		case <-ctx.Done():
			r.log.Info("stopping: leadership is handed over")
			r.node.Close()
			r.log.Info("stopped")
			return r.closer.Close()
		case <-tick.C:
			trouble = r.report(trouble)
		}
	}
}

// awaitReady waits until the node is part of a majority, and logs the condition that it is waiting for.
func (r *running) awaitReady(ctx context.Context) {
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, progressEvery)
		err := r.node.Ready(wait)
		cancel()
		if err == nil {
			leads, nodes := r.node.LeadsCluster()
			r.log.WithFields(logrus.Fields{"leads": leads, "nodes": nodes, "port": r.node.Port(),
				"cluster_port": r.node.ClusterPort()}).Info("the node is ready")
			return
		}
		if ctx.Err() == nil {
			r.log.Warn(err)
		}
	}
}

// report logs changes of the node's health and returns the current problem, or "".
func (r *running) report(before string) string {
	if leads := r.node.LeadsStream(r.stream); leads != r.leads {
		r.leads = leads
		r.log.WithField("leads", leads).Info("the store of the gateways has another leader")
	}
	return r.health(before, r.node.Health())
}

// health does the work of report for the given health of the node.
func (r *running) health(before string, err error) string {
	now := ""
	if err != nil {
		now = err.Error()
	}
	switch {
	case now == before:
	case now == "":
		r.log.Info("the node is healthy again")
		r.tell(events.NodeHealthy, "The node is healthy again.")
	default:
		r.log.WithField("trouble", now).Error(
			"the node is not healthy; if this lasts, look for errors of the disk above, and restart the node")
		r.tell(events.NodeTrouble, fmt.Sprintf(
			"The node is not healthy: %s. If this lasts, look for errors of the disk in the log, and restart the "+
				"node.", now))
	}
	return now
}

// tell writes an entry to the event log, if there is one.
func (r *running) tell(e events.Event, text string) {
	if r.write != nil {
		r.write(e, text)
	}
}

// files protects the files of a node, which runs as the gateway's account.
var files = host.Files{Service: winsvc.Gateway.Name}

// restrictStore restricts the folder of the streams to the service's account and the administrators. It does
// not change a folder with other content.
func restrictStore(store string) error {
	dedicated, err := engine.OwnFolder(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("engine.store: %w", err)
	}
	if !dedicated {
		return fmt.Errorf("engine.store: %s contains other files, so its access rights were not changed: choose "+
			"a folder that only the node uses", store)
	}
	if err := files.RestrictFolder(store); err != nil {
		return fmt.Errorf("engine.store: %w", err)
	}
	return nil
}
