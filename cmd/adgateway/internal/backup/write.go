package backup

import (
	"archive/zip"
	"bytes"
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
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/store"
)

// Options describe the gateway to back up.
type Options struct {
	Settings *config.Settings
	File     string        // path of the settings file
	Version  string        // of this program
	Wait     time.Duration // time limit for the copy of a store that a gateway has open
}

// zipped is the extension of a backup in one file.
const zipped = ".zip"

// Write makes a backup: a zip file if the name ends in .zip, otherwise a folder. Nothing may
// exist at the destination, and nothing exists there after an error.
func Write(ctx context.Context, o Options, to string) (m *Manifest, err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("--to: %s already exists: name a new one", to), err)
	}
	partial := to + ".partial"
	out, err := create(partial, strings.EqualFold(filepath.Ext(to), zipped))
	if err != nil {
		return nil, filefault.Explain("--to", err)
	}
	m = &Manifest{Format: format, Version: o.Version, Made: time.Now().UTC(), NotCopied: left(o.Settings)}
	w := &writer{ctx: ctx, options: o, out: out, manifest: m}
	all, err := ofCluster(o.Settings)
	for _, n := range append(all, inventory(o.Settings, o.File)...) {
		if err != nil {
			break
		}
		err = w.add(n)
	}
	if err == nil {
		err = w.finish()
	}
	if err = errors.Join(err, out.close()); err == nil {
		err = os.Rename(partial, to)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(partial))
	}
	return m, nil
}

// output is the folder or the zip file of a backup.
type output interface {
	create(name string) (io.Writer, error) // completes the previous file
	close() error
}

func create(path string, zipFile bool) (output, error) {
	if !zipFile {
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
		return &folder{path: path}, program.Files.RestrictFolder(path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &archive{file, zip.NewWriter(file)}, program.Files.Restrict(path)
}

type folder struct {
	path string
	open *os.File
}

func (f *folder) create(name string) (io.Writer, error) {
	if err := f.close(); err != nil {
		return nil, err
	}
	path := filepath.Join(f.path, name)
	var err error
	if f.open, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	return f.open, program.Files.Restrict(path)
}

func (f *folder) close() error {
	if f.open == nil {
		return nil
	}
	err := errors.Join(f.open.Sync(), f.open.Close())
	f.open = nil
	return err
}

type archive struct {
	file *os.File
	zip  *zip.Writer
}

func (a *archive) create(name string) (io.Writer, error) {
	return a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now().UTC()})
}

func (a *archive) close() error { return errors.Join(a.zip.Close(), a.file.Sync(), a.file.Close()) }

// writer writes the files of a backup.
type writer struct {
	ctx      context.Context
	options  Options
	out      output
	manifest *Manifest
}

// add writes the file that a setting names. It fails if the file is missing and a gateway does not work
// without it.
func (w *writer) add(n named) error {
	var parts []content
	var err error
	switch n.setting {
	case storeFile:
		parts, err = w.openStore(n.path)
	case auditFile:
		parts, err = openAudit(n.path)
	case storeKey:
		parts, err = openKey(n.path)
	default:
		c := content{base: filepath.Base(n.path)}
		err = c.ofFile(n.path)
		parts = []content{c}
	}
	if err != nil {
		required := n.setting == settingsKey || n.setting == storeFile || n.setting == auditFile
		missing, reason := errors.Is(err, fs.ErrNotExist), err.Error()
		if missing {
			reason = "it does not exist"
		}
		if !required || missing && n.setting == storeFile {
			w.manifest.NotCopied = append(w.manifest.NotCopied, Left{n.setting, n.path, reason})
			return nil
		}
		return filefault.Explain(n.setting, err)
	}
	defer closeAll(parts)
	for _, c := range parts {
		if err := w.write(n, c); err != nil {
			return err
		}
	}
	return nil
}

// openKey opens the key of the store without this computer's protection, because the backup
// may be restored on another computer. A key that cannot be read is copied as it is.
func openKey(path string) ([]content, error) {
	c := content{base: filepath.Base(path)}
	secret, err := store.ReadSecret(path)
	if err != nil {
		err = c.ofFile(path)
		return []content{c}, err
	}
	c.write = func(w io.Writer) error {
		_, err := w.Write(secret)
		return err
	}
	return []content{c}, nil
}

// openStore opens a copy of the store. If a gateway has the store open, that gateway makes the copy.
func (w *writer) openStore(path string) ([]content, error) {
	c := content{base: filepath.Base(path),
		write: func(to io.Writer) error { return store.CopyFile(w.ctx, path, to) }}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if err := store.Unused(path); err == nil {
		return []content{c}, nil
	} else if !errors.Is(err, store.ErrInUse) {
		return nil, err
	}
	copied, err := store.AskForCopy(w.ctx, path, w.options.Wait)
	if err != nil {
		return nil, err
	}
	if err := c.ofFile(copied); err != nil {
		return nil, errors.Join(err, os.Remove(copied))
	}
	closeFile := c.close
	c.close = func() error { return errors.Join(closeFile(), os.Remove(copied)) }
	return []content{c}, nil
}

func (w *writer) write(n named, c content) error {
	name := fmt.Sprintf("%02d-%s", len(w.manifest.Files), c.base)
	to, err := w.out.create(name)
	if err != nil {
		return filefault.Explain("--to", err)
	}
	sum, size := sha256.New(), counter(0)
	if err := c.write(io.MultiWriter(to, sum, &size)); err != nil {
		return fmt.Errorf("%s: %w", n.setting, err)
	}
	w.manifest.Files = append(w.manifest.Files,
		File{Setting: n.setting, Number: n.number, Base: c.base, Name: name, Size: int64(size),
			SHA256: hex.EncodeToString(sum.Sum(nil))})
	return w.ctx.Err()
}

// finish writes the manifest, without which the backup is invalid.
func (w *writer) finish() error {
	to, err := w.out.create(manifestName)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(w.manifest)
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// ofFile opens a file to which nothing is being written.
func (c *content) ofFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	c.close = file.Close
	c.write = func(w io.Writer) error {
		_, err := io.Copy(w, file)
		return err
	}
	return nil
}

// ofLines opens a file to which lines are being written, and limits it to the complete lines so far.
func (c *content) ofLines(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	c.close = file.Close
	end, err := endOfLines(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	c.write = func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(file, 0, end))
		return err
	}
	return nil
}

// endOfLines returns the offset after the last complete line of a file.
func endOfLines(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	block := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		from := max(end-int64(len(block)), 0)
		part := block[:end-from]
		if _, err := file.ReadAt(part, from); err != nil {
			return 0, err
		}
		if at := bytes.LastIndexByte(part, '\n'); at >= 0 {
			return from + int64(at) + 1, nil
		}
		end = from
	}
	return 0, nil
}
