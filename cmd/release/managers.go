package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// The identity of the package in Windows package managers.
const (
	wingetID      = product + "." + product
	wingetVersion = "1.10.0" // of the schemas (facts L1, L2)
	shortly       = "HTTP gateway that manages Active Directory, Windows DNS and AD computers"
	atLength      = "An HTTP API for users, groups, OUs, computers and DNS, with scopes and limits for each " +
		"token, dry runs, plans, undo and an audit. It runs as a Windows service and needs the modules " +
		"ActiveDirectory and DnsServer."
)

// managerFiles returns the files with which Windows package managers install the MSIs and
// zips of a release, by file name. For packages that are downloaded, url is the URL of the
// folder with the files; Chocolatey's package contains the MSI.
func managerFiles(ctx context.Context, version, url string, built map[string][]byte, license []byte,
	stamp time.Time, sign *signer) (map[string][]byte, error) {
	out := map[string][]byte{}
	of := func(arch, suffix string) (string, []byte) {
		name := fmt.Sprintf("%s-%s-windows-%s.%s", product, version, arch, suffix)
		return name, built[name]
	}
	if name, content := of("amd64", "msi"); content != nil {
		packed, err := chocolatey(ctx, version, url, name, content, license, stamp, sign)
		if err != nil {
			return nil, err
		}
		out[product+"."+shortVersion(version)+".nupkg"] = packed
	}
	if url == "" {
		return out, nil
	}
	url = strings.TrimSuffix(url, "/") + "/"
	var installers, zips []string
	architectures := map[string]any{}
	for _, arch := range []string{"amd64", "arm64"} {
		if name, content := of(arch, "msi"); content != nil {
			installers = append(installers, wingetInstaller(version, arch, url+name, content))
		}
		if name, content := of(arch, "zip"); content != nil {
			zips = append(zips, name)
			architectures[map[string]string{"amd64": "64bit", "arm64": "arm64"}[arch]] = map[string]any{
				"url": url + name, "hash": fmt.Sprintf("%x", sha256.Sum256(content)), "extract_dir": strings.TrimSuffix(name, ".zip"),
			}
		}
	}
	if installers != nil {
		for kind, text := range wingetFiles(version, url, installers, stamp) {
			out["winget/"+wingetID+kind+".yaml"] = []byte(text)
		}
	}
	if zips != nil {
		text, err := json.MarshalIndent(map[string]any{
			"version": shortVersion(version), "description": shortly, "homepage": url, "license": "MIT", "architecture": architectures, "bin": product + ".exe",
			"notes": []string{"The command and its sandbox. A service is installed by the MSI, for all users."},
		}, "", "    ")
		if err != nil {
			return nil, err
		}
		out["scoop/"+product+".json"] = append(text, '\n')
	}
	return out, nil
}

// wingetInstaller returns the manifest entry of an MSI.
func wingetInstaller(version, arch, url string, content []byte) string {
	code := gateway.Installer.code(shortVersion(version), arch)
	return fmt.Sprintf(`  - Architecture: %s
    InstallerUrl: %s
    InstallerSha256: %X
    ProductCode: '%s'
    AppsAndFeaturesEntries:
      - ProductCode: '%s'
        UpgradeCode: '%s'
        InstallerType: wix
`, map[string]string{"amd64": "x64", "arm64": "arm64"}[arch], quotedYAML(url), sha256.Sum256(content), code, code, "{"+gateway.Installer.UpgradeCode+"}")
}

// wingetFiles returns the three manifests of a version by file name suffix.
func wingetFiles(version, url string, installers []string, stamp time.Time) map[string]string {
	head := func(kind string) string {
		return fmt.Sprintf("# yaml-language-server: $schema=https://aka.ms/winget-manifest.%s.%s.schema.json\n\n"+
			"PackageIdentifier: %s\nPackageVersion: %s\n",
			strings.ToLower(kind), wingetVersion, wingetID, shortVersion(version))
	}
	tail := func(kind string) string {
		return fmt.Sprintf("ManifestType: %s\nManifestVersion: %s\n", kind, wingetVersion)
	}
	return map[string]string{
		"": head("version") + "DefaultLocale: en-US\n" + tail("version"),
		".locale.en-US": head("defaultLocale") + "PackageLocale: en-US\nPublisher: " + product + "\nPackageName: " + product + "\nPackageUrl: " + quotedYAML(url) +
			"\nLicense: MIT\nShortDescription: " + shortly + "\nDescription: " + quotedYAML(atLength) + "\nTags:\n  - active-directory\n  - dns\n  - rest-api\n" + tail("defaultLocale"),
		".installer": head("installer") + "InstallerType: wix\nScope: machine\nPlatform:\n  - Windows.Desktop\nMinimumOSVersion: 10.0.14393.0\n" +
			"UpgradeBehavior: install\nElevationRequirement: elevationRequired\nReleaseDate: " + stamp.UTC().Format(time.DateOnly) + "\nInstallers:\n" +
			strings.Join(installers, "") + tail("installer"),
	}
}

// quotedYAML returns a text as a YAML scalar, in JSON notation.
func quotedYAML(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // any string can be encoded
	}
	return string(quoted)
}

// chocolatey returns the Chocolatey package. It contains the MSI, as feeds inside a network
// require (facts L3).
func chocolatey(
	ctx context.Context, version, url, name string, msi, license []byte, stamp time.Time, sign *signer,
) ([]byte, error) {
	install := fmt.Sprintf(`$ErrorActionPreference = 'Stop'
$folder = Split-Path -Parent -Path $MyInvocation.MyCommand.Definition
$file = Join-Path -Path $folder -ChildPath '%s'
$checksum64 = '%x'
Get-ChecksumValid -File $file -Checksum $checksum64 -ChecksumType 'sha256'
$package = @{
    PackageName = '%s'
    FileType = 'msi'
    File = $file
    SilentArgs = '/qn /norestart'
    ValidExitCodes = @(0, 1641, 3010)
}
Install-ChocolateyInstallPackage @package
`, name, sha256.Sum256(msi), product)
	var site, escaped strings.Builder
	if url != "" {
		if err := xml.EscapeText(&escaped, []byte(url)); err != nil {
			return nil, err
		}
		fmt.Fprintf(&site, "    <projectUrl>%s</projectUrl>\n", escaped.String())
	}
	short := shortVersion(version)
	verification := fmt.Sprintf("The package has %s of release %s in it, whose SHA-256 is\n%x.\n"+
		"The release's SHA256SUMS has the same sum; the same sources give the same bytes (make release-check).\n",
		name, version, sha256.Sum256(msi))
	script, err := sign.sign(ctx, "chocolateyInstall.ps1", []byte(strings.ReplaceAll(install, "\n", "\r\n")))
	if err != nil {
		return nil, err
	}
	files := map[string]file{
		"tools/" + name:               {msi, 0o644},
		"tools/chocolateyInstall.ps1": {script, 0o644},
		"tools/LICENSE.txt":           {license, 0o644},
		"tools/VERIFICATION.txt":      {[]byte(verification), 0o644},
	}
	parts := nugetParts(product, []string{"x.ps1", "x.txt", "x.msi"}, fmt.Sprintf(`    <id>%s</id>
    <version>%s</version>
    <title>%s</title>
    <authors>The adgateway authors</authors>
    <owners>adgateway</owners>
%s    <requireLicenseAcceptance>false</requireLicenseAcceptance>
    <summary>%s.</summary>
    <description>%s</description>
    <tags>active-directory dns rest-api service</tags>
`, product, short, product, site.String(), shortly, atLength))
	for path, text := range parts {
		files[path] = file{[]byte(text), 0o644}
	}
	return pack("", files, stamp)
}
