package write

import (
	"encoding/json"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/ps"
)

// A script that has begun to write goes on when the term of its gateway ends. Its gateway
// closes the change at the new leader, if that has not judged it yet, and tells the leader
// in any case how the run has ended.

// ending is a gateway's report of the end of a run.
type ending struct {
	Process journal.Process `json:"process"`           // that has run it
	Verdict *Verdict        `json:"verdict,omitempty"` // nil: the outcome of the change is not known
	Result  *ps.Result      `json:"result,omitempty"`  // of the script; nil: it had none, or it is too long
	Record  *changes.Record `json:"record,omitempty"`  // of the change; nil: it is too long
}

// mostTold is how many bytes a report may have. More is left out.
const mostTold = 128 << 10

// tell tells the leader how the run of a change has ended.
func (o *Options) tell(id string, e ending) {
	e.Process = o.process()
	for _, shorten := range []func(){
		func() {},
		func() {
			if e.Record != nil {
				short := *e.Record
				short.Intent, short.Rebuilt = change.WithoutImages(short.Intent), true
				e.Record = &short
			}
		},
		func() { e.Record = nil },
		func() { e.Result = nil },
	} {
		shorten()
		if told, err := json.Marshal(e); err == nil && len(told) <= mostTold {
			o.Member.Report(cluster.Report{Attempt: id, Result: told})
			return
		}
	}
}

// told returns what a report tells. What cannot be read tells nothing but that the run has ended.
func told(report *cluster.Report) (e ending) {
	if report != nil && json.Unmarshal(report.Result, &e) != nil {
		return ending{}
	}
	return e
}
