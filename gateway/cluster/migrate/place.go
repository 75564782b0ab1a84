package migrate

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/store"
)

// beside is the suffix of files that are being created.
const beside = ".migrating"

// asideMark is the suffix of a store that previously had the name of the new one.
const asideMark = ".before-cluster"

// places are the files that a migration reads and creates.
type places struct{ Options }

func (p *places) newStore() string { return p.Store + beside }

func (p *places) newFolder() trust.Folder {
	return trust.Folder{Path: p.Folder.Path + beside, Restrict: p.Folder.Restrict}
}

// done reports whether an earlier call has completed the migration. It returns an error if a migration is
// impossible.
func (p *places) done() (bool, error) {
	id, err := p.Folder.Identity()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, p.free()
	case err != nil:
		return false, err
	}
	ours, err := store.Holds(p.Store, takenKind, takenKey)
	switch {
	case errors.Is(err, store.ErrInUse):
		return false, fmt.Errorf("%w: this gateway is of the cluster %s already, and needs no migration",
			err, id.Cluster)
	case err != nil:
		return false, err
	case ours && id.Cluster == p.Cluster && id.Gateway == p.Gateway:
		return true, nil
	}
	return false, fmt.Errorf("%s has the files of gateway %s of the cluster %s, which this migration has "+
		"not made: start that gateway, or move the folder away if it is not needed",
		p.Folder.Path, id.Gateway, id.Cluster)
}

// free returns an error if a file name is already in use.
func (p *places) free() error {
	if err := store.Unused(p.Store); err != nil {
		return fmt.Errorf("%w: stop the gateways of the cluster on all hosts, and run the command again", err)
	}
	found, err := os.ReadDir(p.Folder.Path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%s is the place of what the migration makes, and has files already: move them away",
			p.Folder.Path)
	}
	return nil
}

// clear removes the files that an interrupted call has left behind.
func (p *places) clear() error {
	p.step("clear")
	folder, base := filepath.Split(p.newStore())
	found, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return err
	}
	for _, entry := range found {
		if strings.HasPrefix(entry.Name(), base) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return errors.Join(err, os.RemoveAll(p.newFolder().Path))
}

// secret copies the key file of the cluster into the new folder.
func (p *places) secret() error {
	to := p.newFolder()
	p.step("folder")
	if err := os.MkdirAll(to.Path, 0o700); err != nil || p.KeyFile == "" {
		return err
	}
	text, err := os.ReadFile(p.KeyFile)
	if err != nil {
		return err
	}
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("%s is not the key file of a cluster: %w", p.KeyFile, err)
	}
	p.step("secret")
	line := base64.StdEncoding.EncodeToString(secret) + "\n"
	return atomicfile.Write(to.SecretFile(), []byte(line), to.Restrict)
}

// take renames the new files to their final names, and returns the new name of a store that had the final
// name before. It renames the folder last. Until then no gateway considers itself a member of the cluster.
func (p *places) take() (aside string, err error) {
	p.step("head of the new store")
	if err := absent(os.Remove(store.HeadOf(p.newStore()))); err != nil {
		return "", err
	}
	ours, err := store.Holds(p.Store, takenKind, takenKey)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return "", err
	}
	if aside = p.Store + asideMark; ours {
		aside = p.earlier(aside)
	} else if aside, err = p.setAside(aside); err != nil {
		return "", err
	}
	p.step("store takes its place")
	if err := atomicfile.Replace(p.newStore(), p.Store); err != nil {
		return aside, err
	}
	p.step("empty folder")
	if err := absent(os.Remove(p.Folder.Path)); err != nil { // the folder is empty
		return aside, err
	}
	p.step("folder takes its place")
	return aside, atomicfile.Replace(p.newFolder().Path, p.Folder.Path)
}

// setAside renames the store that the gateway had before it joined a cluster, together with the
// store's head file. It returns the new name, or "" if there is no such store.
func (p *places) setAside(aside string) (string, error) {
	if _, err := os.Stat(p.Store); errors.Is(err, os.ErrNotExist) {
		// Otherwise its head file would be mistaken for the new store's head file.
		p.step("head")
		return p.earlier(aside), absent(os.Rename(store.HeadOf(p.Store), store.HeadOf(aside)))
	}
	if _, err := os.Stat(aside); err == nil {
		return "", fmt.Errorf("%s is in the way: move it away; it is the store of this gateway from before it was "+
			"of a cluster", aside)
	}
	p.step("store aside")
	if err := atomicfile.Replace(p.Store, aside); err != nil {
		return "", err
	}
	p.step("head aside")
	return aside, absent(os.Rename(store.HeadOf(p.Store), store.HeadOf(aside)))
}

// earlier returns aside if an interrupted call has already renamed a store to that name, and "" otherwise.
func (p *places) earlier(aside string) string {
	if _, err := os.Stat(aside); err != nil {
		return ""
	}
	return aside
}

// absent returns nil for an error that means that a file does not exist, and other errors
// unchanged.
func absent(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
