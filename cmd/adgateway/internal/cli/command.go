package cli

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adgateway/cmd/adgateway/internal/program"
)

// version is set by the linker. If it is empty, the version of the module is used.
var version = ""

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// group returns a command that only has subcommands.
func group(use string, commands ...*cobra.Command) *cobra.Command {
	help := func(c *cobra.Command, _ []string) error { return c.Help() }
	c := &cobra.Command{Use: use, Args: knownCommand, RunE: help}
	c.AddCommand(commands...)
	return c
}

// knownCommand rejects an unknown subcommand and suggests the nearest one.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range c.Commands() {
		if !command.Hidden {
			names = append(names, command.Name())
		}
	}
	hint := program.DidYouMean(args[0], "", names)
	if meant := commandMeant(c, args[0]); meant != "" {
		hint = "; did you mean '" + meant + "'?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), hint)
}

// otherWords maps our commands to the names that other programs use for them.
var otherWords = map[string][]string{
	"list": {"ls", "dir", "get", "all"}, "create": {"new", "add", "make"}, "add": {"new", "create"},
	"revoke": {"delete", "remove", "rm", "del"}, "remove": {"delete",
		"rm", "del", "revoke"}, "show": {"get", "cat", "info", "view", "describe"},
	"check": {"validate", "test", "lint", "verify"}, "init": {"create",
		"new", "template"}, "verify": {"check"},
	"serve": {"run", "server", "listen"}, "watch": {"follow",
		"tail", "wait"}, "submit": {"create", "run", "send", "add", "new"},
	"uninstall": {"remove", "delete"}, "set": {"edit", "update",
		"change", "modify"}, "import": {"install", "load"}, "rotate": {"renew"},
	"doctor": {"diagnose", "health", "check"}, "version": {"about"}, "sandbox": {"demo", "try", "simulate"},
}

// commandMeant suggests the command below c that an unknown word means: one for which other programs use the
// word, or one of that name in a group. It returns "" if there is none.
func commandMeant(c *cobra.Command, word string) string {
	word = strings.ToLower(word)
	for _, command := range c.Commands() {
		if !command.Hidden && slices.Contains(otherWords[command.Name()], word) {
			return command.CommandPath()
		}
	}
	for _, group := range c.Commands() {
		for _, command := range group.Commands() {
			if !group.Hidden && !command.Hidden && command.Name() == word &&
				(group.Name() == "service" || len(group.Commands()) == 1) {
				return command.CommandPath()
			}
		}
	}
	return ""
}

// addUsage makes every command below c print its usage line for wrong arguments.
func addUsage(c *cobra.Command) {
	for _, command := range c.Commands() {
		addUsage(command)
	}
	check := c.Args
	if check == nil || c.HasSubCommands() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		problem := "an argument is missing"
		if len(args) > 0 {
			problem = fmt.Sprintf("unexpected argument %q", args[len(args)-1])
		}
		return fmt.Errorf("%s; usage: %s", problem, c.UseLine())
	}
}

// typeNames describes the types of flags.
var typeNames = map[string]string{"int": "a whole number", "bool": "true or false",
	"duration": "a duration such as 30s or 5m"}

// knownFlag suggests the nearest flag for an unknown one, and adds the expected type if the
// value of a flag is invalid.
func knownFlag(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if name, ok := typeNames[invalid.GetFlag().Value.Type()]; ok {
			return fmt.Errorf("--%s: %q is not allowed here: it takes %s", invalid.GetFlag().Name, invalid.GetValue(),
				name)
		}
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := program.DidYouMean(unknown.GetSpecifiedName(), "--", names)
	if meant := otherFlags[unknown.GetSpecifiedName()]; hint == "" && slices.Contains(names, meant) {
		hint = "; did you mean --" + meant + "?"
	}
	return fmt.Errorf("%w%s", err, hint)
}

// otherFlags maps flags of other programs to their equivalents here.
var otherFlags = map[string]string{
	"port": "listen", "p": "listen", "bind": "listen", "address": "listen",
	"addr": "listen", "host": "listen", "file": "config",
	"f": "config", "c": "config", "conf": "config", "settings": "config",
	"scopes": "scope", "role": "scope", "o": "out", "output": "out",
}
