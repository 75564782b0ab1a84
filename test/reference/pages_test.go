// Package reference writes the manual's pages about the operations. It uses the rows of the operations, and
// the sandbox's answers to their samples.
package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/test/systemtest"
)

// Row is an operation with the further content of its page.
type Row struct {
	Op       *ops.Operation
	Function string // of the PowerShell module; empty if there is none
	Call     string // call of the function, as its help shows it
	Answer   []byte // the recorded answer to the sample; nil if there is none
	Status   int    // status of the answer
}

// Page returns the page of a resource. rows are its operations.
func Page(rows []Row) string {
	var b strings.Builder
	resource, _, _ := strings.Cut(rows[0].Op.ID, ".")
	fmt.Fprintf(&b, "# Operations: %s\n\n<!-- generated from the operations: do not edit -->\n\n", resource)
	fmt.Fprintf(&b, "%s. Answers are recorded in the [sandbox](../sandbox.md); `...` stands for omissions.\n",
		ops.Resources[resource])
	for _, row := range rows {
		row.write(&b)
	}
	return b.String()
}

func (r *Row) write(b *strings.Builder) {
	op := r.Op
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| | |\n|---|---|\n", op.ID, op.Summary)
	fmt.Fprintf(b, "| Request | `%s %s` |\n", op.Method, op.Path)
	fmt.Fprintf(b, "| Scope | %s |\n", scopes(op))
	if r.Function != "" {
		fmt.Fprintf(b, "| PowerShell | `%s` |\n", r.Function)
	}
	if op.Effect.Writes() && op.Protocol == nil {
		fmt.Fprintf(b, "| Safety | %s |\n", safety(op))
	}
	if len(op.Fails) > 0 {
		fmt.Fprintf(b, "| Errors of its own | %s |\n", codes(op.Fails))
	}
	if len(op.Params) > 0 {
		b.WriteString("\n| Parameter | Takes | |\n|---|---|---|\n")
		for i := range op.Params {
			parameter(b, &op.Params[i])
		}
	}
	if r.Answer != nil {
		r.example(b)
	}
}

// scopes returns the scopes and further rights that a caller needs.
func scopes(op *ops.Operation) string {
	text := "`" + string(op.Scope) + "`"
	if op.Scope == "" {
		text = "any"
	}
	for _, other := range op.Or {
		text += " or `" + string(other) + "`"
	}
	for _, p := range op.Params {
		if p.Scope != "" {
			text += fmt.Sprintf("; with `%s` also `%s`", p.Name, p.Scope)
		}
	}
	return text
}

// safety lists the operation's means for safe changes.
func safety(op *ops.Operation) string {
	var all []string
	if op.Param("DryRun") != nil {
		all = append(all, "[dry run and plan](../safe-changes.md)")
	}
	if op.Script != "" {
		all = append(all, "`Idempotency-Key`")
	}
	if op.Guard.Matches() && op.Script != "" {
		all = append(all, "`If-Match`")
	}
	if op.Guard.New {
		all = append(all, "`If-None-Match: *`")
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func codes(all []schema.Code) string {
	texts := make([]string, len(all))
	for i, code := range all {
		texts[i] = fmt.Sprintf("[`%s`](%s)", code, explained(code))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// explained returns a link to the example of an error or, if there is none, to the explanation of the error.
func explained(code schema.Code) string {
	if Provoked(code) {
		return "error-examples.md#" + string(code)
	}
	return "errors.md"
}

var cell = strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace

func parameter(b *strings.Builder, p *ops.Param) {
	name := "`" + p.Name + "`"
	if p.Path != "" {
		name += " (path)"
	}
	if p.Required {
		name += ", required"
	}
	doc := p.Kind.Doc()
	takes := []string{cell(strings.TrimSuffix(cmp.Or(doc.Text, doc.Type), "."))}
	if len(doc.Enum) > 0 {
		takes = []string{"one of `" + strings.Join(doc.Enum, "`, `") + "`"}
	}
	if doc.MaxLength > 0 {
		takes = append(takes, fmt.Sprintf("at most %d characters", doc.MaxLength))
	}
	if p.Default != "" {
		takes = append(takes, "default `"+p.Default+"`")
	}
	fmt.Fprintf(b, "| %s | %s | %s |\n", name, strings.Join(takes, "; "), cell(p.Doc))
}

// example writes the sample as a call with curl and with the PowerShell module, and the answer.
func (r *Row) example(b *strings.Builder) {
	b.WriteString("\n<!-- not run: recorded when this page is generated -->\n")
	b.WriteString("```sh\n" + command(r.Op) + "\n```\n\n")
	if r.Call != "" {
		b.WriteString("<!-- not run: the help of the module has it -->\n```powershell\n" + r.Call + "\n```\n\n")
	}
	fmt.Fprintf(b, "%d:\n\n```json\n%s\n```\n", r.Status, shortened(r.Answer))
}

// command returns the sample as a curl command.
func command(op *ops.Operation) string {
	call := systemtest.Sample(op)
	return curl(op.Method, strings.Replace(call.Path, "/api", "$api", 1), call.Params, true)
}

// Limits for the shown part of an answer.
const (
	mostFields = 12
	longest    = 100 // characters of a value
)

// member is a field of a record, in the order of the answer.
type member struct {
	name  string
	value json.RawMessage
}

// shortened returns the part of an answer that the pages show, which is the first record with its first
// fields.
func shortened(answer []byte) string {
	var envelope struct {
		Output string            `json:"output"`
		Result []json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(answer, &envelope); err != nil || len(envelope.Result) == 0 {
		return string(bytes.TrimSpace(answer))
	}
	output, _ := json.Marshal(envelope.Output)
	more := ""
	if len(envelope.Result) > 1 {
		more = ", ..."
	}
	return fmt.Sprintf("{\"output\": %s,\n \"result\": [%s%s]}", output, record(envelope.Result[0]), more)
}

// record returns the first fields of a record, one per line.
func record(raw json.RawMessage) string {
	var lines []string
	members := membersOf(raw)
	for _, m := range members[:min(len(members), mostFields)] {
		var compact bytes.Buffer
		if err := json.Compact(&compact, m.value); err != nil {
			panic(err) // the answer was decoded before
		}
		value := steady(compact.String())
		if len(value) > longest {
			value = "..."
		}
		lines = append(lines, fmt.Sprintf("%q: %s", m.name, value))
	}
	if len(members) > mostFields {
		lines = append(lines, "...")
	}
	if members == nil {
		return steady(string(raw))
	}
	return "{" + strings.Join(lines, ",\n  ") + "}"
}

// membersOf returns the members of a JSON object in order, or nil if the value is not an object.
func membersOf(raw json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	members := []member{}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return members
		}
		members = append(members, member{fmt.Sprint(name), value})
	}
	return members
}

var (
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	guids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// steady replaces the parts of a value that differ in every run.
func steady(value string) string {
	value = moments.ReplaceAllStringFunc(value, func(moment string) string {
		if at, err := time.Parse(time.RFC3339, moment); err != nil || time.Since(at).Abs() > 400*24*time.Hour {
			return moment
		}
		return "2026-11-27T09:30:00Z"
	})
	return guids.ReplaceAllString(value, "8a0f1f52-6d0c-4b1e-9a55-0f6f1d6b7c21")
}
