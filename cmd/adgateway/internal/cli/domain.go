package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/ps/sandbox/remote"
)

// defaultDomain is the default address of a domain.
const defaultDomain = "127.0.0.1:7300"

func domainCommand() *cobra.Command {
	var ldif, zones []string
	var files app.DomainFiles
	f := program.Flags{Sandbox: true, Amend: func(cfg *config.Settings) error {
		cfg.Sandbox.LDIF, cfg.Sandbox.Zones = append(cfg.Sandbox.LDIF, ldif...), append(cfg.Sandbox.Zones, zones...)
		return nil
	}}
	c := &cobra.Command{
		Use:   "domain",
		Short: "Hold a simulated domain for several gateways",
		Long: "Holds a simulated domain and its DNS servers for sandbox gateways in other processes of\n" +
			"this computer, until it is stopped; what they have written is gone then. Gateways need the\n" +
			"ticket file, which this account alone can read. With --orders-file tests can stop controllers,\n" +
			"delay replication and read what was written, see 'adgateway sandbox order'.",
		Example: "  adgateway sandbox domain --ticket-file ticket\n" +
			"  adgateway sandbox --domain " + defaultDomain +
			" --ticket-file ticket --gateway-name gw1 --listen 127.0.0.1:8081",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return app.Domain(c.Context(), &f, files, buildVersion(), c.ErrOrStderr(), func(address, name string) {
				fmt.Fprintf(c.OutOrStdout(),
					"the domain %s listens on %s\n\nadgateway sandbox --domain %s --ticket-file %s --gateway-name gw1 "+
						"--listen 127.0.0.1:8081\n",
					name, address, address, files.Ticket)
			})
		},
	}
	spellings := slices.DeleteFunc(program.Common(), func(s program.Spelling) bool { return s.Flag == "listen" })
	f.AddTo(c.Flags(), slices.Concat(spellings, worldSpellings())...)
	flags := c.Flags()
	flags.StringVar(&files.Listen, "listen", defaultDomain,
		"loopback address to listen on, as `HOST:PORT`; port 0 is any free one")
	flags.StringVar(&files.Ticket, "ticket-file", "", "write the ticket for gateways to this `FILE`")
	flags.StringVar(&files.Orders, "orders-file", "",
		"take orders of tests, and write their ticket to this `FILE`")
	flags.StringArrayVar(&ldif, "ldif", nil, "load this LDIF `FILE` into the directory (repeatable)")
	flags.StringArrayVar(&zones, "zone", nil, "load this zone `FILE` into the DNS server (repeatable)")
	return c
}

// An order is a command that a test gives a domain on the command line.
type order struct {
	usage string
	least int // minimum number of arguments
	doc   string
	run   func(ctx context.Context, o *remote.Orders, args []string) (any, error) // a nil result is not printed
}

var orders = []order{
	{"stop SERVER", 1, "switch a controller off", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return nil, o.Stop(ctx, args[0])
	}},
	{"start SERVER", 1, "switch it on again", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return nil, o.Start(ctx, args[0])
	}},
	{"slow SERVER TIME", 2, "make each command at a controller wait; 0s ends that", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		by, err := waitOf(args[1])
		if err != nil {
			return nil, err
		}
		return nil, o.Slow(ctx, args[0], by)
	}},
	{"cut SERVER SERVER", 2, "stop the replication between two controllers", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return nil, o.Cut(ctx, args[0], args[1], true)
	}},
	{"heal SERVER SERVER", 2, "let it go on", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return nil, o.Cut(ctx, args[0], args[1], false)
	}},
	{"separate GATEWAY SERVER", 2, "make a controller unreachable for a gateway", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return nil, o.Separate(ctx, args[0], args[1], true)
	}},
	{"join GATEWAY SERVER", 2, "make it reachable again", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return nil, o.Separate(ctx, args[0], args[1], false)
	}},
	{"lag TIME", 1, "set how long a change takes to the other controllers", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		lag, err := waitOf(args[0])
		if err != nil {
			return nil, err
		}
		return nil, o.Lag(ctx, lag)
	}},
	{"drop GATEWAY", 1, "close all connections of a gateway", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		n, err := o.Drop(ctx, args[0])
		return map[string]int{"dropped": n}, err
	}},
	{"digest", 0, "show a hash of all that each controller holds, and of the zones", func(ctx context.Context, o *remote.Orders, _ []string) (any, error) { return o.Digest(ctx) }},
	{"writes [POSITION]", 0, "show what was written, after a position", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		var after int64
		if len(args) > 0 {
			var err error
			if after, err = strconv.ParseInt(args[0], 10, 64); err != nil || after < 0 {
				return nil, fmt.Errorf("%q is no position: it is a number of the list that 'writes' shows", args[0])
			}
		}
		return o.Writes(ctx, after)
	}},
	{"find SERVER FILTER [ATTRIBUTE...]", 2, "show the objects that an LDAP filter matches", func(ctx context.Context, o *remote.Orders, args []string) (any, error) {
		return o.Find(ctx, args[0], args[1], args[2:]...)
	}},
	{"gateways", 0, "show the gateways that are connected", func(ctx context.Context, o *remote.Orders, _ []string) (any, error) { return o.Gateways(ctx) }},
}

func waitOf(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time such as 500ms or 30s", text)
	}
	return d, nil
}

func orderCommand() *cobra.Command {
	var address, file string
	var long strings.Builder
	long.WriteString("Gives one order to a domain that was started with --orders-file:\n")
	for _, o := range orders {
		fmt.Fprintf(&long, "\n  %-34s %s", o.usage, o.doc)
	}
	c := &cobra.Command{
		Use:   "order ORDER [ARGUMENTS]",
		Short: "Disturb the domain of 'sandbox domain', or see what was written to it",
		Long:  long.String(),
		Example: "  adgateway sandbox order --orders-file orders stop dc1\n" +
			"  adgateway sandbox order --orders-file orders find dc1 '(sAMAccountName=aschmidt)' description",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if file == "" {
				return errors.New("--orders-file is missing: the file that 'adgateway sandbox domain --orders-file' " +
					"has written")
			}
			i := slices.IndexFunc(orders,
				func(o order) bool { name, _, _ := strings.Cut(o.usage, " "); return name == args[0] })
			if i < 0 || len(args)-1 < orders[i].least {
				return fmt.Errorf("%q is no order with all that it needs; 'adgateway sandbox order --help' lists them",
					strings.Join(args, " "))
			}
			o, err := app.DialOrders(c.Context(), address, file)
			if err != nil {
				return err
			}
			found, err := orders[i].run(c.Context(), o, args[1:])
			if err := errors.Join(err, o.Close()); err != nil || found == nil {
				return err
			}
			return output.JSON(c.OutOrStdout(), found)
		},
	}
	c.Flags().StringVar(&address, "domain", defaultDomain, "address of the domain, as `HOST:PORT`")
	c.Flags().StringVar(&file, "orders-file", "",
		"`FILE` with the ticket for orders, which the domain has written")
	return c
}
