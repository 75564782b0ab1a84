// Command release builds a release: a zip for each system with the executable, default settings, the
// manual, alert rules and a dashboard, the licenses of everything inside, a bill of materials, and
// checksums; a second zip with adgateway-engine; an MSI of the gateway for each Windows; the PowerShell
// module as zip, NuGet package and MSI; the Ansible collection; the files for Windows package managers;
// and the provenance of all these files.
//
//	release -version v1.2.3 -out dist
//
// The same sources and SOURCE_DATE_EPOCH produce the same bytes: entries are sorted, every time is
// SOURCE_DATE_EPOCH, and nothing depends on the machine. With a certificate (-sign-certificate,
// -sign-key), files for Windows are signed before they are packed. The bytes then differ in each build.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/config"
	"adgateway/scripts"
)

const product = "adgateway"

// program is an executable of a release. It has a zip for each target, and may have an MSI for each Windows
// target.
type program struct {
	Name        string    // name of its folder in cmd, and of its service if it has an installer
	Description string    // in the version information of Windows
	version     string    // variable set by the linker
	Installer   installer // zero means no MSI
}

var (
	gateway = program{product, "Active Directory gateway", "adgateway/cmd/adgateway/internal/cli.version",
		installer{"6F6B6C32-6E0B-5B0F-9C6B-0C4C6F0B3A51", "B5D7B6D0-2E4B-5C55-8E34-0B7C8F5F1A0", "adgateway.yaml"}}
	engine = program{product + "-engine", "Node with the log of several Active Directory gateways",
		"main.version", installer{}}
)

// target is a system to build for.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func main() {
	version := flag.String("version", "", "`VERSION` to stamp, such as v1.2.3")
	out := flag.String("out", "dist", "`DIRECTORY` to write to")
	certificate := flag.String("sign-certificate", "",
		"PEM `FILE` with the certificate that signs what is for Windows, and its chain")
	key := flag.String("sign-key", "", "PEM `FILE` with its key")
	timestamps := flag.String("sign-timestamps", "", "`URL` of an authority for time stamps (RFC 3161)")
	only := flag.String("only", "",
		"a single `SYSTEM` to build for, such as windows/amd64, or clients for none; all by default")
	withMSI := flag.Bool("msi", false, "build a package of Windows Installer for each Windows system, too")
	url := flag.String("url", "",
		"`URL` of the folder that the files will be downloaded from; with it, manifests for winget and Scoop "+
			"are written")
	manual := flag.String("manual", "",
		"`URL` where the manual is published, such as a gateway's /manual, for Get-Help -Online")
	commit := flag.String("commit", "", "`COMMIT` that the sources are of, for the provenance")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	sign, err := newSigner(*certificate, *key, *timestamps)
	if err == nil {
		asked := &job{
			version: *version, commit: *commit, url: *url, manual: *manual, only: *only, withMSI: *withMSI, sign: sign,
		}
		err = asked.release(ctx, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// job is a requested release.
type job struct {
	version, commit, url, manual, only string
	withMSI                            bool
	sign                               *signer
	stamp                              time.Time
}

// release writes the files of a release, and their checksums, into a folder.
func (j *job) release(ctx context.Context, out string) error {
	if j.version == "" {
		return errors.New("-version is missing")
	}
	err := scripts.Verify()
	if err != nil {
		return err
	}
	if j.stamp, err = sourceDate(os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	built := map[string][]byte{}
	for _, t := range targets {
		if j.only != "" && j.only != t.os+"/"+t.arch {
			continue
		}
		if err := j.system(ctx, t, built); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	if len(built) == 0 && j.only != "clients" {
		return fmt.Errorf("-only %s: there is no such system", j.only)
	}
	if err := j.clients(ctx, built); err != nil {
		return err
	}
	statement, err := provenance(j.version, j.commit, built, j.stamp)
	if err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	name := product + "-" + j.version
	if j.sign != nil {
		if built[name+".intoto.jsonl"], err = envelope(statement, j.sign.key); err != nil {
			return fmt.Errorf("provenance: %w", err)
		}
	}
	built[name+".provenance.json"] = statement
	var sums []string
	for name, content := range built {
		sums = append(sums, sum(name, content))
		path := filepath.Join(out, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, content, 0o644)); err != nil {
			return err
		}
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[66:], b[66:]) }) // by name
	fmt.Println(strings.Join(sums, "\n"))
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(sums, "\n")+"\n"), 0o644)
}

// system builds the files for a system.
func (j *job) system(ctx context.Context, t target, built map[string][]byte) error {
	for _, p := range []program{engine, gateway} {
		if err := j.packages(ctx, p, t, built); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// packages builds the zip of a program, and its MSI if it has one.
func (j *job) packages(ctx context.Context, p program, t target, built map[string][]byte) error {
	name, content, err := j.zip(ctx, p, t, built)
	if err != nil || t.os != "windows" || !j.withMSI || p.Installer == (installer{}) {
		return err
	}
	installer, err := msi(ctx, p, t.arch, j.version, content, j.stamp)
	if err != nil {
		return err
	}
	built[name+".msi"], err = j.sign.sign(ctx, name+".msi", installer)
	return err
}

// zip builds the zip of a program and its bill of materials. It returns their common file name, without an
// extension, and the content of the zip.
func (j *job) zip(
	ctx context.Context, p program, t target, built map[string][]byte,
) (name string, content map[string]file, err error) {
	if content, err = j.contents(ctx, p, t); err != nil {
		return "", nil, err
	}
	name = fmt.Sprintf("%s-%s-%s-%s", p.Name, j.version, t.os, t.arch)
	built[name+".cdx.json"] = content[sbomFile].content
	built[name+".zip"], err = pack(name, content, j.stamp)
	return name, content, err
}

// clients builds the clients for other tools, and the files for package managers.
func (j *job) clients(ctx context.Context, built map[string][]byte) error {
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return fmt.Errorf("%w (run in the module's root)", err)
	}
	module, err := moduleArchives(ctx, j.version, j.manual, j.stamp, j.withMSI, j.sign)
	if err != nil {
		return err
	}
	collection, err := collectionArchive(j.version, license, j.stamp)
	if err != nil {
		return err
	}
	managers, err := managerFiles(ctx, j.version, j.url, built, license, j.stamp, j.sign)
	if err != nil {
		return err
	}
	for _, files := range []map[string][]byte{module, collection, managers} {
		maps.Copy(built, files)
	}
	return nil
}

func sourceDate(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 315532800 { // zip cannot store times before 1980
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: set it to the seconds since 1970 of the commit",
			text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func sum(name string, content []byte) string {
	return fmt.Sprintf("%x  %s", sha256.Sum256(content), name)
}

// contents returns the files of a zip by their path in it.
func (j *job) contents(ctx context.Context, p program, t target) (map[string]file, error) {
	executable, err := build(ctx, p, t, j.version)
	if err != nil {
		return nil, err
	}
	name, newline := p.Name, "\n"
	if t.os == "windows" {
		name, newline = p.Name+".exe", "\r\n"
		if executable, err = withVersion(executable, p, j.version, j.stamp); err != nil {
			return nil, fmt.Errorf("version information: %w", err)
		}
		if executable, err = j.sign.sign(ctx, name, executable); err != nil {
			return nil, err
		}
	}
	all := map[string]file{name: {executable, 0o755}}
	err = errors.Join(addManual(all, newline), add(all, newline, map[string]string{"LICENSE": "LICENSE.txt"}))
	if err == nil && p == gateway {
		err = ofGateway(all, newline)
	}
	if err != nil {
		return nil, err
	}
	licenses, names, err := licensesOf(ctx, p, t)
	if err != nil {
		return nil, err
	}
	for path, text := range licenses {
		all["licenses/"+path] = file{text, 0o644}
	}
	materials, err := sbom(executable, p, t, j.version, j.stamp, names)
	if err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	all[sbomFile] = file{materials, 0o644}
	var sums []string
	for path, f := range all {
		sums = append(sums, sum(path, f.content))
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[66:], b[66:]) }) // by path
	all["SHA256SUMS"] = file{[]byte(strings.Join(sums, "\n") + "\n"), 0o644}
	return all, nil
}

// add adds text files of the module to a zip. paths maps their paths in the module to those in the zip.
func add(all map[string]file, newline string, paths map[string]string) error {
	for from, to := range paths {
		text, err := os.ReadFile(from)
		if err != nil {
			return fmt.Errorf("%w (run in the module's root)", err)
		}
		// The Notepad of Windows Server 2016 supports only CRLF.
		all[to] = file{bytes.ReplaceAll(text, []byte("\n"), []byte(newline)), 0o644}
	}
	return nil
}

// ofGateway adds the files that are only in the gateway's zip.
func ofGateway(all map[string]file, newline string) error {
	all["adgateway.yaml"] = file{config.Template(newline), 0o644}
	if err := add(all, newline, map[string]string{"ps/cmdlets/data/NOTICE.md": "licenses/cmdlet-declarations/NOTICE.md"}); err != nil {
		return err
	}
	if err := add(all, "\n", map[string]string{"cmd/release/monitoring/adgateway.rules.yml": "monitoring/adgateway.rules.yml"}); err != nil {
		return err
	}
	graphs, err := dashboard()
	if err != nil {
		return err
	}
	all["monitoring/dashboard.json"] = file{graphs, 0o644}
	examples, err := clients.Terraform()
	for path, text := range examples {
		all["clients/terraform/"+path] = file{text, 0o644}
	}
	return err
}

func build(ctx context.Context, p program, t target, version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	overlay, err := overlaid(ctx, t, dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, p.Name)
	_, err = goTool(ctx, t, "build", "-overlay", overlay, "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -buildid= -X "+p.version+"="+version, "-o", path, "./cmd/"+p.Name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// overlaid returns the path of a file for go build's option -overlay. A release embeds compressed files, and
// its templates find their methods by constant names. The files are written into a folder.
func overlaid(ctx context.Context, t target, dir string) (string, error) {
	replaced, err := packedFiles(dir)
	if err != nil {
		return "", err
	}
	goroot, err := goTool(ctx, t, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	templates, err := namedMethods(strings.TrimSpace(string(goroot)), dir)
	if err != nil {
		return "", err
	}
	maps.Copy(replaced, templates)
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// goTool runs go for a target and returns its output.
func goTool(ctx context.Context, t target, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOFLAGS=-tags=nomsgpack")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return text, nil
}
