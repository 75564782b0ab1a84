package zones

import (
	_ "embed" // messages.txt
	"strconv"
	"strings"
	"sync"

	"adgateway/ps/packed"
)

//go:embed messages.txt
var messageText string

// messages contains the messages in English and German by operation, and by code in decimal.
var messages = sync.OnceValue(func() map[string][2]string {
	all := map[string][2]string{}
	for cells := range packed.Rows(messageText) {
		all[cells[0]] = [2]string(cells[1:3])
	}
	return all
})

// Message returns the message of the error in a culture: German for "de" and "de-...", otherwise English. For
// operations on zones and records, it is the message of the real module, which does not contain the cause
// (facts D12). For other operations, it is the system's message for the code.
func (e *Error) Message(culture string) string {
	if e.Code == CodeServerUnavailable {
		return e.Text(culture)
	}
	op := e.Op
	if e.Code == CodeZoneDoesNotExist {
		op = OpGetZone // every cmdlet reports an absent zone in this way
	}
	if sentence := message(string(op), culture); sentence != "" {
		return strings.NewReplacer("{name}", e.Name, "{zone}", e.Zone, "{server}", e.Server).Replace(sentence)
	}
	return e.Text(culture)
}

// Text returns the system's message for the code in a culture, see Message.
func (e *Error) Text(culture string) string {
	code := strconv.Itoa(e.Code)
	if text := message(code, culture); text != "" {
		return text
	}
	return "WIN32 " + code
}

// message returns a message of the table in a culture, or "" if there is none.
func message(key, culture string) string {
	both := messages()[key]
	if culture = strings.ToLower(culture); culture == "de" || strings.HasPrefix(culture, "de-") {
		return both[1]
	}
	return both[0]
}
