package cli

import (
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
)

// ofGateways returns a command that makes gateways join a cluster or leave it.
func ofGateways(c *cobra.Command, do func(*cobra.Command, setup.Options) error) *cobra.Command {
	return ofSettings(c, func(c *cobra.Command, f *program.Flags, s *config.Settings) error {
		return do(c, setup.Options{
			Settings: s, KeyGroup: app.KeyGroup, Kinds: app.LastingKinds(),
			Accounts: program.CredentialFile(s.Auth, f.Path()),
		})
	})
}

// parseHost parses a gateway of the form NAME=HOST or NAME=HOST:PORT.
func parseHost(text string) (setup.Host, error) {
	name, address, _ := strings.Cut(text, "=")
	if name == "" || address == "" {
		return setup.Host{}, fmt.Errorf("--gateway: %q is not NAME=HOST, such as gw1=host1.corp.example", text)
	}
	return setup.Host{Name: name, Address: address}, nil
}

// printJoin prints the command with which a gateway joins.
func printJoin(w io.Writer, i trust.Invitation) {
	fmt.Fprintf(w, "\nOn the host of %s, within an hour:\n  %s\n", i.Gateway, trust.JoinCommand(i))
}

// printPorts prints the ports that the firewall of each host must open.
func printPorts(w io.Writer, ports [][2]string) {
	fmt.Fprintln(w, "\nOn each host, allow these connections from the others:")
	for _, p := range ports {
		_, port, err := net.SplitHostPort(p[0])
		if err != nil {
			port = p[0]
		}
		fmt.Fprintf(w, "  TCP %-6s %s\n", port, p[1])
	}
}

func clusterInviteCommand() *cobra.Command {
	gateway := ""
	c := ofGateways(&cobra.Command{
		Use: "invite",
	}, func(c *cobra.Command, o setup.Options) error {
		name, host, _ := strings.Cut(gateway, "=")
		i, err := setup.Invite(c.Context(), o, setup.Host{Name: name, Address: host})
		if err != nil {
			return err
		}
		printJoin(c.OutOrStdout(), i)
		return nil
	})
	c.Flags().StringVar(&gateway, "gateway", "",
		"`NAME[=HOST]` of the gateway, with its HOST as the others reach it (default: the name of its host)")
	_ = c.MarkFlagRequired("gateway") // fails only for unknown flags
	return c
}

func clusterJoinCommand() *cobra.Command {
	var i trust.Invitation
	replace := false
	c := ofGateways(&cobra.Command{
		Use: "join",
	}, func(c *cobra.Command, o setup.Options) error {
		id, list, err := setup.Join(c.Context(), o, i, replace)
		if err != nil {
			return err
		}
		w := c.OutOrStdout()
		fmt.Fprintf(w, "%s is a gateway of the cluster %s.\n", id.Gateway, id.Cluster)
		printPorts(w, setup.Ports(list, id.Gateway))
		fmt.Fprintln(w, "\nStart it now: adgateway service start")
		return nil
	})
	flags := c.Flags()
	flags.StringVar(&i.Cluster, "cluster", "", "`NAME` of the cluster")
	flags.StringVar(&i.Gateway, "gateway", "", "`NAME` of this gateway")
	flags.StringVar(&i.Address, "address", "", "`HOST:PORT` of a gateway of the cluster")
	flags.StringVar(&i.Authority, "authority", "", "`SHA256` of the key of the cluster's authority")
	flags.StringVar(&i.Secret, "secret", "", "`SECRET` of the invitation")
	for _, name := range []string{"cluster", "gateway", "address", "authority", "secret"} {
		_ = c.MarkFlagRequired(name) // fails only for unknown flags
	}
	flags.StringVar(&i.Host, "host", "",
		"name or address by which the other gateways reach this `HOST` (default: its name)")
	flags.BoolVar(&replace, "replace", false, "give up this gateway's own store")
	return c
}

func clusterAloneCommand() *cobra.Command {
	force := false
	c := ofGateways(&cobra.Command{
		Use: "alone",
	}, func(c *cobra.Command, o setup.Options) error {
		old, err := setup.Alone(c.Context(), o, force)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(),
			"This gateway is alone: start it. The files of the cluster are in %s.\n", old)
		return err
	})
	c.Flags().BoolVar(&force, "force", false, "do it even if other gateways of the cluster run")
	return c
}

func clusterRecoverCommand() *cobra.Command {
	first := false
	c := ofGateways(&cobra.Command{
		Use: "recover",
	}, func(c *cobra.Command, o setup.Options) error {
		at, log, err := setup.Recover(c.Context(), o, first)
		if err != nil {
			return err
		}
		next := "Run this with --first on the host whose copy goes furthest."
		if first {
			next = "Start this gateway, and then the others."
		}
		w := c.OutOrStdout()
		fmt.Fprintf(w, "The copy of this gateway goes to entry %d of the log (%s). %s\n", at.Sequence, at.Hash,
			next)
		printLog(w, log)
		return nil
	})
	c.Flags().BoolVar(&first, "first", false, "the cluster continues with the copy of this gateway")
	return c
}
