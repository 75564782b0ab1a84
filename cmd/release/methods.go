package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Templates find the methods that they call by name. Because the name could be any, the linker keeps all
// exported methods of all types, which makes a program several megabytes larger. A release is built with a
// text/template that looks up only the names in its templates, each as a constant. The linker understands
// constants, and keeps just the methods with these names.

// lookup is the line of text/template that finds a method. The release replaces it.
const lookup = "if method := ptr.MethodByName(fieldName); method.IsValid() {"

// programFolders are the folders of the module with the packages of the programs.
var programFolders = []string{"cmd/adgateway", "cmd/adgateway-engine", "gateway", "ps", "scripts", "winsvc"}

var (
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	member = regexp.MustCompile(`\.(\p{Lu}[\p{L}\p{N}_]*)`)
)

// membersIn adds the names of fields and methods in the actions of a template.
func membersIn(template string, to map[string]bool) {
	for _, found := range action.FindAllString(template, -1) {
		for _, name := range member.FindAllStringSubmatch(found, -1) {
			to[name[1]] = true
		}
	}
}

// templateMembers returns the names of all fields and methods in the templates of the module, sorted. These
// are the files *.html, and all strings of the sources.
func templateMembers() ([]string, error) {
	names := map[string]bool{}
	for _, folder := range programFolders {
		err := filepath.WalkDir(filepath.FromSlash(folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			extension := filepath.Ext(path)
			if extension != ".html" && extension != ".go" {
				return nil
			}
			text, err := os.ReadFile(path)
			switch {
			case err != nil:
				return err
			case extension == ".html":
				membersIn(string(text), names)
			case bytes.Contains(text, []byte("{{")):
				for _, s := range stringsOf(text) {
					membersIn(s, names)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%w (run in the module's root)", err)
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// stringsOf returns the strings in a Go source. Strings that are added to each other are one.
func stringsOf(source []byte) []string {
	var (
		s     scanner.Scanner
		all   []string
		joins bool
	)
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), source, nil, 0)
	for {
		_, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return all
		case kind == token.STRING:
			text, _ := strconv.Unquote(literal) // the source compiles
			if joins {
				all[len(all)-1] += text
			} else {
				all = append(all, text)
			}
			joins = false
		default:
			joins = kind == token.ADD && len(all) > 0
		}
	}
}

// withNamedMethods changes the source of text/template so that it finds only methods with the given names.
func withNamedMethods(source []byte, names []string) ([]byte, error) {
	if n := bytes.Count(source, []byte(lookup)); n != 1 {
		return nil, fmt.Errorf("text/template of %s has %d lines %q instead of 1: adapt cmd/release/methods.go",
			runtime.Version(), n, lookup)
	}
	text := bytes.Replace(source, []byte(lookup),
		[]byte("if method := methodNamed(ptr, fieldName); method.IsValid() {"), 1)
	// The lines of the original stay where they are, so that traces of errors are right.
	text = append(text, "\nfunc methodNamed(v reflect.Value, name string) reflect.Value {\nswitch name {\n"...)
	for _, name := range names {
		text = fmt.Appendf(text, "case %q:\nreturn v.MethodByName(%q)\n", name, name)
	}
	text = append(text, "}\nreturn reflect.Value{}\n}\n"...)
	if _, err := parser.ParseFile(token.NewFileSet(), "exec.go", text, parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("text/template as changed: %w", err)
	}
	return format.Source(text)
}

// namedMethods writes a changed copy of goroot's text/template into a folder. It returns a map from the path
// of the original file to the path of the copy.
func namedMethods(goroot, dir string) (map[string]string, error) {
	original := filepath.Join(goroot, "src", "text", "template", "exec.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return nil, err
	}
	names, err := templateMembers()
	if err != nil {
		return nil, err
	}
	if source, err = withNamedMethods(source, names); err != nil {
		return nil, err
	}
	changed := filepath.Join(dir, "exec.go")
	return map[string]string{original: changed}, os.WriteFile(changed, source, 0o600)
}
