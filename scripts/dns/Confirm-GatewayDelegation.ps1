# Returns whether a name is delegated, to a name server if one is given, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $ChildName,
    [AllowNull()] [string] $NameServer,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet
$found = @()
if ($null -ne $zone) {
    $name = [string]$zone.ZoneName
    $child = Get-GatewayRelativeName -Name $ChildName -ZoneName $name
    $target = ''
    if ($NameServer) { $target = Get-GatewayTargetName -Target $NameServer -ZoneName $name }
    $found = @(Get-GatewayDelegation -ZoneName $name -ChildName $child -NameServer $target -ComputerName $ComputerName)
}
$record = $null
if ($found.Length -gt 0) { $record = ConvertTo-GatewayDelegation -Delegation @($found[0]) }
[ordered]@{
    guid   = ''
    dn     = [string]$ChildName
    age    = 0
    state  = [ordered]@{ exists = [string]($found.Length -gt 0) }
    record = $record
}
