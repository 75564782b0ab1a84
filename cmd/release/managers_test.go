package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"adgateway/ps/syntax"
)

const downloads = "https://downloads.corp.example/adgateway/v1.2.3"

// artifacts stand for the files of a release.
var artifacts = map[string][]byte{
	"adgateway-v1.2.3-windows-amd64.msi": []byte("the MSI for amd64"), "adgateway-v1.2.3-windows-arm64.msi": []byte("the MSI for arm64"),
	"adgateway-v1.2.3-windows-amd64.zip": []byte("the zip for amd64"), "adgateway-v1.2.3-windows-arm64.zip": []byte("the zip for arm64"),
	"adgateway-v1.2.3-linux-amd64.zip": []byte("the zip for Linux"),
}

func managed(t *testing.T, url string) map[string][]byte {
	t.Helper()
	files, err := managerFiles(t.Context(), "v1.2.3", url, artifacts, []byte("MIT License"), stamp, nil)
	require.NoError(t, err)
	return files
}

// form describes the members that a schema allows in an object, each with a pattern, and the required ones.
type form struct {
	patterns map[string]string
	required []string
}

// The rules come from winget's schemas 1.10.0 (microsoft/winget-cli,
// schemas/JSON/manifests/v1.10.0), limited to the members that the manifests use, and from
// Scoop's schema.json (ScoopInstaller/Scoop), which allows no others.
const (
	identifier = `^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$`
	number     = `^\d{1,5}(\.\d{1,5}){0,3}$`
	link       = `^[Hh][Tt][Tt][Pp][Ss]?://.+$`
	product256 = `^.{2,256}$`
	any255     = `^.{1,255}$`
)

var forms = map[string]form{
	"version": {map[string]string{"PackageIdentifier": identifier, "PackageVersion": number, "DefaultLocale": `^[a-zA-Z]{2,3}(-[a-zA-Z]{1,8})*$`, "ManifestType": "^version$", "ManifestVersion": number},
		[]string{"PackageIdentifier", "PackageVersion", "DefaultLocale", "ManifestType", "ManifestVersion"}},
	"defaultLocale": {map[string]string{
		"PackageIdentifier": identifier, "PackageVersion": number, "PackageLocale": `^[a-zA-Z]{2,3}(-[a-zA-Z]{1,8})*$`, "Publisher": product256, "PackageName": product256,
		"PackageUrl": link, "License": `^.{3,512}$`, "ShortDescription": `^.{3,256}$`, "Description": `^.{3,1000}$`, "Tags": `^\[.{1,40}( .{1,40}){0,15}\]$`,
		"ManifestType": "^defaultLocale$", "ManifestVersion": number,
	}, []string{"PackageIdentifier", "PackageVersion", "PackageLocale", "Publisher", "PackageName", "License", "ShortDescription", "ManifestType", "ManifestVersion"}},
	"installer": {map[string]string{
		"PackageIdentifier": identifier, "PackageVersion": number, "InstallerType": "^(msi|wix)$", "Scope": "^(user|machine)$", "Platform": `^\[Windows.Desktop\]$`,
		"MinimumOSVersion": number, "UpgradeBehavior": "^(install|uninstallPrevious|deny)$", "ElevationRequirement": "^(elevationRequired|elevationProhibited|elevatesSelf)$",
		"ReleaseDate": `^\d{4}-\d\d-\d\d `, "Installers": ".", "ManifestType": "^installer$", "ManifestVersion": number,
	}, []string{"PackageIdentifier", "PackageVersion", "Installers", "ManifestType", "ManifestVersion"}},
	"one installer": {map[string]string{
		"Architecture": "^(x86|x64|arm|arm64|neutral)$", "InstallerUrl": link, "InstallerSha256": "^[A-Fa-f0-9]{64}$", "ProductCode": any255, "AppsAndFeaturesEntries": ".",
	}, []string{"Architecture", "InstallerUrl", "InstallerSha256"}},
	"entry": {map[string]string{"ProductCode": any255, "UpgradeCode": any255, "InstallerType": "^wix$"}, nil},
	"scoop": {map[string]string{"version": `^[\w.\-+]+$`, "description": ".", "homepage": link, "license": ".", "architecture": ".", "bin": ".", "notes": "."},
		[]string{"version", "homepage", "license"}},
	"scoop architecture": {map[string]string{"url": `^https?://[^$]+$`, "hash": "^[a-fA-F0-9]{64}$", "extract_dir": "."}, nil},
}

func hold(t *testing.T, kind string, object map[string]any) {
	t.Helper()
	for name, value := range object {
		pattern := forms[kind].patterns[name]
		if assert.NotEmpty(t, pattern, "%s may not have %s", kind, name) {
			assert.Regexp(t, regexp.MustCompile("(?s)"+pattern), fmt.Sprint(value), "%s: %s", kind, name)
		}
	}
	for _, name := range forms[kind].required {
		assert.Contains(t, object, name, kind)
	}
}

func sumOf(name string) string { return fmt.Sprintf("%x", sha256.Sum256(artifacts[name])) }

func TestWingetManifests(t *testing.T) {
	files := managed(t, downloads)
	manifests := map[string]map[string]any{}
	for name, text := range files {
		if !strings.HasPrefix(name, "winget/") {
			continue
		}
		var content map[string]any
		require.NoError(t, yaml.Unmarshal(text, &content), name)
		kind := content["ManifestType"].(string)
		manifests[kind] = content
		hold(t, kind, content)
		assert.Contains(t, string(text),
			"https://aka.ms/winget-manifest."+strings.ToLower(kind)+".1.10.0.schema.json")
	}
	require.Len(t, manifests, 3)
	all := manifests["installer"]["Installers"].([]any)
	require.Len(t, all, 2)
	for i, arch := range []string{"amd64", "arm64"} {
		one := all[i].(map[string]any)
		hold(t, "one installer", one)
		name := "adgateway-v1.2.3-windows-" + arch + ".msi"
		assert.Equal(t, downloads+"/"+name, one["InstallerUrl"])
		assert.Equal(t, strings.ToUpper(sumOf(name)), one["InstallerSha256"])
		assert.Equal(t, gateway.Installer.code("1.2.3", arch), one["ProductCode"])
		entry := one["AppsAndFeaturesEntries"].([]any)[0].(map[string]any)
		hold(t, "entry", entry)
		assert.Equal(t, "{"+gateway.Installer.UpgradeCode+"}", entry["UpgradeCode"])
	}
}

func TestScoopManifest(t *testing.T) {
	var content map[string]any
	require.NoError(t, json.Unmarshal(managed(t, downloads+"/")["scoop/adgateway.json"], &content))
	hold(t, "scoop", content)
	for name, arch := range map[string]string{"64bit": "amd64", "arm64": "arm64"} {
		one := content["architecture"].(map[string]any)[name].(map[string]any)
		hold(t, "scoop architecture", one)
		archive := "adgateway-v1.2.3-windows-" + arch
		assert.Equal(t, map[string]any{"url": downloads + "/" + archive + ".zip", "hash": sumOf(archive + ".zip"),
			"extract_dir": archive}, one)
	}
}

// The rules come from Chocolatey's package validator (facts L3).
func TestChocolateyPackage(t *testing.T) {
	files := managed(t, "")
	require.Len(t, files, 1, "without a URL nothing is written that needs one")
	assert.Equal(t, files, managed(t, ""))
	content := managed(t, downloads)["adgateway.1.2.3.nupkg"]
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	text := map[string]string{}
	for _, f := range r.File {
		opened, err := f.Open()
		require.NoError(t, err)
		all, err := io.ReadAll(opened)
		require.NoError(t, err)
		text[f.Name] = string(all)
	}
	const msi = "adgateway-v1.2.3-windows-amd64.msi"
	for _, name := range []string{"adgateway.nuspec", "_rels/.rels", "[Content_Types].xml",
		"tools/chocolateyInstall.ps1", "tools/LICENSE.txt", "tools/VERIFICATION.txt", "tools/" + msi} {
		assert.Contains(t, text, name)
	}
	assert.Equal(t, string(artifacts[msi]), text["tools/"+msi])
	var spec struct {
		Metadata struct {
			ID          string `xml:"id"`
			Version     string `xml:"version"`
			Authors     string `xml:"authors"`
			Description string `xml:"description"`
			Summary     string `xml:"summary"`
			Project     string `xml:"projectUrl"`
			Tags        string `xml:"tags"`
		} `xml:"metadata"`
	}
	require.NoError(t, xml.Unmarshal([]byte(text["adgateway.nuspec"]), &spec))
	m := spec.Metadata
	assert.Equal(t, []string{"adgateway", "1.2.3", downloads}, []string{m.ID, m.Version, m.Project})
	assert.NotEmpty(t, m.Authors)
	assert.NotContains(t, m.Tags, ",")
	assert.NotContains(t, m.Description, "@")
	assert.Greater(t, len(m.Description), 30)
	assert.Less(t, len(m.Description), 4000)
	assert.NotEqual(t, m.Description, m.Summary)
	_, faults := syntax.Parse("chocolateyInstall.ps1", text["tools/chocolateyInstall.ps1"])
	assert.Empty(t, faults)
	assert.Contains(t, text["tools/chocolateyInstall.ps1"], "$checksum64 = '"+sumOf(msi)+"'")
	assert.Contains(t, text["tools/VERIFICATION.txt"], sumOf(msi))
}
