// Package backup copies all files of a gateway into one folder or zip file ([Write]), also while the
// gateway runs, and puts them back ([Restore]). A manifest in the backup contains the digest of each file.
package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/audit"
	"adgateway/gateway/config"
)

// Manifest describes the content of a backup.
type Manifest struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"` // of the program that made the backup
	Made      time.Time `json:"made"`
	Files     []File    `json:"files"`
	NotCopied []Left    `json:"notCopied"`
}

// File is a file of a backup. Only the settings in the backup decide where files are restored.
type File struct {
	Setting string `json:"setting"`
	Number  int    `json:"number"` // index among the files that the setting names
	Base    string `json:"base"`   // original name
	Name    string `json:"name"`   // name in the backup
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
}

// Left is a file that the settings name but the backup does not contain.
type Left struct {
	Setting string `json:"setting"`
	What    string `json:"what"`
	Reason  string `json:"reason"`
}

const (
	format       = 1
	manifestName = "manifest.json"

	settingsKey = "settings" // for the settings file itself
	credentials = "auth.store"
	auditFile   = "audit.file"
	anchorFile  = "audit.anchorFile"
	storeFile   = "store.file"
	storeKey    = "store.file (its key)"
	clusterKey  = "cluster" // the Setting of the files that make a gateway a member of a cluster
)

// ErrDamaged means that a backup is incomplete or altered.
var ErrDamaged = errors.New("this is not a complete backup")

// named is a file that a setting names.
type named struct {
	setting string
	number  int
	path    string
}

func (n named) id() string { return fmt.Sprintf("%s %d", n.setting, n.number) }

// inventory returns the files that make up a gateway, each once. The store is first and the
// audit log last, so that the audit log contains all changes that the store contains.
func inventory(s *config.Settings, file string) []named {
	all := []named{{storeFile, 0, s.Store.File}, {settingsKey, 0, file},
		{credentials, 0, program.CredentialFile(s.Auth, file).Path}}
	numbers := map[string]int{}
	for _, f := range s.Files() {
		if slices.Contains([]string{storeFile, credentials, auditFile, anchorFile, "log.file"}, f.Setting) ||
			strings.HasPrefix(f.Setting, "sandbox.") {
			continue
		}
		all = append(all, named{f.Setting, numbers[f.Setting], f.Path})
		numbers[f.Setting]++
	}
	all = append(all, named{anchorFile, 0, s.Audit.Anchor()}, named{auditFile, 0, s.Audit.File})
	seen := map[string]bool{"": true, config.AuditOff: true}
	return slices.DeleteFunc(all, func(n named) bool {
		known := seen[n.path]
		seen[n.path] = true
		return known
	})
}

// left returns the files that a backup never contains.
func left(s *config.Settings) (all []Left) {
	for key, name := range map[string]string{"tls.storeThumbprint": s.TLS.StoreThumbprint,
		"tls.storeSubject": s.TLS.StoreSubject} {
		if name != "" {
			all = append(all, Left{key, name, "the certificate and its key are in the certificate store of Windows"})
		}
	}
	return all
}

// ofAudit reports whether name is the name of one of an audit log's files.
func ofAudit(log, name string) bool {
	ext := filepath.Ext(log)
	return name == log || name == log+".head" || strings.HasPrefix(name, strings.TrimSuffix(log, ext)+"-") &&
		filepath.Ext(name) == ext
}

// content is one file of a backup.
type content struct {
	base  string
	write func(io.Writer) error
	close func() error
}

// auditTries is the number of attempts to open the audit log's files, because a rotation may change the list
// of files meanwhile.
const auditTries = 10

// openAudit opens the files of an audit log, which may be in use, in a consistent state: the head is read
// first, so it never refers to a line after the last one in the copy.
func openAudit(path string) ([]content, error) {
	for range auditTries {
		before, err := audit.Files(path)
		if err != nil {
			return nil, err
		}
		opened, err := openAll(path, before)
		if err == nil {
			var after []string
			if after, err = audit.Files(path); err == nil && slices.Equal(before, after) {
				return opened, nil
			}
		}
		closeAll(opened)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("audit.file: %s is rotated too often to be copied", path)
}

func openAll(path string, names []string) (opened []content, err error) {
	for _, name := range slices.Backward(names) { // the head is the last one
		c := content{base: filepath.Base(name)}
		switch name {
		case path:
			err = c.ofLines(name)
		case path + ".head":
			err = c.ofText(name)
		default:
			err = c.ofFile(name)
		}
		if err != nil {
			return opened, err
		}
		opened = append(opened, c)
	}
	return opened, nil
}

func closeAll(all []content) {
	for _, c := range all {
		if c.close != nil {
			_ = c.close() // it was only read
		}
	}
}

// ofText reads a small file at once.
func (c *content) ofText(name string) error {
	text, err := os.ReadFile(name)
	c.write = func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(text))
		return err
	}
	return err
}
