// Command gotest runs go test and prints the result of each package as soon as the package ends, instead of
// in the order of the packages. The packages in -first start first, because a package that takes minutes must
// not start last. For a package that fails, gotest prints the failed tests.
//
//	go run ./test/gotest -first ./gateway,./test/story -skip 'TestX' ./...
//
// All other arguments are passed to go test. It exits with the exit code of go test.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}

// run returns the exit code of go test. If go test could not be run, it returns 1 and an error.
func run(args []string) (int, error) {
	var first []string
	if len(args) > 1 && args[0] == "-first" {
		first, args = strings.Split(args[1], ","), args[2:]
	}
	tests := exec.Command("go", append([]string{"test", "-json"}, ordered(args, first)...)...)
	tests.Stderr = os.Stderr
	events, err := tests.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := tests.Start(); err != nil {
		return 1, err
	}
	reportErr := report(events, os.Stdout)
	var exit *exec.ExitError
	switch err := tests.Wait(); {
	case errors.As(err, &exit):
		return exit.ExitCode(), reportErr
	case err != nil:
		return 1, err
	case reportErr != nil:
		return 1, reportErr
	}
	return 0, nil
}

// ordered returns the arguments with the packages in first, in this order, before all other packages. A
// package of first is not added if no argument names it.
func ordered(args, first []string) []string {
	var flags, late []string
	early := make([]string, len(first))
	for _, a := range args {
		at := slices.IndexFunc(first, func(f string) bool { return same(a, f) })
		switch {
		case at >= 0:
			early[at] = a
		case strings.HasPrefix(a, modulePath) || strings.HasPrefix(a, "./"):
			late = append(late, a)
		default:
			flags = append(flags, a)
		}
	}
	early = slices.DeleteFunc(early, func(a string) bool { return a == "" })
	return slices.Concat(flags, early, late)
}

// modulePath is the prefix of all import paths in the module.
const modulePath = "adgateway/"

// same reports whether a package argument names the package with a relative path.
func same(arg, relative string) bool {
	return arg == relative || arg == modulePath+strings.TrimPrefix(relative, "./")
}
