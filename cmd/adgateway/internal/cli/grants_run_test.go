package cli

import (
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// accessRule is an entry in the permissions of an object.
type accessRule struct {
	who, about, class, inheritance string
	mask                           int32
	inherited                      bool
}

// accessLab runs the script in a session of the sandbox, on a domain with one computer and two OUs.
// The sandbox does not implement permissions, so the lab stores those that dsacls.exe changes.
type accessLab struct {
	t       *testing.T
	session *engine.Session
	rules   map[string][]accessRule // by distinguished name
	places  []string                // DNs that the sandbox's directory lacks
	hidden  string                  // DN of an object with unreadable permissions
	calls   []string                // of dsacls.exe
	warned  []string
}

const (
	labRoot    = "DC=corp,DC=example"
	labDeleted = "CN=Deleted Objects," + labRoot
	labSystem  = "CN=MicrosoftDNS,CN=System," + labRoot
	labZones   = "CN=MicrosoftDNS,DC=DomainDnsZones," + labRoot
	labForest  = "CN=MicrosoftDNS,DC=ForestDnsZones," + labRoot
	labOU      = "OU=Lab," + labRoot
	labGroup   = `CORP\adgateway-rights`
)

func newAccessLab(t *testing.T) *accessLab {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	lab := &accessLab{t: t, rules: map[string][]accessRule{}, hidden: labDeleted, places: []string{
		labDeleted, labSystem, labZones, "DC=corp.example," + labZones, "DC=forest.example," + labForest,
	}}
	modules, culture := world.Modules()
	domain := *modules[0]
	domain.Commands = slices.Clone(domain.Commands)
	reads := func(c *engine.Command) bool { return c.Decl.Name == "Get-ADObject" }
	at := slices.IndexFunc(domain.Commands, reads)
	domain.Commands[at] = lab.reading(domain.Commands[at])
	domain.Commands = append(domain.Commands, lab.dsacls())
	e := engine.NewEngine(engine.Options{Modules: []*engine.Module{&domain}, Culture: culture})
	lab.session = e.NewSession(engine.Console{})
	stands, err := os.ReadFile(filepath.Join("testdata", "rights.ps1"))
	require.NoError(t, err)
	script := runnable.Replace(grantScript())
	// simulates -WhatIf
	shown := strings.Replace(script, "$caller.ShouldProcess($Target + ': ' + $Change)", "$false", 1)
	require.NotEqual(t, script, shown)
	_, err = lab.run("Import-Module ActiveDirectory\n" + string(stands) +
		"function Set-Access {\n" + script + "\n}\nfunction Show-Access {\n" + shown + "\n}\n" + `
New-ADOrganizationalUnit -Name 'Lab' -Path 'DC=corp,DC=example'
foreach ($name in @('GW1', 'GW2')) { New-ADComputer -Name $name -SAMAccountName ($name + '$') }
if ($null -eq (Get-ADObject -LDAPFilter '(sAMAccountName=DnsAdmins)')) {
    New-ADGroup -Name 'DnsAdmins' -GroupScope 'DomainLocal'
}
`)
	require.NoError(t, err)
	lab.warned = nil
	return lab
}

// runnable replaces features that the sandbox's engine does not support: PSCustomObject and
// external programs.
var runnable = strings.NewReplacer("\r\n", "\n", "[PSCustomObject]@{", "@{", "$LASTEXITCODE", "$exitCode",
	"dsacls.exe $Target @Argument", "dsacls.exe $Target $Argument")

// run runs script text and returns its output, with the properties of each object separated by spaces.
func (l *accessLab) run(text string) ([]string, error) {
	out := []string{}
	err := l.session.Run(l.t.Context(), "lab.ps1", text, engine.Streams{
		Output: func(v any) error {
			line := dotnet.ToText(v)
			if o, ok := v.(*dotnet.Hashtable); ok {
				target, _ := o.Get("Target")
				change, _ := o.Get("Change")
				state, _ := o.Get("State")
				line = fmt.Sprintf("%v | %v | %v", target, change, state)
			}
			out = append(out, line)
			return nil
		},
		Error:   func(rec *dotnet.ErrorRecord) { out = append(out, "error: "+rec.Error()) },
		Warning: func(text string) { l.warned = append(l.warned, text) },
	})
	return out, err
}

// steps runs the script and returns the steps it reports.
func (l *accessLab) steps(arguments string) []string {
	l.t.Helper()
	name := "Set-Access"
	if rest, ok := strings.CutSuffix(arguments, " -WhatIf"); ok {
		name, arguments = "Show-Access", rest
	}
	out, err := l.run(name + " -Confirm:$false " + arguments)
	require.NoError(l.t, err, arguments)
	return out
}

// refusal runs the script, which must fail before it changes anything, and returns the error.
func (l *accessLab) refusal(arguments string) string {
	l.t.Helper()
	before := len(l.calls)
	out, err := l.run("Set-Access -Confirm:$false " + arguments)
	assert.Empty(l.t, out, arguments)
	assert.Len(l.t, l.calls, before, arguments)
	var thrown *engine.ThrownError
	require.True(l.t, errors.As(err, &thrown), "%s: %v", arguments, err)
	assert.True(l.t, strings.HasPrefix(thrown.Record.ErrorID, "AdgatewayRights"), thrown.Record.ErrorID)
	return thrown.Record.Error()
}

// reading returns Get-ADObject extended by the objects that the sandbox's directory lacks:
// the schema, the DNS partitions and permissions.
func (l *accessLab) reading(real *engine.Command) *engine.Command {
	fake := *real
	fake.Process = func(c *engine.Call) error {
		base, _ := c.Bound("SearchBase")
		switch text := dotnet.ToText(base); {
		case strings.HasPrefix(text, "CN=Schema,"):
			return l.writeNames(c)
		case strings.HasPrefix(text, "CN=Extended-Rights,"):
			for _, name := range []string{"Reset Password", "Reanimate Tombstones"} {
				if err := c.Write(object("displayName", name, "rightsGuid", guidOf(name).String())); err != nil {
					return err
				}
			}
			return nil
		}
		identity, _ := c.Bound("Identity")
		properties, _ := c.Bound("Properties")
		dn := dotnet.ToText(identity)
		if strings.Contains(dotnet.ToText(properties), "nTSecurityDescriptor") {
			return c.Write(object("DistinguishedName", dn, "nTSecurityDescriptor", l.descriptor(dn)))
		}
		if slices.Contains(l.places, dn) {
			return c.Write(object("DistinguishedName", dn))
		}
		return real.Process(c)
	}
	return &fake
}

// writeNames outputs the schema classes and attributes that the rights name.
func (l *accessLab) writeNames(c *engine.Call) error {
	seen := map[string]bool{"": true}
	for _, g := range grants {
		for _, right := range g.Rights {
			for _, name := range strings.Split(right, ";")[1:] {
				if seen[name] {
					continue
				}
				seen[name] = true
				guid := guidOf(name)
				err := c.Write(object("lDAPDisplayName", name, "schemaIDGUID", &dotnet.Bytes{B: guid[:]}))
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func object(pairs ...any) *dotnet.PSObject {
	o := &dotnet.PSObject{}
	for i := 0; i < len(pairs); i += 2 {
		o.Props.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// guidOf returns a GUID derived from a name. The GUID of an empty name is zero.
func guidOf(name string) (g dotnet.Guid) {
	if name != "" {
		g = dotnet.Guid(md5.Sum([]byte(name)))
	}
	return g
}

func (l *accessLab) descriptor(dn string) any {
	if dn == l.hidden {
		return nil
	}
	access := dotnet.NewArray()
	for _, r := range l.rules[dn] {
		access.Items = append(access.Items, object("IdentityReference", r.who, "AccessControlType", "Allow",
			"IsInherited", r.inherited, "ActiveDirectoryRights", r.mask, "ObjectType", guidOf(r.about).String(),
			"InheritedObjectType", guidOf(r.class).String(), "InheritanceType", r.inheritance))
	}
	return object("Access", access)
}

// letters maps the letters of dsacls to the bits of ActiveDirectoryRights.
var letters = map[string]int32{
	"CC": 0x1, "DC": 0x2, "LC": 0x4, "RP": 0x10, "WP": 0x20, "DT": 0x40, "CA": 0x100,
	"SD": 0x10000, "RC": 0x20000, "WD": 0x40000, "GR": 0x20094, "GW": 0x20028,
}

// dsacls returns a stand-in for the program with the arguments [/I:x] /G who:right, /R who,
// or /takeownership.
func (l *accessLab) dsacls() *engine.Command {
	parameter := func(name, typ string, position int) *cmdlets.Param {
		sets := []cmdlets.InSet{{Set: cmdlets.AllSets, Position: position}}
		return &cmdlets.Param{Name: name, Type: typ, PerSet: sets}
	}
	return &engine.Command{
		Decl: &cmdlets.Cmdlet{Name: "dsacls.exe", Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets,
			Params: []*cmdlets.Param{parameter("Argument", "String[]", 1), parameter("Target", "String", 0)}},
		Process: func(c *engine.Call) error {
			target, _ := c.Bound("Target")
			argument, _ := c.Bound("Argument")
			words := []string{dotnet.ToText(target)}
			for _, word := range argument.(*dotnet.Array).Items {
				words = append(words, dotnet.ToText(word))
			}
			l.calls = append(l.calls, strings.Join(words, " "))
			l.change(words[0], words[1:])
			return nil
		},
	}
}

func (l *accessLab) change(dn string, words []string) {
	inheritance := "None"
	switch words[0] {
	case "/takeownership":
		l.hidden = ""
		return
	case "/R":
		own := func(r accessRule) bool { return r.who == words[1] && !r.inherited }
		l.rules[dn] = slices.DeleteFunc(l.rules[dn], own)
		return
	case "/I:T":
		inheritance = "All"
	case "/I:S":
		inheritance = "Descendents"
	}
	who, right, _ := strings.Cut(words[len(words)-1], ":")
	parts := append(strings.Split(right, ";"), "", "")
	rule := accessRule{who: who, about: parts[1], class: parts[2], inheritance: inheritance}
	for bits := parts[0]; bits != ""; bits = bits[2:] {
		rule.mask |= letters[bits[:2]]
	}
	for i, r := range l.rules[dn] { // Windows merges entries that differ only in their rights
		r.mask = rule.mask
		if r == rule {
			l.rules[dn][i].mask |= rule.mask
			return
		}
	}
	l.rules[dn] = append(l.rules[dn], rule)
}

// states counts the steps by state.
func states(steps []string) map[string]int {
	counted := map[string]int{}
	for _, step := range steps {
		counted[step[strings.LastIndex(step, " | ")+3:]]++
	}
	return counted
}

func TestTheAccountIsMadeOnceAndRemovedOnce(t *testing.T) {
	l := newAccessLab(t)
	key := "the forest | create the key for managed accounts, which can be used in 10 hours | done"
	assert.Equal(t, []string{key}, l.steps("-Forest"), "the id of the key is no step")
	assert.Equal(t, map[string]int{"there already": 1}, states(l.steps("-Forest")))
	assert.Equal(t, map[string]int{"skipped": 1}, states(l.steps("-Forest -Revoke")), "others may use it")

	assert.Contains(t, l.refusal("-Domain"), "-Domain needs -HostName")
	assert.Contains(t, l.refusal("-Domain -HostName 'GW1', 'GW9'"), "There is no computer with the account GW9$")
	assert.Equal(t, map[string]int{"skipped": 5}, states(l.steps("-Domain -HostName 'GW1' -WhatIf")))
	assert.Empty(t, l.warned)
	assert.Equal(t, []string{
		"adgateway-hosts | create the group | done", "adgateway-hosts | add the member GW1$ | done",
		"adgateway$ | create the account | done",
		"adgateway-rights | create the group | done", "adgateway-rights | add the member adgateway$ | done",
	}, l.steps("-Domain -HostName 'GW1.corp.example'"))
	assert.Equal(t, []string{"Restart GW1 before you run this script there with -Local: " +
		"a computer learns of its groups when it starts."}, l.warned)
	l.warned = nil
	assert.Equal(t, map[string]int{"there already": 5}, states(l.steps("-Domain -HostName 'GW1'")))
	assert.Empty(t, l.warned)
	assert.Equal(t, map[string]int{"done": 1, "there already": 4}, states(l.steps("-Domain -HostName 'GW2'")))
	assert.Len(t, l.warned, 1)

	assert.Equal(t, map[string]int{"skipped": 3}, states(l.steps("-Domain -Revoke -WhatIf")))
	assert.Equal(t, []string{"adgateway$ | remove the account | done",
		"adgateway-rights | remove the group | done", "adgateway-hosts | remove the group | done",
	}, l.steps("-Domain -Revoke"))
	assert.Equal(t, map[string]int{"there already": 3}, states(l.steps("-Domain -Revoke")))
}

func TestWhatOthersMadeStays(t *testing.T) {
	l := newAccessLab(t)
	_, err := l.run("New-ADGroup -Name 'adgateway-rights' -GroupScope 'Global' -Description 'mine'")
	require.NoError(t, err)
	l.steps("-Domain -HostName 'GW1'")
	steps := l.steps("-Domain -Revoke")
	assert.Equal(t, map[string]int{"done": 2, "skipped": 1}, states(steps))
	assert.Contains(t, steps[1], "its description is not 'Rights of adgateway', so this script did not make it")
	out, err := l.run("(Get-ADGroup -Identity 'adgateway-rights').Name")
	require.NoError(t, err)
	assert.Equal(t, []string{"adgateway-rights"}, out)
}

func TestThisComputerIsSetUpOnceAndCleanedOnce(t *testing.T) {
	l := newAccessLab(t)
	_, err := l.run("$machine.Member = $false")
	require.NoError(t, err)
	_, err = l.run("Set-Access -Local -Confirm:$false")
	assert.ErrorContains(t, err, "If -Domain named this computer since its last start, restart it")
	_, err = l.run("$machine.Member = $true")
	require.NoError(t, err)
	for _, want := range []string{"done", "there already", "there already"} {
		assert.Equal(t, map[string]int{want: 2}, states(l.steps("-Local")))
	}
	assert.Equal(t, map[string]int{"there already": 1, "done": 1}, states(l.steps("-Local -Revoke -Port 9443")),
		"a rule of another port")
	assert.Equal(t, map[string]int{"there already": 1, "done": 1}, states(l.steps("-Local -Revoke")))
	assert.Equal(t, map[string]int{"there already": 2}, states(l.steps("-Local -Revoke")))
}

func TestRightsAreGivenOnceAndTakenOnce(t *testing.T) {
	l := newAccessLab(t)
	l.steps("-Domain -HostName 'GW1'")
	l.rules[labOU] = []accessRule{
		{who: labGroup, inheritance: "All", mask: 1, inherited: true}, {who: `CORP\others`, mask: 1},
	}
	all := "-Scope '" + strings.Join(grantScopes(), "', '") + "'"
	places := " -OU '" + labOU + "' -Zone 'corp.example', 'forest.example'"

	first := l.steps("-Delegate " + all + places)
	assert.Equal(t, map[string]int{"done": len(first)}, states(first))
	assert.Greater(t, len(first), 70)
	made := len(l.calls)
	assert.Contains(t, l.calls, labDeleted+" /takeownership")
	assert.Contains(t, l.calls, "DC=forest.example,"+labForest+" /I:T /G "+labGroup+":GRGW", "where the zone is")
	again := l.steps("-Delegate " + all + places)
	assert.Equal(t, map[string]int{"there already": len(again)}, states(again))
	assert.Len(t, again, len(first)-1, "the ownership is not taken again")
	assert.Len(t, l.calls, made)

	assert.Equal(t, map[string]int{"skipped": 1}, states(l.steps("-Delegate -Revoke -OU '"+labOU+"' -WhatIf")))
	assert.Len(t, l.calls, made)
	taken := l.steps("-Delegate -Revoke -OU '" + labOU + "'")
	assert.Equal(t, []string{labOU + " | dsacls /R " + labGroup + " | done"}, taken)
	assert.Len(t, l.rules[labOU], 2, "what is inherited, and those of others")
	assert.Equal(t, map[string]int{"there already": 1, "done": 2}, states(l.steps("-Delegate -Revoke"+places)))
	assert.NotEmpty(t, l.rules[labRoot], "the domain was not named")
	taken = l.steps("-Delegate -Revoke")
	assert.Equal(t, map[string]int{"done": 6, "skipped": 1}, states(taken))
	assert.Contains(t, strings.Join(taken, "\n"), "give the ownership back: dsacls cannot")
	assert.Equal(t, map[string]int{"there already": 6, "skipped": 1}, states(l.steps("-Delegate -Revoke")))
	for dn, rules := range l.rules {
		for _, r := range rules {
			assert.True(t, r.who != labGroup || r.inherited, "%s: %v", dn, r)
		}
	}
}

// An interrupted run can be resumed, and revoking keeps the rights that a person added.
func TestOnlyWhatWasGivenIsTaken(t *testing.T) {
	l := newAccessLab(t)
	l.steps("-Domain -HostName 'GW1'")
	l.change(labOU, []string{"/I:S", "/G", labGroup + ":RPWP;member;group"})
	assert.Equal(t, map[string]int{"there already": 1, "done": 2},
		states(l.steps("-Delegate -Scope 'member:write' -OU '"+labOU+"'")))
	l.change(labOU, []string{"/I:T", "/G", labGroup + ":WD"})
	before := len(l.rules[labOU])
	steps := l.steps("-Delegate -Revoke -OU '" + labOU + "'")
	assert.Equal(t, map[string]int{"skipped": 1}, states(steps))
	assert.Contains(t, steps[0], "it also has rights that this script does not give")
	assert.Len(t, l.rules[labOU], before)
}

func TestEveryPlaceIsLookedAtBeforeTheFirstChange(t *testing.T) {
	l := newAccessLab(t)
	ou := " -OU '" + labOU + "'"
	early := l.refusal("-Delegate -Scope 'user:read'" + ou)
	assert.Contains(t, early, "There is no group adgateway-rights. Run this script with -Domain first.")
	l.steps("-Domain -HostName 'GW1'")
	for arguments, want := range map[string]string{
		"-Delegate":                         "-Delegate needs -Scope",
		"-Delegate -Scope 'user:raed'" + ou: "No rights belong to the scope user:raed.",
		"-Delegate -Scope 'user:read' -Zone 'corp.example'":                          "The scope user:read needs -OU.",
		"-Delegate -Scope 'dns:write'" + ou:                                          "The scope dns:write needs -Zone.",
		"-Delegate -Scope 'user:read' -OU '" + labOU + "', 'OU=Lap," + labRoot + "'": "There is no OU OU=Lap," + labRoot,
		"-Delegate -Scope 'dns:write' -Zone 'corp.example', 'nowhere.example'":       "There is no zone nowhere.example",
		"-Delegate -Revoke -Scope 'user:read'" + ou:                                  "-Revoke has no -Scope",
		"-Delegate -Revoke -OU 'OU=Lap," + labRoot + "'":                             "There is no OU OU=Lap," + labRoot,
	} {
		assert.Contains(t, l.refusal(arguments), want, arguments)
	}
	l.places = slices.DeleteFunc(l.places, func(dn string) bool { return dn == labZones })
	without := l.refusal("-Delegate -Scope 'dns:write' -Zone 'forest.example'")
	assert.Contains(t, without, "There is no "+labZones+" in this domain")
}
