package commands

import "fmt"

// exitCode is the error of a command that ends with an exit code of its own and
// has printed everything.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// The exit codes.
const (
	codeDone   exitCode = iota
	codeFailed          // what was asked was not done, or something was found
	codeMisuse          // the command line is wrong; of the doctor: failures
)

// wrongLine is what [codeMisuse] means, except for the doctor.
const wrongLine = "the command line is wrong"

// exitRow says what the exit codes of commands mean.
type exitRow struct {
	commands []string // none: all that no other row names
	meaning  [codeMisuse + 1]string
}

// exitTable returns what the exit codes of every command mean, the general row last.
func exitTable() []exitRow {
	return []exitRow{
		{[]string{"serve", "sandbox", "service run"}, [...]string{"stopped as asked", "did not start, or failed", wrongLine}},
		{[]string{"config check"}, [...]string{"`serve` would start with these settings", "mistakes, each with its line", wrongLine}},
		{[]string{"audit verify"}, [...]string{"no line was altered, as far as that was checked", "some were, or the log cannot be read", wrongLine}},
		{[]string{"doctor"}, [...]string{"all is well", "warnings; with `--live`: differences", "failures, or the command line is wrong"}},
		{nil, [...]string{"done", "not done", wrongLine}},
	}
}
