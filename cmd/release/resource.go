package main

import (
	"bytes"
	"regexp"
	"strconv"
	"time"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

// withVersion adds version information to a Windows executable, which Explorer shows
// under Details.
func withVersion(executable []byte, p program, text string, stamp time.Time) ([]byte, error) {
	numbers := versionNumbers(text)
	info := version.Info{FileVersion: numbers, ProductVersion: numbers, Timestamp: stamp}
	for key, value := range map[string]string{
		version.ProductName:      product,
		version.FileDescription:  p.Description,
		version.ProductVersion:   text,
		version.FileVersion:      text,
		version.InternalName:     p.Name,
		version.OriginalFilename: p.Name + ".exe",
		version.LegalCopyright:   "MIT License",
	} {
		if err := info.Set(version.LangDefault, key, value); err != nil {
			return nil, err
		}
	}
	resources := winres.ResourceSet{}
	resources.SetVersionInfo(info)
	resources.SetManifest(winres.AppManifest{
		ExecutionLevel: winres.AsInvoker, Compatibility: winres.Win10AndAbove, LongPathAware: true,
	})
	var b bytes.Buffer
	if err := resources.WriteToEXE(&b, bytes.NewReader(executable)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var versionPattern = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)(?:-(\d+)-g)?`)

// versionNumbers returns the four numbers of a version in the form of git describe, such as
// v1.2.3 or v1.2.3-45-gabcdef, or zeros for any other text.
func versionNumbers(text string) (numbers [4]uint16) {
	for i, part := range versionPattern.FindStringSubmatch(text) {
		if n, err := strconv.ParseUint(part, 10, 16); err == nil && i > 0 {
			numbers[i-1] = uint16(n)
		}
	}
	return numbers
}
