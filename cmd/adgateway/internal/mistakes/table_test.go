package mistakes

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mistake is a row of the table: a request or a command, and the expected answer.
type mistake struct {
	place string // file and line, for messages

	args    []string            // of a command; nil for a request
	files   map[string][]string // lines of files in the command's folder, by file name
	request request
	before  []request // requests that are sent first and must succeed

	status int    // HTTP status or exit code
	code   string // error code; empty for a command
	help   string // for a command: the arguments of 'adgateway help' that the output names
	says   []string
	never  []string // texts that the output must not contain
}

// request is a request to the sandbox.
type request struct {
	method, target string
	header         http.Header
	body           string
}

// readTable reads the rows of a file. A row is a block of lines. Its first line is a request (METHOD TARGET)
// or a command (adgateway ARGUMENTS). The other lines are indented:
//
//	before: METHOD TARGET [JSON]     a call that is made first and must succeed
//	header: NAME: VALUE              replaces the usual header; without a value: removes it
//	body: TEXT                       JSON unless there is a header Content-Type
//	bytes: TEXT                      the same, with the escapes of Go
//	file: NAME                       a file for the command; its lines follow after "| "
//	STATUS CODE                      the status and the code of the answer
//	says: TEXT                       a text that the answer must contain
//	never: TEXT                      a text that the answer must not contain
//	help: ARGUMENTS                  the help that a command refers to
//
// Lines that begin with # are comments.
func readTable(t *testing.T, file string) []*mistake {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var all []*mistake
	name := ""
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		place := fmt.Sprintf("%s:%d", filepath.Base(file), i+1)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "  "):
			all = append(all, &mistake{place: place})
			require.NoError(t, all[len(all)-1].first(line), place)
		default:
			require.NotEmpty(t, all, place)
			require.NoError(t, all[len(all)-1].next(strings.TrimPrefix(line, "  "), &name), place)
		}
	}
	return all
}

// first parses the first line of a row.
func (m *mistake) first(line string) error {
	if args, ok := strings.CutPrefix(line, "adgateway"); ok {
		m.args = words(args)
		return nil
	}
	method, target, ok := strings.Cut(line, " ")
	if !ok {
		return fmt.Errorf("neither a request nor a command: %s", line)
	}
	m.request = newRequest(method, target)
	return nil
}

// newRequest returns a request with a credential that has all scopes.
func newRequest(method, target string) request {
	return request{method: method, target: target, header: http.Header{"Auth-Token": {"Bearer all"}}}
}

// next parses another line of a row. name is the file whose lines are being read.
func (m *mistake) next(line string, name *string) error {
	if text, ok := strings.CutPrefix(line, "|"); ok {
		m.files[*name] = append(m.files[*name], strings.TrimPrefix(text, " "))
		return nil
	}
	key, value, ok := strings.Cut(line, ":")
	if status, code, _ := strings.Cut(line, " "); !ok && len(status) > 0 {
		number, err := strconv.Atoi(status)
		m.status, m.code = number, code
		return err
	}
	return m.set(key, strings.TrimPrefix(value, " "), name)
}

func (m *mistake) set(key, value string, name *string) (err error) {
	switch key {
	case "before":
		parts := strings.SplitN(value, " ", 3)
		r := newRequest(parts[0], parts[1])
		if len(parts) == 3 {
			r.body = parts[2]
			r.header.Set("Content-Type", "application/json")
		}
		m.before = append(m.before, r)
	case "header":
		field, text, _ := strings.Cut(value, ":")
		m.request.header.Del(field)
		if text = strings.TrimSpace(text); text != "" {
			m.request.header.Set(field, text)
		} else if field == "Content-Type" {
			m.request.header["Content-Type"] = nil
		}
	case "body":
		m.setBody(value)
	case "bytes":
		value, err = strconv.Unquote(`"` + value + `"`)
		m.setBody(value)
	case "file":
		*name = value
		if m.files == nil {
			m.files = map[string][]string{}
		}
		m.files[value] = []string{}
	case "says":
		m.says = append(m.says, value)
	case "never":
		m.never = append(m.never, value)
	case "help":
		m.help = value
	default:
		return fmt.Errorf("unknown line %q", key)
	}
	return err
}

func (m *mistake) setBody(body string) {
	m.request.body = body
	if _, given := m.request.header["Content-Type"]; !given {
		m.request.header.Set("Content-Type", "application/json")
	}
}

// words splits a command line as a shell does, with quotes.
func words(line string) []string {
	all := []string{}
	word, quote, begun := "", rune(0), false
	for _, r := range line {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case r == quote:
			quote = 0
		case quote == 0 && r == ' ':
			if begun {
				all = append(all, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if begun {
		all = append(all, word)
	}
	return all
}
