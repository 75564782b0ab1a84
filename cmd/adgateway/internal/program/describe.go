package program

import (
	"strings"

	"github.com/spf13/cobra"
)

// Describe sets the texts of commands. A section of texts begins with "= " and the path of a command. Its
// short text follows, then a long text, and then examples, which begin with two spaces and the name of root.
// A long text that a command already has is appended. Describe panics if there is no such command.
func Describe(root *cobra.Command, texts string) {
	for _, section := range strings.Split(texts, "\n= ")[1:] {
		path, text, _ := strings.Cut(section, "\n")
		c, rest, err := root.Find(strings.Fields(path)[1:])
		if err != nil || len(rest) > 0 {
			panic("there is no command " + path)
		}
		long, example := text, ""
		if at := strings.Index(text, "\n  "+root.Name()+" "); at >= 0 {
			long, example = text[:at], text[at+1:]
		}
		c.Short, long, _ = strings.Cut(long, "\n")
		c.Long, c.Example = strings.Trim(long, "\n")+c.Long, strings.TrimRight(example, "\n")
	}
}
