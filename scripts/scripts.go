// Package scripts contains the PowerShell side of the gateway: a prelude that every session
// loads, a prelude for each lane, and one script per operation.
//
// A script is a complete file that an administrator can read, lint and run by hand after the preludes.
// Nothing is ever substituted into its text. [Prelude] and [Sources] return the texts that a session loads.
// The folder doctor contains the scripts of the doctor, which only the doctor's sessions load
// ([DoctorPrelude], [DoctorSources]).
//
// [Check] reports the mistakes in a script without running it. It takes the commands, types and members from
// package ps/cmdlets. [Describe] returns the declarations of all scripts, against which the operation table
// is checked at every start. They are derived from the scripts, as [Verify] checks. TestScriptsKeepTheRules
// checks further house rules, with good and bad snippets in testdata/rules.
package scripts

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"adgateway/ps"
	"adgateway/ps/packed"
)

//go:embed prelude.ps1 prelude.guards.ps1 ad/*.ps1 dns/*.ps1 doctor
var files embed.FS

// folders maps the lanes to their folders.
var folders = map[ps.Lane]string{ps.Directory: "ad", ps.DNS: "dns"}

// Modules maps each lane to the PowerShell module that its sessions import.
var Modules = map[ps.Lane]string{ps.Directory: "ActiveDirectory", ps.DNS: "DnsServer"}

// The preludes of every lane: code that sessions share, and the list of guarded objects.
const (
	commonPrelude = "prelude.ps1"
	guardsPrelude = "prelude.guards.ps1"
)

// Prelude returns the text that a session of the lane loads before its scripts: the common
// prelude followed by the lane's own.
func Prelude(lane ps.Lane) ps.Source { return loads[lane]().prelude }

// load is what sessions of a lane load.
type load struct {
	prelude ps.Source
	scripts []ps.Source
}

// loads has the loads of the lanes. Their texts are read once.
var loads = map[ps.Lane]func() load{ps.Directory: loadOf(ps.Directory), ps.DNS: loadOf(ps.DNS)}

func loadOf(lane ps.Lane) func() load {
	return sync.OnceValue(func() load { return load{joined(preludes(lane)), sources(list(lane))} })
}

// Loaded reports whether a text is the prelude or a script of a lane. The tests of this package have checked
// these texts.
func Loaded(text string) bool { return loadedTexts()[text] }

var loadedTexts = sync.OnceValue(func() map[string]bool {
	texts := map[string]bool{}
	for _, lane := range loads {
		texts[lane().prelude.Text] = true
		for _, script := range lane().scripts {
			texts[script.Text] = true
		}
	}
	return texts
})

// Rehearsal is the name of the prelude's function that sessions run before they are ready.
// It needs no directory.
const Rehearsal = "Test-GatewayRehearsal"

// joined concatenates preludes.
func joined(files []string) ps.Source {
	var text strings.Builder
	for _, file := range files {
		text.WriteString(read(file))
		text.WriteByte('\n')
	}
	return ps.Source{Name: "prelude", Text: text.String()}
}

// preludes returns the prelude files of a lane in load order.
func preludes(lane ps.Lane) []string {
	names := []string{commonPrelude, guardsPrelude}
	for _, file := range listed(lane) {
		if isPrelude(file) {
			names = append(names, file)
		}
	}
	return names
}

// isPrelude reports whether a file is a prelude: prelude.ps1 or prelude.*.ps1.
func isPrelude(file string) bool { return strings.HasPrefix(path.Base(file), "prelude.") }

// Sources returns the scripts of a lane, sorted by name. A session defines each script as a function with its
// name.
func Sources(lane ps.Lane) []ps.Source { return slices.Clone(loads[lane]().scripts) }

func sources(files []string) []ps.Source {
	var sources []ps.Source
	for _, file := range files {
		sources = append(sources, ps.Source{Name: functionName(file), Text: read(file)})
	}
	return sources
}

// list returns the script files of a lane.
func list(lane ps.Lane) []string {
	return slices.DeleteFunc(listed(lane), isPrelude)
}

// listed returns all files of a lane.
func listed(lane ps.Lane) []string { return folder(folders[lane]) }

// folder returns the files of a folder, sorted.
func folder(name string) []string {
	entries, err := files.ReadDir(name)
	if err != nil {
		panic(fmt.Sprintf("scripts: %v", err)) // embedded at build time
	}
	var names []string
	for _, entry := range entries {
		names = append(names, path.Join(name, entry.Name()))
	}
	return names
}

func functionName(file string) string {
	return strings.TrimSuffix(path.Base(file), ".ps1")
}

func read(file string) string {
	text, err := files.ReadFile(file)
	if err == nil {
		text, err = packed.Text(text)
	}
	if err != nil {
		panic(fmt.Sprintf("scripts: %v", err)) // embedded at build time
	}
	return string(text)
}
