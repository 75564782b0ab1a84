// Package settings turns what a command is given (--config, --set, flags that
// stand for one setting, the environment) into the settings of a gateway, and
// knows where an installation keeps its files.
//
// [Flags] declares the flags and loads the settings; [OpenLog] opens the log that
// they describe; [DataDir] is the folder of an installation.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// Files protects the files of the installation.
var Files = host.Files{Service: winsvc.Name}

// FileName is the name of the settings file.
const FileName = "adgateway.yaml"

// DataDir returns the folder in which an installation keeps its settings and its
// data: on Windows below ProgramData, elsewhere /etc/adgateway for root and a
// folder in the configuration directory for other users.
func DataDir() string {
	if runtime.GOOS == "windows" {
		root := os.Getenv("ProgramData")
		if root == "" {
			root = `C:\ProgramData`
		}
		return filepath.Join(root, "adgateway")
	}
	if os.Geteuid() != 0 {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "adgateway")
		}
	}
	return "/etc/adgateway"
}

// IsDataDir reports whether an absolute path is [DataDir].
func IsDataDir(dir string) bool {
	return dir == DataDir() || runtime.GOOS == "windows" && strings.EqualFold(dir, DataDir())
}

// DefaultFile returns the path of the settings file in [DataDir].
func DefaultFile() string { return filepath.Join(DataDir(), FileName) }

// CredentialFile returns the credential file that auth.store names, relative to
// the folder of the settings file.
func CredentialFile(c config.Auth, settingsFile string) auth.File {
	path := c.Store
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(settingsFile), path)
	}
	return auth.File{Path: path, Guardian: Files}
}

// WriteTemplate writes a settings file in which every setting is a comment with
// its default. Without force an existing file is an error.
func WriteTemplate(file string, force bool) error {
	if err := createFolder(filepath.Dir(file)); err != nil {
		return filefault.Explain("--config", err)
	}
	newline, mode := "\n", os.O_WRONLY|os.O_CREATE|os.O_EXCL
	if runtime.GOOS == "windows" {
		newline = "\r\n"
	}
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(file, mode, 0o600) // settings can hold passwords
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; --force overwrites it", file)
	}
	if err != nil {
		return filefault.Explain("--config", err)
	}
	_, err = f.Write(config.Template(newline))
	return errors.Join(err, f.Close())
}

// createFolder creates a folder that does not exist. [DataDir] is restricted from
// the start: by default every user may read and add to folders in ProgramData.
func createFolder(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && IsDataDir(dir) {
		return Files.RestrictFolder(dir)
	}
	return os.MkdirAll(dir, 0o750)
}
