# Tests how the target of a CNAME is returned: without dots, with dots inside, and with a trailing dot.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $ZoneName, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $ComputerName)

$cname = @{ ZoneName = $ZoneName; ComputerName = $ComputerName; AgeRecord = $false; AllowUpdateAny = $false; Confirm = $false }
foreach ($case in @(
        @{ fact = 'target without dot'; name = 't1'; target = 'target' },
        @{ fact = 'target with dots inside'; name = 't2'; target = 'target.example.com' },
        @{ fact = 'target with a dot at its end'; name = 't3'; target = 'target.example.com.' })) {
    Test-GatewayFact -Fact $case.fact -Action {
        Add-DnsServerResourceRecordCName -Name ($Prefix + $case.name) -HostNameAlias $case.target @cname
        $record = @(Get-DnsServerResourceRecord -ZoneName $ZoneName -Name ($Prefix + $case.name) -Node -RRType CName -ComputerName $ComputerName)[0]
        ([string]$record.RecordData.HostNameAlias).Replace($ZoneName, '<zone>')
    }
}
