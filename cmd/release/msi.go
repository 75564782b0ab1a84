package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/google/uuid"
)

// installer identifies a program's packages to Windows Installer. It must never change,
// because Windows recognizes the packages by it.
type installer struct {
	UpgradeCode string // of all versions; also the name space of product and package codes
	Components  string // prefix of the components' identifiers
	Template    string // file in the zip with all settings; empty if there is none
}

//go:embed msi/program.wxs
var msiTemplate string

// msiFolder is a folder of a package below the program's folder.
type msiFolder struct {
	ID, Name        string
	Component, GUID string // of the component with its files
	Files           []string
	Folders         []*msiFolder
}

// manualComponents maps the folders of pages and pictures to the names of their components
// and the suffixes of their identifiers.
var manualComponents = map[string][2]string{
	"gateway/manual":           {"Manual", "6"},
	"gateway/manual/reference": {"Reference", "7"},
	"test/browser/testdata":    {"Pictures", "8"},
}

var noIdentifier = regexp.MustCompile(`[^A-Za-z0-9]`)

// msiIdentifier returns the identifier of a file or folder, derived from its path.
func msiIdentifier(name string) string { return "Text_" + noIdentifier.ReplaceAllString(name, "_") }

// add adds a file to the folder. name is the path of the file, and folderPath the path of the folder.
func (f *msiFolder) add(folderPath, name string, i installer) error {
	folder, rest, deeper := strings.Cut(strings.TrimPrefix(name, folderPath), "/")
	if !deeper {
		known, ok := manualComponents[strings.TrimSuffix(folderPath, "/")]
		if !ok {
			return fmt.Errorf("%s: no component of the MSI has the files of its folder", name)
		}
		f.Component, f.GUID = known[0], i.Components+known[1]
		f.Files = append(f.Files, name)
		return nil
	}
	at := slices.IndexFunc(f.Folders, func(g *msiFolder) bool { return g.Name == folder })
	if at < 0 {
		at = len(f.Folders)
		f.Folders = append(f.Folders, &msiFolder{ID: msiIdentifier(folderPath + folder), Name: folder})
	}
	return f.Folders[at].add(folderPath+folder+"/", folderPath+folder+"/"+rest, i)
}

// msiSource returns the source of the program's package. texts are the paths of its pages and pictures.
func (p program) msiSource(texts []string) ([]byte, error) {
	t, err := template.New("program.wxs").Funcs(template.FuncMap{"fileID": msiIdentifier}).Parse(msiTemplate)
	if err != nil {
		return nil, err
	}
	var root msiFolder
	for _, name := range texts {
		if err := root.add("", name, p.Installer); err != nil {
			return nil, err
		}
	}
	var components []string
	for _, known := range manualComponents {
		components = append(components, known[0])
	}
	slices.Sort(components)
	var source bytes.Buffer
	err = t.Execute(&source, struct {
		program
		Manual     []*msiFolder
		Components []string
	}{p, root.Folders, components})
	return source.Bytes(), err
}

// environmentTable is the table that adds the program's folder to PATH. wixl cannot generate it.
const environmentTable = "Environment\tName\tValue\tComponent_\r\ns72\tl255\tL255\ts72\r\n" +
	"Environment\tEnvironment\r\n" +
	"SearchPath\t=-*PATH\t[~];[INSTALLDIR]\tPath\r\n"

// msiChanges are changes that wixl cannot express. wixl turns a rollback action into an immediate one, and
// ignores that properties are secure. Without these changes, the elevated part of an installation would lose
// properties that a user without administrator rights has passed to msiexec.
var msiChanges = []string{
	"UPDATE CustomAction SET Type = 3410 WHERE Action = 'ServiceRestore'",
	"UPDATE Property SET Value = 'WIX_DOWNGRADE_DETECTED;WIX_UPGRADE_DETECTED;INSTALLDIR;SERVICEACCOUNT;START;ADDTOPATH;ALLOWDOMAINCONTROLLER' WHERE Property = 'SecureCustomProperties'",
	"UPDATE Component SET Condition = 'ADDTOPATH = \"1\"' WHERE Component = 'Path'",
	"INSERT INTO InstallExecuteSequence (Action, Condition, Sequence) VALUES ('RemoveEnvironmentStrings', '', 3300)",
	"INSERT INTO InstallExecuteSequence (Action, Condition, Sequence) VALUES ('WriteEnvironmentStrings', '', 5200)",
}

// code returns a product or package code derived from the parts.
func (i installer) code(parts ...string) string {
	space := uuid.MustParse(i.UpgradeCode)
	return "{" + strings.ToUpper(uuid.NewSHA1(space, []byte(strings.Join(parts, "\n"))).String()) + "}"
}

// msiVersion returns the version of a package: three numbers of limited size.
func msiVersion(version string) (string, error) {
	n := versionNumbers(version)
	if n[0] > 255 || n[1] > 255 {
		return "", fmt.Errorf("version %s: the first two numbers of an MSI are at most 255", version)
	}
	return fmt.Sprintf("%d.%d.%d", n[0], n[1], n[2]), nil
}

// msiTools are the programs that build a package.
var msiTools = []string{"wixl", "msibuild", "faketime"}

// msi returns a program's package for a Windows system, with files of its zip. The same
// files result in the same bytes.
func msi(
	ctx context.Context, p program, arch, version string, files map[string]file, stamp time.Time,
) ([]byte, error) {
	number, err := msiVersion(version)
	if err != nil {
		return nil, err
	}
	texts := manualFiles(files)
	source, err := p.msiSource(texts)
	if err != nil {
		return nil, err
	}
	staged := map[string][]byte{msiSourceName: source, "environment.idt": []byte(environmentTable)}
	for _, name := range append(texts, p.Name+".exe", p.Installer.Template, front, "LICENSE.txt") {
		if name != "" {
			staged[name] = files[name].content
		}
	}
	platform, name, codes := "x64", p.Name+".msi", p.Installer
	if arch == "arm64" {
		platform = "Arm64"
	}
	steps := [][]string{
		{"wixl", "-a", "x64", "-D", "Version=" + number, "-D", "ProductCode=" + codes.code(number, arch), "-o", name, msiSourceName},
		{"msibuild", name, "-i", "environment.idt"},
	}
	for _, change := range msiChanges {
		steps = append(steps, []string{"msibuild", name, "-q", change})
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(files[p.Name+".exe"].content))
	steps = append(steps, summary(name, platform, codes.code(number, arch, sum)))
	return runMSI(ctx, name, staged, steps, stamp)
}

// msiSourceName is the file name of a package's source.
const msiSourceName = "package.wxs"

// summary returns the call that writes the summary information of a package.
func summary(name, platform, code string) []string {
	return []string{"msibuild", name, "-s", "Installation Database", product, platform + ";1033", code}
}

// runMSI runs the steps on the staged files and returns the package that they build. All
// files have the time of the stamp.
func runMSI(
	ctx context.Context, name string, staged map[string][]byte, steps [][]string, stamp time.Time,
) ([]byte, error) {
	for _, tool := range msiTools {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%s, which an MSI is built with, is missing: apt-get install wixl msitools "+
				"faketime", tool)
		}
	}
	dir, err := os.MkdirTemp("", "msi")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, content := range staged {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644),
			os.Chtimes(path, stamp, stamp))
		if err != nil {
			return nil, err
		}
	}
	for _, step := range steps {
		cmd := exec.CommandContext(ctx, "faketime",
			append([]string{"-f", stamp.UTC().Format("2006-01-02 15:04:05")}, step...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TZ=UTC")
		text, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(text), "has no property named") { // wixl ignores an attribute
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(step, " "),
				errors.Join(err, errors.New("it did not do all that was asked")), text)
		}
	}
	return os.ReadFile(filepath.Join(dir, name))
}
