package directory

import (
	_ "embed" // codes.txt
	"strconv"
	"strings"
	"sync"

	"adgateway/ps/packed"
)

//go:embed codes.txt
var codeText string

// codeRow is a row of the table of codes.
type codeRow struct {
	class   string // NameErr, AtrErr, UpdErr, SvcErr or SecErr; empty if no domain controller sends the code
	problem string
	name    string
	message [2]string // in English and German
}

var codes = sync.OnceValue(func() map[int]codeRow {
	all := map[int]codeRow{}
	for cells := range packed.Rows(codeText) {
		code, _ := strconv.Atoi(cells[0]) // tested
		row := codeRow{message: [2]string(cells[2:4])}
		if sent := strings.Fields(cells[1]); len(sent) == 3 {
			row.class, row.problem, row.name = sent[0], sent[1], sent[2]
		}
		all[code] = row
	}
	return all
})

// Message returns the system's message of the code: in German for "de..." cultures,
// otherwise in English (facts D3).
func (e *Error) Message(culture string) string { return Message(e.Code, culture) }

// Message returns the system's message of a Win32 code, see Error.Message. For an unknown
// code it returns the message of an unspecified error.
func Message(code int, culture string) string {
	row, ok := codes()[code]
	if !ok {
		row = codes()[CodeUnspecified]
	}
	if len(culture) >= 2 && (culture[0]|0x20) == 'd' && (culture[1]|0x20) == 'e' {
		return row.message[1]
	}
	return row.message[0]
}
