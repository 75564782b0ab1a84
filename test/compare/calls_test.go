// Package compare makes the same random calls to a gateway whose scripts it simulates, and writes a
// transcript of the answers, the audit, the history and the jobs. If the transcripts of two versions of the
// gateway are equal, the versions behave alike. Ids and times are replaced, so that the transcript of a
// version never varies. To write a transcript, run
//
//	TRANSCRIPT=new.txt go test -count=1 ./test/compare
//
// here and in a checkout of the other version, and compare the files with diff. A version without package
// harness needs its own newWorld.
package compare

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/ops"
)

// A request is one call. Its ids and tags come from earlier answers.
type request struct {
	method, target string
	body, media    string
	token          int      // index of the caller's token
	headers        []string // "Name: value"
}

// known holds the ids and tags of earlier answers, in their order.
type known struct{ changes, plans, jobs, tags []string }

// rows returns the operations to call. They use the gateway's own protocol, their answers are finite, and no
// argument of their scripts depends on the time of the call.
func rows() []*ops.Operation {
	var all []*ops.Operation
	for _, op := range ops.Table() {
		timely := op.Param("Days") != nil // the script receives the time that many days ago
		if op.Protocol == nil && op.Reply.Mark != ops.Events && !timely {
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b *ops.Operation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// likely returns true with a probability in percent.
func likely(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// one returns one of texts at random, or otherwise if there are no texts.
func one(r *rand.Rand, texts []string, otherwise string) string {
	if len(texts) == 0 {
		return otherwise
	}
	return texts[r.IntN(len(texts))]
}

// newRequest returns the nth request of a seed. Operations that answer from the gateway's
// own data are called more often.
func newRequest(seed, n uint64, table []*ops.Operation, k *known) request {
	r := rand.New(rand.NewPCG(seed, n))
	op := table[r.IntN(len(table))]
	if likely(r, 15) {
		local := slices.DeleteFunc(slices.Clone(table), func(op *ops.Operation) bool { return !op.Local })
		op = local[r.IntN(len(local))]
	}
	c := request{method: op.Method, target: op.Path, token: max(0, r.IntN(24)-18)}
	values := map[string]any{}
	for i := range op.Params {
		p := &op.Params[i]
		if p.Name == "Wait" || p.Name == "NotBefore" || !p.Required && !likely(r, 20) || likely(r, 3) {
			continue
		}
		value := valueOf(r, p, k)
		if value == "" && !p.Required && !likely(r, 5) {
			continue
		}
		if p.Path != "" {
			c.target = strings.Replace(c.target, "{"+p.Path+"}", url.PathEscape(text(value)), 1)
			continue
		}
		values[p.Name] = value
	}
	if op.Effect.Writes() && !op.Local && likely(r, 15) {
		values["DryRun"] = true
	}
	if op.Effect.Writes() && likely(r, 8) {
		values["PlanId"] = one(r, k.plans, "pl_019ab3f0-0000-7000-8000-000000000000")
	}
	c.fill(r, op, values)
	c.head(r, op, k)
	return c
}

// fill puts values into the query or into the body.
func (c *request) fill(r *rand.Rand, op *ops.Operation, values map[string]any) {
	form := url.Values{}
	for name, value := range values {
		form.Set(name, text(value))
	}
	switch {
	case op.Takes != nil:
		c.target += "?" + form.Encode()
		c.media, c.body = "application/json", items(r)
	case op.Method == http.MethodGet || op.Method == http.MethodDelete || likely(r, 20):
		if len(form) > 0 {
			c.target += "?" + form.Encode()
		}
	case likely(r, 30):
		c.media, c.body = "application/x-www-form-urlencoded", form.Encode()
	default:
		body, _ := json.Marshal(values) // texts, numbers and booleans can be encoded
		c.media, c.body = "application/json", string(body)
	}
}

// head adds headers: tags, and idempotency keys, some of which repeat.
func (c *request) head(r *rand.Rand, op *ops.Operation, k *known) {
	if c.media != "" {
		c.headers = append(c.headers, "Content-Type: "+c.media)
	}
	if op.Effect.Writes() && likely(r, 40) {
		c.headers = append(c.headers, "Idempotency-Key: key-number-"+strconv.Itoa(r.IntN(150)))
	}
	if op.Effect.Writes() && likely(r, 10) {
		c.headers = append(c.headers, "If-Match: "+one(r, k.tags, "*"))
	}
	if !op.Effect.Writes() && likely(r, 4) {
		c.headers = append(c.headers, "If-None-Match: "+one(r, k.tags, "*"))
	}
}

// items returns a list for a job.
func items(r *rand.Rand) string {
	var all []any
	for i := range 1 + r.IntN(4) {
		operation := one(r, []string{"user.update", "user.create", "user.update", "group.delete"}, "")
		all = append(all, map[string]any{
			"id": "item-" + strconv.Itoa(i), "operation": operation,
			"parameters": map[string]any{"UserName": "user" + strconv.Itoa(r.IntN(5)), "City": "Rome"},
		})
	}
	list, _ := json.Marshal(map[string]any{"items": all}) // texts and numbers
	return string(list)
}

// valueOf returns a random value of a parameter, which is usually valid.
func valueOf(r *rand.Rand, p *ops.Param, k *known) any {
	switch p.Name {
	case "ChangeId":
		return one(r, k.changes, p.Sample())
	case "JobId":
		return one(r, k.jobs, p.Sample())
	}
	sample := p.Sample()
	switch likelihood := r.IntN(100); {
	case likelihood < 3:
		return ""
	case likelihood < 6:
		return "a\u0007\"<\u00e9>" + sample
	case likelihood < 20 && p.Kind.Doc().Type == "string" && p.Kind.Doc().Format == "":
		return sample + strconv.Itoa(r.IntN(3))
	}
	switch p.Kind.Doc().Type {
	case "boolean":
		return likely(r, 50)
	case "integer":
		if n, err := strconv.Atoi(sample); err == nil {
			return n
		}
	}
	if words := p.Kind.Doc().Enum; sample == "" && len(words) > 0 {
		return one(r, words, "")
	}
	return sample
}

// text returns a value in the form of a query.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	}
	return ""
}
