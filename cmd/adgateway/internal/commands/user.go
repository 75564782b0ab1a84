package commands

import (
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/auth"

	"github.com/spf13/cobra"
)

func userCommand() *cobra.Command {
	f := &storeFlags{}
	of := func(d *auth.Document) []*auth.Account { return d.Users }
	c := group("user", "Manage the users that may call the API with name and password",
		userAddCommand(f), userPasswdCommand(f), setCommand(f, auth.KindUser, of), userRemoveCommand(f), listCommand(f, auth.KindUser, of), showCommand(f, auth.KindUser, of))
	c.Long = "Manages the users that may call the API with name and password (Basic). A\n" +
		"password is asked for, or with --password-stdin read from standard input; it is\n" +
		"never an argument, which other users of the computer could see. Prefer tokens."
	f.addTo(c)
	return c
}

func userAddCommand(f *storeFlags) *cobra.Command {
	var rights rightsFlags
	fromStdin := false
	c := &cobra.Command{
		Use:   "add NAME --scope SCOPE,...",
		Short: "Add a user",
		Long: "Adds a user who sends name and password (Basic). The password is asked for, or\n" +
			"read from standard input with --password-stdin.",
		Example: "  adgateway user add anna --scope user:read --network 10.20.0.0/16",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			allowed, wrong := rights.rights(now)
			a := auth.NewAccount(args[0], now, allowed)
			a.Password = auth.HashPassword("", auth.Cost{Memory: 8, Time: 1, Threads: 1}) // until the real one is known
			if err := errors.Join(a.Check(), wrong); err != nil {
				return fmt.Errorf("no user was added:\n%w", err)
			}
			password, err := newPassword(c, args[0], fromStdin)
			if err != nil {
				return err
			}
			a.Password = auth.HashPassword(password, auth.StandardCost)
			err = f.edit(c.Context(), func(d *auth.Document) error {
				d.Users = append(d.Users, a)
				return nil
			})
			if err != nil {
				return fmt.Errorf("no user was added:\n%w", err)
			}
			return writeAccount(c.OutOrStdout(), show(a, nil), now)
		},
	}
	rights.addTo(c, "never")
	stdinFlag(c, &fromStdin)
	return c
}

func userPasswdCommand(f *storeFlags) *cobra.Command {
	fromStdin := false
	c := &cobra.Command{
		Use:   "passwd NAME",
		Short: "Set a user's password",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			password, err := newPassword(c, args[0], fromStdin)
			if err != nil {
				return err
			}
			hash := auth.HashPassword(password, auth.StandardCost)
			err = f.edit(c.Context(), func(d *auth.Document) error {
				user, err := find(d.Users, auth.KindUser, args[0])
				if err == nil {
					user.Password = hash
				}
				return err
			})
			if err != nil {
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

func userRemoveCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME...",
		Short: "Remove users; they are refused within a second",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := f.edit(c.Context(), func(d *auth.Document) (err error) {
				d.Users, err = remove(d.Users, auth.KindUser, args)
				return err
			})
			if err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(c.OutOrStdout(), "user '%s' is removed\n", name)
			}
			return nil
		},
	}
}

// newPassword asks for a password, twice and without showing it, or reads it
// from standard input.
func newPassword(c *cobra.Command, name string, fromStdin bool) (string, error) {
	password, err := readPassword(c, "'"+name+"'", fromStdin)
	if err == nil && !fromStdin {
		var again string
		if again, err = readPassword(c, "'"+name+"' again", false); err == nil && again != password {
			err = errors.New("the two passwords differ; nothing was changed")
		}
	}
	if err != nil {
		return "", err
	}
	return password, auth.CheckPassword(password)
}
