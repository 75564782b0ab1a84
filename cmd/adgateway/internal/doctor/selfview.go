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

// SelfView is a running gateway's view of its own sessions: their account, modules, servers and folders. Only
// the gateway itself can provide it, because the doctor runs at a console, under the account of the person
// who starts it.
//
// The gateway writes the view to a file in its state folder after its start and on request
// ([SelfFiles.Serve]). A request is a second file in that folder ([SelfFiles.Ask]). Only accounts that may
// write to that folder can request or read a view. A third file is locked as long as the gateway runs.
type SelfView struct {
	Taken     time.Time     `json:"taken"`
	Version   string        `json:"version"`
	PID       int           `json:"pid"`
	Account   string        `json:"account"` // of the gateway's process
	AccountID string        `json:"accountId"`
	Console   bool          `json:"console"`  // whether the process has a console
	Sessions  []SelfSession `json:"sessions"` // one for each lane, started for this view
	Folders   []SelfFolder  `json:"folders"`
	Servers   []SelfServer  `json:"servers"`
	// Self is the account as PowerShell reports it.
	Self             string `json:"self"`
	ReadMilliseconds int64  `json:"readMilliseconds"` // duration of a read from the domain
	SkewMilliseconds int64  `json:"skewMilliseconds"` // this computer's clock minus the domain controller's
}

// SelfSession is a session that was started, or the error of its start.
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

// SelfFolder is a folder that sessions need, and the error if it cannot be written.
type SelfFolder struct {
	Use   string `json:"use"`
	Path  string `json:"path"`
	Error string `json:"error,omitempty"`
}

// SelfServer is a server that was found for a lane and read from, or the error.
type SelfServer struct {
	Lane  ps.Lane `json:"lane"`
	Name  string  `json:"name"`
	Error string  `json:"error,omitempty"`
}

// SelfFiles are the files with which a gateway publishes its view.
type SelfFiles struct {
	Folder string
	Name   string // name of the view's file without its extension
	// Restrict restricts a file to the gateway's account and the administrators. If it is nil, files are not
	// restricted.
	Restrict func(path string) error
}

func (f SelfFiles) view() string { return filepath.Join(f.Folder, f.Name+".json") }

// Request returns the path of the file whose existence requests a view.
func (f SelfFiles) Request() string { return filepath.Join(f.Folder, f.Name+".request") }

// presence returns the lock that a gateway holds while it serves requests for views.
func (f SelfFiles) presence(flags int) *flock.Flock {
	return flock.New(filepath.Join(f.Folder, f.Name+".lock"), flock.SetPermissions(0o600), flock.SetFlag(flags))
}

// running reports whether a gateway holds the lock, and whether that is known.
func (f SelfFiles) running() (running, known bool) {
	presence := f.presence(os.O_RDONLY)
	defer presence.Close()
	free, err := presence.TryRLock()
	return err == nil && !free, err == nil || errors.Is(err, fs.ErrNotExist)
}

// watchEvery is the interval at which a gateway looks for a request.
const watchEvery = 200 * time.Millisecond

// Serve takes and writes a view when ready is closed, and then for each request until ctx
// ends. failed receives the error if a view cannot be written.
func (f SelfFiles) Serve(
	ctx context.Context, ready <-chan struct{}, take func(context.Context) SelfView, failed func(error),
) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	presence := f.presence(os.O_CREATE | os.O_RDWR)
	defer presence.Close()
	_, _ = presence.TryLock() // if this fails, a doctor only waits longer after the gateway has stopped
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
			if !presence.Locked() { // a doctor probed the lock at that moment
				_, _ = presence.TryLock()
			}
			// The request is removed immediately, to show its sender that a gateway is running.
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

// Read returns the last view. The error is [fs.ErrNotExist] if there is none.
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

// Errors of [SelfFiles.Ask]. With these errors, it also returns the last view if there is one.
var (
	ErrNotRunning = errors.New("no gateway with these settings is running")
	ErrNoAnswer   = errors.New("the gateway did not answer in time")
)

// Time limits of [SelfFiles.Ask].
const (
	heardWait = 3 * time.Second // for a gateway to notice a request
	askEvery  = 50 * time.Millisecond
)

// Ask requests a view from the running gateway and waits for it until ctx ends.
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
	if !until(ctx, heardWait, func() bool {
		_,
			err := os.Stat(f.Request())
		return errors.Is(err, fs.ErrNotExist)
	}) {
		err := os.Remove(f.Request())
		if err == nil && running {
			return last, ErrNoAnswer
		}
		if err == nil {
			return last, ErrNotRunning
		}
		if !errors.Is(err, fs.ErrNotExist) { // otherwise it has just been noticed
			return last, err
		}
	}
	answered := until(ctx, 0, func() bool {
		view, err := f.Read()
		if err != nil || view.Taken.Equal(last.Taken) {
			return false // the file may be in the process of being replaced
		}
		last = view
		return true
	})
	if !answered {
		return last, ErrNoAnswer
	}
	return last, nil
}

// until calls done repeatedly until it returns true, ctx ends, or limit has passed. If limit
// is 0, only ctx limits it. It returns the last result of done.
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
