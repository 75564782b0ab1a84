package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc/host"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"
)

const settingsName = "adgateway.yaml"

// dataDir is where an installation keeps its settings and what it writes: on
// Windows below ProgramData, elsewhere in /etc for root and in the user's own
// folder for others.
func dataDir() string {
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

// isDataDir tells whether an absolute path is that of dataDir.
func isDataDir(dir string) bool {
	return dir == dataDir() || runtime.GOOS == "windows" && strings.EqualFold(dir, dataDir())
}

func defaultSettingsFile() string { return filepath.Join(dataDir(), settingsName) }

// spelling is a flag that is another way to write a setting.
type spelling struct{ flag, key, placeholder, doc string }

var commonSpellings = []spelling{
	{"listen", "http.listen", "HOST:PORT", "address to listen on"},
	{"log-format", "log.format", "FORMAT", "text or json"},
	{"log-level", "log.level", "LEVEL", "debug, info, warn or error"},
}

// spelled is the value of such a flag, which its setting checks; the help shows
// its kind.
type spelled struct{ text, kind string }

func (s *spelled) String() string        { return s.text }
func (s *spelled) Set(text string) error { s.text = text; return nil }
func (s *spelled) Type() string          { return s.kind }

// settingFlags are the flags of a command that reads settings.
type settingFlags struct {
	file      string
	set       []string
	spellings []spelling
	command   *cobra.Command
	fallback  string // file to read without --config where it exists; empty: none
	logs      bool   // to a file beside the settings where log.file is not set
	amend     func(*config.Settings) error
}

// addTo declares the flags. A spelling without placeholder is a switch.
func (f *settingFlags) addTo(c *cobra.Command, spellings ...spelling) {
	f.command, f.spellings = c, spellings
	flags := c.Flags()
	flags.StringVar(&f.file, "config", "", "read settings from this YAML `FILE`")
	flags.StringArrayVar(&f.set, "set", nil, "set one setting as `KEY=VALUE` (repeatable)")
	for _, s := range spellings {
		flags.Var(&spelled{kind: cmp.Or(s.placeholder, "bool")}, s.flag, fmt.Sprintf("%s (setting %s)", s.doc, s.key))
		if s.placeholder == "" {
			flags.Lookup(s.flag).NoOptDefVal = "true"
		}
	}
}

// path is the file that is read.
func (f *settingFlags) path() string {
	if f.file != "" {
		return f.file
	}
	return f.fallback
}

// source reads the file each time it is called. A file that was there must stay.
func (f *settingFlags) source() func() (config.Sources, error) {
	var given []config.Spelling
	for _, s := range f.spellings {
		if flag := f.command.Flags().Lookup(s.flag); flag.Changed {
			given = append(given, config.Spelling{Flag: "--" + s.flag, Key: s.key, Value: flag.Value.String()})
		}
	}
	needed := f.file != ""
	return func() (config.Sources, error) {
		src := config.Sources{Name: f.path(), Environment: os.Environ(), Spelled: given, Flags: f.set, Amend: f.settle}
		if src.Name == "" {
			return src, nil
		}
		text, err := os.ReadFile(src.Name)
		switch {
		case err == nil:
			needed, src.Text = true, text
		case needed && errors.Is(err, fs.ErrNotExist):
			return src, fmt.Errorf("the settings file %s is not there; 'adgateway config init --config %s' writes one", src.Name, src.Name)
		case !errors.Is(err, fs.ErrNotExist):
			return src, filefault.Explain("--config", err)
		}
		return src, nil
	}
}

// load reads the settings for a gateway that runs.
func (f *settingFlags) load() (*config.Live, error) {
	live, err := config.NewLive(f.source())
	if err != nil {
		return nil, fmt.Errorf("settings:\n%w", err)
	}
	return live, nil
}

// settle makes the files that the settings file names be seen from its folder: a
// service runs in a folder of Windows, and the doctor wherever it is called.
// What a flag or a variable names is seen from where the command runs.
func (f *settingFlags) settle(s *config.Settings, from map[string]config.Origin) error {
	dir, err := filepath.Abs(filepath.Dir(f.path()))
	if err != nil {
		return err
	}
	for key, setting := range map[string]*string{
		"auth.store": &s.Auth.Store, "log.file": &s.Log.File, "audit.file": &s.Audit.File, "audit.keyFile": &s.Audit.KeyFile,
		"tls.certificateFile": &s.TLS.CertificateFile, "tls.keyFile": &s.TLS.KeyFile, "tls.clientCAFile": &s.TLS.ClientCAFile,
		"tls.pfxFile": &s.TLS.PFXFile, "tls.pfxPasswordFile": &s.TLS.PFXPasswordFile,
	} {
		if from[key] == config.FromFile && *setting != "" && *setting != config.AuditOff && !filepath.IsAbs(*setting) {
			*setting = filepath.Join(dir, *setting)
		}
	}
	if f.amend == nil {
		return nil
	}
	return f.amend(s)
}

// places puts what a gateway keeps beside its settings file, where the settings
// name no other place.
func (f *settingFlags) places(s *config.Settings) error {
	dir, err := filepath.Abs(filepath.Dir(f.path()))
	if err != nil {
		return err
	}
	for setting, name := range map[*string]string{
		&s.Auth.Store: "credentials.json",
		&s.Audit.File: "audit.jsonl",
	} {
		if *setting == "" {
			*setting = filepath.Join(dir, name)
		}
	}
	if f.logs && s.Log.File == "" {
		s.Log.File = filepath.Join(dir, "logs", "adgateway.log")
	}
	return nil
}

// newLog makes a log that writes to w.
func newLog(c config.Log, w io.Writer) *logrus.Logger {
	log := logrus.New()
	tuneLog(log, c)
	log.SetOutput(w)
	return log
}

// openLog makes a log that writes to log.file, and tells w so, or to w where that
// is empty. The closer closes the file.
func openLog(c config.Log, w io.Writer) (*logrus.Logger, io.Closer, error) {
	if c.File == "" {
		return newLog(c, w), io.NopCloser(nil), nil
	}
	// lumberjack opens the file at the first entry, and tells nobody when it cannot.
	err := os.MkdirAll(filepath.Dir(c.File), 0o755)
	if err == nil {
		err = host.Writable(c.File)
	}
	if err != nil {
		return nil, nil, filefault.Explain("log.file", err)
	}
	fmt.Fprintf(w, "logging to %s\n", c.File)
	rotating := &lumberjack.Logger{Filename: c.File, MaxSize: c.MaxSize, MaxBackups: c.MaxFiles}
	return newLog(c, growing{rotating, c.File}), rotating, nil
}

// growing is a log file that grows on while it cannot be put aside: on Windows
// it cannot be renamed as long as somebody looks at it by 'Get-Content -Wait'.
type growing struct {
	rotating io.Writer
	file     string
}

func (g growing) Write(entry []byte) (int, error) {
	n, err := g.rotating.Write(entry)
	if err == nil || n > 0 {
		return n, err
	}
	file, failed := os.OpenFile(g.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if failed != nil {
		return 0, errors.Join(err, failed)
	}
	n, err = file.Write(entry)
	return n, errors.Join(err, file.Close())
}

// tuneLog sets what may change while the gateway runs.
func tuneLog(log *logrus.Logger, c config.Log) {
	level, err := logrus.ParseLevel(c.Level)
	if err != nil {
		level = logrus.InfoLevel
	}
	log.SetLevel(level)
	if c.Format == "json" {
		log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano})
	} else {
		log.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, DisableColors: true, TimestampFormat: time.RFC3339})
	}
}

// oneLine joins the lines of an error for a log.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
