package main

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// around contains the packages below gateway through which every call passes. "." is gateway itself.
var around = []string{"transport", "call", "identity", "authn", "problem", "."}

// writing contains the packages below gateway that only changes need.
var writing = []string{
	"audit", "change", "changes", "history", "idempotency", "jobs", "jobs/rows", "names", "plan",
	"quota", "settle", "store", "write",
}

// printTable prints the number of functions below gateway that each kind in [kinds] has entered, and the
// number of files by package.
func printTable(out io.Writer, entered []map[function]bool) {
	head := []string{"kind", "functions"}
	for _, folder := range around {
		head = append(head, path.Base(path.Join("gateway", folder)))
	}
	head = append(head, "sum", "writing", "others")
	rows := [][]string{head, slices.Repeat([]string{"---"}, len(head))}
	for i, k := range kinds {
		rows = append(rows, row(k.name, entered[i]))
	}
	for _, cells := range rows {
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	for i, k := range kinds {
		fmt.Fprintf(out, "\n%s:\n", k.name)
		files := byFolder(entered[i])
		for _, folder := range slices.Sorted(maps.Keys(files)) {
			if below(folder) {
				fmt.Fprintf(out, "  %s: %s\n", folder, strings.Join(files[folder], " "))
			}
		}
	}
}

// row returns the table row of a kind.
func row(kind string, entered map[function]bool) []string {
	functions := 0
	for f := range entered {
		if below(f.file) {
			functions++
		}
	}
	figures := []int{functions}
	files := byFolder(entered)
	all, changing := 0, 0
	for _, folder := range around {
		n := len(files[path.Join("gateway", folder)])
		figures = append(figures, n)
		all += n
	}
	for _, folder := range writing {
		changing += len(files["gateway/"+folder])
	}
	others := -all - changing
	for folder, names := range files {
		if below(folder) {
			others += len(names)
		}
	}
	cells := []string{kind}
	for _, n := range append(figures, all, changing, others) {
		cells = append(cells, strconv.Itoa(n))
	}
	return cells
}

// below reports whether a path is gateway or below it.
func below(path string) bool { return strings.HasPrefix(path+"/", "gateway/") }

// byFolder returns the sorted names of the functions' files, by folder.
func byFolder(entered map[function]bool) map[string][]string {
	files := map[string][]string{}
	for f := range entered {
		folder, name := path.Dir(f.file), path.Base(f.file)
		if !slices.Contains(files[folder], name) {
			files[folder] = append(files[folder], name)
		}
	}
	for _, names := range files {
		slices.Sort(names)
	}
	return files
}
