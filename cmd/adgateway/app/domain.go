package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway"
	"adgateway/gateway/atomicfile"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/winsvc/host"
)

// simulated is the interface of a sandbox gateway to its domain, which runs in this process or in another.
type simulated interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	Example(ctx context.Context) sandbox.Example
	LogOn(ctx context.Context, name, password string) (*sandbox.Account, error)
	Lookup(ctx context.Context, name string) (*sandbox.Account, error)
	Account(ctx context.Context, sid string) (*sandbox.Account, error)
}

var _, _ simulated = (*sandbox.World)(nil), (*remote.Link)(nil)

// openDomain creates the domain of the settings, or connects to it, and sets the starter of the sessions.
// groups adds or finds the sandbox's people and returns their groups; it is nil if the domain has no such
// people.
func (s *Server) openDomain(
	ctx context.Context, engine Engine,
) (domain simulated, groups func() (map[string]string, error), err error) {
	c := s.live.Now().Sandbox
	if c.Domain == "" {
		world, err := NewWorld(ctx, c, s.log)
		if err != nil {
			return nil, nil, err
		}
		s.backend.starter, s.backend.end, err = engine.Starter(world, s.backend.folder.Name())
		return world, func() (map[string]string, error) { return addOwnPeople(ctx, world, c) }, err
	}
	link, err := remote.Connect(ctx, remote.LinkOptions{
		Address: c.Domain, Gateway: c.GatewayName, Account: c.Account, Clock: c.Clock, Version: s.options.Version,
		Secret: func() (string, error) { return readTicket("--ticket-file (sandbox.ticketFile)", c.TicketFile) },
		Log: func(problem bool, text string) {
			if problem {
				s.log.Warn(text)
			} else {
				s.log.Info(text)
			}
		},
	})
	if err != nil {
		return nil, nil, explainDomain(err, c.Domain, c.TicketFile)
	}
	s.backend.follow = append(s.backend.follow, link.Run)
	s.backend.checks = append(s.backend.checks, func() []gateway.Check {
		check := gateway.Check{Name: "domain", OK: true}
		if err := link.Fault(); err != nil {
			check.OK, check.Reason = false, program.OneLine(explainDomain(err, c.Domain, c.TicketFile))
		}
		return []gateway.Check{check}
	})
	s.backend.starter, s.backend.end, err = engine.LinkStarter(link, s.backend.folder.Name())
	return link, func() (map[string]string, error) {
		groups := map[string]string{}
		for _, name := range []string{sandbox.HelpdeskGroup, sandbox.OperatorGroup} {
			found, err := link.Lookup(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("the group %s: %w", name, err)
			}
			groups[name] = found.SID
		}
		return groups, nil
	}, err
}

// addOwnPeople adds the people of the sandbox to its domain. It adds nobody to a custom domain, whose people
// come from its files alone.
func addOwnPeople(
	ctx context.Context, world *sandbox.World, c config.Sandbox,
) (groups map[string]string, err error) {
	if c.Empty {
		return nil, nil
	}
	return world.AddPeople(ctx)
}

// explainDomain adds advice to the error of a domain that cannot be used.
func explainDomain(err error, address, file string) error {
	switch {
	case errors.Is(err, remote.ErrNoDomain):
		return fmt.Errorf("%w; start one with 'adgateway sandbox domain --listen %s --ticket-file %s'", err,
			address, file)
	case errors.Is(err, remote.ErrTicket):
		return fmt.Errorf("%w; --ticket-file (sandbox.ticketFile) must be the file that the domain at %s has "+
			"written, and not %s of an earlier one", err, address, file)
	}
	return err
}

// checkDomain returns, joined, an error for each setting
// that cannot be combined with a domain in another process.
func checkDomain(cfg *config.Settings) error {
	c := cfg.Sandbox
	if c.Domain == "" {
		if c.TicketFile != "" {
			return errors.New("--ticket-file (sandbox.ticketFile) is of use with --domain (sandbox.domain) only, " +
				"which is the address of the domain's process")
		}
		return nil
	}
	var faults []error
	if c.TicketFile == "" {
		faults = append(faults, errors.New(
			"--domain (sandbox.domain) needs --ticket-file (sandbox.ticketFile), the file that the domain's "+
				"process has written"))
	}
	of := []string{"sandbox.ldif", "sandbox.zones", "sandbox.generatedUsers", "sandbox.empty", "sandbox.seed",
		"sandbox.culture", "sandbox.replicationLag", "sandbox.recycleBin", "sandbox.dns.setRemovesPtr"}
	for _, row := range config.Rows() {
		if slices.Contains(of, row.Key) && fmt.Sprint(row.Value(cfg)) != row.Default {
			faults = append(faults, fmt.Errorf(
				"%s describes the domain, which is another process: give it to 'adgateway sandbox domain'", row.Key))
		}
	}
	return errors.Join(faults...)
}

// readTicket reads the secret of a ticket file.
func readTicket(name, file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", filefault.Explain(name, err)
	}
	if len(text) > maxTicket {
		return "", fmt.Errorf("%s: %s is no ticket: it is too long", name, file)
	}
	return strings.TrimSpace(string(text)), nil
}

const maxTicket = 1024

// DomainFiles holds the address of a domain and the paths of its ticket files.
type DomainFiles struct {
	Listen string
	Ticket string // ticket file for gateways
	Orders string // ticket file for tests; if empty, orders are not accepted
}

// Domain serves a simulated domain to gateways in other processes until ctx
// is done. Before it serves, it writes the files and calls ready with its
// address and the DNS name of the domain. It removes the files at the end.
func Domain(ctx context.Context, flags *program.Flags, files DomainFiles, version string, stderr io.Writer,
	ready func(address, name string)) (err error) {
	live, err := flags.Load()
	if err != nil {
		return err
	}
	cfg := live.Now()
	if files.Ticket == "" {
		return errors.New("--ticket-file is missing: the file to write the ticket to, which gateways need")
	}
	log, closeLog, err := program.OpenLog(cfg.Log, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog.Close()) }()
	options := sandbox.Options{}
	secrets := remote.DomainOptions{Ticket: rand.Text(), Listen: files.Listen, Version: version,
		Log: func(text string, fields map[string]any) { log.WithFields(fields).Info(text) }}
	if files.Orders != "" {
		options.Replicas, options.Writes = true, &sandbox.WriteLog{}
		secrets.Orders, secrets.Writes = rand.Text(), options.Writes
	}
	if secrets.World, err = newWorld(ctx, cfg.Sandbox, options, log); err != nil {
		return err
	}
	if _, err := addOwnPeople(ctx, secrets.World, cfg.Sandbox); err != nil {
		log.WithError(err).Warn("this domain does not take the people of the sandbox: tokens sign in to the pages")
	}
	if options.Writes != nil {
		options.Writes.Clear()
	}
	domain, err := remote.NewDomain(secrets)
	if err != nil {
		return fmt.Errorf("--listen: %w", explainListen(ctx, files.Listen, err))
	}
	defer func() { err = errors.Join(err, domain.Close()) }()
	for _, f := range []struct{ flag, path, secret string }{{"--ticket-file", files.Ticket, secrets.Ticket},
		{"--orders-file", files.Orders, secrets.Orders}} {
		if f.path == "" {
			continue
		}
		if err := atomicfile.Write(f.path, []byte(f.secret+"\n"), host.Files{}.Restrict); err != nil {
			return filefault.Explain(f.flag, err)
		}
		defer func() { err = errors.Join(err, os.Remove(f.path)) }()
	}
	ready(domain.Address(), secrets.World.Directory.DNSName())
	<-ctx.Done()
	return nil
}

// GiveOrder gives a domain an order, and returns the result, which may be nil. file is the ticket file that
// the domain wrote for orders.
func GiveOrder(ctx context.Context, address, file string, words []string) (json.RawMessage, error) {
	if _, err := remote.OrderOf(words); err != nil {
		return nil, err
	}
	secret, err := readTicket("--orders-file", file)
	if err != nil {
		return nil, err
	}
	result, err := remote.Give(ctx, address, secret, words...)
	switch {
	case errors.Is(err, remote.ErrNoDomain):
		err = fmt.Errorf("%w; start one with 'adgateway sandbox domain --listen %s --ticket-file FILE "+
			"--orders-file %s'", err, address, file)
	case errors.Is(err, remote.ErrTicket):
		err = fmt.Errorf("%w; --orders-file must be the file that the domain at %s has written", err, address)
	}
	return result, err
}
