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
// folder of PSModulePath, and as a NuGet package for a repository.
func moduleArchives(ctx context.Context, version string, stamp time.Time, sign *signer) (map[string][]byte, error) {
	numbers := versionNumbers(version)
	short := fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2])
	if numbers[3] > 0 {
		short += fmt.Sprintf(".%d", numbers[3])
	}
	module, err := clients.Module(ops.Table(), short)
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
	for name, text := range packageParts(short, slices.Sorted(maps.Keys(files))) {
		files[name] = file{[]byte(text), 0o644}
	}
	packed, err := pack("", files, stamp)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		clients.ModuleName + "-" + version + ".zip": unpacked,
		clients.ModuleName + "." + short + ".nupkg": packed,
	}, nil
}

// packageParts returns what makes a NuGet package of a zip: the specification, and the
// parts that the Open Packaging Conventions ask for.
func packageParts(version string, files []string) map[string]string {
	const head = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	types := map[string]string{"rels": "application/vnd.openxmlformats-package.relationships+xml", "nuspec": "application/octet"}
	for _, name := range files {
		types[name[strings.LastIndex(name, ".")+1:]] = "application/octet"
	}
	var content strings.Builder
	for _, extension := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&content, "  <Default Extension=%q ContentType=%q />\n", extension, types[extension])
	}
	return map[string]string{
		clients.ModuleName + ".nuspec": head + `<package xmlns="http://schemas.microsoft.com/packaging/2011/08/nuspec.xsd">
  <metadata>
    <id>` + clients.ModuleName + `</id>
    <version>` + version + `</version>
    <authors>adgateway</authors>
    <owners>adgateway</owners>
    <requireLicenseAcceptance>false</requireLicenseAcceptance>
    <description>Active Directory and Windows DNS through an adgateway server.</description>
    <tags>ActiveDirectory DNS PSModule PSEdition_Desktop PSEdition_Core</tags>
  </metadata>
</package>
`,
		"_rels/.rels": head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/` + clients.ModuleName + `.nuspec" Id="R1" />
</Relationships>
`,
		"[Content_Types].xml": head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
` + content.String() + "</Types>\n",
	}
}
