// Package layout checks the structure of the source tree: the imports of each package, the
// places of build tags, and the sizes of files, functions and types.
package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "adgateway/"

// mayImport lists the packages of the module that each package may import outside
// its tests. A pattern that ends in /... covers all packages below.
var mayImport = map[string][]string{
	"cmd/adgateway":                         {"cmd/adgateway/internal/cli"},
	"cmd/adgateway/app":                     {"cmd/adgateway/app/options", "cmd/adgateway/internal/doctor", "cmd/adgateway/internal/program", "gateway", "gateway/...", "ps", "ps/pool", "ps/servers", "ps/session", "ps/sorted", "ps/sandbox", "ps/sandbox/proxies", "ps/sandbox/remote", "scripts", "winsvc", "winsvc/events", "winsvc/host"},
	"cmd/adgateway/app/options":             {"gateway", "gateway/call", "gateway/jobs", "gateway/jobs/rows", "gateway/authn/signin", "gateway/config", "gateway/identity", "gateway/ops", "gateway/privileged", "ps"},
	"cmd/adgateway/setup":                   {"cmd/adgateway/internal/program", "gateway/atomicfile", "gateway/authn", "gateway/identity", "gateway/cluster/migrate", "gateway/cluster/peer", "gateway/cluster/relay", "gateway/cluster/trust", "gateway/config", "gateway/credentials", "gateway/engine/stock", "gateway/filefault", "gateway/journal/jetstream", "gateway/store", "gateway/keyring"},
	"cmd/adgateway/node":                    {"gateway/visible", "cmd/adgateway/internal/doctor", "cmd/adgateway/internal/output", "cmd/adgateway/internal/program", "gateway/cluster/trust", "gateway/config", "gateway/engine", "gateway/every", "gateway/engine/stock", "gateway/journal/jetstream", "gateway/store", "winsvc", "winsvc/events", "winsvc/host", "winsvc/supervisor"},
	"cmd/adgateway/internal/cli":            {"gateway/attributes", "gateway/visible", "cmd/adgateway/app", "cmd/adgateway/internal/backup", "cmd/adgateway/internal/doctor", "cmd/adgateway/internal/doctor/live", "cmd/adgateway/internal/jobclient", "cmd/adgateway/internal/output", "cmd/adgateway/internal/program", "cmd/adgateway/setup", "gateway", "gateway/atomicfile", "gateway/audit", "gateway/auditmirror", "gateway/authn", "gateway/authn/negotiate", "gateway/identity", "gateway/cluster/migrate", "gateway/cluster/trust", "gateway/config", "gateway/filefault", "gateway/manual", "gateway/ops", "gateway/store", "gateway/nearest", "gateway/tlscert", "ps", "ps/sandbox/remote", "ps/servers", "ps/session", "scripts", "winsvc", "winsvc/events", "winsvc/host", "winsvc/supervisor"},
	"cmd/adgateway/internal/program":        {"gateway/accesslog", "gateway/visible", "cmd/adgateway/internal/output", "gateway/authn", "gateway/identity", "gateway/cluster/trust", "gateway/config", "gateway/filefault", "gateway/nearest", "winsvc", "winsvc/host"},
	"cmd/adgateway/internal/backup":         {"cmd/adgateway/internal/program", "cmd/adgateway/setup", "gateway/atomicfile", "gateway/audit", "gateway/cluster/trust", "gateway/config", "gateway/filefault", "gateway/store"},
	"cmd/adgateway/internal/output":         {"gateway/visible", "cmd/adgateway/internal/jobclient", "gateway/cluster/standing", "gateway/audit", "gateway/auditmirror", "gateway/authn", "gateway/identity", "gateway/config"},
	"cmd/adgateway/internal/jobclient":      {},
	"cmd/adgateway/internal/doctor":         {"gateway/atomicfile", "gateway/config", "gateway/store", "ps", "ps/packed", "winsvc", "winsvc/host"},
	"cmd/adgateway/internal/doctor/live":    {"ps", "ps/packed", "ps/session"},
	"cmd/adgateway-engine":                  {"cmd/adgateway/node"},
	"cmd/release":                           {"cmd/release/clients", "gateway/config", "gateway/manual", "gateway/ops", "ps/packed", "scripts"},
	"cmd/release/clients":                   {"gateway/manual", "gateway/ops", "gateway/schema"},
	"gateway":                               {"gateway/...", "ps"},
	"gateway/accesslog":                     {},
	"gateway/required":                      {},
	"gateway/readiness":                     {"gateway/identity", "ps"},
	"gateway/transport":                     {"gateway/required", "gateway/accesslog", "gateway/authn", "gateway/authn/negotiate", "gateway/call", "gateway/identity", "gateway/manual/site", "gateway/nearest", "gateway/openapi", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/spool", "ps", "gateway/readiness", "gateway/sheet"},
	"gateway/spool":                         {"gateway/identity"},
	"gateway/sheet":                         {},
	"gateway/call":                          {"gateway/required", "gateway/audit", "gateway/change", "gateway/changes", "gateway/cursor", "gateway/etag", "gateway/filter", "gateway/idempotency", "gateway/identity", "gateway/names", "gateway/nearest", "gateway/ops", "gateway/plan", "gateway/privileged", "gateway/problem", "gateway/quota", "gateway/schema", "gateway/settle", "gateway/store", "gateway/write", "ps", "ps/packed", "gateway/bounds"},
	"gateway/privileged":                    {"gateway/identity"},
	"gateway/ops":                           {"gateway/attributes", "gateway/schema", "gateway/schema/jobstate", "gateway/identity", "gateway/filter", "ps"},
	"gateway/change":                        {"gateway/identity", "gateway/ops", "gateway/schema", "ps"},
	"gateway/attributes":                    {},
	"gateway/filter":                        {"gateway/attributes", "gateway/nearest"},
	"gateway/visible":                       {},
	"gateway/cursor":                        {},
	"gateway/etag":                          {},
	"gateway/schema":                        {"gateway/visible", "ps", "ps/packed", "gateway/attributes", "gateway/schema/...", "gateway/filter", "gateway/cursor", "gateway/etag"},
	"gateway/forward":                       {"gateway/cluster", "gateway/cluster/hop", "gateway/cluster/standing", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/transport", "ps"},
	"gateway/meters":                        {"gateway/bounds", "gateway/call", "gateway/cluster/hop", "gateway/idempotency", "gateway/jobs", "gateway/ops", "gateway/plan", "gateway/problem", "gateway/schema/jobstate", "gateway/ui/figures", "ps"},
	"gateway/history":                       {"gateway/call", "gateway/change", "gateway/changes", "gateway/identity", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/settle", "gateway/store", "ps"},
	"gateway/changes":                       {"gateway/audit", "gateway/identity", "gateway/journal", "gateway/store", "ps"},
	"gateway/jobs/joblist":                  {"gateway/nearest", "gateway/sheet"},
	"gateway/jobs/rows":                     {"gateway/required", "gateway/bounds", "gateway/call", "gateway/etag", "gateway/identity", "gateway/jobs", "gateway/jobs/joblist", "gateway/nearest", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/schema/jobstate", "ps", "gateway/change", "gateway/idempotency", "gateway/store"},
	"gateway/jobs":                          {"gateway/required", "gateway/bounds", "gateway/store", "gateway/schema/jobstate", "ps", "gateway/identity"},
	"gateway/schema/jobstate":               {},
	"gateway/bounds":                        {},
	"gateway/store":                         {"gateway/atomicfile", "gateway/every", "gateway/store/commitlog"},
	"gateway/store/commitlog":               {},
	"gateway/store/storetest":               {"gateway/store"},
	"gateway/journal":                       {"gateway/store"},
	"gateway/journal/jetstream":             {"gateway/journal", "gateway/store"},
	"gateway/journal/journaltest":           {"gateway/journal", "gateway/store"},
	"gateway/cluster":                       {"gateway/journal", "gateway/store"},
	"gateway/cluster/replica":               {"gateway/cluster", "gateway/every", "gateway/journal", "gateway/store"},
	"gateway/cluster/beats":                 {"gateway/cluster", "gateway/engine/stock", "gateway/journal"},
	"gateway/cluster/choice":                {"gateway/every", "gateway/store", "ps"},
	"gateway/cluster/copies":                {"gateway/cluster", "gateway/store"},
	"gateway/cluster/hop":                   {"gateway/cluster"},
	"gateway/cluster/here":                  {"gateway/call", "gateway/cluster", "gateway/cluster/standing", "gateway/problem", "gateway/schema", "gateway/store", "gateway/readiness", "gateway/cluster/hop"},
	"gateway/cluster/standing":              {"gateway/cluster", "gateway/journal", "gateway/schema", "gateway/store"},
	"gateway/cluster/clustertest":           {"gateway/cluster"},
	"gateway/cluster/relay":                 {"gateway/cluster/hop", "gateway/store"},
	"gateway/cluster/trust":                 {"gateway/atomicfile", "gateway/store"},
	"gateway/cluster/peer":                  {"gateway/atomicfile", "gateway/cluster", "gateway/cluster/...", "gateway/engine/stock", "gateway/every", "gateway/journal", "gateway/journal/jetstream", "gateway/store", "gateway/keyring"},
	"gateway/cluster/migrate":               {"gateway/atomicfile", "gateway/changes", "gateway/cluster/trust", "gateway/store", "gateway/keyring"},
	"gateway/authn/signin":                  {"gateway/authn", "gateway/authn/negotiate", "gateway/identity", "gateway/schema", "gateway/store"},
	"gateway/ui/form":                       {"gateway/ops", "gateway/schema", "ps/packed"},
	"gateway/authn/negotiate":               {},
	"gateway/authn/negotiate/negotiatetest": {},
	"gateway/ui/texts":                      {"gateway/authn/negotiate", "ps/packed"},
	"gateway/ui/say":                        {"gateway/identity", "gateway/schema", "gateway/ui/texts"},
	"gateway/ui/figures":                    {},
	"gateway/ui/packing":                    {},
	"gateway/ui/frame":                      {"gateway/authn", "gateway/authn/negotiate", "gateway/authn/signin", "gateway/call", "gateway/identity", "gateway/problem", "gateway/schema", "gateway/ui/figures", "gateway/ui/form", "gateway/ui/packing", "gateway/ui/procedure", "gateway/ui/say", "gateway/ui/texts", "gateway/visible", "gateway/readiness"},
	"gateway/ui/table":                      {"gateway/call", "gateway/identity", "gateway/schema", "gateway/ui/frame", "gateway/ui/say", "gateway/ui/texts", "gateway/sheet"},
	"gateway/ui/work":                       {"gateway/authn/signin", "gateway/call", "gateway/identity", "gateway/ops", "gateway/schema", "gateway/schema/jobstate", "gateway/schema/photo", "gateway/ui/form", "gateway/ui/frame", "gateway/ui/procedure", "gateway/ui/say", "gateway/ui/table", "gateway/ui/texts", "gateway/sheet"},
	"gateway/ui/procedure":                  {"gateway/nearest", "gateway/ops", "gateway/ui/form"},
	"gateway/ui":                            {"gateway/call", "gateway/identity", "gateway/ops", "gateway/schema", "gateway/ui/figures", "gateway/ui/form", "gateway/ui/frame", "gateway/ui/say", "gateway/ui/table", "gateway/ui/texts", "gateway/ui/work", "gateway/readiness"},
	"gateway/idempotency":                   {"gateway/changes", "gateway/identity", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/store", "gateway/write", "ps", "gateway/bounds", "gateway/change"},
	"gateway/quota":                         {"gateway/changes", "gateway/identity", "gateway/ops", "gateway/problem", "gateway/store", "gateway/write", "ps", "gateway/bounds", "gateway/every"},
	"gateway/webhooks":                      {"gateway/jobs", "gateway/changes", "gateway/ops", "gateway/store"},
	"gateway/plan":                          {"gateway/bounds", "gateway/change", "gateway/changes", "gateway/identity", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/store", "gateway/write", "ps"},
	"gateway/settle":                        {"gateway/changes", "gateway/ops", "ps"},
	"gateway/write":                         {"gateway/audit", "gateway/change", "gateway/changes", "gateway/cluster", "gateway/every", "gateway/journal", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/settle", "gateway/store", "ps"},
	"gateway/names":                         {"gateway/change", "gateway/changes", "gateway/ops", "gateway/problem", "gateway/schema", "gateway/settle", "gateway/store", "gateway/write", "ps"},
	"gateway/problem":                       {"gateway/identity", "gateway/schema", "gateway/store", "ps"},
	"gateway/schema/photo":                  {},
	"gateway/schema/tsparams":               {},
	"gateway/atomicfile":                    {"gateway/filefault"},
	"gateway/audit":                         {"gateway/filefault", "gateway/identity", "ps", "gateway/readiness"},
	"gateway/credentials":                   {"gateway/atomicfile", "gateway/authn", "gateway/identity", "gateway/store"},
	"gateway/keyring":                       {"gateway/store"},
	"gateway/auditmirror":                   {"gateway/audit", "gateway/store"},
	"gateway/identity":                      {"gateway/nearest"},
	"gateway/authn":                         {"gateway/atomicfile", "gateway/authn/negotiate", "gateway/filefault", "gateway/identity", "gateway/nearest", "gateway/schema"},
	"gateway/config":                        {"gateway/attributes", "gateway/every", "gateway/identity", "gateway/nearest"},
	"gateway/every":                         {},
	"gateway/filefault":                     {},
	"gateway/nearest":                       {},
	"gateway/manual":                        {"gateway/nearest", "ps/packed"},
	"gateway/manual/site":                   {"gateway/manual", "gateway/ui/look"},
	"gateway/ui/look":                       {},
	"gateway/openapi":                       {"gateway/manual", "gateway/openapi/spec", "gateway/ops", "gateway/schema", "ps"},
	"gateway/openapi/spec":                  {},
	"gateway/tlscert":                       {"gateway/every", "gateway/filefault"},
	"ps":                                    {},
	"ps/servers":                            {"ps"},
	"ps/pool":                               {"ps"},
	"ps/session":                            {"ps", "ps/sorted"},
	"ps/sorted":                             {},
	"ps/session/sessiontest":                {"ps", "ps/session"},
	"ps/syntax":                             {"ps/packed"},
	"ps/cmdlets":                            {"ps/packed"},
	"ps/packed":                             {},
	"ps/sandbox":                            {"ps/cmdlets", "ps/syntax", "ps/sandbox/..."},
	"ps/sandbox/engine":                     {"ps/syntax", "ps/cmdlets", "ps/sandbox/engine/dotnet"},
	"ps/sandbox/engine/dotnet":              {},
	"ps/sandbox/internal/data":              {"ps/packed"},
	"ps/sandbox/internal/ldif":              {},
	"ps/sandbox/directory":                  {"ps/packed", "ps/sandbox/internal/ldif", "ps/sandbox/internal/data"},
	"ps/sandbox/zones":                      {"ps/packed", "ps/sandbox/internal/data"},
	"gateway/engine":                        {"gateway/engine/stock"},
	"gateway/engine/enginetest":             {"gateway/engine", "gateway/engine/stock"},
	"gateway/engine/stock":                  {},
	"gateway/config/configtest":             {"gateway/config"},
	"gateway/ops/opstest":                   {"gateway/schema", "gateway/ops"},
	"ps/sandbox/zones/zonestest":            {"ps/sandbox/zones"},
	"ps/sandbox/adcmd":                      {"ps/packed", "ps/sandbox/engine", "ps/sandbox/engine/dotnet", "ps/cmdlets", "ps/sandbox/directory"},
	"ps/sandbox/dnscmd":                     {"ps/sandbox/engine", "ps/sandbox/engine/dotnet", "ps/cmdlets", "ps/sandbox/zones"},
	"ps/sandbox/wincmd":                     {"ps/sandbox/engine", "ps/sandbox/engine/dotnet", "ps/cmdlets", "ps/sandbox/directory"},
	"ps/sandbox/remote":                     {"ps/sandbox/directory", "ps/sandbox/engine", "ps/sandbox/engine/dotnet", "ps/sandbox", "ps/session"},
	"ps/sandbox/proxies":                    {"ps", "ps/cmdlets", "ps/sandbox/engine", "ps/sandbox/engine/dotnet", "ps/session", "ps/sandbox", "ps/sandbox/remote"},
	"scripts":                               {"ps", "ps/packed", "ps/syntax", "ps/cmdlets"},
	"winsvc":                                {"winsvc/events", "winsvc/host"},
	"winsvc/events":                         {},
	"winsvc/host":                           {},
	"winsvc/supervisor":                     {"winsvc", "winsvc/events"},
}

// never lists imports that no entry of mayImport may allow: packages matching
// importer, except those matching except, never import a package matching
// imported.
var never = []struct{ importer, imported, except []string }{
	{importer: []string{"..."}, imported: []string{"ps/sandbox", "ps/sandbox/..."}, except: []string{"ps/sandbox", "ps/sandbox/...", "cmd/adgateway/app", "cmd/adgateway/internal/cli"}},
	{importer: []string{"gateway", "gateway/..."}, imported: []string{"ps/pool", "ps/session", "ps/servers", "ps/syntax", "ps/cmdlets", "scripts", "winsvc", "winsvc/...", "cmd/..."}},
	{importer: []string{"ps", "ps/...", "scripts"}, imported: []string{"gateway", "gateway/...", "winsvc", "winsvc/...", "cmd/..."}},
	{importer: []string{"cmd/adgateway", "cmd/adgateway/...", "gateway", "gateway/..."}, imported: []string{"gateway/engine"}, except: []string{"gateway/engine", "gateway/engine/...", "cmd/adgateway/node"}},
	{importer: []string{"..."}, imported: []string{"gateway/transport"}, except: []string{"gateway", "gateway/forward"}},
	{importer: []string{"winsvc", "winsvc/..."}, imported: []string{"cmd/...", "gateway", "gateway/...", "ps", "ps/...", "scripts"}},
}

// only lists the packages that may import a library.
var only = map[string][]string{
	"github.com/gin-gonic/gin":        {"gateway/transport"},
	"github.com/gin-contrib/":         {"gateway/transport"},
	"github.com/kardianos/service":    {"winsvc"},
	"github.com/bhendo/go-powershell": {"ps/session", "ps/sandbox"},
	"github.com/prometheus/":          {"gateway", "gateway/meters", "gateway/transport", "cmd/adgateway/app"},
	"github.com/go-ldap/":             {"gateway/filter", "ps/sandbox/zones"},
	"github.com/miekg/dns":            {"ps/sandbox/zones", "ps/sandbox/zones/zonestest", "ps/sandbox/dnscmd"},
	"go.etcd.io/bbolt":                {"gateway/store"},
	"github.com/nats-io/nats-server":  {"gateway/engine", "gateway/engine/enginetest"},
}

// libraries lists the libraries that packages with pure logic may import. Other packages are not limited.
var libraries = map[string][]string{
	"ps":                       {},
	"ps/syntax":                {},
	"gateway/filter":           {"github.com/go-ldap/"},
	"gateway/cursor":           {},
	"gateway/sheet":            {},
	"gateway/visible":          {"golang.org/x/text/"},
	"gateway/etag":             {},
	"ps/sandbox/directory":     {"golang.org/x/text/"},
	"ps/sandbox/zones":         {"github.com/go-ldap/", "github.com/miekg/dns"},
	"ps/sandbox/internal/data": {},
	"ps/sandbox/internal/ldif": {},
}

type source struct {
	path, dir string // slash-separated, from the root
	file      *ast.File
	text      []byte
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// line returns the line number of a position.
func (s source) line(at token.Pos) int { return sharedFiles.Position(at).Line }

// sharedFiles holds the positions in all sources.
var sharedFiles = token.NewFileSet()

// sources returns every Go file of the project, parsed.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// parsed parses every Go file of the project, once.
var parsed = sync.OnceValues(func() (all []source, err error) {
	root := filepath.Join("..", "..")
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".git")) {
			return fs.SkipDir
		}
		if entry.IsDir() && path == filepath.Join(root, "gateway", "transport", "without") {
			return fs.SkipDir // modules of their own, which replace other modules
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(sharedFiles, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(relative)
		dir := filepath.ToSlash(filepath.Dir(relative))
		all = append(all, source{path: slash, dir: dir, file: file, text: text})
		return nil
	})
	return all, err
})

func TestPackagesImportOnlyWhatTheDesignAllows(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || strings.HasPrefix(s.dir, "test") {
			continue
		}
		allowed, known := mayImport[s.dir]
		if !assert.True(t, known, "%s: package %s is not in mayImport", s.path, s.dir) {
			continue
		}
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			ours := strings.TrimPrefix(imported, module)
			if ours != imported {
				assert.True(t, matches(allowed, ours), "%s imports %s", s.path, ours)
				continue
			}
			if known, limited := libraries[s.dir]; limited && strings.Contains(strings.Split(imported, "/")[0], ".") {
				allowed := slices.ContainsFunc(known, func(library string) bool {
					return strings.HasPrefix(imported, library)
				})
				assert.True(t, allowed, "%s imports %s", s.path, imported)
			}
			for library, places := range only {
				if strings.HasPrefix(imported, library) {
					assert.Contains(t, places, s.dir, "%s imports %s", s.path, imported)
				}
			}
		}
	}
}

// TestTestCodeDoesNotShip: a package with "test" in its path is for tests. No package that ships imports such
// a package or a testing library.
func TestTestCodeDoesNotShip(t *testing.T) {
	libraries := []string{"testing", "github.com/stretchr/testify", "go.uber.org/goleak"}
	for _, s := range sources(t) {
		if s.test() || strings.Contains(s.dir, "test") {
			continue
		}
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			ours, isOurs := strings.CutPrefix(imported, module)
			assert.False(t, isOurs && strings.Contains(ours, "test"), "%s imports %s", s.path, imported)
			for _, library := range libraries {
				is := imported == library || strings.HasPrefix(imported, library+"/")
				assert.False(t, is, "%s imports %s", s.path, imported)
			}
		}
	}
}

// TestTheSandboxAndTheLayersStayApart: regardless of mayImport, the product does not import the sandbox, and
// no layer imports a layer above it.
func TestTheSandboxAndTheLayersStayApart(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || strings.Contains(s.dir, "test") {
			continue
		}
		for _, spec := range s.file.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if !ours {
				continue
			}
			for _, rule := range never {
				within := matches(rule.importer, s.dir) && !matches(rule.except, s.dir)
				assert.False(t, within && matches(rule.imported, imported), "%s imports %s", s.path, imported)
			}
		}
	}
}

// matches reports whether path is one of the patterns or below one.
func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "...")
		return pattern == path || below && strings.HasPrefix(path, prefix)
	})
}

// systems contains the names of systems and processors that act as build tags in file names.
var systems = []string{
	"windows", "linux", "darwin", "freebsd", "unix", "wasm", "js", "amd64", "arm64", "arm", "386",
}

func TestBuildTagsAreOnlyWhereSystemsDiffer(t *testing.T) {
	for _, s := range sources(t) {
		name := strings.TrimSuffix(filepath.Base(s.path), ".go")
		name = strings.TrimSuffix(name, "_test")
		tagged := slices.ContainsFunc(systems, func(system string) bool {
			return strings.HasSuffix(name, "_"+system)
		})
		for _, group := range s.file.Comments {
			for _, comment := range group.List {
				tagged = tagged || strings.HasPrefix(comment.Text, "//go:build")
			}
		}
		if !tagged {
			continue
		}
		differ := s.dir == "ps/session" || strings.HasPrefix(s.dir, "winsvc") ||
			strings.HasPrefix(s.path, "gateway/store/protect_")
		assert.True(t, differ, "%s has a build tag", s.path)
		named := strings.HasSuffix(name, "_windows") || strings.HasSuffix(name, "_other")
		assert.True(t, named, "%s has a build tag", s.path)
	}
}

// TestProblemsAreReturnedAsErrors: a nil *problem.Error in an error is not nil, so functions
// return error instead. Only package problem, which makes these errors, returns the type itself.
func TestProblemsAreReturnedAsErrors(t *testing.T) {
	for _, s := range sources(t) {
		if s.dir == "gateway/problem" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			function, ok := n.(*ast.FuncType)
			if !ok || function.Results == nil {
				return true
			}
			for _, result := range function.Results.List {
				is := isProblem(s.file, result.Type)
				assert.False(t, is, "%s: a function returns *problem.Error", sharedFiles.Position(result.Pos()))
			}
			return true
		})
	}
}

// isProblem reports whether an expression is the type *problem.Error.
func isProblem(file *ast.File, e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	selector, ok := star.X.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Error" {
		return false
	}
	from, ok := selector.X.(*ast.Ident)
	return ok && slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		name := "problem"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		return spec.Path.Value == `"adgateway/gateway/problem"` && from.Name == name
	})
}

func TestTopLevelIsFixed(t *testing.T) {
	allowed := []string{
		"cmd", "gateway", "ps", "scripts", "winsvc", "test",
		"go.mod", "go.sum", "Makefile", "README.md", "LICENSE",
		"bin", "dist", // build output, ignored by git
	}
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			assert.Contains(t, allowed, entry.Name())
		}
	}
}

// TestLockFilesNameNoRegistry: the lock files name no registry, so npm uses the configured one.
func TestLockFilesNameNoRegistry(t *testing.T) {
	files, err := filepath.Glob("../*/package-lock.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(text), `"resolved"`, file)
	}
}
