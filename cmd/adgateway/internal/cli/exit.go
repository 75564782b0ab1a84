package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitCode is the error of a command that has already printed everything and ends with a specific exit code.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// The exit codes.
const (
	codeDone   exitCode = iota
	codeFailed          // the command failed or found something
	codeMisuse          // the command line is wrong; for the doctor: failures
)

// wrongLine is the meaning of [codeMisuse] for all commands but the doctor.
const wrongLine = "the command line is wrong"

// exitRow explains the exit codes of commands.
type exitRow struct {
	commands []string // nil means all commands without a row of their own
	meaning  [codeMisuse + 1]string
}

// exitTable returns the exit codes of every command with their meanings, the general row last.
func exitTable() []exitRow {
	return []exitRow{
		{[]string{"serve", "sandbox", "sandbox domain", "service run"}, [...]string{"stopped as asked", "did not start, or failed", wrongLine}},
		{[]string{"config check"}, [...]string{"`serve` would start with these settings", "mistakes, each with its line", wrongLine}},
		{[]string{"audit verify", "cluster verify"}, [...]string{"no altered line was found by the checks that " +
			"were made", "some were, or the log cannot be read", wrongLine}},
		{[]string{"doctor"}, [...]string{"all is well", "warnings; with `--live`: differences", "failures, or the command line is wrong"}},
		{[]string{"job submit", "job watch", "job start", "job retry", "job undo"}, [...]string{"submitted; when it waits for the job: all items are done", "not done",
			"the list is rejected, or " + wrongLine + ". 3: some items failed or were not run. 4: the outcome of " +
				"some is unknown. 130: Ctrl-C, the job continues"}},
		{nil, [...]string{"done", "not done", wrongLine}},
	}
}

// addExits adds the exit codes of each command to its help, and all of them to the help of root.
func addExits(root *cobra.Command) {
	for _, row := range exitTable() {
		help := fmt.Sprintf("Exit code 0: %s. 1: %s. 2: %s.", row.meaning[codeDone], row.meaning[codeFailed],
			row.meaning[codeMisuse])
		help = strings.ReplaceAll(help, "`", "")
		if len(row.commands) == 0 {
			root.Long = root.Short + ".\n\n" + help
		}
		for _, name := range row.commands {
			if c, _, err := root.Find(strings.Fields(name)); err == nil {
				c.Long = cmp.Or(c.Long, c.Short+".") + "\n" + help
			}
		}
	}
}
