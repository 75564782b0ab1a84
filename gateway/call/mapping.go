package call

import (
	"regexp"
	"strconv"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// meaning is the API's code and sentence for an error of the directory or of DNS.
type meaning struct {
	code     schema.Code
	sentence string
}

// origin is the module or service that an error number must come from to be meaningful. It is needed because
// other exceptions have an ErrorCode, too.
type origin int

const (
	anyone    origin = iota // the directory or the DNS server
	directory               // the directory module, or ADSI
	dnsServer               // the DnsServer module
)

// row maps one kind of error to its meaning. Exactly one of number, fault, id and typ identifies the error.
type row struct {
	number int    // Win32 or DNS code
	origin origin // origin of number
	fault  string // name of a web service fault without a number (facts D14)
	id     string // error id, for parameter binding errors
	typ    string // full name of the exception type
	meaning
	source string // where the error is documented
}

const (
	directoryTypes = "Microsoft.ActiveDirectory.Management."
	serverDownType = directoryTypes + "ADServerDownException"
	cimException   = "Microsoft.Management.Infrastructure.CimException"
)

// byNumber, byFault, byID and byType index the table.
var (
	byNumber = map[int]row{}
	byFault  = map[string]row{}
	byID     = map[string]row{}
	byType   = map[string]row{}
)

func init() {
	for _, r := range mapping {
		switch {
		case r.number != 0:
			byNumber[r.number] = r
		case r.fault != "":
			byFault[r.fault] = r
		case r.id != "":
			byID[r.id] = r
		default:
			byType[r.typ] = r
		}
	}
}

// meaningOf maps an error by number, then id, fault and type, and never by message, which is localized (facts
// D3, D7). An error that is not in the table never counts as missing or forbidden. If it comes from the
// directory or from DNS, it is unmapped; otherwise it is a defect of the gateway. The second result is the
// directory's code.
func meaningOf(e *ps.Error) (meaning, string) {
	number := numberOf(e)
	code := directoryCode(e, number)
	if e.Type == serverDownType { // regardless of the number that the locator gave it
		return byType[serverDownType].meaning, code
	}
	if number != 0 {
		if r, known := byNumber[number]; known && r.origin.of(e) {
			return r.meaning, code
		}
		return unmapped, code
	}
	id, _, _ := strings.Cut(e.ID, ",")
	if r, known := byID[id]; known {
		return r.meaning, code
	}
	if e.Type == directoryTypes+"ADException" {
		if r, known := byFault[e.Fault]; known {
			return r.meaning, code
		}
		return unmapped, code
	}
	if r, known := byType[e.Type]; known {
		return r.meaning, code
	}
	if strings.HasPrefix(e.Type, directoryTypes) || e.Type == cimException {
		return unmapped, code
	}
	return ourFault, code
}

// of reports whether an error that has a number comes from this origin.
func (o origin) of(e *ps.Error) bool {
	dns := e.Type == cimException || win32ID.MatchString(e.Native) || win32ID.MatchString(e.ID)
	ad := strings.HasPrefix(e.Type, directoryTypes) || directoryID.MatchString(e.ID) ||
		e.Type == "System.UnauthorizedAccessException" ||
		e.Type == "System.Runtime.InteropServices.COMException"
	switch o {
	case directory:
		return ad && !dns
	case dnsServer:
		return dns
	default:
		return ad || dns
	}
}

var (
	directoryID = regexp.MustCompile(`^ActiveDirectoryServer:([0-9]+)(?:,|$)`)
	win32ID     = regexp.MustCompile(`^WIN32 ([0-9]+)(?:,|$)`)
)

// numberOf returns the Win32 or DNS code of an error, or 0 if it has none. The ErrorCode of other exceptions,
// a negative HRESULT, does not count.
func numberOf(e *ps.Error) int {
	candidates := []string{e.Code}
	for _, match := range [][]string{
		win32ID.FindStringSubmatch(e.Native), directoryID.FindStringSubmatch(e.ID),
		win32ID.FindStringSubmatch(e.ID),
	} {
		if match != nil {
			candidates = append(candidates, match[1])
		}
	}
	for _, text := range candidates {
		if number, err := strconv.ParseUint(text, 10, 16); err == nil && number != 0 {
			return int(number)
		}
	}
	return 0
}

// directoryCode formats the number for the answer: "AD:8305", "WIN32 9711".
func directoryCode(e *ps.Error, number int) string {
	switch {
	case number == 0:
		return ""
	case e.Native != "" || e.Type == cimException || win32ID.MatchString(e.ID):
		return "WIN32 " + strconv.Itoa(number)
	default:
		return "AD:" + strconv.Itoa(number)
	}
}
