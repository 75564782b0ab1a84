package replicas

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

const (
	changes  store.Kind = "change"
	open     store.Kind = "open" // the open changes
	closings store.Log  = "closings"

	scriptLimit = 6 * time.Second
)

// record is the stored record of a change. The change's ID consists of its object and a number.
type record struct {
	Process journal.Process
	Outcome string // empty if the change is open
	By      string // the gateway that closed the change
	Raced   string // outcome that its gateway reported too late
}

// The outcomes of a change.
const (
	written = "written"
	none    = "none"
)

// locks are the objects that changes currently hold.
type locks struct {
	mu      sync.Mutex
	running map[string]bool   // changes of this process
	held    map[string]string // the changes, by object
}

func objectOf(id string) string { object, _, _ := strings.Cut(id, "."); return object }

// reset replaces the set of locked objects. It locks the objects of the changes that run in this process and
// of the open changes.
func (l *locks) reset(open []cluster.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		l.running = map[string]bool{}
	}
	l.held = map[string]string{}
	for id := range l.running {
		l.held[objectOf(id)] = id
	}
	for _, a := range open {
		l.held[objectOf(a.ID)] = a.ID
	}
}

func (l *locks) take(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[objectOf(id)] != "" {
		return false
	}
	l.held[objectOf(id)], l.running[id] = id, true
	return true
}

// leave removes a change from the running changes. If the change is closed, its object becomes free again.
func (l *locks) leave(id string, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, id)
	if closed && l.held[objectOf(id)] == id {
		delete(l.held, objectOf(id))
	}
}

// count returns the number of changes that run in this process.
func (l *locks) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running)
}

// change makes a change of an object, only once for each ID.
func (g *gateway) change(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), callMost)
	defer cancel()
	id := r.PathValue("object") + "." + r.PathValue("id")
	run, err := g.replica.Member().Begin(scriptLimit)
	if err != nil {
		w.WriteHeader(notBegun)
		return
	}
	if !g.locks.take(id) {
		run.End()
		w.WriteHeader(busy)
		return
	}
	db := g.store()
	switch known, err := g.record(ctx, id); {
	case err == nil && known.Outcome != "":
		run.End()
		g.locks.leave(id, true)
		if _, leads := g.replica.Member().Leads(); !leads {
			w.WriteHeader(notBegun)
			return
		}
		_, _ = w.Write([]byte(known.Outcome))
		return
	case !errors.Is(err, store.ErrAbsent): // the change is open
		run.End()
		g.locks.leave(id, false)
		w.WriteHeader(busy)
		return
	}
	err = run.Store(func() error {
		_, err := db.Apply(ctx, set(changes, id, 0, record{Process: g.o.Self}), set(open, id, 0, record{}))
		return err
	})
	if errors.Is(err, store.ErrNotSent) || errors.Is(err, store.ErrConflict) {
		run.End()
		g.locks.leave(id, true)
		w.WriteHeader(notBegun)
		return
	}
	outcome := none
	if err == nil && run.Go() == nil {
		outcome = g.script(id, r.FormValue("before"), r.FormValue("while"))
	}
	if err == nil {
		err = g.close(ctx, id, outcome, "its gateway")
	}
	run.End()
	g.locks.leave(id, err == nil)
	if err != nil {
		result, _ := json.Marshal(outcome)
		g.replica.Member().Report(cluster.Report{Attempt: id, Result: result})
		http.Error(w, err.Error(), inDoubt)
		return
	}
	_, _ = w.Write([]byte(outcome))
}

func set(kind store.Kind, key string, expect store.Revision, value any) store.Change {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the value is a record
	}
	return store.Change{Kind: kind, Key: key, Expect: expect, Value: text}
}

func (g *gateway) record(ctx context.Context, id string) (one record, err error) {
	found, err := g.store().Get(ctx, changes, id)
	if err != nil {
		return one, err
	}
	return one, json.Unmarshal(found.Value, &one)
}

var errClosed = errors.New("the change is closed")

// close closes an open change.
func (g *gateway) close(ctx context.Context, id, outcome, by string) error {
	db := g.store()
	found, err := db.Get(ctx, changes, id)
	if err != nil {
		return err
	}
	var one record
	if err = json.Unmarshal(found.Value, &one); err != nil {
		return err
	}
	isOpen, err := db.Get(ctx, open, id)
	if errors.Is(err, store.ErrAbsent) || one.Outcome != "" {
		return errClosed
	}
	if err != nil {
		return err
	}
	one.Outcome, one.By = outcome, by
	_, err = db.Apply(ctx, set(changes, id, found.Revision, one),
		store.Change{Kind: open, Key: id, Expect: isOpen.Revision}, store.Change{Log: closings, Value: []byte(id)})
	return err
}

// line is a line in the file that all scripts write to.
type line struct {
	ID    string
	Start string // start name of the process
	At    time.Time
	Ends  bool // the script has written everything
}

// script makes the writes of a change. Like the script of a gateway, it ends at its time limit. The pauses
// before and during the writes are random unless the client specifies them. Some pauses are so long that
// another gateway takes over.
func (g *gateway) script(id, sayBefore, sayWhile string) (outcome string) {
	began, before, while := time.Now(), 40*time.Millisecond, 120*time.Millisecond
	switch rand.IntN(6) {
	case 0:
		before = scriptLimit - time.Second
	case 1:
		while = scriptLimit - time.Second
	}
	time.Sleep(said(sayBefore, before))
	if time.Since(began) > scriptLimit {
		return none
	}
	g.write(line{ID: id, Start: g.o.Self.Start})
	time.Sleep(said(sayWhile, while))
	g.write(line{ID: id, Start: g.o.Self.Start, Ends: true})
	return written
}

// said returns the duration in text, or a random duration up to most if text is empty.
func said(text string, most time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return rand.N(most)
}

func (g *gateway) write(one line) {
	one.At = time.Now().Round(0)
	text, err := json.Marshal(one)
	if err != nil {
		log.Fatalln(err)
	}
	file, err := os.OpenFile(g.o.Writes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(text, '\n'))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		log.Fatalln("a script cannot write", err)
	}
}

// readWrites returns the lines that the scripts of all gateways have written.
func readWrites(path string) (all []line, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var one line
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// attempts are the changes of a gateway.
type attempts struct{ g *gateway }

func (a attempts) Open(ctx context.Context) (all []cluster.Attempt, err error) {
	var ids []string
	err = a.g.store().Range(ctx, open, "", func(e store.Entry) bool { ids = append(ids, e.Key); return true })
	for _, id := range ids {
		one, err := a.g.record(ctx, id)
		if err != nil {
			return nil, err
		}
		all = append(all, cluster.Attempt{ID: id, Process: one.Process, Limit: scriptLimit})
	}
	return all, err
}

func (a attempts) Lock(open []cluster.Attempt) { a.g.locks.reset(open) }

func (a attempts) Judge(ctx context.Context, one cluster.Attempt, report *cluster.Report) error {
	outcome, by := none, "who looked"
	if report != nil {
		by = "a report"
		if err := json.Unmarshal(report.Result, &outcome); err != nil {
			return err
		}
	} else {
		lines, err := readWrites(a.g.o.Writes)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if l.ID == one.ID {
				outcome = written
			}
		}
	}
	log.Println("judged", one.ID, outcome, by)
	err := a.g.close(ctx, one.ID, outcome, by)
	if err == nil || errors.Is(err, errClosed) {
		a.g.locks.leave(one.ID, true)
		return nil
	}
	return err
}

func (a attempts) Raced(ctx context.Context, report cluster.Report) error {
	db := a.g.store()
	found, err := db.Get(ctx, changes, report.Attempt)
	if errors.Is(err, store.ErrAbsent) {
		return nil
	}
	if err != nil {
		return err
	}
	var one record
	var outcome string
	err = errors.Join(json.Unmarshal(found.Value, &one), json.Unmarshal(report.Result, &outcome))
	if err != nil {
		return err
	}
	if one.Outcome == outcome || one.Raced != "" {
		return nil
	}
	one.Raced = outcome
	_, err = db.Apply(ctx, set(changes, report.Attempt, found.Revision, one))
	return err
}
