package auditmirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/audit"
	"adgateway/gateway/store"
)

// Chain is the audit log of a gateway, in files.
type Chain struct {
	Gateway string // empty to use the name in the log
	audit.Check
}

// Finding is a contradiction within a gateway's chain, or between the chain and its copy or an end that other
// gateways recorded.
type Finding struct {
	Gateway string
	audit.Fault
	// position of the contradicting record, such as "gw2 (gw2.jsonl:17)"; empty for the file itself
	Witness string
}

// Verified is the result of the verification of a gateway's audit.
type Verified struct {
	Gateway   string
	Files     []string // empty if only its copy was verified
	Lines     uint64
	Head      audit.Head
	Copied    uint64 // number of lines compared with copies
	Witnessed int    // number of ends compared with the records of other gateways
	By        []string
	Notes     []audit.Fault
}

// Result is the result of [Verify].
type Result struct {
	Gateways []Verified
	Findings []Finding
}

// claim is the end of a chain as recorded by another gateway.
type claim struct {
	audit.Head
	by   string // name of that gateway
	at   string // position of the record
	time string
}

func (c claim) witness() string { return c.by + " (" + c.at + ")" }

// inStore is the position of a claim from the store.
const inStore = "the store of the cluster"

// Verify verifies the audit logs of gateways: it verifies each chain by itself, and compares it with its copy
// in the store and with the ends that other chains have recorded for it. For gateways without files it
// verifies the copy in the store instead. Copies of a keyed chain need its key. The logs may be in use. If db
// is nil, only the files are compared. It returns an error only if files or copies cannot be read.
func Verify(ctx context.Context, db *store.Sealed, chains []Chain, key []byte) (*Result, error) {
	v := &verifying{store: db, key: key, result: &Result{}, claims: map[string][]claim{},
		copied: map[string]position{}}
	chains = slices.Clone(chains)
	for i := range chains {
		if err := v.chain(&chains[i]); err != nil {
			return nil, err
		}
	}
	var others []string
	if db != nil {
		names, err := Gateways(ctx, db)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if err := v.readPosition(ctx, name); err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(chains, func(c Chain) bool { return c.Gateway == name }) {
				others = append(others, name)
			}
		}
		told, err := Heads(ctx, db)
		if err != nil {
			return nil, err
		}
		for name, head := range told {
			v.claims[name] = append(v.claims[name], claim{head.Head, name, inStore, head.Time})
		}
	}
	for _, name := range others {
		if err := v.copyAlone(ctx, name); err != nil {
			return nil, err
		}
	}
	for _, c := range chains {
		if err := v.against(ctx, c); err != nil {
			return nil, err
		}
	}
	return v.result, nil
}

type verifying struct {
	store  *store.Sealed
	key    []byte
	result *Result
	claims map[string][]claim // keyed by the gateway that they are about
	copied map[string]position
}

func (v *verifying) find(gateway, file string, line int, witness, format string, args ...any) {
	v.result.Findings = append(v.result.Findings,
		Finding{gateway, audit.Fault{File: file, Line: line, Text: fmt.Sprintf(format, args...)}, witness})
}

// each is like [audit.Each], but treats missing files as empty, because [audit.Verify] reports
// them.
func each(c Chain, do func(audit.Placed) error) error {
	err := audit.Each(c.File, c.Files, do)
	if errors.Is(err, fs.ErrNotExist) && len(c.Files) == 0 {
		return nil
	}
	return err
}

// chain verifies a gateway's files by themselves, and collects their claims about other gateways.
func (v *verifying) chain(c *Chain) error {
	report, err := audit.Verify(c.Check)
	if err != nil {
		return err
	}
	claims := map[string][]claim{}
	err = each(*c, func(p audit.Placed) error {
		if p.Event == audit.EventOpen && p.Gateway != "" && c.Gateway == "" {
			c.Gateway = p.Gateway
		}
		if w := p.Witness; w != nil {
			claims[w.Gateway] = append(claims[w.Gateway],
				claim{Head: w.Head, at: fmt.Sprintf("%s:%d", p.File, p.Number), time: w.Time})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.Gateway == "" {
		return fmt.Errorf("%s does not say which gateway's log it is: write NAME=%s", c.File, c.File)
	}
	for about, all := range claims {
		for _, said := range all {
			said.by = c.Gateway
			v.claims[about] = append(v.claims[about], said)
		}
	}
	for _, f := range report.Faults {
		v.result.Findings = append(v.result.Findings, Finding{Gateway: c.Gateway, Fault: f})
	}
	v.result.Gateways = append(v.result.Gateways,
		Verified{Gateway: c.Gateway, Files: report.Files, Lines: report.Lines, Head: report.Head,
			Notes: report.Notes})
	return nil
}

// copyAlone verifies the copy of a gateway without files, and collects its claims about other
// gateways.
func (v *verifying) copyAlone(ctx context.Context, name string) error {
	found := Verified{Gateway: name}
	where := "copy of " + name
	era, last := -1, audit.Head{}
	err := Read(ctx, v.store, name, func(c Copy) error {
		line, head, intact := audit.ParseText(c.Raw, v.key)
		switch {
		case line == nil:
			v.find(name, where, 0, inStore, "an entry after line %d is no line of a log", last.Seq)
			return nil
		case head.Seq <= last.Seq && c.Era == era:
			return nil // the line was copied twice
		case !intact && len(v.key) > 0:
			v.find(name, where, 0, inStore,
				"line %d was altered before it was copied: its hash does not match its content", head.Seq)
		case c.Era != era && era >= 0:
			v.find(name, where, 0, inStore, "after line %d the gateway went on with other files, from line %d",
				last.Seq, head.Seq)
		case era >= 0 && head.Seq == last.Seq+1 && line.Previous != last.Hash:
			v.find(name, where, 0, inStore,
				"line %d does not follow line %d: one of them was replaced before it was copied", head.Seq, last.Seq)
		}
		if w := line.Witness; w != nil {
			v.claims[w.Gateway] = append(v.claims[w.Gateway],
				claim{w.Head, name, fmt.Sprintf("line %d of its copy in the store of the cluster", head.Seq), w.Time})
		}
		era, last = c.Era, head
		found.Lines++
		return nil
	})
	found.Head = last
	found.Notes = append(found.Notes,
		audit.Fault{File: where, Text: "its files were not given: its copy in the store of the cluster was " +
			"verified instead"})
	v.result.Gateways = append(v.result.Gateways, found)
	return err
}

// against compares the files of a gateway with the claims of the other gateways about it.
func (v *verifying) against(ctx context.Context, c Chain) error {
	at := slices.IndexFunc(v.result.Gateways, func(g Verified) bool { return g.Gateway == c.Gateway })
	w := &witnessed{claims: map[uint64][]claim{}}
	for _, said := range v.claims[c.Gateway] {
		w.claims[said.Seq] = append(w.claims[said.Seq], said)
	}
	if err := each(c, func(p audit.Placed) error { w.line(p); return nil }); err != nil {
		return err
	}
	v.result.Gateways[at].Witnessed, v.result.Gateways[at].By = w.compared, slices.Sorted(maps.Keys(w.by))
	v.result.Findings = append(v.result.Findings, w.findings(c)...)
	if v.store == nil {
		return nil
	}
	copied, err := v.copies(ctx, c)
	v.result.Gateways[at].Copied = copied
	return err
}

// witnessed compares lines with claims about them.
type witnessed struct {
	claims      map[uint64][]claim
	first, last audit.Placed
	compared    int
	by          map[string]bool
	wrong       []claim // claims about the first line that differs
	differs     audit.Placed
	more        int // number of further claims that differ
}

func (w *witnessed) line(p audit.Placed) {
	if w.first.Line == nil {
		w.first = p
	}
	if w.last.Line == nil || p.Head.Seq > w.last.Head.Seq {
		w.last = p
	}
	for _, said := range w.claims[p.Head.Seq] {
		w.compared++
		if w.by == nil {
			w.by = map[string]bool{}
		}
		w.by[said.by] = true
		switch {
		case said.Hash == p.Hash:
		case w.differs.Line == nil || w.differs.Head.Seq == p.Head.Seq:
			w.differs = p
			w.wrong = append(w.wrong, said)
		default:
			w.more++
		}
	}
}

// findings returns findings for the claims that contradict the files of a chain.
func (w *witnessed) findings(c Chain) (all []Finding) {
	if w.differs.Line != nil {
		text := fmt.Sprintf("line %d is not the one that was recorded as the end at %s: it or one before it was "+
			"changed, and the chain was forged from there on", w.differs.Head.Seq, w.wrong[0].time)
		if w.more > 0 {
			text += fmt.Sprintf("; %d later records differ as well", w.more)
		}
		all = append(all, Finding{c.Gateway, audit.Fault{File: w.differs.File, Line: w.differs.Number, Text: text},
			names(w.wrong)})
	}
	last := uint64(0)
	file, line := c.File, 0
	if w.last.Line != nil {
		last, file, line = w.last.Head.Seq, w.last.File, w.last.Number
	}
	var beyond claim
	furthest := map[string]claim{} // latest claim of each witness
	for seq, claims := range w.claims {
		for _, said := range claims {
			if seq > last && seq > furthest[said.by].Seq {
				furthest[said.by] = said
			}
			if seq > last && seq > beyond.Seq {
				beyond = said
			}
		}
	}
	if beyond.Seq > 0 {
		all = append(all, Finding{c.Gateway, audit.Fault{File: file, Line: line,
			Text: fmt.Sprintf("%s missing at the end: line %d was recorded as the end at %s", span(last+1, beyond.Seq),
				beyond.Seq, beyond.time)}, names(slices.Collect(maps.Values(furthest)))})
	}
	return all
}

func names(claims []claim) string {
	all := make([]string, len(claims))
	for i, c := range claims {
		all[i] = c.witness()
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// copies compares the files of a gateway with its copy.
func (v *verifying) copies(ctx context.Context, c Chain) (compared uint64, err error) {
	limit := v.copied[c.Gateway]
	next, stop := v.lines(c)
	defer func() { stop() }()
	local, more := next()
	first := uint64(1)
	if more {
		first = local.Head.Seq
	}
	last, era := local, 0
	differs := 0
	var missing audit.Head
	err = Read(ctx, v.store, c.Gateway, func(copied Copy) error {
		line, head, _ := audit.ParseText(copied.Raw, nil)
		if line == nil || copied.Era > limit.Era || copied.Era == limit.Era && head.Seq > limit.Seq {
			return nil
		}
		if copied.Era != era {
			v.find(c.Gateway, c.File, 0, inStore,
				"the files were replaced: after its copies up to line %d the gateway went on from line %d", missing.Seq,
				head.Seq)
			era = copied.Era
			stop()
			next, stop = v.lines(c)
			local, more = next()
		}
		for more && local.Head.Seq < head.Seq {
			last = local
			local, more = next()
		}
		switch {
		case head.Seq < first:
		case !more:
			missing = head
		case local.Head.Seq > head.Seq: // [audit.Verify] has already reported it
		case !bytes.Equal(local.Raw(), copied.Raw):
			if differs++; differs == 1 {
				v.find(c.Gateway, local.File, local.Number, inStore,
					"line %d differs from its copy: it was changed after it was copied", head.Seq)
			}
		default:
			compared++
		}
		return nil
	})
	if missing.Seq > last.Head.Seq {
		v.find(c.Gateway, fileOf(last, c), last.Number, inStore, "%s missing at the end: the copy goes further",
			span(last.Head.Seq+1, missing.Seq))
	}
	return compared, err
}

func fileOf(p audit.Placed, c Chain) string {
	if p.Line == nil {
		return c.File
	}
	return p.File
}

// lines returns an iterator over the lines of a chain. The caller must call stop.
func (v *verifying) lines(c Chain) (next func() (audit.Placed, bool), stop func()) {
	return iter.Pull(func(yield func(audit.Placed) bool) {
		// Read errors were reported when the claims were compared.
		_ = each(c, func(p audit.Placed) error {
			if !yield(p) {
				return io.EOF
			}
			return nil
		})
	})
}

// readPosition records how many lines of a gateway are copied. It must be called before the files are read.
func (v *verifying) readPosition(ctx context.Context, gateway string) error {
	at, _, err := readPosition(ctx, v.store, gateway)
	if err == nil {
		v.copied[gateway] = at
	}
	return err
}

func span(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("line %d is", from)
	}
	return fmt.Sprintf("lines %d to %d are", from, to)
}
