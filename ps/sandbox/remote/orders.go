package remote

import (
	"context"
	"errors"
	"net"
	"time"

	"adgateway/ps/sandbox"
)

// Orders gives orders to a [Domain], for tests. It is safe for concurrent use.
type Orders struct{ control *control }

// DialOrders connects to a domain. secret is the secret for orders.
func DialOrders(ctx context.Context, address, secret string) (*Orders, error) {
	c, err := openControl(ctx, address, "orders", func() (string, error) { return secret, nil }, ticket{})
	if err != nil {
		return nil, err
	}
	return &Orders{c}, nil
}

// Close ends the connection.
func (o *Orders) Close() error {
	err := o.control.conn.Close()
	<-o.control.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Do gives an order. The error contains the fault that the domain reports.
func (o *Orders) Do(ctx context.Context, order Order) (*Outcome, error) {
	answer, err := o.control.ask(ctx, &frame{F: "order", Order: &order})
	switch {
	case err != nil:
		return nil, err
	case answer.F != "done" || answer.Outcome == nil:
		return nil, errors.New(answer.Text)
	}
	return answer.Outcome, nil
}

// Stop switches a controller off, together with its DNS server.
func (o *Orders) Stop(ctx context.Context, controller string) error {
	return o.give(ctx, Order{Op: "stop", Server: controller})
}

// Start switches a controller on again.
func (o *Orders) Start(ctx context.Context, controller string) error {
	return o.give(ctx, Order{Op: "start", Server: controller})
}

// Slow delays each command on a controller; 0 ends the delay.
func (o *Orders) Slow(ctx context.Context, controller string, by time.Duration) error {
	return o.give(ctx, Order{Op: "slow", Server: controller, For: by})
}

// Cut stops the replication between two controllers, or resumes it.
func (o *Orders) Cut(ctx context.Context, a, b string, cut bool) error {
	return o.give(ctx, Order{Op: cutOrHeal(cut), Server: a, Other: b})
}

// Separate makes a controller unreachable for a gateway, or reachable again.
func (o *Orders) Separate(ctx context.Context, gateway, controller string, cut bool) error {
	return o.give(ctx, Order{Op: cutOrHeal(cut), Gateway: gateway, Other: controller})
}

func cutOrHeal(cut bool) string {
	if cut {
		return "cut"
	}
	return "heal"
}

// Lag sets the replication delay from one controller to another.
func (o *Orders) Lag(ctx context.Context, lag time.Duration) error {
	return o.give(ctx, Order{Op: "lag", For: lag})
}

// Drop closes all connections of a gateway and returns their number.
func (o *Orders) Drop(ctx context.Context, gateway string) (int, error) {
	outcome, err := o.Do(ctx, Order{Op: "drop", Gateway: gateway})
	if err != nil {
		return 0, err
	}
	return outcome.Dropped, nil
}

func (o *Orders) give(ctx context.Context, order Order) error {
	_, err := o.Do(ctx, order)
	return err
}

// Digest returns the hashes of the directory and the zones.
func (o *Orders) Digest(ctx context.Context) (*sandbox.Digest, error) {
	outcome, err := o.Do(ctx, Order{Op: "digest"})
	if err != nil {
		return nil, err
	}
	return outcome.Digest, nil
}

// Writes returns all writes after a position; 0 is the beginning. It returns an error if the
// log has dropped some of them.
func (o *Orders) Writes(ctx context.Context, after int64) ([]sandbox.Write, error) {
	all := []sandbox.Write{}
	for {
		outcome, err := o.Do(ctx, Order{Op: "writes", After: after})
		if err != nil {
			return nil, err
		}
		if len(outcome.Writes) == 0 {
			return all, nil
		}
		if outcome.Writes[0].Position != after+1 {
			return nil, errors.New("the write log has lost its beginning")
		}
		all = append(all, outcome.Writes...)
		after = all[len(all)-1].Position
	}
}

// Find returns the objects that match an LDAP filter, as seen by a controller.
func (o *Orders) Find(ctx context.Context, controller, filter string, attributes ...string) ([]Found, error) {
	outcome, err := o.Do(ctx, Order{Op: "find", Server: controller, Filter: filter, Attributes: attributes})
	if err != nil {
		return nil, err
	}
	return outcome.Objects, nil
}

// Gateways returns the connected gateways.
func (o *Orders) Gateways(ctx context.Context) ([]Guest, error) {
	outcome, err := o.Do(ctx, Order{Op: "gateways"})
	if err != nil {
		return nil, err
	}
	return outcome.Gateways, nil
}
