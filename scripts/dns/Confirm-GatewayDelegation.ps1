# Returns for each name server whether a name is delegated to it, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $ChildName,
    [Parameter(Mandatory)] [string[]] $ObjectNames,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet
foreach ($server in $ObjectNames) {
    $found = @()
    if ($null -ne $zone) {
        $name = [string]$zone.ZoneName
        $child = Get-GatewayRelativeName -Name $ChildName -ZoneName $name
        $found = @(Get-GatewayDelegation -ZoneName $name -ChildName $child -NameServer $server -ComputerName $ComputerName)
    }
    $record = $null
    if ($found.Length -gt 0) { $record = ConvertTo-GatewayDelegation -Delegation $found }
    [ordered]@{
        guid   = ''
        dn     = [string]$ChildName
        age    = 0
        state  = [ordered]@{ exists = [string]($found.Length -gt 0) }
        record = $record
    }
}
