package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// scripts simulates the scripts. The result of a script depends on its arguments and on the request
// that runs it. The items of jobs and the scripts that settle changes have no request of their own.
type scripts struct {
	rows   []*ops.Operation
	record func(*schema.Shape) string // returns a record of a shape
}

// present matches times in filters that depend on the time of the call.
var present = regexp.MustCompile(`\d{14,}`)

// server is the domain controller that all scripts use.
const server = "dc1.corp.example"

func (s *scripts) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	hash := fnv.New64a()
	args, err := json.Marshal(req.Args)
	if err != nil {
		return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
	}
	fmt.Fprintf(hash, "%s %s", req.Script, present.ReplaceAll(args, nil))
	seed := hash.Sum64()
	call := uint64(0)
	if strings.HasPrefix(req.ID, requestID) {
		if call, err = strconv.ParseUint(req.ID[len(requestID):], 10, 64); err != nil {
			return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
		}
	}
	r := rand.New(rand.NewPCG(seed, call))
	records := "[]"
	if reply := s.reply(req); reply.Shape != nil {
		record := s.record(reply.Shape)
		records = "[" + record + "]"
		if reply.Mark == ops.List && likely(r, 50) {
			records = "[" + record + "," + record + "]"
		}
	}
	switch {
	case req.Settles:
		return settled(args, req)
	case likely(r, 8):
		most := len(refusals)
		if call == 0 {
			most = lasting // a job would repeat an item with another error after a while
		}
		return nil, refusals[r.IntN(most)](r)
	case !req.Write:
		return &ps.Result{Effect: ps.EffectNone, Server: server}, req.Records(json.RawMessage(records))
	}
	return change(r, int(call%1e8), req, records)
}

// reply returns the declared reply of the operation for which a script runs. The script's constant arguments
// identify the operation.
func (s *scripts) reply(req ps.Request) (reply ops.Reply) {
	most := -1
	for _, op := range s.rows {
		if op.Script != req.Script || len(op.Fixed) <= most {
			continue
		}
		fits := true
		for name, value := range op.Fixed {
			want, _ := json.Marshal(value) // arguments can be encoded
			got, _ := json.Marshal(req.Args[name])
			fits = fits && string(want) == string(got)
		}
		if fits {
			reply, most = op.Reply, len(op.Fixed)
		}
	}
	return reply
}

// refusals contains errors of scripts, followed by errors of sessions. The number of errors at the beginning
// that are not retried is lasting.
const lasting = 6

var refusals = []func(r *rand.Rand) *ps.Error{
	func(*rand.Rand) *ps.Error {
		return &ps.Error{
			Kind: ps.KindScript, Gateway: "not_found", Arg: "Identity", Message: "is not there", Server: server,
		}
	},
	func(*rand.Rand) *ps.Error {
		return &ps.Error{
			Kind: ps.KindScript, Gateway: "conflict", Message: "exists", Details: []string{"CN=x"},
			Outcome: ps.OutcomeNone,
		}
	},
	func(*rand.Rand) *ps.Error {
		return &ps.Error{
			Kind: ps.KindScript, Step: "find", Category: "ObjectNotFound", Server: server,
			Type: "Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException", Message: "nothing",
		}
	},
	func(r *rand.Rand) *ps.Error {
		codes := []string{"5", "1326", "8305", "8525", "1355", "8206", "2224", "1722"}
		code := codes[r.IntN(len(codes))]
		return &ps.Error{Kind: ps.KindScript, Code: code, Step: "change", Message: "no", Server: server}
	},
	func(r *rand.Rand) *ps.Error {
		natives := []string{"WIN32 9711", "WIN32 9601", "WIN32 9701", "WIN32 5"}
		return &ps.Error{Kind: ps.KindScript, Native: natives[r.IntN(len(natives))], Step: "change", Message: "no"}
	},
	func(*rand.Rand) *ps.Error { return &ps.Error{Kind: ps.KindScript, Outside: true, Gateway: "not_found"} },
	func(*rand.Rand) *ps.Error { return &ps.Error{Kind: ps.KindOverloaded} },
	func(*rand.Rand) *ps.Error { return &ps.Error{Kind: ps.KindUnavailable, Cause: ps.ErrStarting} },
	func(*rand.Rand) *ps.Error { return &ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeNone} },
	func(*rand.Rand) *ps.Error { return &ps.Error{Kind: ps.KindInternal} },
}

// object returns a directory object by its number.
func object(n int) ps.Intended {
	return ps.Intended{
		GUID: fmt.Sprintf("9f3c1a52-6f0e-4d0a-8a37-2b1c%08d", n),
		DN:   fmt.Sprintf("CN=object%d,OU=Sales,DC=corp,DC=example", n),
	}
}

// objects is the number of objects that calls change repeatedly. A call that is cut off changes a separate
// object, because no other call may change an object with an unsettled change.
const objects = 20

// change announces a change and then makes it or is cut off.
func change(r *rand.Rand, call int, req ps.Request, records string) (*ps.Result, error) {
	if likely(r, 6) { // the object already has the requested state, so nothing is announced
		return &ps.Result{Effect: ps.EffectNone, Server: server}, req.Records(json.RawMessage(records))
	}
	intent := ps.Intent{Effect: ps.EffectChanged, Server: server, Counts: map[string]int{"records": 2}}
	intent.Effect = []ps.Effect{ps.EffectChanged, ps.EffectCreated, ps.EffectRemoved}[r.IntN(3)]
	unchanged, dies := likely(r, 8), likely(r, 4) && call > 0
	count := 1 + r.IntN(2)
	if strings.Contains(req.Script, "Membership") {
		count = 2 // the group and the member
	}
	for i := range count {
		number := r.IntN(objects)
		if dies {
			number = objects + 2*call + i
		}
		o := object(number)
		c := ps.IntendedChange{Name: "l", Before: "Oslo", After: "Rome"}
		switch {
		case unchanged:
			c.After = c.Before
		case intent.Effect == ps.EffectCreated:
			o.GUID, o.Name, o.Parent = "", fmt.Sprintf("new%d", number), "OU=Sales,DC=corp,DC=example"
			o.Account = o.Name
			c = ps.IntendedChange{Name: "exists", Before: "False", After: "True"}
		case intent.Effect == ps.EffectRemoved:
			o.Record = json.RawMessage(strings.Trim(records, "[]"))
			if !json.Valid(o.Record) {
				o.Record = nil
			}
			c = ps.IntendedChange{Name: "exists", Before: "True", After: "False"}
		}
		o.Changes = []ps.IntendedChange{c}
		intent.Objects = append(intent.Objects, o)
	}
	if req.State != nil && likely(r, 90) {
		intent.State = strings.Trim(records, "[]")
	}
	if likely(r, 10) {
		intent.Warnings = []ps.Warning{{Code: "skipped", Target: "x", Message: "was skipped"}}
	}
	if err := req.Announced(intent); err != nil {
		return nil, &ps.Error{
			Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err, Server: server, Intent: &intent,
		}
	}
	if dies {
		return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: server}
	}
	return made(r, req, intent, records)
}

// made returns the result of an announced change.
func made(r *rand.Rand, req ps.Request, intent ps.Intent, records string) (*ps.Result, error) {
	first := intent.Objects[0]
	switch likelihood := r.IntN(100); {
	case likelihood < 7:
		return nil, &ps.Error{
			Kind: ps.KindScript, Code: "5", Step: "second", Message: "denied", Server: server,
			Outcome: ps.OutcomePartial, Intent: &intent,
			Remains: []ps.Object{{GUID: first.GUID, DN: first.DN}},
			Steps:   []ps.Step{{Label: "first", GUID: first.GUID, DN: first.DN}},
		}
	case likelihood < 10:
		return nil, &ps.Error{
			Kind: ps.KindScript, Code: "8305", Outcome: ps.OutcomeNone, Intent: &intent, Server: server,
		}
	case likelihood < 12:
		return nil, &ps.Error{Kind: ps.KindInternal, Outcome: ps.OutcomeDone, Intent: &intent, Server: server}
	}
	result := &ps.Result{Effect: intent.Effect, Server: server, Counts: intent.Counts, Warnings: intent.Warnings}
	if !intent.Changes() {
		result.Effect = ps.EffectNone
	}
	for i, o := range intent.Objects {
		change := ps.Change{GUID: o.GUID, DN: o.DN}
		if o.GUID == "" {
			change.GUID = fmt.Sprintf("7e3c1a52-6f0e-4d0a-8a37-2b1c%08d", i)
		}
		if intent.Effect != ps.EffectRemoved {
			change.After = map[string]json.RawMessage{"city": json.RawMessage(`"Rome"`)}
		}
		if intent.Effect != ps.EffectCreated {
			change.Before = map[string]json.RawMessage{"city": json.RawMessage(`"Oslo"`)}
		}
		result.Changes = append(result.Changes, change)
	}
	if len(intent.Objects) > 1 && likely(r, 10) {
		last := result.Changes[len(result.Changes)-1]
		result.Changes = result.Changes[:len(result.Changes)-1]
		denied := ps.Error{Kind: ps.KindScript, Code: "5", Message: "denied"}
		result.Failures = []ps.Failure{{GUID: last.GUID, DN: last.DN, Error: denied}}
	}
	return result, req.Records(json.RawMessage(records))
}

var guids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// settled returns the result of a script that reads the state after a change: the new state,
// the state before, another state, or nothing.
func settled(args []byte, req ps.Request) (*ps.Result, error) {
	states := []string{
		`"exists":"True","l":"Rome"`, `"exists":"True","l":"Oslo"`, `"exists":"False"`, `"exists":"True","l":"Bonn"`,
	}
	var seen []string
	for _, guid := range guids.FindAllString(string(args), -1) {
		const one = `{"guid":%q,"dn":"CN=seen,DC=corp,DC=example","age":1,"state":{%s},"record":null}`
		seen = append(seen, fmt.Sprintf(one, guid, states[crc32.ChecksumIEEE([]byte(guid))%uint32(len(states))]))
	}
	batch := json.RawMessage("[" + strings.Join(seen, ",") + "]")
	return &ps.Result{Effect: ps.EffectNone, Server: server}, req.Records(batch)
}
