package output

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"adgateway/gateway/auditmirror"
	"adgateway/gateway/cluster/standing"
)

// Cluster writes the state of the cluster as reported by a gateway.
func Cluster(w io.Writer, s standing.State) error {
	role, leader := "unknown", "none"
	if s.Role != nil {
		role = string(*s.Role)
	}
	if s.Leader != nil {
		leader = *s.Leader
	}
	fmt.Fprintf(w, "Cluster %s, as %s knows it (%s)\nLeader: %s, term %d", s.Name, s.Gateway, role, leader,
		s.Term)
	if s.Leaderless > 0 {
		fmt.Fprintf(w, ", nothing heard of a leader for %d s", s.Leaderless)
	}
	fmt.Fprintf(w, "\nKey: version %d; values are written in format %d\n", s.KeyVersion, s.Format)
	for _, line := range []struct{ name, text string }{
		{"Needs attention", textOf(s.Reason)}, {"The log cannot be used", textOf(s.Fault)},
		{"Not on the list, and heard", strings.Join(s.Strangers, ", ")},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "%s: %s\n", line.name, line.text)
		}
	}
	fmt.Fprintln(w)
	t := newTable(w)
	t.row("GATEWAY", "STATE", "ROLE", "POSITION", "CLOCK AHEAD", "FORMAT", "KEY", "LANES")
	for _, g := range s.Gateways {
		role, position := "", ""
		if g.Role != nil {
			role = string(*g.Role)
		}
		if g.Position != nil {
			position = strconv.FormatUint(g.Position.Sequence, 10)
		}
		t.row(g.Name, g.State, cmp.Or(role, "-"), cmp.Or(position, "-"), fmt.Sprintf("%.3f s", g.ClockAhead),
			g.Format, g.KeyVersion, cmp.Or(strings.Join(g.Lanes, ", "), "-"))
	}
	return t.Flush()
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// ClusterVerification writes the result of comparing the audit logs of a cluster.
func ClusterVerification(w io.Writer, r *auditmirror.Result) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "FAULT %s %s", f.Gateway, f.Fault)
		if f.Witness != "" {
			fmt.Fprintf(w, "; witness: %s", f.Witness)
		}
		fmt.Fprintln(w)
	}
	for _, g := range r.Gateways {
		for _, note := range g.Notes {
			fmt.Fprintln(w, "note", g.Gateway, note)
		}
		by := "nobody"
		if len(g.By) > 0 {
			by = strings.Join(g.By, ", ")
		}
		fmt.Fprintf(w, "%s: %s, end %d:%s, %s compared with copies, %s witnessed by %s\n", g.Gateway,
			count(g.Lines, "line"), g.Head.Seq, g.Head.Hash,
			count(g.Copied, "line"), count(g.Witnessed, "end"), by)
	}
	if len(r.Findings) == 0 {
		fmt.Fprintln(w, "OK: the logs agree with each other, as far as that was checked")
	} else {
		fmt.Fprintf(w, "NOT OK: %s\n", count(len(r.Findings), "fault"))
	}
}

// ClusterVerified is the JSON form of that result.
type ClusterVerified struct {
	OK       bool             `json:"ok"`
	Faults   []ClusterFault   `json:"faults"`
	Gateways []ClusterGateway `json:"gateways"`
}

// ClusterFault is a contradiction between audit logs.
type ClusterFault struct {
	Gateway string `json:"gateway"`
	AuditFault
	Witness string `json:"witness,omitempty"`
}

// ClusterGateway describes which lines of a gateway were verified.
type ClusterGateway struct {
	Gateway   string       `json:"gateway"`
	Files     []string     `json:"files"`
	Lines     uint64       `json:"lines"`
	Last      uint64       `json:"last"`
	Hash      string       `json:"hash"`
	Copied    uint64       `json:"copied"`
	Witnessed int          `json:"witnessed"`
	By        []string     `json:"by"`
	Notes     []AuditFault `json:"notes"`
}

// NewClusterVerification returns the JSON form of a result.
func NewClusterVerification(r *auditmirror.Result) ClusterVerified {
	v := ClusterVerified{OK: len(r.Findings) == 0, Faults: []ClusterFault{}, Gateways: []ClusterGateway{}}
	for _, f := range r.Findings {
		v.Faults = append(v.Faults, ClusterFault{f.Gateway, AuditFault{f.File, f.Line, f.Text}, f.Witness})
	}
	for _, g := range r.Gateways {
		shown := ClusterGateway{Gateway: g.Gateway, Files: g.Files, Lines: g.Lines, Last: g.Head.Seq,
			Hash: g.Head.Hash, Copied: g.Copied, Witnessed: g.Witnessed, By: g.By, Notes: []AuditFault{}}
		for _, note := range g.Notes {
			shown.Notes = append(shown.Notes, AuditFault{note.File, note.Line, note.Text})
		}
		v.Gateways = append(v.Gateways, shown)
	}
	return v
}
