package authn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/filefault"
	"adgateway/gateway/identity"
)

// formatVersion is the version of the file format. Files of a later version are not
// read or changed.
const formatVersion = 1

// Document is the content of the credential file.
type Document struct {
	Version int        `json:"version"`
	Tokens  []*Account `json:"tokens,omitempty"`
	Users   []*Account `json:"users,omitempty"`
}

// Guardian protects files from other accounts on the computer. Its implementation depends on the
// operating system.
type Guardian interface {
	// Restrict restricts access to a file to its owner and the service.
	Restrict(path string) error
	// Exposed returns the accounts that can also read the file, or "". It fails if other accounts can
	// write to the file.
	Exposed(path string) (readers string, err error)
}

// File is the credential file. Several processes may use it at once. Changes are made under a lock
// and replace the file atomically, so reading needs no lock.
type File struct {
	Path     string
	Guardian Guardian // if nil, new files are accessible to their owner only
}

// Place returns the path of the file.
func (f File) Place() string { return f.Path }

// lockWait is how long a change waits for another process's change.
const lockWait = 10 * time.Second

// Read reads the file. The error names every mistake with its line. The warning names other
// accounts that can read the file; it may be "".
func (f File) Read() (document *Document, warning string, err error) {
	if f.Guardian != nil {
		readers, err := f.Guardian.Exposed(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // handled below
		case err != nil:
			return nil, "", f.explain(fmt.Errorf("the credentials in %s are not trusted: %w", f.Path, err))
		case readers != "":
			warning = fmt.Sprintf("%s can be read by %s", f.Path, readers)
		}
	}
	text, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("there are no credentials: %w; 'adgateway token create' creates the file",
			f.explain(err))
	}
	if err != nil {
		return nil, "", fmt.Errorf("the credentials cannot be read: %w", f.explain(err))
	}
	document, err = parseDocument(f.Path, text)
	return document, warning, err
}

// explain adds to an error the setting that names the file, and the file's fault.
func (f File) explain(err error) error { return filefault.Explain("auth.store (--store)", err) }

// Edit passes the content of the file, or an empty document if it does not exist, to change. It
// then checks and saves the result. If change returns an error, Edit returns it unchanged and saves
// nothing.
//
// If the file is a symbolic link, Edit changes the file that the link leads to, under that file's lock.
// Otherwise a revocation by the name of the link would leave the token valid in the file of the gateway.
func (f File) Edit(ctx context.Context, change func(*Document) error) error {
	if info, err := os.Lstat(f.Path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.Path, err = filepath.EvalSymlinks(f.Path); err != nil {
			return f.explain(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return f.explain(err)
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	document := &Document{Version: formatVersion}
	if _, err := os.Lstat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		if document, _, err = f.Read(); err != nil {
			return err
		}
	}
	if err := change(document); err != nil {
		return err
	}
	if err := document.Check(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return f.replace(append(text, '\n'))
}

func (f File) lock(ctx context.Context) (unlock func(), err error) {
	const every = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(f.Path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, every); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("another process has been changing it for %s", lockWait)
		}
		return nil, fmt.Errorf("%s cannot be locked: %w", f.Path, f.explain(err))
	}
	return func() { _ = lock.Close() }, nil
}

// replace replaces the file atomically.
func (f File) replace(text []byte) error {
	var restrict func(string) error
	if f.Guardian != nil {
		restrict = f.Guardian.Restrict
	}
	if err := atomicfile.Write(f.Path, text, restrict); err != nil {
		return fmt.Errorf("%s is unchanged: %w", f.Path, f.explain(err))
	}
	return nil
}

// Check returns all mistakes in the accounts and all conflicts between them, joined.
func (d *Document) Check() error {
	_, faults := d.compile()
	texts := make([]error, len(faults))
	for i, f := range faults {
		texts[i] = f.err
	}
	return errors.Join(texts...)
}

// fault is a mistake in a document.
type fault struct {
	account *Account // nil if it concerns the whole document
	err     error
}

// accounts returns tokens and users in one list.
func (d *Document) accounts() []*Account { return slices.Concat(d.Tokens, d.Users) }

// compile compiles all accounts, and returns all mistakes in them and all conflicts between them.
func (d *Document) compile() ([]*compiled, []fault) {
	var all []*compiled
	var faults []fault
	seen := map[string]bool{}
	for i, a := range d.accounts() {
		kind := identity.KindToken
		if i >= len(d.Tokens) {
			kind = identity.KindUser
		}
		wrong := func(err error) {
			faults = append(faults, fault{a, fmt.Errorf("%s %q: %w", kind, a.Name, err)})
		}
		c, problems := a.compile()
		for _, problem := range problems {
			wrong(problem)
		}
		if (c.Password != "") != (kind == identity.KindUser) && len(problems) == 0 {
			wrong(errors.New("users have a password and tokens have none"))
		}
		var unique []string
		if c.key != "" {
			unique = append(unique, kind+" of this name\x00"+c.key)
		}
		if a.ID != "" {
			unique = append(unique, "account of this id\x00"+a.ID)
		}
		if c.subject != "" {
			unique = append(unique, "account of this certificate\x00"+c.subject+"\x00"+c.issuer)
		}
		for _, secret := range c.secrets {
			unique = append(unique, "account of this token\x00"+string(secret.digest[:]))
		}
		for _, key := range unique {
			if what, _, _ := strings.Cut(key, "\x00"); seen[key] {
				wrong(fmt.Errorf("there is another %s", what))
			}
			seen[key] = true
		}
		all = append(all, c)
	}
	return all, faults
}

// parseDocument parses the text of a file strictly. The error names every mistake
// with its line.
func parseDocument(path string, text []byte) (*Document, error) {
	p := documentParser{path: path, text: text, offsets: map[*Account]int64{}, document: &Document{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	_, faults := p.document.compile()
	for _, f := range faults {
		p.fault(p.line(p.offsets[f.account]), "%v", f.err)
	}
	if len(p.faults) > 0 {
		return nil, errors.Join(p.faults...)
	}
	return p.document, nil
}

type documentParser struct {
	path     string
	text     []byte
	document *Document
	offsets  map[*Account]int64
	faults   []error
}

func (p *documentParser) fault(line int, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("%s:%d: %s", p.path, line, fmt.Sprintf(format, args...)))
}

// line returns the line of an offset. It skips whitespace and commas before a value.
func (p *documentParser) line(offset int64) int {
	at := int(min(max(offset, 0), int64(len(p.text))))
	for at < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[at]) >= 0 {
		at++
	}
	return 1 + bytes.Count(p.text[:at], []byte("\n"))
}

// read parses the text. It returns an error if it cannot continue, and collects all other mistakes.
func (p *documentParser) read() error {
	decoder := json.NewDecoder(bytes.NewReader(p.text))
	broken := func(err error) error {
		offset := decoder.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = syntax.Offset - 1
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err, offset = errors.New("unexpected end of file"), int64(len(p.text))
		}
		return fmt.Errorf("%s:%d: not a credential file: %w", p.path, p.line(offset), err)
	}
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		if err == nil {
			err = errors.New("it does not start with {")
		}
		return broken(err)
	}
	seen := map[string]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return broken(err)
		}
		key, line := name.(string), p.line(decoder.InputOffset()-1) // member names are strings
		if seen[key] {
			p.fault(line, "%q is given twice", key)
		}
		seen[key] = true
		switch key {
		case "version":
			err = decoder.Decode(&p.document.Version)
		case "tokens":
			err = p.accounts(decoder, &p.document.Tokens)
		case "users":
			err = p.accounts(decoder, &p.document.Users)
		default:
			var unknown json.RawMessage
			err = decoder.Decode(&unknown)
			p.fault(line, "unknown member %q", key)
		}
		if err != nil {
			return broken(err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return broken(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return broken(errors.New("unexpected text after the end"))
	}
	if p.document.Version != formatVersion {
		p.fault(1, "the version is %d; this program reads version %d", p.document.Version, formatVersion)
	}
	return nil
}

// accounts parses a list of accounts, each of them strictly.
func (p *documentParser) accounts(decoder *json.Decoder, into *[]*Account) error {
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		if err == nil {
			err = errors.New("a list is expected")
		}
		return err
	}
	for decoder.More() {
		offset := decoder.InputOffset()
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return err
		}
		account := &Account{}
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(account); err != nil {
			at, text := offset, strings.TrimPrefix(err.Error(), "json: ")
			var wrong *json.UnmarshalTypeError
			var time *time.ParseError
			switch {
			case errors.As(err, &time):
				text = time.Value + " is not a time such as 2026-01-31T12:00:00Z"
			case errors.As(err, &wrong):
				member := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
				at, text = at+wrong.Offset, fmt.Sprintf("%q must not be a JSON %s", member, wrong.Value)
			}
			p.fault(p.line(at), "%s", text)
			continue
		}
		p.offsets[account] = offset
		*into = append(*into, account)
	}
	_, err := decoder.Token()
	return err
}
