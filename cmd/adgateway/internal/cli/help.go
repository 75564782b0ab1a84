package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/manual"
	"adgateway/gateway/ops"
)

// lookups maps the KIND of 'help KIND NAME' to the page that lists such names.
var lookups = map[string]string{
	"error":   "reference/errors",
	"setting": "reference/settings",
	"scope":   "reference/scopes",
	"metric":  "reference/metrics",
	"check":   "reference/checks",
}

// operationKind is the kind whose names are the ids of operations.
const operationKind = "operation"

// pageKind is the kind whose names are pages. It is needed for a page that shares its name with a command.
const pageKind = "page"

// commandGroups lists the commands by purpose.
var commandGroups = []struct {
	id, title string
	commands  []string
}{
	{"begin", "Begin here:", []string{"sandbox", "help"}},
	{"run", "Install and run a gateway:", []string{"config", "serve", "service", "tls", "rights", "cluster", "engine"}},
	{"admit", "Decide who may call:", []string{"token", "user", "acme"}},
	{"watch", "Watch it:", []string{"doctor", "audit", "changes", "events", "bench", "version"}},
	{"keep", "Keep what it stores:", []string{"backup", "restore"}},
	{"use", "Use a running gateway:", []string{"job"}},
}

// commandTopics are the pages of the manual that explain the commands.
var commandTopics = map[string]string{
	"sandbox": "sandbox", "help": "start", "config": "settings",
	"serve": "install", "service": "install", "tls": "certificate",
	"rights": "account", "cluster": "cluster", "engine": "cluster",
	"token": "tokens", "user": "tokens", "acme": "certificates-dns01",
	"doctor": "troubleshooting", "audit": "audit", "changes": "follow",
	"events": "events", "bench": "capacity", "version": "upgrade",
	"backup": "upgrade", "restore": "upgrade", "job": "jobs",
}

// settingName matches text that may be the key of a setting.
var settingName = regexp.MustCompile(`[a-zA-Z]+\.[A-Za-z.]*[A-Za-z]`)

// topicOf returns the arguments of 'adgateway help' that explain an error: those for a
// setting that it names, or else those for the command that failed.
func topicOf(c *cobra.Command, err error) string {
	for _, word := range settingName.FindAllString(err.Error(), -1) {
		if slices.ContainsFunc(config.Rows(), func(row config.Row) bool { return row.Key == word }) {
			return "setting " + word
		}
	}
	for ; c.HasParent(); c = c.Parent() {
		if topic := commandTopics[c.Name()]; topic != "" && !c.Parent().HasParent() {
			return topic
		}
	}
	return "troubleshooting"
}

// addHelp groups the commands below root and extends 'help' to print pages of the manual.
func addHelp(root *cobra.Command) {
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	for _, group := range commandGroups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, name := range group.commands {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				c.GroupID = group.id
			}
		}
	}
	root.Long += "\n\nNew here? 'adgateway sandbox' serves everything over a simulated domain, and " +
		"'adgateway help start' shows the first calls."
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC | KIND NAME]",
		Short: "Help about a command, a page of the manual, an error code or a setting",
		Long: "Prints the help of a command, or a page of the manual. KIND NAME looks one name up: " +
			strings.Join(kinds(), ", ") + ".\n\nTopics: " + strings.Join(topics(), ", ") + ".",
		Example: "  adgateway help token create\n  adgateway help start\n  adgateway help error drifted\n" +
			"  adgateway help setting http.listen",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := helpFor(root, args)
			return err
		},
		RunE: func(c *cobra.Command, args []string) error {
			show, err := helpFor(root, args)
			if err != nil {
				return err
			}
			return show(c.OutOrStdout())
		},
	}
}

// kinds returns the kinds that may precede a name.
func kinds() []string { return append(slices.Sorted(maps.Keys(lookups)), operationKind, pageKind) }

// words returns the words that a request for help may begin with.
func words(root *cobra.Command) []string {
	names := slices.Concat(commandNames(root), topics(), kinds())
	for _, name := range manual.Names() {
		names = append(names, strings.TrimPrefix(name, "reference/")) // as [manual.Find] accepts it
	}
	return names
}

// topics returns the names of the pages.
func topics() []string {
	var names []string
	for _, section := range manual.Contents {
		names = append(names, section.Pages...)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, "/README")
	}
	return names
}

// helpFor returns a function that prints the help for args: nothing, a command, a topic, or
// a kind and a name. The error suggests the nearest words.
func helpFor(root *cobra.Command, args []string) (func(io.Writer) error, error) {
	c, rest, err := root.Find(args)
	switch {
	case err != nil:
	case len(rest) == 0:
		return func(to io.Writer) error { return commandHelp(to, c) }, nil
	case c != root && c.HasSubCommands():
		return nil, knownCommand(c, rest)
	}
	if args[0] == operationKind {
		return operation(args[1:])
	}
	if page, ok := lookups[args[0]]; ok {
		return entry(args[0], page, args[1:])
	}
	if args[0] == pageKind {
		return topic(args[1:])
	}
	page, ok := manual.Find(strings.Join(args, " "))
	if !ok {
		return nil, fmt.Errorf("there is no command and no topic %q%s; 'adgateway help help' lists the topics",
			strings.Join(args, " "), program.DidYouMean(args[0], "", words(root)))
	}
	return printed(page), nil
}

// topic returns a function that prints a page of the manual.
func topic(names []string) (func(io.Writer) error, error) {
	if len(names) != 1 {
		return nil, errors.New("'help page' takes one name; 'adgateway help help' lists the topics")
	}
	page, ok := manual.Find(names[0])
	if !ok {
		return nil, fmt.Errorf("there is no page %q%s; 'adgateway help help' lists the topics", names[0],
			program.DidYouMean(names[0], "", topics()))
	}
	return printed(page), nil
}

func printed(page manual.Page) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := io.WriteString(to, plain(page.Text))
		return err
	}
}

func commandHelp(to io.Writer, c *cobra.Command) error {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	err := c.Help()
	if _, ok := manual.Find(c.Name()); ok && err == nil && !c.Parent().HasParent() {
		_, err = fmt.Fprintf(to, "\nThe manual has a page of this name: adgateway help page %s\n", c.Name())
	}
	return err
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// entry returns a function that prints the row about a name from a page's table, with the column headings.
func entry(kind, pageName string, names []string) (func(io.Writer) error, error) {
	page, _ := manual.Find(pageName)
	if len(names) != 1 {
		return nil, fmt.Errorf("'help %s' takes one name; 'adgateway help %s' prints all", kind, pageName)
	}
	row := manual.Row(page, names[0])
	if row == nil {
		return nil, fmt.Errorf("there is no %s %q%s; 'adgateway help %s' prints all", kind, names[0],
			program.DidYouMean(names[0], "", manual.Keys(page)), pageName)
	}
	return func(to io.Writer) error {
		for _, cell := range row {
			if cell.Text == "" {
				continue
			}
			if _, err := fmt.Fprintf(to, "%s: %s\n", cell.Heading, plain(cell.Text)); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// operation returns a function that prints the section of the manual about an operation.
func operation(ids []string) (func(io.Writer) error, error) {
	if len(ids) != 1 {
		return nil, errors.New("'help operation' takes one id, such as user.create; " +
			"'adgateway help endpoints' lists them")
	}
	page, _ := manual.Find(manual.OperationPage(ids[0]))
	text := manual.SectionOf(page, ids[0])
	if text == "" {
		return nil, fmt.Errorf("there is no operation %q%s; 'adgateway help endpoints' lists them",
			ids[0], program.DidYouMean(ids[0], "", operationIDs()))
	}
	return func(to io.Writer) error {
		_, err := io.WriteString(to, plain(text))
		return err
	}, nil
}

// operationIDs returns the ids of all operations.
func operationIDs() []string {
	var ids []string
	for _, op := range ops.Table() {
		ids = append(ids, op.ID)
	}
	return ids
}

var (
	comments = regexp.MustCompile(`(?m)^ *<!--.*?-->\n`)
	mdLinks  = regexp.MustCompile(`\[([^\]]+)\]\(([^)]*)\)`)
)

// plain returns Markdown in the form that a console shows. It removes comments and the addresses of links
// within the manual.
func plain(text string) string {
	text = strings.ReplaceAll(comments.ReplaceAllString(text, ""), "<br>", ", ")
	return mdLinks.ReplaceAllStringFunc(text, func(link string) string {
		parts := mdLinks.FindStringSubmatch(link)
		if strings.Contains(parts[2], "://") {
			return parts[1] + " (" + parts[2] + ")"
		}
		return parts[1]
	})
}
