// Package enginecheck finds out whether an engine is set up so that the promises of
// several gateways hold. It asks the nodes themselves, because a
// configuration file says nothing about the server that once read it.
//
// [Check] returns what it found; [Report.Err] is why a gateway must not join. It needs a
// client's connection only. Not visible to a client are the encryption of the store, which
// the engine of package engine never has, and whether two nodes share a disk.
package enginecheck

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"adgateway/gateway/engine/stock"
)

// Finding is something that is not as it must be.
type Finding struct {
	Node   string // where; empty: in the whole engine
	What   string // setting or fact, with the stream's name where there is one
	Found  string
	Wanted string
	Remedy string

	// Warning means that the promises still hold: one of three nodes is away, say.
	Warning bool
}

// String is the finding as one sentence.
func (f Finding) String() string {
	where := ""
	if f.Node != "" {
		where = "node " + f.Node + ": "
	}
	return fmt.Sprintf("%s%s is %s, and must be %s: %s", where, f.What, f.Found, f.Wanted, f.Remedy)
}

// Node is what a node says of itself.
type Node struct {
	Name, Version string
	SyncAlways    bool
	Leads         bool // the cluster
	ClusterSize   int
	MaxStore      int64 // bytes
	Used          int64 // bytes
}

// Report is the result of [Check].
type Report struct {
	Nodes    []Node // by name: those that answered
	Findings []Finding
}

// Refused is why a gateway must not join: one line for each reason.
type Refused struct{ Findings []Finding }

func (e *Refused) Error() string {
	lines := []string{"the engine is not set up so that what the gateways promise holds, and this gateway does not join:"}
	for _, f := range e.Findings {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// Err is a [*Refused] with the findings that are no warnings, or nil.
func (r Report) Err() error {
	reasons := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Warning })
	if len(reasons) == 0 {
		return nil
	}
	return &Refused{reasons}
}

// streamPrefix begins the names of the gateways' streams.
const streamPrefix = "ADGW"

// quiet is how long nothing must be heard until all nodes that live have answered.
const quiet = time.Second

// CheckAt is [Check] by a connection of its own.
func CheckAt(ctx context.Context, connect func(...nats.Option) (*nats.Conn, error)) (Report, error) {
	connection, err := connect(nats.Name("adgateway check"))
	if err != nil {
		return Report{}, err
	}
	defer connection.Close()
	return Check(ctx, connection)
}

// Check asks every node. The error is nil when at least one answered; what is wrong
// then is in the report.
func Check(ctx context.Context, connection *nats.Conn) (Report, error) {
	answers, err := ask(ctx, connection)
	if err != nil {
		return Report{}, err
	}
	var r Report
	size := 0
	for _, a := range answers {
		size = max(size, a.Data.size())
	}
	seen := map[string]bool{} // each stream and consumer is told by all of its replicas
	first := func(name string) bool {
		before := seen[name]
		seen[name] = true
		return !before
	}
	for _, a := range answers {
		r.Nodes = append(r.Nodes, a.node())
		r.Findings = append(r.Findings, a.findings()...)
		for _, account := range a.Data.Accounts {
			for _, s := range account.Streams {
				if !strings.HasPrefix(s.Name, streamPrefix) {
					continue
				}
				if first(s.Name) {
					r.Findings = append(r.Findings, s.findings(size)...)
				}
				for _, c := range s.Consumers {
					if first(s.Name + " " + c.Name) {
						r.Findings = append(r.Findings, c.findings(s.Name, size)...)
					}
				}
			}
		}
	}
	r.Findings = append(r.Findings, numberOfNodes(answers, size)...)
	if largest := connection.MaxPayload(); largest < stock.MaxPayload {
		r.Findings = append(r.Findings, Finding{What: "max_payload", Found: fmt.Sprint(largest), Wanted: fmt.Sprint(stock.MaxPayload),
			Remedy: "set it on every node; large answers could not be kept"})
	}
	return r, nil
}

// ask collects the answers of all nodes, by name.
func ask(ctx context.Context, connection *nats.Conn) ([]answer, error) {
	inbox := connection.NewInbox()
	replies, err := connection.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("the engine cannot be asked how it is set: %w", err)
	}
	defer func() { _ = replies.Unsubscribe() }()
	question, err := json.Marshal(map[string]any{"account": stock.Account, "accounts": true, "streams": true, "consumer": true, "config": true})
	if err != nil {
		return nil, err
	}
	if err := connection.PublishRequest(stock.NodesSubject, inbox, question); err != nil {
		return nil, fmt.Errorf("the engine cannot be asked how it is set: %w", err)
	}
	found := map[string]answer{}
	for {
		wait, cancel := context.WithTimeout(ctx, quiet)
		reply, err := replies.NextMsgWithContext(wait)
		cancel()
		if err != nil && ctx.Err() != nil && len(found) == 0 {
			return nil, fmt.Errorf("the nodes of the engine do not answer: %w", context.Cause(ctx))
		}
		if err != nil || reply.Header.Get("Status") == "503" {
			break // nobody else, or nobody at all
		}
		var a answer
		if err := json.Unmarshal(reply.Data, &a); err != nil {
			return nil, fmt.Errorf("a node of the engine gives an answer that cannot be read: %w; its version is not known to this gateway", err)
		}
		found[a.Server.Name] = a
		if len(found) == a.Data.size() {
			break
		}
	}
	if len(found) == 0 {
		return nil, errors.New("the nodes of the engine do not say how they are set: nobody answers to " + stock.NodesSubject +
			"; run adgateway-engine, or take over accounts, exports and imports of 'adgateway cluster config'")
	}
	all := make([]answer, 0, len(found))
	for _, a := range found {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Compare(a.Server.Name, b.Server.Name) })
	return all, nil
}

// numberOfNodes is what is wrong with how many nodes there are, and how many answer.
func numberOfNodes(answers []answer, size int) []Finding {
	var found []Finding
	if size%2 == 0 || size > 5 {
		found = append(found, Finding{What: "the number of nodes", Found: fmt.Sprint(size), Wanted: "1, 3 or 5",
			Remedy: "add a node or take one away; an even number is lost as easily as one node less"})
	}
	if len(answers) < size {
		var names []string
		for _, a := range answers {
			names = append(names, a.Server.Name)
		}
		found = append(found, Finding{What: "the number of nodes that answer", Found: fmt.Sprintf("%d (%s)", len(answers), strings.Join(names, ", ")), Wanted: fmt.Sprint(size),
			Remedy: "start the others: with one more lost, no change can be made", Warning: 2*len(answers) > size})
	}
	return found
}
