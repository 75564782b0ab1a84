package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
	"time"

	"adgateway/cmd/release/clients"
)

//go:embed msi/module.wxs
var moduleTemplate string

// moduleInstaller identifies the packages of the PowerShell module. It must never change,
// because Windows recognizes the packages by it.
var moduleInstaller = installer{UpgradeCode: "0F0D9B7E-3B57-5A0B-8C5E-6C1F5D0E7A42"}

// moduleFolder is a folder of the module. The folder without a name is the module's root.
type moduleFolder struct {
	ID, Name, GUID string
	Files          []string
}

// moduleFolders returns the folders with the files of a version. The identifier of a
// component belongs to a path, which contains the version.
func moduleFolders(version string, files []string) []moduleFolder {
	byName := map[string][]string{}
	for _, name := range files {
		folder, _ := path.Split(name)
		folder = strings.TrimSuffix(folder, "/")
		byName[folder] = append(byName[folder], name)
	}
	var folders []moduleFolder
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		guid := strings.Trim(moduleInstaller.code("folder", version, name), "{}")
		slices.Sort(byName[name])
		id := "_" + noIdentifier.ReplaceAllString(name, "_")
		folders = append(folders, moduleFolder{id, name, guid, byName[name]})
	}
	return folders
}

// moduleSource returns the source of the package that contains a version's files.
func moduleSource(version string, files []string) ([]byte, error) {
	t, err := template.New("module.wxs").Funcs(template.FuncMap{"fileID": msiIdentifier}).Parse(moduleTemplate)
	if err != nil {
		return nil, err
	}
	var source bytes.Buffer
	err = t.Execute(&source, struct {
		Name, Version, UpgradeCode string
		Folders                    []moduleFolder
	}{clients.ModuleName, version, moduleInstaller.UpgradeCode, moduleFolders(version, files)})
	return source.Bytes(), err
}

// moduleMSI returns the package of the module's files. folder is the version in the
// manifest. The same files result in the same bytes.
func moduleMSI(
	ctx context.Context, version, folder string, files map[string]file, stamp time.Time,
) ([]byte, error) {
	number, err := msiVersion(version)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(files))
	source, err := moduleSource(folder, names)
	if err != nil {
		return nil, err
	}
	staged, content := map[string][]byte{msiSourceName: source}, sha256.New()
	for _, name := range names {
		staged[name] = files[name].content
		content.Write(files[name].content)
	}
	name := clients.ModuleName + ".msi"
	return runMSI(ctx, name, staged, [][]string{
		{"wixl", "-a", "x64", "-D", "Version=" + number, "-D", "ProductCode=" + moduleInstaller.code(folder), "-o", name, msiSourceName},
		summary(name, "x64", moduleInstaller.code(folder, fmt.Sprintf("%x", content.Sum(nil)))),
	}, stamp)
}
