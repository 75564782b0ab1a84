package dnscmd_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones/zonestest"
)

// literal returns a PowerShell string literal. PowerShell accepts five characters as a single quote.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		if strings.ContainsRune("'\u2018\u2019\u201A\u201B", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}

// FuzzNamesAndTargets uses any name and target. The cmdlets create, find and remove exactly that
// record, even if the name has an older CNAME, or they fail with a typed error and change nothing.
func FuzzNamesAndTargets(f *testing.F) {
	for _, s := range []string{"www", "new", "*", "*.x", "a.b", "@", ".", "$(x)",
		"'; Remove-DnsServerZone corp.example -Force; '", "`n", "a\u2019b", "[w]*", "bücher", "x.corp.example.", "",
		" "} {
		f.Add(s, "web1.corp.example.")
		f.Add("new", s)
	}
	f.Fuzz(func(t *testing.T, name, target string) {
		if !utf8.ValidString(name) || !utf8.ValidString(target) || strings.ContainsRune(name+target, 0) {
			return // not possible in the text of a script; other tests use variables
		}
		l := newLab(t, "")
		before := l.store.Snapshot()
		r := l.run("Add-DnsServerResourceRecordCName -ZoneName corp.example -Name " + literal(name) +
			" -HostNameAlias " + literal(target) + " -PassThru")
		if len(r.errs) > 0 {
			require.Len(t, r.errs, 1)
			require.Empty(t, r.out)
			require.True(t, strings.HasPrefix(r.errs[0].ErrorID, "WIN32 ") ||
				strings.HasPrefix(r.errs[0].ErrorID, "ParameterArgumentValidationError"), r.errs[0].ErrorID)
			require.Empty(t, zonestest.Compare(before, l.store.Snapshot()))
			return
		}
		require.Len(t, r.all, 1)
		var created, replaced []string
		for _, line := range zonestest.Compare(before, l.store.Snapshot()) {
			if strings.HasPrefix(line, "+") {
				created = append(created, line)
			} else {
				replaced = append(replaced, line)
			}
		}
		require.Len(t, created, 1)
		if len(replaced) > 0 { // an older CNAME with the same name (facts NA22)
			require.Len(t, replaced, 1)
			owner, _, _ := strings.Cut(created[0][1:], " IN CNAME ")
			require.True(t, strings.HasPrefix(replaced[0][1:], owner+" IN CNAME "), replaced[0])
		}
		got := l.run("Get-DnsServerResourceRecord -ZoneName corp.example -Node -RRType CName -Name " +
			literal(name))
		require.Empty(t, got.errs)
		require.Len(t, got.all, 1)
		require.Equal(t, strings.TrimSuffix(target, ".")+".",
			dotnet.ToText(prop(t, got.all[0], "RecordData.HostNameAlias")))
		gone := l.run("Get-DnsServerResourceRecord -ZoneName corp.example -Node -RRType CName -Name " +
			literal(name) + " | ForEach-Object { Remove-DnsServerResourceRecord -InputObject $_ -ZoneName " +
			"corp.example -Force }")
		require.Empty(t, gone.errs)
		require.Equal(t, replaced, zonestest.Compare(before, l.store.Snapshot()))
	})
}
