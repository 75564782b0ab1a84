package backup

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/atomicfile"
	"adgateway/gateway/audit"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/store"
)

// Restored is the result of a restore.
type Restored struct {
	Manifest *Manifest
	Settings string   // path of the settings file
	Cluster  string   // cluster of the backed-up gateway; empty if it was in none
	Replaced []string // folders with the previous files
}

// Restore replaces the files of a gateway with those in a backup. file is the destination of the settings
// file, which names the destinations of all other files. The gateway must not be running. After an error, all
// files are as before.
func Restore(ctx context.Context, from, file string) (*Restored, error) {
	backup, done, err := open(from)
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := check(ctx, backup)
	if err != nil {
		return nil, fmt.Errorf("--from: %s: %w", from, err)
	}
	r := &restoring{backup: backup, manifest: m, file: file,
		mark: "replaced-" + time.Now().UTC().Format("20060102T150405Z")}
	err = r.run(ctx)
	if err != nil {
		err = errors.Join(err, r.undo())
	}
	if err = errors.Join(err, r.release()); err != nil {
		return nil, err
	}
	return &Restored{Manifest: m, Settings: file, Cluster: r.cluster, Replaced: r.folders}, nil
}

// open opens the files of a backup.
func open(from string) (files fs.FS, done func(), err error) {
	if info, err := os.Stat(from); err != nil {
		return nil, nil, filefault.Explain("--from", err)
	} else if info.IsDir() {
		return os.DirFS(from), func() {}, nil
	}
	archive, err := zip.OpenReader(from)
	if err != nil {
		return nil, nil, fmt.Errorf("--from: %s: %w: %w", from, ErrDamaged, err)
	}
	return archive, func() { _ = archive.Close() }, nil
}

// check returns the manifest of a backup after verifying that all files exist and are unchanged.
func check(ctx context.Context, backup fs.FS) (*Manifest, error) {
	text, err := fs.ReadFile(backup, manifestName)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("it has format %d, and this version reads format %d: use the version %s", m.Format,
			format, m.Version)
	}
	for _, f := range m.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := f.check(backup); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return m, nil
}

func (f File) check(backup fs.FS) error {
	if f.Base != filepath.Base(f.Base) || strings.ContainsAny(f.Base, `/\`) {
		return fmt.Errorf("%q is not the name of a file", f.Base)
	}
	in, err := backup.Open(f.Name)
	if err != nil {
		return err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if size != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%s has changed since the backup was made", f.Name)
	}
	return nil
}

// restoring is a restore in progress.
type restoring struct {
	backup   fs.FS
	manifest *Manifest
	file     string // destination of the settings
	mark     string // suffix of the folders for replaced files
	cluster  string // cluster of the backed-up gateway; empty if it was in none
	folders  []string
	held     []func() error // release the locks that keep a gateway from starting
	back     []func() error // undo the completed steps; the last step is undone first
	staged   [][2]string    // pairs of a staged file or folder and its destination
}

func (r *restoring) run(ctx context.Context) error {
	if err := program.CreateFolder(filepath.Dir(r.file)); err != nil {
		return filefault.Explain("--config", err)
	}
	s, err := r.settings()
	if err != nil {
		return err
	}
	if err := r.hold(s); err != nil {
		return err
	}
	places := map[string]string{}
	for _, n := range inventory(s, r.file) {
		places[n.id()] = n.path
	}
	var store *File
	var cluster []File
	for _, f := range r.manifest.Files {
		place, ok := places[named{setting: f.Setting, number: f.Number}.id()]
		if f.Setting == auditFile && ok {
			ok = ofAudit(filepath.Base(place), f.Base)
			place = filepath.Join(filepath.Dir(place), f.Base)
		}
		switch {
		case f.Setting == clusterKey:
			cluster = append(cluster, f)
		case !ok:
			return fmt.Errorf("%w: its settings do not say where %s (%s) belongs", ErrDamaged, f.Name, f.Setting)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case f.Setting == storeFile:
			store = &f
		// the existing anchor is evidence of changes that the backup lacks
		case f.Setting == anchorFile && exists(place):
		default:
			if err := r.stage(f, place); err != nil {
				return filefault.Explain(f.Setting, err)
			}
		}
	}
	if err := r.stageCluster(ctx, cluster, s); err != nil {
		return err
	}
	if err := r.restoreStore(store, s.Store); err != nil {
		return err
	}
	return r.replace(s)
}

// settings returns the settings of the backup, loaded for a gateway at the destination.
func (r *restoring) settings() (*config.Settings, error) {
	for _, f := range r.manifest.Files {
		if f.Setting != settingsKey {
			continue
		}
		beside, err := r.beside(f, r.file)
		if err != nil {
			return nil, filefault.Explain("--config", err)
		}
		defer os.Remove(beside)
		flags := program.Flags{File: beside, Beside: true}
		live, err := flags.Load()
		if err != nil {
			return nil, fmt.Errorf("the settings of the backup cannot be used here: %w", err)
		}
		return live.Now(), alone(live.Now())
	}
	return nil, fmt.Errorf("%w: it has no settings", ErrDamaged)
}

// hold keeps gateways with the settings of the backup, or with the current settings, from starting. It fails
// if such a gateway is running.
func (r *restoring) hold(s *config.Settings) error {
	all := []*config.Settings{s}
	if _, err := os.Stat(r.file); err == nil {
		flags := program.Flags{File: r.file, Beside: true}
		if live, err := flags.Load(); err == nil { // a gateway cannot run with settings that do not load
			all = append(all, live.Now())
		}
	}
	seen := map[string]bool{"": true, config.AuditOff: true}
	for _, s := range all {
		if !seen[s.Store.File] {
			seen[s.Store.File] = true
			if err := store.Unused(s.Store.File); err != nil {
				return fmt.Errorf("%w: stop it first", err)
			}
		}
		if !seen[s.Audit.File] {
			seen[s.Audit.File] = true
			if err := os.MkdirAll(filepath.Dir(s.Audit.File), 0o700); err != nil {
				return filefault.Explain(auditFile, err)
			}
			release, err := audit.Hold(s.Audit.File)
			if err != nil {
				return fmt.Errorf("%w: stop it first", err)
			}
			r.held = append(r.held, release)
		}
	}
	return nil
}

func (r *restoring) release() (err error) {
	for _, release := range r.held {
		err = errors.Join(err, release())
	}
	return err
}

// beside writes a file of the backup to a temporary file next to its destination, and returns its path.
func (r *restoring) beside(f File, place string) (name string, err error) {
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return "", err
	}
	out, err := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+".restore-*")
	if err != nil {
		return "", err
	}
	if err = program.Files.Restrict(out.Name()); err == nil {
		err = r.copyTo(out, f)
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), nil
}

func (r *restoring) copyTo(out io.Writer, f File) error {
	in, err := r.backup.Open(f.Name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close())
}

func (r *restoring) stage(f File, place string) error {
	name, err := r.beside(f, place)
	if err != nil {
		return err
	}
	r.staged = append(r.staged, [2]string{name, place})
	r.back = append(r.back, func() error { return absent(os.Remove(name)) })
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// absent returns nil if err means that a file does not exist, and err otherwise.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// restoreStore lets package store check the copy of the store, and stages it.
func (r *restoring) restoreStore(f *File, c config.Store) error {
	if c.File == "" || c.File == config.AuditOff {
		return nil
	}
	head, err := os.ReadFile(store.HeadOf(c.File))
	if absent(err) != nil {
		return err
	}
	if err := r.moveAway(c.File); err != nil {
		return err
	}
	if f == nil {
		return nil // the backup contains no store
	}
	if err := os.MkdirAll(filepath.Dir(c.File), 0o700); err != nil {
		return filefault.Explain(storeFile, err)
	}
	in, err := r.backup.Open(f.Name)
	if err != nil {
		return err
	}
	r.back = append(r.back, func() error {
		if head == nil {
			return absent(os.Remove(store.HeadOf(c.File)))
		}
		return atomicfile.Write(store.HeadOf(c.File), head, nil)
	}, func() error { return absent(os.Remove(c.File)) })
	if err := errors.Join(store.Restore(c.File, in), in.Close()); err != nil {
		return filefault.Explain(storeFile, err)
	}
	return errors.Join(program.Files.Restrict(c.File), program.Files.Restrict(store.HeadOf(c.File)))
}

// replace moves the current files away, including the whole audit log, and renames the staged files to their
// destinations.
func (r *restoring) replace(s *config.Settings) error {
	if s.Audit.File != config.AuditOff {
		old, err := audit.Files(s.Audit.File)
		if err != nil {
			return filefault.Explain(auditFile, err)
		}
		for _, path := range old {
			if err := r.moveAway(path); err != nil {
				return err
			}
		}
	}
	for _, f := range r.staged {
		if err := r.moveAway(f[1]); err != nil {
			return err
		}
		if err := atomicfile.Replace(f[0], f[1]); err != nil {
			return err
		}
		r.back = append(r.back, func() error { return os.RemoveAll(f[1]) })
	}
	return nil
}

// moveAway moves a file or folder, if it exists, to the folder for replaced files next to it.
func (r *restoring) moveAway(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	folder := filepath.Join(filepath.Dir(path), r.mark)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := program.Files.RestrictFolder(folder); err != nil {
			return err
		}
		r.folders = append(r.folders, folder)
		r.back = append(r.back, func() error { return os.Remove(folder) })
	}
	to := filepath.Join(folder, filepath.Base(path))
	if err := os.Rename(path, to); err != nil {
		return err
	}
	r.back = append(r.back, func() error { return os.Rename(to, path) })
	return nil
}

// undo reverts all completed steps.
func (r *restoring) undo() (err error) {
	for i := len(r.back) - 1; i >= 0; i-- {
		err = errors.Join(err, r.back[i]())
	}
	r.folders = nil
	return err
}
