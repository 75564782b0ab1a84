package adcmd

import (
	_ "embed" // texts.txt
	"fmt"
	"strings"
	"sync"

	"adgateway/ps/packed"
)

//go:embed texts.txt
var textTable string

// texts are the module's own messages in English and German.
var texts = sync.OnceValue(func() map[string][2]string {
	all := map[string][2]string{}
	for cells := range packed.Rows(textTable) {
		all[cells[0]] = [2]string(cells[1:3])
	}
	return all
})

// say formats one of the module's own messages in the culture of the host. The
// messages of Win32 codes come from package directory.
func (c *call) say(key string, args ...any) string {
	pair := texts()[key]
	text := pair[0]
	if strings.HasPrefix(strings.ToLower(c.h.Culture), "de") {
		text = pair[1]
	}
	return fmt.Sprintf(text, args...)
}
