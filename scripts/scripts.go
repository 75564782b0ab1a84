// Package scripts holds the PowerShell side of the gateway: a prelude that every
// session loads, a prelude for each lane, and one script for each kind of work.
//
// A script is a whole file that an administrator can read, lint and run by hand
// after the preludes. Nothing is ever substituted into its text. [Sources] gives
// a session what it loads; [Describe] reads what the scripts declare, so that
// the operation table can be checked against them, and holds every call against
// what it calls. The folder doctor holds scripts of the doctor, which only its
// own sessions load ([DoctorPrelude], [DoctorSources]). What else all scripts keep is a rule of TestScriptsKeepTheRules,
// with good and bad snippets in testdata/rules.
package scripts

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"adgateway/ps"
)

//go:embed prelude.ps1 ad/*.ps1 dns/*.ps1 doctor
var files embed.FS

// folders are the scripts of each lane.
var folders = map[ps.Lane]string{ps.Directory: "ad", ps.DNS: "dns"}

// Modules names the PowerShell module that the sessions of each lane import.
var Modules = map[ps.Lane]string{ps.Directory: "ActiveDirectory", ps.DNS: "DnsServer"}

const commonPrelude = "prelude.ps1"

// Prelude is what a session of the lane loads before its scripts: the common
// prelude, then those of the lane.
func Prelude(lane ps.Lane) ps.Source { return joined(preludes(lane)) }

// joined is the text of preludes.
func joined(files []string) ps.Source {
	var text strings.Builder
	for _, file := range files {
		text.WriteString(read(file))
		text.WriteByte('\n')
	}
	return ps.Source{Name: "prelude", Text: text.String()}
}

// preludes are the files of a lane's prelude, in the order they are loaded.
func preludes(lane ps.Lane) []string {
	names := []string{commonPrelude}
	for _, file := range listed(lane) {
		if isPrelude(file) {
			names = append(names, file)
		}
	}
	return names
}

// isPrelude tells a lane's preludes, prelude.ps1 and prelude.*.ps1, from its scripts.
func isPrelude(file string) bool { return strings.HasPrefix(path.Base(file), "prelude.") }

// Sources are the scripts of a lane, in order of name; a session knows each as
// a function of that name.
func Sources(lane ps.Lane) []ps.Source { return sources(list(lane)) }

func sources(files []string) []ps.Source {
	var sources []ps.Source
	for _, file := range files {
		sources = append(sources, ps.Source{Name: functionName(file), Text: read(file)})
	}
	return sources
}

// list returns the files of a lane's scripts.
func list(lane ps.Lane) []string {
	return slices.DeleteFunc(listed(lane), isPrelude)
}

// listed returns all files of a lane.
func listed(lane ps.Lane) []string { return folder(folders[lane]) }

// folder returns the files of a folder; embed.FS sorts them.
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
	if err != nil {
		panic(fmt.Sprintf("scripts: %v", err)) // embedded at build time
	}
	return string(text)
}
