package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/test/systemtest"
)

// Refusal is a call that causes an error.
type Refusal struct {
	Code   schema.Code
	Before []systemtest.Call // earlier calls, which succeed
	Call   systemtest.Call
	Plan   bool // the call applies the plan of the previous call
	Change bool // the call undoes the change of the previous call
	Next   bool // the call continues the list of the previous call
}

func call(method, path string, pairs ...string) systemtest.Call {
	c := systemtest.Call{Method: method, Path: "/api" + path, Params: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		c.Params[pairs[i]] = pairs[i+1]
	}
	return c
}

func with(c systemtest.Call, token string, headers ...string) systemtest.Call {
	c.Token, c.Headers = token, map[string]string{}
	for i := 0; i+1 < len(headers); i += 2 {
		c.Headers[headers[i]] = headers[i+1]
	}
	return c
}

const (
	put    = http.MethodPut
	remove = http.MethodDelete
	create = http.MethodPost
	read   = http.MethodGet
)

// Refusals contains the errors that a single caller can cause with one or two calls, in the order of the
// codes.
var Refusals = []Refusal{
	{Code: schema.InvalidRequest, Call: call(put, "/ADUser/lweber", "JobTitel", "Buyer")},
	{Code: schema.Unauthenticated, Call: with(call(read, "/ADUser/lweber/Details"), "none")},
	{Code: schema.Forbidden, Call: with(call(put, "/ADUser/lweber/Disable"), systemtest.ReadToken)},
	{Code: schema.Limit, Call: with(call(create, "/ADUser/nnew", "FirstName", "New", "LastName", "User", "Password", "Corr3ct-Horse",
		"OUPath", "OU=Former Staff,OU=Corp,DC=corp,DC=example"), systemtest.LimitedToken)},
	{Code: schema.NotFound, Call: call(read, "/ADUser/nobody/Details")},
	{Code: schema.MethodNotAllowed, Call: call(http.MethodPost, "/ADUser/lweber/Details")},
	{Code: schema.NotAcceptable, Call: with(systemtest.Call{Method: read, Path: "/api/ExternalDns"}, "", "Accept", "text/html")},
	{Code: schema.NotSupported, Call: with(call(read, "/ADUser/lweber/Details"), "", ops.KeyHeader, "order-4711")},
	{Code: schema.TokenMismatch, Next: true, Before: []systemtest.Call{call(read, "/ADUser/ListUsers/All", "Limit", "2")},
		Call: call(read, "/ADUser/ListUsers/All", "Limit", "2", "Text", "weber")},
	{Code: schema.KeyReused, Before: []systemtest.Call{with(call(put, "/ADUser/lweber", "JobTitle", "Buyer"), "", ops.KeyHeader, "order-4712")},
		Call: with(call(put, "/ADUser/lweber", "JobTitle", "Seller"), "", ops.KeyHeader, "order-4712")},
	{Code: schema.Drifted, Plan: true, Before: []systemtest.Call{call(put, "/ADUser/lweber", "JobTitle", "Head", "DryRun", "true"),
		call(put, "/ADUser/lweber", "JobTitle", "Manager")}, Call: call(put, "/ADUser/lweber", "JobTitle", "Head")},
	{Code: schema.PreconditionFailed, Call: with(call(put, "/ADUser/lweber", "JobTitle", "Buyer"), "", "If-Match", `"u1-AAAAAAAAAAAAAAAAAAAAAA"`)},
	{Code: schema.PreconditionRequired, Call: call(put, "/ADGroups/VPN%20Users", "GroupDescription", "VPN")},
	{Code: schema.PlanUsed, Plan: true, Before: []systemtest.Call{call(put, "/ADUser/lweber/Disable", "DryRun", "true"),
		call(put, "/ADUser/lweber/Disable", "PlanId", "plan")}, Call: call(put, "/ADUser/lweber/Disable")},
	{Code: schema.PlanMismatch, Plan: true, Before: []systemtest.Call{call(put, "/ADUser/lweber/Enable", "DryRun", "true")},
		Call: call(put, "/ADUser/lweber/Disable")},
	{Code: schema.NotUndoable, Change: true, Before: []systemtest.Call{call(put, "/ADUser/aschmidt/ResetPassword")}},
	{Code: schema.UnsupportedMediaType, Call: with(systemtest.Call{Method: put, Path: "/api/ADUser/lweber", Raw: strings.NewReader("JobTitle=Buyer")}, "",
		"Content-Type", "text/plain")},
	{Code: schema.Conflict, Call: call(put, "/ADUser/lweber/Rename/aschmidt")},
	{Code: schema.Protected, Before: []systemtest.Call{call(put, "/Computers/OLD-PC1/Protection", "IsProtected", "true")},
		Call: call(remove, "/Computers/OLD-PC1/Remove")},
	{Code: schema.NotEmpty, Call: call(remove, "/OU/Path/Remove", "OUPath", "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example", "Force", "true")},
	{Code: schema.TooMany, Call: call(remove, "/Computers/Remove", "WildCard", "*", "Recursive", "true", "OUPath", "OU=Devices,OU=Corp,DC=corp,DC=example")},
	{Code: schema.Policy, Call: call(put, "/ADUser/lweber/ResetPassword", "NewPassword", "abc")},
	{Code: schema.Unprocessable, Call: call(put, "/ADUser/lweber", "Manager", "nobody")},
}

// Provoke makes the calls of a refusal and returns the last answer.
func (r *Refusal) Provoke(do func(systemtest.Call) systemtest.Answer) systemtest.Answer {
	plan, change, next := "", "", ""
	for _, before := range r.Before {
		if before.Params["PlanId"] != nil {
			before.Params["PlanId"] = plan
		}
		answer := do(before)
		var envelope struct {
			Plan struct {
				ID string `json:"id"`
			} `json:"plan"`
			Next string `json:"next"`
		}
		if json.Unmarshal(answer.Body, &envelope) == nil && envelope.Plan.ID != "" {
			plan = envelope.Plan.ID
		}
		next = envelope.Next
		change = answer.Header.Get("X-Change-Id")
	}
	if r.Plan {
		r.Call.Params["PlanId"] = plan
	}
	if r.Next {
		r.Call.Params["After"] = next
	}
	if r.Change {
		r.Call = call(create, "/Changes/"+change+"/Undo")
	}
	return do(r.Call)
}

// RefusalsPage returns the page with an example of each error. answers are the answers by code.
func RefusalsPage(answers map[schema.Code][]byte) string {
	var b strings.Builder
	b.WriteString("# Errors by example\n\n<!-- generated from calls of the sandbox: do not edit -->\n\n" +
		"A call that gets each [error](errors.md), and its answer. " +
		"`output` repeats `message`.\n")
	for i := range Refusals {
		r := &Refusals[i]
		b.WriteString("\n## " + string(r.Code) + "\n\n<!-- not run: recorded when this page is generated -->\n")
		b.WriteString("```sh\n" + r.command() + "\n```\n\n")
		fmt.Fprintf(&b, "%d:\n\n```json\n%s\n```\n", r.Code.Status(), refusal(answers[r.Code]))
	}
	b.WriteString("\n## Others\n\nThese need a failure, several callers or a longer story: ")
	var others []string
	for _, code := range schema.Codes() {
		if !Provoked(code) {
			others = append(others, "`"+string(code)+"`")
		}
	}
	b.WriteString(strings.Join(others, ", ") + ". [Errors](errors.md) explains them.\n")
	return b.String()
}

// Provoked reports whether the page has an example of an error.
func Provoked(code schema.Code) bool {
	return slices.ContainsFunc(Refusals, func(r Refusal) bool { return r.Code == code })
}

// command returns the call as a curl command.
func (r *Refusal) command() string {
	target := strings.Replace(r.Call.Path, "/api", "$api", 1)
	text := curl(r.Call.Method, target, r.Call.Params, r.Call.Token != "none")
	for _, name := range slices.Sorted(maps.Keys(r.Call.Headers)) {
		text += fmt.Sprintf(" -H '%s: %s'", name, r.Call.Headers[name])
	}
	if r.Call.Raw != nil {
		text += " -d JobTitle=Buyer"
	}
	return steady(text)
}

// refusal returns the error in an answer, one member per line.
func refusal(answer []byte) string {
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(answer, &envelope) != nil {
		return string(answer)
	}
	var lines []string
	for _, m := range membersOf(envelope.Error) {
		var compact bytes.Buffer
		if json.Compact(&compact, m.value) != nil {
			return string(answer)
		}
		lines = append(lines, fmt.Sprintf("%q: %s", m.name, steady(compact.String())))
	}
	return "{\"error\": {" + strings.Join(lines, ",\n  ") + "}, ...}"
}

// curl returns a call as a command.
func curl(method, target string, params map[string]any, credential bool) string {
	text := "curl -s"
	if method != http.MethodGet {
		text += " -X " + method
	}
	inQuery := method == http.MethodGet || method == http.MethodDelete
	if inQuery && len(params) > 0 {
		query := url.Values{}
		for name, value := range params {
			query.Set(name, systemtest.Text(value))
		}
		target += "?" + query.Encode()
	}
	text += ` "` + target + `"`
	if credential {
		text += ` -H "$auth"`
	}
	if !inQuery {
		text += fields(params)
	}
	return text
}

// fields returns the parameters of a form.
func fields(params map[string]any) (text string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value := strings.ReplaceAll(systemtest.Text(params[name]), "'", `'\''`)
		text += fmt.Sprintf(" \\\n    --data-urlencode '%s=%s'", name, value)
	}
	return text
}
