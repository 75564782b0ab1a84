package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
)

func userCommand() *cobra.Command {
	at := location()
	c := group("user", userAddCommand(at), userPasswdCommand(at), setCommand(at, userKind),
		removeCommand(at, userKind, "remove", "is removed"),
		listCommand(at, userKind), showCommand(at, userKind))
	at.AddTo(c.PersistentFlags())
	return c
}

func userAddCommand(at *storeLocation) *cobra.Command {
	var flags rightsFlags
	fromStdin := false
	c := &cobra.Command{
		Use:  "add NAME --scope SCOPE,...",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			rights, invalid := flags.Parse(now)
			a, err := newUser(args[0], rights, invalid, now)
			if err != nil {
				return fmt.Errorf("no user was added:\n%w", err)
			}
			password, err := newPassword(c, args[0], fromStdin)
			if err != nil {
				return err
			}
			store, err := at.Open()
			if err == nil {
				err = store.AddUser(c.Context(), a, password)
			}
			if err != nil {
				return fmt.Errorf("no user was added:\n%w", err)
			}
			if !asJSON(c) {
				fmt.Fprintf(c.ErrOrStderr(), "It is in %s.\n", store.in.Place())
			}
			return showAccount(c, a, nil, now)
		},
	}
	flags.AddTo(c.Flags(), "never")
	stdinFlag(c, &fromStdin)
	jsonFlag(c)
	return c
}

func userPasswdCommand(at *storeLocation) *cobra.Command {
	fromStdin := false
	c := &cobra.Command{
		Use:  "passwd NAME",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			password, err := newPassword(c, args[0], fromStdin)
			if err != nil {
				return err
			}
			store, err := at.Open()
			if err != nil {
				return err
			}
			if err := store.SetPassword(c.Context(), args[0], password); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "the password of '%s' was set\n", args[0])
			return err
		},
	}
	stdinFlag(c, &fromStdin)
	return c
}

func stdinFlag(c *cobra.Command, into *bool) {
	c.Flags().BoolVar(into, "password-stdin", false, "read the password from standard input, one line")
}

// newPassword prompts for a new password twice, or reads it from standard input,
// and checks it.
func newPassword(c *cobra.Command, name string, fromStdin bool) (string, error) {
	password, err := program.ReadPassword(c, "'"+name+"'", fromStdin)
	if err == nil && !fromStdin {
		var again string
		if again, err = program.ReadPassword(c, "'"+name+"' again", false); err == nil && again != password {
			err = errors.New("the two passwords differ; nothing was changed")
		}
	}
	if err != nil {
		return "", err
	}
	return password, authn.CheckPassword(password)
}
