package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
)

// moduleArchives returns the PowerShell module by file name: as a zip to unpack into a
// folder of PSModulePath, as a NuGet package for a repository, and, if withMSI is set, as an
// MSI that a group policy assigns to computers.
func moduleArchives(
	ctx context.Context, version, manualURL string, stamp time.Time, withMSI bool, sign *signer,
) (map[string][]byte, error) {
	short := shortVersion(version)
	if fourth := versionNumbers(version)[3]; fourth > 0 {
		short += fmt.Sprintf(".%d", fourth)
	}
	module, err := clients.Module(ops.Table(), short, manualURL)
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for name, content := range module {
		if content, err = sign.sign(ctx, name, content); err != nil {
			return nil, err
		}
		files[name] = file{content, 0o644}
	}
	unpacked, err := pack(clients.ModuleName+"/"+short, files, stamp)
	if err != nil {
		return nil, err
	}
	archives := map[string][]byte{clients.ModuleName + "-" + version + ".zip": unpacked}
	if withMSI {
		name := clients.ModuleName + "-" + version + ".msi"
		installer, err := moduleMSI(ctx, version, short, files, stamp)
		if err != nil {
			return nil, err
		}
		if archives[name], err = sign.sign(ctx, name, installer); err != nil {
			return nil, err
		}
	}
	for name, text := range packageParts(short, slices.Sorted(maps.Keys(files))) {
		files[name] = file{[]byte(text), 0o644}
	}
	packed, err := pack("", files, stamp)
	if err != nil {
		return nil, err
	}
	archives[clients.ModuleName+"."+short+".nupkg"] = packed
	return archives, nil
}

// shortVersion returns the three numbers of a version.
func shortVersion(version string) string {
	numbers := versionNumbers(version)
	return fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2])
}

// packageParts returns the additional parts of a NuGet package that contains the module's files.
func packageParts(version string, files []string) map[string]string {
	return nugetParts(clients.ModuleName, files, `    <id>`+clients.ModuleName+`</id>
    <version>`+version+`</version>
    <authors>adgateway</authors>
    <owners>adgateway</owners>
    <requireLicenseAcceptance>false</requireLicenseAcceptance>
    <description>Active Directory and Windows DNS through an adgateway server.</description>
    <tags>ActiveDirectory DNS PSModule PSEdition_Desktop PSEdition_Core</tags>
`)
}

// nugetParts returns the additional parts of a NuGet package: the specification, and the
// parts required by the Open Packaging Conventions.
func nugetParts(id string, files []string, metadata string) map[string]string {
	const head = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	types := map[string]string{"rels": "application/vnd.openxmlformats-package.relationships+xml",
		"nuspec": "application/octet"}
	for _, name := range files {
		types[name[strings.LastIndex(name, ".")+1:]] = "application/octet"
	}
	var content strings.Builder
	for _, extension := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&content, "  <Default Extension=%q ContentType=%q />\n", extension, types[extension])
	}
	return map[string]string{
		id + ".nuspec": head + `<package xmlns="http://schemas.microsoft.com/packaging/2011/08/nuspec.xsd">
  <metadata>
` + metadata + `  </metadata>
</package>
`,
		"_rels/.rels": head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/` + id + `.nuspec" Id="R1" />
</Relationships>
`,
		"[Content_Types].xml": head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
` + content.String() + "</Types>\n",
	}
}
