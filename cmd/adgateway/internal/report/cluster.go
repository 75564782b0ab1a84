package report

import (
	"fmt"
	"io"
	"strings"

	"adgateway/gateway/auditmirror"
	"adgateway/gateway/keep/natsstore"
	"adgateway/gateway/nodecheck"
)

// ClusterVerification writes the result of holding the audit logs of a cluster against each
// other.
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
		fmt.Fprintf(w, "%s: %s, end %d:%s, %s compared with copies, %s witnessed by %s\n", g.Gateway, count(g.Lines, "line"), g.Head.Seq, g.Head.Hash,
			count(g.Copied, "line"), count(g.Witnessed, "end"), by)
	}
	if len(r.Findings) == 0 {
		fmt.Fprintln(w, "OK: the logs agree with each other, as far as that was checked")
	} else {
		fmt.Fprintf(w, "NOT OK: %s\n", count(len(r.Findings), "fault"))
	}
}

// NodeComparison writes what the nodes of the engine have of the same.
func NodeComparison(w io.Writer, c natsstore.Comparison) {
	for _, n := range c.Nodes {
		if n.Differs() {
			fmt.Fprintf(w, "FAULT %s: of %s, %d are missing, %d differ from those of the others, %d only it has; the first has the sequence %d\n",
				n.Name, count(c.Messages, "message"), n.Missing, n.Altered, n.Surplus, n.First)
		} else {
			fmt.Fprintf(w, "%s: %s as most have them\n", n.Name, count(c.Messages, "message"))
		}
	}
	if c.Differs() {
		fmt.Fprintf(w, "NOT OK: %s. One node at a time.\n", nodecheck.Remedy)
	} else {
		fmt.Fprintln(w, "OK: all nodes have the same")
	}
}

// ClusterVerified is that result, for programs.
type ClusterVerified struct {
	OK       bool             `json:"ok"`
	Faults   []ClusterFault   `json:"faults"`
	Gateways []ClusterGateway `json:"gateways"`
}

// ClusterFault is a contradiction that was found.
type ClusterFault struct {
	Gateway string `json:"gateway"`
	AuditFault
	Witness string `json:"witness,omitempty"`
}

// ClusterGateway says what was verified of a gateway.
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

// NewClusterVerification returns a result for programs.
func NewClusterVerification(r *auditmirror.Result) ClusterVerified {
	v := ClusterVerified{OK: len(r.Findings) == 0, Faults: []ClusterFault{}, Gateways: []ClusterGateway{}}
	for _, f := range r.Findings {
		v.Faults = append(v.Faults, ClusterFault{f.Gateway, AuditFault{f.File, f.Line, f.Text}, f.Witness})
	}
	for _, g := range r.Gateways {
		shown := ClusterGateway{Gateway: g.Gateway, Files: g.Files, Lines: g.Lines, Last: g.Head.Seq, Hash: g.Head.Hash, Copied: g.Copied, Witnessed: g.Witnessed, By: g.By, Notes: []AuditFault{}}
		for _, note := range g.Notes {
			shown.Notes = append(shown.Notes, AuditFault{note.File, note.Line, note.Text})
		}
		v.Gateways = append(v.Gateways, shown)
	}
	return v
}
