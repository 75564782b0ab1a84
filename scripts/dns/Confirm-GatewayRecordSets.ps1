# Returns whether the values of a change of many record sets exist, in the given order, to settle a change that was
# cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Change,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zones = @(Get-DnsServerZone -ComputerName $ComputerName)
$last = ''
$node = @()
foreach ($item in $Change) {
    $value = ConvertFrom-GatewayRecordChange -Change $item -Zone $zones -ComputerName $ComputerName
    if (-not $value.name.Equals($last, [System.StringComparison]::Ordinal)) {
        $last = $value.name
        $node = @()
        if ($value.owner -ne '') { $node = @(Get-GatewayNode -ZoneName $value.zone -Owner $value.owner -ComputerName $ComputerName) }
    }
    $same = @(Select-GatewayRecord -Record $node -Type $value.type -Data $value.data)
    [ordered]@{
        guid   = ''
        dn     = [string]$value.name
        age    = 0
        state  = [ordered]@{ exists = [string]($same.Length -gt 0) }
        record = $null
    }
}
