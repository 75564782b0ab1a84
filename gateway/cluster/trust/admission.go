package trust

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"adgateway/gateway/store"
)

// joinLimit is the time limit for a join.
const joinLimit = 30 * time.Second

// Admission lets invited gateways join. It is safe for concurrent use.
type Admission struct {
	Register *Register
	// Secret is the content of the cluster's key file, [store.KeyLength] bytes. It is nil if the
	// gateways open the store in some other way.
	Secret []byte
}

// Serve answers the only request on a connection with [JoinProtocol], and closes the connection. It returns
// the name of the gateway that has joined. The error is either a [Refusal], which was also sent to the other
// side, or the error that broke the connection.
func (a *Admission) Serve(ctx context.Context, conn *tls.Conn) (gateway string, err error) {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close() // the answer has already been written
	}()
	if err := conn.HandshakeContext(ctx); err != nil {
		return "", err
	}
	message, err := readMessage(conn)
	if err != nil {
		return "", fmt.Errorf("no request to join came: %w", err)
	}
	state := conn.ConnectionState()
	gateway, given, refused := a.answer(ctx, &state, message)
	if refused != nil {
		var known *Refusal
		if !errors.As(refused, &known) {
			known = &Refusal{Unavailable,
				"the cluster cannot let a gateway join now; run the same command again"}
		}
		gateway, given = "", answer{Refused: known.Reason, Text: known.Text}
	}
	text, err := json.Marshal(given)
	if err == nil {
		err = writeMessage(conn, text)
	}
	return gateway, errors.Join(refused, err)
}

// Admit lets gateways join through server until ctx ends. The TLS configuration of server must come from
// [Identity.AllowJoins]. done is called after each attempt.
func (a *Admission) Admit(ctx context.Context, server *http.Server, done func(gateway string, err error)) {
	server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		JoinProtocol: func(_ *http.Server, conn *tls.Conn, _ http.Handler) { done(a.Serve(ctx, conn)) },
	}
}

// answer answers a message on a connection. If it returns the name of a gateway, that gateway is on
// the list.
func (a *Admission) answer(
	ctx context.Context, s *tls.ConnectionState, message []byte,
) (gateway string, given answer, err error) {
	if len(message) < sha256.Size {
		return "", answer{}, refuse(Malformed,
			"the request to join cannot be read: use the same version of adgateway on both hosts")
	}
	proven, text := message[:sha256.Size], message[sha256.Size:]
	q, public, key, err := parseRequest(text)
	if err != nil {
		return "", answer{}, refuse(Malformed,
			"the request to join cannot be read: %v; use the same version of adgateway on both hosts", err)
	}
	authority, list, err := a.Register.admit(ctx, q, key, func(secret []byte) bool {
		expected, err := proof(secret, s, text)
		return err == nil && hmac.Equal(proven, expected)
	})
	if err != nil {
		return "", answer{}, err
	}
	certificate, err := authority.Issue(q.Gateway, public)
	return q.Gateway, answer{Certificate: certificate, Members: list, Secret: a.Secret}, err
}

// admit puts a gateway that proves that it knows the secret of its invitation on the list. The same decision
// uses up the invitation. Afterwards only the same key gets an answer again.
func (r *Register) admit(
	ctx context.Context, q request, key string, proves func(secret []byte) bool,
) (a *Authority, list Members, err error) {
	err = r.again(func() error {
		var revision store.Revision
		if list, revision, err = r.members(ctx); err != nil {
			return err
		}
		if a, err = r.authority(ctx); err != nil {
			return err
		}
		if list.Cluster != q.Cluster {
			return refuse(AnotherCluster,
				"this is the cluster %s, not %s: check --cluster and --address of the command", list.Cluster, q.Cluster)
		}
		var i invitation
		invited, err := read(ctx, r, invitedKey+q.Gateway, &i)
		if errors.Is(err, store.ErrAbsent) {
			return refuse(NotInvited, "gateway %s is not invited to the cluster %s: check --gateway of the "+
				"command, or run %s", q.Gateway, q.Cluster, invite(q))
		}
		if err != nil {
			return err
		}
		if err := r.judge(&i, q, key, proves); err != nil || i.Used == key {
			return errors.Join(err, r.count(ctx, invited, i, q, err))
		}
		i.Used, i.At = key, r.now().UTC()
		joined := Member{Name: q.Gateway, Hosts: q.Hosts, HopAddress: q.HopAddress, Joined: i.At, Key: key}
		if list.HasNode(q.Gateway) {
			joined.NodeAddress, joined.ClientAddress = q.NodeAddress, q.ClientAddress
		}
		list = list.with(joined)
		use, err := set(r, invitedKey+q.Gateway, invited, i)
		if err != nil {
			return err
		}
		place, err := set(r, membersKey, revision, list)
		if err == nil {
			_, err = r.store.Apply(ctx, use, place)
		}
		return err
	})
	return a, list, err
}

// invite returns the command that creates a new invitation.
func invite(q request) string {
	return fmt.Sprintf("'adgateway cluster invite --gateway %s' on a gateway of the cluster", q.Gateway)
}

// judge returns an error if an invitation does not admit the sender of a request.
func (r *Register) judge(i *invitation, q request, key string, proves func(secret []byte) bool) error {
	switch {
	case i.Tries >= mostTries:
		return refuse(TooManyTries, "the invitation of gateway %s was tried with %d wrong secrets and is void: "+
			"run %s", q.Gateway, i.Tries, invite(q))
	case !proves(i.Key):
		return refuse(WrongSecret, "the secret is not from the last invitation of gateway %s: check --secret "+
			"and --gateway of the command, or run %s", q.Gateway, invite(q))
	case i.Used != "" && i.Used != key:
		return refuse(Used, "the invitation of gateway %s was used at %s by another host, or by this one before "+
			"its files were removed: "+
			"if nobody else should have it, run 'adgateway cluster leave --gateway %s', then %s", q.Gateway,
			i.At.Format(time.RFC3339), q.Gateway, invite(q))
	case !r.now().Before(i.Expires):
		return refuse(Expired, "the invitation of gateway %s expired at %s: run 'adgateway cluster leave "+
			"--gateway %s' if it is on the list, then %s",
			q.Gateway, i.Expires.Format(time.RFC3339), q.Gateway, invite(q))
	}
	return nil
}

// count counts a wrong secret for an unused invitation in the store.
func (r *Register) count(
	ctx context.Context, revision store.Revision, i invitation, q request, why error,
) error {
	var refusal *Refusal
	if !errors.As(why, &refusal) || refusal.Reason != WrongSecret || i.Used != "" {
		return nil
	}
	i.Tries++
	change, err := set(r, invitedKey+q.Gateway, revision, i)
	if err == nil {
		_, err = r.store.Apply(ctx, change)
	}
	return err
}
