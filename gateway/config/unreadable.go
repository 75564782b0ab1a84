package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The code in this file guesses the mistake in a file that is not YAML. It is needed because the parser's
// errors name internal states, and often the line after the mistake.

var (
	placedText = regexp.MustCompile(`^line (\d+): `)
	// quotedPath matches a string in double quotes with a backslash.
	quotedPath = regexp.MustCompile(`"([^"\\]*(?:\\[^"]*)+)"?`)
	// badStart matches a value that begins with a character that has a special meaning in YAML.
	badStart   = regexp.MustCompile("^\\s*(?:-\\s+)?(?:[A-Za-z.]+:\\s+)?(?:\\[\\s*)?([*@%`&!|>])")
	openText   = regexp.MustCompile(`:\s+(["'])[^"']*$`)
	noSpace    = regexp.MustCompile(`^\s*[A-Za-z]+:[^\s/\\]`)
	equals     = regexp.MustCompile(`^\s*[A-Za-z.]+\s*=`)
	domainName = regexp.MustCompile(`^[A-Za-z0-9.-]+\\[^\\]+$`) // such as CORP\Helpdesk
	twoParts   = regexp.MustCompile(`^\s*(?:-\s+)?[A-Za-z]+:\s+[^"'\[{#][^#]*:\s`)
)

// unreadable returns the error for a file that is not YAML.
func unreadable(name string, text []byte, err error) error {
	if line := notUTF8(text); line > 0 {
		return fmt.Errorf("%s:%d: a character is not UTF-8, as in a file saved as Windows-1252 or "+
			"ANSI. Save the file as UTF-8", name, line)
	}
	lines := strings.Split(string(bytes.TrimPrefix(text, []byte("\ufeff"))), "\n")
	at := 0
	if match := placedText.FindStringSubmatch(strings.TrimPrefix(err.Error(), "yaml: ")); match != nil {
		at, _ = strconv.Atoi(match[1]) // only digits match
	}
	if line, advice := advise(lines, at); advice != "" {
		return fmt.Errorf("%s:%d: %s", name, line, advice)
	}
	return fmt.Errorf("%s:%d: this line or the one before is not YAML. Write 'key: value', and "+
		"indent the settings "+
		"of a section by the same number of spaces", name, max(at, 1))
}

// notUTF8 returns the first line that is not UTF-8, or 0 if there is none.
func notUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) {
			return i + 1
		}
	}
	return 1
}

// advise looks for a mistake, first in the line of the error and next to it, then in the whole
// file.
func advise(lines []string, at int) (line int, advice string) {
	order := []int{at, at - 1, at + 1}
	for i := range lines {
		order = append(order, i+1)
	}
	for _, line := range order {
		if line < 1 || line > len(lines) {
			continue
		}
		if advice := adviceOn(strings.TrimRight(lines[line-1], "\r")); advice != "" {
			return line, advice
		}
	}
	return 0, ""
}

// adviceOn explains the mistake in a line. It returns "" if it does not recognize a mistake.
func adviceOn(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(indent, "\t") {
		return "the line begins with a tab. Indent with spaces"
	}
	if match := quotedPath.FindStringSubmatch(line); match != nil {
		if clean, _, bad := strings.Cut(match[1], "\n"); !bad &&
			!strings.Contains(strings.TrimPrefix(clean, `\\`), `\\`) && isWindowsName(clean) {
			return fmt.Sprintf(`in double quotes, YAML reads \ as the start of an escape sequence. Write '%s' in single quotes`, clean)
		}
	}
	if match := badStart.FindStringSubmatch(line); match != nil {
		return fmt.Sprintf("a value that begins with %s needs quotes, such as '%s'", match[1], match[1])
	}
	if match := openText.FindStringSubmatch(line); match != nil {
		return fmt.Sprintf("the text after %s has no closing %[1]s on this line", match[1])
	}
	switch {
	case equals.MatchString(line):
		return "settings are written 'key: value', not 'key = value'"
	case twoParts.MatchString(line):
		return "a value that contains a colon and a space needs quotes"
	case noSpace.MatchString(line):
		return "a space is missing after the colon: write 'key: value'"
	}
	return ""
}

// isWindowsName reports whether a text is a path or name on Windows, which may be shown.
func isWindowsName(text string) bool {
	return len(text) <= 100 && (len(text) > 2 && text[1] == ':' || strings.HasPrefix(text, `\`) ||
		domainName.MatchString(text))
}
