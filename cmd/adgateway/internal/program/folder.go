// Package program contains the code that adgateway and adgateway-engine share: [Flags] turns
// a command's input (--config, --set, flags that stand for one setting, the environment)
// into settings, [OpenLog] opens the log that they describe, [DataDir] is the folder of an
// installation, [ServiceCommands] install and control a Windows service, and the rest parses
// user input: times, passwords, and names that may be misspelled.
package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// Files protects the files of the gateway's service.
var Files = host.Files{Service: winsvc.Gateway.Name}

// FileName is the name of the settings file.
const FileName = "adgateway.yaml"

// DataDir returns the folder with the settings and the data of an installation. It is below ProgramData on
// Windows. Elsewhere it is below /etc for root, and in the configuration directory for other users.
func DataDir() string {
	name := winsvc.Gateway.Name
	if runtime.GOOS == "windows" {
		root := os.Getenv("ProgramData")
		if root == "" {
			root = `C:\ProgramData`
		}
		return filepath.Join(root, name)
	}
	if os.Geteuid() != 0 {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return "/etc/" + name
}

// isDataDir reports whether an absolute path is the [DataDir].
func isDataDir(dir string) bool {
	return dir == DataDir() || runtime.GOOS == "windows" && strings.EqualFold(dir, DataDir())
}

// DefaultFile returns the path of the settings file in [DataDir].
func DefaultFile() string { return filepath.Join(DataDir(), FileName) }

// CredentialFile returns the credential file in auth.store, relative to the folder of the settings file.
func CredentialFile(c config.Auth, settingsFile string) authn.File {
	path := c.Store
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(settingsFile), path)
	}
	return authn.File{Path: path, Guardian: Files}
}

// WriteTemplate writes a settings file that contains every setting as a comment with its
// default. Without force, an existing file is an error.
func WriteTemplate(file string, force bool) error {
	if err := CreateFolder(filepath.Dir(file)); err != nil {
		return filefault.Explain("--config", err)
	}
	newline, mode := "\n", os.O_WRONLY|os.O_CREATE|os.O_EXCL
	if runtime.GOOS == "windows" {
		newline = "\r\n"
	}
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(file, mode, 0o600) // settings can contain passwords
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; --force overwrites it", file)
	}
	if err != nil {
		return filefault.Explain("--config", err)
	}
	_, err = f.Write(config.Template(newline))
	return errors.Join(err, f.Close())
}

// CreateFolder creates a folder if it does not exist. The [DataDir] is restricted from the start, because by
// default every user may read folders in ProgramData and add files to them.
func CreateFolder(dir string) error {
	if isDataDir(dir) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return Files.RestrictFolder(dir)
		}
	}
	return os.MkdirAll(dir, 0o750)
}

// CheckProgram returns an error if other accounts may replace this executable.
func CheckProgram(files host.Files) error {
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable)
	}
	if err != nil {
		return fmt.Errorf("the folder of this program cannot be found: %w", err)
	}
	return CheckFolder(files, "the folder of this program", executable)
}

// CheckFolder returns an error if other accounts may replace a file in the folder of file, which is an
// executable. what names the executable in the error.
func CheckFolder(files host.Files, what, file string) error {
	if err := files.ExposedFolder(filepath.Dir(file)); err != nil {
		return fmt.Errorf("%s is not trusted, because what is in it runs with the rights of %s: %w", what,
			files.Service, err)
	}
	return nil
}
