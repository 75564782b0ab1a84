package program

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// Spelling is a flag that stands for a setting. Without a placeholder it is a switch.
type Spelling struct{ Flag, Key, Placeholder, Doc string }

// Common returns the spellings that all commands serving the API have.
func Common() []Spelling {
	return []Spelling{
		{"listen", "http.listen", "HOST:PORT", "address to listen on"},
		{"log-format", "log.format", "FORMAT", "text or json"},
		{"log-level", "log.level", "LEVEL", "debug, info, warn or error"},
	}
}

// rawValue is the unparsed value of the flag of a [Spelling]; the setting parses it. kind is the type that
// the help shows.
type rawValue struct{ text, kind string }

func (v *rawValue) String() string        { return v.text }
func (v *rawValue) Set(text string) error { v.text = text; return nil }
func (v *rawValue) Type() string          { return v.kind }

// Flags are the flags of a command that reads settings. The zero value reads no
// file unless File is set.
type Flags struct {
	File     string   // --config
	Set      []string // --set, KEY=VALUE
	Fallback string   // read without --config if it exists; may be empty

	Beside    bool                         // auth.store and audit.file default to files next to File
	LogBeside bool                         // default log.file likewise
	Amend     func(*config.Settings) error // changes the loaded settings; may be nil
	Sandbox   bool                         // the command serves a simulated domain
	Service   string                       // service whose account may write the file; empty means the gateway
	Account   string                       // account that the service is about to get; empty means no change

	flags     *pflag.FlagSet
	spellings []Spelling
}

// AddTo declares the flags.
func (f *Flags) AddTo(flags *pflag.FlagSet, spellings ...Spelling) {
	f.flags, f.spellings = flags, spellings
	flags.StringVar(&f.File, "config", "", "read settings from this YAML `FILE`")
	flags.StringArrayVar(&f.Set, "set", nil, "set one setting as `KEY=VALUE` (repeatable)")
	for _, s := range spellings {
		flags.Var(&rawValue{kind: cmp.Or(s.Placeholder, "bool")}, s.Flag,
			fmt.Sprintf("%s (setting %s)", s.Doc, s.Key))
		if s.Placeholder == "" {
			flags.Lookup(s.Flag).NoOptDefVal = "true"
		}
	}
}

// Path returns the path of the settings file to read, or "" if there is none.
func (f *Flags) Path() string { return cmp.Or(f.File, f.Fallback) }

// source returns a function that reads the settings file on each call. It returns an error if a file that has
// existed disappears.
func (f *Flags) source() func() (config.Sources, error) {
	var given []config.Spelling
	for _, s := range f.spellings {
		if flag := f.flags.Lookup(s.Flag); flag.Changed {
			given = append(given, config.Spelling{Flag: "--" + s.Flag, Key: s.Key, Value: flag.Value.String()})
		}
	}
	required, warned := f.File != "", false
	return func() (config.Sources, error) {
		src := config.Sources{Name: f.Path(), Environment: os.Environ(), Spelled: given, Flags: f.Set,
			Sandbox: f.Sandbox, Amend: f.complete}
		if src.Name == "" {
			return src, nil
		}
		files := host.Files{Service: cmp.Or(f.Service, winsvc.Gateway.Name), Account: f.Account}
		if _, exposed := files.Exposed(src.Name); exposed != nil && !errors.Is(exposed, fs.ErrNotExist) {
			return src, fmt.Errorf("the settings in %s are not trusted, because they decide what runs and who has "+
				"access: %w", src.Name, exposed)
		}
		if doubt := files.Doubt(); doubt != nil && f.Account == "" && !warned {
			warned = true
			fmt.Fprintf(os.Stderr, "warning: %v; if it is gone, '%s service install --account ACCOUNT' sets "+
				"another one\n", doubt, files.Service)
		}
		text, err := os.ReadFile(src.Name)
		switch {
		case err == nil:
			required, src.Text = true, text
		case required && errors.Is(err, fs.ErrNotExist):
			return src, fmt.Errorf("the settings file %s does not exist; create it with 'adgateway config init "+
				"--config %s'", src.Name, quoted(src.Name))
		case !errors.Is(err, fs.ErrNotExist):
			return src, filefault.Explain("--config", err)
		}
		return src, nil
	}
}

// Load loads the settings for a running gateway.
func (f *Flags) Load() (*config.Live, error) {
	live, err := config.NewLive(f.source())
	if err != nil {
		return nil, fmt.Errorf("settings:\n%w", err)
	}
	return live, nil
}

// Read reads the settings once and returns them with the origin of each. After an error that does not concern
// the file itself, it still returns the sources; if the settings only contradict each other, all.
func (f *Flags) Read() (config.Sources, *config.Settings, map[string]config.Origin, error) {
	src, err := f.source()()
	if err != nil {
		return src, nil, nil, err
	}
	loaded, from, err := src.Load()
	if err != nil {
		err = fmt.Errorf("settings:\n%w", err)
	}
	return src, loaded, from, err
}

// complete resolves relative paths of the settings file against its folder, because a service runs in a
// system folder and the doctor may run in any folder. Paths in flags and variables remain relative to the
// working directory.
func (f *Flags) complete(s *config.Settings, from map[string]config.Origin) error {
	dir, err := f.dir()
	if err != nil {
		return err
	}
	s.ResolvePaths(from, dir)
	if err := f.DefaultFiles(s); err != nil || f.Amend == nil {
		return err
	}
	return f.Amend(s)
}

// DefaultFiles sets the files that Beside and LogBeside request, unless they are already set.
func (f *Flags) DefaultFiles(s *config.Settings) error {
	dir, err := f.dir()
	if err != nil {
		return err
	}
	if f.Beside {
		s.Auth.Store = cmp.Or(s.Auth.Store, filepath.Join(dir, "credentials.json"))
		s.Audit.File = cmp.Or(s.Audit.File, filepath.Join(dir, "audit.jsonl"))
		s.Store.File = cmp.Or(s.Store.File, filepath.Join(dir, "state.db"))
	}
	if f.LogBeside {
		s.Log.File = cmp.Or(s.Log.File, filepath.Join(dir, "logs", "adgateway.log"))
	}
	return nil
}

func (f *Flags) dir() (string, error) { return filepath.Abs(filepath.Dir(f.Path())) }

// quoted returns an argument for pasting into a shell, in quotation marks if it contains a space.
func quoted(argument string) string {
	if strings.ContainsAny(argument, " \t") {
		return `"` + argument + `"`
	}
	return argument
}
