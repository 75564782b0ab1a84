package schema

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite what is generated from the table of record types")

// scriptTypes is what scripts know about the types.
func scriptTypes() string {
	var b strings.Builder
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	b.WriteString("# The types of records, generated from the table RecordTypes of gateway/schema: do not edit.\n")
	b.WriteString("#     go test ./gateway/schema -run TestScriptsKnowTheTypes -update\n\n$GatewayRecordTypes = @{\n")
	for _, t := range RecordTypes {
		fmt.Fprintf(&b, "    %s = @{\n", quoted(t.Name))
		fmt.Fprintf(&b, "        alone = $%t; brief = $%t; address = $%t; reverse = $%t\n        fields = @(\n", t.Alone, t.Brief, t.Address, t.Reverse)
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "            @{ property = %s; form = %s; member = %s }\n", quoted(f.Property), quoted(string(f.Form)), quoted(f.Member))
		}
		b.WriteString("        )\n    }\n")
	}
	var members []string
	for _, f := range Record.Fields {
		if f.Null {
			members = append(members, quoted(f.Name))
		}
	}
	fmt.Fprintf(&b, "}\n\n# The members of records that only some types have.\n$GatewayRecordMembers = @(%s)\n", strings.Join(members, ", "))
	b.WriteString(`
# Adds a record and returns it. Data are its fields in the order of the table. TimeToLive is in seconds; below 0 it is
# that of the zone. With Age it belongs to dynamic update.
function Add-GatewayTypedRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Owner,
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [string[]] $Data,
        [int] $TimeToLive = -1,
        [bool] $Age = $false,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $create = @{
        ZoneName = $ZoneName; Name = $Owner; ComputerName = $ComputerName
        AgeRecord = $Age; AllowUpdateAny = $false; PassThru = $true; Confirm = $false
    }
    if ($TimeToLive -ge 0) { $create['TimeToLive'] = [timespan]::new([long]$TimeToLive * 10000000) }
    switch ($Type) {
`)
	for _, t := range RecordTypes {
		if t.Resource == "" {
			continue
		}
		fmt.Fprintf(&b, "        %s { Add-DnsServerResourceRecord -%s", quoted(t.Name), t.Name)
		for i, f := range t.Fields {
			value := fmt.Sprintf("$Data[%d]", i)
			if f.Form == NameForm {
				value = "(" + value + " + '.')"
			}
			fmt.Fprintf(&b, " -%s %s", f.Property, value)
		}
		b.WriteString(" @create }\n")
	}
	b.WriteString("    }\n}\n")
	return b.String()
}

// TestScriptsKnowTheTypes holds prelude.types.ps1 against the table.
func TestScriptsKnowTheTypes(t *testing.T) {
	path := filepath.FromSlash("../../scripts/dns/prelude.types.ps1")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(scriptTypes()), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, scriptTypes(), string(have), "go test ./gateway/schema -run TestScriptsKnowTheTypes -update")
}
