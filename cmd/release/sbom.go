package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// sbomFile is the bill of materials in a zip.
const sbomFile = "sbom.cdx.json"

// spdx are the licenses whose names are SPDX identifiers.
var spdx = []string{"Apache-2.0", "MIT", "ISC", "Zlib", "MPL-2.0"}

// sbom returns the bill of materials of an executable in CycloneDX format: every module that the
// linker recorded in it, and Go itself. licenses maps module paths to the names of licenses.
func sbom(
	executable []byte, p program, t target, version string, stamp time.Time, licenses map[string][]string,
) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(executable))
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(executable)
	all := cyclonedx.NewBOM()
	all.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, digest[:]).URN() // the same bytes have the same number
	all.Metadata = &cyclonedx.Metadata{
		Timestamp: stamp.UTC().Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: p.Name, Type: cyclonedx.ComponentTypeApplication, Name: p.Name, Version: version,
			Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", digest)}},
			Properties: &[]cyclonedx.Property{{Name: "os", Value: t.os}, {Name: "architecture", Value: t.arch}},
		},
	}
	modules := append(slices.Clone(info.Deps), &debug.Module{Path: "go", Version: info.GoVersion})
	var components []cyclonedx.Component
	var refs []string
	for _, m := range modules {
		path := m.Path
		if m.Replace != nil {
			m = m.Replace
		}
		if ours(m.Path) {
			continue
		}
		component := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			BOMRef: m.Path + "@" + m.Version}
		if m.Path == "go" {
			component.Name, component.Type = "Go standard library", cyclonedx.ComponentTypeFramework
			component.PackageURL = "pkg:golang/std@" + strings.TrimPrefix(m.Version, "go")
		} else {
			component.PackageURL = "pkg:golang/" + m.Path + "@" + m.Version
		}
		if len(licenses[path]) == 0 {
			return nil, fmt.Errorf("%s has no license", path)
		}
		component.Licenses = choices(licenses[path])
		components, refs = append(components, component), append(refs, component.BOMRef)
	}
	all.Components = &components
	all.Dependencies = &[]cyclonedx.Dependency{{Ref: p.Name, Dependencies: &refs}}
	var text bytes.Buffer
	err = cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(all,
		cyclonedx.SpecVersion1_6)
	return text.Bytes(), err
}

// ours reports whether a replaced module is replaced by a folder of these sources.
func ours(path string) bool { return strings.HasPrefix(path, "./") }

// choices returns the licenses in the form that a component uses.
func choices(names []string) *cyclonedx.Licenses {
	var all cyclonedx.Licenses
	for _, name := range names {
		if slices.Contains(spdx, name) {
			all = append(all, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: name}})
		} else {
			all = append(all, cyclonedx.LicenseChoice{License: &cyclonedx.License{Name: name}})
		}
	}
	return &all
}
