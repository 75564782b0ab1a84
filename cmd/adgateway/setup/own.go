package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/cluster/peer"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/store"
)

// The nodes run on the gateways' hosts, or are external NATS servers (cluster.servers). With external
// servers, the command that creates the cluster also creates its log, because the first gateway does not work
// alone.

const (
	examineFor = 15 * time.Second // time limit for examining the NATS servers
	createFor  = 30 * time.Second // time limit for creating the log
	replicas   = 3
	streamFile = "log-stream.json"
)

// OwnLog contains the next steps for the administrator of external NATS servers, who prepares them for a new
// cluster.
type OwnLog struct {
	Account string // the account for the gateways, in nats-server syntax
	Command string // creates the log; empty if the log exists
	Subject string // the subject to which this gateway's user must be able to publish to create the log
	Warning string // may be empty
}

// nodesOf returns the location of the log according to the settings.
func nodesOf(s *config.Settings) peer.Nodes {
	c := s.Cluster
	return peer.Nodes{Servers: c.Servers, CA: c.CA, NKeyFile: c.NKeyFile, CredsFile: c.CredsFile}
}

// own describes external NATS servers that store a cluster's log.
type own struct {
	nodes    peer.Nodes
	cluster  string
	self     string
	gateways []string // all gateways, including this one
	maxBytes int64
}

func (o Options) own(cluster, self string, gateways ...string) own {
	return own{nodesOf(o.Settings), cluster, self, gateways, o.Settings.Engine.LogBytes()}
}

// ownOf returns the external NATS of the cluster in a folder.
func (o Options) ownOf(folder trust.Folder) (own, error) {
	id, err := folder.Identity()
	if err != nil {
		return own{}, err
	}
	list, err := trust.LoadMembers(folder.MembersFile())
	return o.own(id.Cluster, id.Gateway, list.Names()...), err
}

func (n own) at() jetstream.Options { return n.nodes.Own(n.cluster, n.self) }

// account returns the NATS account that the gateways need.
func (n own) account() (string, error) {
	key, err := n.nodes.PublicKey()
	if err != nil {
		return "", err
	}
	var members []stock.Member
	for _, name := range n.gateways {
		m := stock.Member{Gateway: name}
		if name == n.self {
			m.User = key
		}
		members = append(members, m)
	}
	return stock.OwnAccount(n.cluster, members), nil
}

// examine returns the state of the NATS servers, or an error with the reason why they cannot store the log
// and a remedy.
func (n own) examine(ctx context.Context) (found jetstream.Examined, err error) {
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	found, err = jetstream.Examine(ctx, n.at(), stock.BeatSubject(n.cluster, n.self))
	if err == nil {
		return found, nil
	}
	name := "the NATS of cluster.servers (" + strings.Join(n.nodes.Servers, ", ") + ")"
	switch {
	case errors.Is(err, jetstream.ErrOldServer):
		err = fmt.Errorf("%w: update all its servers", err)
	case errors.Is(err, jetstream.ErrNoJetStream):
		err = fmt.Errorf("%w: turn it on with the block jetstream of the servers and 'jetstream: enabled' "+
			"in the account", err)
	case errors.Is(err, jetstream.ErrDenied):
		err = n.denied(err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrNkeysNotSupported):
		err = fmt.Errorf("%w: set cluster.nkeyFile or cluster.credsFile to the credentials of a user that it "+
			"knows", err)
	case errors.Is(err, jetstream.ErrUnfit):
		err = fmt.Errorf("%w; %s", err, n.remove())
	default:
		err = fmt.Errorf("%w: check that it runs, and check the settings cluster.servers and cluster.ca", err)
	}
	return found, fmt.Errorf("%s cannot store the log: %w", name, err)
}

// denied adds to err the permissions that this gateway's user lacks.
func (n own) denied(err error) error {
	account, failed := n.account()
	if failed != nil {
		return errors.Join(err, failed)
	}
	return fmt.Errorf("%w. Give the user of each gateway these permissions:\n\n%s", err, account)
}

// remove returns advice on removing another log of the same name.
func (n own) remove() string {
	return fmt.Sprintf("if no gateway uses it, remove it with 'nats stream rm %s', "+
		"or give the cluster another name", jetstream.StreamName(n.cluster))
}

// vacant returns an error if the NATS servers cannot store the log of a new cluster.
func (n own) vacant(ctx context.Context) error {
	found, err := n.examine(ctx)
	if err == nil && found.Identity.Journal != "" {
		err = fmt.Errorf("the NATS of cluster.servers already has a log of the cluster %s: %s",
			n.cluster, n.remove())
	}
	return err
}

// begin creates the log of a new cluster, which continues the store of its first gateway. file is that store;
// begin closes it without changing it. If this gateway's user may not create the log, the result contains a
// command with which an administrator can.
func (n own) begin(ctx context.Context, folder trust.Folder, file *store.File) (*OwnLog, error) {
	at, err := file.Point()
	if err == nil {
		err = folder.SetOrigin(at.Hash)
	}
	if err != nil {
		return nil, err
	}
	return n.make(ctx, folder, at.Hash)
}

// make creates the log that continues from an origin, unless it exists.
func (n own) make(ctx context.Context, folder trust.Folder, origin store.Hash) (*OwnLog, error) {
	account, err := n.account()
	if err != nil {
		return nil, err
	}
	all := &OwnLog{Account: account}
	ctx, cancel := context.WithTimeout(ctx, createFor)
	defer cancel()
	s := jetstream.Settings{Replicas: replicas, MaxBytes: n.maxBytes, Origin: origin}
	err = jetstream.Create(ctx, n.at(), s)
	if errors.Is(err, jetstream.ErrOneServer) {
		s.Replicas = 1
		err = jetstream.Create(ctx, n.at(), s)
	}
	switch {
	case errors.Is(err, jetstream.ErrDenied):
		all.Subject = stock.CreateSubject(n.cluster)
		all.Command, err = n.command(folder, s)
		return all, err
	case errors.Is(err, jetstream.ErrExists):
		return nil, fmt.Errorf("%w: %s", err, n.remove())
	case err != nil:
		return nil, fmt.Errorf("the log of the cluster %s cannot be created in the NATS of cluster.servers: %w: "+
			"run three servers with JetStream, give the account %d MiB on each (half of engine.maxStore), and "+
			"run the command again", n.cluster, err, n.maxBytes>>20)
	}
	found, err := n.examine(ctx)
	if found.Replicas < replicas {
		all.Warning = fmt.Sprintf("the log has %d replicas: if that server fails, no gateway makes changes, and "+
			"if its disk fails, the log is lost. Three replicas need three servers", found.Replicas)
	}
	return all, err
}

// command returns the command with which an administrator creates the log.
func (n own) command(folder trust.Folder, s jetstream.Settings) (string, error) {
	text, err := jetstream.Document(n.cluster, s)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder.Path, streamFile)
	if err := atomicfile.Write(path, append(text, '\n'), folder.Restrict); err != nil {
		return "", err
	}
	return fmt.Sprintf("nats stream add %s --config '%s'", jetstream.StreamName(n.cluster), path), nil
}

// beginLater creates the missing log of a cluster that was created here. It returns nil if the log exists.
func (o Options) beginLater(ctx context.Context, n own, folder trust.Folder) (log *OwnLog, err error) {
	origin, begun, err := folder.Origin()
	if err != nil {
		return nil, err
	}
	if !begun {
		file, done, err := open(o.Settings.Store.File)
		if err != nil {
			return nil, err
		}
		log, err = n.begin(ctx, folder, file)
		done(&err)
		return log, err
	}
	found, err := n.examine(ctx)
	if err != nil || found.Identity.Journal != "" {
		return nil, err
	}
	return n.make(ctx, folder, origin)
}

// resume is beginLater for a cluster that may not exist. It returns nil if there is nothing to do.
func (o Options) resume(ctx context.Context, folder trust.Folder) (*Made, error) {
	_, begun, err := folder.Origin()
	if err != nil || !begun || len(o.Settings.Cluster.Servers) == 0 {
		return nil, err
	}
	n, err := o.ownOf(folder)
	if err != nil {
		return nil, err
	}
	log, err := o.beginLater(ctx, n, folder)
	if err != nil || log == nil {
		return nil, err
	}
	return &Made{Self: trust.Member{Name: n.self}, Log: log}, nil
}

// joins returns an error if a gateway with these settings cannot join a cluster whose log is
// on external NATS servers.
func (n own) joins(ctx context.Context) error {
	if len(n.nodes.Servers) == 0 {
		return nil
	}
	found, err := n.examine(ctx)
	if err == nil && found.Identity.Journal == "" {
		err = fmt.Errorf("the NATS of cluster.servers has no log of the cluster %s: leave cluster.servers empty "+
			"if the hosts of the cluster have nodes, or first create the log with the command that "+
			"'adgateway cluster init' printed", n.cluster)
	}
	return err
}

// joined returns an error if a gateway that has joined cannot find the log of its cluster.
func (n own) joined(list trust.Members) error {
	switch external := len(n.nodes.Servers) > 0; {
	case external && len(list.Nodes) > 0:
		return fmt.Errorf("%s has joined the cluster %s, whose hosts have nodes: remove cluster.servers from "+
			"the settings before you start the gateway", n.self, n.cluster)
	case !external && len(list.Nodes) == 0:
		return fmt.Errorf("%s has joined the cluster %s: %w before you start the gateway",
			n.self, n.cluster, peer.ErrNoNodes)
	}
	return nil
}
