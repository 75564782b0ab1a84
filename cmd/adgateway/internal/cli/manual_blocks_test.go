package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/manual"
)

// block is a code block of a page, with the following block if that is its answer.
type block struct {
	page     string
	line     int
	language string
	mark     string // the text of the comment above it
	text     string
	answer   *block
}

const (
	says          = "says"                // the answer must contain each sentence of the one shown
	secondConsole = "in a second console" // its lines are started and left running
)

var (
	markLine = regexp.MustCompile(`^ *<!-- (.*) -->$`)
	fence    = regexp.MustCompile("^( *)```([a-z]*)$")
	// marks matches the comments that may precede a block.
	marks = regexp.MustCompile(`^(not run: .+|in a second console|says|relay|playbook|prometheus\.yml|balancer: [a-z]+)$`)
)

// examples are the languages of blocks that are run.
var examples = []string{"sh", "python", "powershell"}

// blocks returns the blocks of a page. A block 'json' or 'text' is the answer of the
// preceding example if only blank lines separate them.
func blocks(t *testing.T, page manual.Page) []*block {
	t.Helper()
	var all []*block
	lines := strings.Split(page.Text, "\n")
	mark, adjacent := "", false
	for i := 0; i < len(lines); i++ {
		switch match := fence.FindStringSubmatch(lines[i]); {
		case match != nil:
			b := &block{page: page.Path, line: i + 1, language: match[2], mark: mark}
			for i++; lines[i] != match[1]+"```"; i++ {
				require.Less(t, i+1, len(lines), "%s:%d: the block has no end", page.Path, b.line)
				b.text += strings.TrimPrefix(lines[i], match[1]) + "\n"
			}
			if adjacent && (b.language == "json" || b.language == "text") {
				all[len(all)-1].answer = b
			} else {
				all = append(all, b)
			}
			adjacent = b == all[len(all)-1] && b.example()
			mark = ""
		case markLine.MatchString(lines[i]):
			mark = markLine.FindStringSubmatch(lines[i])[1]
		default:
			adjacent = adjacent && lines[i] == ""
			mark = ""
		}
	}
	return all
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// example reports whether the block is run and may have an answer.
func (b *block) example() bool {
	play := b.language == "yaml" && strings.HasPrefix(b.text, "- hosts:")
	return b.mark == "" && (play || slices.Contains(examples, b.language))
}

// allBlocks are the blocks of all pages.
func allBlocks(t *testing.T) []*block {
	t.Helper()
	var all []*block
	for _, page := range manual.Pages(t) {
		all = append(all, blocks(t, page)...)
	}
	return all
}

// Every block in a language that can be run is run, or its comment gives the reason why not.
func TestEveryBlockOfTheManualIsRunOrSaysWhyNot(t *testing.T) {
	all := allBlocks(t)
	commands := map[string]bool{}
	run, notRun := 0, map[string]int{}
	for _, b := range all {
		if b.mark != "" {
			assert.Regexp(t, marks, b.mark, "%s: what the comment says", b)
		}
		if reason, ok := strings.CutPrefix(b.mark, "not run: "); ok {
			notRun[reason]++
		}
		if !slices.Contains(examples, b.language) && b.language != "yaml" && b.language != "hcl" {
			assert.NotRegexp(t, "^not run", b.mark, "%s: a block %q is not run anyway", b, b.language)
		}
		if b.example() || b.mark == secondConsole {
			run++
		}
		if b.answer != nil && b.answer.mark != "" {
			assert.Equal(t, says, b.answer.mark, "%s", b.answer)
		}
		assert.NotEqual(t, says, b.mark, "%s is not the answer of a block", b)
		if b.language == "sh" || b.language == "powershell" {
			for line := range strings.Lines(b.text) {
				word, _, more := strings.Cut(strings.TrimRight(line, "\n"), " ")
				if more && regexp.MustCompile(`^[a-z.\\-]+$`).MatchString(word) {
					commands[word] = true
				}
			}
		}
	}
	for _, name := range []string{"adgateway", "curl", "msiexec", "choco"} {
		assert.True(t, commands[name], name)
	}
	for _, b := range all {
		if b.language != "text" {
			continue
		}
		for line := range strings.Lines(b.text) {
			word, _, _ := strings.Cut(line, " ")
			assert.False(t, commands[word], "%s has a command: %s", b, line)
		}
	}
	t.Logf("%d blocks are run; not run are %v", run, notRun)
}

// agree compares an answer with the one on the page. IDs and times differ in every run, and
// '...' stands for anything.
func (b *block) agree(t *testing.T, stdout string) {
	t.Helper()
	if b.answer == nil {
		return
	}
	got, want := mask(strings.TrimSpace(stdout)), mask(strings.TrimSpace(b.answer.text))
	switch {
	case b.answer.mark == says:
		var sentences []string
		for _, answer := range documents(t, got) {
			sentences = append(sentences, answer.(map[string]any)["output"].(string))
		}
		assert.Equal(t, want, strings.Join(sentences, "\n"))
	case strings.Contains(want, "..."):
		assert.Regexp(t, pattern(want), withoutSpace(got), "%s shows %s", b.answer, want)
	case b.answer.language == "json":
		assert.Equal(t, documents(t, want), documents(t, got))
	default:
		assert.Equal(t, want, got)
	}
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

// pattern returns a regular expression for a text in which '...' matches anything.
func pattern(want string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(withoutSpace(want))
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(quoted, regexp.QuoteMeta("..."), ".*") + `$`)
}

func mask(text string) string {
	text = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllString(text, "(id)")
	return regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`).ReplaceAllString(text, "(time)")
}

func documents(t *testing.T, text string) []any {
	t.Helper()
	var all []any
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var one any
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, "%s", text)
		all = append(all, one)
	}
}

// The blocks, answers and comments of a page are recognized.
func TestBlocksOfAPage(t *testing.T) {
	page := manual.Page{Path: "p",
		Text: "# P\n\n```sh\na\n```\n\n```text\nb\n```\n\n```text\nno answer\n```\n\nwords\n\n" +
			"   <!-- not run: x -->\n   ```sh\n   c\n   ```\n\n" +
			"<!-- in a second console -->\n```sh\nd\n```\n\n```text\nno answer\n```\n\n```sh\ne\n```\n\n" +
			"<!-- says -->\n```text\nf\n```\n\n```sh\ng\n```\n\nwords\n\n```text\nno answer\n```\n"}
	var got []string
	for _, b := range blocks(t, page) {
		line := fmt.Sprint(b.line, " ", b.language, " ", strings.TrimSpace(b.text), " ", b.mark)
		if b.answer != nil {
			line += "=" + strings.TrimSpace(b.answer.text) + b.answer.mark
		}
		got = append(got, strings.TrimSpace(line))
	}
	assert.Equal(t, []string{
		"3 sh a =b", "11 text no answer", "18 sh c not run: x", "23 sh d in a second console", "27 text no answer", "31 sh e =fsays", "40 sh g", "46 text no answer",
	}, got)
	assert.Regexp(t, pattern(`{"a": 1, ... "c": [...]}`), withoutSpace(`{"a":1,"b":{},"c":[2]}`))
	assert.NotRegexp(t, pattern(`{"a": 1, ... "c": []}`), withoutSpace(`{"a":1,"b":{},"c":[2]}`))
}
