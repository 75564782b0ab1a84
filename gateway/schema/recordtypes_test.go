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

// reading are the expressions that read a property of RecordData.
var reading = map[RecordForm]string{
	NameForm: "([string]$data.%s).TrimEnd([char]'.')", AddressForm: "[string]$data.%s", NumberForm: "[string]$data.%s", TextForm: "[string]$data.%s",
	DottedForm: "[string]$data.%s", SecondsForm: "[string][long]$data.%s.TotalSeconds",
}

// writing is the expression of a field's value for a cmdlet.
func writing(f RecordField, i int) string {
	if f.Form == NameForm {
		return fmt.Sprintf("($Data[%d] + '.')", i)
	}
	return fmt.Sprintf("$Data[%d]", i)
}

// scriptTypes is what scripts know about the types.
func scriptTypes() string {
	var b strings.Builder
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	b.WriteString("# The types of records, generated from the table RecordTypes of gateway/schema: do not edit.\n")
	b.WriteString("#     go test ./gateway/schema -run TestScriptsKnowTheTypes -update\n\n$GatewayRecordTypes = @{\n")
	for _, t := range RecordTypes {
		fmt.Fprintf(&b, "    %s = @{\n", quoted(t.Name))
		fmt.Fprintf(&b, "        writable = $%t; alone = $%t; brief = $%t; address = $%t; reverse = $%t\n        fields = @(\n", t.Resource != "", t.Alone, t.Brief, t.Address, t.Reverse)
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "            @{ form = %s; member = %s }\n", quoted(string(f.Form)), quoted(f.Member))
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
# The fields of a record's data as texts, in the order of its type. A type that is not in the table has one field,
# in the form of RFC 3597.
function Get-GatewayRecordField {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $data = $Record.RecordData
    switch ([string]$Record.RecordType) {
`)
	for _, t := range RecordTypes {
		fmt.Fprintf(&b, "        %s {\n", quoted(t.Name))
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "            "+reading[f.Form]+"\n", f.Property)
		}
		b.WriteString("            return\n        }\n")
	}
	b.WriteString(`    }
    $hex = [string]$data.Data
    if ($hex -eq '') { return '' }
    '\# ' + [string]($hex.Length / 2) + ' ' + $hex
}

# Sets the data of a record of a type that is alone at its name.
function Set-GatewayTypedData {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record, [Parameter(Mandatory)] [string[]] $Data)
    switch ([string]$Record.RecordType) {
`)
	for _, t := range RecordTypes {
		if !t.Alone {
			continue
		}
		fmt.Fprintf(&b, "        %s {\n            $values = $Record.RecordData\n", quoted(t.Name))
		for i, f := range t.Fields {
			fmt.Fprintf(&b, "            $values.%s = %s\n", f.Property, writing(f, i))
		}
		b.WriteString("        }\n")
	}
	b.WriteString(`    }
}

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
        ZoneName = $ZoneName; Name = (Get-GatewayClearName -Owner $Owner -ZoneName $ZoneName); ComputerName = $ComputerName
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
			fmt.Fprintf(&b, " -%s %s", f.Property, writing(f, i))
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
