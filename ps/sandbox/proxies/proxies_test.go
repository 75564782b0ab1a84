package proxies

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/syntax"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func all(t *testing.T) []Module {
	modules, err := Modules(scripts.Describe())
	require.NoError(t, err)
	require.Len(t, modules, 4)
	return modules
}

// The text is within the grammar, except for the lines that compile the types. It is pure ASCII,
// because Windows PowerShell reads a file without a byte order mark in the code page of the machine.
func TestTextIsForEveryPowerShell(t *testing.T) {
	for _, m := range all(t) {
		_, errs := syntax.Parse(m.Name, m.Text())
		assert.Empty(t, errs)
		for name, text := range map[string]string{"script": m.Script(), "manifest": m.Manifest()} {
			assert.Equal(t, len(text), len(strings.Map(func(r rune) rune {
				if r > 126 || r < ' ' && r != '\n' {
					return -1
				}
				return r
			}, text)), "%s of %s is not ASCII", name, m.Name)
		}
		assert.True(t, strings.HasSuffix(m.Script(), m.Text()))
		outside := strings.TrimSuffix(m.Script(), m.Text())
		_, types, _ := strings.Cut(outside, "@'\n")
		assert.NotContains(t, types[:strings.LastIndex(types, "'@")], "\n'@", "the types end the here-string")
	}
}

// The DNS module exports a function that copies a record, under the name that the scripts
// use for CIM instances. Other modules export none.
func TestOneModuleCopiesObjects(t *testing.T) {
	source, err := os.ReadFile("../../../scripts/dns/prelude.recordwrites.ps1")
	require.NoError(t, err)
	assert.Contains(t, string(source), "function "+CopyFunction+" {")
	for _, m := range all(t) {
		copies := m.Name == "DnsServer"
		assert.Equal(t, copies, strings.Contains(m.Script(), "function "+CopyFunction+" {"), m.Name)
		assert.Equal(t, copies, strings.Contains(m.Manifest(), "'"+CopyFunction+"'"), m.Name)
	}
}

// Generating functions does not change the tables of cmdlets, which are shared.
func TestFunctionsChangeNoTable(t *testing.T) {
	first := all(t)[0].Text()
	assert.Equal(t, first, all(t)[0].Text())
	assert.Contains(t, first, "[Parameter(ParameterSetName = 'Identity', Mandatory = $true, Position = 0, "+
		"ValueFromPipeline = $true)] [Microsoft.ActiveDirectory.Management.ADUser] $Identity")
	assert.Contains(t, first, "[Parameter(Mandatory = $true, Position = 2, ValueFromPipelineByPropertyName = "+
		"$true)] [Microsoft.ActiveDirectory.Management.ADGroupScope] $GroupScope")
	dns := all(t)[1].Text()
	assert.Contains(t, dns, "[ValidateSet('Forest', 'Domain', 'Legacy', 'Custom')] [string] $ReplicationScope")
	assert.Contains(t, dns, "SupportsShouldProcess = $true, ConfirmImpact = 'High')]")
}

func TestLocate(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for engine, says := range map[string]string{
		"pwsh": "install PowerShell 7", "powershell": "part of Windows", "/no/such/pwsh": "give the path",
	} {
		_, err := Locate(engine)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, engine)
	}
	path := filepath.Join(t.TempDir(), "my pwsh")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	found, err := Locate(path)
	require.NoError(t, err)
	assert.Equal(t, path, found)
}

// The types compile as C# 5 without warnings and can call a sandbox. The test needs a C#
// compiler (Debian packages mono-mcs and mono-runtime).
func TestTypesSpeakToASandbox(t *testing.T) {
	compiler, err := exec.LookPath("mcs")
	if err != nil {
		t.Skip("there is no C# compiler: install mono-mcs and mono-runtime")
	}
	dir := t.TempDir()
	types, program := filepath.Join(dir, "types.cs"), filepath.Join(dir, "talk.exe")
	require.NoError(t, os.WriteFile(types, []byte(Types()), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, compiler, "-langversion:5", "-warn:4", "-warnaserror", "-out:"+program,
		types, "testdata/automation.cs", "testdata/talk.cs").CombinedOutput()
	require.NoError(t, err, "%s", said)

	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	server, err := remote.NewServer(world)
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	cmd := exec.CommandContext(ctx, "mono", program)
	cmd.Env = append(os.Environ(), server.Issue()...)
	said, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	if *update {
		require.NoError(t, os.WriteFile("testdata/talk.txt", said, 0o600))
	}
	want, err := os.ReadFile("testdata/talk.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(said))
}
