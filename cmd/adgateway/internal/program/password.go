package program

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Password prompts on prompt for the password of an account and reads it from the terminal in without echo. A
// password is never an argument, because every process on the computer can see arguments.
func Password(in io.Reader, prompt io.Writer, account string) (string, error) {
	terminal, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return "", fmt.Errorf("%s needs a password, and there is no terminal to ask for it: use --password-stdin",
			account)
	}
	fmt.Fprintf(prompt, "Password of %s: ", account)
	password, err := term.ReadPassword(int(terminal.Fd()))
	fmt.Fprintln(prompt)
	if err == nil && len(password) == 0 {
		err = errors.New("no password was given")
	}
	return string(password), err
}

// PipedPassword reads a password as the first line of in.
func PipedPassword(in io.Reader) (string, error) {
	decoder := unicode.BOMOverride(transform.Nop) // Windows PowerShell pipes text with a byte order mark
	line, err := bufio.NewReader(transform.NewReader(in, decoder)).ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	switch {
	case line == "" && (err == nil || errors.Is(err, io.EOF)):
		return "", errors.New("standard input contains no password")
	case line == "":
		return "", fmt.Errorf("standard input contains no password: %w", err)
	case !utf8.ValidString(line):
		return "", errors.New("the password on standard input is not in UTF-8: in Windows PowerShell set " +
			"'$OutputEncoding = [Text.Encoding]::UTF8' first, or omit --password-stdin and type the password")
	}
	return line, nil
}
