package write

import (
	"encoding/json"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/ps"
)

// A script that has begun to write continues when the term of its gateway ends. The gateway closes the change
// at the new leader, unless the leader has already judged it. In any case it reports the end of the run to
// the leader.

// ending is a gateway's report of the end of a run.
type ending struct {
	Process journal.Process `json:"process"`           // process that has run the script
	Verdict *Verdict        `json:"verdict,omitempty"` // nil if the outcome of the change is unknown
	Result  *ps.Result      `json:"result,omitempty"`  // of the script; nil if none or too long
	Record  *changes.Record `json:"record,omitempty"`  // of the change; nil if it is too long
}

// mostTold limits the size of a report in bytes. Longer parts are left out.
const mostTold = 128 << 10

// tell reports the end of a change's run to the leader.
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

// told decodes a report. A report that cannot be decoded only means that the run has ended.
func told(report *cluster.Report) (e ending) {
	if report != nil && json.Unmarshal(report.Result, &e) != nil {
		return ending{}
	}
	return e
}
