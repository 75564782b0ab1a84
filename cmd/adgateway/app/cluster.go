package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster/choice"
	"adgateway/gateway/config"
	"adgateway/gateway/enginecheck"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/natsstore"
	"adgateway/gateway/keyring"
	"adgateway/gateway/members"
	"adgateway/gateway/nodecheck"
	"adgateway/gateway/pins"
	"adgateway/gateway/schema"
	"adgateway/gateway/tlscert"
	"adgateway/ps"
	"adgateway/ps/servers"
)

// Endpoint returns where the engine of the settings is, and how this gateway shows who it
// is. The certificate is read again for each connection, so that it can be renewed.
func Endpoint(c config.Cluster, store tlscert.Store) (natsstore.Endpoint, error) {
	e := natsstore.Endpoint{Servers: c.Servers, NKeyFile: c.NKeyFile, CredsFile: c.CredsFile}
	if c.CA == "" {
		return e, nil
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return e, filefault.Explain("cluster.ca", err)
	}
	e.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !e.TLS.RootCAs.AppendCertsFromPEM(pem) {
		return e, fmt.Errorf("cluster.ca: %s has no certificate in PEM", c.CA)
	}
	if c.Certificate == "" {
		return e, nil
	}
	settings := tlscert.Settings{CertificateFile: c.Certificate, KeyFile: c.Key}
	if c.Key == "" {
		settings = tlscert.Settings{StoreThumbprint: c.Certificate}
	}
	keeper, err := tlscert.New(tlscert.Options{Settings: settings, Store: store, Log: func(tlscert.Notice, string) {}})
	if err != nil {
		return e, fmt.Errorf("cluster.certificate: %w", err)
	}
	e.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		keeper.Refresh()
		return keeper.Config().GetCertificate(nil)
	}
	return e, nil
}

// storeOptions returns the options of the shared store. The mirror is beside the file that
// the store of a single gateway would have.
func storeOptions(o Options) (natsstore.Options, error) {
	c := o.Settings.Cluster
	if file := o.Settings.Store.File; file == "" || file == config.AuditOff {
		return natsstore.Options{}, errors.New("store.file: a gateway of a cluster keeps a mirror of the shared store in the folder of this file: set it")
	}
	endpoint, err := Endpoint(c, o.Store)
	return natsstore.Options{Name: c.Name, Gateway: c.Gateway, Mirror: clusterFile(o, "mirror"), Connect: endpoint.Connect, Now: o.Now}, err
}

// clusterFile returns the path of a file of the cluster that this gateway keeps itself.
func clusterFile(o Options, name string) string {
	c := o.Settings.Cluster
	return filepath.Join(filepath.Dir(o.Settings.Store.File), "cluster-"+c.Name+"-"+c.Gateway+"."+name)
}

// inCluster opens the store of the settings that several gateways share, and joins them.
func (s *kept) inCluster(ctx context.Context, o Options) error {
	c := o.Settings.Cluster
	options, err := storeOptions(o)
	if err != nil {
		return err
	}
	options.Log = func(message string, err error) { o.Log.WithError(err).Warn("cluster: " + message) }
	check := func(ctx context.Context) error { return checkEngine(ctx, o) }
	away := check(ctx)
	if away != nil && !errors.Is(away, keep.ErrUnreachable) {
		return fmt.Errorf("cluster %s: %w", c.Name, away)
	}
	opening := ctx
	if away != nil { // it has been waited for
		var cancel context.CancelFunc
		opening, cancel = context.WithTimeout(ctx, time.Second)
		defer cancel()
	}
	if err = s.openJournal(ctx, o); err != nil {
		return fmt.Errorf("cluster %s: what was changed without it: %w", c.Name, err)
	}
	shared, err := natsstore.Open(opening, options)
	if err != nil {
		return fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	s.lasts, s.shared, s.engine = true, true, shared
	if s.ring, err = openRing(ctx, o, shared); err != nil {
		return errors.Join(err, shared.Close())
	}
	s.keyFile = func() error { return checkKeyFile(context.WithoutCancel(ctx), o, s.ring) }
	s.store = s.ring.Sealed()
	if shared.State().Rewound != nil {
		return nil // reads go on, and the state says why changes do not
	}
	joining := memberOptions(o)
	if joining.Check = check; away == nil {
		s.self, err = members.Join(ctx, s.store, joining)
		return err
	}
	o.Log.WithError(away).Warn("cluster: the engine cannot be reached: the gateway answers reads from its mirror, and joins the others once it can")
	s.self, err = members.New(s.store, joining, away)
	return err
}

// openJournal opens the journal of changes that are made without the shared store, if such
// are allowed or if some are left from when they were.
func (s *kept) openJournal(ctx context.Context, o Options) error {
	s.degraded = o.Settings.Cluster.Loss == config.LossDegraded
	path := clusterFile(o, "journal")
	if _, err := os.Stat(path); err != nil && !s.degraded {
		return nil
	}
	own, _, aside, err := sealedFile(keep.Options{Path: path}, o.Settings.Store.KeyFile())
	if err != nil {
		return err
	}
	if aside != "" {
		o.Log.WithField("file", aside).Error("the journal of changes that were made without the shared store was damaged: it was renamed, and an empty one takes its place; those that were not sent yet are in the audit log only")
	}
	s.own = own
	s.journal, err = changes.Open(ctx, own, o.Settings.Changes.Keep, mostOfHistory(o))
	return err
}

// alone reports whether this gateway makes changes although it cannot reach the shared store.
func (s *kept) alone() bool {
	return s.degraded && s.self.Lapsed() && errors.Is(s.store.State().Failed, keep.ErrUnreachable)
}

// choice returns which servers the gateways of the site use together; nil if this one is
// alone.
func (s *kept) choice(o Options, log func(string, map[string]any)) servers.Shared {
	if j := s.cluster(); j.Member() != nil {
		s.choices = choice.New(choice.Options{Store: s.store, Log: log})
		return s.choices
	}
	if s == nil || !s.shared {
		return nil
	}
	s.pins = pins.New(pins.Options{Store: s.store, Members: s.member, Site: o.Settings.Cluster.Site, Log: log})
	return s.pins
}

// movePins moves the pins of the site when it is due, until ctx ends.
func (s *kept) movePins(ctx context.Context) {
	if s != nil && s.pins != nil {
		s.pins.Run(ctx)
	}
}

// CheckEngine asks every node of the engine of the settings how it is set up.
func CheckEngine(ctx context.Context, o Options) (enginecheck.Report, error) {
	options, err := storeOptions(o)
	if err != nil {
		return enginecheck.Report{}, err
	}
	report, err := enginecheck.CheckAt(ctx, options.Connect)
	return report, natsstore.Explain(err)
}

// checkEngine returns why a gateway must not join: the engine is not set up so that what
// the gateways promise holds.
func checkEngine(ctx context.Context, o Options) error {
	report, err := CheckEngine(ctx, o)
	if err != nil {
		return err
	}
	for _, f := range report.Findings {
		if f.Warning {
			o.Log.Warn("cluster: " + f.String())
		}
	}
	return report.Err()
}

func memberOptions(o Options) members.Options {
	c := o.Settings.Cluster
	return members.Options{
		Name: c.Gateway, File: clusterFile(o, "member"), Version: o.Version.Version,
		Site: c.Site, Settings: agreed(o.Settings), Connections: o.Settings.Pool.DirectorySessions, ClockWarn: c.ClockWarn, Now: o.Now,
	}
}

// agreed returns the digest of the settings that all gateways must have alike.
func agreed(s *config.Settings) string {
	all := []any{s.Limits, s.Changes, s.Idempotency, s.Names, s.Plans, s.Jobs, s.SignIn, s.Cluster.SettleDelay}
	if s.Cluster.Loss != config.LossClosed { // versions without the setting agree on that
		all = append(all, s.Cluster.Loss)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // these are plain values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// serveRing takes new versions of the key over, until ctx ends.
func (s *kept) serveRing(ctx context.Context, log func(string, map[string]any)) {
	s.ring.Run(ctx, keyring.RunOptions{
		Gateway: s.self.Name(), Kinds: lastingKinds,
		Live: func() []keyring.Gateway { return keysOf(s.self.Live()) },
		Tell: func(version uint32) {
			s.self.Report(func(m *members.Member) { m.KeyVersion = int(version) })
		},
		Reseals: func() bool { // one gateway does
			live := s.self.Live()
			return len(live) == 0 || live[0].Name == s.self.Name()
		},
		Problem: func(message string, err error) { log(message, map[string]any{"error": err.Error()}) },
	})
}

// keysOf returns which version of the key members have.
func keysOf(all []members.Member) []keyring.Gateway {
	keys := make([]keyring.Gateway, len(all))
	for i := range all {
		keys[i] = keyring.Gateway{Name: all[i].Name, Version: uint32(all[i].KeyVersion)}
	}
	return keys
}

// memberChecks are the readiness checks of the cluster.
func (s *kept) memberChecks() (checks []gateway.Check) {
	if s == nil {
		return nil
	}
	if s.engine != nil {
		trouble := s.engineTrouble()
		checks = append(checks, gateway.Check{Name: "engine", OK: true, Degraded: trouble != "", Reason: trouble})
	}
	if s.ring != nil {
		checks = append(checks, s.ringCheck())
	}
	for _, c := range s.self.Checks() {
		checks = append(checks, gateway.Check{Name: c.Name, OK: true, Degraded: !c.OK || c.Degraded, NoChanges: !c.OK && !s.alone(), Reason: c.Reason})
	}
	return checks
}

// engineTrouble returns what is wrong with the nodes of the engine although they work.
func (s *kept) engineTrouble() string {
	var all []string
	if trouble := s.engine.Health().Trouble(); trouble != "" {
		all = append(all, trouble)
	}
	last, err := nodecheck.Read(context.Background(), s.store)
	if err != nil {
		all = append(all, "what was found when the nodes were compared cannot be read: "+err.Error())
	}
	if trouble := last.Trouble(); trouble != "" {
		all = append(all, trouble)
	}
	return strings.Join(all, "; ")
}

// compareNodes compares what the nodes of the engine have, each night, until ctx ends.
func (s *kept) compareNodes(ctx context.Context, o Options, log func(string, map[string]any)) {
	nodecheck.Run(ctx, nodecheck.Options{
		Gateway: o.Settings.Cluster.Gateway, Store: s.store, Log: log,
		Compare: func(ctx context.Context) (natsstore.Comparison, error) {
			options, err := storeOptions(o)
			if err != nil {
				return natsstore.Comparison{}, err
			}
			return natsstore.CompareNodes(ctx, options)
		},
	})
}

// CompareNodes compares what the nodes of the engine have, and keeps what it finds for the
// gateways that run.
func CompareNodes(ctx context.Context, o Options) (found natsstore.Comparison, err error) {
	options, err := storeOptions(o)
	if err != nil {
		return found, err
	}
	began := time.Now()
	if found, err = natsstore.CompareNodes(ctx, options); err != nil {
		return found, err
	}
	return found, withCluster(ctx, o, func(store *keep.Sealed) error {
		return nodecheck.Save(ctx, store, options.Gateway, began, time.Now(), found)
	})
}

// RecoverCluster sends the shared store what it has lost and the mirror of this gateway,
// which must not run, still has.
func RecoverCluster(ctx context.Context, o Options) (natsstore.Recovered, error) {
	options, err := storeOptions(o)
	if err != nil {
		return natsstore.Recovered{}, err
	}
	return natsstore.Recover(ctx, options)
}

// RejoinCluster lets this gateway join again whose disk was replaced or taken back.
func RejoinCluster(ctx context.Context, o Options) error {
	return withCluster(ctx, o, func(store *keep.Sealed) error { return members.Rejoin(ctx, store, memberOptions(o)) })
}

// LeaveCluster forgets a gateway that is gone for good. It fails if it lives, or while changes
// that it has begun are not settled.
func LeaveCluster(ctx context.Context, o Options, name string) error {
	return withCluster(ctx, o, func(store *keep.Sealed) error {
		history, err := changes.Open(ctx, store, o.Settings.Changes.Keep, mostOfHistory(o))
		if err != nil {
			return err
		}
		running, err := history.Running(ctx)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(running, func(r *changes.Record) bool { return r.Owner == nil || r.Owner.Gateway != name })
		if len(left) > 0 {
			return fmt.Errorf("changes that '%s' has begun are not settled yet (%d): another gateway does that once it may (cluster.settleDelay). Try again in a few minutes, while one runs", name, len(left))
		}
		err = members.Leave(ctx, store, name, time.Now())
		if errors.Is(err, keep.ErrAbsent) {
			return fmt.Errorf("the cluster knows no gateway '%s': 'adgateway cluster status' shows those that it does", name)
		}
		return err
	})
}

// MoveHistory adds the history of a gateway that was alone to the one that the gateways of a
// cluster share, or the other way round. Where it comes from it stays. No gateway may have
// the file open.
func MoveHistory(ctx context.Context, o Options, toCluster bool) (moved changes.Moved, err error) {
	c := o.Settings.Store
	if c.File == "" || c.File == config.AuditOff {
		return moved, errors.New("store.file: the settings name no file with a history")
	}
	own, _, aside, err := sealedFile(keep.Options{Path: c.File}, c.KeyFile())
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	if aside != "" {
		return moved, fmt.Errorf("%s was damaged, and was renamed to %s", c.File, aside)
	}
	alone, err := changes.Open(ctx, own, o.Settings.Changes.Keep, mostOfHistory(o))
	if err != nil {
		return moved, err
	}
	return moved, withCluster(ctx, o, func(store *keep.Sealed) error {
		shared, err := changes.Open(ctx, store, o.Settings.Changes.Keep, mostOfHistory(o))
		if err != nil {
			return err
		}
		from, to := shared, alone
		if toCluster {
			from, to = alone, shared
		}
		if moved, err = to.Take(ctx, from, time.Now()); errors.Is(err, changes.ErrUnfinished) {
			err = fmt.Errorf("%w: start a gateway with the store that they are in, which settles them, and stop it again", err)
		}
		return err
	})
}

// withCluster opens the shared store for a command, beside a gateway that may run.
func withCluster(ctx context.Context, o Options, do func(*keep.Sealed) error) error {
	return withRing(ctx, o, func(ring *keyring.Ring) error { return do(ring.Sealed()) })
}

// withShared is withCluster without the key ring.
func withShared(ctx context.Context, o Options, do func(*natsstore.Store) error) (err error) {
	options, err := storeOptions(o)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "adgateway-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	options.Mirror, options.Gateway = filepath.Join(folder, "mirror"), options.Gateway+"-command"
	shared, err := natsstore.Open(ctx, options)
	if err != nil {
		return fmt.Errorf("cluster %s: %w", o.Settings.Cluster.Name, err)
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	return do(shared)
}

// Membership is what the store of a cluster says of its gateways.
type Membership struct {
	gateway.ClusterState
	Holding []string       `json:"holding,omitempty"` // who keeps values from being written in a newer format, and until when
	Rewound string         `json:"rewound,omitempty"`
	Key     keyring.Status `json:"key"`
}

// ReadMembers reads which gateways the cluster has, and which servers they use.
func ReadMembers(ctx context.Context, o Options) (m Membership, err error) {
	err = withShared(ctx, o, func(shared *natsstore.Store) error {
		ring, err := openRing(ctx, o, shared)
		if err != nil {
			return err
		}
		m.ClusterState, err = clusterState(ctx, o, ring, shared.AskHealth())
		if rewound := ring.Sealed().State().Rewound; rewound != nil {
			m.Rewound = rewound.Error()
		}
		if err == nil {
			m.Key, err = ring.Status(ctx)
		}
		if err == nil {
			m.Holding, err = members.Held(ctx, ring.Sealed())
		}
		return err
	})
	return m, err
}

// clusterState reads what the store of a cluster says of its gateways.
func clusterState(ctx context.Context, o Options, ring *keyring.Ring, health *natsstore.Health) (gateway.ClusterState, error) {
	c := o.Settings.Cluster
	state := gateway.ClusterState{Name: c.Name, Gateway: c.Gateway, Members: []gateway.ClusterMember{}, Pins: []gateway.ClusterPin{}}
	state.Nodes, state.Stream = engineState(health)
	key, err := ring.Status(ctx)
	if err != nil {
		return state, err
	}
	state.KeyVersion = int(key.Current)
	all, left, err := members.Read(ctx, ring.Sealed())
	if err != nil {
		return state, err
	}
	state.Format = ring.Sealed().Format()
	for i := range all {
		state.Members = append(state.Members, clusterMember(&all[i], left[all[i].Name]))
	}
	pinned, err := pins.Read(ctx, ring.Sealed())
	for _, p := range pinned {
		one := gateway.ClusterPin{Site: p.Site, Lane: string(p.Lane), Server: p.Server, Since: p.Since, Epoch: p.Epoch}
		if p.Reason != "" {
			one.Reason = &p.Reason
		}
		state.Pins = append(state.Pins, one)
	}
	return state, err
}

// engineState returns how the engine is; nil is one that has not answered yet.
func engineState(h *natsstore.Health) ([]gateway.ClusterNode, *gateway.ClusterStream) {
	nodes := []gateway.ClusterNode{}
	if h == nil {
		return nodes, nil
	}
	for _, n := range h.Nodes {
		nodes = append(nodes, gateway.ClusterNode{Name: n.Name, Leads: n.Leads, State: string(n.State), Lag: n.Lag})
	}
	stream := &gateway.ClusterStream{Messages: h.Messages, Bytes: h.Bytes}
	if h.MaxBytes > 0 {
		stream.MaxBytes = &h.MaxBytes
	}
	return nodes, stream
}

// showCluster returns what the gateway knows of its cluster; nil if it is alone.
func (s *Stack) showCluster(o Options) func(context.Context) (gateway.ClusterState, error) {
	if s.kept == nil || s.kept.ring == nil {
		return nil
	}
	return func(ctx context.Context) (gateway.ClusterState, error) {
		health := s.kept.engine.Health()
		if health == nil { // just after the start
			health = s.kept.engine.AskHealth()
		}
		state, err := clusterState(ctx, o, s.kept.ring, health)
		var reasons []string
		for _, check := range slices.Concat(s.kept.checks(), s.kept.memberChecks()) {
			if check.Degraded || !check.OK {
				reasons = append(reasons, check.Reason)
			}
		}
		if state.Degraded = len(reasons) > 0; state.Degraded {
			reason := strings.Join(reasons, "; ")
			state.Reason = &reason
		}
		return state, err
	}
}

// CreateCluster makes the key and the stream of the shared store, unless they are there.
// It reports whether the key is new, so that the other gateways need a copy of it.
func CreateCluster(ctx context.Context, o Options, replicas int) (newKey bool, err error) {
	c := o.Settings.Cluster
	endpoint, err := Endpoint(c, o.Store)
	if err != nil {
		return false, err
	}
	waits := func(reason error) {
		o.Log.WithError(reason).Warn("cluster: the nodes of the engine have no leader yet; trying again")
	}
	if err := natsstore.CreateAt(ctx, endpoint, natsstore.StreamOptions{Name: c.Name, Replicas: replicas, Waits: waits}); err != nil {
		return false, err
	}
	err = withShared(ctx, o, func(shared *natsstore.Store) error {
		there, err := keyring.Exists(ctx, shared)
		if err == nil && !there {
			newKey, err = createRing(ctx, o, shared)
		}
		if err == nil && !newKey { // the key of the settings must be that of the cluster
			_, err = openRing(ctx, o, shared)
		}
		return err
	})
	return newKey, err
}

// createRing makes the key of a shared store. It reports whether its file is new, too.
func createRing(ctx context.Context, o Options, shared keep.Store) (newFile bool, err error) {
	c := o.Settings.Cluster
	if c.KeyGroup == "" {
		err = keyring.CreateKeyFile(c.KeyFile)
		if newFile = err == nil; err != nil && !errors.Is(err, os.ErrExist) {
			return false, filefault.Explain("cluster.keyFile", err)
		}
	}
	w, err := wrapper(o)
	if err == nil {
		err = keyring.Create(ctx, shared, w)
	}
	if errors.Is(err, keyring.ErrThere) { // another gateway was faster
		err = nil
		if newFile {
			newFile, err = false, os.Remove(c.KeyFile)
		}
	}
	return newFile, err
}

// MovePin lets the gateways of a site use another server of a lane.
func MovePin(ctx context.Context, o Options, site, lane, server string) error {
	if lane != string(ps.Directory) && lane != string(ps.DNS) {
		return fmt.Errorf("--lane: %q is neither %s nor %s", lane, ps.Directory, ps.DNS)
	}
	if _, problem := schema.NewTarget.Decode(server); problem != nil {
		return fmt.Errorf("--server: %q %s", server, problem.Message)
	}
	return withCluster(ctx, o, func(store *keep.Sealed) error {
		if o.Identity != nil {
			return choice.Move(ctx, store, ps.Lane(lane), server)
		}
		return pins.Move(ctx, store, site, ps.Lane(lane), server)
	})
}
