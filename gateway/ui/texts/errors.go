package texts

import "regexp"

// ofTheAPI matches messages with terms that only callers of the API know: calls, parameters, headers, scopes,
// and plans, which the pages call previews.
var ofTheAPI = regexp.MustCompile(`\b(?:GET|POST|PUT|PATCH|DELETE) /|/readyz|/openapi|\bscope\b|'[a-z]+:[a-z]+'|` +
	`\bpl_[0-9a-f]|\b(?:DryRun|PlanId|If-Match|ResultKey|AcceptDrift|operationId)\b`)

// Error returns the API's message for an error. In German, or if the message contains terms of the API, it
// returns the table's text for the code. A message without a code is already in the language of the page.
func Error(code, message string) Text {
	if m := refusedByGuard.FindStringSubmatch(message); m != nil {
		return Guarded("object.protected", m[1])
	}
	if Has("error."+code) && ofTheAPI.MatchString(message) {
		return Of("error." + code)
	}
	return said("error.", code, message)
}

// Warning is [Error] for a warning.
func Warning(code, message string) Text { return said("warning.", code, message) }

// Verdict is like [Error], for a verdict about a logon.
func Verdict(code, message string) Text { return said("verdict.", code, message) }

func said(kind, code, message string) Text {
	if code == "" || message == "" {
		return Raw(message)
	}
	german := Of(kind+"other", "code", code)
	if Has(kind + code) {
		german = Of(kind + code)
	}
	return Each([2]string{message, german.In(German)})
}
