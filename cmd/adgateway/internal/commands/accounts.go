package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"adgateway/gateway/auth"

	"github.com/spf13/cobra"
)

// shown is an account as the commands show it: without anything that proves it.
type shown struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Kind    string      `json:"kind"`
	Subject string      `json:"certificateSubject,omitempty"`
	Created time.Time   `json:"created"`
	LastUse *time.Time  `json:"lastUse"`
	Tokens  []tokenTime `json:"tokens,omitempty"` // more than one while a rotation has its grace
	auth.Rights
}

type tokenTime struct {
	Created time.Time  `json:"created"`
	Until   *time.Time `json:"until,omitempty"`
}

func show(a *auth.Account, used map[string]time.Time) shown {
	s := shown{ID: a.ID, Name: a.Name, Kind: a.Kind(), Subject: a.Subject, Created: a.Created, Rights: a.Rights}
	if at, ok := used[a.ID]; ok {
		s.LastUse = &at
	}
	for _, secret := range a.Secrets {
		s.Tokens = append(s.Tokens, tokenTime{secret.Created, secret.Until})
	}
	return s
}

// listCommand lists one of the store's lists.
func listCommand(f *storeFlags, kind string, of func(*auth.Document) []*auth.Account) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List all " + kind + "s",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := f.shown(of)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), all)
			}
			return writeTable(c.OutOrStdout(), all, time.Now())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// showCommand shows one account.
func showCommand(f *storeFlags, kind string, of func(*auth.Document) []*auth.Account) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a " + kind + " with its rights, limits and last use",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			all, err := f.shown(of)
			if err != nil {
				return err
			}
			var accounts []*auth.Account
			for _, s := range all {
				accounts = append(accounts, &auth.Account{Name: s.Name, ID: s.ID})
			}
			found, err := find(accounts, kind, args[0])
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.ID != found.ID {
					continue
				}
				if asJSON {
					return writeJSON(c.OutOrStdout(), s)
				}
				return writeAccount(c.OutOrStdout(), s, time.Now())
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (f *storeFlags) shown(of func(*auth.Document) []*auth.Account) ([]shown, error) {
	file, err := f.file()
	if err != nil {
		return nil, err
	}
	document, _, err := file.Read()
	if err != nil {
		return nil, err
	}
	used := file.LastUses()
	all := []shown{}
	for _, a := range of(document) {
		all = append(all, show(a, used))
	}
	return all, nil
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func writeTable(w io.Writer, all []shown, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSCOPES\tLIMITS\tEXPIRES\tLAST USE")
	for _, s := range all {
		limits := []string{}
		for _, line := range s.limits() {
			limits = append(limits, line[1])
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Name, short(strings.Join(s.Scopes, ",")), short(dash(strings.Join(limits, "; "))), expiry(s.Expires, now), lastUse(s.LastUse))
	}
	return table.Flush()
}

func writeAccount(w io.Writer, s shown, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := [][2]string{
		{"name", s.Name}, {"kind", s.Kind}, {"id", s.ID}, {"certificate", s.Subject}, {"scopes", strings.Join(s.Scopes, " ")},
		{"expires", expiry(s.Expires, now)}, {"dialect", string(s.Dialect)},
	}
	lines = append(append(lines, s.limits()...), [2]string{"created", s.Created.Format(time.RFC3339)})
	for i, token := range s.Tokens {
		until := ""
		if token.Until != nil {
			until = ", ends " + expiry(token.Until, now)
		}
		lines = append(lines, [2]string{"token " + strconv.Itoa(i+1), "made " + token.Created.Format(time.RFC3339) + until})
	}
	for _, line := range append(lines, [2]string{"last use", lastUse(s.LastUse)}) {
		if line[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
		}
	}
	return table.Flush()
}

// limits are an account's limits, each with its name.
func (s *shown) limits() [][2]string {
	var lines [][2]string
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, [2]string{name, text})
		}
	}
	add("networks", strings.Join(s.Networks, " "))
	if l := s.Limits; l != nil {
		add("OUs", strings.Join(l.OUs, " | "))
		add("zones", strings.Join(l.Zones, " "))
		add("groups", strings.Join(l.Groups, " | "))
	}
	if q := s.Quota; q != nil {
		add("rate", string(q.Rate))
		for _, n := range []struct {
			name, what string
			number     *int
		}{
			{"concurrency", "at once", q.Concurrency}, {"deletions", "deletions/h", q.DeletionsPerHour},
			{"password resets", "password resets/h", q.PasswordResetsPerHour},
		} {
			if n.number != nil {
				add(n.name, fmt.Sprintf("%d %s", *n.number, n.what))
			}
		}
	}
	return lines
}

func expiry(at *time.Time, now time.Time) string {
	switch {
	case at == nil:
		return "never"
	case !at.After(now):
		return at.Format(time.RFC3339) + " (expired)"
	}
	return at.Format(time.RFC3339)
}

func lastUse(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.Format(time.RFC3339)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// short keeps a table's column readable; 'show' tells all.
func short(text string) string {
	const width = 60
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
