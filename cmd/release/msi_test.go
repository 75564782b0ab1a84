package main

import (
	"encoding/xml"
	"flag"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	packageFile = flag.String("package", "",
		"an MSI of version v1.0.0 for amd64 whose tables are checked (needs msiinfo)")
	updateTables = flag.Bool("update", false, "rewrite the golden file of the tables")
)

type customAction struct {
	ID          string `xml:"Id,attr"`
	Execute     string `xml:"Execute,attr"`
	Impersonate string `xml:"Impersonate,attr"`
	Return      string `xml:"Return,attr"`
	Command     string `xml:"ExeCommand,attr"`
}

type component struct {
	ID   string `xml:"Id,attr"`
	GUID string `xml:"Guid,attr"`
}

// msiFolders are the folders below the program's folder.
type msiFolders struct {
	Name       string       `xml:"Name,attr"`
	Components []component  `xml:"Component"`
	Folders    []msiFolders `xml:"Directory"`
}

// msiProduct contains the elements of the package's source that the tests read.
type msiProduct struct {
	UpgradeCode string         `xml:"UpgradeCode,attr"`
	Actions     []customAction `xml:"CustomAction"`
	Conditions  []string       `xml:"Condition"`
	Components  []component    `xml:"Directory>Directory>Directory>Component"`
	Folders     []msiFolders   `xml:"Directory>Directory>Directory>Directory"`
	Sequence    []struct {
		Action    string `xml:"Action,attr"`
		Sequence  string `xml:"Sequence,attr"`
		Condition string `xml:",chardata"`
	} `xml:"InstallExecuteSequence>Custom"`
}

func sourceOfThePackage(t *testing.T, p program) (text string, source msiProduct) {
	t.Helper()
	raw, err := p.msiSource(slices.Sorted(maps.Keys(pagesOfZip(t))))
	require.NoError(t, err)
	var parsed struct {
		Product msiProduct `xml:"Product"`
	}
	require.NoError(t, xml.Unmarshal(raw, &parsed))
	return string(raw), parsed.Product
}

// Actions run the executable only while it is installed, and with the installer's rights.
func TestActionsOfThePackage(t *testing.T) {
	_, p := sourceOfThePackage(t, gateway)
	at := map[string]int{}
	conditions := map[string]string{}
	for _, s := range p.Sequence {
		n, err := strconv.Atoi(s.Sequence)
		require.NoError(t, err, "%s: wixl sorts only numbers as they should be", s.Action)
		at[s.Action], conditions[s.Action] = n, s.Condition
	}
	require.Len(t, at, len(p.Actions))
	for _, a := range p.Actions {
		if a.Command == "" {
			assert.Less(t, at[a.ID], 100, a.ID)
			continue
		}
		assert.Equal(t, "deferred", a.Execute, a.ID)
		assert.Equal(t, "no", a.Impersonate, a.ID)
		assert.Equal(t, a.ID == "ServiceInstall", a.Return == "check",
			"%s: only what installs the service rolls back", a.ID)
		assert.Greater(t, at[a.ID], 1500, a.ID)
		assert.Less(t, at[a.ID], 6600, a.ID)
	}
	assert.Less(t, at["ServiceKeep"], 1900, "before the service is stopped")
	assert.Less(t, at["ServiceUninstall"], 3500, "before the executable is removed")
	assert.Less(t, at["ServiceRestore"], at["ServiceInstall"])
	assert.Greater(t, at["ServiceInstall"], 4000, "after the executable is there")
	assert.Equal(t, `REMOVE = "ALL" AND NOT UPGRADINGPRODUCTCODE`, conditions["ServiceUninstall"], "of an upgrade, the service stays")
}

// Windows counts the users of files, and finds older versions, by these identifiers.
func TestIdentifiersOfThePackageNeverChange(t *testing.T) {
	for _, c := range []struct {
		program                   program
		upgrade, start, ofVersion string
	}{
		{gateway, "6F6B6C32-6E0B-5B0F-9C6B-0C4C6F0B3A51", "B5D7B6D0-2E4B-5C55-8E34-0B7C8F5F1A0", "{954EEAF0-017E-5FFF-98C7-F53E743A7102}"},
	} {
		_, p := sourceOfThePackage(t, c.program)
		assert.Equal(t, c.upgrade, p.UpgradeCode)
		assert.Equal(t, []component{{"Program", c.start + "1"}, {"Texts", c.start + "2"}, {"Path", c.start + "3"},
			{"EventSource", c.start + "4"}, {"ServiceStop", c.start + "5"}}, p.Components)
		assert.Equal(t, []msiFolders{
			{"gateway", nil, []msiFolders{{"manual", []component{{"Manual", c.start + "6"}}, []msiFolders{{"reference", []component{{"Reference", c.start + "7"}}, nil}}}}},
			{"test", nil, []msiFolders{{"browser", nil, []msiFolders{{"testdata", []component{{"Pictures", c.start + "8"}}, nil}}}}},
		}, p.Folders)
		codes := c.program.Installer
		assert.Equal(t, c.ofVersion, codes.code("1.0.0", "amd64"))
		assert.NotEqual(t, codes.code("1.0.0", "amd64"), codes.code("1.0.0", "arm64"))
	}
}

func TestThePackageRefusesWithASentence(t *testing.T) {
	text, p := sourceOfThePackage(t, gateway)
	all := strings.Join(p.Conditions, "\n")
	for _, condition := range []string{"Privileged", "MsiNTProductType <> 2", "VersionNT >= 603"} {
		assert.Contains(t, all, condition)
	}
	for _, word := range []string{"password", "<serviceinstall"} {
		assert.NotContains(t, strings.ToLower(text), word)
	}
}

func TestVersionsOfPackages(t *testing.T) {
	for text, want := range map[string]string{"v1.2.3": "1.2.3", "v1.2.3-45-gabcdef": "1.2.3", "dev": "0.0.0",
		"v255.255.65535": "255.255.65535"} {
		version, err := msiVersion(text)
		require.NoError(t, err)
		assert.Equal(t, want, version)
	}
	for _, text := range []string{"v256.0.0", "v1.256.0"} {
		_, err := msiVersion(text)
		assert.ErrorContains(t, err, "at most 255")
	}
}

// Tables with sizes and checksums are left out, because these differ between builds.
func TestTablesOfThePackage(t *testing.T) {
	if *packageFile == "" {
		t.Log("no package is given; 'make wine-test' does")
		return
	}
	var all strings.Builder
	for _, table := range []string{"Component", "CustomAction", "Directory", "Environment", "FeatureComponents",
		"InstallExecuteSequence", "LaunchCondition",
		"Property", "RegLocator", "Registry", "ServiceControl", "ServiceInstall", "Upgrade"} {
		text, err := exec.CommandContext(t.Context(), "msiinfo", "export", *packageFile, table).Output()
		require.NoError(t, err, table)
		all.WriteString("== " + table + "\n" + strings.ReplaceAll(string(text), "\r", ""))
	}
	template, err := exec.CommandContext(t.Context(), "msiinfo", "suminfo", *packageFile).Output()
	require.NoError(t, err)
	assert.Contains(t, string(template), "Template: x64;1033")
	name := regexp.MustCompile(`(?m)^ProductName\t(\S+)$`).FindStringSubmatch(all.String())
	require.NotNil(t, name)
	golden := "testdata/" + name[1] + ".tables.txt"
	if *updateTables {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), all.String())
}
