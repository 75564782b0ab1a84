package cli

import (
	"errors"
	"fmt"
	"slices"

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
		Use:  "domain",
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
		"loopback address to listen on, as `HOST:PORT`; port 0 means any free port")
	flags.StringVar(&files.Ticket, "ticket-file", "", "write the ticket for gateways to this `FILE`")
	flags.StringVar(&files.Orders, "orders-file", "",
		"accept orders from tests, and write their ticket to this `FILE`")
	flags.StringArrayVar(&ldif, "ldif", nil, "load this LDIF `FILE` into the directory (repeatable)")
	flags.StringArrayVar(&zones, "zone", nil, "load this zone `FILE` into the DNS server (repeatable)")
	return c
}

func orderCommand() *cobra.Command {
	var address, file string
	c := &cobra.Command{
		Use:  "order ORDER [ARGUMENTS]",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if file == "" {
				return errors.New("--orders-file is missing: name the file that 'adgateway sandbox domain " +
					"--orders-file' wrote")
			}
			found, err := app.GiveOrder(c.Context(), address, file, args)
			if err != nil || found == nil {
				return err
			}
			return output.JSON(c.OutOrStdout(), found)
		},
	}
	c.Long = "\n"
	for _, o := range remote.Orders() {
		c.Long += fmt.Sprintf("\n  %-34s %s", o.Usage, o.Doc)
	}
	c.Flags().StringVar(&address, "domain", defaultDomain, "address of the domain, as `HOST:PORT`")
	c.Flags().StringVar(&file, "orders-file", "",
		"`FILE` with the ticket for orders that the domain wrote")
	return c
}
