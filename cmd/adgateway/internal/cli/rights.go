package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func rightsCommand() *cobra.Command {
	var scopes []string
	var target grantTarget
	script := false
	c := &cobra.Command{
		Use:  "rights",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if script {
				if name := firstGiven(c, "scope", "account", "domain", "ou", "zone", "json"); name != "" {
					return fmt.Errorf("--%s cannot be used with --script, because the script is the same for every "+
						"domain: give the script -Scope, -OU and -Zone when you run it", name)
				}
				_, err := fmt.Fprint(c.OutOrStdout(), grantScript())
				return err
			}
			if target.Domain == "" && len(target.OUs) > 0 {
				target.Domain = target.OUs[0][max(strings.Index(strings.ToUpper(target.OUs[0]), "DC="), 0):]
			}
			if target.Domain == "" {
				return errors.New("--domain or --ou is needed: the lines name objects of the domain")
			}
			if len(scopes) == 0 {
				scopes = grantScopes()
			}
			lines, err := grantLines(scopes, target)
			if err != nil {
				return err
			}
			return show(c, lines, func(w io.Writer) error { return printRights(w, lines) })
		},
	}
	flags := c.Flags()
	flags.BoolVar(&script, "script", false, "print the PowerShell script instead")
	flags.StringSliceVar(&scopes, "scope", nil, "`SCOPES` that the service should serve (default: all)")
	flags.StringVar(&target.Account, "account", `CORP\adgateway-rights`, "`ACCOUNT` or group that gets the rights")
	flags.StringVar(&target.Domain, "domain", "", "`DN` of the domain (default: the domain of the first OU)")
	flags.StringArrayVar(&target.OUs, "ou", nil, "`DN` of an OU to manage (repeatable)")
	flags.StringArrayVar(&target.Zones, "zone", nil, "`NAME` of a DNS zone to manage (repeatable)")
	jsonFlag(c)
	return c
}

// firstGiven returns the first of the flags that are set, or "" if none is.
func firstGiven(c *cobra.Command, names ...string) string {
	at := slices.IndexFunc(names, func(name string) bool { return c.Flags().Changed(name) })
	if at < 0 {
		return ""
	}
	return names[at]
}

// printRights prints the granting commands under the scopes that need them, and then the
// commands that revoke them.
func printRights(w io.Writer, lines []grantLine) error {
	var text strings.Builder
	var revoke []string
	before := ""
	for _, line := range lines {
		if scopes := strings.Join(line.Scopes, ", "); scopes != before {
			fmt.Fprintf(&text, "# %s\n", scopes)
			before = scopes
		}
		fmt.Fprintln(&text, line.Grant)
		if line.Revoke != "" && !slices.Contains(revoke, line.Revoke) {
			revoke = append(revoke, line.Revoke)
		}
	}
	fmt.Fprintln(&text, "\n# to revoke this, with every other right of that account on the object")
	for _, command := range revoke {
		fmt.Fprintln(&text, command)
	}
	_, err := fmt.Fprint(w, text.String())
	return err
}
