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

// reading are the PowerShell expressions that read a property of RecordData.
var reading = map[RecordForm]string{
	NameForm:    "$name = ([string]$data.%s).TrimEnd([char]'.')\n            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone\n            $name",
	AddressForm: "[string]$data.%s", NumberForm: "[string]$data.%s", TextForm: "[string]$data.%s",
	DottedForm: "[string]$data.%s", SecondsForm: "[string][long]$data.%s.TotalSeconds",
	WordForm: "[string]$data.%s", HexForm: "([string]$data.%s).ToLowerInvariant()",
}

// words returns a list of words in PowerShell.
func words(list []string) string { return "@('" + strings.Join(list, "', '") + "')" }

// wires returns the wire formats of the fields of a type for which Windows has no class.
func wires(t *RecordType) string {
	var list []string
	for _, f := range t.Fields {
		list = append(list, string(f.Wire))
	}
	return words(list)
}

// writing returns the PowerShell expression of a field's value for a cmdlet.
func writing(f RecordField, i int) string {
	switch {
	case f.Form == NameForm:
		return fmt.Sprintf("(Get-GatewayFullTarget -Target $Data[%d])", i)
	case f.Words != nil:
		return fmt.Sprintf("(Get-GatewayNumberWord -Number $Data[%d] -Word $GatewayRecordWords.%s)", i, f.Property)
	}
	return fmt.Sprintf("$Data[%d]", i)
}

// quoted returns a text in single quotes for PowerShell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// scriptTypes returns the scripts' tables and functions about the types.
func scriptTypes() string {
	var b strings.Builder
	writeTables(&b)
	writeReading(&b)
	writeSetting(&b)
	writeAdding(&b)
	return b.String()
}

// writeTables writes the PowerShell tables of the types.
func writeTables(b *strings.Builder) {
	b.WriteString("# The types of records, generated from the table RecordTypes of gateway/schema: do not " +
		"edit.\n")
	b.WriteString("#     go test ./gateway/schema -run TestScriptsKnowTheTypes -update\n\n" +
		"$GatewayRecordTypes = @{\n")
	for _, t := range RecordTypes {
		fmt.Fprintf(b, "    %s = @{\n", quoted(t.Name))
		fmt.Fprintf(b, "        writable = $%t; alone = $%t; brief = $%t; address = $%t; reverse = $%t; "+
			"tree = $%t; apart = $%t; number = %d\n        fields = @(\n",
			t.Resource != "", t.Alone, t.Brief, t.Address, t.Reverse, t.Tree, t.Apart, t.Number)
		for _, f := range t.Fields {
			fmt.Fprintf(b, "            @{ form = %s; member = %s }\n", quoted(string(f.Form)), quoted(f.Member))
		}
		b.WriteString("        )\n    }\n")
	}
	var members []string
	for _, f := range Record.Fields {
		if f.Null {
			members = append(members, quoted(f.Name))
		}
	}
	b.WriteString("}\n\n# The members of records that only some types have.\n")
	fmt.Fprintf(b, "$GatewayRecordMembers = @(%s)\n", strings.Join(members, ", "))
	b.WriteString("\n# The types that the module has no name for, by their numbers.\n" +
		"$GatewayNumberedTypes = @{\n")
	for _, t := range RecordTypes {
		if t.Number != 0 {
			fmt.Fprintf(b, "    '%d' = %s\n", t.Number, quoted(t.Name))
		}
	}
	b.WriteString("}\n\n# The words of properties, by the numbers that stand for them in texts.\n")
	b.WriteString("$GatewayRecordWords = @{\n")
	for _, t := range RecordTypes {
		for _, f := range t.Fields {
			if f.Words != nil {
				fmt.Fprintf(b, "    %s = %s\n", f.Property, words(f.Words))
			}
		}
	}
}

// writeReading writes the PowerShell function that reads a record's fields.
func writeReading(b *strings.Builder) {
	b.WriteString(`}

# The fields of a record's data as texts, in the order of its type. Data of a type that is not in the table, or that do
# not fit their type, are one field in the form of RFC 3597.
function Get-GatewayRecordField {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $data = $Record.RecordData
    $kind = ([string]$Record.RecordType).ToUpperInvariant()
    if ($null -eq $GatewayRecordTypes[$kind]) { $kind = Get-GatewayRecordKind -Record $Record }
    switch ($kind) {
`)
	for _, t := range RecordTypes {
		if len(t.Fields) == 0 {
			continue
		}
		fmt.Fprintf(b, "        %s {\n", quoted(t.Name))
		if t.Number != 0 {
			fmt.Fprintf(b, "            $fields = @(Get-GatewayWiredField -Hex ([string]$data.Data) -Wire %s)\n",
				wires(t))
			b.WriteString("            if ($fields.Length -gt 0) { return $fields }\n        }\n")
			continue
		}
		for _, f := range t.Fields {
			if f.Words != nil {
				fmt.Fprintf(b, "            Get-GatewayWordNumber -Text ([string]$data.%[1]s) "+
					"-Word $GatewayRecordWords.%[1]s\n", f.Property)
				continue
			}
			fmt.Fprintf(b, "            "+reading[f.Form]+"\n", f.Property)
		}
		b.WriteString("            return\n        }\n")
	}
}

// writeSetting writes the PowerShell function that changes a record's data.
func writeSetting(b *strings.Builder) {
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
		fmt.Fprintf(b, "        %s {\n            $values = $Record.RecordData\n", quoted(t.Name))
		for i, f := range t.Fields {
			fmt.Fprintf(b, "            $values.%s = %s\n", f.Property, writing(f, i))
		}
		b.WriteString("        }\n")
	}
}

// writeAdding writes the PowerShell function that adds a record.
func writeAdding(b *strings.Builder) {
	b.WriteString(`    }
}

# Adds a record and returns it. Data are its fields in the order of the table. TimeToLive is in seconds; TimeToLive < 0
# means the zone's. With Age it belongs to dynamic update.
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
		if t.Number != 0 {
			fmt.Fprintf(b, "        %s { Add-DnsServerResourceRecord -Type %d "+
				"-RecordData (ConvertTo-GatewayWire -Data $Data -Wire %s) @create }\n",
				quoted(t.Name), t.Number, wires(t))
			continue
		}
		fmt.Fprintf(b, "        %s {", quoted(t.Name))
		if line := "\n            "; len(t.Fields) > 3 {
			for i, f := range t.Fields {
				b.WriteString(line + "$create[" + quoted(f.Property) + "] = " + writing(f, i))
			}
			fmt.Fprintf(b, "%sAdd-DnsServerResourceRecord -%s @create\n        }\n", line, t.Name)
			continue
		}
		fmt.Fprintf(b, " Add-DnsServerResourceRecord -%s", t.Name)
		for i, f := range t.Fields {
			fmt.Fprintf(b, " -%s %s", f.Property, writing(f, i))
		}
		b.WriteString(" @create }\n")
	}
	b.WriteString("    }\n}\n")
}

// TestScriptsKnowTheTypes compares prelude.types.ps1 with the table.
func TestScriptsKnowTheTypes(t *testing.T) {
	path := filepath.FromSlash("../../scripts/dns/prelude.types.ps1")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(scriptTypes()), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, scriptTypes(), string(have), "go test ./gateway/schema -run TestScriptsKnowTheTypes -update")
}
