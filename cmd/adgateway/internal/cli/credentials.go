package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/output"
	"adgateway/gateway/authn"
)

// with returns the function of a command that uses the accounts at the location.
func (l *storeLocation) with(
	do func(c *cobra.Command, store accountStore, args []string) error,
) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		store, err := l.Open()
		if err != nil {
			return err
		}
		return do(c, store, args)
	}
}

// listCommand lists the accounts of a kind.
func listCommand(at *storeLocation, kind accountKind) *cobra.Command {
	c := &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: at.with(func(c *cobra.Command, store accountStore, _ []string) error {
			all, lastUse, err := store.List(kind)
			if err != nil {
				return err
			}
			shown := output.NewAccounts(all, lastUse)
			return show(c, shown, func(w io.Writer) error { return output.Accounts(w, shown, time.Now()) })
		}),
	}
	jsonFlag(c)
	return c
}

// showCommand shows one account.
func showCommand(at *storeLocation, kind accountKind) *cobra.Command {
	c := &cobra.Command{
		Use:  "show NAME",
		Args: cobra.ExactArgs(1),
		RunE: at.with(func(c *cobra.Command, store accountStore, args []string) error {
			all, lastUse, err := store.List(kind)
			if err != nil {
				return err
			}
			found, err := kind.Find(all, args[0])
			if err != nil {
				return err
			}
			return showAccount(c, found, lastUse, time.Now())
		}),
	}
	jsonFlag(c)
	return c
}

// showAccount prints an account. lastUse may be nil.
func showAccount(c *cobra.Command, a *authn.Account, lastUse map[string]time.Time, now time.Time) error {
	shown := output.NewAccount(a, lastUse)
	return show(c, shown, func(w io.Writer) error { return shown.Text(w, now) })
}

// setCommand changes the rights of an account.
func setCommand(at *storeLocation, kind accountKind) *cobra.Command {
	var rights rightsFlags
	var clear []string
	c := &cobra.Command{
		Use:  "set NAME",
		Args: cobra.ExactArgs(1),
		RunE: at.with(func(c *cobra.Command, store accountStore, args []string) error {
			now := time.Now()
			a, err := store.Edit(c.Context(), kind, args[0], func(a *authn.Account) error {
				return errors.Join(rights.Change(&a.Rights, clear, now), a.Check())
			})
			if err != nil {
				return fmt.Errorf("nothing was changed:\n%w", err)
			}
			return showAccount(c, a, nil, now)
		}),
	}
	rights.AddTo(c.Flags(), "never")
	jsonFlag(c)
	c.Flags().Lookup("expires").DefValue = ""
	c.Flags().StringSliceVar(&clear, "clear", nil,
		"`LIMIT,...` to remove, by the names of their flags, such as ou,rate")
	return c
}

// removeCommand permanently removes accounts. It prints removed after the name of each account.
func removeCommand(at *storeLocation, kind accountKind, use, removed string) *cobra.Command {
	return &cobra.Command{
		Use:  use + " NAME...",
		Args: cobra.MinimumNArgs(1),
		RunE: at.with(func(c *cobra.Command, store accountStore, args []string) error {
			if err := store.Remove(c.Context(), kind, args); err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(c.OutOrStdout(), "%s '%s' %s\n", kind.Name, name, removed)
			}
			return nil
		}),
	}
}
