package syntax

import (
	_ "embed" // messages.txt
	"strings"
	"sync"

	"adgateway/ps/packed"
)

//go:embed messages.txt
var messageText string

// messages contains the engine's messages for its parse errors.
var messages = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for cells := range packed.Rows(messageText) {
		all[cells[0]] = strings.ReplaceAll(cells[1], `\n`, "\n")
	}
	return all
})

func message(id string, args []string) string {
	text := messages()[id]
	if len(args) > 0 {
		text = strings.ReplaceAll(text, "{0}", args[0])
	}
	return text
}
