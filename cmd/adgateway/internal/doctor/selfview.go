package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"adgateway/gateway/atomicfile"
	"adgateway/ps"
)

// SelfView is how a running gateway sees its own sessions: as which account, with which modules,
// servers and folders. Only the gateway itself can tell, because a doctor runs as the account that
// starts it, and at a console.
//
// The gateway writes it to a file in its folder of state after its start and on request
// ([SelfFiles.Serve]). A request is a second file in that folder ([SelfFiles.Ask]). An account that
// may write in that folder may ask, and no other may read the answer. A third file is locked as
// long as the gateway runs.
type SelfView struct {
	Taken     time.Time     `json:"taken"`
	Version   string        `json:"version"`
	PID       int           `json:"pid"`
	Account   string        `json:"account"` // of the process
	AccountID string        `json:"accountId"`
	Console   bool          `json:"console"`  // whether the process has a console
	Sessions  []SelfSession `json:"sessions"` // one of each lane, started for this view
	Folders   []SelfFolder  `json:"folders"`
	Servers   []SelfServer  `json:"servers"`
	// Self is the account that PowerShell says it runs as.
	Self             string `json:"self"`
	ReadMilliseconds int64  `json:"readMilliseconds"` // of a read of the domain
	SkewMilliseconds int64  `json:"skewMilliseconds"` // this clock minus that of the domain controller
}

// SelfSession is a session that was started, or an error.
type SelfSession struct {
	Lane          ps.Lane `json:"lane"`
	PowerShell    string  `json:"powerShell"`
	Edition       string  `json:"edition"`
	Module        string  `json:"module"`
	ModuleVersion string  `json:"moduleVersion"`
	LanguageMode  string  `json:"languageMode"`
	Milliseconds  int64   `json:"milliseconds"`
	Error         string  `json:"error,omitempty"`
	Blocked       bool    `json:"blocked,omitempty"` // by endpoint protection
}

// SelfFolder is a folder that sessions need, and why it cannot be written.
type SelfFolder struct {
	Use   string `json:"use"`
	Path  string `json:"path"`
	Error string `json:"error,omitempty"`
}

// SelfServer is a server that was found for a lane, and read from, or an error.
type SelfServer struct {
	Lane  ps.Lane `json:"lane"`
	Name  string  `json:"name"`
	Error string  `json:"error,omitempty"`
}

// SelfFiles are the files of a gateway.
type SelfFiles struct {
	Folder string
	Name   string // of the view without its extension
	// Restrict limits a file to the accounts of the gateway. It may be nil.
	Restrict func(path string) error
}

func (f SelfFiles) view() string { return filepath.Join(f.Folder, f.Name+".json") }

// Request is the path of the file with which somebody asks.
func (f SelfFiles) Request() string { return filepath.Join(f.Folder, f.Name+".request") }

// presence is the lock that a gateway has while it serves requests for views.
func (f SelfFiles) presence(flags int) *flock.Flock {
	return flock.New(filepath.Join(f.Folder, f.Name+".lock"), flock.SetPermissions(0o600), flock.SetFlag(flags))
}

// running reports whether a gateway has the lock, and whether that could be found out.
func (f SelfFiles) running() (running, known bool) {
	presence := f.presence(os.O_RDONLY)
	defer presence.Close()
	free, err := presence.TryRLock()
	return err == nil && !free, err == nil || errors.Is(err, fs.ErrNotExist)
}

// watchEvery is how often a gateway looks for a request.
const watchEvery = 200 * time.Millisecond

// Serve takes and writes a view once ready is closed, and then for each request,
// until ctx ends. failed receives why a view could not be written.
func (f SelfFiles) Serve(ctx context.Context, ready <-chan struct{}, take func(context.Context) SelfView, failed func(error)) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	presence := f.presence(os.O_CREATE | os.O_RDWR)
	defer presence.Close()
	_, _ = presence.TryLock() // without it a doctor waits longer for a gateway that does not run
	views := make(chan SelfView, 1)
	wanted, taking := false, false
	for {
		select {
		case <-ctx.Done():
			if taking {
				<-views
			}
			return
		case <-ready:
			ready, wanted = nil, true
		case <-ticker.C:
			if !presence.Locked() { // somebody asked at that moment
				_, _ = presence.TryLock()
			}
			// The request is removed at once: its sender sees that a gateway is there.
			if os.Remove(f.Request()) == nil {
				wanted = true
			}
		case view := <-views:
			taking = false
			if ctx.Err() != nil {
				return
			}
			if err := f.write(view); err != nil {
				failed(err)
			}
		}
		if wanted && !taking {
			wanted, taking = false, true
			go func() { views <- take(ctx) }()
		}
	}
}

// write replaces the view atomically.
func (f SelfFiles) write(view SelfView) error {
	text, err := json.MarshalIndent(view, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(f.view(), append(text, '\n'), f.Restrict)
}

// Read returns the last view; [fs.ErrNotExist] if there is none.
func (f SelfFiles) Read() (SelfView, error) {
	var view SelfView
	text, err := os.ReadFile(f.view())
	if err != nil {
		return view, err
	}
	if err := json.Unmarshal(text, &view); err != nil {
		return SelfView{}, fmt.Errorf("%s: %w", f.view(), err)
	}
	return view, nil
}

// Errors of [SelfFiles.Ask], which then returns the last view, if there is one.
var (
	ErrNotRunning = errors.New("no gateway with these settings is running")
	ErrNoAnswer   = errors.New("the gateway did not answer in time")
)

// Times of [SelfFiles.Ask].
const (
	heardWait = 3 * time.Second // until a gateway has noticed a request
	askEvery  = 50 * time.Millisecond
)

// Ask asks the running gateway for a view, and waits for it until ctx ends.
func (f SelfFiles) Ask(ctx context.Context) (SelfView, error) {
	last, err := f.Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return SelfView{}, err
	}
	if _, err := os.Stat(f.Folder); errors.Is(err, fs.ErrNotExist) {
		return SelfView{}, ErrNotRunning
	}
	running, known := f.running()
	if known && !running {
		return last, ErrNotRunning
	}
	if err := os.WriteFile(f.Request(), nil, 0o600); err != nil {
		return last, err
	}
	if !until(ctx, heardWait, func() bool { _, err := os.Stat(f.Request()); return errors.Is(err, fs.ErrNotExist) }) {
		err := os.Remove(f.Request())
		if err == nil && running {
			return last, ErrNoAnswer
		}
		if err == nil {
			return last, ErrNotRunning
		}
		if !errors.Is(err, fs.ErrNotExist) { // it was noticed in this moment
			return last, err
		}
	}
	answered := until(ctx, 0, func() bool {
		view, err := f.Read()
		if err != nil || view.Taken.Equal(last.Taken) {
			return false // the file may be being replaced
		}
		last = view
		return true
	})
	if !answered {
		return last, ErrNoAnswer
	}
	return last, nil
}

// until calls done until it returns true, ctx ends, or the time has passed; 0 means that only ctx
// limits it.
func until(ctx context.Context, limit time.Duration, done func() bool) bool {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}
