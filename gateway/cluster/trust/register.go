package trust

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/store"
)

// Keys of the register in the store.
const (
	kind         = store.Kind("trust")
	authorityKey = "authority"
	membersKey   = "members"
	invitedKey   = "invited/" // followed by a gateway's name
)

const (
	invitationLasts = time.Hour // in log time
	mostTries       = 10        // attempts with a wrong secret
	mostConflicts   = 10
)

// ErrNone means that a store contains no cluster.
var ErrNone = errors.New("the store has no cluster yet: run 'adgateway cluster init' on the first host")

// Register is the part of a cluster's store that decides which gateways belong to the cluster. The
// store, and with it the authority's key, is sealed with the cluster's key. A Register is safe for
// concurrent use.
type Register struct {
	store *store.Sealed
	now   func() time.Time
}

// NewRegister returns the register in a store. now is the clock by which invitations expire.
func NewRegister(db *store.Sealed, now func() time.Time) *Register { return &Register{db, now} }

// keptAuthority is the stored form of an authority.
type keptAuthority struct {
	store.Formatted
	Certificate []byte `json:"certificate"` // DER
	Key         []byte `json:"key"`         // PKCS #8
}

// invitation lets one gateway join.
type invitation struct {
	store.Formatted
	Key     []byte    `json:"key"` // key derived from the secret
	Expires time.Time `json:"expires"`
	Tries   int       `json:"tries"` // attempts with a wrong secret
	// digest of the key that joined with the invitation; empty if no gateway has
	Used string    `json:"used"`
	At   time.Time `json:"at"` // when it was used
}

// read decodes a value of the register into a pointer, and returns its revision.
func read[T any, P store.Value[T]](
	ctx context.Context, r *Register, key string, into P,
) (store.Revision, error) {
	found, err := r.store.Get(ctx, kind, key)
	if err != nil {
		return 0, err
	}
	if err := store.Decode(r.store, found.Value, into); err != nil {
		return 0, fmt.Errorf("the cluster's %s: %w", key, err)
	}
	return found.Revision, nil
}

// set returns the change that replaces a value at a revision.
func set[T any, P store.Value[T]](
	r *Register, key string, revision store.Revision, value T,
) (store.Change, error) {
	text, err := store.Encode[T, P](r.store, value)
	return store.Change{Kind: kind, Key: key, Expect: revision, Value: text}, err
}

// Members returns the list of gateways. It fails with [ErrNone] if there is no cluster.
func (r *Register) Members(ctx context.Context) (Members, error) {
	m, _, err := r.members(ctx)
	return m, err
}

func (r *Register) members(ctx context.Context) (m Members, revision store.Revision, err error) {
	revision, err = read(ctx, r, membersKey, &m)
	if errors.Is(err, store.ErrAbsent) {
		err = ErrNone
	}
	return m, revision, err
}

func (r *Register) authority(ctx context.Context) (*Authority, error) {
	var stored keptAuthority
	_, err := read(ctx, r, authorityKey, &stored)
	if errors.Is(err, store.ErrAbsent) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(stored.Certificate)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(stored.Key)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key of the cluster's authority is of another kind")
	}
	return &Authority{cert.Subject.CommonName, cert, private}, nil
}

// begun returns the first list of a cluster.
func begun(cluster string, first Member, others []Member) (Members, error) {
	m := Members{Cluster: cluster, Gateways: []Member{first}}
	for _, g := range others {
		if _, twice := m.Find(g.Name); twice {
			return m, fmt.Errorf("gateway %s is named twice", g.Name)
		}
		g.Joined, g.Key = time.Time{}, ""
		m = m.with(g)
	}
	if len(m.Gateways) > mostGateways {
		return m, fmt.Errorf("a cluster has at most %d gateways", mostGateways)
	}
	for _, g := range m.Gateways {
		if g.NodeAddress != "" {
			m.Nodes = append(m.Nodes, g.Name)
		}
	}
	return m, nil
}

// begin puts a new cluster with its first gateway into the store, unless the store already contains the
// cluster and that gateway with the same key.
func (r *Register) begin(
	ctx context.Context, cluster string, first Member, others []Member,
) (*Authority, Members, error) {
	first.Joined = r.now().UTC()
	members, err := begun(cluster, first, others)
	if err != nil {
		return nil, Members{}, err
	}
	found, err := r.Members(ctx)
	switch m, _ := found.Find(first.Name); {
	case err == nil && found.Cluster == cluster && m.Key == first.Key && !sameNames(found, members):
		nodes := "on no host"
		if len(found.Nodes) > 0 {
			nodes = "on the hosts of " + strings.Join(found.Nodes, ", ")
		}
		return nil, Members{}, fmt.Errorf("the cluster %s was begun with the gateways %s, and nodes %s: "+
			"name the same ones again", cluster, strings.Join(found.Names(), ", "), nodes)
	case err == nil && found.Cluster == cluster && m.Key == first.Key:
		a, err := r.authority(ctx)
		return a, found, err
	case err == nil:
		return nil, Members{}, fmt.Errorf("the store has the cluster %s already, which this host did not make: "+
			"run 'adgateway cluster invite' on one of its gateways, and here the command that it prints",
			found.Cluster)
	case !errors.Is(err, ErrNone):
		return nil, Members{}, err
	}
	a, err := New(cluster, r.now())
	if err != nil {
		return nil, Members{}, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, Members{}, err
	}
	authority, err := set(r, authorityKey, store.Absent, keptAuthority{Certificate: a.cert.Raw, Key: key})
	if err != nil {
		return nil, Members{}, err
	}
	list, err := set(r, membersKey, store.Absent, members)
	if err == nil {
		_, err = r.store.Apply(ctx, authority, list)
	}
	return a, members, err
}

// Invite lets a gateway join within an hour of log time. It invalidates any earlier invitation of
// the gateway.
func (r *Register) Invite(ctx context.Context, gateway string) (Invitation, error) {
	if err := checkName("gateway", gateway); err != nil {
		return Invitation{}, err
	}
	a, err := r.authority(ctx)
	if err != nil {
		return Invitation{}, err
	}
	secret := strings.ToLower(rand.Text())
	key, err := proofKey(secret)
	if err != nil {
		return Invitation{}, err
	}
	err = r.again(func() error {
		list, err := r.Members(ctx)
		if err != nil {
			return err
		}
		g, there := list.Find(gateway)
		if there && g.HasJoined() {
			return fmt.Errorf("gateway %s is in the cluster %s already: if its host was set up anew, run "+
				"'adgateway cluster leave --gateway %s' first", gateway, list.Cluster, gateway)
		}
		if !there && len(list.Gateways) >= mostGateways {
			return fmt.Errorf("the cluster %s has %d gateways, and cannot have more", list.Cluster, mostGateways)
		}
		var before invitation
		revision, err := read(ctx, r, invitedKey+gateway, &before)
		if err != nil && !errors.Is(err, store.ErrAbsent) {
			return err
		}
		change, err := set(r, invitedKey+gateway, revision,
			invitation{Key: key, Expires: r.now().Add(invitationLasts).UTC()})
		if err == nil {
			_, err = r.store.Apply(ctx, change)
		}
		return err
	})
	return Invitation{Cluster: a.cluster, Gateway: gateway, Authority: Digest(a.cert), Secret: secret}, err
}

// Remove removes a gateway from the list, together with its invitation. It returns nil if the gateway is not
// on the list. It refuses to remove the last gateway, or a gateway whose node is needed for a majority.
func (r *Register) Remove(ctx context.Context, gateway string) error {
	return r.again(func() error {
		list, revision, err := r.members(ctx)
		if err != nil {
			return err
		}
		var changes []store.Change
		if _, there := list.Find(gateway); there {
			left := list.without(gateway)
			if err := left.canWork(gateway); err != nil {
				return err
			}
			change, err := set(r, membersKey, revision, left)
			if err != nil {
				return err
			}
			changes = append(changes, change)
		}
		var invited invitation
		switch revision, err := read(ctx, r, invitedKey+gateway, &invited); {
		case err == nil:
			changes = append(changes, store.Change{Kind: kind, Key: invitedKey + gateway, Expect: revision})
		case !errors.Is(err, store.ErrAbsent):
			return err
		}
		if len(changes) == 0 {
			return nil
		}
		_, err = r.store.Apply(ctx, changes...)
		return err
	})
}

// Forget removes everything about the cluster from the store. The gateway with that store is then
// alone.
func (r *Register) Forget(ctx context.Context) error {
	return r.again(func() error {
		var changes []store.Change
		err := r.store.Store.Range(ctx, kind, "", func(e store.Entry) bool {
			changes = append(changes, store.Change{Kind: kind, Key: e.Key, Expect: e.Revision})
			return true
		})
		if err != nil || len(changes) == 0 {
			return err
		}
		_, err = r.store.Apply(ctx, changes...)
		return err
	})
}

// canWork returns an error if the cluster cannot work without a gateway that was removed from its
// list.
func (m Members) canWork(without string) error {
	if len(m.Joined()) == 0 {
		return fmt.Errorf("gateway %s is the last of the cluster %s, and cannot leave it", without, m.Cluster)
	}
	if there, majority := m.remaining(); m.HasNode(without) && there < majority {
		return fmt.Errorf("without gateway %s the cluster %s has %d of its %d nodes, which are no majority: "+
			"let another host take the place of one that is lost first, by 'adgateway cluster invite' with its name",
			without, m.Cluster, there, len(m.Nodes))
	}
	return nil
}

// sameNames reports whether two lists name the same gateways and nodes.
func sameNames(a, b Members) bool {
	return slices.Equal(a.Names(), b.Names()) && slices.Equal(a.Nodes, b.Nodes)
}

// again repeats a decision if the values on which it depends have changed meanwhile.
func (r *Register) again(decide func() error) (err error) {
	for range mostConflicts {
		if err = decide(); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return err
}

// Invitation holds everything that a gateway needs to join.
type Invitation struct {
	Cluster   string
	Gateway   string
	Address   string // host:port of a gateway in the cluster
	Authority string // digest of the cluster's authority
	Secret    string
	Host      string // name or address of the gateway's host; empty if the host determines it
}

// JoinCommand returns the command to run on the host of the gateway.
func JoinCommand(i Invitation) string {
	command := fmt.Sprintf("adgateway cluster join --cluster %s --gateway %s --address %s --authority %s "+
		"--secret %s",
		i.Cluster, i.Gateway, i.Address, i.Authority, i.Secret)
	if i.Host != "" {
		command += " --host " + i.Host
	}
	return command
}
