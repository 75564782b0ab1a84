package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Media types of request bodies.
const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// Faults of a body as a whole. The messages quote nothing from the body, because it may contain a
// password.

const (
	sendJSON = "Send the header Content-Type: application/json."
	// inPowerShell explains how to send UTF-8 from Windows PowerShell 5.1, whose default is Latin-1.
	inPowerShell = "In Windows PowerShell 5.1: -ContentType 'application/json; charset=utf-8'."
)

// unreadable returns the error of a body whose headers say that it cannot be read.
func unreadable(header http.Header, content []byte) error {
	given := header.Values("Content-Type")
	media, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset := parameters["charset"]
	text := ""
	switch encoding := header.Get("Content-Encoding"); {
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		text = fmt.Sprintf("The body is compressed (Content-Encoding: %s). Send it "+
			"uncompressed.", problem.Printable(encoding, 100))
	case len(given) > 1:
		text = "The header Content-Type is given twice. Send one."
	case len(given) == 0 || given[0] == "":
		text = "The request has a body and no Content-Type. " + sendAs(content)
	case err != nil:
		text = fmt.Sprintf("Content-Type '%s' is not a media type. "+
			"%s", problem.Printable(given[0], 100), sendAs(content))
	case (media == mediaJSON || media == mediaForm) && charset != "":
		text = fmt.Sprintf("Content-Type says charset=%s. Send the body in UTF-8: Content-Type: %s; "+
			"charset=utf-8.", problem.Printable(charset, 100), media)
	case media == "multipart/form-data":
		text = "Content-Type is multipart/form-data, which is for files. Send JSON or name=value " +
			"pairs, with curl -d instead of -F."
	default:
		text = fmt.Sprintf("Content-Type is '%s'. %s", problem.Printable(given[0], 100), sendAs(content))
	}
	return problem.New(schema.UnsupportedMediaType, "%s", text)
}

// sendAs suggests the Content-Type for a body.
func sendAs(content []byte) string {
	switch {
	case looksLikeJSON(content):
		return "The body looks like JSON. " + sendJSON
	case looksLikeForm(content):
		return "The body looks like name=value pairs. Send the header Content-Type: " + mediaForm + "."
	}
	return "Send one JSON object with Content-Type: application/json, or name=value pairs with " +
		"Content-Type: " + mediaForm + "."
}

func looksLikeJSON(content []byte) bool {
	content = bytes.TrimLeft(content, " \t\r\n\ufeff")
	return len(content) > 0 && (content[0] == '{' || content[0] == '[')
}

// looksLikeForm reports whether a body begins with a name and an equals sign.
func looksLikeForm(content []byte) bool {
	name, _, found := bytes.Cut(content, []byte("="))
	return found && len(name) > 0 && len(name) < 64 && !bytes.ContainsAny(name, " \t\r\n\"'{}[]<>:")
}

// notForm returns an error if a form is really JSON, as sent by curl -d, or nil.
func notForm(content []byte) error {
	if !looksLikeJSON(content) {
		return nil
	}
	return problem.New(schema.InvalidRequest, "The body looks like JSON, but Content-Type says %s, "+
		"as curl -d does by itself. %s", mediaForm, sendJSON)
}

// notJSON returns an error if a body is not a single JSON object, or nil.
func notJSON(content []byte) error {
	text := notUTF8(content)
	if text == "" {
		text = otherForm(content)
	}
	var mistake *json.SyntaxError
	// A trailing space distinguishes an early end from a fault in the last byte.
	whole := append(content[:len(content):len(content)], ' ')
	if text == "" && errors.As(json.Unmarshal(whole, new(ignored)), &mistake) {
		at := int(mistake.Offset)
		text = fmt.Sprintf("The body is not JSON from byte %d of %d "+
			"on%s", min(at, len(content)), len(content), broken(content, at))
	}
	if text == "" {
		return nil
	}
	return problem.New(schema.InvalidRequest, "%s", text)
}

// notUTF8 returns a text that says where and why a body is not UTF-8. It returns "" if the body is UTF-8.
func notUTF8(content []byte) string {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) ||
		len(content) > 3 && (content[0] == 0) != (content[1] == 0) {
		return "The body is UTF-16. Send UTF-8. A file that Windows PowerShell 5.1 writes is " +
			"UTF-16: add -Encoding utf8 to Out-File or Set-Content."
	}
	if utf8.Valid(content) {
		return ""
	}
	at := 0
	for at < len(content) {
		r, size := utf8.DecodeRune(content[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return fmt.Sprintf("Byte %d of the body is not UTF-8; it is probably Latin-1 or Windows-1252. "+
		"%s", at+1, inPowerShell)
}

// otherForm returns a text about another format that was sent in place of a JSON object. It returns "" for an
// unknown format.
func otherForm(content []byte) string {
	text := bytes.TrimLeft(content, " \t\r\n")
	begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
	switch {
	case len(text) == 0:
		return "The body has only blanks. Send one JSON object, or no body."
	case begins("{"):
		return ""
	case begins("["):
		return "The body is a JSON array. Send one object. Many changes at once are a job: POST /api/Jobs."
	case begins("@{"), begins("System.Collections.Hashtable"):
		return "The body is a hashtable of PowerShell. Send the text that ConvertTo-Json makes of " +
			"it: -Body ($table | ConvertTo-Json)."
	case begins("'"):
		return "The body begins with a single quote. In cmd.exe use double quotes around it, and " +
			"\\\" in it: -d \"{\\\"City\\\": \\\"Berlin\\\"}\"."
	case begins("<"):
		return "The body looks like XML or HTML. Send one JSON object."
	case begins(`"{`):
		return "The body is a text that holds JSON: it was converted twice. Send the object itself."
	case looksLikeForm(text):
		return "The body looks like name=value pairs, but Content-Type says application/json. Send " +
			"one JSON object, or the header Content-Type: " + mediaForm + "."
	}
	return "The body is not one JSON object. It begins with { and ends with }."
}

// broken describes the probable fault in JSON. The faulty byte is just before the offset. An offset
// beyond the end means that the JSON is cut off.
func broken(content []byte, offset int) string {
	if offset > len(content) {
		return ": it ends too early. A quote, a brace or a bracket is missing at its end."
	}
	fault := content[offset-1]
	before := byte(0)
	if kept := bytes.TrimRight(content[:offset-1], " \t\r\n"); len(kept) > 0 {
		before = kept[len(kept)-1]
	}
	switch {
	case fault == '\'' || before == '\'':
		return ": JSON has double quotes around names and texts, not single ones."
	case (fault == '}' || fault == ']') && before == ',':
		return ": the comma before the closing brace or bracket is one too many."
	case fault == '\\':
		return ": there is a backslash outside of a text. The shell has passed on one that was to " +
			"escape a quote."
	case before == '\\':
		return ": in a text, a backslash is written \\\\, such as in \"\\\\\\\\server\\\\share\"."
	case fault < ' ':
		return ": in a text, a line break is written \\n and a tab \\t."
	case fault == '/' || fault == '#':
		return ": JSON has no comments."
	case before == ':' && (fault == 'T' || fault == 'F' || fault == 'N' || fault == '$'):
		return ": true, false and null are written in lower case, and without $."
	case fault == '"' && before != ',' && before != '{':
		return ": a comma is missing before this quote, or a quote in a text is not written \\\"."
	case before == '{' || before == ',':
		return ": names need double quotes. Windows PowerShell 5.1 removes them from arguments of " +
			"curl.exe: use Invoke-RestMethod."
	case before == ':' || before == '[':
		return ": a text needs double quotes."
	case before == '}':
		return ": something follows the object."
	}
	return "."
}

// ignored decodes any JSON without keeping it.
type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }
